"""Levels and counts of columns against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from spokeshave.kernels.counts import (
    FEW_VALUES,
    MISSING,
    N_BINS,
    UNRANKED,
    ZERO,
    count_positives,
    rank_columns,
    rank_few,
    rank_many,
    take_columns,
    write_levels,
)

AMOUNTS = st.floats(allow_infinity=False) | st.integers(-2, 2).map(float)
FEW_AMOUNTS = st.sampled_from([-3.5, -0.0, 0.0, 1.0, 7.0, np.nan])
COLUMN = st.lists(AMOUNTS, max_size=60) | st.lists(FEW_AMOUNTS, max_size=30)


def rank_naively(column):
    """Return the distinct values of a column and the rank of each of its cells among them."""
    known = sorted({value for value in column if value == value})
    return known, [known.index(value) if value == value else UNRANKED for value in column]


def make_cells(columns):
    """Return where columns begin, and their values one column after the other."""
    starts = np.cumsum([0, *map(len, columns)])
    return starts, np.array([value for column in columns for value in column], float)


def test_columns_are_taken_in_the_order_of_the_rows(rng):
    X = sparse.random(12, 7, 0.4, "csr", rng=rng)
    X.data[:] = np.arange(X.nnz) % 3
    by_column = X.tocsc()
    positions, values = np.empty(X.nnz, np.uint32), np.empty(X.nnz)
    free = by_column.indptr[:-1].astype(np.uint64)
    take_columns(X.indices, X.data, free, positions, values)
    np.testing.assert_array_equal(values, by_column.data)
    np.testing.assert_array_equal(X.data[positions], by_column.data)
    rows = np.repeat(np.arange(12), np.diff(X.indptr))
    np.testing.assert_array_equal(rows[positions], by_column.indices)
    np.testing.assert_array_equal(free, by_column.indptr[1:])


@settings(deadline=None)
@given(st.lists(COLUMN, min_size=1, max_size=4))
@example([[0.0, -0.0, np.nan, 0.0]])
@example([[], [np.nan, np.nan], list(map(float, range(FEW_VALUES + 1)))])
@example([[*map(float, range(FEW_VALUES)), np.nan, 3.0], [*map(float, range(50)), 0.0, -0.0]])
def test_cells_are_ranked_among_the_distinct_values(columns):
    starts, values = make_cells(columns)
    rank, n_levels = np.empty(values.size, np.uint32), np.zeros(len(columns), np.int64)
    rank_columns(starts, values, 0, len(columns), rank, n_levels)
    for j, column in enumerate(columns):
        known, expected = rank_naively(column)
        np.testing.assert_array_equal(rank[starts[j] : starts[j + 1]], expected)
        np.testing.assert_array_equal(values[starts[j] : starts[j] + len(known)], known)
        assert n_levels[j] == N_BINS + len(known)


def test_only_the_columns_asked_for_are_ranked(rng):
    starts, values = make_cells(rng.random((5, 20)).tolist())
    before, rank, n_levels = values.copy(), np.zeros(100, np.uint32), np.zeros(5, np.int64)
    rank_columns(starts, values, 2, 4, rank, n_levels)
    assert n_levels.tolist() == [0, 0, 22, 22, 0]
    np.testing.assert_array_equal(values[:40], before[:40])
    np.testing.assert_array_equal(values[80:], before[80:])
    np.testing.assert_array_equal(values[40:60], np.sort(before[40:60]))
    assert not rank[:40].any()


@settings(deadline=None)
@given(st.lists(FEW_AMOUNTS, max_size=30))
def test_few_values_are_ranked_alike_by_both_ways(column):
    column = np.array(column, float)
    n = max(column.size, FEW_VALUES)
    known, again = np.empty(n), column.copy()
    ranks, by_sorting = np.empty((2, column.size), np.uint32)
    keys, items = np.empty((2, n), np.uint64), np.empty((2, n), np.uint32)
    count = rank_few(column, known, np.empty(FEW_VALUES, np.uint32), ranks)
    assert rank_many(again, known, keys[0], items[0], keys[1], items[1], by_sorting) == count
    np.testing.assert_array_equal(ranks, by_sorting)
    np.testing.assert_array_equal(column[:count], again[:count])


def test_many_values_are_left_to_sorting():
    column = np.arange(FEW_VALUES + 1.0)
    known, place = np.empty(FEW_VALUES), np.empty(FEW_VALUES, np.uint32)
    assert rank_few(column, known, place, np.empty(column.size, np.uint32)) == -1
    np.testing.assert_array_equal(column, np.arange(FEW_VALUES + 1.0))


@pytest.mark.parametrize("seed", range(3))
def test_levels_count_the_documents(seed):
    rng = np.random.default_rng(seed)
    X = sparse.random(40, 5, 0.6, "csr", rng=rng)
    X.data[:] = rng.choice([-1.0, 0.5, 2.0, np.nan], X.nnz)
    X = sparse.csr_matrix(X.multiply([[1, 1, 0, 1, 1]]))
    by_column = X.tocsc()
    starts, distinct = by_column.indptr.astype(np.int64), by_column.data.copy()
    positions = np.lexsort([np.repeat(np.arange(40), np.diff(X.indptr)), X.indices])
    rank, n_levels = np.empty(X.nnz, np.uint32), np.zeros(6, np.int64)
    rank_columns(starts, distinct, 0, 5, rank, n_levels[1:])
    level_starts = np.cumsum(n_levels)
    values, sizes = np.empty(level_starts[-1]), np.zeros(level_starts[-1], np.int64)
    of_cell = np.empty(X.nnz, np.uint32)
    cells = starts, positions.astype(np.uint32), distinct, rank
    for first, last in [(3, 5), (0, 3)]:
        write_levels(*cells, first, last, level_starts, values, sizes, of_cell)
    np.testing.assert_array_equal(values[of_cell], X.data)
    np.testing.assert_array_equal(values[level_starts[:-1] + ZERO], 0)
    assert np.isnan(values[level_starts[:-1] + MISSING]).all()
    np.testing.assert_array_equal(sizes, np.bincount(of_cell, minlength=sizes.size))
    assert (np.searchsorted(level_starts, of_cell, "right") - 1 == X.indices).all()

    documents = np.flatnonzero(rng.random(40) < 0.3)
    positives = np.full(sizes.size, 99, np.int32)
    zero_level = level_starts[:-1] + ZERO
    count_positives(X.indptr, of_cell, documents, level_starts, zero_level, positives)
    rows = np.repeat(np.arange(40), np.diff(X.indptr))
    expected = np.bincount(of_cell[np.isin(rows, documents)], minlength=sizes.size)
    stored = np.bincount(X.indices[np.isin(rows, documents)], minlength=5)
    expected[zero_level] += documents.size - stored
    np.testing.assert_array_equal(positives, expected)


def test_a_class_without_documents_has_none_anywhere():
    positives = np.full(4, 7, np.int32)
    nobody, zero_level = np.zeros(0, np.int32), np.zeros(1, np.int64)
    indptr, level = np.array([0, 1, 2], np.int32), np.array([2, 3], np.uint32)
    count_positives(indptr, level, nobody, np.array([0, 4]), zero_level, positives)
    assert not positives.any()
