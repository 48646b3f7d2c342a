"""The cells of a row of an ARFF file, dense or sparse, with their quotes taken off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import lt

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.wording import quote

QUOTED = r"""'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)\""""
_END = r"\s*(?P<end>,|\Z)"
_CELL = re.compile(rf"""\s*(?:{QUOTED}|(?P<bare>[^,'"\s][^,]*|)){_END}""")
_ENTRY = re.compile(rf"""\s*(?P<index>\d+)\s+(?:{QUOTED}|(?P<bare>[^,'"\s]+)){_END}""")


def split_cells(text: str) -> list[str]:
    """Split values at the commas that are not in quotes.

    Examples
    --------
    >>> split_cells('''5.1, 'no checking', "it's" ''')
    ['5.1', 'no checking', "it's"]
    """
    if not _has_quotes(text):
        return [cell.strip() for cell in text.split(",")]
    return [unquote(match) for match in _scan(_CELL, text)]


def split_entries(text: str) -> dict[int, str]:
    """Split pairs of index and value, as they stand between the braces of a sparse row.

    Examples
    --------
    >>> split_entries("0 2, 7 'no checking'")
    {0: '2', 7: 'no checking'}
    """
    if not text.strip():
        return {}
    if _has_quotes(text):
        pairs = [(int(match["index"]), unquote(match)) for match in _scan(_ENTRY, text)]
    else:
        pairs = _split_pairs(text)
    indices = [index for index, _ in pairs]
    if not all(map(lt, indices, indices[1:])):
        raise MalformedRow("the indices do not increase")
    return dict(pairs)


def unquote(match: re.Match[str]) -> str:
    r"""Return the value a match found, without quotes and the backslashes inside them.

    Examples
    --------
    >>> unquote(_CELL.match(r"'it\'s'"))
    "it's"
    """
    if match["bare"] is not None:
        return match["bare"].strip()
    return re.sub(r"\\(.)", r"\1", match["single"] or match["double"] or "")


def _has_quotes(text: str) -> bool:
    return "'" in text or '"' in text


def _split_pairs(text: str) -> list[tuple[int, str]]:
    try:
        return [(int(index), value) for index, value in map(str.split, text.split(","))]
    except ValueError:
        raise MalformedRow("a sparse row must hold pairs of index and value") from None


def _scan(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that lie end to end and cover the text."""
    position = 0
    while match := pattern.match(text, position):
        yield match
        if not match["end"]:
            return
        position = match.end()
    raise MalformedRow(f"{quote(text[position:])} is not quoted as ARFF asks")
