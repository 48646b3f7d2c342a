"""What each part of a run costs in memory, in bytes."""

from __future__ import annotations

from typing import NamedTuple

from spokeshave.kernels.lanes import LANES

CELL = 4  # the number of a feature
VALUE = 4
WEIGHT = 8
DUAL = 8

# A row: where it begins, its scale, its squared length and its weight, eight bytes each; where its
# labels begin, and a label by row and by class.
ROW = 4 * 8 + 8 + 4 + 8
# Descending on a class: its dual, its scores, the order of the documents that still move, how much
# they do, its target.
DESCENT = 8 + 8 + 4 + 4 + 1
# A document that is gathered to descend on: its row, its dual, its score and its target, all of
# these once more while they are put together; its place, and what descending on it needs.
GATHERED = 2 * (4 * 8 + 8 + 8 + 1) + 8 + DESCENT
# The sweeps that classes share: dual, scores and targets of each lane, the last twice.
SWEEP = LANES * (4 + 4 + 2)


class Costs(NamedTuple):
    """What a cell, a row and a feature cost while a model is trained.

    Attributes
    ----------
    n_rows : int
        Classes that are trained: one for two classes.
    n_threads : int
        How many are trained at a time.
    has_values : bool
        Whether cells have values.

    Examples
    --------
    >>> Costs(n_rows=12, n_threads=2, has_values=False).cell
    4
    """

    n_rows: int
    n_threads: int
    has_values: bool

    @property
    def cell(self) -> int:
        """Bytes of a nonzero."""
        return CELL + (VALUE if self.has_values else 0)

    @property
    def row(self) -> int:
        """Bytes of a document while classes are trained one by one."""
        return ROW + self.n_busy * DESCENT

    @property
    def swept_row(self) -> int:
        """Bytes of a document while classes share their first passes."""
        return self.row + self.n_busy * SWEEP

    @property
    def feature(self) -> int:
        """Bytes of a feature: a weight for each class, and one for each that is trained."""
        return WEIGHT * (self.n_rows + self.n_busy)

    @property
    def swept_feature(self) -> int:
        """Bytes of a feature while classes share their first passes."""
        return self.feature + self.n_busy * LANES * 4

    @property
    def n_busy(self) -> int:
        """How many classes are trained at a time."""
        return min(self.n_threads, self.n_rows)
