"""The distinct values of every feature, and which of them each document has."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri

from spokeshave.kernels.shaping import (
    ZERO,
    count_positives,
    estimate,
    rank_columns,
    separate,
    take_columns,
    write_levels,
)

WORTH_A_THREAD = 1_000_000  # cells: with fewer, starting one takes as long as it saves


class Levels(NamedTuple):
    """The levels of all columns, one column after the other.

    Attributes
    ----------
    starts : where the levels of each column begin; the first two are its bins for zeros that are
        apart and for missing values, the others ascend
    values : the value of each level
    sizes : documents at each level
    zero_level : the level, in each column, of cells that are not stored
    """

    starts: NDArray[np.int64]
    values: NDArray[np.float64]
    sizes: NDArray[np.int64]
    zero_level: NDArray[np.int64]


class Census(NamedTuple):
    """Levels, and which of them each document is at: counts of any class can be made of it.

    ``of_cell`` is the level of each stored cell, and ``indptr`` where those of a document begin.
    """

    levels: Levels
    of_cell: NDArray[np.uint32]
    indptr: NDArray[Any]


class Separation(NamedTuple):
    """Bi-Normal Separation of each column, and the lowest and the highest value in it."""

    bns: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]


class Rates(NamedTuple):
    """What the inverse normal distribution makes of every number of positives, and negatives."""

    z_true: NDArray[np.float64]
    z_false: NDArray[np.float64]


def store_all(X: NDArray[Any]) -> sparse.csr_matrix:
    """Return a dense table as rows in which every cell is stored, zeros as well."""
    n_rows, n_columns = X.shape
    indices = np.tile(np.arange(n_columns, dtype=np.int32), n_rows)
    indptr = np.arange(n_rows + 1) * n_columns
    return sparse.csr_matrix((np.ascontiguousarray(X).ravel(), indices, indptr), X.shape)


def take_census(
    X: sparse.csr_matrix, *, zero_is_apart: bool = True, n_jobs: int | None = None
) -> Census:
    """Return the levels of each column, by one sort of its stored cells at most.

    Cells that are not stored are zeros: a bin of their own where ``zero_is_apart``, and otherwise
    a value like any other.

    Examples
    --------
    >>> census = take_census(sparse.csr_matrix([[2.0], [0.0], [1.0], [2.0]]))
    >>> census.levels.values, census.levels.sizes, census.of_cell
    (array([ 0., nan, 1., 2.]), array([1, 0, 1, 2]), array([3, 2, 3], dtype=uint32))
    """
    indices, data = X.indices, X.data
    if not zero_is_apart:  # a zero in every column more, to find the level of those not stored
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
    return Census(levels._replace(zero_level=zero_level), of_cell[: X.nnz], X.indptr)


def _rank_cells(
    indices: NDArray[Any], data: NDArray[Any], starts: NDArray[np.int64], n_jobs: int | None
) -> tuple[Levels, NDArray[np.uint32]]:
    """Return the levels of the cells of all columns, and the level of each cell."""
    positions = np.empty(indices.size, np.uint32 if indices.size < 2**32 else np.uint64)
    distinct, rank = np.empty(indices.size), np.empty(indices.size, np.uint32)
    take_columns(indices, data, starts[:-1].astype(np.uint64), positions, distinct)
    shares, n_levels = share_out(starts, n_jobs), np.zeros(starts.size, np.int64)
    ranked = [(starts, distinct, *share, rank, n_levels[1:]) for share in shares]
    run_shares(rank_columns, ranked)
    level_starts = np.cumsum(n_levels)
    values, sizes = np.empty(level_starts[-1]), np.zeros(level_starts[-1], np.int64)
    of_cell = np.empty(indices.size, np.uint32)
    cells, written = (starts, positions, distinct, rank), (level_starts, values, sizes, of_cell)
    run_shares(write_levels, [(*cells, *share, *written) for share in shares])
    return Levels(level_starts, values, sizes, level_starts[:-1] + ZERO), of_cell


def count_class(census: Census, documents: NDArray[Any]) -> NDArray[np.int32]:
    """Return how many of some documents, those of a class, are at each level."""
    starts, values, _, zero_level = census.levels
    positives = np.empty(values.size, np.int32)
    count_positives(census.indptr, census.of_cell, documents, starts, zero_level, positives)
    return positives


def estimate_class(
    levels: Levels,
    sizes: NDArray[np.int64],
    positives: NDArray[np.int32],
    reach: NDArray[np.float64],
    prior: float,
) -> NDArray[np.float64]:
    """Return the probability of a class at each level, from its neighbours within ``reach``."""
    probability = np.empty(levels.values.size)
    estimate(levels.starts, sizes, positives, reach, prior, probability)
    return probability


def find_rates(n_positive: int, n_documents: int, smallest_rate: float) -> Rates:
    """Return what the inverse normal distribution makes of rates, kept off 0 and 1.

    A class of none or all of the documents is not told from anything: its rates are all alike.
    """
    sizes = n_positive, n_documents - n_positive
    if 0 in sizes:
        return Rates(*(np.zeros(size + 1) for size in sizes))
    rates = (np.arange(size + 1) / size for size in sizes)
    return Rates(*(ndtri(np.clip(rate, smallest_rate, 1 - smallest_rate)) for rate in rates))


def separate_class(
    levels: Levels,
    positives: NDArray[np.int32],
    images: NDArray[np.float64],
    rates: Rates,
    tolerance: float = 0.0,
) -> Separation:
    """Return how well a threshold on the images of the levels tells a class from the rest.

    Images that differ by no more than the tolerance count as one.
    """
    bns, lowest, highest = np.empty((3, levels.zero_level.size))
    tables = levels.starts, levels.sizes, positives, images
    separate(*tables, tolerance, *rates, bns, lowest, highest)
    return Separation(bns, lowest, highest)


def share_out(starts: NDArray[np.int64], n_jobs: int | None) -> list[tuple[int, int]]:
    """Return ranges of columns, one for each thread, of about as many cells each."""
    n_shares = min(effective_n_jobs(n_jobs), 1 + int(starts[-1]) // WORTH_A_THREAD)
    targets = np.linspace(0, starts[-1], n_shares + 1)[1:-1]
    edges = [0, *np.searchsorted(starts, targets), starts.size - 1]
    return [(int(first), int(last)) for first, last in pairwise(edges)]


def run_shares(work: Callable[..., Any], shares: list[tuple[Any, ...]]) -> None:
    """Call a kernel on every share, side by side; joblib would take longer than most of them."""
    if len(shares) == 1:
        work(*shares[0])
        return
    with ThreadPoolExecutor(len(shares)) as threads:
        for done in [threads.submit(work, *share) for share in shares]:
            done.result()


def slice_cells(n_cells: int, n_jobs: int | None) -> list[slice]:
    """Return parts of the cells, one for each thread."""
    n_parts = min(effective_n_jobs(n_jobs), 1 + n_cells // WORTH_A_THREAD)
    edges = np.linspace(0, n_cells, n_parts + 1).astype(int)
    return [slice(first, last) for first, last in pairwise(edges)]
