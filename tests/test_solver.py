from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from spokeshave.kernels.lanes import LANES
from spokeshave.solver import Problem, Stop, _deal_blocks, solve, take_documents


@given(st.integers(1, 120))
def test_every_class_is_in_one_block_that_fits_the_lanes(n_classes):
    rng = np.random.default_rng(n_classes)
    indicator = sparse.csc_matrix(rng.random((30, n_classes)) < 0.2)
    blocks = _deal_blocks(indicator)
    assert sorted(np.concatenate(blocks)) == list(range(n_classes))
    sizes = [len(block) for block in blocks]
    assert max(sizes) <= LANES
    assert max(sizes) - min(sizes) <= 1
    assert len(blocks) == 1 or len(blocks) % 2 == 0


@pytest.fixture
def problem(rng):
    X = sparse.csr_matrix(rng.random((50, 12)) * (rng.random((50, 12)) < 0.4))
    indicator = sparse.csc_matrix(rng.random((50, 6)) < 0.3, dtype=np.int8)
    return Problem(X, indicator, np.ones(50), np.ones((6, 2)), np.zeros((6, 2)), 1.0)


def test_documents_without_weight_are_as_if_they_were_not_there(problem):
    weight = np.ones(50)
    weight[::3] = 0
    stop = Stop(1e-10, 100_000)
    whole = solve(problem._replace(weight=weight), stop, seed=0)
    part = solve(take_documents(problem, np.flatnonzero(weight)), stop, seed=0)
    np.testing.assert_array_equal(whole.coef, part.coef)
    dual = whole.dual_coef.toarray()
    np.testing.assert_array_equal(dual[:, weight > 0], part.dual_coef.toarray())
    assert not dual[:, ::3].any()


def test_a_start_outside_the_box_is_clipped(problem):
    stop = Stop(1e-10, 100_000)
    start = sparse.csr_matrix(np.full((6, 50), 7.0))  # beyond the box, and of the wrong sign
    warm = solve(problem, stop, seed=0, start=start)
    cold = solve(problem, stop, seed=0)
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-4)
    assert np.abs(warm.dual_coef.data).max() <= 1
