"""How verdicts are worded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spokeshave.reproduction import IN_PART, NOT_REPRODUCED, REPRODUCED

CLOSE, NEAR = 0.002, 0.01  # differences of averages that are called very close, and near
APPROXIMATE = ("mask", "sv_set")
NAMES = {"auc": "AUC", "best_f1": "F1", "sv_set": "sv set"}


def grade(is_so: bool, is_partly: bool) -> str:
    return REPRODUCED if is_so else IN_PART if is_partly else NOT_REPRODUCED


def dot(value: float, digits: int = 4) -> str:
    """Return a share as the papers print it: .9746."""
    return f"{value:.{digits}f}".removeprefix("0")


def enlist(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def span(rows: list[Any], name: str) -> str:
    low, high = min(row[name] for row in rows), max(row[name] for row in rows)
    return dot(low, 3) if low == high else f"{dot(low, 3)} to {dot(high, 3)}"
