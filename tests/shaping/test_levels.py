"""Levels of whole tables against plain counting."""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist
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
    estimate_class,
    find_rates,
    run_shares,
    separate_class,
    share_out,
    slice_cells,
    store_all,
    take_census,
)

bend = NormalDist().inv_cdf
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
def test_a_census_counts_every_document(X, zero_is_apart):
    rows = sparse.csr_matrix(X)
    census = take_census(rows, zero_is_apart=zero_is_apart)
    starts, values, sizes, zero_level = census.levels
    for j in range(X.shape[1]):
        of_column = slice(starts[j], starts[j + 1])
        expected = count_naively(X[:, j], zero_is_apart=zero_is_apart)
        np.testing.assert_array_equal(values[of_column], expected[0])
        np.testing.assert_array_equal(sizes[of_column], expected[1])
    assert not values[zero_level].any()
    assert (zero_level == starts[:-1] + ZERO).all() == zero_is_apart
    np.testing.assert_array_equal(values[census.of_cell], rows.data)


@settings(deadline=None)
@given(TABLES)
def test_a_table_stored_whole_has_no_zeros_apart(X):
    rows = store_all(X)
    assert rows.nnz == X.size
    np.testing.assert_array_equal(rows.toarray(), X)
    sizes, starts = take_census(rows).levels.sizes, take_census(rows).levels.starts
    assert not sizes[starts[:-1] + ZERO].any()
    np.testing.assert_array_equal(sizes[starts[:-1] + MISSING], np.isnan(X).sum(axis=0))


@settings(deadline=None)
@given(TABLES, st.booleans(), st.data())
def test_a_class_is_counted_level_by_level(X, zero_is_apart, data):
    positive = data.draw(arrays(bool, len(X)))
    census = take_census(sparse.csr_matrix(X), zero_is_apart=zero_is_apart)
    counts = count_class(census, np.flatnonzero(positive))
    starts, values, _, zero_level = census.levels
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
    alone = take_census(X, zero_is_apart=zero_is_apart)
    monkeypatch.setattr(levels, "WORTH_A_THREAD", 50)
    together = take_census(X, zero_is_apart=zero_is_apart, n_jobs=n_jobs)
    for one, other in zip(alone.levels, together.levels, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(alone.of_cell, together.of_cell)


def test_an_estimate_and_a_separation_by_hand():
    census = take_census(sparse.csr_matrix([[1.0], [1.0], [2.0], [3.0], [0.0], [0.0]]))
    positives = count_class(census, np.array([2, 3, 4]))
    np.testing.assert_array_equal(positives, [1, 0, 0, 1, 1])
    probability = estimate_class(
        census.levels, census.levels.sizes, positives, np.array([1.0]), 0.7
    )
    np.testing.assert_allclose(probability, [2 / 4, 0.7, 2 / 5, 3 / 5, 3 / 4])
    rates = find_rates(3, 6, 0.0005)
    found = separate_class(census.levels, positives, census.levels.values, rates)
    # Above 1 lie two positives of three and no negative; below 1 one of three of either kind.
    np.testing.assert_allclose(found.bns, bend(2 / 3) - bend(0.0005))
    assert (found.lowest[0], found.highest[0]) == (0, 3)
    # Images that differ by no more than 1 count as one: all of them but one that is far off.
    images = np.array([0.0, np.nan, 1.0, 2.0, 9.0])
    found = separate_class(census.levels, positives, images, rates, 1.0)
    np.testing.assert_allclose(found.bns, bend(0.9995) - bend(2 / 3))
    assert (found.lowest[0], found.highest[0]) == (0, 9)


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1e-9, 0.0005, 0.1, 0.49]))
def test_rates_are_bent_by_the_inverse_normal_distribution(n_positive, n_negative, smallest):
    rates = find_rates(n_positive, n_positive + n_negative, smallest)
    for size, found in zip((n_positive, n_negative), rates, strict=True):
        expected = [bend(min(max(n / size, smallest), 1 - smallest)) for n in range(size + 1)]
        np.testing.assert_allclose(found, expected, atol=1e-9)
        assert all(below <= above for below, above in pairwise(found))


@pytest.mark.parametrize("n_positive", [0, 4])
def test_a_class_of_none_or_all_documents_is_not_separated(n_positive):
    census = take_census(sparse.csr_matrix([[1.0], [3.0], [0.0], [2.0]]))
    rates = find_rates(n_positive, 4, 0.0005)
    assert [of_side.size for of_side in rates] == [n_positive + 1, 5 - n_positive]
    positives = count_class(census, np.arange(n_positive))
    found = separate_class(census.levels, positives, census.levels.values, rates)
    assert (found.bns[0], found.lowest[0], found.highest[0]) == (0, 0, 3)


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(1, 8))
def test_shares_hold_every_column_once(sizes, n_jobs):
    starts = np.cumsum([0, *sizes])
    with mock.patch.object(levels, "WORTH_A_THREAD", 3):
        shares = share_out(starts, n_jobs)
    assert len(shares) <= n_jobs
    assert [j for first, last in shares for j in range(first, last)] == list(range(len(sizes)))


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(1, 8))
def test_slices_hold_every_cell_once(n_cells, n_jobs):
    with mock.patch.object(levels, "WORTH_A_THREAD", 3):
        parts = slice_cells(n_cells, n_jobs)
    assert len(parts) <= n_jobs
    cells = np.concatenate([np.arange(n_cells)[part] for part in parts])
    np.testing.assert_array_equal(cells, np.arange(n_cells))


@pytest.mark.parametrize("n_shares", [1, 2, 5])
def test_every_share_is_worked_on_and_an_error_in_one_is_raised(n_shares):
    found = np.zeros(n_shares)
    run_shares(found.__setitem__, [(place, place + 1) for place in range(n_shares)])
    np.testing.assert_array_equal(found, np.arange(n_shares) + 1)
    with pytest.raises(IndexError):
        run_shares(found.__setitem__, [*((place, 0) for place in range(n_shares - 1)), (9, 0)])


def test_little_work_is_not_shared():
    assert share_out(np.array([0, 5, 9]), 2) == [(0, 2)]
    assert slice_cells(9, 2) == [slice(0, 9)]
