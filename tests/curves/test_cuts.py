"""Cuts as fractions, counts and powers of two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.curves.cuts import (
    PAPER_FRACTIONS,
    SPARSITIES,
    accumulate,
    check_cuts,
    check_nonzeros,
    count_kept,
    count_within,
)


def test_the_papers_fractions_and_all():
    assert PAPER_FRACTIONS[:2] == (0.01, 0.05)
    assert PAPER_FRACTIONS[-2:] == (0.99, 1.0)
    assert len(PAPER_FRACTIONS) == 13


def test_cuts_are_sorted_and_said_once():
    np.testing.assert_array_equal(check_cuts([5, 1, 5], 9), [1, 5])
    np.testing.assert_array_equal(check_cuts((1.0, 0.5), 9), [0.5, 1.0])


def test_one_as_a_float_is_everything_and_as_an_integer_one_feature():
    n_ranked = np.array([8])
    assert count_kept(check_cuts([1.0], 8), n_ranked) == 8
    assert count_kept(check_cuts([1], 8), n_ranked) == 1


@pytest.mark.parametrize("n_features", [1, 2, 7, 8, 9])
def test_log_cuts_are_powers_of_two_and_all(n_features):
    cuts = check_cuts("log", n_features)
    assert cuts[0] == 1
    assert cuts[-1] == n_features
    assert all(c & (c - 1) == 0 for c in cuts[:-1].tolist())


@pytest.mark.parametrize(
    "cuts", [(), (0.0, 0.5), (0.5, 1.5), (0, 4), (-1,), ("a",), (float("nan"),), "linear"]
)
def test_other_cuts_are_refused(cuts):
    with pytest.raises(ValueError, match="cuts must be"):
        check_cuts(cuts, 10)


@given(
    st.lists(st.floats(0.001, 1.0), min_size=1, max_size=9),
    st.lists(st.integers(0, 1000), min_size=1, max_size=4),
)
def test_fractions_keep_at_least_one_feature_and_never_fewer_at_a_later_cut(fractions, n_ranked):
    kept = count_kept(check_cuts(fractions, 1000), np.array(n_ranked))
    available = np.array(n_ranked)[:, None]
    assert (kept <= available).all()
    assert (kept >= np.minimum(1, available)).all()
    assert (np.diff(kept, axis=1) >= 0).all()


def test_more_cuts_than_features():
    kept = count_kept(check_cuts(PAPER_FRACTIONS, 2), np.array([2]))[0]
    np.testing.assert_array_equal(kept, [1] * 9 + [2] * 4)


def test_cuts_against_sparsity_are_nonzeros():
    found = check_cuts([20, 2, 2], 9, "sparsity")
    assert found.tolist() == [2.0, 20.0]
    assert found.dtype == float
    assert check_cuts(PAPER_FRACTIONS, 9, "sparsity").tolist() == list(SPARSITIES)
    assert check_cuts([0.5], 9, "sparsity").tolist() == [0.5]


@pytest.mark.parametrize("cuts", [(), (0.0, 5), (-1,), ("a",), (float("nan"),), "log", [True]])
def test_other_cuts_against_sparsity_are_refused(cuts):
    with pytest.raises(ValueError, match="cuts must be positive numbers of nonzeros per document"):
        check_cuts(cuts, 10, "sparsity")


@pytest.mark.parametrize("wanted", [0, -1.0, float("inf"), float("nan"), "few", None])
def test_other_numbers_of_nonzeros_are_refused(wanted):
    with pytest.raises(ValueError, match=r"must be a positive number\. Got .* instead"):
        check_nonzeros(wanted)


FREQUENCIES = st.lists(st.integers(1, 50), max_size=30)


@given(FREQUENCIES, st.data())
def test_nonzeros_add_up_along_the_order(frequency, data):
    order = data.draw(st.permutations(range(len(frequency))))
    order = np.array(order[: data.draw(st.integers(0, len(order)))], np.uint32)
    found = accumulate(np.array(frequency, np.intp), order, n_documents=50)
    expected = [0]
    for j in order:
        expected.append(expected[-1] + frequency[j])
    np.testing.assert_array_equal(found, np.array(expected) / 50)


@given(FREQUENCIES, st.floats(0.001, 40))
def test_as_many_features_as_leave_no_more_nonzeros(frequency, wanted):
    nonzeros = accumulate(np.array(frequency, np.intp), np.arange(len(frequency)), 50)
    n = 0
    while n < len(frequency) and sum(frequency[: n + 1]) / 50 <= wanted:
        n += 1
    assert count_within(nonzeros, wanted) == max(n, min(1, len(frequency)))


@given(FREQUENCIES)
def test_counting_and_adding_up_are_inverse(frequency):
    nonzeros = accumulate(np.array(frequency, np.intp), np.arange(len(frequency)), 7)
    counts = np.arange(1, len(frequency) + 1)
    np.testing.assert_array_equal(count_within(nonzeros, nonzeros[1:]), counts)
