"""Cells become labels, all of one kind."""

from __future__ import annotations

import pytest

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.labels import LabelParser


@pytest.mark.parametrize(
    ("separator", "cell", "label"),
    [
        (None, "wheat", "wheat"),
        (None, " a|b ", " a|b "),
        (None, 3, "3"),
        (None, True, "True"),
        (None, ["wheat", 3], ("wheat", "3")),
        (None, [], ()),
        ("|", "wheat|corn", ("wheat", "corn")),
        ("|", "wheat", ("wheat",)),
        ("|", "", ()),
        ("|", " ", ()),
        ("|", None, ()),
        ("|", 3, ("3",)),
        ("|", ["a|b"], ("a|b",)),
        (", ", "wheat, corn", ("wheat", "corn")),
    ],
)
def test_cells(separator, cell, label):
    assert LabelParser(separator).parse(cell) == label


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
