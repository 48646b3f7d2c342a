"""The free intercept against plain Python and against what an optimum must be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.kernels.descent import Task, measure
from spokeshave.kernels.free_intercept import balance, find_intercept, polish_free, pose
from spokeshave.kernels.rows import make_full_rows, set_prior

HINGE = (np.array([0.7, 1.3]), np.zeros(2))
SQUARED_HINGE = (np.full(2, np.inf), 0.5 / np.array([0.7, 1.3]))
LOSSES = pytest.mark.parametrize("costs", [HINGE, SQUARED_HINGE], ids=["hinge", "squared"])


def sum_losses(y, weight, costs, scores):
    side = (y > 0).astype(int)
    slack = np.maximum(0, 1 - y * scores)
    if np.isfinite(costs[0][0]):
        return (weight * costs[0][side] * slack).sum()
    return (weight * slack**2 / (2 * costs[1][side])).sum()


@LOSSES
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_intercept_has_the_least_loss(costs, data):
    n = data.draw(st.integers(1, 9))
    y = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)), np.int8)
    scores = np.array(data.draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n)), float)
    weight = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0]), min_size=n, max_size=n)))
    b = find_intercept(weight, Task(y, *costs), scores)
    tried = np.concatenate([np.linspace(-6, 6, 241), y - scores])
    least = min(sum_losses(y, weight, costs, scores + at) for at in tried)
    assert sum_losses(y, weight, costs, scores + b) <= least + 1e-9


def test_of_several_best_intercepts_it_is_the_middle():
    y = np.array([-1, 1, -1, 1], np.int8)
    for costs in (HINGE, SQUARED_HINGE):
        b = find_intercept(np.ones(4), Task(y, *costs), np.array([-4.0, 3.0, -3.0, 5.0]))
        assert b == pytest.approx(0)  # from -2 to 2 there is no loss


@LOSSES
def test_a_balanced_dual_sums_to_zero_within_the_box(rng, costs):
    y = rng.choice([-1, 1], size=50).astype(np.int8)
    weight = rng.uniform(0.5, 2, size=50)
    upper = np.minimum(costs[0][(y > 0).astype(int)] * weight, 3.0)
    for share_at_the_box in (0, 0.5, 1):
        beta = y * upper * np.where(rng.random(50) < share_at_the_box, 1, rng.random(50))
        beta[rng.random(50) < 0.3] = 0
        before = beta.copy()
        balance(weight, Task(y, *costs), beta)
        assert abs(beta.sum()) < 1e-12
        assert (beta * y >= 0).all()
        assert (np.abs(beta) <= np.abs(before)).all()
        lighter = y * np.sign(before.sum()) < 0
        np.testing.assert_array_equal(beta[lighter], before[lighter])


@LOSSES
@pytest.mark.parametrize("has_prior", [False, True])
@pytest.mark.parametrize("is_started", [False, True])
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_the_dual_keeps_the_constraint_and_the_gap_is_that_of_the_problem(
    rng, costs, has_prior, is_started, shift
):
    n, d = 60, 5
    dense = rng.normal(size=(n, d)) + shift
    y = np.where((dense - shift)[:, 0] + rng.normal(size=n) > 0.8, 1, -1).astype(np.int8)
    weight = rng.uniform(0.5, 2, size=n)
    variance = rng.uniform(0.2, 3, size=d).astype(np.float32) if has_prior else np.ones(d)
    rows = make_full_rows(dense, weight)
    rows = set_prior(rows, variance) if has_prior else rows
    task, beta, b = Task(y, *costs), np.zeros(n), 0.0
    if is_started:
        beta = y * rng.random(n) * np.minimum(costs[0][0], 1.0) * 0.5
        b = beta.sum()
    w = variance * (beta @ dense)
    margins = dense @ w + b
    b, _, primal, gap = polish_free(rows, task, beta, w, b, margins, False, 1e-8, 100_000, 1)
    assert abs(beta.sum()) < 1e-11
    side, alpha = (y > 0).astype(int), beta * y
    assert alpha.min() >= 0
    assert (alpha <= costs[0][side] * weight).all()
    np.testing.assert_allclose(w, variance * (beta @ dense), atol=1e-9)
    np.testing.assert_allclose(margins, dense @ w + b, atol=1e-9)
    half_norm = 0.5 * (w**2 / variance).sum()
    ridge = costs[1][side] / weight
    assert primal == pytest.approx(half_norm + sum_losses(y, weight, costs, dense @ w + b))
    dual = alpha.sum() - half_norm - 0.5 * (ridge * alpha**2).sum()
    assert gap == pytest.approx(primal - dual, abs=1e-10 * primal)
    assert gap <= 1e-8 * primal


def test_the_best_that_was_met_is_returned_when_the_passes_run_out(rng):
    dense = rng.normal(size=(80, 6)) * [1, 10, 100, 1, 1, 1] + 50
    y = np.where(rng.random(80) < 0.4, 1, -1).astype(np.int8)
    rows, task = make_full_rows(dense, np.ones(80)), Task(y, np.full(2, 100.0), np.zeros(2))
    for max_passes in (1, 2, 5, 20):
        beta, w, margins = np.zeros(80), np.zeros(6), np.zeros(80)
        b, passes, primal, gap = polish_free(
            rows, task, beta, w, 0.0, margins, False, 1e-12, max_passes, 1
        )
        assert passes <= max_passes
        assert (primal, gap) == pytest.approx(measure(np.ones(80), task, beta, dense @ w + b))
        nothing, spare, scores = np.empty(80), np.empty(6), np.empty(80)
        _, _, gap_at_start = pose(rows, task, np.zeros(80), nothing, spare, scores)
        assert gap <= gap_at_start
        assert abs(beta.sum()) < 1e-9


@pytest.mark.parametrize("sign", [-1, 1])
@LOSSES
def test_documents_of_one_class_cost_nothing(rng, costs, sign):
    rows, y = make_full_rows(rng.normal(size=(9, 3)), np.ones(9)), np.full(9, sign, np.int8)
    beta, w, margins = np.zeros(9), np.zeros(3), np.zeros(9)
    found = polish_free(rows, Task(y, *costs), beta, w, 0.0, margins, False, 1e-3, 100, 1)
    assert found == (sign, 0, 0.0, 0.0)
    assert not w.any()
