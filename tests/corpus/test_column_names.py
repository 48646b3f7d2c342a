"""Names of columns, as they are given and preferred."""

from __future__ import annotations

import pytest

from spokeshave.corpus.column_names import LABEL_NAMES, TEXT_NAMES, check_column, find_preferred


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
