"""One class against the rest, solved many times over without the ceremony of an estimator.

A learning curve takes millions of fits, most of them of a few hundred documents: checking input,
making objects and sharing out threads would take ten times as long as the descent itself. What is
found here is what `DualLinearSVC` finds, to rounding.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite, check_random_state

from spokeshave.kernels.descent import Task
from spokeshave.kernels.rows import Rows, make_full_rows, make_rows
from spokeshave.svm.calibration import fit_sigmoid, halve, sigmoid
from spokeshave.svm.estimator import DualLinearSVC, price_errors
from spokeshave.svm.solver import Stop, rank_by_frequency, settle, warn_if_stopped_early
from spokeshave.utils.validation import tidy

FULL_SHARE = 0.3  # of a dense table: from there on passing over its zeros is faster than skipping

Documents = Any  # a dense table or sparse rows
Scores = NDArray[np.float64]


class Laid(NamedTuple):
    """Documents, and the same as the kernels read them, feature j under the number ``rank[j]``."""

    X: Documents
    rows: Rows
    rank: NDArray[np.uint32]


class Path(NamedTuple):
    """Weights (costs x features), intercepts and relative gaps, a row for each cost of errors."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]

    def score(self, X: Documents) -> Scores:
        """Return the scores of documents (costs x documents)."""
        return np.ascontiguousarray((X @ self.coef.T + self.intercept).T)


def is_plain(model: Any) -> bool:
    """Say whether a model is a `DualLinearSVC` and nothing made from one."""
    return type(model) is DualLinearSVC


def check_rows(X: Any) -> Documents:
    """Return documents as finite floats, a table where most of it is not zero, else sparse rows."""
    X = tidy(X) if sparse.issparse(X) else np.asarray(X)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    assert_all_finite(X, input_name="X")
    is_thin = not sparse.issparse(X) and np.count_nonzero(X) < FULL_SHARE * X.size
    return tidy(X) if is_thin else X


def lay_out(X: Documents) -> Laid:
    """Return documents ready to be solved."""
    weight = np.ones(X.shape[0])
    if not sparse.issparse(X):
        return Laid(X, make_full_rows(X, weight), np.arange(X.shape[1], dtype=np.uint32))
    rank = rank_by_frequency(X)
    return Laid(X, make_rows(X.indptr, rank[X.indices], X.data, weight), rank)


def solve_path(
    laid: Laid, target: NDArray[Any], model: DualLinearSVC, Cs: tuple[float, ...], seed: int
) -> Path:
    """Solve for each C, ascending, starting from the dual of the one before, stretched.

    ``target`` is 1 for the documents of the class and else 0.
    """
    rows, rank, y = laid.rows, laid.rank, (2 * target - 1).astype(np.int8)
    path = Path(np.empty((len(Cs), rank.size)), *np.empty((2, len(Cs))))
    sizes = np.array([(y < 0).sum(), (y > 0).sum()], float)
    box, ridge, bias = price_errors(model, np.arange(2), sizes, float(y.size), is_multilabel=False)
    beta, margins, w, b = np.zeros(y.size), np.zeros(y.size), np.zeros(rank.size), 0.0
    for c, C in enumerate(Cs):
        cost, stretch = C / model.C, C / Cs[max(c - 1, 0)]
        for part in (beta, w):
            part *= stretch
        margins -= b
        margins *= stretch
        b = b * stretch if isfinite(bias) else b  # a free one does not grow with C
        margins += b
        task = Task(y, box[0] * cost, ridge[0] / cost)
        stop = Stop(model.tol, model.max_iter)
        b, _, objective, gap = settle(rows, task, bias, beta, w, b, margins, stop, seed)
        path.coef[c], path.intercept[c], path.gap[c] = w[rank], b, gap / objective
    return path


def train_and_score(
    model: DualLinearSVC, laid: Laid, target: NDArray[np.intp], X_test: Documents
) -> Scores:
    """Return a row of scores of test documents, above 0 for what is taken for the class.

    With ``probability`` they are probabilities less a half. A model that ran out of passes is told
    of; those that C was chosen by and those of Platt's halves are not, as in `DualLinearSVC`.
    """
    rng, C, X = check_random_state(model.random_state), (float(model.C),), laid.X
    path = solve_path(laid, target, model, C, rng.randint(2**31))
    warn_if_stopped_early(path.gap[0], Stop(model.tol, model.max_iter), stacklevel=2)
    scores = path.score(X_test)
    if not model.probability:
        return scores
    if model.probability == "training":
        known = path.score(X)[0]
    else:
        known = np.empty(target.size)
        for train, test in halve(target, rng):
            half = solve_path(lay_out(X[train]), target[train], model, C, rng.randint(2**31))
            known[test] = half.score(X[test])[0]
    slope, offset = fit_sigmoid(known, target > 0, np.ones(target.size))
    return sigmoid(scores, slope, offset) - 0.5
