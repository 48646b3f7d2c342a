"""Memory: held by the process, left by a budget, and taken by each part of training."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import psutil

from spokeshave.kernels.lanes import LANES
from spokeshave.utils.formatting import write_size

RESERVE = 32_000_000  # bytes kept free for reading, and for memory not returned by a stage
RESERVE_PART = 16  # one part in so many of the budget is kept free, if that is more
# A plan counts on this much in the process before a run, not on what is measured, so that the model
# does not depend on a few pages: 300 MB or so for Python, libraries and kernels, and some to spare.
LIBRARIES = 352_000_000
HELD_STEP = 64_000_000  # what a process holds beyond that is rounded up to a multiple of this
PLANNED_THREADS = 2  # the plan is for so many, so that the model does not depend on their number
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
    (32000000, 500000000)
    """
    return max(RESERVE, budget // RESERVE_PART)


def is_short(budget: int) -> bool:
    """Return whether the process holds nearly as much as a budget."""
    return measure_resident() > budget - find_reserve(budget) // 3


def plan_held(resident: int, allowance: int) -> int:
    """Return the bytes to plan for what a process holds before it begins.

    They are the allowance if that is enough. The rest is counted in coarse steps.

    Examples
    --------
    >>> plan_held(280_000_000, 350_000_000), plan_held(351_000_000, 350_000_000)
    (350000000, 414000000)
    """
    beyond = max(0, resident - allowance)
    return allowance + -(-beyond // HELD_STEP) * HELD_STEP


def find_available(budget: int, n_given: int = 0) -> AvailableMemory:
    """Return what a budget leaves to this process, or raise if it is too small.

    ``n_given`` is the size of documents that are in memory already.
    """
    give_back()
    held, reserve = plan_held(measure_resident(), LIBRARIES + n_given), find_reserve(budget)
    if budget < held + reserve + MINIMUM:
        needed = held + MINIMUM
        floor = max(needed + RESERVE, -(-needed * RESERVE_PART // (RESERVE_PART - 1)))
        step = STEP if floor < 1_000_000_000 else 100 * STEP  # as it is written
        floor = -(-floor // step) * step
        raise ValueError(
            f"memory must be at least {write_size(floor)}: {write_size(held)} are for what the "
            f"process holds before it begins. Got {write_size(budget)} instead."
        )
    return AvailableMemory(budget, held + reserve)


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

    def count_threads(self, n_threads: int, most: int, measure: Callable[[Costs], int]) -> int:
        """Return how many of some threads take at most so many bytes, or as many as are planned.

        ``measure`` returns the bytes that are taken with given costs.
        """
        while n_threads > self.n_threads:
            if measure(self._replace(n_threads=n_threads)) <= most:
                break
            n_threads -= 1
        return n_threads
