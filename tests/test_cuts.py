"""Cuts as fractions, counts and powers of two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.cuts import PAPER_FRACTIONS, check_cuts, count_kept


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
