"""The online learners' kernels against dense twins in plain Python that see the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from spokeshave.kernels.online import (
    FURTHEST,
    learn_bayes_point,
    learn_exponentiated_gradient,
    learn_perceptron,
    learn_widrow_hoff,
    learn_winnow,
)
from spokeshave.kernels.rows import Rows
from spokeshave.kernels.sorting import seeded, shuffle

KINDS = pytest.mark.parametrize("is_binary", [True, False], ids=["binary", "valued"])
SEED = 7


def make_rows(dense, *, is_binary=False):
    """Return rows for the kernels; those of binary documents hold a scale each and no values."""
    X = sparse.csr_matrix(dense)
    indptr, indices = X.indptr.astype(np.uint64), X.indices.astype(np.uint32)
    ones = np.ones(len(dense))
    scale = dense.max(axis=1) if is_binary else ones
    data = None if is_binary else X.data
    return Rows(indptr, indices, data, scale, (dense**2).sum(axis=1), ones)


def make_problem(rng, *, is_binary=False, n=60, d=15):
    """Return noisy documents, none of their values negative."""
    dense = (rng.random((n, d)) < 0.4) * (1.0 if is_binary else rng.uniform(0.1, 2, size=(n, d)))
    y = np.where(dense @ rng.normal(size=d) + rng.normal(size=n) > 0, 1, -1).astype(np.int8)
    if is_binary:
        dense *= rng.uniform(0.5, 1, size=(n, 1))
    return dense, y, make_rows(dense, is_binary=is_binary)


def make_separable(rng, n=60, d=15):
    """Return documents on either side of a plane, none of them close to it."""
    dense, _, _ = make_problem(rng, n=n, d=d)
    distance = dense @ rng.normal(size=d) - 0.1
    is_clear = np.abs(distance) > 0.1
    y = np.where(distance > 0, 1, -1).astype(np.int8)
    return dense[is_clear], y[is_clear], make_rows(dense[is_clear])


def run_perceptron(dense, y, bias, max_passes, state):
    w, b = np.zeros(dense.shape[1]), 0.0
    order = np.arange(len(y))
    for _ in range(max_passes):
        shuffle(order, len(y), state)
        n_mistakes = 0
        for i in order:
            if y[i] * (dense[i] @ w + b) <= 0:
                w, b = w + y[i] * dense[i], b + y[i] * bias
                n_mistakes += 1
        if not n_mistakes:
            break
    return w, b, n_mistakes


@KINDS
@pytest.mark.parametrize("max_passes", [1, 4])
def test_perceptron_equals_plain_python(rng, is_binary, max_passes):
    dense, y, rows = make_problem(rng, is_binary=is_binary)
    w = np.zeros(dense.shape[1])
    b, n_mistakes = learn_perceptron(rows, y, 2.0, w, max_passes, seeded(SEED))
    expected = run_perceptron(dense, y, 2.0, max_passes, seeded(SEED))
    np.testing.assert_allclose(w, expected[0], atol=1e-12)
    assert (b, n_mistakes) == expected[1:]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 40), d=st.integers(1, 8))
def test_perceptron_separates_what_can_be_separated(seed, n, d):
    dense, y, rows = make_separable(np.random.default_rng(seed), n, d)
    w = np.zeros(d)
    b, n_mistakes = learn_perceptron(rows, y, 1.0, w, 1_000_000, seeded(seed))
    assert n_mistakes == 0
    assert (y * (dense @ w + b) > 0).all()


@KINDS
def test_bayes_point_is_the_mean_of_unit_length_perceptrons(rng, is_binary):
    dense, y, rows = make_problem(rng, is_binary=is_binary)
    mean, bias, state = np.zeros(dense.shape[1]), 2.0, seeded(SEED)
    b = learn_bayes_point(rows, y, bias, mean, 3, 4, SEED)
    runs = [run_perceptron(dense, y, bias, 4, state) for _ in range(3)]
    lengths = [np.hypot(np.linalg.norm(w), b_k / np.sqrt(bias)) for w, b_k, _ in runs]
    expected = np.mean([w / length for (w, _, _), length in zip(runs, lengths, strict=True)], 0)
    np.testing.assert_allclose(mean, expected, atol=1e-12)
    assert b == pytest.approx(np.mean([run[1] / n for run, n in zip(runs, lengths, strict=True)]))


def test_bayes_point_of_perceptrons_without_mistakes_makes_none(rng):
    """The version space is convex: the mean of its members belongs to it."""
    dense, y, rows = make_separable(rng)
    mean = np.zeros(dense.shape[1])
    b = learn_bayes_point(rows, y, 1.0, mean, 20, 1_000_000, SEED)
    assert (y * (dense @ mean + b) > 0).all()


def test_bayes_point_has_a_wider_margin_than_its_perceptrons(rng):
    dense, y, rows = make_separable(rng)
    mean, state = np.zeros(dense.shape[1]), seeded(SEED)
    b = learn_bayes_point(rows, y, 1.0, mean, 50, 1_000_000, SEED)
    runs = [run_perceptron(dense, y, 1.0, 1_000_000, state)[:2] for _ in range(50)]
    margins = [np.min(y * (dense @ w + b)) / np.hypot(np.linalg.norm(w), b) for w, b in runs]
    assert np.min(y * (dense @ mean + b)) / np.hypot(np.linalg.norm(mean), b) > np.mean(margins)


def run_winnow(dense, y, start, rate, max_passes):
    pro, contra = np.full((2, dense.shape[1]), start)
    order, state = np.arange(len(y)), seeded(SEED)
    for _ in range(max_passes):
        shuffle(order, len(y), state)
        n_mistakes = 0
        for i in order:
            if y[i] * (dense[i] @ (pro - contra) - 1) <= 0:
                factor = np.where(dense[i] > 0, rate ** float(y[i]), 1)
                pro, contra = pro * factor, contra / factor
                n_mistakes += 1
        if not n_mistakes:
            break
    return pro - contra, n_mistakes


@KINDS
@pytest.mark.parametrize("max_passes", [1, 6])
def test_winnow_equals_plain_python(rng, is_binary, max_passes):
    dense, y, rows = make_problem(rng, is_binary=is_binary)
    w = np.empty(dense.shape[1])
    n_mistakes = learn_winnow(rows, y, 0.3, 1.2, w, max_passes, SEED)
    expected, expected_mistakes = run_winnow(dense, y, 0.3, 1.2, max_passes)
    np.testing.assert_allclose(w, expected, rtol=1e-9, atol=1e-12)
    assert n_mistakes == expected_mistakes


def test_winnow_learns_a_disjunction_among_irrelevant_words(rng):
    dense = (rng.random((200, 50)) < 0.1).astype(float)
    y = np.where(dense[:, :3].any(axis=1), 1, -1).astype(np.int8)
    w = np.empty(50)
    n_mistakes = learn_winnow(make_rows(dense, is_binary=True), y, 0.2, 1.5, w, 1000, SEED)
    assert n_mistakes == 0
    assert set(np.argsort(-w)[:3]) == {0, 1, 2}


def test_winnow_stays_finite_where_no_weight_is_large_enough():
    rows = make_rows(np.full((5, 1), 1e-200))
    w = np.empty(1)
    assert learn_winnow(rows, np.ones(5, np.int8), 1.0, 2.0, w, 1000, SEED) == 5
    assert w[0] == FURTHEST


def run_widrow_hoff(dense, y, rate):
    order = np.arange(len(y))
    shuffle(order, len(y), seeded(SEED))
    weights = [np.zeros(dense.shape[1])]
    for i in order:
        error = dense[i] @ weights[-1] - (y[i] > 0)
        weights.append(weights[-1] - 2 * rate * error * dense[i])
    return np.mean(weights, axis=0)


@KINDS
def test_widrow_hoff_equals_the_mean_of_all_weights(rng, is_binary):
    dense, y, rows = make_problem(rng, is_binary=is_binary)
    average, rate = np.zeros(dense.shape[1]), 0.25 / (dense**2).sum(axis=1).max()
    learn_widrow_hoff(rows, y, rate, average, SEED)
    np.testing.assert_allclose(average, run_widrow_hoff(dense, y, rate), atol=1e-12)


def run_exponentiated_gradient(dense, y, rate):
    order = np.arange(len(y))
    shuffle(order, len(y), seeded(SEED))
    # The last feature has no part in the sum, as it is none of the documents'.
    weights = [np.full(dense.shape[1] + 1, 1 / dense.shape[1])]
    for i in order:
        error = dense[i] @ weights[-1][:-1] - (y[i] > 0)
        w = weights[-1] * np.exp(-2 * rate * error * np.append(dense[i], 0))
        weights.append(w / w[:-1].sum())
    return np.mean(weights, axis=0)


@KINDS
@pytest.mark.parametrize("rate", [0.01, 0.5, 5.0])
def test_exponentiated_gradient_equals_the_mean_of_all_weights(rng, is_binary, rate):
    dense, y, rows = make_problem(rng, is_binary=is_binary)
    average = np.empty(dense.shape[1] + 1)
    learn_exponentiated_gradient(rows, y, rate, average, SEED)
    expected = run_exponentiated_gradient(dense, y, rate)
    np.testing.assert_allclose(average, expected, rtol=1e-9, atol=1e-15)
    assert average[:-1].sum() == pytest.approx(1)


def test_exponentiated_gradient_keeps_count_when_weights_grow_without_end(rng):
    """A word of small value never reaches the target: its raw weight grows past any number."""
    dense, y, rows = make_problem(rng, n=3000)
    dense, rows = dense * 0.2, rows._replace(scale=rows.scale * 0.2)
    average = np.empty(dense.shape[1] + 1)
    learn_exponentiated_gradient(rows, y, 30.0, average, SEED)
    expected = run_exponentiated_gradient(dense, y, 30.0)
    np.testing.assert_allclose(average, expected, rtol=1e-8, atol=1e-15)
