"""How far methods are above each other, as the tables say."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any, NamedTuple

import polars as pl

from spokeshave.papers.forman2009.tables import (
    BASELINE,
    SHAPING,
    TASK,
    find_tests,
)
from spokeshave.reproduction import Tables

LEVEL = 0.05  # of significance


class Gain(NamedTuple):
    """How far a method is above another at a training size; without a p-value for a single task."""

    percent: float
    tasks: int
    value: float
    against: float
    difference: float
    p_value: float
    wins: int
    losses: int

    @property
    def relative(self) -> float:
        return self.difference / self.against if self.against else nan

    @property
    def is_up(self) -> bool:
        return self.difference > 0 and self.p_value < LEVEL

    @property
    def is_down(self) -> bool:
        return self.difference < 0 and self.p_value < LEVEL


class NotRunError(LookupError):
    """A claim is about a method that has no results."""


def find_gains(
    tables: Tables, benchmark: str, measure: str, method: str = SHAPING, against: str = BASELINE
) -> list[Gain]:
    """Return how far a method is above another, from the smallest training size to the largest."""
    rows = find_tests(tables[f"{benchmark}_tests"], measure, method, against)
    if not rows:
        raise NotRunError(method)
    return [_read_gain(row) for row in rows]


def _read_gain(row: dict[str, Any]) -> Gain:
    return Gain(
        percent=row["percent"],
        tasks=row["tasks"],
        value=row["value"],
        against=row["against_value"],
        difference=row["difference"],
        p_value=nan if row["p_value"] is None else float(row["p_value"]),
        wins=row["wins"],
        losses=row["losses"],
    )


def find_gain(tables: Tables, at: float, *compared: str) -> Gain:
    """Return how far a method is above another at the training size nearest to a share."""
    return min(find_gains(tables, *compared), key=lambda gain: abs(gain.percent - at))


def pair(a: Sequence[Gain], b: Sequence[Gain]) -> list[tuple[Gain, Gain]]:
    """Return the gains of two pairs of methods at the training sizes that both have."""
    by_percent = {gain.percent: gain for gain in b}
    return [(gain, by_percent[gain.percent]) for gain in a if gain.percent in by_percent]


def reverse(gain: Gain) -> Gain:
    return gain._replace(
        value=gain.against,
        against=gain.value,
        difference=-gain.difference,
        wins=gain.losses,
        losses=gain.wins,
    )


def read_tasks(tables: Tables, benchmark: str, *methods: str) -> pl.DataFrame:
    """Return the AUC of the tasks on which all of some methods have one."""
    wide = tables[f"{benchmark}_tasks"]
    for method in methods:
        if method not in wide.columns:
            raise NotRunError(method)
    return wide.select(methods).drop_nulls()


def spread(
    frame: pl.DataFrame,
    measure: str,
    size: float,
    method: str = SHAPING,
    against: str = BASELINE,
) -> pl.DataFrame:
    """Return two methods and the gain of one over the other for each task that has both."""
    both = frame.filter(pl.col("method").is_in((method, against)), size=size)
    wide = both.pivot(on="method", index=TASK, values=measure).drop_nulls()
    if wide.width < 4:
        raise NotRunError(method)
    return wide.with_columns(gain=pl.col(method) - pl.col(against))
