"""Levels: the distinct values of each feature, and the number of documents at each of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.kernels.shaping import (
    MISSING,
    N_BINS,
    ZERO,
    count_positives,
    rank_columns,
    take_columns,
    write_levels,
)
from spokeshave.utils.validation import list_documents

WORTH_A_THREAD = 1_000_000  # cells; starting a thread for fewer takes as long as it saves


class Levels(NamedTuple):
    """The levels of all columns, one column after the other.

    Attributes
    ----------
    starts : first level of each column; a column's first two levels are the bins of separate zeros
        and of missing values, the others are in ascending order
    values : value of each level
    sizes : documents at each level
    zero_level : level, in each column, of cells that are not stored
    """

    starts: NDArray[np.int64]
    values: NDArray[np.float64]
    sizes: NDArray[np.int64]
    zero_level: NDArray[np.int64]


class CellLevels(NamedTuple):
    """The levels of all columns, the level of each stored cell, and the row pointers of the cells.

    The documents of any class can be counted from it without sorting again.
    """

    levels: Levels
    of_cell: NDArray[np.uint32]
    indptr: NDArray[Any]


class LevelCounts(NamedTuple):
    """Numbers of documents at each level; the counts of disjoint sets of documents add up.

    Attributes
    ----------
    sizes : documents at each level
    positives : documents of each class at each level (classes x levels)
    n_documents : documents in all
    n_positive : documents of each class
    """

    sizes: NDArray[np.int64]
    positives: NDArray[np.int32]
    n_documents: int
    n_positive: NDArray[np.int64]

    def without(self, fold: LevelCounts) -> LevelCounts:
        """Return the counts of the documents outside a fold."""
        return LevelCounts(
            self.sizes - fold.sizes,
            self.positives - fold.positives,
            self.n_documents - fold.n_documents,
            self.n_positive - fold.n_positive,
        )


class ValueCounts(NamedTuple):
    """How many sparse documents have each value of each feature. Shapes need nothing else.

    Attributes
    ----------
    features, values : each pair that occurs, sorted, missing values last; without zeros
    counts : documents with each pair: all documents, then those of each class (1 + classes x pairs)
    totals : all documents, then those of each class
    n_features : number of features, including those that no document has
    """

    features: NDArray[Any]
    values: NDArray[np.float64]
    counts: sparse.csr_matrix
    totals: NDArray[np.int64]
    n_features: int


def store_all(X: NDArray[Any]) -> sparse.csr_matrix:
    """Return a dense table as CSR rows that store every cell, zeros included."""
    n_rows, n_columns = X.shape
    indices = np.tile(np.arange(n_columns, dtype=np.int32), n_rows)
    indptr = np.arange(n_rows + 1) * n_columns
    return sparse.csr_matrix((np.ascontiguousarray(X).ravel(), indices, indptr), X.shape)


def find_levels(
    X: sparse.csr_matrix, *, zero_is_apart: bool = True, n_jobs: int | None = None
) -> CellLevels:
    """Return the levels of each column; each column's stored cells are sorted at most once.

    Cells that are not stored are zeros. With ``zero_is_apart`` they have a bin of their own;
    otherwise zero is a value like any other.

    Examples
    --------
    >>> found = find_levels(sparse.csr_matrix([[2.0], [0.0], [1.0], [2.0]]))
    >>> found.levels.values, found.levels.sizes, found.of_cell
    (array([ 0., nan, 1., 2.]), array([1, 0, 1, 2]), array([3, 2, 3], dtype=uint32))
    """
    indices, data = X.indices, X.data
    if not zero_is_apart:  # one more zero in every column finds the level of cells not stored
        indices = np.concatenate([indices, np.arange(X.shape[1], dtype=indices.dtype)])
        data = np.concatenate([data, np.zeros(X.shape[1], data.dtype)])
    starts = np.zeros(X.shape[1] + 1, np.int64)
    np.cumsum(np.bincount(indices, minlength=X.shape[1]), out=starts[1:])
    levels, of_cell = _rank_cells(indices, data, starts, n_jobs)
    zero_level = levels.zero_level
    if not zero_is_apart:
        zero_level = of_cell[X.nnz :].astype(np.int64)
        levels.sizes[zero_level] -= 1
    n_stored = np.diff(starts) - (not zero_is_apart)
    levels.sizes[zero_level] += X.shape[0] - n_stored
    return CellLevels(levels._replace(zero_level=zero_level), of_cell[: X.nnz], X.indptr)


def _rank_cells(
    indices: NDArray[Any], data: NDArray[Any], starts: NDArray[np.int64], n_jobs: int | None
) -> tuple[Levels, NDArray[np.uint32]]:
    """Return the levels of all columns, and the level of each cell."""
    positions = np.empty(indices.size, np.uint32 if indices.size < 2**32 else np.uint64)
    distinct, rank = np.empty(indices.size), np.empty(indices.size, np.uint32)
    take_columns(indices, data, starts[:-1].astype(np.uint64), positions, distinct)
    ranges, n_levels = split_columns(starts, n_jobs), np.zeros(starts.size, np.int64)
    run_threads(rank_columns, [(starts, distinct, *ends, rank, n_levels[1:]) for ends in ranges])
    level_starts = np.cumsum(n_levels)
    values, sizes = np.empty(level_starts[-1]), np.zeros(level_starts[-1], np.int64)
    of_cell = np.empty(indices.size, np.uint32)
    cells, written = (starts, positions, distinct, rank), (level_starts, values, sizes, of_cell)
    run_threads(write_levels, [(*cells, *ends, *written) for ends in ranges])
    return Levels(level_starts, values, sizes, level_starts[:-1] + ZERO), of_cell


def count_class(cell_levels: CellLevels, documents: NDArray[Any]) -> NDArray[np.int32]:
    """Return how many of the given documents are at each level."""
    starts, values, _, zero_level = cell_levels.levels
    positives = np.empty(values.size, np.int32)
    _, of_cell, indptr = cell_levels
    count_positives(indptr, of_cell, documents, starts, zero_level, positives)
    return positives


def count_levels(
    cell_levels: CellLevels,
    indicator: sparse.csc_matrix,
    documents: NDArray[np.intp] | None = None,
) -> LevelCounts:
    """Count the given documents at each level, by default all."""
    n_documents, n_classes = indicator.shape
    positives = np.empty((n_classes, cell_levels.levels.values.size), np.int32)
    is_counted = np.ones(n_documents, bool)
    sizes = cell_levels.levels.sizes
    if documents is not None:
        is_counted[:] = False
        is_counted[documents] = True
        sizes = count_class(cell_levels, documents).astype(np.int64)
    n_positive = np.empty(n_classes, np.int64)
    for k in range(n_classes):
        of_class = list_documents(indicator, k)
        of_class = of_class[is_counted[of_class]]
        positives[k], n_positive[k] = count_class(cell_levels, of_class), of_class.size
    return LevelCounts(sizes, positives, int(is_counted.sum()), n_positive)


def expand_counts(found: ValueCounts, *, zero_is_apart: bool) -> tuple[Levels, LevelCounts]:
    """Return the levels and counts that `find_levels` and `count_levels` give on the documents.

    Examples
    --------
    >>> having = sparse.csr_matrix([[1, 2], [1, 0]])  # of three documents, two in the class
    >>> found = ValueCounts(np.array([0, 0]), np.array([3.0, 5.0]), having, np.array([3, 2]), 1)
    >>> levels, counts = expand_counts(found, zero_is_apart=True)
    >>> levels.values, counts.sizes, counts.positives
    (array([ 0., nan, 3., 5.]), array([0, 0, 1, 2]), array([[1, 0, 1, 0]], dtype=int32))
    """
    features, n_features = found.features, found.n_features
    starts, zero_level, at = _assign_levels(found, zero_is_apart)
    values = np.zeros(starts[-1])
    values[starts[:-1] + MISSING] = np.nan
    values[at] = found.values
    sizes = np.zeros(values.size, np.int64)
    positives = np.zeros((found.totals.size - 1, values.size), np.int32)
    for row, documents in enumerate((sizes, *positives)):
        of_row = slice(*found.counts.indptr[row : row + 2])
        pairs, n_having = found.counts.indices[of_row], found.counts.data[of_row]
        documents[at[pairs]] = n_having
        stored = np.bincount(features[pairs], n_having, n_features)  # exact in double precision
        documents[zero_level] = found.totals[row] - stored.astype(np.int64)
    levels = Levels(starts, values, sizes, zero_level)
    return levels, LevelCounts(sizes, positives, int(found.totals[0]), found.totals[1:])


def _assign_levels(
    found: ValueCounts, zero_is_apart: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return each feature's first level and level of zero, and the level of each pair."""
    features, values, n_features = found.features, found.values, found.n_features
    is_missing = np.isnan(values)
    n_pairs = np.bincount(features, minlength=n_features)
    n_values = np.bincount(features[~is_missing], minlength=n_features)
    starts = np.zeros(n_features + 1, np.int64)
    np.cumsum(N_BINS + n_values + (not zero_is_apart), out=starts[1:])
    rank = np.arange(values.size) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
    at = starts[features] + N_BINS + rank
    zero_level = starts[:-1] + ZERO
    if not zero_is_apart:
        at += values > 0
        n_below = np.bincount(features[values < 0], minlength=n_features)
        zero_level = starts[:-1] + N_BINS + n_below
    at[is_missing] = starts[features[is_missing]] + MISSING
    return starts, zero_level, at


