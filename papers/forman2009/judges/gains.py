"""Gains of one method over another, and how verdicts word them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import Any, NamedTuple

import polars as pl

from papers.forman2009.tables import (
    BASELINE,
    NO_PLATT_CV,
    SCALING,
    SHAPING,
    TASK,
    find_tests,
)
from papers.limits import LEVEL, shows
from papers.verdicts import NotTriedError, Tables, show


class Gain(NamedTuple):
    """The gain of one method over another at a training size; p is NaN for a single task."""

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

    @property
    def shows(self) -> bool:
        return shows(self.difference, p_value=self.p_value)


def find_gains(
    tables: Tables, benchmark: str, measure: str, method: str = SHAPING, against: str = BASELINE
) -> list[Gain]:
    """Return the gains of one method over another, from the smallest training size on."""
    rows = find_tests(tables[f"{benchmark}_tests"], measure, method, against)
    if not rows:
        raise NotTriedError(f'"{method}" was not run')
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
    """Return the gain of one method over another at the training size nearest to ``at``."""
    return min(find_gains(tables, *compared), key=lambda gain: abs(gain.percent - at))


def pair(a: Sequence[Gain], b: Sequence[Gain]) -> list[tuple[Gain, Gain]]:
    """Return two lists of gains, paired at their common training sizes."""
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
    """Return the AUC of the tasks that all these methods have."""
    wide = tables[f"{benchmark}_tasks"]
    for method in methods:
        if method not in wide.columns:
            raise NotTriedError(f'"{method}" was not run')
    return wide.select(methods).drop_nulls()


def spread(
    frame: pl.DataFrame,
    measure: str,
    size: float,
    method: str = SHAPING,
    against: str = BASELINE,
) -> pl.DataFrame:
    """Return the values of two methods and their difference for each task with both."""
    both = frame.filter(pl.col("method").is_in((method, against)), size=size)
    wide = both.pivot(on="method", index=TASK, values=measure).drop_nulls()
    if wide.width < 4:
        raise NotTriedError(f'"{method}" was not run')
    return wide.with_columns(gain=pl.col(method) - pl.col(against))


BENCHMARK_NAMES = {"text": "text", "uci": "UCI"}
NAMES = {"auc": "AUC", "f1": "F", "accuracy": "accuracy", "precision_at_20": "P@20"}
VARIANT_NAMES = {SCALING: "no shaping", NO_PLATT_CV: "Platt - CV"}


def show_p(value: float) -> str:
    return "no test of one task" if isnan(value) else f"p = {value:.2g}".replace(" 0.", " .")


def show_gain(gain: Gain) -> str:
    return (
        f"{show(gain.against)} → {show(gain.value)} at {gain.percent:g}% "
        f"({show(gain.difference, signed=True)}, {show_p(gain.p_value)})"
    )


def list_gains(gains: Sequence[Gain]) -> str:
    listed = ", ".join(show(gain.difference, signed=True) for gain in gains)
    first, last = gains[0].percent, gains[-1].percent
    return f"{listed} at {first:g}%" if first == last else f"{listed} ({first:g} to {last:g}%)"


def label(benchmark: str, measure: str) -> str:
    return f"{BENCHMARK_NAMES[benchmark]} {NAMES[measure]}"


def name_variant(method: str) -> str:
    return VARIANT_NAMES.get(method, method)
