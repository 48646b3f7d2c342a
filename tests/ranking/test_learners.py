"""The linear learners against peers, and their invariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.preprocessing import normalize

from spokeshave import DualLinearSVC
from spokeshave.ranking.learners import (
    MAX_EPOCHS,
    bayes_point,
    exponentiated_gradient,
    least_squares,
    perceptron,
    widrow_hoff,
    winnow,
)

ONLINE = pytest.mark.parametrize(
    "learn", [perceptron, bayes_point, winnow, widrow_hoff, exponentiated_gradient]
)


def make_text(n_classes=4, *, n=120, d=60, seed=0):
    """Return sparse rows of length one, whose words depend on the class, and an indicator."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    chances = rng.uniform(0.02, 0.3, size=(n_classes, d))
    X = (rng.random((n, d)) < chances[y]) * rng.integers(1, 5, size=(n, d))
    return normalize(sparse.csr_matrix(X, dtype=float)), indicate(y)


def indicate(y):
    return sparse.csc_matrix(y[:, None] == np.unique(y), dtype=np.int8)


@ONLINE
def test_a_class_depends_neither_on_the_others_nor_on_n_jobs(learn):
    X, indicator = make_text()
    together = learn(X, indicator, seed=3, n_jobs=1)
    assert together.shape == (4, 60)
    np.testing.assert_array_equal(learn(X, indicator, seed=3, n_jobs=3), together)
    for k in range(4):
        alone = learn(X, indicator[:, [k]], seed=3)
        np.testing.assert_array_equal(alone[0], together[k])


@ONLINE
def test_the_seed_sets_the_order_of_the_documents(learn):
    X, indicator = make_text()
    first, again, other = (learn(X, indicator, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(
    ("learn", "power"),
    [
        (perceptron, 1),
        (bayes_point, 0),
        (winnow, -1),
        (widrow_hoff, -1),
        (exponentiated_gradient, 0),
    ],
)
def test_stretched_documents_give_the_same_weights_but_for_a_factor(learn, power):
    X, indicator = make_text()
    expected = learn(X, indicator, seed=0) * 4.0**power
    np.testing.assert_allclose(learn(4.0 * X, indicator, seed=0), expected, rtol=1e-12)


@ONLINE
def test_float32_documents_give_the_same_weights(learn):
    X, indicator = make_text()
    X.data = X.data.astype(np.float32)
    expected = learn(X.astype(np.float64), indicator, seed=0)
    np.testing.assert_allclose(learn(X, indicator, seed=0), expected, rtol=1e-5, atol=1e-6)


@ONLINE
def test_the_word_that_tells_the_classes_apart_weighs_most(learn, rng):
    noise = rng.random((200, 30)) < 0.2
    noise[:, 17] = np.arange(200) % 2
    X = sparse.csr_matrix(noise, dtype=float)
    weights = learn(X, indicate(noise[:, 17])[:, 1:], seed=0)
    assert np.argmax(weights[0]) == 17


@ONLINE
def test_documents_without_words_teach_nothing(learn):
    X = sparse.csr_matrix((6, 3))
    weights = learn(X, indicate(np.arange(6) % 2)[:, 1:], seed=0)
    np.testing.assert_array_equal(weights, 0)


def test_the_perceptron_stops_where_it_cannot_separate():
    X = sparse.csr_matrix(np.ones((4, 1)))
    weights = perceptron(X, indicate(np.arange(4) % 2)[:, 1:], seed=0)
    assert np.abs(weights) <= 4 * MAX_EPOCHS


def test_the_bayes_point_is_nearer_to_the_svm_than_its_perceptrons_are():
    X, indicator = make_text(2, n=200, d=400)
    normal = DualLinearSVC(C=100, random_state=0).fit(X, indicator[:, 1].toarray().ravel()).coef_[0]
    point = bayes_point(X, indicator[:, 1:], seed=0)[0]
    single = [perceptron(X, indicator[:, 1:], seed=seed)[0] for seed in range(20)]

    def cosine(w):
        return w @ normal / (np.linalg.norm(w) * np.linalg.norm(normal))

    assert cosine(point) > max(map(cosine, single))
    assert cosine(point) > 0.9


def test_exponentiated_gradient_takes_negative_values(rng):
    X = sparse.csr_matrix(rng.normal(size=(50, 8)))
    weights = exponentiated_gradient(X, indicate(np.arange(50) % 2)[:, 1:], seed=0)
    assert np.isfinite(weights).all()
    assert weights.all()


@pytest.mark.parametrize("d", [20, 300])
def test_least_squares_is_ridge_regression(d):
    X, indicator = make_text(d=d)
    targets = np.where(indicator.toarray() > 0, 1, -1)
    expected = Ridge(alpha=1.0, solver="svd").fit(X.toarray(), targets).coef_
    np.testing.assert_allclose(least_squares(X, indicator), expected, atol=2e-3)


def test_least_squares_of_one_class_is_one_row():
    X, indicator = make_text(2)
    weights = least_squares(X, indicator[:, 1:])
    assert weights.shape == (1, 60)
    np.testing.assert_allclose(weights[0], least_squares(X, indicator)[1], atol=1e-9)
