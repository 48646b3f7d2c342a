"""ARFF files as sources, of vectors or of texts, with the class attribute guessed."""

from __future__ import annotations

import pytest

from spokeshave.corpus import Texts, load_source
from spokeshave.errors import CorpusError

NUMBERS = (
    "@attribute a numeric\n@attribute b {no, yes}\n@attribute class {display, parcel}\n"
    "@data\n1,no,parcel\n2,no,display\n3,yes,parcel\n"
)
TEXTS = (
    "@relation 'Reuters-21578 Corn'\n@attribute Text string\n@attribute class-att {0, 1}\n"
    "@data\n'Corn rose,\\nand wheat\\'s fell.',1\n'Oil fell.',0\n"
)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def fail(source, error=CorpusError, **options):
    with pytest.raises(error) as caught:
        load_source(source, **options)
    return str(caught.value).removeprefix(f"{source}: ")


def test_class_attribute_that_is_not_the_last(tmp_path):
    header = "@attribute class {1, 2}\n@attribute proline numeric\n"
    source = load_source(write(tmp_path / "wine.arff", f"{header}@data\n1,5\n2,7\n"))
    assert (source.documents.labels, source.label) == (["1", "2"], "class")
    assert source.guesses == ("the label is attribute 'class'",)


def test_last_attribute_with_the_name_of_another(tmp_path):
    header = "@attribute class numeric\n@attribute class {a, b}\n"
    source = load_source(write(tmp_path / "x.arff", f"{header}@data\n1,a\n2,b\n"))
    assert (source.documents.labels, source.label) == (["a", "b"], "class")


def test_arff_in_latin_1(tmp_path):
    content = NUMBERS.replace("display", "écran").encode("latin-1")
    source = load_source(write(tmp_path / "x.arff", content))
    assert source.documents.labels[1] == "écran"
    assert source.guesses[-1] == "the encoding is latin-1, as it is not utf-8"


def test_number_of_features(tmp_path):
    path = write(tmp_path / "x.arff", NUMBERS)
    assert load_source(path, n_features=3).documents.X.shape == (3, 3)
    assert fail(path, n_features=7) == "it has 3 features where 7 should be"
    path = write(tmp_path / "x.arff", TEXTS)
    assert fail(path, n_features=7) == "it has no features where 7 should be"


def test_texts(tmp_path):
    source = load_source(write(tmp_path / "x.arff", TEXTS))
    assert source.documents == Texts(["Corn rose,\nand wheat's fell.", "Oil fell."], ["1", "0"])
    assert (source.text, source.label) == ("Text", "class-att")
    assert source.read == (
        "arff, text from attribute 'Text' (guessed), label from attribute 'class-att' (guessed)"
    )
    assert source.guesses == (
        "the text is attribute 'Text', the only string",
        "the label is attribute 'class-att', the last",
    )


def test_texts_beside_other_attributes(tmp_path):
    header = "@attribute id numeric\n@attribute kind {a, b}\n@attribute body string\n"
    header += "@attribute day date\n@attribute language {de, en}\n@data\n"
    path = write(tmp_path / "x.arff", f"{header}1,a,Hello,2001-01-01,en\n2,b,Hallo,?,de\n")
    source = load_source(path)
    assert source.documents == Texts(["Hello", "Hallo"], ["en", "de"])
    assert source.guesses[0] == (
        "the text is attribute 'body', the only string, and the other attributes are left out"
    )
    source = load_source(path, label="kind")
    assert source.documents == Texts(["Hello", "Hallo"], ["a", "b"])
    assert source.read.endswith(", label from attribute 'kind'")
    assert fail(path, label="id").startswith("the attribute 'body' is neither numeric nor nominal")


def test_two_strings(tmp_path):
    content = TEXTS.replace("@data", "@attribute title string\n@data").replace(",1", ",1,a")
    path = write(tmp_path / "x.arff", content)
    assert fail(path).startswith("the attribute 'Text' is neither numeric nor nominal; remove it")


def test_texts_in_latin_1(tmp_path):
    content = TEXTS.replace("Oil", "Café").encode("latin-1")
    source = load_source(write(tmp_path / "x.arff", content))
    assert source.documents.texts[1] == "Café fell."
    assert source.encoding == "latin-1"


def test_texts_with_malformed_rows(tmp_path):
    path = write(tmp_path / "x.arff", f"{TEXTS}?,1\n'Rye',2\n")
    assert fail(path).endswith("line 7: the text 'Text' is missing")
    source = load_source(path, bad_rows="skip")
    assert (source.documents.labels, source.documents.skipped) == (["1", "0"], 2)
