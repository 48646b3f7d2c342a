"""How verdicts are worded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan

from spokeshave.papers.forman2009.judges.gains import Gain
from spokeshave.papers.forman2009.tables import (
    NO_PLATT_CV,
    SCALING,
)
from spokeshave.reproduction import IN_PART, NOT_REPRODUCED, REPRODUCED

POINT = 0.01  # of a measure: less is no appreciable gain, nor a substantial loss
VISIBLE = 0.005  # half a point, what can be seen in the paper's figures
BENCHMARK_NAMES = {"text": "text", "uci": "UCI"}
NAMES = {"auc": "AUC", "f1": "F", "accuracy": "accuracy", "precision_at_20": "P@20"}
VARIANT_NAMES = {SCALING: "no shaping", NO_PLATT_CV: "Platt - CV"}


def grade(is_whole: bool, is_half: bool = False) -> str:
    return REPRODUCED if is_whole else IN_PART if is_half else NOT_REPRODUCED


def show(value: float, signed: bool = False) -> str:
    """Return a number without the zero before its point.

    Examples
    --------
    >>> show(0.984), show(-0.0123, signed=True), show(1.0)
    ('.984', '-.012', '1.000')
    """
    return re.sub(r"^([+-]?)0\.", r"\1.", f"{value:+.3f}" if signed else f"{value:.3f}")


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
