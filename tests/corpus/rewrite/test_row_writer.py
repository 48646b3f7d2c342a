"""Tables are written a few rows at a time, with every cell as it was and new columns after them."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import subprocess
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.corpus import load_texts
from spokeshave.corpus.rewrite.row_reader import open_row_reader
from spokeshave.corpus.rewrite.row_writer import open_row_writer
from spokeshave.errors import CorpusError

FORMATS = ("csv", "tsv", "jsonl", "parquet")
ROWS = [
    {"id": "1", "text": "plain", "note": ""},
    {"id": "2", "text": 'say "no", twice', "note": "naïve 😀"},
    {"id": "3", "text": "", "note": "\u2028 \x85 \x0c"},
    {"id": "4", "text": " '\\ ", "note": '"'},
]
BROKEN_LINES = [{"id": "5", "text": "two\nlines", "note": "a\r\nb\tc\r"}]
DECOMPRESSIONS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}


def dump_csv(rows):
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, rows[0], lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def dump_tsv(rows):
    lines = [rows[0], *(row.values() for row in rows)]
    return "".join("\t".join(line) + "\n" for line in lines).encode()


def dump_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def dump_parquet(rows):
    stream = io.BytesIO()
    polars.DataFrame(rows).write_parquet(stream)
    return stream.getvalue()


def dump_text(rows):
    return "".join(row["text"] + "\n" for row in rows).encode()


DUMPS = {
    "csv": dump_csv,
    "tsv": dump_tsv,
    "jsonl": dump_jsonl,
    "parquet": dump_parquet,
    "text": dump_text,
}


def load_csv(content):
    return list(csv.DictReader(io.StringIO(content.decode(), newline=""), strict=True))


def load_tsv(content):
    header, *lines = content.decode().removesuffix("\n").split("\n")
    names = header.split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines]


def load_jsonl(content):
    return [json.loads(line) for line in content.decode().removesuffix("\n").split("\n") if line]


def load_parquet(content):
    return polars.read_parquet(io.BytesIO(content)).to_dicts()


LOADS = {"csv": load_csv, "tsv": load_tsv, "jsonl": load_jsonl, "parquet": load_parquet}


def measure(batch):
    return {"label": ["x"] * len(batch), "length": [len(text) for text in batch.texts]}


def rewrite(source, target, *, add=measure, reading=None, **options):
    """Write a source with new columns to a target."""
    format = Path(source).name.split(".")[1]
    format = "text" if format == "txt" else format
    with (
        open_row_reader(source, **{"format": format, "batch_size": 2, **(reading or {})}) as stream,
        open_row_writer(target, stream, **options) as sink,
    ):
        for batch in stream:
            sink.write(batch, add(batch))
    return sink.n_rows


def write(path, content):
    path.write_bytes(content)
    return path


def extend(rows, spell=int):
    return [{**row, "label": "x", "length": spell(len(row["text"]))} for row in rows]


@pytest.mark.parametrize("target_format", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_becomes_every_format(tmp_path, format, target_format):
    rows = ROWS if "tsv" in (format, target_format) else ROWS + BROKEN_LINES
    source = write(tmp_path / f"x.{format}", DUMPS[format](rows))
    target = tmp_path / f"y.{target_format}"
    assert rewrite(source, target) == len(rows)
    spell = str if target_format in ("csv", "tsv") else int
    assert LOADS[target_format](target.read_bytes()) == extend(rows, spell)
    texts = load_texts(target)
    assert texts.texts == [row["text"] for row in rows]
    assert texts.labels == ["x"] * len(rows)


@pytest.mark.parametrize("target_format", FORMATS)
def test_text_becomes_every_format(tmp_path, target_format):
    rows = [{"text": text} for text in ("a", "", "é, ü", '"', " ")]
    source = write(tmp_path / "x.txt", dump_text(rows))
    target = tmp_path / f"y.{target_format}"
    assert rewrite(source, target) == 5
    spell = str if target_format in ("csv", "tsv") else int
    assert LOADS[target_format](target.read_bytes()) == extend(rows, spell)


@pytest.mark.parametrize("format", FORMATS)
def test_written_again_nothing_changes(tmp_path, format):
    source = write(tmp_path / f"x.{format}", DUMPS[format](ROWS))
    first, second = tmp_path / f"y.{format}", tmp_path / f"z.{format}"
    rewrite(source, first, add=lambda batch: {})
    rewrite(first, second, add=lambda batch: {}, reading={"batch_size": 3})
    if format == "parquet":
        assert polars.read_parquet(first).equals(polars.read_parquet(source))
        assert polars.read_parquet(second).equals(polars.read_parquet(source))
    else:
        assert first.read_bytes() == second.read_bytes()
        assert LOADS[format](first.read_bytes()) == ROWS


cells = st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=8)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(cells)
@settings(max_examples=60, deadline=None)
def test_any_cell_survives_csv(rows):
    rows = [{"text": text, "note": note} for text, note in rows]
    with TemporaryDirectory() as folder:
        source = write(Path(folder, "x.csv"), dump_csv(rows))
        rewrite(source, Path(folder, "y.csv"))
        assert load_csv(Path(folder, "y.csv").read_bytes()) == extend(rows, str)
        assert load_texts(Path(folder, "y.csv")).texts == [row["text"] for row in rows]


@given(st.lists(st.dictionaries(st.text(), values, max_size=4), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_any_object_survives_jsonl(rows):
    rows = [{**row, "text": "oak"} for row in rows]
    with TemporaryDirectory() as folder:
        source = write(Path(folder, "x.jsonl"), dump_jsonl(rows))
        rewrite(source, Path(folder, "y.jsonl"), prefix="new column: ")
        new = {"new column: label": "x", "new column: length": 3}
        written = load_jsonl(Path(folder, "y.jsonl").read_bytes())
        assert [list(row) for row in written] == [[*row, *new] for row in rows]
        assert written == [{**row, **new} for row in rows]


@given(cells)
@settings(max_examples=50, deadline=None)
def test_any_cell_survives_parquet(rows):
    rows = [{"text": text, "note": note} for text, note in rows]
    with TemporaryDirectory() as folder:
        source = write(Path(folder, "x.jsonl"), dump_jsonl(rows))
        rewrite(source, Path(folder, "y.parquet"))
        assert polars.read_parquet(Path(folder, "y.parquet")).to_dicts() == extend(rows)


FRAME = polars.DataFrame(
    {
        "text": ["oak", "ash", "yew"],
        "id": [7, None, 9],
        "size": [0.5, float("nan"), None],
        "old": [True, None, False],
        "day": [date(2024, 2, 29), None, date(1, 1, 1)],
        "hour": [time(1, 2, 3), None, time(0)],
        "moment": [datetime(2024, 2, 29, 12), None, datetime(1970, 1, 1)],
        "wait": [timedelta(days=1), None, timedelta(milliseconds=5)],
        "price": [Decimal("1.50"), None, Decimal("-0.01")],
        "tags": [["a", None], [], None],
        "point": [{"x": 1, "y": [0.5]}, {"x": None, "y": None}, {"x": 3, "y": []}],
        "kind": ["b", None, "a"],
        "nothing": [None, None, None],
    },
    schema_overrides={"id": polars.UInt8, "kind": polars.Categorical},
)
SPELT_AS_JSON = {
    "text": "oak",
    "id": 7,
    "size": 0.5,
    "old": True,
    "day": "2024-02-29",
    "hour": "01:02:03",
    "moment": "2024-02-29T12:00:00",
    "wait": 86400.0,
    "price": "1.50",
    "tags": ["a", None],
    "point": {"x": 1, "y": [0.5]},
    "kind": "b",
    "nothing": None,
}
SPELT_AS_CELLS = {
    **SPELT_AS_JSON,
    "id": "7",
    "size": "0.5",
    "old": "true",
    "wait": "86400.0",
    "tags": '["a", null]',
    "point": '{"x": 1, "y": [0.5]}',
    "nothing": "",
}


@pytest.fixture
def frame_file(tmp_path):
    FRAME.write_parquet(tmp_path / "x.parquet")
    return tmp_path / "x.parquet"


def test_parquet_keeps_its_types(tmp_path, frame_file):
    rewrite(frame_file, tmp_path / "y.parquet")
    written = polars.read_parquet(tmp_path / "y.parquet")
    assert dict(written.schema) == {**FRAME.schema, "label": polars.String, "length": polars.Int64}
    assert written.select(FRAME.columns).equals(polars.read_parquet(frame_file))


def test_types_of_parquet_spelt_as_json(tmp_path, frame_file):
    rewrite(frame_file, tmp_path / "y.jsonl", add=lambda batch: {})
    first, second, third = load_jsonl((tmp_path / "y.jsonl").read_bytes())
    assert first == SPELT_AS_JSON
    assert second == {**dict.fromkeys(FRAME.columns), "text": "ash", "tags": []} | {
        "point": {"x": None, "y": None}
    }
    assert (third["wait"], third["price"], third["point"]) == (0.005, "-0.01", {"x": 3, "y": []})


def test_types_of_parquet_spelt_as_cells(tmp_path, frame_file):
    for format in ("csv", "tsv"):
        rewrite(frame_file, tmp_path / f"y.{format}", add=lambda batch: {})
        first, second, _ = LOADS[format]((tmp_path / f"y.{format}").read_bytes())
        assert first == SPELT_AS_CELLS
        assert (second["id"], second["size"], second["tags"]) == ("", "nan", "[]")


def test_bytes_cannot_be_written_as_text(tmp_path):
    polars.DataFrame({"text": ["a", "b"], "raw": [None, b"\xff"]}).write_parquet(
        tmp_path / "x.parquet"
    )
    for format in ("csv", "jsonl"):
        with pytest.raises(CorpusError) as error:
            rewrite(tmp_path / "x.parquet", tmp_path / f"y.{format}")
        assert error.value.problem == (
            "row 2: a value of type bytes cannot be written as text; write parquet instead"
        )


def test_values_of_jsonl_get_their_types(tmp_path):
    rows = [
        {"text": "a", "id": 7, "size": 1, "old": True, "tags": [], "all": None, "more": {"é": 1}},
        {"text": "b", "id": None, "size": 0.5, "tags": [None, "x"], "deep": [[], [1, 2.5]]},
        {"text": "c", "size": 2, "tags": ["y"], "more": {"other": [2]}, "deep": [[3]]},
    ]
    source = write(tmp_path / "x.jsonl", dump_jsonl(rows))
    rewrite(source, tmp_path / "y.parquet", add=lambda batch: {"labels": [("p", "q")] * len(batch)})
    written = polars.read_parquet(tmp_path / "y.parquet")
    assert dict(written.schema) == {
        "text": polars.String,
        "id": polars.Int64,
        "size": polars.Float64,
        "old": polars.Boolean,
        "tags": polars.List(polars.String),
        "all": polars.String,
        "more": polars.String,
        "deep": polars.List(polars.List(polars.Float64)),
        "labels": polars.List(polars.String),
    }
    assert written["more"].to_list() == ['{"é": 1}', None, '{"other": [2]}']
    assert written["deep"].to_list() == [None, [[], [1.0, 2.5]], [[3.0]]]
    assert written["labels"].to_list() == [["p", "q"]] * 3


@pytest.mark.parametrize(
    ("first", "then", "problem"),
    [
        (1, "a", "column 'x': the type is String here and Int64 above"),
        (1, 2.5, "column 'x': the type is Float64 here and Int64 above"),
        (None, 1, "column 'x': the type is Int64 here and String above"),
        ([1], ["a"], "column 'x': the type is String here and Int64 above"),
        ([], [1], "column 'x': the type is Int64 here and String above"),
        ("a", ["a"], "column 'x': the type is List(String) here and String above"),
        (1, 2**63, "column 'x': the number has more than 64 bits"),
    ],
)
def test_values_of_jsonl_that_change_their_type(tmp_path, first, then, problem):
    rows = [{"text": "a", "x": first}] * 3 + [{"text": "b", "x": then}]
    source = write(tmp_path / "x.jsonl", dump_jsonl(rows))
    with pytest.raises(CorpusError) as error:
        rewrite(source, tmp_path / "y.parquet")
    assert (error.value.problem, error.value.line) == (f"{problem}; write jsonl instead", 4)
    assert list(tmp_path.iterdir()) == [source]


VARYING = [{"text": "a", "id": 1}, {"text": "b"}, {"id": 3, "text": "c"}, {"new": 1, "text": "d"}]


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_keys_that_vary(tmp_path, format):
    source = write(tmp_path / "x.jsonl", dump_jsonl(VARYING[:3]))
    rewrite(source, tmp_path / f"y.{format}", add=lambda batch: {})
    written = LOADS[format]((tmp_path / f"y.{format}").read_bytes())
    spell = (lambda value: value) if format == "parquet" else (lambda value: str(value or ""))
    assert written == [{"text": row["text"], "id": spell(row.get("id"))} for row in VARYING[:3]]
    write(source, dump_jsonl(VARYING))
    with pytest.raises(CorpusError) as error:
        rewrite(source, tmp_path / f"z.{format}")
    assert str(error.value) == (
        f"{source}, line 4: the key 'new' is not in the first rows, which settle the columns; "
        "write jsonl instead"
    )


def test_keys_that_are_missing_stay_missing_in_jsonl(tmp_path):
    source = write(tmp_path / "x.jsonl", dump_jsonl(VARYING))
    rewrite(source, tmp_path / "y.jsonl", add=lambda batch: {})
    assert (tmp_path / "y.jsonl").read_bytes() == source.read_bytes()


def test_numbers_that_are_not_finite_are_null_in_jsonl(tmp_path):
    source = write(tmp_path / "x.jsonl", b'{"text": "a", "x": [NaN, {"y": -Infinity}], "z": 1.5}\n')
    rewrite(source, tmp_path / "y.jsonl", add=lambda batch: {"score": [float("inf")]})
    [row] = load_jsonl((tmp_path / "y.jsonl").read_bytes())
    assert row == {"text": "a", "x": [None, {"y": None}], "z": 1.5, "score": None}


@pytest.mark.parametrize("format", ["csv", "tsv"])
@pytest.mark.parametrize("target_format", ["csv", "tsv"])
def test_without_a_header_none_is_written(tmp_path, format, target_format):
    delimiters = {"csv": ",", "tsv": "\t"}
    content = "7,Late\n8,Lost\n9,Sent\n"
    source = write(tmp_path / f"x.{format}", content.replace(",", delimiters[format]).encode())
    target = tmp_path / f"y.{target_format}"
    rewrite(source, target, reading={"has_header": False, "text": 1})
    expected = content.replace("\n", ",x,4\n").replace(",", delimiters[target_format])
    assert target.read_text() == expected


def test_positions_are_the_names_where_there_must_be_some(tmp_path):
    source = write(tmp_path / "x.csv", b"7,Late\n")
    rewrite(source, tmp_path / "y.jsonl", reading={"has_header": False, "text": 1})
    [row] = load_jsonl((tmp_path / "y.jsonl").read_bytes())
    assert row == {"0": "7", "1": "Late", "label": "x", "length": 4}


def test_columns_of_the_same_name(tmp_path):
    source = write(tmp_path / "x.csv", b"id,id,text\n7,8,Late\n")
    rewrite(source, tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text() == "id,id,text,label,length\n7,8,Late,x,4\n"
    for format in ("jsonl", "parquet"):
        with pytest.raises(CorpusError, match="there is more than one column 'id'; write csv or"):
            rewrite(source, tmp_path / f"y.{format}")


@pytest.mark.parametrize("character", ["\t", "\n", "\r"])
def test_what_tsv_cannot_hold(tmp_path, character):
    rows = [*ROWS, {"id": f"a{character}", "text": "", "note": ""}]
    source = write(tmp_path / "x.jsonl", dump_jsonl(rows))
    with pytest.raises(CorpusError) as error:
        rewrite(source, tmp_path / "y.tsv")
    assert str(error.value) == (
        f"{source}, line 5: there is a tab or a line end in a cell, which tsv cannot hold; "
        "write csv or jsonl instead"
    )
    with pytest.raises(CorpusError, match="line 1: there is a tab"):
        rewrite(
            write(tmp_path / "z.csv", dump_csv([{"text": "", f"a{character}": ""}])),
            tmp_path / "y.tsv",
        )


@pytest.mark.parametrize("format", [*FORMATS, "text"])
def test_names_that_clash(tmp_path, format, capfdbinary):
    rows = [{"text": "a", "label": "y"}]
    source = write(tmp_path / f"x.{format}", DUMPS[format](rows))
    taken = "text" if format == "text" else "label"
    with pytest.raises(CorpusError, match=f"there is a column '{taken}' already; pass another pre"):
        rewrite(source, "-", add=lambda batch: {"id": [1], taken: ["x"]})
    assert capfdbinary.readouterr().out == b""
    rewrite(source, tmp_path / "y.jsonl", prefix="predicted_")
    [row] = load_jsonl((tmp_path / "y.jsonl").read_bytes())
    assert list(row)[-2:] == ["predicted_label", "predicted_length"]


def test_a_key_that_clashes_later(tmp_path):
    rows = [{"text": "a"}] * 3 + [{"text": "b", "label": "y"}]
    source = write(tmp_path / "x.jsonl", dump_jsonl(rows))
    with pytest.raises(CorpusError, match="line 4: there is a column 'label' already"):
        rewrite(source, tmp_path / "y.jsonl")
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ({"label": ["x"]}, r"must hold 2 values of 'label', one for each row\. Got 1 instead\.$"),
        ({"other": ["x"] * 2}, r"must hold \['label'\]\. Got \['other'\] instead\.$"),
    ],
)
def test_values_that_do_not_fit(tmp_path, added, problem):
    source = write(tmp_path / "x.csv", dump_csv(ROWS))
    batches = iter([{"label": ["x"] * 2}, added])
    with pytest.raises(ValueError, match=problem):
        rewrite(source, tmp_path / "y.csv", add=lambda batch: next(batches))


@pytest.mark.parametrize("format", FORMATS)
def test_arrays_are_values_too(tmp_path, format):
    source = write(tmp_path / "x.csv", dump_csv(ROWS))
    target = tmp_path / f"y.{format}"

    def score(batch):
        labels = np.array(["x", "y"])[: len(batch)]
        return {"label": labels, "score": np.full(len(batch), 0.5), "rank": np.arange(len(batch))}

    rewrite(source, target, add=score)
    last = LOADS[format](target.read_bytes())[-1]
    assert [last[name] for name in ("label", "score", "rank")] == (
        ["y", "0.5", "1"] if format in ("csv", "tsv") else ["y", 0.5, 1]
    )


EMPTY = {
    "csv": b"id,text\n",
    "tsv": b"id\ttext\n",
    "jsonl": b"",
    "parquet": dump_parquet(polars.DataFrame(schema={"id": polars.Int8, "text": polars.String})),
    "text": b"",
}


@pytest.mark.parametrize("format", EMPTY)
@pytest.mark.parametrize("target_format", FORMATS)
def test_no_rows(tmp_path, format, target_format):
    source = write(tmp_path / f"x.{format}", EMPTY[format])
    target = tmp_path / f"y.{target_format}"
    assert rewrite(source, target, add=lambda batch: {"score": np.zeros(0)}) == 0
    old = {"jsonl": [], "text": ["text"]}.get(format, ["id", "text"])
    columns = [*old, "score"]
    if target_format == "parquet":
        schema = polars.read_parquet(target).schema
        assert (list(schema), schema["score"]) == (columns, polars.Float64)
    elif target_format == "jsonl":
        assert target.read_bytes() == b""
    else:
        delimiter = "," if target_format == "csv" else "\t"
        assert target.read_text() == delimiter.join(columns) + "\n"


def test_a_sink_that_nothing_is_written_to(tmp_path):
    source = write(tmp_path / "x.csv", dump_csv(ROWS))
    for format in FORMATS:
        with (
            open_row_reader(source, format="csv") as stream,
            open_row_writer(tmp_path / f"y.{format}", stream),
        ):
            pass
        assert LOADS[format]((tmp_path / f"y.{format}").read_bytes() or b"\n") == []


@pytest.mark.parametrize("end", DECOMPRESSIONS)
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_compressed(tmp_path, format, end):
    source = write(tmp_path / "x.jsonl", dump_jsonl(ROWS))
    target = tmp_path / f"y.{format}{end}"
    rewrite(source, target)
    content = DECOMPRESSIONS[end](target.read_bytes())
    assert LOADS[format](content) == extend(ROWS, int if format == "jsonl" else str)
    assert load_texts(target).texts == [row["text"] for row in ROWS]
    again = tmp_path / f"z.{format}{end}"
    rewrite(target, again, add=lambda batch: {})
    assert DECOMPRESSIONS[end](again.read_bytes()) == content


def test_the_same_rows_make_the_same_compressed_file(tmp_path):
    source = write(tmp_path / "x.csv", dump_csv(ROWS))
    rewrite(source, tmp_path / "y.csv.gz")
    rewrite(source, tmp_path / "z.csv.gz")
    assert (tmp_path / "y.csv.gz").read_bytes() == (tmp_path / "z.csv.gz").read_bytes()


def test_a_file_can_be_written_over_itself(tmp_path):
    for format in FORMATS:
        path = write(tmp_path / f"x.{format}", DUMPS[format](ROWS))
        rewrite(path, path)
        written = LOADS[format](path.read_bytes())
        assert written == extend(ROWS, str if format in ("csv", "tsv") else int)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", ["-", None])
def test_standard_output(tmp_path, format, target, capfdbinary):
    source = write(tmp_path / f"x.{format}", DUMPS[format](ROWS))
    rewrite(source, target)
    content = capfdbinary.readouterr().out
    assert LOADS[format](content) == extend(ROWS, str if format in ("csv", "tsv") else int)


def test_standard_output_gets_each_batch_at_once(tmp_path, capfdbinary):
    source = write(tmp_path / "x.txt", b"a\nb\nc\n")
    seen = []

    def look(batch):
        seen.append(capfdbinary.readouterr().out)
        return {"length": [len(text) for text in batch.texts]}

    rewrite(source, "-", add=look)
    assert seen == [b"", b"text,length\na,1\nb,1\n"]
    assert capfdbinary.readouterr().out == b"c,1\n"


class BrokenPipe(io.RawIOBase):
    """A file whose reader went away."""

    def writable(self):
        return True

    def write(self, content):
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize("target_format", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_reader_that_went_away(tmp_path, format, target_format, monkeypatch):
    source = write(tmp_path / f"x.{format}", DUMPS[format](ROWS))
    pipe = io.TextIOWrapper(BrokenPipe())
    monkeypatch.setattr(sys, "stdout", pipe)
    with pytest.raises(BrokenPipeError):
        rewrite(source, "-", format=target_format)


PROGRAM = """
import sys
from pathlib import Path
from spokeshave.corpus.rewrite.row_writer import open_row_writer
from spokeshave.corpus.rewrite.row_reader import open_row_reader
source, format, target = sys.argv[1:]
try:
    with open_row_reader(source, format=format) as stream, open_row_writer(target, stream) as sink:
        for batch in stream:
            sink.write(batch, {"label": ["x"] * len(batch), "score": [0.5] * len(batch)})
