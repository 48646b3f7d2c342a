"""Every malformed row is found on its line, in each format of table."""

from __future__ import annotations

import csv
import json
from functools import partial

import polars
import pytest

from spokeshave.corpus import limits, load_texts
from spokeshave.corpus.formats.columns import guess_columns
from spokeshave.errors import CorpusError

HEADER = "id,text,label\n"
GOOD = '{"text": "a", "label": "x"}\n'

CSV_PROBLEMS = {
    "1,a\n": "the number of fields is 2 here and 3 above",
    "1,a,x,y\n": "the number of fields is 4 here and 3 above",
    "1,a,\n": "the label is missing",
    '1,"a"b,x\n': "the row cannot be split into fields (',' expected after '\"'); check its quotes",
}

JSON_PROBLEMS = {
    "{text: 1}": "the line is not valid JSON "
    "(Expecting property name enclosed in double quotes at character 2)",
    '{"text": "a", "label": "x"': "the line is not valid JSON "
    "(Expecting ',' delimiter at character 27)",
    "[" * 100_000: "the line is not valid JSON",
    '{"text": "\\ud83d", "label": "x"}': "the line is not valid JSON",
    '["a", "x"]': "the line is not a JSON object",
    '{"body": "a", "label": "x"}': "there is no 'text'; the keys are 'body', 'label'",
    '{"text": "a", "queue": "x"}': "there is no 'label'; the keys are 'text', 'queue'",
    '{"text": ["a"], "label": "x"}': "the text is not a string but of type list",
    '{"text": null, "label": "x"}': "the text is missing",
    '{"text": "a", "label": null}': "the label is missing",
    '{"text": "a", "label": ["x"]}': "lists and single labels are mixed; give every row a list",
}

PARQUET_PROBLEMS = {
    (None, "x"): "the text is missing",
    ("a", None): "the label is missing",
    ("a", ""): "the label is missing",
}


def write(path, content):
    path.write_text(content, encoding="utf-8", newline="")
    return path


def fail(path, **options):
    with pytest.raises(CorpusError) as error:
        load_texts(path, **options)
    return error.value


@pytest.mark.parametrize(("row", "problem"), CSV_PROBLEMS.items())
def test_malformed_csv(tmp_path, row, problem):
    path = write(tmp_path / "x.csv", f'{HEADER}1,"a\nb",x\n\n{row}3,c,z\n')
    error = fail(path)
    assert (error.line, error.problem) == (5, problem)
    texts = load_texts(path, bad_rows="skip")
    assert (texts.texts, texts.labels, texts.skipped) == (["a\nb", "c"], ["x", "z"], 1)


def test_quote_that_is_never_closed(tmp_path):
    path = write(tmp_path / "x.csv", f'{HEADER}1,a,x\n2,"b,y\n3,c,z\n')
    error = fail(path)
    assert error.line == 3
    problem = "a quote that opens in this row is never closed; close it, or write it twice"
    assert error.problem == problem
    # Skipping the row would drop all rows after it.
    assert str(fail(path, bad_rows="skip")) == str(error)


def test_quote_that_swallows_the_file(tmp_path, monkeypatch, request):
    request.addfinalizer(partial(csv.field_size_limit, csv.field_size_limit(99)))
    monkeypatch.setattr(limits, "MAX_DOCUMENT_LENGTH", 99)
    path = write(tmp_path / "x.csv", f'{HEADER}1,a,x\n2,"b,y\n' + "3,c,z\n" * 99 + '4,d",z\n')
    assert fail(path, bad_rows="skip").line == 3


def test_rows_that_a_quote_makes_one_are_all_counted(tmp_path):
    path = write(tmp_path / "x.csv", f'{HEADER}1,a,x\n2,"b,y\n3,c,z\n4,"d",w\n5,e,v\n')
    assert fail(path).line == 3
    texts = load_texts(path, bad_rows="skip")
    assert (texts.texts, texts.skipped) == (["a", "e"], 3)


