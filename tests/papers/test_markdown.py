"""Tables in Markdown, and the blocks of a page."""

from __future__ import annotations

import pytest

from papers.markdown import fill_block, write_table


def test_cells_are_kept_on_their_line_and_in_their_column():
    assert write_table(("a", "b|c"), [("1\n2", " 3  4 ")]).splitlines() == [
        r"| a | b\|c |",
        "| --- | --- |",
        "| 1 2 | 3 4 |",
    ]


def test_text_between_markers_is_replaced_and_nothing_else():
    page = "a\n<!-- x -->\nold\n<!-- end x -->\nb\n<!-- y -->\nkept\n<!-- end y -->\n"
    filled = fill_block(page, "x", r"new \1")
    assert filled == page.replace("old", r"new \1")
    assert fill_block(filled, "x", "old") == page


@pytest.mark.parametrize(
    "page",
    ["", "<!-- x -->", "<!-- end x -->", "<!-- end x -->\n<!-- x -->", "<!--x--><!--end x-->"],
)
def test_a_page_without_markers_is_refused(page):
    with pytest.raises(ValueError, match="the page must have the lines <!-- x --> and <!-- end "):
        fill_block(page, "x", "new")
