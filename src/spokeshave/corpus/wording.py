"""How values and names are quoted in an error."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_CHARACTERS = 60
_MOST_NAMES = 10


def quote(value: str) -> str:
    """Quote a value for a sentence, cut where it is long.

    Examples
    --------
    >>> quote("body")
    "'body'"
    """
    if len(value) > _MOST_CHARACTERS:
        value = f"{value[:_MOST_CHARACTERS]}..."
    return f"'{value}'"


def quote_all(values: Sequence[str]) -> str:
    """Quote values for a sentence, the first few where there are many.

    Examples
    --------
    >>> quote_all(["id", "body", "queue"])
    "'id', 'body', 'queue'"
    """
    quoted = ", ".join(map(quote, values[:_MOST_NAMES]))
    more = len(values) - _MOST_NAMES
    return f"{quoted} and {more} more" if more > 0 else quoted
