"""The names of columns: how they are given and shown, and which tell what a column holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from spokeshave.corpus.wording import quote

Column: TypeAlias = "str | int"

# The sooner a name comes, the more it is preferred.
TEXT_NAMES = (
    *("text", "body", "message", "content", "document", "review", "description", "abstract"),
    *("comment", "sentence", "tweet", "article", "post", "question", "email", "utterance"),
    *("story", "query", "summary", "headline", "subject", "title"),
)
LABEL_NAMES = (
    *("label", "labels", "class", "classlabel", "category", "categories", "target", "queue"),
    *("topic", "topics", "tag", "tags", "sentiment", "polarity", "intent", "genre"),
    *("department", "section", "group", "newsgroup", "type", "kind", "y", "rating", "stars"),
)
PREFERENCES = {"text": TEXT_NAMES, "label": LABEL_NAMES}


def check_column(column: Column | None) -> Column | None:
    """Turn the position of a column that is spelt as a string into a number.

    Examples
    --------
    >>> check_column("1"), check_column("body")
    (1, 'body')
    """
    if isinstance(column, str) and column.isascii() and column.isdecimal():
        return int(column)
    return column


def show_column(column: Column | None) -> str:
    """Name a column in a sentence.

    Examples
    --------
    >>> show_column("body"), show_column(1)
    ("column 'body'", 'column 1')
    """
    return f"column {quote(column) if isinstance(column, str) else column}"


def find_preferred(names: Sequence[str], preferences: Sequence[str]) -> list[str]:
    """Return the names that spell the most preferred one there is.

    Examples
    --------
    >>> find_preferred(["id", "Title", "Class Label", "Body"], TEXT_NAMES)
    ['Body']
    """
    spelt = [re.sub(r"[\s_-]", "", name).casefold() for name in names]
    best = next((preferred for preferred in preferences if preferred in spelt), None)
    return [name for name, simple in zip(names, spelt, strict=True) if simple == best]