def split_columns(starts: NDArray[np.int64], n_jobs: int | None) -> list[tuple[int, int]]:
    """Return a range of columns for each thread, with about the same number of cells each."""
    n_ranges = _count_threads(int(starts[-1]), n_jobs)
    targets = np.linspace(0, starts[-1], n_ranges + 1)[1:-1]
    edges = [0, *np.searchsorted(starts, targets), starts.size - 1]
    return [(int(first), int(last)) for first, last in pairwise(edges)]


def split_cells(n_cells: int, n_jobs: int | None) -> list[slice]:
    """Return a slice of the cells for each thread."""
    edges = np.linspace(0, n_cells, _count_threads(n_cells, n_jobs) + 1).astype(int)
    return [slice(first, last) for first, last in pairwise(edges)]


def _count_threads(n_cells: int, n_jobs: int | None) -> int:
    return min(int(effective_n_jobs(n_jobs)), 1 + n_cells // WORTH_A_THREAD)


def run_threads(kernel: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> None:
    """Call a kernel once per tuple of arguments, each in a thread.

    The overhead of joblib would exceed the run time of most calls.
    """
    if len(arguments) == 1:
        kernel(*arguments[0])
        return
    with ThreadPoolExecutor(len(arguments)) as threads:
        for done in [threads.submit(kernel, *each) for each in arguments]:
            done.result()
