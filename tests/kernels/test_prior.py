"""Variances of the prior by the kernels, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.kernels.prior import scale_variance


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 999), st.integers(1, 9), st.integers(0, 9))
def test_the_mean_scaled_variance_is_one(seed, n_features, n_inside):
    rng = np.random.default_rng(seed)
    of_absent, codes = rng.random(3), rng.integers(0, 3, n_features)
    features = rng.permutation(n_features)[:n_inside]
    of_features, squares = rng.random(features.size), rng.random(n_features)
    expected = of_absent[codes]
    expected[features] = of_features
    variance = np.full(n_features, np.nan, np.float32)
    work = np.empty(n_features)
    scale_variance(of_absent, codes, features, of_features, squares, squares.sum(), work, variance)
    np.testing.assert_allclose(variance, expected * (squares.sum() / (squares @ expected)), 1e-6)
    assert squares @ variance == pytest.approx(squares.sum())


@pytest.mark.parametrize("value", [0.0, np.inf, np.nan])
def test_variances_that_cannot_be_scaled_are_one(value):
    variance = np.full(2, np.nan, np.float32)
    of_absent, codes, nothing = np.array([value]), np.zeros(2, int), np.zeros(0)
    scale_variance(
        *(of_absent, codes, nothing.astype(int), nothing, np.ones(2), 2.0, np.empty(2), variance)
    )
    assert (variance == 1).all()
