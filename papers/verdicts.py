"""Claims of a paper and the verdicts on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

REPRODUCED, IN_PART = "reproduced", "in part"
NOT_REPRODUCED, NOT_TRIED = "not reproduced", "could not be tried"
NOT_RUN = "not run"

Tables = Mapping[str, "pl.DataFrame"]  # by name; each is stored as NAME.csv


class Verdict(NamedTuple):
    """The outcome of a claim, and the figures that support it."""

    word: str
    figures: str


class Claim(NamedTuple):
    """A statement of a paper about its results.

    Attributes
    ----------
    where : str
        Table, figure or section: ``Table 1``, ``5.1``.
    says : str
        The claim in one sentence, with the published figures.
    judge : callable or str
        From all tables to a `Verdict`; or the reason why the claim could not be tried. A claim
        whose tables are missing, because their part was not run, is not judged.
    """

    where: str
    says: str
    judge: Callable[[Tables], Verdict] | str


class Judged(NamedTuple):
    """A claim and its verdict."""

    claim: Claim
    verdict: Verdict


class MissingTableError(LookupError):
    """A claim, a block or a figure needs a table whose part was not run."""


class NotTriedError(LookupError):
    """A claim cannot be judged from the results of this run."""


class StoredTables(dict[str, Any]):
    """Tables by name; looking up a missing one raises `MissingTableError`."""

    def __missing__(self, name: str) -> Any:
        raise MissingTableError(name)


def judge_claims(claims: Iterable[Claim], tables: Tables) -> list[Judged]:
    """Return the verdict on each claim, given the tables of the parts that were run."""
    return [Judged(claim, _judge(claim, tables)) for claim in claims]


def _judge(claim: Claim, tables: Tables) -> Verdict:
    if isinstance(claim.judge, str):
        return Verdict(NOT_TRIED, claim.judge)
    try:
        return claim.judge(StoredTables(tables))
    except MissingTableError as error:
        return Verdict(NOT_RUN, f"needs the table {error}")
    except NotTriedError as error:
        return Verdict(NOT_TRIED, str(error))


def grade(is_whole: bool, is_partial: bool = False) -> str:
    """Return the word for a claim that holds, holds in part, or does not hold."""
    return REPRODUCED if is_whole else IN_PART if is_partial else NOT_REPRODUCED


def grade_cases(holds: Iterable[bool]) -> str:
    """Return the word for a claim that was tried in several cases.

    Examples
    --------
    >>> grade_cases([True, False])
    'in part'
    """
    cases = list(holds)
    return grade(bool(cases) and all(cases), any(cases))


def show(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """Return a number without the zero before its decimal point.

    Examples
    --------
    >>> show(0.9842, 4), show(-0.0123), show(0.5, signed=True), show(1.0), show(None)
    ('.9842', '-.012', '+.500', '1.000', 'unknown')
    """
    if value is None:
        return "unknown"
    return re.sub(r"^([+-]?)0\.", r"\1.", f"{value:{'+' if signed else ''}.{digits}f}")
