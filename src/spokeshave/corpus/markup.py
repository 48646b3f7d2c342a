"""Markup: what it is, and text without it."""

from __future__ import annotations

import re
from html import unescape

# Comments, scripts and style sheets go with what they hold; where one is not closed it ends with
# the text, as in a browser. A tag is a name in angle brackets, so <a@b.org> and 1 < 2 are text.
_MARKUP = re.compile(
    r"""<(?: !--.*?(?:-->|\Z)
          | (script|style)\b[^>]*(?:>.*?(?:</\1\s*>|\Z)|\Z)
          | [!?][a-z\[][^<>]*>
          | /?[a-z][\w:.-]*(?:\s[^<>]*)?/?> )""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)


def strip_markup(text: str) -> str:
    """Return the text with each tag or comment replaced by a space and entities decoded.

    Examples
    --------
    >>> strip_markup("<p class=lead>Salt &amp; pepper</p>")
    ' Salt & pepper '
    >>> strip_markup("1 < 2, said <ann@example.org>")
    '1 < 2, said <ann@example.org>'
    """
    if "<" in text:
        text = _MARKUP.sub(" ", text)
    return unescape(text)
