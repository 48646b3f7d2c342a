"""Levels, local probabilities and separations of columns against plain loops."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logit

from spokeshave.kernels.shaping import (
    FEW_VALUES,
    MISSING,
    N_BINS,
    UNKNOWN,
    UNRANKED,
    ZERO,
    count_positives,
    draw,
    estimate,
    look_up,
    rank_columns,
    rank_few,
    rank_many,
    separate,
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


NEIGHBORS = st.sampled_from([0, 1, 2, 3, 5, 7.5, 30, 1000])


@st.composite
def counted(draw):
    """Draw the sizes of the levels of some columns, and the positives among them."""
    columns = draw(st.lists(st.lists(st.integers(0, 6), max_size=12), min_size=1, max_size=3))
    sizes = [[draw(st.integers(0, 3)), draw(st.integers(0, 3)), *column] for column in columns]
    return [[(size, draw(st.integers(0, size))) for size in column] for column in sizes]


def estimate_naively(levels, at, n_neighbors, prior):
    """Estimate at a level from documents in a row, each as positive as its level is on average."""
    row = [Fraction(positives, size) for size, positives in levels for _ in range(size)]
    first = sum(size for size, _ in levels[:at])
    end = first + levels[at][0]
    bottom = max(first - Fraction(n_neighbors) / 2, 0)
    top = min(end + Fraction(n_neighbors) / 2, len(row))
    shares = [max(min(i + 1, top) - max(i, bottom), 0) for i in range(len(row))]
    if not sum(shares):
        return prior
    positives = sum(share * positive for share, positive in zip(shares, row, strict=True))
    return float((positives + 1) / (sum(shares) + 2))


@settings(deadline=None, max_examples=200)
@given(counted(), NEIGHBORS)
@example([[(0, 0), (0, 0), (0, 0), (3, 1)]], 0)
@example([[(0, 0), (0, 0), (3, 1), (0, 0)], [(0, 0), (0, 0), (1, 1)]], 0)
@example([[(2, 1), (0, 0)], [(0, 0), (1, 1), (0, 0)]], 3)
def test_estimates_are_those_of_documents_in_a_row(columns, n_neighbors):
    starts = np.cumsum([0, *map(len, columns)])
    sizes = np.array([size for column in columns for size, _ in column])
    positives = np.array([positive for column in columns for _, positive in column], np.int32)
    probability = np.full(sizes.size, np.nan)
    reach = np.full(len(columns), n_neighbors / 2)
    estimate(starts, sizes, positives, reach, 0.125, probability)
    expected = []
    for column in columns:
        bins = [(p + 1) / (n + 2) if n else 0.125 for n, p in column[:N_BINS]]
        levels = column[N_BINS:]
        amounts = [estimate_naively(levels, at, n_neighbors, 0.125) for at in range(len(levels))]
        expected += bins + amounts
    np.testing.assert_allclose(probability, expected, rtol=1e-13)


def test_a_worked_example():
    sizes, positives = np.array([0, 4, 1, 3, 2]), np.array([0, 1, 1, 1, 2], np.int32)
    probability = np.empty(5)
    estimate(np.array([0, 5]), sizes, positives, np.array([1.0]), 0.5, probability)
    # The level in the middle sees a document below and one above, each end a third of three.
    expected = [0.5, 2 / 6, (1 + 1 / 3 + 1) / 4, (1 + 1 + 1 + 1) / 7, (2 + 1 / 3 + 1) / 5]
    np.testing.assert_allclose(probability, expected)


def test_each_column_has_its_own_reach():
    sizes, positives = np.array([0, 0, 1, 1] * 2), np.array([0, 0, 1, 0] * 2, np.int32)
    probability = np.empty(8)
    estimate(np.array([0, 4, 8]), sizes, positives, np.array([0.0, 9.0]), 0.5, probability)
    np.testing.assert_allclose(probability, [0.5, 0.5, 2 / 3, 1 / 3, 0.5, 0.5, 0.5, 0.5])


@st.composite
def tabled(draw):
    """Draw the values of levels, ascending, and cells to be found among them."""
    # numpy.interp overflows between subnormal levels.
    amounts = st.integers(-5, 5).map(float) | st.floats(-100, 100, allow_subnormal=False)
    known = sorted(draw(st.sets(amounts, max_size=12)))
    cells = draw(st.lists(amounts | st.just(math.nan), max_size=20))
    return known, cells + known


def find(known, cells, *, is_nominal=False, dtype=np.float64):
    """Look cells of the second of two columns up."""
    starts = np.array([0, 3, 3 + N_BINS + len(known)])
    values = np.array([0.0, math.nan, 9.0, 0.0, math.nan, *known])
    left, share = np.empty(len(cells), np.uint32), np.empty(len(cells))
    nominal = np.array([False, is_nominal])
    columns, data = np.ones(len(cells), np.int32), np.array(cells, dtype)
    look_up(columns, data, starts, values, nominal, left, share)
    return left, share, starts


def image(left, share, table, *, is_log=False, base=0.0, factor=1.0):
    found = np.empty(left.size)
    columns, prior = np.ones(left.size, np.int32), 0.3
    by_column = np.array([7.0, base]), np.array([7.0, factor])
    draw(columns, left, share, table, prior, is_log, *by_column, found)
    return found


@settings(deadline=None, max_examples=200)
@given(tabled(), st.booleans())
def test_values_between_levels_are_interpolated_as_numpy_does(problem, is_log):
    known, cells = problem
    left, share, starts = find(known, cells)
    table = np.linspace(0.1, 0.9, starts[-1]) ** 2
    found = image(left, share, table, is_log=is_log)
    finite = np.array([0.0 if math.isnan(cell) else cell for cell in cells])
    expected = np.interp(finite, known, table[3 + N_BINS :]) if known else np.full(len(cells), 0.3)
    expected = np.where(np.isnan(cells), table[3 + MISSING], expected)
    np.testing.assert_allclose(found, logit(expected) if is_log else expected, rtol=1e-9)


@settings(deadline=None)
@given(tabled())
def test_names_that_are_not_known_get_the_prior(problem):
    known, cells = problem
    left, share, starts = find(known, cells, is_nominal=True)
    table = np.linspace(0.1, 0.9, starts[-1])
    of_name = dict(zip(known, table[3 + N_BINS :], strict=True))
    expected = [table[3 + MISSING] if math.isnan(v) else of_name.get(v, 0.3) for v in cells]
    np.testing.assert_array_equal(image(left, share, table), expected)
    assert not share.any()


def test_known_values_are_at_their_level_exactly():
    known = [-1.5, 0.1, 0.3]
    left, share, _ = find(known, [*known, -0.0])
    np.testing.assert_array_equal(left, [5, 6, 7, 5])
    np.testing.assert_array_equal(share[:3], 0)
    assert 0 < share[3] < 1


def test_values_beyond_the_ends_are_at_the_ends():
    left, share, _ = find([1.0, 2.0], [-9.0, 0.999, 2.001, 1e300], dtype=np.float64)
    assert left.tolist() == [5, 5, 6, 6]
    assert not share.any()


def test_single_precision_is_looked_up_as_it_is():
    value = np.float32(0.1)
    left, share, _ = find([float(value), 1.0], [value], dtype=np.float32)
    assert (left[0], share[0]) == (5, 0)


def test_a_column_without_values_knows_none():
    left, _, _ = find([], [0.0, 3.0, math.nan])
    assert left.tolist() == [UNKNOWN, UNKNOWN, 3 + MISSING]


@pytest.mark.parametrize("is_log", [True, False])
def test_images_lose_their_base_and_are_stretched(is_log):
    left, share, starts = find([1.0, 2.0], [1.0, 1.25, 5.0])
    table = np.linspace(0.2, 0.8, starts[-1])
    plain = image(left, share, table, is_log=is_log)
    stretched = image(left, share, table, is_log=is_log, base=0.25, factor=-3.0)
    np.testing.assert_allclose(stretched, (plain - 0.25) * -3)


def test_without_shares_every_cell_is_at_its_level():
    table = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
    left = np.array([4, 2 + ZERO, 3, 4], np.uint32)
    np.testing.assert_array_equal(image(left, None, table), table[left])


def test_images_can_be_in_single_precision():
    left, table, found = np.array([1], np.uint32), np.array([0.5, 0.1]), np.empty(1, np.float32)
    column = np.zeros(1, np.int32)
    draw(column, left, None, table, 0.5, False, np.zeros(1), np.ones(1), found)
    assert found[0] == np.float32(0.1)


def bend(rate):
    """Return the inverse normal distribution of a rate kept off 0 and 1."""
    return NormalDist().inv_cdf(min(max(rate, 0.0005), 0.9995))


def separate_naively(images, positive, tolerance):
    """Return the best separation over all thresholds between the images of documents."""
    best = 0.0
    for below, threshold in pairwise(sorted(set(images))):
        if threshold - below > tolerance:
            above = images >= threshold
            best = max(best, abs(bend(above[positive].mean()) - bend(above[~positive].mean())))
    return best


@st.composite
def imaged(draw):
    """Draw columns of levels with image, size and positives; documents are the same in number."""
    n_positive, n_negative = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    positive = np.arange(n_positive + n_negative) < n_positive
    columns = []
    for _ in range(draw(st.integers(1, 3))):
        n_levels = draw(st.integers(1, 8))
        amounts = st.sampled_from([-2.0, -0.0, 0.0, 0.5, 0.5 + 1e-13]) | st.floats(-3, 3)
        images = draw(st.lists(amounts, min_size=n_levels, max_size=n_levels))
        place = st.integers(0, n_levels - 1)
        level = draw(st.lists(place, min_size=positive.size, max_size=positive.size))
        columns.append((np.array(images), np.array(level)))
    return columns, positive


@settings(deadline=None, max_examples=150)
@given(imaged(), st.sampled_from([0.0, 1e-12, 0.25, 0.5, 2.0, 9.0]))
@example(([(np.array([0.0, -0.0]), np.array([0, 1]))], np.array([True, False])), 0.0)
@example(([(np.arange(60.0), np.arange(60)[::-1])], np.arange(60) < 30), 0.0)
@example(([(np.arange(60.0) // 2, np.arange(60))], np.arange(60) % 3 == 0), 0.0)
@example(([(np.arange(60.0) ** 2, np.arange(60))], np.arange(60) % 3 == 0), 50.0)
def test_the_best_of_all_thresholds_is_found(problem, tolerance):
    columns, positive = problem
    starts = np.cumsum([0, *(len(images) for images, _ in columns)])
    images = np.concatenate([images for images, _ in columns])
    sizes = np.concatenate([np.bincount(at, minlength=len(im)) for im, at in columns])
    positives = [np.bincount(at[positive], minlength=len(im)) for im, at in columns]
    bns, lowest, highest = np.empty((3, len(columns)))
    z = [
        np.array([bend(count / size) for count in range(size + 1)])
        for size in (positive.sum(), (~positive).sum())
    ]
    counts = np.concatenate(positives).astype(np.int32)
    separate(starts, sizes, counts, images, tolerance, *z, bns, lowest, highest)
    for j, (of_level, level) in enumerate(columns):
        of_document = of_level[level]
        expected = separate_naively(of_document, positive, tolerance)
        np.testing.assert_allclose(bns[j], expected, atol=1e-12)
        assert (lowest[j], highest[j]) == (of_document.min(), of_document.max())


def test_levels_without_documents_do_not_count():
    images, sizes = np.array([-9.0, np.nan, 1.0, 2.0, 9.0]), np.array([0, 0, 2, 2, 0])
    z, bns, lowest, highest = np.array([-1.0, 0.0, 1.0]), *np.empty((3, 1))
    counts = np.array([0, 0, 0, 2, 0], np.int32)
    separate(np.array([0, 5]), sizes, counts, images, 0.0, z, z, bns, lowest, highest)
    assert (bns[0], lowest[0], highest[0]) == (2, 1, 2)


@pytest.mark.parametrize(
    ("images", "tolerance", "expected"),
    [
        ([1.0, 1.5, 2.0], 0.25, 3),
        ([1.0, 1.5, 2.5], 0.5, 1),  # as far apart as the tolerance is not far enough
        ([1.0, 1.5, 2.0], 0.5, 0),  # though the first and the last are
        ([1.0, 1.0 + 1e-15, 2.0], 1e-12, 1),
        ([1.0, 1.0 + 1e-15, 2.0], 0.0, 3),
        ([1.5, 2.0, 1.0], 0.5, 0),
    ],
)
def test_thresholds_lie_only_where_neighbours_differ_by_more(images, tolerance, expected):
    sizes, counts = np.array([2, 2, 1]), np.array([2, 0, 0], np.int32)
    bns, lowest, highest = np.empty((3, 1))
    z_true, z_false = np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0, 2.0, 5.0])
    table = np.array([0, 3]), sizes, counts, np.array(images)
    separate(*table, tolerance, z_true, z_false, bns, lowest, highest)
    assert (bns[0], lowest[0], highest[0]) == (expected, min(images), max(images))
