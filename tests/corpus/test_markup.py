from __future__ import annotations

import pytest

from spokeshave.corpus.markup import strip_markup


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
