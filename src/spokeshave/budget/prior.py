"""The prior of the weights from all documents, counted block by block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.shards import Block, Shard
from spokeshave.budget.working_set import Objective
from spokeshave.kernels.rows import Rows, add_presence
from spokeshave.svm.prior import separate
from spokeshave.utils.sums import Sums


class PriorCounts(NamedTuple):
    """Documents of each class that have each feature, and sums of squared values."""

    presence: Sums
    squares: NDArray[np.float64]


def count_rows(
    rows: Rows,
    code_ends: NDArray[Any],
    codes: NDArray[Any],
    wanted: NDArray[np.intp],
    n_features: int,
) -> PriorCounts:
    """Count documents; ``codes[code_ends[i] : code_ends[i + 1]]`` are the classes of document i.

    The counts have a row for each of the ``wanted`` codes.
    """
    row = np.full(max(int(wanted.max(initial=0)), int(codes.max(initial=0))) + 1, -1)
    row[wanted] = np.arange(wanted.size)
    of_label = row[codes]
    by_class, total = np.zeros((wanted.size, n_features), np.int32), np.zeros(n_features)
    squares = np.zeros(n_features)
    ends = code_ends.astype(np.int64)
    add_presence(rows.indptr, rows.indices, rows.data, rows.scale, ends, of_label,
                 by_class, total, squares)  # fmt: skip
    sizes = np.bincount(of_label[of_label >= 0], minlength=wanted.size)
    return PriorCounts(Sums(total, by_class, sizes, rows.scale.size), squares)


def count_block(block: Block, wanted: NDArray[np.intp], n_features: int) -> PriorCounts:
    """Count the documents of a block."""
    return count_rows(block.rows, block.code_ends, block.codes, wanted, n_features)


def count_shard(shard: Shard, wanted: NDArray[np.intp], n_features: int) -> PriorCounts:
    """Count the documents of a range on disk."""
    with shard.open() as block:
        return count_block(block, wanted, n_features)


def merge_counts(parts: Iterable[PriorCounts]) -> PriorCounts:
    """Return the counts of all documents of some disjoint parts."""
    presence, squares = zip(*parts, strict=True)
    return PriorCounts(reduce(Sums.merge, presence), np.sum(squares, axis=0))


def find_variance(counts: PriorCounts, strength: float) -> NDArray[np.float32]:
    """Return the prior variances of the weights (classes x features)."""
    return separate(*counts, strength)


def add_prior(objective: Objective, shards: Sequence[Shard], n_features: int) -> Objective:
    """Return the objective with its prior, if it has one, from all documents on disk."""
    if objective.prior_strength is None:
        return objective
    total = count_shard(shards[0], objective.codes, n_features)
    for shard in shards[1:]:
        total = merge_counts([total, count_shard(shard, objective.codes, n_features)])
    return objective._replace(variance=find_variance(total, objective.prior_strength))
