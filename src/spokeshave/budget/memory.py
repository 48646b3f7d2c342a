"""Memory: held by the process, left by a budget, and taken by each part of training."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from typing import NamedTuple

import psutil

from spokeshave.kernels.lanes import LANES
from spokeshave.utils.formatting import write_size

RESERVE = 48_000_000  # bytes kept free for reading, and for memory not returned by a stage
RESERVE_PART = 16  # one part in so many of the budget is kept free, if that is more
ROUNDING = 4_000_000  # resident bytes are rounded up to a multiple of this
STEP = 1_000_000  # the smallest possible budget is rounded up to a multiple of this
MINIMUM = 16_000_000  # bytes for documents and weights without which nothing can be trained

CELL = 4  # bytes of a feature number
VALUE = 4
WEIGHT = 8
DUAL = 8
# A row: its offset, scale, squared length and weight, 8 bytes each; the offset of its labels, and
# a label by row and by class.
ROW = 4 * 8 + 8 + 4 + 8
# Coordinate descent on a class: dual, scores, order of the active documents, their violation,
# target.
DESCENT = 8 + 8 + 4 + 4 + 1
# A gathered document: its row, dual, score and target, twice while they are concatenated; its
# index, and what descent needs.
GATHERED = 2 * (4 * 8 + 8 + 8 + 1) + 8 + DESCENT
# Sweeps shared by several classes: dual, scores and targets of each lane, targets twice.
SWEEP = LANES * (4 + 4 + 2)


def measure_resident() -> int:
    """Return the resident bytes of this process, which a budget counts."""
    return int(psutil.Process().memory_info().rss)


def measure_installed() -> int:
    """Return the bytes of memory of this machine."""
    return int(psutil.virtual_memory().total)


def give_back() -> None:
    """Return freed memory to the system, on systems that support it."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
        if trim is not None:
            trim(0)


@dataclass(frozen=True)
class AvailableMemory:
    """A budget in bytes, and the part of it that is taken or reserved before training."""

    budget: int
    taken: int

    @property
    def free(self) -> int:
        """Bytes left for documents and weights."""
        return self.budget - self.taken


def find_reserve(budget: int) -> int:
    """Return the bytes of a budget that are not planned with.

    Examples
    --------
    >>> find_reserve(512_000_000), find_reserve(8_000_000_000)
    (48000000, 500000000)
    """
    return max(RESERVE, budget // RESERVE_PART)


def find_available(budget: int) -> AvailableMemory:
    """Return what a budget leaves to this process, or raise if it is too small."""
    # Rounded so that two runs have equal memory though they hold a few pages more or less.
    reserve = find_reserve(budget)
    taken = -(-measure_resident() // ROUNDING) * ROUNDING + reserve
    if budget < taken + MINIMUM:
        held = taken - reserve + MINIMUM
        floor = max(held + RESERVE, -(-held * RESERVE_PART // (RESERVE_PART - 1)))
        step = STEP if floor < 1_000_000_000 else 100 * STEP  # as it is written
        floor = -(-floor // step) * step
        raise ValueError(
            f"memory must be at least {write_size(floor)}: the process holds "
            f"{write_size(taken - reserve)} before it begins. Got {write_size(budget)} instead."
        )
    return AvailableMemory(budget, taken)


class Costs(NamedTuple):
    """Bytes of a cell, a row and a feature while a model is trained.

    ``n_rows`` counts the classes that are trained: one for two classes. ``n_threads`` of them are
    trained at a time. A prior of the weights takes counts and variances of each class, and the
    squared lengths of documents.

    Examples
    --------
    >>> Costs(n_rows=12, n_threads=2, has_values=False).cell
    4
    """

    n_rows: int
    n_threads: int
    has_values: bool
    has_prior: bool = False

    @property
    def n_busy(self) -> int:
        """Number of classes trained at a time."""
        return min(self.n_threads, self.n_rows)

    @property
    def cell(self) -> int:
        """Bytes of a nonzero."""
        return CELL + (VALUE if self.has_values else 0)

    @property
    def row(self) -> int:
        """Bytes of a document while classes are trained one by one."""
        return ROW + self.n_busy * (DESCENT + 8 * self.has_prior)

    @property
    def swept_row(self) -> int:
        """Bytes of a document while classes share their first sweeps."""
        return self.row + self.n_busy * (SWEEP + LANES * 4 * self.has_prior)

    @property
    def feature(self) -> int:
        """Bytes of a feature: a weight per class, and one per class being trained."""
        return WEIGHT * (self.n_rows + self.n_busy) + 2 * VALUE * self.n_rows * self.has_prior

    @property
    def swept_feature(self) -> int:
        """Bytes of a feature while classes share their first sweeps."""
        return self.feature + self.n_busy * LANES * 4 * (1 + 2 * self.has_prior)
