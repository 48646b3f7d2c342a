"""Tables in Markdown, and the places of a page that a run fills."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


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


def fill_block(page: str, name: str, text: str) -> str:
    r"""Return a Markdown page with the text between its markers of a name replaced.

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
