"""Fast fits of one class against the rest, without the overhead of an estimator.

A learning curve takes millions of fits, most of them on a few hundred documents. Validating input,
creating objects and starting threads would take ten times as long as the descent itself. The
results are those of `DualLinearSVC`, to rounding.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite, check_random_state

from spokeshave.kernels.descent import Task
from spokeshave.kernels.rows import Rows, make_full_rows, make_rows, set_prior
from spokeshave.svm.calibration import fit_sigmoid, halve, sigmoid
from spokeshave.svm.estimator import DualLinearSVC, compute_costs
from spokeshave.svm.prior import compute_variance
from spokeshave.svm.solver import Stop, rank_by_frequency, solve_class, warn_if_stopped_early
from spokeshave.utils.sparse_format import check_format
from spokeshave.utils.validation import check_magnitude, tidy

FULL_SHARE = 0.3  # of nonzeros in a dense table: above it, sparse rows are slower

Documents = Any  # a dense table or sparse rows
Scores = NDArray[np.float64]


class Prepared(NamedTuple):
    """Documents and their rows for the kernels, in which feature j has the number ``rank[j]``."""

    X: Documents
    rows: Rows
    rank: NDArray[np.uint32]


class Path(NamedTuple):
    """Weights (values of C x features), intercepts and relative duality gaps."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]

    def score(self, X: Documents) -> Scores:
        """Return the scores of documents (values of C x documents)."""
        return np.ascontiguousarray((X @ self.coef.T + self.intercept).T)


def is_plain(model: Any) -> bool:
    """Return whether a model is a `DualLinearSVC` and not of a subclass."""
    return type(model) is DualLinearSVC


def check_rows(X: Any) -> Documents:
    """Return documents as finite floats: a dense table if it is full enough, else sparse rows."""
    X = tidy(check_format(X)) if sparse.issparse(X) else np.asarray(X)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    assert_all_finite(X, input_name="X")
    check_magnitude(X)
    is_thin = not sparse.issparse(X) and np.count_nonzero(X) < FULL_SHARE * X.size
    return tidy(X) if is_thin else X


def prepare(X: Documents) -> Prepared:
    """Return documents with their rows for the kernels."""
    weight = np.ones(X.shape[0])
    if not sparse.issparse(X):
        return Prepared(X, make_full_rows(X, weight), np.arange(X.shape[1], dtype=np.uint32))
    rank = rank_by_frequency(X)
    return Prepared(X, make_rows(X.indptr, rank[X.indices], X.data, weight), rank)


def solve_path(
    documents: Prepared,
    target: NDArray[Any],
    model: DualLinearSVC,
    Cs: tuple[float, ...],
    seed: int,
) -> Path:
    """Solve for each C, ascending; each fit starts from the rescaled dual of the previous one.

    ``target`` is 1 for the documents of the class and 0 for the others.
    """
    rows, rank, y = documents.rows, documents.rank, (2 * target - 1).astype(np.int8)
    rows = set_prior(rows, _find_variance(documents, target, model))
    path = Path(np.empty((len(Cs), rank.size)), *np.empty((2, len(Cs))))
    sizes = np.array([(y < 0).sum(), (y > 0).sum()], float)
    box, ridge, bias = compute_costs(model, np.arange(2), sizes, float(y.size), is_multilabel=False)
    beta, margins, w, b = np.zeros(y.size), np.zeros(y.size), np.zeros(rank.size), 0.0
    for c, C in enumerate(Cs):
        cost, stretch = C / model.C, C / Cs[max(c - 1, 0)]
        for part in (beta, w):
            part *= stretch
        margins -= b
        margins *= stretch
        b = b * stretch if isfinite(bias) else b  # a free intercept does not grow with C
        margins += b
        task = Task(y, box[0] * cost, ridge[0] / cost)
        stop = Stop(model.tol, model.max_iter)
        b, _, objective, gap = solve_class(rows, task, bias, beta, w, b, margins, stop, seed)
        path.coef[c], path.intercept[c], path.gap[c] = w[rank], b, gap / objective if gap else 0.0
    return path


def _find_variance(
    documents: Prepared, target: NDArray[Any], model: DualLinearSVC
) -> NDArray[np.float32] | None:
    """Return the prior variances of the weights, in the order of the kernels."""
    if model.prior is None:
        return None
    X, indicator = sparse.csr_matrix(documents.X), sparse.csc_matrix(target[:, None])
    found = compute_variance(model.prior, model.prior_strength, X, indicator, np.ones(target.size))
    return None if found is None else found[0, np.argsort(documents.rank)]


def train_and_score(
    model: DualLinearSVC, documents: Prepared, target: NDArray[np.intp], X_test: Documents
) -> Scores:
    """Return a row of scores of test documents; a document is of the class if it is above 0.

    With ``probability`` the scores are probabilities minus a half. Warns if the model ran out of
    passes; the fits for tuning C and for Platt's sigmoid do not warn, as in `DualLinearSVC`.
    """
    rng, C, X = check_random_state(model.random_state), (float(model.C),), documents.X
    path = solve_path(documents, target, model, C, rng.randint(2**31))
    warn_if_stopped_early(path.gap[0], Stop(model.tol, model.max_iter), stacklevel=2)
    scores = path.score(X_test)
    if not model.probability:
        return scores
    if model.probability == "training":
        known = path.score(X)[0]
    else:
        known = np.empty(target.size)
        for train, test in halve(target, rng):
            half = solve_path(prepare(X[train]), target[train], model, C, rng.randint(2**31))
            known[test] = half.score(X[test])[0]
    slope, offset = fit_sigmoid(known, target > 0, np.ones(target.size))
    return sigmoid(scores, slope, offset) - 0.5
