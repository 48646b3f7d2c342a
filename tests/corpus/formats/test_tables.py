"""Tables are read in batches, the same in every format."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.corpus import Texts, limits, load_texts, open_stream, read_texts
from spokeshave.corpus.formats import tables
from spokeshave.corpus.formats.tables import LabelParser
from spokeshave.corpus.options import MalformedRow
from spokeshave.errors import CorpusError

TEXTS = ["plain", "", 'say "no"', "comma, comma", "naïve 😀", "\u2028 is no line end"]
LABELS = ["x", "y", "x y", "ü", "5", "x"]

documents = st.lists(
    st.tuples(st.text(), st.text(min_size=1).filter(str.strip)), min_size=1, max_size=8
)


def to_csv(texts, labels, delimiter=","):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerows([("text", "label"), *zip(texts, labels, strict=True)])
    return stream.getvalue()


def to_tsv(texts, labels):
    return "".join(f"{a}\t{b}\n" for a, b in [("text", "label"), *zip(texts, labels, strict=True)])


def to_jsonl(texts, labels, **options):
    rows = ({"text": text, "label": label} for text, label in zip(texts, labels, strict=True))
    return "\n".join(json.dumps(row, **options) for row in rows)


def to_parquet(texts, labels):
    stream = io.BytesIO()
    polars.DataFrame({"text": texts, "label": labels}).write_parquet(stream)
    return stream.getvalue()


WRITERS = {"csv": to_csv, "tsv": to_tsv, "jsonl": to_jsonl, "parquet": to_parquet}


def write(path, texts=TEXTS, labels=LABELS):
    """Write a table in the format and the compression that its name tells."""
    format, *compression = path.name.split(".")[1:]
    content = WRITERS[format](texts, labels)
    content = content if isinstance(content, bytes) else content.encode()
    compress = {"gz": gzip.compress, "bz2": bz2.compress}.get("".join(compression), bytes)
    path.write_bytes(compress(content))
    return path


@pytest.mark.parametrize(
    "format", ["csv", "csv.gz", "csv.bz2", "tsv", "jsonl", "jsonl.gz", "parquet"]
)
def test_every_format_gives_the_same(tmp_path, format):
    path = write(tmp_path / f"x.{format}")
    assert load_texts(path) == Texts(TEXTS, LABELS)
    assert load_texts(str(path), label=None) == Texts(TEXTS, None)


@pytest.mark.parametrize("format", WRITERS)
def test_format_can_be_given(tmp_path, format):
    path = write(tmp_path / f"x.{format}").rename(tmp_path / "x.data")
    assert load_texts(path, format=format) == Texts(TEXTS, LABELS)


@given(documents)
@settings(max_examples=50, deadline=None)
def test_any_text_survives_csv_and_jsonl(rows):
    texts, labels = map(list, zip(*rows, strict=True))
    with TemporaryDirectory() as folder:
        table = write(Path(folder, "x.csv"), texts, labels)
        assert load_texts(table) == Texts(texts, labels)
        for ensure_ascii in (True, False):
            table = Path(folder, "x.jsonl")
            table.write_text(to_jsonl(texts, labels, ensure_ascii=ensure_ascii), encoding="utf-8")
            assert load_texts(table) == Texts(texts, labels)


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("batch_size", [1, 2, 4, 6, 100])
def test_batches(tmp_path, format, batch_size, monkeypatch):
    monkeypatch.setattr(limits, "ROWS_PER_SLICE", 4)
    batches = list(read_texts(write(tmp_path / f"x.{format}"), batch_size=batch_size))
    assert all(len(batch) == batch_size for batch in batches[:-1])
    assert [text for batch in batches for text in batch.texts] == TEXTS
    assert [label for batch in batches for label in batch.labels] == LABELS


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text,label\na,x\nb,y\nmalformed\n")
    batches = read_texts(path, batch_size=2)
    assert next(batches).texts == ["a", "b"]
    with pytest.raises(CorpusError, match="line 4"):
        next(batches)


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    lines = ({"text": "a", "label": "x"} for _ in range(100_000))
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    read = []
    parse = tables._parse_object
    monkeypatch.setattr(tables, "_parse_object", lambda line: read.append(line) or parse(line))
    next(read_texts(path, batch_size=10))
    assert len(read) == 10


@pytest.mark.parametrize(
    ("pattern", "skipped"),
    [
        ("--ab", [2]),
        ("ab--", [0, 2]),
        ("a-b-", [1, 1]),
        ("a-b-c-", [1, 2]),
        ("-ab-cd--", [1, 1, 2]),
        ("abc-", [0, 1]),
    ],
)
def test_each_batch_counts_the_rows_skipped_since_the_one_before(tmp_path, pattern, skipped):
    path = tmp_path / "x.csv"
    path.write_text("text,label\n" + "".join(f"{row},{row.strip('-')}\n" for row in pattern))
    batches = list(read_texts(path, bad_rows="skip", batch_size=2))
    assert [batch.skipped for batch in batches] == skipped
    assert load_texts(path, bad_rows="skip").skipped == pattern.count("-")
    assert "".join(text for batch in batches for text in batch.texts) == pattern.replace("-", "")


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_separator_makes_tuples(tmp_path, format):
    path = write(tmp_path / f"x.{format}", ["a", "b", "c"], ["x|y", "", "x"])
    texts = load_texts(path, label_separator="|")
    assert texts.labels == [("x", "y"), (), ("x",)]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_lists_are_tuples(tmp_path, format):
    path = write(tmp_path / f"x.{format}", ["a", "b", "c"], [["x", "y"], [], ["x"]])
    assert load_texts(path).labels == [("x", "y"), (), ("x",)]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_whole_numbers_are_labels(tmp_path, format):
    assert load_texts(write(tmp_path / f"x.{format}", ["a", "b"], [1, 0])).labels == ["1", "0"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "x.csv"
    path.write_text("text,label\r\nnaïve,x\r\n", encoding=encoding, newline="")
    given = encoding.removesuffix("-sig")
    assert load_texts(path, encoding=given) == Texts(["naïve"], ["x"])


def test_text_and_label_may_be_one_column(tmp_path):
    for format in WRITERS:
        path = write(tmp_path / f"x.{format}", ["a"], ["x"])
        assert load_texts(path, text="label", label="label") == Texts(["x"], ["x"])


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.csv.gz"])
def test_empty_file(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"") if name.endswith("gz") else b"")
    with pytest.raises(CorpusError, match=r"there are no documents in it$"):
        load_texts(tmp_path / name)


@pytest.mark.parametrize("format", WRITERS)
def test_header_alone(tmp_path, format):
    path = write(tmp_path / f"x.{format}", [], [])
    with pytest.raises(CorpusError, match=r"there are no documents in it$"):
        load_texts(path)


def test_all_rows_malformed(tmp_path):
    path = write(tmp_path / "x.csv", ["a", "b"], ["", ""])
    with pytest.raises(CorpusError, match="there are no documents in it; all its 2 rows are malf"):
        load_texts(path, bad_rows="skip")


def test_name_that_does_not_tell_the_format(tmp_path):
    (tmp_path / "x.data").touch()
    with pytest.raises(CorpusError, match="the name does not tell the format; pass as format one"):
        read_texts(tmp_path / "x.data")


def test_missing_file_is_told_at_once(tmp_path):
    with pytest.raises(CorpusError, match="there is no such file"):
        read_texts(tmp_path / "x.csv")


def test_truncated_gz(tmp_path):
    path = write(tmp_path / "x.csv.gz")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CorpusError, match="the compressed file is cut short"):
        load_texts(path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bad_rows": "ignore"}, "bad_rows must be 'raise' or 'skip'. Got 'ignore' instead."),
        ({"batch_size": 0}, "batch_size must be a positive integer. Got 0 instead."),
        ({"batch_size": 1.5}, "batch_size must be a positive integer. Got 1.5 instead."),
        ({"label_separator": ""}, "label_separator must be a character or more. Got '' instead."),
        (
            {"format": "xml"},
            "format must be one of 'csv', 'tsv', 'jsonl', 'parquet'. Got 'xml' instead.",
        ),
        (
            {"format": "jsonl", "text": 0},
            "text and label must be names in jsonl. Got [0, 'label'] instead.",
        ),
        (
            {"text": 0},
            "text and label must both be names or both be positions from 0. "
            "Got [0, 'label'] instead.",
        ),
        (
            {"text": -1, "label": None},
            "text and label must both be names or both be positions from 0. Got [-1] instead.",
        ),
    ],
)
def test_options(tmp_path, options, sentence):
    path = write(tmp_path / "x.csv")
    with pytest.raises(ValueError) as error:  # noqa: PT011
        read_texts(path, **options)
    assert str(error.value) == sentence


def test_sms_spam(data_folder):
    texts = load_texts(data_folder / "sms_spam.tsv", text=1, label=0)
    assert Counter(texts.labels) == {"ham": 4827, "spam": 747}


@pytest.mark.parametrize(
    ("name", "n_documents", "n_classes"),
    # In Computers two classes are both called Data: the file has only the first word of a name.
    [("Computers", 9500, 18), ("Health", 6500, 13), ("Science", 6000, 12), ("Sports", 13500, 27)],
)
def test_open_directory(data_folder, name, n_documents, n_classes):
    texts = load_texts(data_folder / "dmoz" / f"Dmoz-{name}.csv", label="class")
    assert len(texts) == n_documents
    assert len(set(texts.labels)) == n_classes


@pytest.mark.parametrize(
    ("separator", "cell", "label"),
    [
        (None, "wheat", "wheat"),
        (None, " a|b ", " a|b "),
        (None, 3, 3),
        (None, True, True),
        (None, ["wheat", 3], ("wheat", 3)),
        (None, [], ()),
        ("|", "wheat|corn", ("wheat", "corn")),
        ("|", "wheat", ("wheat",)),
        ("|", "", ()),
        ("|", " ", ()),
        ("|", None, ()),
        ("|", 3, (3,)),
        ("|", ["a|b"], ("a|b",)),
        (", ", "wheat, corn", ("wheat", "corn")),
    ],
)
def test_cells(separator, cell, label):
    assert LabelParser(separator).parse(cell) == label


@pytest.mark.parametrize(
    ("labels", "names", "label_type"),
    [
        (["wheat", "corn"], ["wheat", "corn"], "str"),
        (["1", "2"], ["1", "2"], "str"),
        ([10, 3, -1], ["10", "3", "-1"], "int"),
        ([True, False], ["True", "False"], "bool"),
        ([1, True], ["1", "True"], "str"),
        ([3, "wheat"], ["3", "wheat"], "str"),
        ([2**63, 1], [str(2**63), "1"], "str"),
        ([[3, 10], []], [("3", "10"), ()], "int"),
        ([[], []], [(), ()], None),
    ],
)
def test_labels_are_strings_that_had_a_type(tmp_path, labels, names, label_type):
    path = write(tmp_path / "x.jsonl", ["oak"] * len(labels), labels)
    (found,) = read_texts(path)
    assert (found.labels, found.label_type) == (names, label_type)
    with open_stream(path, text="text", label="label") as stream:
        (found,) = stream.read_batches()
    assert (found.labels, found.label_type) == (names, label_type)


@pytest.mark.parametrize(
    ("separator", "cell", "problem"),
    [
        (None, None, "the label is missing"),
        (None, "", "the label is missing"),
        (None, " ", "the label is missing"),
        (None, ["wheat", ""], "the label is missing"),
        ("|", "wheat||corn", "the label is missing"),
        (None, 0.5, "the label is of type float, not a string or a whole number"),
        (None, {"name": "x"}, "the label is of type dict, not a string or a whole number"),
        (None, [["wheat"]], "the label is of type list, not a string or a whole number"),
    ],
)
def test_malformed_cells(separator, cell, problem):
    with pytest.raises(MalformedRow, match=f"^{problem}$"):
        LabelParser(separator).parse(cell)


@pytest.mark.parametrize("cells", [("wheat", ["wheat"]), (["wheat"], "wheat")])
def test_kinds_cannot_be_mixed(cells):
    parser = LabelParser(None)
    parser.parse(cells[0])
    with pytest.raises(MalformedRow, match="lists and single labels are mixed"):
        parser.parse(cells[1])
