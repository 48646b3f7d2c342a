"""Levels and counts of whole tables against plain counting."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from spokeshave.kernels.shaping import MISSING, ZERO
from spokeshave.shaping import levels
from spokeshave.shaping.levels import (
    count_class,
    find_levels,
    run_threads,
    split_cells,
    split_columns,
    store_all,
)

CELLS = st.sampled_from([-1.0, 0.0, 0.0, 2.0, np.nan]) | st.floats(-9, 9)
TABLES = arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=CELLS)


def count_naively(column, *, zero_is_apart):
    """Return the value and the size of each level of a column."""
    known = sorted({value for value in column if value == value})
    if zero_is_apart:
        known = [value for value in known if value]
    elif 0 not in known:
        known = sorted([*known, 0.0])
    n_zero = sum(value == 0 for value in column) if zero_is_apart else 0
    n_missing = sum(value != value for value in column)
    return [0, np.nan, *known], [n_zero, n_missing, *(sum(column == value) for value in known)]


@settings(deadline=None)
@given(TABLES, st.booleans())
def test_every_document_is_counted(X, zero_is_apart):
    rows = sparse.csr_matrix(X)
    cell_levels = find_levels(rows, zero_is_apart=zero_is_apart)
    starts, values, sizes, zero_level = cell_levels.levels
    for j in range(X.shape[1]):
        of_column = slice(starts[j], starts[j + 1])
        expected = count_naively(X[:, j], zero_is_apart=zero_is_apart)
        np.testing.assert_array_equal(values[of_column], expected[0])
        np.testing.assert_array_equal(sizes[of_column], expected[1])
    assert not values[zero_level].any()
    assert (zero_level == starts[:-1] + ZERO).all() == zero_is_apart
    np.testing.assert_array_equal(values[cell_levels.of_cell], rows.data)


@settings(deadline=None)
@given(TABLES)
def test_a_table_stored_whole_has_no_zeros_apart(X):
    rows = store_all(X)
    assert rows.nnz == X.size
    np.testing.assert_array_equal(rows.toarray(), X)
    sizes, starts = find_levels(rows).levels.sizes, find_levels(rows).levels.starts
    assert not sizes[starts[:-1] + ZERO].any()
    np.testing.assert_array_equal(sizes[starts[:-1] + MISSING], np.isnan(X).sum(axis=0))


@settings(deadline=None)
@given(TABLES, st.booleans(), st.data())
def test_a_class_is_counted_level_by_level(X, zero_is_apart, data):
    positive = data.draw(arrays(bool, len(X)))
    cell_levels = find_levels(sparse.csr_matrix(X), zero_is_apart=zero_is_apart)
    counts = count_class(cell_levels, np.flatnonzero(positive))
    starts, values, _, zero_level = cell_levels.levels
    for j in range(X.shape[1]):
        column = X[positive, j]
        for level in range(starts[j] + MISSING, starts[j + 1]):
            same = np.isnan(column) if level == starts[j] + MISSING else column == values[level]
            assert counts[level] == same.sum()
        assert counts[zero_level[j]] == (column == 0).sum()


@pytest.mark.parametrize("zero_is_apart", [True, False])
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_nothing(rng, monkeypatch, n_jobs, zero_is_apart):
    X = sparse.random(200, 30, 0.3, "csr", rng=rng)
    alone = find_levels(X, zero_is_apart=zero_is_apart)
    monkeypatch.setattr(levels, "WORTH_A_THREAD", 50)
    together = find_levels(X, zero_is_apart=zero_is_apart, n_jobs=n_jobs)
    for one, other in zip(alone.levels, together.levels, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(alone.of_cell, together.of_cell)


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(1, 8))
def test_ranges_hold_every_column_once(sizes, n_jobs):
    starts = np.cumsum([0, *sizes])
    with mock.patch.object(levels, "WORTH_A_THREAD", 3):
        ranges = split_columns(starts, n_jobs)
    assert len(ranges) <= n_jobs
    assert [j for first, last in ranges for j in range(first, last)] == list(range(len(sizes)))


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(1, 8))
def test_slices_hold_every_cell_once(n_cells, n_jobs):
    with mock.patch.object(levels, "WORTH_A_THREAD", 3):
        parts = split_cells(n_cells, n_jobs)
    assert len(parts) <= n_jobs
    cells = np.concatenate([np.arange(n_cells)[part] for part in parts])
    np.testing.assert_array_equal(cells, np.arange(n_cells))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_thread_runs_and_an_error_in_one_is_raised(n_threads):
    found = np.zeros(n_threads)
    run_threads(found.__setitem__, [(i, i + 1) for i in range(n_threads)])
    np.testing.assert_array_equal(found, np.arange(n_threads) + 1)
    with pytest.raises(IndexError):
        run_threads(found.__setitem__, [*((i, 0) for i in range(n_threads - 1)), (9, 0)])


def test_little_work_is_not_split():
    assert split_columns(np.array([0, 5, 9]), 2) == [(0, 2)]
    assert split_cells(9, 2) == [slice(0, 9)]
