"""Documents from every kind of source, and what is said of how they were understood."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import threading
import zipfile
from collections import Counter
from types import SimpleNamespace

import numpy as np
import polars
import pytest

from spokeshave.corpus import Split, Texts, load_source
from spokeshave.errors import CorpusError

TEXTS = ["where is my parcel", "the screen is black", "it came too late"]


LABELS = ["parcel", "display", "parcel"]


ROWS = list(zip(LABELS, TEXTS, strict=True))


def to_parquet(**columns):
    stream = io.BytesIO()
    polars.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def story(number, part="TRAIN", topics=("wheat", "corn")):
    topics = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="YES" LEWISSPLIT="{part}" NEWID="{number}"><TOPICS>{topics}</TOPICS>'
        f"<TEXT><BODY>Story {number}</BODY></TEXT></REUTERS>\n"
    )


CONTENTS = {
    "csv": "\n".join(["queue,body", *(f"{label},{text}" for label, text in ROWS)]),
    "tsv": "\n".join(f"{label}\t{text}" for label, text in ROWS),
    "jsonl": "\n".join(json.dumps({"queue": label, "body": text}) for label, text in ROWS),
    "parquet": to_parquet(queue=LABELS, body=TEXTS),
    "svm": "parcel 1:1 3:0.5\ndisplay 2:1\nparcel 3:1\n",
    "arff": "@relation x\n@attribute a numeric\n@attribute b {no, yes}\n@attribute class "
    "{display, parcel}\n@data\n1,no,parcel\n2,no,display\n3,yes,parcel\n",
    "sgm": story(1) + story(2, "TEST") + story(3, "NOT-USED"),
}


NUMBERS = {"svm": [[1, 0, 0.5], [0, 1, 0], [0, 0, 1]], "arff": [[1, 1, 0], [2, 1, 0], [3, 0, 1]]}


FORMATS = {"svm": "svmlight", "sgm": "reuters"}


COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def compress(content, compression, member="x"):
    content = content.encode() if isinstance(content, str) else content
    if compression != ".zip":
        return COMPRESSIONS[compression](content)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member, content)
    return stream.getvalue()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def put_on_standard_input(monkeypatch, content):
    stream = SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stream)


def fail(source, error=CorpusError, **options):
    with pytest.raises(error) as caught:
        load_source(source, **options)
    return str(caught.value).removeprefix(f"{source}: ")


def check_documents(source, end):
    """Check that the documents are those of CONTENTS."""
    assert source.format == FORMATS.get(end, end)
    if end == "sgm":
        expected = [Texts([f"Story {number}"], [("wheat", "corn")]) for number in (1, 2)]
        assert source.documents == Split(*expected)
        assert source.is_multilabel
        return
    assert source.documents.labels == LABELS
    assert not source.is_multilabel
    if end in NUMBERS:
        X = source.documents.X
        np.testing.assert_array_equal(X.toarray() if end == "svm" else X, NUMBERS[end])
    else:
        assert source.documents.texts == TEXTS


CASES = [
    (end, compression)
    for end in CONTENTS
    for compression in ([""] if end == "parquet" else [*COMPRESSIONS, ".zip"])
]


@pytest.mark.parametrize(("end", "compression"), CASES)
def test_every_format_by_name(tmp_path, end, compression):
    name = f"x.{end}{compression}"
    source = load_source(write(tmp_path / name, compress(CONTENTS[end], compression, f"y.{end}")))
    check_documents(source, end)
    assert source.name == name
    assert not any("format" in guess for guess in source.guesses)


@pytest.mark.parametrize(("end", "compression"), CASES)
def test_every_format_by_content(tmp_path, end, compression):
    member = f"y.{end}" if end in ("arff", "sgm") else "y"
    content = compress(CONTENTS[end], compression, member)
    source = load_source(str(write(tmp_path / f"x{compression}", content)))
    check_documents(source, end)
    assert source.guesses[0] == f"the format is {source.format} by its content"


@pytest.mark.parametrize(("end", "compression"), CASES)
def test_every_format_on_standard_input(monkeypatch, end, compression):
    content = compress(CONTENTS[end], compression, f"y.{end}")
    for format in (None, FORMATS.get(end, end)):
        put_on_standard_input(monkeypatch, content)
        source = load_source("-", format=format)
        check_documents(source, end)
        assert source.name == "standard input"
        assert any("format" in guess for guess in source.guesses) == (format is None)


def test_hidden_files_in_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name in ("y.csv", ".DS_Store", "__MACOSX/._y.csv"):
            archive.writestr(name, CONTENTS["csv"])
    check_documents(load_source(tmp_path / "x.zip"), "csv")


@pytest.mark.parametrize("end", CONTENTS)
def test_every_format_through_a_pipe(tmp_path, end):
    content = compress(CONTENTS[end], "")
    os.mkfifo(tmp_path / "x")
    writer = threading.Thread(target=write, args=(tmp_path / "x", content))
    writer.start()
    source = load_source(tmp_path / "x")
    writer.join()
    check_documents(source, end)
    assert source.name == "x"


READINGS = {
    "csv": "csv, text from column 'body' (guessed), label from column 'queue' (guessed)",
    "tsv": "tsv without a header, text from column 1 (guessed), label from column 0 (guessed)",
    "svm": "svmlight, one label per document",
    "arff": "arff, label from attribute 'class' (guessed)",
    "sgm": "reuters, the ModApte split, several labels per document",
}


GUESSES = {
    "csv": ("the text is column 'body' by its name, the label is column 'queue' by its name",),
    "tsv": (
        "there is no header, the text is column 1 by its values, "
        "the label is column 0 by its values",
    ),
    "svm": (),
    "arff": ("the label is attribute 'class', the last",),
    "sgm": (),
}


@pytest.mark.parametrize("end", READINGS)
def test_what_is_said(tmp_path, end):
    source = load_source(write(tmp_path / f"x.{end}", CONTENTS[end]))
    assert (source.read, source.guesses) == (READINGS[end], GUESSES[end])
    assert source.encoding == ("latin-1" if end == "sgm" else "utf-8")


def test_what_is_told_is_not_guessed(tmp_path):
    path = write(tmp_path / "x", CONTENTS["csv"])
    source = load_source(path, format="csv", text="body", label="queue", encoding="ascii")
    assert source.read == "csv, text from column 'body', label from column 'queue'"
    assert (source.guesses, source.encoding) == ((), "ascii")
    assert (source.text, source.label) == ("body", "queue")
    path = write(tmp_path / "x.arff", CONTENTS["arff"])
    source = load_source(path, label="b")
    assert (source.read, source.label) == ("arff, label from attribute 'b'", "b")
    assert source.documents.labels == ["no", "no", "yes"]


UNPACK = "it is compressed, and parquet is not to be again; unpack it"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.csv", "", "there are no documents in it"),
        ("x.csv", "text,label\n", "there are no documents in it"),
        ("x.tsv", "", "there are no documents in it"),
        (
            "x.jsonl",
            "\n",
            "there is no JSON object on any of its first lines; write one on each",
        ),
        ("x.parquet", "", "it cannot be read as parquet ("),
        ("x.parquet", to_parquet(text=[], label=[]), "there are no documents in it"),
        ("x.parquet.gz", gzip.compress(CONTENTS["parquet"]), UNPACK),
        ("x.parquet", gzip.compress(CONTENTS["parquet"]), UNPACK),
        ("x.zip", compress(CONTENTS["parquet"], ".zip", "y.parquet"), UNPACK),
        ("x.svm", "", "there are no documents in it"),
        ("x.arff", "", "there is no @data; this is not ARFF, or cut short"),
        ("x.arff", "@attribute a number\n@data\n", "the type 'number' of the attribute 'a'"),
        ("x.sgm", "", "a story has no end; the file is cut short or not of Reuters-21578"),
        ("x.tar", "", "this is neither a folder nor a zip or tar, or it is damaged"),
        ("x.zip", "", "the file is damaged or not what its name says ("),
        ("x.csv.gz", "text,label\n", "the file is damaged or not what its name says ("),
        ("x", "", "there are no documents in it"),
        ("x.md", "# Title\nOne line\nAnother\n", "say which is the label; the columns are"),
        ("x", gzip.compress(b"a,b"), "it is compressed; give it a name that ends in '.gz'"),
        ("x.csv", bz2.compress(b"a,b"), "it is compressed; give it a name that ends in '.bz2'"),
        ("x.xlsx", compress("", ".zip"), "this is a spreadsheet; save it as csv"),
        ("x.zip", compress("", ".zip", "a/b/c/1"), "there are no documents in it"),
        ("x.csv", "a,b,c\n1,2,3\n", "say which is the text and which is the label; the columns"),
    ],
)
def test_bad_content(tmp_path, name, content, problem):
    assert problem in fail(write(tmp_path / name, content))


@pytest.mark.parametrize("end", [*CONTENTS, "tar.gz", "zip", "xyz"])
def test_missing_source(tmp_path, end):
    assert fail(tmp_path / f"x.{end}").startswith("there is no such file")


def test_format_that_is_told_of_compressed_parquet(tmp_path):
    path = write(tmp_path / "x.gz", gzip.compress(CONTENTS["parquet"]))
    assert fail(path, format="parquet", text="body", label="queue") == UNPACK


def test_name_that_the_system_refuses():
    assert "File name too long" in fail("x" * 5_000)


def test_reading_that_is_not_permitted(tmp_path, monkeypatch):
    path = write(tmp_path / "x", CONTENTS["csv"])
    monkeypatch.setattr("spokeshave.corpus.open.sniff_compression", refuse)
    assert fail(path) == "reading it is not permitted; change its permissions"


def refuse(path):
    raise PermissionError(13, "Permission denied", str(path))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"text,label\none\n", "standard input, line 2: the number of fields is 1 here"),
        (b"a,b,c\n1,2,3\n", "standard input: say which is the text and which is the label"),
        (b"PAR1 cut short", "standard input: it cannot be read as parquet ("),
        (gzip.compress(CONTENTS["parquet"]), f"standard input: {UNPACK}"),
        (compress("a", ".zip"), "standard input: there are no documents in it"),
        (compress("a", ".zip")[:-9], "standard input: the file is damaged or not what its name"),
    ],
)
def test_errors_on_standard_input(monkeypatch, content, problem):
    put_on_standard_input(monkeypatch, content)
    message = fail("-")
    assert message.startswith(problem)
    assert "spokeshave-" not in message


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("x.csv", {"bad_rows": "ignore"}, "bad_rows must be 'raise' or 'skip'"),
        ("x.csv", {"format": "xml"}, "format must be one of 'csv', 'tsv', 'jsonl', 'parquet', 's"),
        ("x.csv", {"under": "a"}, "under must be left out for csv. Got 'a' instead."),
        ("x.csv", {"n_features": 3}, "n_features must be left out for csv. Got 3 instead."),
        ("x.svm", {"text": "a"}, "text must be left out for svmlight. Got 'a' instead."),
        ("x.svm", {"label": 0}, "label must be left out for svmlight. Got 0 instead."),
        ("x.svm", {"n_features": 0}, "n_features must be a positive integer. Got 0 instead."),
        ("x.arff", {"label_separator": "|"}, "label_separator must be left out for arff. Got '|'"),
        ("x.sgm", {"encoding": "utf-8"}, "encoding must be left out for reuters. Got 'utf-8'"),
        ("x.csv", {"label_separator": ""}, "label_separator must be a character or more."),
        ("x.csv", {"text": "body", "label": "body"}, "text and label must be different columns."),
        ("x.csv", {"encoding": "latin-99"}, "the encoding 'latin-99' is unknown"),
        ("x.arff", {"label": "risk"}, "there is no attribute 'risk'; the attributes are 'a', 'b'"),
        ("x.arff", {"label": 2}, "there is no attribute '2'; the attributes are 'a', 'b'"),
    ],
)
def test_options(tmp_path, name, options, problem):
    path = write(tmp_path / name, CONTENTS[name.partition(".")[2]])
    assert fail(path, ValueError, **options).startswith(problem)


def test_source_without_a_name(tmp_path, monkeypatch):
    assert fail("", ValueError).startswith("source must name a file or folder, or be '-'.")
    write(tmp_path / "news" / "space" / "1", "orbit")
    monkeypatch.chdir(tmp_path / "news")
    assert load_source(".").name == "news"


@pytest.mark.parametrize(
    ("name", "read", "size", "n_classes"),
    [
        (
            "dmoz/Dmoz-Science.csv",
            "csv, text from column 'text' (guessed), label from column 'class' (guessed)",
            6_000,
            12,
        ),
        (
            "sms_spam.tsv",
            "tsv without a header, text from column 1 (guessed), label from column 0 (guessed)",
            5_574,
            2,
        ),
        ("uci/wine.arff", "arff, label from attribute 'class' (guessed)", 178, 3),
        ("uci/glass.arff", "arff, label from attribute 'Type' (guessed)", 214, 6),
        (
            "forman/oh0.wc.arff.zip",
            "arff, label from attribute 'CLASS_LABEL' (guessed)",
            1_003,
            10,
        ),
    ],
)
def test_collections(data_folder, name, read, size, n_classes):
    source = load_source(data_folder / name)
    assert source.read == read
    assert len(source.documents.labels) == size
    assert len(Counter(source.documents.labels)) == n_classes
