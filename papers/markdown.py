"""Markdown: tables, the table of verdicts, and the blocks of a page that a run fills."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from papers.verdicts import Judged, MissingTableError, StoredTables, Tables


def write_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table.

    Examples
    --------
    >>> print(write_table(["measure", "ours"], [["AUC", ".984"]]))
    | measure | ours |
    | --- | --- |
    | AUC | .984 |
    """
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(map(_write_cell, line))} |" for line in lines)


def _write_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def write_verdicts(judged: Iterable[Judged]) -> str:
    """Return a Markdown table with one line per claim, and the number of each verdict."""
    judged = list(judged)
    count = Counter(verdict.word for _, verdict in judged)
    table = write_table(
        ("where", "the paper says", "verdict", "what came out"),
        ((claim.where, claim.says, *verdict) for claim, verdict in judged),
    )
    words = ", ".join(f"{n} {word}" for word, n in count.items())
    return f"{table}\n\n{len(judged)} claims: {words}."


def write_blocks(blocks: Mapping[str, Callable[[Tables], str]], tables: Tables) -> dict[str, str]:
    """Return the Markdown of each block; a block whose table is missing says so."""
    return {name: _write_block(write, tables) for name, write in blocks.items()}


def _write_block(write: Callable[[Tables], str], tables: Tables) -> str:
    try:
        return write(StoredTables(tables))
    except MissingTableError as error:
        return f"Not run: this needs the table {error}."


def fill_block(page: str, name: str, text: str) -> str:
    r"""Return a Markdown page with the text between the markers of a block replaced.

    Examples
    --------
    >>> print(fill_block("<!-- verdicts -->\nold\n<!-- end verdicts -->", "verdicts", "new"))
    <!-- verdicts -->
    new
    <!-- end verdicts -->
    """
    first, last = f"<!-- {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(f"{re.escape(first)}.*?{re.escape(last)}", re.DOTALL)
    filled, count = pattern.subn(lambda _: f"{first}\n{text}\n{last}", page)
    if not count:
        raise ValueError(f"the page must have the lines {first} and {last}")
    return filled
