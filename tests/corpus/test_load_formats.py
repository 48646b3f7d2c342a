"""Tables, vectors and stories as sources, with columns and labels as they are told or guessed."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile

import polars
import pytest

from spokeshave.corpus import Split, Texts, load_source
from spokeshave.errors import CorpusError

LABELS = ["parcel", "display", "parcel"]
CONTENTS = {
    "csv": "queue,body\nparcel,where is it\ndisplay,the screen is black\nparcel,it came too late\n",
    "tsv": "parcel\twhere is it\ndisplay\tthe screen is black\nparcel\tit came too late\n",
    "jsonl": '{"queue": "parcel", "body": "where"}\n{"queue": "display", "body": "the screen"}\n',
}


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


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_archive(path, folder):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(folder.rglob("*")):
                archive.write(file, file.relative_to(folder))
    else:
        with tarfile.open(path, f"w:{path.suffix[1:]}".replace(":tar", "")) as archive:
            archive.add(folder, arcname=".")
    return path


def fail(source, error=CorpusError, **options):
    with pytest.raises(error) as caught:
        load_source(source, **options)
    return str(caught.value).removeprefix(f"{source}: ")


def test_positions(tmp_path):
    path = write(tmp_path / "x.tsv", CONTENTS["tsv"])
    source = load_source(path, text="1")
    assert (source.text, source.label, source.documents.labels) == (1, 0, LABELS)
    path = write(tmp_path / "x.csv", CONTENTS["csv"])
    source = load_source(path, text="1", label="0")
    assert (source.text, source.label, source.documents.labels) == ("body", "queue", LABELS)


TUPLES = [("a", "b"), ("a",), ()]


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("x.csv", "text,tags\none,a|b\ntwo,a\nthree,\n", {"label_separator": "|"}),
        ("x.tsv", "text\ttags\none\ta b\ntwo\ta\nthree\t\n", {"label_separator": " "}),
        (
            "x.jsonl",
            "\n".join(json.dumps({"text": "one", "tags": label}) for label in TUPLES),
            {},
        ),
        ("x.parquet", to_parquet(text=["one"] * 3, tags=list(map(list, TUPLES))), {}),
        ("x.svm", "a,b 1:1\na 2:1\n 1:1\n", {}),
    ],
)
def test_several_labels(tmp_path, name, content, options):
    source = load_source(write(tmp_path / name, content), **options)
    assert source.documents.labels == TUPLES
    assert source.is_multilabel
    assert source.read.endswith(", several labels per document")


def test_svmlight_line_without_its_label(tmp_path):
    path = write(tmp_path / "x.svm", "a 1:1\n2:1\nb 1:1\n")
    assert "line 2: the line starts with '2:1' where its label should be" in fail(path)
    source = load_source(path, bad_rows="skip")
    assert (source.documents.labels, source.documents.skipped) == (["a", "b"], 1)


def test_number_of_features(tmp_path):
    path = write(tmp_path / "x.svm", "parcel 1:1 3:0.5\ndisplay 2:1\n")
    assert load_source(path, n_features=7).documents.X.shape == (2, 7)


@pytest.mark.parametrize("end", ["csv", "tsv", "jsonl"])
def test_tables_in_latin_1_are_not_guessed(tmp_path, end):
    content = CONTENTS[end].replace("screen", "écran")
    path = write(tmp_path / f"x.{end}", content.encode("latin-1"))
    assert "the text is not utf-8; pass the right one" in fail(path)
    assert "écran" in load_source(path, encoding="latin-1").documents.texts[1]


def test_stories_for_training_alone(tmp_path):
    source = load_source(write(tmp_path / "x.sgm", story(1) + story(2)))
    assert source.documents.texts == ["Story 1", "Story 2"]
    assert source.read == "reuters, training stories only, several labels per document"
    path = write(tmp_path / "y.sgm", story(1, "TEST"))
    assert fail(path) == "there are no training stories in it"


@pytest.mark.parametrize("name", ["folder", "x.tar.gz", "x.zip"])
def test_stories_in_files(tmp_path, name):
    folder = tmp_path / "folder"
    write(folder / "reut2-000.sgm", story(1))
    write(folder / "REUT2-001.SGM", story(2, "TEST"))
    write(folder / "README", "no story")
    path = folder if name == "folder" else write_archive(tmp_path / name, folder)
    expected = [Texts([f"Story {number}"], [("wheat", "corn")]) for number in (1, 2)]
    assert load_source(path).documents == Split(*expected)


def test_rcv1(data_folder):
    source = load_source(data_folder / "rcv1" / "rcv1_topics_test.svm.gz")
    assert source.read == "svmlight, several labels per document"
    assert source.documents.X.shape == (9_613, 47_236)


def test_reuters(load_once):
    source = load_once("reuters21578.tar.gz")
    assert (len(source.documents.train), len(source.documents.test)) == (9_603, 3_299)
    assert (source.format, source.is_multilabel, source.guesses) == ("reuters", True, ())
