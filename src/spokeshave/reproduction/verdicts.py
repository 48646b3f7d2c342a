"""What became of the claims of a paper, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from spokeshave.reproduction.markdown import write_table
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
    table = write_table(
        ("where", "the paper says", "verdict", "what came out"),
        ((claim.where, claim.says, *verdict) for claim, verdict in judged),
    )
    words = ", ".join(f"{n} {word}" for word, n in count.items())
    return f"{table}\n\n{len(judged)} claims: {words}."
