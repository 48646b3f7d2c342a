"""Tests of the transforms that the paper names without describing them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.feature_selection import mutual_info_classif
from sklearn.isotonic import IsotonicRegression

from papers.forman2009.transforms import (
    MEASURES,
    IsotonicShaper,
    ThresholdScaler,
    measure_gain,
    measure_hellinger,
)


@pytest.fixture
def table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rounded numbers, of which the first two columns rise and fall with the class."""
    y = rng.integers(0, 2, 80)
    X = rng.normal(size=(80, 3))
    X[:, 0] += y
    X[:, 1] -= y
    return X.round(1), y


def test_isotonic_regression_is_that_of_scikit_learn(table) -> None:
    X, y = table
    found = IsotonicShaper().fit_transform(X, y)
    for j, increasing in ((0, True), (1, False)):
        peer = IsotonicRegression(increasing=increasing).fit_transform(X[:, j], y)
        np.testing.assert_allclose(found[:, j], peer)
        assert spearmanr(found[:, j], X[:, j]).statistic * (1 if increasing else -1) > 0


def test_column_is_scaled_to_the_best_of_all_thresholds(table) -> None:
    X, y = table
    found = ThresholdScaler("information gain").fit_transform(X, y)
    for j in range(3):
        thresholds = np.unique(X[:, j])[1:]
        splits = X[:, [j]] >= thresholds
        nats = mutual_info_classif(splits, y, discrete_features=True)
        assert found[:, j].min() == 0
        assert found[:, j].max() == pytest.approx(nats.max() / np.log(2))
        assert np.corrcoef(found[:, j], X[:, j])[0, 1] == pytest.approx(1)


def test_measures_of_a_perfect_and_of_a_useless_threshold() -> None:
    perfect, useless = (np.array([1.0]), np.array([0.0])), (np.array([0.3]), np.array([0.3]))
    assert measure_hellinger(*perfect, 0.2)[0] == pytest.approx(np.sqrt(2))
    assert measure_gain(*perfect, 0.5)[0] == pytest.approx(1)
    for measure in MEASURES.values():
        assert measure(*useless, 0.2)[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("transformer", [IsotonicShaper(), *map(ThresholdScaler, MEASURES)])
def test_sparse_columns_are_mapped_as_dense_ones_and_keep_their_zeros(transformer, table) -> None:
    X, y = table
    X = X * (X > 0.5)
    X[:, 2] = 0
    dense = transformer.fit(X, y).transform(X)
    found = transformer.fit(sparse.csr_matrix(X), y).transform(sparse.csr_matrix(X)).toarray()
    assert (found[X == 0] == 0).all()
    # A dense column keeps the image of zero, which is subtracted from a sparse one.
    at_zero = transformer.fit(X, y).transform(np.zeros((1, 3)))
    np.testing.assert_allclose(found, dense - at_zero, atol=1e-12)


def test_sparse_column_without_a_zero(table) -> None:
    X, y = table
    X = np.abs(X[:, :1]) + 1
    for transformer in (IsotonicShaper(), ThresholdScaler()):
        dense, found = (transformer.fit(of, y).transform(of) for of in (X, sparse.csr_matrix(X)))
        at_zero = transformer.transform(np.zeros((1, 1)))
        np.testing.assert_allclose(found.toarray(), dense - at_zero)


def test_constant_column_becomes_constant(table) -> None:
    _, y = table
    for transformer in (IsotonicShaper(), ThresholdScaler()):
        assert np.ptp(transformer.fit_transform(np.ones((80, 1)), y)) == 0
