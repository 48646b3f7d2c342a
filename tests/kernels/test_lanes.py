"""The vector loops against plain numpy."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from spokeshave.kernels.lanes import LANES, add_to_rows, sum_rows, sum_variances


@numba.njit
def call_sum(W, indices, data, start, stop, out, has_variance):
    sum_rows(W, indices, data, start, stop, out, has_variance)


@numba.njit
def call_variances(W, indices, data, start, stop, out):
    sum_variances(W, indices, data, start, stop, out, True)


@numba.njit
def call_add(W, indices, data, start, stop, step, has_variance):
    add_to_rows(W, indices, data, start, stop, step, has_variance)


@pytest.fixture(params=[np.float32, np.float64])
def weights(request, rng):
    return rng.normal(size=(9, LANES)).astype(request.param)


@pytest.fixture(params=[None, np.float32, np.float64])
def problem(request, weights, rng):
    indices = np.array([3, 0, 8, 3, 5, 1], np.uint32)
    data = None if request.param is None else rng.normal(size=6).astype(request.param)
    return weights, indices, data


def add_variance(W, rng):
    """Return weights with a variance of each after those of a row, and the variances."""
    variance = rng.random(W.shape).astype(W.dtype)
    return np.hstack([W, variance]), variance


@pytest.mark.parametrize("has_variance", [None, True])
@pytest.mark.parametrize(("start", "stop"), [(0, 6), (1, 4), (2, 2)])
def test_sum_rows(problem, rng, start, stop, has_variance):
    W, indices, data = problem
    out = np.full(LANES, np.nan, W.dtype)
    given = add_variance(W, rng)[0] if has_variance else W
    call_sum(given, indices, data, start, stop, out, has_variance)
    values = np.ones(6) if data is None else data
    expected = sum(values[p] * W[indices[p]] for p in range(start, stop)) + np.zeros(LANES)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("start", "stop"), [(0, 6), (1, 4), (2, 2)])
def test_sum_variances(problem, rng, start, stop):
    W, indices, data = problem
    out = np.full(LANES, np.nan, W.dtype)
    given, variance = add_variance(W, rng)
    call_variances(given, indices, data, start, stop, out)
    squares = np.ones(6) if data is None else data**2
    expected = sum(squares[p] * variance[indices[p]] for p in range(start, stop)) + np.zeros(LANES)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("has_variance", [None, True])
@pytest.mark.parametrize(("start", "stop"), [(0, 6), (1, 4), (2, 2)])
def test_add_to_rows(problem, rng, start, stop, has_variance):
    W, indices, data = problem
    given, variance = add_variance(W, rng) if has_variance else (W.copy(), None)
    step = rng.normal(size=LANES).astype(W.dtype)
    values = np.ones(6) if data is None else data
    expected = W.copy()
    for p in range(start, stop):  # feature 3 stands twice: both steps count
        term = values[p] * step * (variance[indices[p]] if has_variance else 1)
        expected[indices[p]] += term.astype(W.dtype)
    call_add(given, indices, data, start, stop, step, has_variance)
    np.testing.assert_allclose(given[:, :LANES], expected, rtol=1e-5, atol=1e-6)
    if has_variance:
        np.testing.assert_array_equal(given[:, LANES:], variance)
