"""Tables are read a few rows at a time, with every cell as it was."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
import sys
import zipfile
from datetime import date

import polars
import pytest

from spokeshave.corpus import limits
from spokeshave.corpus.rewrite.row_reader import open_row_reader
from spokeshave.errors import CorpusError

CELLS = [
    ["1", "plain", ""],
    ["2", 'say "no", twice', "naïve 😀"],
    ["3", "two\nlines", "a\r\nb\rc"],
    ["4", "", "\u2028 is no line end"],
]
COLUMNS = ("id", "text", "note")
COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
OBJECTS = [
    {"text": "Black", "id": 7, "tags": ["a", None], "score": 0.5},
    {"id": None, "text": "Late", "more": {"é": [1, [2]]}},
    {"text": "", "urgent": True},
]
FRAME = polars.DataFrame(
    {
        "id": [7, None, 9],
        "text": ["Black", "Late\n", ""],
        "day": [date(2024, 2, 29), None, date(1, 1, 1)],
        "tags": [["a", None], [], None],
        "point": [{"x": 1, "y": 0.5}, {"x": None, "y": None}, {"x": 3, "y": 1.5}],
        "kind": ["a", "b", "a"],
    },
    schema_overrides={"id": polars.UInt8, "kind": polars.Enum(["a", "b"])},
)


def to_csv(rows, **dialect):
    stream = io.StringIO(newline="")
    csv.writer(stream, **dialect).writerows(rows)
    return stream.getvalue().encode()


def to_jsonl(objects):
    return "\n".join(map(json.dumps, objects)).encode()


def to_parquet(frame):
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def write(path, content):
    path.write_bytes(content)
    return path


def read(source, format, **options):
    with open_row_reader(source, format=format, **options) as stream:
        return stream, list(stream)


def read_rows(source, format, **options):
    return [list(row) for batch in read(source, format, **options)[1] for row in batch.list_rows()]


def read_texts(source, format, **options):
    return [text for batch in read(source, format, **options)[1] for text in batch.texts]


def fail(source, format, **options):
    with pytest.raises(CorpusError) as error:
        read(source, format, **options)
    return error.value


@pytest.fixture
def pipe(monkeypatch):
    """Return a function that puts bytes on standard input."""

    def feed(content):
        stream = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", stream)
        return stream

    return feed


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "mark"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_cells_of_csv(tmp_path, line_end, mark):
    content = to_csv([COLUMNS, *CELLS], lineterminator=line_end)
    stream, batches = read(write(tmp_path / "x.csv", mark + content), "csv")
    assert stream.columns == batches[0].columns == COLUMNS
    assert batches[0].list_rows() == CELLS
    assert batches[0].texts == batches[0].get_cells("text") == [row[1] for row in CELLS]
    assert batches[0].list_objects()[0] == {"id": "1", "text": "plain", "note": ""}


def test_cells_of_tsv(tmp_path):
    path = write(tmp_path / "x.tsv", 'id\ttext\r\n7\t"a\r\n\r\n8\té,\n'.encode())
    assert read_rows(path, "tsv") == [["7", '"a'], ["8", "é,"]]


def test_objects_of_jsonl(tmp_path):
    path = write(tmp_path / "x.jsonl", b"\n" + to_jsonl(OBJECTS) + b"\r\n \n")
    stream, [batch] = read(path, "jsonl")
    assert stream.columns == ("text", "id", "tags", "score", "more", "urgent")
    assert batch.list_objects() == OBJECTS
    assert batch.get_cells("tags") == [["a", None], None, None]
    assert batch.texts == ["Black", "Late", ""]
    assert batch.numbers == [2, 3, 4]


def test_types_of_parquet(tmp_path):
    stream, [batch] = read(write(tmp_path / "x.parquet", to_parquet(FRAME)), "parquet")
    assert stream.columns == tuple(FRAME.columns)
    assert batch.frame.equals(FRAME)
    assert batch.frame.schema == FRAME.schema
    assert batch.texts == ["Black", "Late\n", ""]
    assert batch.get_cells("day") == FRAME["day"].to_list()


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\n\r\n b\t\n\n", ["a", "", " b\t", ""]),
        (b"a\rb\nc\r", ["a\rb", "c\r"]),
        ("\ufeffé\x0c\u2028\x85\n".encode(), ["é\x0c\u2028\x85"]),
    ],
)
def test_lines_of_text(tmp_path, content, texts):
    stream, [batch] = read(write(tmp_path / "x.txt", content), "text")
    assert stream.columns == ("text",)
    assert batch.texts == texts
    assert batch.list_rows() == [[text] for text in texts]
    assert batch.numbers == list(range(1, len(texts) + 1))


@pytest.mark.parametrize("text", [1, "1"])
@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_columns_without_a_header_are_called_by_their_positions(tmp_path, format, text):
    path = write(
        tmp_path / "x", b"7,Late\n8,Lost\n".replace(b",", {"csv": b",", "tsv": b"\t"}[format])
    )
    stream, [batch] = read(path, format, text=text, has_header=False)
    assert stream.columns == ("0", "1")
    assert not stream.has_header
    assert batch.texts == ["Late", "Lost"]
    assert batch.numbers == [1, 2]


def test_position_of_a_column_with_a_name(tmp_path):
    path = write(tmp_path / "x.csv", b"id,body\n7,Late\n")
    stream, [batch] = read(path, "csv", text=1)
    assert (stream.columns, batch.texts) == (("id", "body"), ["Late"])


def test_columns_of_the_same_name_are_kept(tmp_path):
    path = write(tmp_path / "x.csv", b"id,id,text\n7,8,Late\n")
    assert read_rows(path, "csv") == [["7", "8", "Late"]]


WRITERS = {
    "csv": lambda texts: to_csv([["id", "text"], *enumerate(texts)]),
    "tsv": lambda texts: to_csv([["id", "text"], *enumerate(texts)], delimiter="\t"),
    "jsonl": lambda texts: to_jsonl([{"id": i, "text": text} for i, text in enumerate(texts)]),
    "parquet": lambda texts: to_parquet(polars.DataFrame({"id": range(len(texts)), "text": texts})),
    "text": lambda texts: "\n".join(texts).encode(),
}
TEXTS = ["oak", "ash", "yew", "fir", "elm", "box", "fig"]


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("batch_size", [1, 2, 3, 7, 100])
def test_batches(tmp_path, format, batch_size, monkeypatch):
    monkeypatch.setattr(limits, "ROWS_PER_SLICE", 4)
    path = write(tmp_path / "x", WRITERS[format](TEXTS))
    stream, batches = read(path, format, batch_size=batch_size)
    assert [text for batch in batches for text in batch.texts] == TEXTS
    assert all(0 < len(batch) <= batch_size for batch in batches)
    assert stream.skipped == 0
    header = format in ("csv", "tsv")
    numbers = [number for batch in batches for number in batch.numbers]
    assert numbers == list(range(1 + header, 8 + header))


@pytest.mark.parametrize("format", WRITERS)
def test_batches_have_few_characters(tmp_path, format, monkeypatch):
    monkeypatch.setattr(limits, "MAX_ROW_CHARACTERS", 1000)
    texts = ["oak" * 100] * 20 + ["yew" * 1000]
    batches = read(write(tmp_path / "x", WRITERS[format](texts)), format)[1]
    assert [text for batch in batches for text in batch.texts] == texts
    assert all(len(batch) <= 4 for batch in batches)
    assert len(batches) <= 21


@pytest.mark.parametrize("format", WRITERS)
def test_a_very_long_text(tmp_path, format):
    text = "word " * 2_000_000
    path = write(tmp_path / "x", WRITERS[format](["a", text, "b"]))
    assert read_texts(path, format) == ["a", text, "b"]


def test_rows_are_numbered_by_the_line_they_start_on(tmp_path):
    path = write(tmp_path / "x.csv", b'text\n"a\nb"\n\nc\n')
    assert read(path, "csv")[1][0].numbers == [2, 5]


def test_unknown_column_of_a_batch(tmp_path):
    batch = read(write(tmp_path / "x.csv", b"id,text\n7,Late\n"), "csv")[1][0]
    with pytest.raises(ValueError, match=r"must be one of 'id', 'text'\. Got 'body' instead\.$"):
        batch.get_cells("body")


BAD_ROWS = {
    "csv": (b'id,text\n7,a\n8\n9,c\n10,"d"e\n', "the number of fields is 1 here and 2 above"),
    "tsv": (b"id\ttext\n7\ta\n8\n9\tc\n10\td\te\n", "the number of fields is 1 here and 2 above"),
    "jsonl": (
        b'\n{"text": "a"}\n{"text": null}\n{"text": "c"}\n[]\n{"body": "e"}\n{"text": 1}\n',
        "the text is missing",
    ),
}


@pytest.mark.parametrize("format", BAD_ROWS)
def test_bad_rows(tmp_path, format):
    content, problem = BAD_ROWS[format]
    path = write(tmp_path / "x", content)
    error = fail(path, format)
    assert (error.path, error.problem, error.line) == (str(path), problem, 3)
    stream, [batch] = read(path, format, bad_rows="skip")
    assert batch.texts == ["a", "c"]
    assert batch.numbers == [2, 4]
    assert stream.skipped == content.count(b"\n") - 3


def test_bad_rows_of_parquet(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "ROWS_PER_SLICE", 2)
    frame = polars.DataFrame({"id": [1, 2, 3, 4], "text": ["a", "b", None, "d"]})
    path = write(tmp_path / "x.parquet", to_parquet(frame))
    assert str(fail(path, "parquet")) == f"{path}: row 3: the text is missing"
    stream, batches = read(path, "parquet", bad_rows="skip")
    assert stream.skipped == 1
    assert [(batch.numbers, batch.get_cells("id")) for batch in batches] == [
        ([1, 2], [1, 2]),
        ([4], [4]),
    ]


def test_text_of_parquet_that_is_no_string(tmp_path):
    path = write(tmp_path / "x.parquet", to_parquet(polars.DataFrame({"text": [1]})))
    assert fail(path, "parquet").problem == "row 1: the text is not a string but of type int"
    stream, [batch] = read(path, "parquet", bad_rows="skip")
    assert (len(batch), stream.skipped) == (0, 1)


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_missing_column(tmp_path, format):
    path = write(tmp_path / "x", WRITERS[format](TEXTS))
    problem = "there is no column 'body'; the columns are 'id', 'text'"
    assert fail(path, format, text="body").problem == problem


def test_missing_key(tmp_path):
    error = fail(write(tmp_path / "x", WRITERS["jsonl"](TEXTS)), "jsonl", text="body")
    assert (error.problem, error.line) == ("there is no 'body'; the keys are 'id', 'text'", 1)


def test_missing_position(tmp_path):
    path = write(tmp_path / "x.csv", b"7,Late\n")
    assert fail(path, "csv", has_header=False).problem == (
        "there is no column 'text'; the columns are '0', '1'"
    )
    assert fail(path, "csv", text=2).problem == "there is no column 2; the last is 1"


@pytest.mark.parametrize(
    ("format", "content", "columns"),
    [
        ("csv", b"id,text\n", ("id", "text")),
        ("tsv", b"id\ttext", ("id", "text")),
        ("jsonl", b"", ()),
        ("jsonl", b"\n \n", ()),
        ("parquet", to_parquet(FRAME.clear()), tuple(FRAME.columns)),
        ("text", b"", ("text",)),
    ],
)
def test_no_rows_make_one_batch(tmp_path, format, content, columns):
    stream, [batch] = read(write(tmp_path / "x", content), format)
    assert stream.columns == batch.columns == columns
    assert (len(batch), batch.texts, list(batch.list_rows())) == (0, [], [])


def test_no_header(tmp_path):
    path = write(tmp_path / "x.csv", b"")
    assert str(fail(path, "csv")) == f"{path}: there is nothing in it, not even a header"
    stream, [batch] = read(path, "csv", has_header=False, text=3)
    assert (stream.columns, len(batch)) == ((), 0)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_compressed_file(tmp_path, compression):
    content = COMPRESSIONS[compression](to_csv([COLUMNS, *CELLS]))
    assert read_rows(write(tmp_path / f"x.csv{compression}", content), "csv") == CELLS


def test_zipped_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("x.txt", "a\r\nb")
    assert read_texts(tmp_path / "x.zip", "text") == ["a", "b"]


def test_other_encodings(tmp_path):
    path = write(tmp_path / "x.txt", "naïve\ncafé".encode("latin-1"))
    assert read_texts(path, "text", encoding="latin-1") == ["naïve", "café"]
    assert str(fail(path, "text")).startswith(f"{path}, line 1: the text is not utf-8; pass")
    path = write(tmp_path / "x.csv", "text\r\nnaïve\r\n".encode("utf-16"))
    assert read_texts(path, "csv", encoding="utf-16") == ["naïve"]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "text"])
def test_standard_input(pipe, format, compression):
    standard_input = pipe(COMPRESSIONS[compression](b"\xef\xbb\xbf" + WRITERS[format](TEXTS)))
    stream, [batch] = read("-", format)
    assert (stream.name, batch.texts) == ("standard input", TEXTS)
    assert not standard_input.buffer.closed


def test_parquet_on_standard_input(pipe):
    pipe(to_parquet(FRAME))
    assert read("-", "parquet")[1][0].frame.equals(FRAME)
    pipe(b"no parquet at all")
    assert str(fail("-", "parquet")).startswith("standard input: it cannot be read as parquet (")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_empty_standard_input(pipe, compression):
    pipe(COMPRESSIONS[compression](b""))
    assert read_texts("-", "text") == []


def test_text_that_only_looks_compressed(pipe):
    pipe(b"BZh9,text\n1,a\n")
    assert read_texts("-", "csv") == ["a"]


def test_problems_of_standard_input(pipe):
    pipe(b"text\na\nb,c\n")
    assert str(fail("-", "csv")).startswith("standard input, line 3: the number of fields is 2")
    pipe("café".encode("latin-1"))
    assert str(fail("-", "text")) == (
        "standard input: the text is not utf-8; pass the right one, for example encoding='latin-1'"
    )
    pipe(gzip.compress(b"text\na\n" * 99)[:-9])
    assert str(fail("-", "csv")).startswith("standard input: the compressed file is cut short")


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match=r"^standard input is closed; pipe a file into it"):
        read("-", "csv")


@pytest.mark.parametrize("problem", [OSError("x"), UnicodeError("x"), EOFError("x"), KeyError("x")])
@pytest.mark.parametrize("format", WRITERS)
def test_what_goes_wrong_elsewhere_is_not_damage(tmp_path, format, problem):
    path = write(tmp_path / "x", WRITERS[format](TEXTS))
    with pytest.raises(type(problem)) as error, open_row_reader(path, format=format):
        raise problem
    assert error.value is problem


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    path = write(tmp_path / "x.csv", b"text\na\nb\nc,d\n")
    with open_row_reader(path, format="csv", batch_size=2) as stream:
        batches = iter(stream)
        assert next(batches).texts == ["a", "b"]
        with pytest.raises(CorpusError, match="line 4"):
            next(batches)


def test_missing_file_and_folder(tmp_path):
    for format in WRITERS:
        assert fail(tmp_path / "x", format).problem == "there is no such file"
        assert fail(tmp_path, format).problem == "this is a folder; name a file in it"


@pytest.mark.parametrize(
    ("format", "options", "problem"),
    [
        ("xml", {}, r"^format must be one of 'csv', .*, 'text'\. Got 'xml' instead\.$"),
        ("jsonl", {"text": 0}, r"^text must be the name of a column in jsonl\. Got 0 instead\.$"),
        ("csv", {"text": -1}, r"^text must be the name of a column in csv\. Got -1 instead\.$"),
        ("csv", {"text": None}, r"^text must be the name of a column in csv\. Got None instead\.$"),
        ("csv", {"batch_size": 0}, r"^batch_size must be a positive integer\. Got 0 instead\.$"),
        ("csv", {"bad_rows": "fix"}, r"^bad_rows must be 'raise' or 'skip'\. Got 'fix' instead\.$"),
    ],
)
def test_parameters(tmp_path, format, options, problem):
    path = write(tmp_path / "x", b"text\na\n")
    with pytest.raises(ValueError, match=problem):
        read(path, format, **options)


def test_heavy_packages_wait_for_parquet(tmp_path):
    write(tmp_path / "x.csv", b"text\na\n")
    program = (
        "import sys\n"
        "from spokeshave.corpus.rewrite.row_writer import open_row_writer\n"
        "from spokeshave.corpus.rewrite.row_reader import open_row_reader\n"
        "with open_row_reader('x.csv', format='csv') as stream, \\\n"
        "     open_row_writer('y.csv', stream) as sink:\n"
        "    for batch in stream: sink.write(batch, {'length': [len(t) for t in batch.texts]})\n"
        "print({'numpy', 'scipy', 'sklearn', 'numba', 'polars'} & set(sys.modules))\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    assert (tmp_path / "y.csv").read_text() == "text,length\na,1\n"
