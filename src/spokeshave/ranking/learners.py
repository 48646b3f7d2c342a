"""Linear learners, besides the SVM, whose weights rank features.

Each function takes documents as CSR rows and an indicator of the classes (documents x classes), and
returns weights (classes x features). Features are ranked by absolute weight. Each class visits the
documents in the same order, so its weights depend neither on other classes nor on ``n_jobs``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import Ridge

from spokeshave.kernels.online import (
    learn_bayes_point,
    learn_exponentiated_gradient,
    learn_perceptron,
    learn_widrow_hoff,
    learn_winnow,
)
from spokeshave.kernels.rows import Rows, make_rows
from spokeshave.kernels.sorting import seeded

MAX_EPOCHS = 5  # of mistake-driven learners; later passes only fit mislabelled documents
N_ORDERS = 20  # number of perceptrons averaged for the Bayes point
WINNOW_RATE = 1.1  # factor of a weight update


def perceptron(
    X: sparse.csr_matrix, indicator: sparse.csc_matrix, *, seed: int, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the weights of Rosenblatt's perceptron after a few epochs, or at convergence."""
    rows = _make_rows(X)
    bias = _squared_radius(rows)

    def learn(y: NDArray[np.int8], w: NDArray[np.float64]) -> None:
        learn_perceptron(rows, y, bias, w, MAX_EPOCHS, seeded(seed))

    return _learn_classes(learn, X, indicator, n_jobs)


def bayes_point(
    X: sparse.csr_matrix, indicator: sparse.csc_matrix, *, seed: int, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the weights of the Bayes point machine of Herbrich, Graepel and Campbell (2001).

    The centre of the version space is approximated as in Herbrich and Graepel (2000), by the mean
    of unit-length perceptrons, each trained on the documents in a different order.
    """
    rows = _make_rows(X)
    bias = _squared_radius(rows)

    def learn(y: NDArray[np.int8], w: NDArray[np.float64]) -> None:
        learn_bayes_point(rows, y, bias, w, N_ORDERS, MAX_EPOCHS, seed)

    return _learn_classes(learn, X, indicator, n_jobs)


def winnow(
    X: sparse.csr_matrix, indicator: sparse.csc_matrix, *, seed: int, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the differences of Balanced Winnow's two weights; X must not be negative.

    Both weights start at one over the mean sum of a document's values, so that either of them
    alone would score the average document exactly at the threshold.
    """
    rows = _make_rows(X)
    start = X.shape[0] / (X.data.sum(dtype=np.float64) or 1.0)

    def learn(y: NDArray[np.int8], w: NDArray[np.float64]) -> None:
        learn_winnow(rows, y, start, WINNOW_RATE, w, MAX_EPOCHS, seed)

    return _learn_classes(learn, X, indicator, n_jobs)


def widrow_hoff(
    X: sparse.csr_matrix, indicator: sparse.csc_matrix, *, seed: int, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the averaged weights of Widrow-Hoff, with the step size of Lewis et al. (1996)."""
    rows = _make_rows(X)
    rate = 1 / (4 * _squared_radius(rows))

    def learn(y: NDArray[np.int8], w: NDArray[np.float64]) -> None:
        learn_widrow_hoff(rows, y, rate, w, seed)

    return _learn_classes(learn, X, indicator, n_jobs)


def exponentiated_gradient(
    X: sparse.csr_matrix, indicator: sparse.csc_matrix, *, seed: int, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the averaged weights of EG minus the weight of a feature that is never updated.

    The step size is that of Lewis et al. (1996), 2/(3R^2), with values scaled to a range R of one:
    weights that sum to one cannot reach a target of one with smaller values.
    """
    value_range = max(X.data.max(initial=0), 0) - min(X.data.min(initial=0), 0)
    rows = _make_rows(X, factor=1 / (float(value_range) or 1.0))

    def learn(y: NDArray[np.int8], w: NDArray[np.float64]) -> None:
        average = np.empty(w.size + 1)
        learn_exponentiated_gradient(rows, y, 2 / 3, average, seed)
        w[:] = average[:-1] - average[-1]

    return _learn_classes(learn, X, indicator, n_jobs)


def least_squares(X: sparse.csr_matrix, indicator: sparse.csc_matrix) -> NDArray[np.float64]:
    """Return the weights of the linear least squares fit of Yang and Chute (1992).

    The targets are 1 and -1. With more features than documents the plain fit has no unique
    solution, so this is scikit-learn's Ridge with the default alpha of one.
    """
    targets = 2.0 * indicator.toarray() - 1
    return np.atleast_2d(np.asarray(Ridge(solver="lsqr").fit(X, targets).coef_, np.float64))


def _make_rows(X: sparse.csr_matrix, factor: float = 1.0) -> Rows:
    """Return the documents as rows for the kernels, multiplied by a factor."""
    rows = make_rows(X.indptr, X.indices, X.data, np.ones(X.shape[0]))
    return rows._replace(scale=rows.scale * factor, squared_length=rows.squared_length * factor**2)


def _squared_radius(rows: Rows) -> float:
    """Return the squared length of the longest document, or one if all are empty."""
    return float(rows.squared_length.max()) or 1.0


def _learn_classes(
    learn: Callable[[NDArray[np.int8], NDArray[np.float64]], Any],
    X: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Run ``learn``, which writes the weights of one class, for every class."""
    weights = np.zeros((indicator.shape[1], X.shape[1]))
    Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
        delayed(learn)(_signs(indicator, k), w) for k, w in enumerate(weights)
    )
    return weights


def _signs(indicator: sparse.csc_matrix, k: int) -> NDArray[np.int8]:
    return np.asarray(2 * indicator[:, [k]].toarray().ravel() - 1, np.int8)