except BrokenPipeError:
    sys.stderr.write("quiet")
    sys.stdout = None
else:
    status = Path("/proc/self/status")
    sys.stderr.write(status.read_text() if status.exists() else "")
"""


def start(source, format, target, **options):
    command = [sys.executable, "-c", PROGRAM, str(source), format, str(target)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)


def test_head_of_a_pipe(tmp_path):
    source = write(tmp_path / "x.txt", b"a line of text\n" * 100_000)
    with start(source, "text", "-", stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"text,label,score\n"
        process.stdout.close()
        assert process.stderr.read().startswith(b"quiet")


class Trouble(Exception):
    """What goes wrong while rows are written."""


@pytest.mark.parametrize("problem", [Trouble, KeyboardInterrupt, CorpusError("x", "y"), OSError])
@pytest.mark.parametrize("end", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "csv.bz2", "csv.xz"])
def test_failure_leaves_what_was_there(tmp_path, end, problem):
    source = write(tmp_path / "x.csv", dump_csv(ROWS))
    target = tmp_path / f"y.{end}"

    def stumble(batch):
        if batch.numbers[0] > 2:
            raise problem
        return measure(batch)

    for content in (None, b"what was there"):
        if content is not None:
            write(target, content)
        with pytest.raises((Trouble, KeyboardInterrupt, CorpusError, OSError)):
            rewrite(source, target, add=stumble)
        left = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path != source}
        assert left == ({} if content is None else {target.name: content})


def test_interrupt_while_parquet_is_joined(tmp_path, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(polars.LazyFrame, "sink_parquet", interrupt)
    source = write(tmp_path / "x.csv", dump_csv(ROWS))
    with pytest.raises(KeyboardInterrupt):
        rewrite(source, tmp_path / "y.parquet")
    assert list(tmp_path.iterdir()) == [source]


def test_bad_rows_at_the_end_leave_nothing(tmp_path):
    source = write(tmp_path / "x.csv", dump_csv(ROWS) + b"5\n")
    with pytest.raises(CorpusError, match="line 6: the number of fields is 1 here and 3 above"):
        rewrite(source, tmp_path / "y.csv")
    assert list(tmp_path.iterdir()) == [source]
    assert rewrite(source, tmp_path / "y.csv", reading={"bad_rows": "skip"}) == 4


def test_a_very_long_text(tmp_path):
    text = "word " * 2_000_000
    source = write(tmp_path / "x.jsonl", dump_jsonl([{"text": text}]))
    for format in FORMATS:
        rewrite(source, tmp_path / f"y.{format}")
        assert load_texts(tmp_path / f"y.{format}").texts == [text]


MARGINS = {
    ("csv", "csv"): 8,
    ("jsonl", "jsonl"): 8,
    ("text", "csv"): 8,
    ("csv", "parquet"): 60,
    ("parquet", "parquet"): 60,
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a folder of tables of some and of many rows."""
    folder = tmp_path_factory.mktemp("tables")
    for rows in (20_000, 200_000):
        number = polars.int_range(rows, eager=True)
        hashes = [number.hash(seed).cast(polars.String).alias(str(seed)) for seed in range(8)]
        text = polars.DataFrame(hashes).select(polars.concat_str(polars.all(), separator=" "))
        frame = polars.DataFrame([number.alias("id"), text.to_series().alias("text")])
        frame.write_csv(folder / f"{rows}.csv")
        frame.write_ndjson(folder / f"{rows}.jsonl")
        frame.write_parquet(folder / f"{rows}.parquet")
        frame.select("text").write_csv(folder / f"{rows}.text", include_header=False)
    return folder


def measure_peak(source, format, target):
    """Return the most megabytes that are in memory; what getrusage tells includes the parent's."""
    with start(source, format, target) as process:
        peak = re.search(r"VmHWM:\s+(\d+) kB", process.stderr.read().decode())
    if peak is None:
        pytest.skip("this system does not tell how much memory a process took")
    return int(peak[1]) / 1024


@pytest.mark.parametrize(("format", "target_format"), MARGINS)
def test_memory_does_not_grow_with_the_table(tables, tmp_path, format, target_format):
    target = tmp_path / f"y.{target_format}"
    some, many = (
        measure_peak(tables / f"{rows}.{format}", format, target) for rows in (20_000, 200_000)
    )
    assert many - some < MARGINS[format, target_format]
