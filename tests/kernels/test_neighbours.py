"""Balanced neighbours against documents that stand in a row, and look-up against numpy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import logit

from spokeshave.kernels.counts import MISSING, N_BINS, ZERO
from spokeshave.kernels.neighbours import UNKNOWN, draw, estimate, look_up

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
    amounts = st.integers(-5, 5).map(float) | st.floats(-100, 100)
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
