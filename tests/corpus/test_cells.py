"""Quotes and commas in the rows of ARFF files."""

from __future__ import annotations

import pytest

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.cells import split_cells, split_entries


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("1,2", ["1", "2"]),
        (" 1 ,\tno checking,", ["1", "no checking", ""]),
        ("'a, b','it\\'s',\"x\"", ["a, b", "it's", "x"]),
        ("'', ,'x' ", ["", "", "x"]),
        ("don't,x", ["don't", "x"]),
        ("'back\\\\slash',1", ["back\\slash", "1"]),
    ],
)
def test_split_cells(text, cells):
    assert split_cells(text) == cells


@pytest.mark.parametrize("text", ["'a", "1,'a'b", '"a,b'])
def test_quotes_out_of_place(text):
    with pytest.raises(MalformedRow, match="is not quoted as ARFF asks"):
        split_cells(text)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", {}),
        (" ", {}),
        ("0 1,5 x", {0: "1", 5: "x"}),
        (" 0  1 , 5\tx ", {0: "1", 5: "x"}),
        ("0 1, 5 'a, b' ,6 \"x\"", {0: "1", 5: "a, b", 6: "x"}),
    ],
)
def test_split_entries(text, entries):
    assert split_entries(text) == entries


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0", "a sparse row must hold pairs of index and value"),
        ("0 1 2", "a sparse row must hold pairs of index and value"),
        ("x 1", "a sparse row must hold pairs of index and value"),
        ("0 1,", "a sparse row must hold pairs of index and value"),
        ("x 'a'", "is not quoted as ARFF asks"),
        ("0 'a", "is not quoted as ARFF asks"),
        ("3 1,2 1", "the indices do not increase"),
        ("3 1,3 'a'", "the indices do not increase"),
    ],
)
def test_malformed_entries(text, problem):
    with pytest.raises(MalformedRow, match=problem):
        split_entries(text)
