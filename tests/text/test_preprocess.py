"""Markup is removed, and documents are grouped into chunks without loss."""

from __future__ import annotations

import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave import DocumentVectorizer, choose_representation
from spokeshave.text.preprocess import split_chunks, strip_markup


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("<b>bold</b>", " bold "),
        ("a<br/>b<hr />c", "a b c"),
        ("<a href='x'\n class=y>link</a>", " link "),
        ("<ns:tag-name.x>in</ns:tag-name.x>", " in "),
        ("one<!-- a > b -->two", "one two"),
        ("one<!-- never closed", "one "),
        ("<script>if (a < b) x();</SCRIPT >after", " after"),
        ("<style media=print>p {}</style>after", " after"),
        ("<script src=x", " "),
        ("<!DOCTYPE html><?xml version='1'?>x", "  x"),
        ("salt &amp; pepper &lt;3 &#233;", "salt & pepper <3 é"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<ann@example.org> wrote", "<ann@example.org> wrote"),
        ("<http://example.org>", "<http://example.org>"),
        ("x <y z", "x <y z"),
        ("&notanentity; AT&T", "¬anentity; AT&T"),
        ("", ""),
    ],
)
def test_strip_markup(text, expected):
    assert strip_markup(text) == expected


@pytest.mark.parametrize("opening", ["<a ", "<!--", "<script>", "<script ", "<![", "</", "<a/"])
def test_unclosed_markup_takes_linear_time(opening):
    """Twenty times the text of a quadratic pattern would take minutes."""
    strip_markup(opening * 200_000)


@given(st.lists(st.text(max_size=9), max_size=30), st.integers(1, 20))
def test_pieces_are_the_documents_in_order(documents, size):
    chunks = list(split_chunks(documents, size, "documents"))
    assert [document for chunk in chunks for document in chunk] == documents
    assert all(chunks)
    for chunk in chunks:
        *most, _ = map(len, chunk)
        assert sum(most) < size  # without its last document it was not full yet
    for chunk in chunks[:-1]:
        assert sum(map(len, chunk)) >= size


def test_documents_are_read_no_sooner_than_they_are_needed():
    taken = []
    chunks = split_chunks(
        (taken.append(word) or word for word in ["ash", "oak", "yew"]), 3, "words"
    )
    assert next(chunks) == ["ash"]
    assert taken == ["ash"]


@pytest.mark.parametrize("documents", ["oak", b"oak"])
def test_a_single_string_gets_a_sentence(documents):
    with pytest.raises(
        ValueError, match=r"words must be an iterable of strings\. Got a single str"
    ):
        list(split_chunks(documents, 9, "words"))


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, dict])
def test_a_table_is_not_read_as_the_names_of_its_columns(make):
    table = make({"oak": ["grey bark"], "ash": ["light bark"]})
    expected = f"iterable of strings. Got a {make.__name__} instead: pass its column of texts"
    with pytest.raises(ValueError, match=expected):
        DocumentVectorizer().fit(table)
    with pytest.raises(ValueError, match=expected):
        choose_representation(table, ["a", "b"])


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_a_column_of_a_table_is_read(make):
    column = make({"text": ["grey bark", "light bark"]})["text"]
    assert DocumentVectorizer(min_df=1).fit_transform(column).shape == (2, 3)


@pytest.mark.parametrize(("document", "kind"), [(None, "NoneType"), (b"oak", "bytes"), (3, "int")])
def test_what_is_not_text_gets_a_sentence(document, kind):
    with pytest.raises(
        ValueError, match=f"words must be strings. Got {kind} at position 1 instead"
    ):
        list(split_chunks(["ash", document], 9, "words"))
