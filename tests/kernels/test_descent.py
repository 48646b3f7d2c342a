"""The solver's kernels against plain Python and against the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from spokeshave.kernels.descent import (
    Task,
    add_up,
    advance,
    judge,
    measure,
    polish,
    rebuild,
    score,
    score_lanes,
    sweep,
)
from spokeshave.kernels.lanes import LANES
from spokeshave.kernels.rows import Rows, make_full_rows

HINGE = (np.array([0.7, 1.3]), np.zeros(2))
SQUARED_HINGE = (np.full(2, np.inf), 0.5 / np.array([0.7, 1.3]))
LOSSES = pytest.mark.parametrize("costs", [HINGE, SQUARED_HINGE], ids=["hinge", "squared"])


def make_rows(dense, weight):
    X = sparse.csr_matrix(dense)
    n = X.shape[0]
    length = (dense**2).sum(axis=1)
    indptr, indices = X.indptr.astype(np.uint64), X.indices.astype(np.uint32)
    return Rows(indptr, indices, X.data, np.ones(n), length, weight)


def make_problem(rng, n=40, d=8):
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    y = np.where(dense @ rng.normal(size=d) + rng.normal(size=n) > 0, 1, -1).astype(np.int8)
    return dense, y, rng.uniform(0.5, 2, size=n)


def limits(y, weight, box, ridge):
    side = (y > 0).astype(int)
    return box[side] * weight, ridge[side] / weight


def shuffle(items, state):
    """Shuffle as the kernel does; return the new state."""
    for s in range(len(items) - 1, 0, -1):
        for shift in (13, -7, 17):
            state ^= (state << shift if shift > 0 else state >> -shift) % 2**64
        t = (state >> 32) * (s + 1) >> 32
        items[s], items[t] = items[t], items[s]
    return state


def descend(dense, y, weight, box, ridge, bias, n_passes, seed):
    """Dual coordinate descent over all documents: no shrinking, no tricks."""
    upper, damping = limits(y, weight, box, ridge)
    alpha, w, b = np.zeros(len(y)), np.zeros(dense.shape[1]), 0.0
    order, state = list(range(len(y))), (seed * 0x9E3779B97F4A7C15 + 1) % 2**64
    for _ in range(n_passes):
        state = shuffle(order, state)
        for i in order:
            gradient = y[i] * (dense[i] @ w + b) - 1 + damping[i] * alpha[i]
            curvature = dense[i] @ dense[i] + bias + damping[i]
            new = min(max(alpha[i] - gradient / curvature, 0), upper[i])
            w += (new - alpha[i]) * y[i] * dense[i]
            b += (new - alpha[i]) * y[i] * bias
            alpha[i] = new
    return alpha * y, w, b


@LOSSES
@pytest.mark.parametrize(
    ("bias", "has_prior"), [(0.0, False), (1.0, False), (4.0, False), (0.0, True), (1.0, True)]
)
def test_sweep_equals_plain_descent_in_every_lane(rng, costs, bias, has_prior):
    dense, _, weight = make_problem(rng)
    n, d = dense.shape
    Y = rng.choice([-1, 1], size=(n, LANES)).astype(np.int8)
    box, ridge = (np.repeat(c[:, None], LANES, axis=1).astype(np.float32) for c in costs)
    beta, margins = np.zeros((2, n, LANES), np.float32)
    W, b = np.zeros((d, LANES), np.float32), np.zeros(LANES, np.float32)
    squared_length, deviation = None, np.ones((d, LANES))
    if has_prior:
        deviation = rng.random((d, LANES)) * 2
        W = np.hstack([W, (deviation**2).astype(np.float32)])
        squared_length = np.full((n, LANES), np.nan, np.float32)
    rows = make_rows(dense, weight)
    sweep(rows, Y, box, ridge, bias, beta, W, b, margins, 3, 5, squared_length)
    if has_prior:
        np.testing.assert_allclose(squared_length, dense**2 @ deviation**2, rtol=1e-5)
    for k in range(LANES):
        expected = descend(dense * deviation[:, k], Y[:, k], weight, *costs, bias, 3, 5)
        expected = expected[0], expected[1] * deviation[:, k], expected[2]
        for found, wanted in zip((beta[:, k], W[:, k], b[k]), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_a_lane_of_box_zero_stays_at_rest(rng):
    dense, _, weight = make_problem(rng)
    n, d = dense.shape
    box = np.ones((2, LANES), np.float32)
    box[:, 3] = 0
    beta, margins = np.zeros((2, n, LANES), np.float32)
    W, b = np.zeros((d, LANES), np.float32), np.zeros(LANES, np.float32)
    Y = np.ones((n, LANES), np.int8)
    no_ridge = np.zeros((2, LANES), np.float32)
    rows = make_rows(dense, weight)
    sweep(rows, Y, box, no_ridge, 1.0, beta, W, b, margins, 2, 0, None)
    assert not beta[:, 3].any()
    assert not W[:, 3].any()
    assert beta[:, 4].any()


@LOSSES
def test_measure_equals_the_definitions_of_primal_and_dual(rng, costs):
    dense, y, weight = make_problem(rng)
    rows, task, bias = make_rows(dense, weight), Task(y, *costs), 4.0
    upper, damping = limits(y, weight, *costs)
    alpha = rng.random(len(y)) * np.minimum(upper, 2)
    w, margins = np.empty(dense.shape[1]), np.empty(len(y))
    b = rebuild(rows, bias, alpha * y, w)
    score(rows, w, b, margins)
    np.testing.assert_allclose(w, (alpha * y) @ dense)
    np.testing.assert_allclose(margins, dense @ w + b)
    slack = np.maximum(1 - y * margins, 0)
    loss = upper * slack if not damping.any() else slack**2 / (2 * damping)
    half_norm = 0.5 * (w @ w + b**2 / bias)  # b is the constant's weight times sqrt(bias)
    dual = alpha.sum() - half_norm - 0.5 * (damping * alpha**2).sum()
    primal, gap = measure(rows.weight, task, alpha * y, margins)
    assert primal == pytest.approx(half_norm + loss.sum())
    assert gap == pytest.approx(half_norm + loss.sum() - dual)


@pytest.mark.parametrize("has_values", [False, True])
def test_scores_in_lanes_are_those_of_each_class(rng, has_values):
    dense, _, weight = make_problem(rng)
    rows = make_rows(dense, weight)
    if not has_values:
        rows = rows._replace(data=None, scale=rng.random(len(dense)))
    W, b = rng.normal(size=(dense.shape[1], LANES)), rng.normal(size=LANES)
    found = np.empty((LANES, len(dense)))
    score_lanes(rows, W, b, found)
    for w, intercept, margins in zip(W.T.copy(), b, found, strict=True):
        expected = np.empty(len(dense))
        score(rows, w, intercept, expected)
        np.testing.assert_allclose(margins, expected, rtol=1e-12)


def solve(dense, y, weight, costs, tol, bias=1.0, seed=1, margins=None):
    rows, n, task = make_rows(dense, weight), len(y), Task(y, *costs)
    beta, w, is_stale = np.zeros(n), np.zeros(dense.shape[1]), margins is not None
    margins = margins if is_stale else np.zeros(n)
    b, passes, primal, gap = polish(
        rows, task, bias, beta, w, 0.0, margins, is_stale, tol, 100_000, seed
    )
    scores = dense @ w + b
    expected_primal, expected_gap = measure(weight, task, beta, scores)
    assert primal == pytest.approx(expected_primal, rel=1e-9)
    assert gap == pytest.approx(expected_gap, rel=1e-3, abs=1e-9 * primal)
    is_bound = ~np.isclose(margins, scores, atol=1e-9)
    assert (beta[is_bound] == 0).all()
    assert (y * margins)[is_bound].min(initial=2) > 1
    assert (y * (scores - margins))[is_bound].min(initial=1) > 0
    return beta, w, b, passes, primal, gap


@LOSSES
def test_polish_reaches_the_optimum_of_plain_descent(rng, costs):
    dense, y, weight = make_problem(rng)
    _, w, b, _, primal, gap = solve(dense, y, weight, costs, tol=1e-13)
    _, expected_w, expected_b = descend(dense, y, weight, *costs, 1.0, 5000, 1)
    np.testing.assert_allclose(w, expected_w, rtol=1e-5, atol=1e-6)
    assert b == pytest.approx(expected_b, rel=1e-5, abs=1e-6)
    assert gap <= 1e-13 * primal


@LOSSES
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 30), d=st.integers(1, 6))
def test_polish_meets_the_optimality_conditions(costs, seed, n, d):
    """KKT: the gradient vanishes inside the box and points outward at its bounds."""
    dense, y, weight = make_problem(np.random.default_rng(seed), n, d)
    beta, w, b, _, primal, gap = solve(dense, y, weight, costs, tol=1e-12)
    upper, damping = limits(y, weight, *costs)
    alpha = beta * y
    gradient = y * (dense @ w + b) - 1 + damping * alpha
    np.testing.assert_allclose(w, beta @ dense, atol=1e-9)
    assert ((alpha >= 0) & (alpha <= upper)).all()
    assert gap <= 1e-12 * primal
    slack = 1e-4
    assert (gradient[alpha < upper] > -slack).all()
    assert (gradient[alpha > 0] < slack).all()


@LOSSES
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 60), tol=st.sampled_from([1e-1, 1e-2, 1e-4]))
def test_reported_gaps_are_of_all_documents(costs, seed, n, tol):
    """Also where the margins of some documents are bounds, or all were stale to begin with."""
    rng = np.random.default_rng(seed)
    dense, y, weight = make_problem(rng, n, 4)
    for margins in (None, rng.normal(size=n) * 5):
        *_, primal, gap = solve(dense, y, weight, costs, tol, margins=margins)
        assert gap <= tol * primal


def test_margins_that_cannot_matter_are_bounds(rng):
    dense, y, weight = make_problem(rng, 300, 3)
    dense += 2 * y[:, None]  # most are far from the margin
    rows, task = make_rows(dense, weight), Task(y, *HINGE)
    beta, w, margins, b = np.zeros(300), np.zeros(3), np.zeros(300), 0.0
    for tol in (1e-2, 1e-9):
        b, *_ = polish(rows, task, 1.0, beta, w, b, margins, False, tol, 1000, 1)
    is_exact = np.isclose(margins, dense @ w + b, rtol=1e-12, atol=0)
    assert 0 < is_exact.sum() < 150


def test_polish_stops_where_it_is_told(rng):
    dense, y, weight = make_problem(rng)
    rows, n = make_rows(dense, weight), len(y)
    beta, w, margins = np.zeros(n), np.zeros(dense.shape[1]), np.zeros(n)
    task = Task(y, *HINGE)
    _, passes, primal, gap = polish(rows, task, 1.0, beta, w, 0.0, margins, False, 1e-12, 2, 1)
    assert passes == 2
    assert gap > 1e-12 * primal


class Part:
    """Some documents of a problem, of which the others rest at the dual they have."""

    def __init__(self, rng, costs, bias=4.0):
        self.dense, self.y, self.weight = make_problem(rng)
        self.upper, self.damping = limits(self.y, self.weight, *costs)
        self.bias, n = bias, len(self.y)
        self.alpha = rng.random(n) * np.minimum(self.upper, 1)
        self.alpha[rng.random(n) < 0.3] = 0
        at_bound = rng.random(n) < 0.3
        self.alpha[at_bound] = np.where(np.isinf(self.upper), 0, self.upper)[at_bound]
        self.chosen = np.flatnonzero(rng.random(n) < 0.5)
        self.rows = make_rows(self.dense[self.chosen], self.weight[self.chosen])
        self.task = Task(self.y[self.chosen], *costs)
        self.w, self.b = self.find_weights()

    def find_weights(self):
        beta = self.alpha * self.y
        return beta @ self.dense, self.bias * beta.sum()

    def find_margins(self):
        return (self.dense @ self.w + self.b)[self.chosen]

    def find_dual(self):
        w, b = self.find_weights()
        half_norm = 0.5 * (w @ w + (b**2 / self.bias if self.bias else 0))
        return self.alpha.sum() - half_norm - 0.5 * (self.damping * self.alpha**2).sum()

    def measure(self):
        beta = (self.alpha * self.y)[self.chosen]
        return measure(self.rows.weight, self.task, beta, self.find_margins())

    def advance(self, target=0.0, max_passes=1000):
        """Descend on the chosen documents, and take note of what has become of them."""
        beta = (self.alpha * self.y)[self.chosen]
        self.b = advance(
            *(self.rows, self.task, self.bias, beta, self.w, self.b, self.find_margins()),
            *(target, max_passes, 1),
        )
        self.alpha[self.chosen] = beta * self.y[self.chosen]


SEEDS = given(seed=st.integers(0, 10_000), bias=st.sampled_from([0.0, 1.0, 4.0]))


@LOSSES
@settings(max_examples=60, deadline=None)
@SEEDS
def test_judge_finds_rest_where_the_gradient_points_out_of_the_box(costs, seed, bias):
    part = Part(np.random.default_rng(seed), costs, bias)
    beta, margins = (part.alpha * part.y)[part.chosen], part.find_margins()
    violation = np.empty(part.chosen.size)
    terms = judge(part.rows.weight, part.task, beta, margins, violation)
    assert terms == pytest.approx(measure(part.rows.weight, part.task, beta, margins))
    for i, document in enumerate(part.chosen):
        alpha, y, upper = part.alpha[document], part.y[document], part.upper[document]
        gradient = y * margins[i] - 1 + part.damping[document] * alpha
        rests = (alpha == 0 and gradient > 0) or (alpha == upper and gradient < 0)
        assert violation[i] == (-1 if rests else pytest.approx(abs(gradient), abs=1e-12))


@LOSSES
def test_the_terms_of_parts_add_up_to_primal_and_gap(rng, costs):
    part = Part(rng, costs)
    beta, margins = part.alpha * part.y, part.dense @ part.w + part.b
    whole = measure(part.weight, Task(part.y, *costs), beta, margins)
    terms = []
    for of_part in np.array_split(rng.permutation(len(beta)), 4):
        task, violation = Task(part.y[of_part], *costs), np.empty(of_part.size)
        of_task = beta[of_part], margins[of_part], violation
        terms.append(judge(part.weight[of_part], task, *of_task))
    np.testing.assert_allclose(np.sum(terms, axis=0), whole)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), bias=st.sampled_from([0.0, 1.0, 4.0]))
def test_add_up_adds_what_the_dual_stands_for(seed, bias):
    rng = np.random.default_rng(seed)
    dense, _, weight = make_problem(rng)
    beta, w = rng.normal(size=len(dense)) * (rng.random(len(dense)) < 0.5), rng.normal(size=8)
    expected = w + beta @ dense
    assert add_up(make_rows(dense, weight), bias, beta, w) == pytest.approx(bias * beta.sum())
    np.testing.assert_allclose(w, expected, atol=1e-12)


@LOSSES
@settings(max_examples=60, deadline=None)
@SEEDS
def test_advance_climbs_and_stays_feasible_while_others_rest(costs, seed, bias):
    part = Part(np.random.default_rng(seed), costs, bias)
    before, dual, (_, gap) = part.alpha.copy(), part.find_dual(), part.measure()
    part.advance()
    others = np.setdiff1d(np.arange(len(part.y)), part.chosen)
    np.testing.assert_array_equal(part.alpha[others], before[others])
    assert ((part.alpha >= 0) & (part.alpha <= part.upper)).all()
    w, b = part.find_weights()
    np.testing.assert_allclose(part.w, w, atol=1e-9)
    assert part.b == pytest.approx(b, abs=1e-9)
    assert part.find_dual() >= dual - 1e-9
    for _ in range(
        20
    ):  # a call stops at a tenth of the gap as met on the way, which is not monotone
        if part.measure()[1] <= max(0.5 * gap, 1e-9):
            break
        part.advance()
    assert part.measure()[1] <= max(0.5 * gap, 1e-9)


@LOSSES
def test_advance_again_and_again_reaches_the_optimum_of_plain_descent(rng, costs):
    part = Part(rng, costs)
    rows, chosen = part.dense[part.chosen], part.chosen
    alpha, (w, b) = part.alpha[chosen], part.find_weights()
    for _ in range(3000):
        for i, document in enumerate(chosen):
            y, damping = part.y[document], part.damping[document]
            gradient = y * (rows[i] @ w + b) - 1 + damping * alpha[i]
            new = alpha[i] - gradient / (rows[i] @ rows[i] + part.bias + damping)
            step = min(max(new, 0), part.upper[document]) - alpha[i]
            alpha[i] += step
            w, b = w + step * y * rows[i], b + step * y * part.bias
    for _ in range(20):
        part.advance()
    np.testing.assert_allclose(part.w, w, rtol=1e-5, atol=1e-6)
    assert part.b == pytest.approx(b, rel=1e-5, abs=1e-6)


@LOSSES
def test_advance_stops_where_it_is_told(rng, costs):
    part = Part(rng, costs)
    _, gap = part.measure()
    part.advance(target=0.9 * gap)
    _, at_target = part.measure()
    part.advance(target=0.0)
    assert part.measure()[1] < at_target
    before = part.alpha.copy()
    part.advance(max_passes=0)
    np.testing.assert_array_equal(part.alpha, before)


@LOSSES
def test_a_table_is_solved_like_its_sparse_rows(rng, costs):
    dense, y, weight = make_problem(rng)
    n, d = dense.shape
    found = []
    for rows in (make_rows(dense, weight), make_full_rows(dense, weight)):
        beta, w, margins = np.zeros(n), np.zeros(d), np.zeros(n)
        b, _, primal, gap = polish(
            rows, Task(y, *costs), 1.0, beta, w, 0.0, margins, False, 1e-12, 100_000, 1
        )
        assert gap <= 1e-12 * primal
        np.testing.assert_allclose(w, beta @ dense, atol=1e-9)
        found.append([*w, b])
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)