def test_json_is_not_looked_for_in_millions_of_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "SAMPLE_LINES", 4)
    for line in ("\n", "no JSON\n"):
        path = write(tmp_path / "x.jsonl", line * 3 + GOOD)
        assert guess_columns(path, "jsonl").text == "text"
        write(path, line * 4 + GOOD)
        with pytest.raises(CorpusError, match="no JSON object on any of its first lines"):
            guess_columns(path, "jsonl")


def test_malformed_header_cannot_be_skipped(tmp_path):
    path = write(tmp_path / "x.csv", '"text"x,label\ntext,label\na,x\n')
    assert fail(path, bad_rows="skip").line == 1


def test_malformed_tsv(tmp_path):
    path = write(tmp_path / "x.tsv", 'text\tlabel\n"a\tx\nb\n')
    error = fail(path)
    assert (error.line, error.problem) == (3, "the number of fields is 1 here and 2 above")
    assert load_texts(path, bad_rows="skip").texts == ['"a']


def test_first_row_without_header_can_be_skipped(tmp_path):
    path = write(tmp_path / "x.csv", '"a"b,x\nc,y\n')
    texts = load_texts(path, text=0, label=1, bad_rows="skip")
    assert (texts.texts, texts.skipped) == (["c"], 1)


@pytest.mark.parametrize(("row", "problem"), JSON_PROBLEMS.items())
def test_malformed_jsonl(tmp_path, row, problem):
    path = write(tmp_path / "x.jsonl", f"{GOOD}\n{row}\n{GOOD}")
    error = fail(path)
    assert (error.line, error.problem) == (3, problem)
    texts = load_texts(path, bad_rows="skip")
    assert (len(texts), texts.skipped) == (2, 1)


@pytest.mark.parametrize(("row", "problem"), PARQUET_PROBLEMS.items())
def test_malformed_parquet(tmp_path, row, problem):
    path = tmp_path / "x.parquet"
    rows = [("a", "x"), row, ("c", "z")]
    polars.DataFrame(rows, schema=["text", "label"], orient="row").write_parquet(path)
    assert str(fail(path)) == f"{path}: row 2: {problem}"
    texts = load_texts(path, bad_rows="skip")
    assert (texts.texts, texts.skipped) == (["a", "c"], 1)


def test_parquet_text_that_is_no_string(tmp_path):
    path = tmp_path / "x.parquet"
    polars.DataFrame({"text": [1], "label": ["x"]}).write_parquet(path)
    assert str(fail(path)).endswith("row 1: the text is not a string but of type int")


@pytest.mark.parametrize("content", [b"", b"text,label\n" * 10])
def test_file_that_is_no_parquet(tmp_path, content):
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    assert fail(path).problem.startswith("it cannot be read as parquet (")


def test_parquet_cut_short(tmp_path):
    path = tmp_path / "x.parquet"
    polars.DataFrame({"text": ["a"] * 100, "label": ["x"] * 100}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    assert fail(path).problem.startswith("it cannot be read as parquet (")


def test_missing_column(tmp_path):
    problem = "there is no column 'body'; the columns are 'id', 'text', 'label'"
    csv = write(tmp_path / "x.csv", f"{HEADER}1,a,x\n")
    assert fail(csv, text="body").problem == problem
    parquet = tmp_path / "x.parquet"
    polars.DataFrame({"id": [1], "text": ["a"], "label": ["x"]}).write_parquet(parquet)
    assert fail(parquet, text="body").problem == problem


def test_missing_position(tmp_path):
    path = write(tmp_path / "x.csv", "a,x\n")
    assert fail(path, text=0, label=2).problem == "there is no column 2; the last is 1"


def test_column_named_twice(tmp_path):
    path = write(tmp_path / "x.csv", "text,text,label\na,b,x\n")
    assert fail(path).problem.startswith("there is more than one column 'text'; the columns are")


def test_long_field(tmp_path):
    text = "word " * 100_000
    path = write(tmp_path / "x.csv", f"text,label\n{text},x\n")
    assert load_texts(path).texts == [text]


def test_surrogate_pairs_are_characters(tmp_path):
    path = write(tmp_path / "x.jsonl", json.dumps({"text": "\U0001f600", "label": "x"}))
    assert load_texts(path).texts == ["\U0001f600"]
