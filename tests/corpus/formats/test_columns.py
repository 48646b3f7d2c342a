"""Columns of texts and labels, guessed from names and from values."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.corpus.formats.columns import (
    LABEL_NAMES,
    TEXT_NAMES,
    find_preferred,
    guess_columns,
    list_columns,
)
from spokeshave.corpus.options import check_column
from spokeshave.corpus.sniff import guess_format
from spokeshave.errors import CorpusError

TEXTS = ["the screen is black", "where is my parcel", "it came too late", "no picture at all"]


LABELS = ["display", "parcel", "parcel", "display"]


def write_table(path, names, columns, format="csv"):
    rows = list(zip(*columns, strict=True))
    if format == "jsonl":
        path.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows))
    elif format == "parquet":
        polars.DataFrame(dict(zip(names, columns, strict=True)), strict=False).write_parquet(path)
    else:
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter="\t" if format == "tsv" else ",")
        writer.writerows([names, *rows] if names else rows)
        path.write_text(stream.getvalue(), encoding="utf-8")
    return path


def guess(path, format="csv", **options):
    columns = guess_columns(path, format, **options)
    return columns.text, columns.label


def fail(path, format="csv", **options):
    with pytest.raises(CorpusError) as error:
        guess_columns(path, format, **options)
    return error.value.problem


@pytest.mark.parametrize(
    ("names", "text", "label"),
    [
        (["file_name", "text", "class"], "text", "class"),
        (["ID", "Body", "Queue"], "Body", "Queue"),
        (["", "Message", "Class Label"], "Message", "Class Label"),
        (["title", "abstract", "topics"], "abstract", "topics"),
        (["id", "title", "tags"], "title", "tags"),
        (["category", "label", "text"], "text", "label"),
        (["words", "label"], "words", "label"),
        (["text", "spam"], "text", "spam"),
    ],
)
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_columns_by_name(tmp_path, names, text, label, format):
    columns = [[f"{name} {row}" for row in range(3)] for name in names]
    path = write_table(tmp_path / "x", names, columns, format)
    assert guess(path, format) == (text, label)
    assert guess_columns(path, format).has_header
    assert guess(path, format, labelled=False) == (text, None)
    assert guess(path, format, label=label) == (text, label)
    assert guess(path, format, text=text) == (text, label)


@given(
    st.sampled_from(TEXT_NAMES),
    st.sampled_from(LABEL_NAMES),
    st.lists(st.sampled_from(["id", "date", "", "v1", "url"]), unique=True),
    st.randoms(use_true_random=False),
    st.sampled_from([str.upper, str.title, str.lower, "{} ".format, "_{}".format]),
)
@settings(max_examples=50, deadline=None)
def test_columns_in_any_order_and_case(text, label, others, random, spell):
    text, label = spell(text), spell(label)
    names = random.sample([text, label, *others], k=2 + len(others))
    with TemporaryDirectory() as folder:
        path = write_table(Path(folder, "x"), names, [["a", "b"]] * len(names))
        assert guess(path) == (text, label)


@given(st.permutations(list(zip(TEXTS, LABELS, strict=True))), st.booleans(), st.booleans())
@settings(max_examples=30, deadline=None)
def test_two_columns_by_their_values(rows, is_text_first, has_header):
    columns = list(zip(*rows, strict=True))
    names = ["v1", "v2"] if has_header else []
    with TemporaryDirectory() as folder:
        path = write_table(Path(folder, "x"), names, columns if is_text_first else columns[::-1])
        found = guess_columns(path, "csv")
    places = (0, 1) if is_text_first else (1, 0)
    assert found.has_header == has_header
    assert (found.text, found.label) == (tuple(names[i] for i in places) if names else places)


def test_reason_is_said(tmp_path):
    path = write_table(tmp_path / "x", ["body", "v1"], [TEXTS, LABELS])
    reason = "the text is column 'body' by its name, the label is column 'v1' as the only other one"
    assert guess_columns(path, "csv").reason == reason
    assert guess_columns(path, "csv", text="body", label="v1").reason == ""
    path = write_table(tmp_path / "x", [], [TEXTS, LABELS])
    reason = "the text is column 0 by its values, the label is column 1 by its values"
    assert guess_columns(path, "csv").reason == f"there is no header, {reason}"
    assert guess_columns(path, "csv", text="0", label="1").reason == "there is no header"


def test_positions_become_names_where_there_are_names(tmp_path):
    path = write_table(tmp_path / "x", ["id", "body", "2"], [["1", "2"], ["a", "b"], ["x", "y"]])
    assert guess(path, text="1", label="2") == ("body", "2")
    assert guess(path, text=1, label="2") == ("body", "2")
    assert guess(path, text="body", label=0) == ("body", "id")
    assert guess(path, text=0, labelled=False) == ("id", None)


def test_positions_stay_where_no_name_is_known(tmp_path):
    path = write_table(tmp_path / "x", [], [["a", "b"], ["c", "d"]])
    assert guess(path, text="1", label="0") == (1, 0)
    assert guess(path, label="0") == (1, 0)
    assert fail(path, text="2", label="0") == (
        "there is no column 2; there is no header, and the columns are 0 to 1"
    )


def test_names_are_taken_as_they_are_given(tmp_path):
    assert guess(tmp_path / "absent.csv", text="a", label="b") == ("a", "b")
    assert guess(tmp_path / "absent.csv", text="a", label="b", labelled=False) == ("a", None)


@pytest.mark.parametrize(
    ("names", "options", "problem"),
    [
        (["a", "b", "c"], {}, "which is the text and which is the label"),
        (["a", "b", "c"], {"labelled": False}, "which is the text"),
        (["a", "b", "c"], {"text": "a"}, "which is the label"),
        (["a", "b", "c"], {"label": "c"}, "which is the text"),
        (["text", "b", "c"], {}, "which is the label"),
        (["label", "b", "c"], {}, "which is the text"),
        (["text", "Text", "label"], {}, "which is the text"),
        (["text"], {}, "which is the label"),
        (["text;label"], {}, "which is the label"),
        (["id", "v1"], {}, "which is the text and which is the label"),
    ],
)
def test_what_is_not_obvious_is_asked_for(tmp_path, names, options, problem):
    path = write_table(tmp_path / "x", names, [["1", "2", "3"]] * len(names))
    shown = ", ".join(f"'{name}'" for name in names)
    assert fail(path, **options) == f"say {problem}; the columns are {shown}"


def test_what_is_not_obvious_without_a_header(tmp_path):
    path = write_table(tmp_path / "x", [], [["1", "1"], ["a", "b"], ["c", "d"]])
    assert fail(path) == (
        "say which is the text and which is the label; "
        "there is no header, and the columns are 0 to 2"
    )
    assert guess(path, text=2, label=0) == (2, 0)


def test_the_only_column_is_the_text_where_no_labels_are_wanted(tmp_path):
    path = write_table(tmp_path / "x", ["words"], [TEXTS])
    assert guess(path, labelled=False) == ("words", None)


def test_lists_are_no_texts(tmp_path):
    labels = [["a long name of a class", f"and another {row}"] for row in range(4)]
    path = write_table(tmp_path / "x", ["v1", "v2"], [LABELS, labels], "jsonl")
    assert fail(path, "jsonl").startswith("say which is the text")


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_names_of_columns(tmp_path, format):
    path = write_table(tmp_path / "x", ["v1", "v2"], [TEXTS, LABELS], format)
    assert list_columns(path, format) == ["v1", "v2"]


def test_no_names_without_a_header(tmp_path):
    assert list_columns(write_table(tmp_path / "x", [], [TEXTS, LABELS]), "csv") == []


def test_one_column_for_both(tmp_path):
    for column in ("a", "1", 1):
        with pytest.raises(ValueError, match=r"must be different columns\. Got .* twice instead"):
            guess_columns(tmp_path / "x", "csv", text=column, label=column)


@pytest.mark.parametrize(
    ("name", "format", "columns"),
    [("dmoz/Dmoz-Science.csv", "csv", ("text", "class")), ("sms_spam.tsv", "tsv", (1, 0))],
)
def test_columns_of_collections(data_folder, name, format, columns):
    assert guess_format(data_folder / name) == format
    assert guess(data_folder / name, format) == columns


@pytest.mark.parametrize(
    ("column", "checked"),
    [("1", 1), ("10", 10), (1, 1), ("body", "body"), ("-1", "-1"), ("1.5", "1.5"), ("²", "²")],
)
def test_check_column(column, checked):
    assert check_column(column) == checked


@pytest.mark.parametrize(
    ("names", "preferred"),
    [
        (["id", "Title", "BODY"], ["BODY"]),
        (["text", "Text", "body"], ["text", "Text"]),
        (["Te_xt"], ["Te_xt"]),
        (["texts", "id"], []),
        ([], []),
    ],
)
def test_find_preferred(names, preferred):
    assert find_preferred(names, TEXT_NAMES) == preferred


def test_no_name_tells_of_both():
    assert not set(TEXT_NAMES) & set(LABEL_NAMES)
