"""Blocks of classes, solutions of some of them, and the warning of early stopping."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from spokeshave.kernels.lanes import LANES
from spokeshave.kernels.rows import make_rows
from spokeshave.svm.solver import (
    Problem,
    Stop,
    make_blocks,
    rank_by_frequency,
    solve,
    solve_rows,
    take_documents,
    warn_if_stopped_early,
)


@given(st.integers(1, 120))
def test_every_class_is_in_one_block_that_fits_the_lanes(n_classes):
    rng = np.random.default_rng(n_classes)
    indicator = sparse.csc_matrix(rng.random((30, n_classes)) < 0.2)
    blocks = make_blocks(indicator)
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


@pytest.mark.parametrize("keep_dual", [True, False])
def test_rows_are_solved_as_their_matrix_is(problem, keep_dual):
    X, stop = problem.X, Stop(1e-6, 100_000)
    rank = rank_by_frequency(X)
    rows = make_rows(X.indptr, rank[X.indices], X.data, problem.weight)
    unseen = problem._replace(X=sparse.csr_matrix(X.shape))
    found = solve_rows(rows, rank, unseen, stop, seed=3, keep_dual=keep_dual)
    expected = solve(problem, stop, seed=3)
    for name in ("coef", "intercept", "objective", "gap", "n_passes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    dual = expected.dual_coef.toarray()
    np.testing.assert_array_equal(found.dual_coef.toarray(), dual if keep_dual else 0 * dual)


@pytest.mark.parametrize("n_classes", [1, 6])
def test_a_feature_of_no_support_vector_has_no_weight(rng, n_classes):
    separating = 2 * np.arange(300)[:, None] / 300 - 1  # so that few documents support
    words = sparse.random_array((300, 500), density=0.02, rng=rng)
    X = sparse.csr_matrix(sparse.hstack([separating, words]))
    positive = (np.arange(300) >= 150)[:, None] ^ (rng.random((300, n_classes)) < 0.05)
    indicator = sparse.csc_matrix(positive, dtype=np.int8)
    costs = np.ones((n_classes, 2))
    problem = Problem(X, indicator, np.ones(300), costs, 0 * costs, 1.0)
    found = solve(problem, Stop(1e-3, 1000), seed=0)
    is_used = (abs(found.dual_coef) @ abs(X)).toarray() > 0
    np.testing.assert_array_equal(found.coef != 0, is_used)
    assert 0 < is_used.sum() < is_used.size


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_classes", [1, 3, 40])
def test_some_blocks_are_solved_as_they_are_among_all(rng, n_classes, weighted):
    X = sparse.csr_matrix(rng.random((60, 12)) * (rng.random((60, 12)) < 0.4))
    indicator = sparse.csc_matrix(rng.random((60, n_classes)) < 0.3, dtype=np.int8)
    costs, weight = np.ones((n_classes, 2)), np.ones(60)
    weight[::4] = not weighted
    problem = Problem(X, indicator, weight, costs, 0 * costs, 1.0)
    stop, blocks = Stop(1e-4, 1000), make_blocks(indicator[weight > 0])
    whole = solve(problem, stop, seed=5)
    for numbers in ([0], [len(blocks) - 1], list(range(len(blocks)))):
        part = solve(problem, stop, seed=5, blocks=numbers)
        classes = np.sort(np.concatenate([blocks[number] for number in numbers]))
        for name in ("coef", "intercept", "objective", "gap", "n_passes"):
            np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[classes])
        assert (part.dual_coef != whole.dual_coef[classes]).nnz == 0


@pytest.mark.parametrize(
    ("gap", "classes", "named"),
    [
        (0.02, None, ""),
        ([0.02], ["oak"], " for class 'oak'"),
        ([0.0, 0.02, 0.005], np.array(["ash", "oak", "33"])[[0, 2, 1]], " for class '33'"),
        ([0.0, 0.02], np.array(["ash", "oak"], object), " for class 'oak'"),
        (np.array([0.02, 0.01]), np.array([33, 8]), " for class 33"),
    ],
)
def test_the_worst_gap_above_the_tolerance_warns(gap, classes, named):
    sentence = f"^Stopped after max_iter=9 passes .* gap of 0.02{named}, above tol=0.01. Raise max"
    with pytest.warns(ConvergenceWarning, match=sentence) as caught:
        warn_if_stopped_early(gap, Stop(0.01, 9), names=classes, stacklevel=1)
    assert caught[0].filename == __file__


def test_a_gap_at_the_tolerance_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_stopped_early([0.01, 0.0], Stop(0.01, 9), stacklevel=1)
