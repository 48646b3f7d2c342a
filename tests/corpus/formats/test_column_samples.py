"""The first rows of tables, and whether the very first is a header."""

from __future__ import annotations

import os

import polars
import pytest

from spokeshave.corpus.formats.columns import Sample, read_sample
from spokeshave.errors import CorpusError


def fail(path, format="csv", **options):
    with pytest.raises(CorpusError) as error:
        read_sample(path, format, **options)
    return error.value.problem


def write(path, *rows):
    path.write_text("\n".join(rows))
    return path


@pytest.mark.parametrize(
    ("rows", "has_header"),
    [
        (["ham,yes I will", "ham,no I will not", "spam,win a prize"], False),
        ([f"ham,{'yes ' * 20}", "spam,win a prize", "spam,win it all"], False),
        (["question,how do I do it", "question,why is that so", "comment,fine by me"], False),
        (["v1,v2", "ham,yes I will", "ham,no I will not", "spam,win a prize"], True),
        (["spam,message", "spam,win a prize", "ham,yes I will"], True),
        (["text,label", "win a prize,spam", "text,label", "yes I will,ham"], True),
        (["text,label,", "win a prize,spam,", "yes I will,ham,"], True),
    ],
)
def test_header(tmp_path, rows, has_header):
    sample = read_sample(write(tmp_path / "x", *rows), "csv")
    records = [row.split(",") for row in rows]
    assert sample.names == (records[0] if has_header else None)
    assert sample.rows == (records[1:] if has_header else records)


def test_what_is_known_of_columns_tells_of_a_header(tmp_path):
    path = write(tmp_path / "x", "a,b", "c,d", "e,f")
    assert read_sample(path, "csv", known=[None]).names == ["a", "b"]
    assert read_sample(path, "csv", known=["a", None]).names == ["a", "b"]
    assert read_sample(path, "csv", known=[1, None]).names is None


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_only_the_first_rows_are_read(tmp_path, format):
    frame = polars.DataFrame({"text": [f"text {row}" for row in range(500)], "label": ["a"] * 500})
    path = tmp_path / "x"
    if format == "csv":
        frame.write_csv(path)
    elif format == "tsv":
        frame.write_csv(path, separator="\t")
    else:
        frame.write_ndjson(path) if format == "jsonl" else frame.write_parquet(path)
    sample = read_sample(path, format)
    assert sample.names == ["text", "label"]
    assert sample.rows == [[f"text {row}", "a"] for row in range(100)]


def test_columns_are_found_by_name_and_by_position():
    sample = Sample("x.csv", ["id", "body", "0"], [["7", "Late", "a"]])
    assert (sample.width, sample.get_column(1)) == (3, "body")
    assert [sample.locate(column) for column in ("body", 1, 0)] == [1, 1, 2]
    with pytest.raises(CorpusError, match=r"x\.csv: there is no column 3; the columns are 'id'"):
        sample.locate(3)
    sample = Sample("x.csv", None, [["7", "Late"]])
    assert (sample.width, sample.get_column(1), sample.locate(1)) == (2, 1, 1)
    with pytest.raises(CorpusError, match="there is no column 'body'; there is no header, and the"):
        sample.locate("body")


def test_keys_are_those_of_all_objects(tmp_path):
    rows = ['{"id": 1, "text": "a"}', "not JSON", "[]", '{"text": "b", "topics": ["x"]}']
    sample = read_sample(write(tmp_path / "x", *rows), "jsonl")
    assert sample.names == ["id", "text", "topics"]
    assert sample.rows == [[1, "a", None], [None, "b", ["x"]]]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_no_rows(tmp_path, format):
    assert fail(tmp_path / "x", format) == "there is no such file"
    assert fail(tmp_path, format) == "this is a folder; name a file in it"
    (tmp_path / "x").touch()
    start = {"jsonl": "there is no JSON object on any", "parquet": "it cannot be read as parquet"}
    assert fail(tmp_path / "x", format).startswith(start.get(format, "there are no documents in"))


@pytest.mark.parametrize("header", ["text,label", "a,b"])
def test_header_alone(tmp_path, header):
    assert fail(write(tmp_path / "x", header)) == "there are no documents in it"


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_pipe_is_left_unread(tmp_path, format):
    os.mkfifo(tmp_path / "x")
    assert fail(tmp_path / "x", format) == "it is a pipe; pass - and pipe it into standard input"


def test_malformed_rows_are_left_to_the_reader(tmp_path):
    sample = read_sample(
        write(tmp_path / "x", "id,text,label", "1", "1,a,x", '2,"b"b,x', "3,c,x"), "csv"
    )
    assert (sample.names, sample.rows) == (["id", "text", "label"], [["1", "a", "x"]])
    path = write(tmp_path / "x", '"id"x,text,label', "")
    assert fail(path).startswith("the row cannot be split into fields (")


def test_wrong_encoding(tmp_path):
    (tmp_path / "x").write_bytes("text,label\ncafé,x\n".encode("latin-1"))
    assert fail(tmp_path / "x").startswith("the text is not utf-8; pass the right one")
    assert read_sample(tmp_path / "x", "csv", "latin-1").rows == [["café", "x"]]
