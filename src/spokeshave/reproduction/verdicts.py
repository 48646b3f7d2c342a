"""What became of the claims of a paper, as a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from spokeshave.reproduction.paper import NOT_TRIED, Claim, Tables, Verdict

NOT_RUN = "not run"


class MissingTableError(LookupError):
    """A claim or a figure asks for a table whose part was not run."""


class Kept(dict[str, Any]):
    """Tables that say so where one is asked for that is not there."""

    def __missing__(self, name: str) -> Any:
        raise MissingTableError(name)


class Judged(NamedTuple):
    """A claim and its verdict."""

    claim: Claim
    verdict: Verdict


def judge_claims(claims: Iterable[Claim], tables: Tables) -> list[Judged]:
    """Return the verdict on each claim from the tables that there are."""
    return [Judged(claim, _judge(claim, tables)) for claim in claims]


def _judge(claim: Claim, tables: Tables) -> Verdict:
    if isinstance(claim.judge, str):
        return Verdict(NOT_TRIED, claim.judge)
    try:
        return claim.judge(Kept(tables))
    except MissingTableError as error:
        return Verdict(NOT_RUN, f"needs the table {error}")


def write_verdicts(judged: Iterable[Judged]) -> str:
    """Return a Markdown table, a line for each claim, and how many there are of each verdict."""
    judged = list(judged)
    count = Counter(verdict.word for _, verdict in judged)
    lines = [
        "| where | the paper says | verdict | what came out |",
        "| --- | --- | --- | --- |",
        *(
            f"| {' | '.join(map(_write_cell, (claim.where, claim.says, *verdict)))} |"
            for claim, verdict in judged
        ),
        "",
        f"{len(judged)} claims: " + ", ".join(f"{n} {word}" for word, n in count.items()) + ".",
    ]
    return "\n".join(lines)


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
