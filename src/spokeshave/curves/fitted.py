"""One-vs-rest linear models fitted on documents, with the ranking that their cuts follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spokeshave.kernels.cuts import Columns, transpose
from spokeshave.kernels.descent import rebuild
from spokeshave.kernels.rows import Rows, make_rows
from spokeshave.kernels.sorting import order_nonzero
from spokeshave.ranking.criteria import Ranking, rank_by_normal, rank_features
from spokeshave.ranking.pruning import count_documents
from spokeshave.svm.estimator import DualLinearSVC, check_svc, make_problem
from spokeshave.svm.solver import (
    Problem,
    Stop,
    limit_bias,
    make_blocks,
    rank_by_frequency,
    solve,
    take_classes,
    warn_if_stopped_early,
)
from spokeshave.utils.validation import binarize

UNIT_TOLERANCE = 1e-6


class DualWeights(NamedTuple):
    """The dual solution of some classes: y times alpha (classes x documents), and intercepts.

    The weights follow from it and the documents. It is sparse, so a fitted model is kept in this
    form while other folds are trained.
    """

    beta: sparse.csr_matrix
    intercept: NDArray[np.float64]


@dataclass(frozen=True)
class Dual:
    """The dual solution of a `DualLinearSVC`, the problem it solves, and when descent stops."""

    beta: sparse.csr_matrix
    problem: Problem
    stop: Stop


@dataclass(frozen=True)
class FittedClasses:
    """A fitted one-vs-rest model and its training documents; a row or an entry per class.

    ``ranking`` is None if features are ranked by the weights of the model, which are not copied.
    """

    X: sparse.csr_matrix
    indicator: sparse.csc_matrix
    classes: NDArray[Any]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    ranking: Ranking | None
    dual: Dual | None

    def list_features(self, k: int) -> NDArray[np.uint32]:
        """Return the features of class k with a nonzero score, best first."""
        if self.ranking is None:
            return order_nonzero(np.abs(self.coef[k]))
        return self.ranking.list_ranked(min(k, len(self.ranking.scores) - 1))

    @property
    def dual_weights(self) -> DualWeights | None:
        """The dual solution alone; None for a model without one."""
        return None if self.dual is None else DualWeights(self.dual.beta, self.intercept)

    @cached_property
    def rows(self) -> Rows:
        """The documents in the layout of the kernels, with the weights they were trained with."""
        weight = np.ones(self.X.shape[0]) if self.dual is None else self.dual.problem.weight
        return make_rows(self.X.indptr, self.X.indices, self.X.data, weight)

    @cached_property
    def number(self) -> NDArray[np.uint32]:
        """New feature numbers by descending frequency: frequent weights share cache lines."""
        return rank_by_frequency(self.X)

    @cached_property
    def numbered(self) -> NDArray[np.intp]:
        """The feature of each new number."""
        features = np.empty(self.number.size, np.intp)
        features[self.number] = np.arange(features.size)
        return features

    @cached_property
    def renumbered(self) -> Rows:
        """The documents with the new feature numbers."""
        return self.rows._replace(indices=self.number[self.X.indices])

    @cached_property
    def columns(self) -> Columns:
        """The documents of each feature, with the new feature numbers."""
        return transpose(self.renumbered, self.number.size)

    @cached_property
    def frequency(self) -> NDArray[np.intp]:
        """The document frequency of each feature."""
        return count_documents(self.X)

    @cached_property
    def has_unit_rows(self) -> bool:
        """Whether every document with a nonzero feature has Euclidean length one."""
        return has_unit_length(self.rows.squared_length)


def has_unit_length(squared_length: NDArray[np.float64]) -> bool:
    """Return whether every document that is not empty has Euclidean length one.

    Examples
    --------
    >>> has_unit_length(np.array([1.0, 0.0])), has_unit_length(np.array([1.0, 2.0]))
    (True, False)
    """
    nonzero = squared_length[squared_length > 0]
    return bool((np.abs(nonzero - 1) < UNIT_TOLERANCE).all())


def train(
    X: sparse.csr_matrix,
    y: Any,
    estimator: Any,
    by: str,
    aggregate: str | None,
    n_jobs: int | None,
    random_state: Any,
    blocks: Sequence[int] | None = None,
    solved: DualWeights | None = None,
    weight: NDArray[np.float64] | None = None,
) -> FittedClasses:
    """Return a fitted model and the ranking that its cuts follow.

    A fitted ``estimator`` is used as it is. With ``blocks``, only the classes of those blocks of
    the solver are trained; their weights equal those of a model of all classes. With ``solved``,
    the weights are computed from that dual solution and nothing is trained. ``weight`` has positive
    factors of C, one per document; only a `DualLinearSVC` takes them.
    """
    model = DualLinearSVC(random_state=random_state) if estimator is None else estimator
    classes, indicator = binarize(y)
    names = classes[-indicator.shape[1] :]
    if isinstance(model, DualLinearSVC) and (solved is not None or not is_fitted(model)):
        fitted = _train_dual(X, y, model, indicator, names, n_jobs, blocks, solved, weight)
    else:
        assert blocks is None
        fitted = _read_model(X, y, model, indicator, classes, names, weight)
    ranking = None
    if by != "normal":
        ranking = rank_features(X, y, by, random_state=random_state, n_jobs=n_jobs)
        inside = np.isin(names, fitted.classes)
        ranking = Ranking(ranking.scores[inside], names[inside], by)
    if aggregate is not None:
        assert blocks is None  # a ranking shared by all classes needs all of them
        ranking = (ranking or rank_by_normal(fitted.coef, names)).aggregate(aggregate)
    return replace(fitted, ranking=ranking)


def _train_dual(
    X: sparse.csr_matrix,
    y: Any,
    model: DualLinearSVC,
    indicator: sparse.csc_matrix,
    names: NDArray[Any],
    n_jobs: int | None,
    blocks: Sequence[int] | None,
    solved: DualWeights | None,
    weight: NDArray[np.float64] | None,
) -> FittedClasses:
    """Train a `DualLinearSVC`, without its calibration, or rebuild it from a dual solution."""
    model = clone(model)
    check_svc(model)
    chosen = np.arange(names.size)
    if blocks is not None:
        dealt = make_blocks(indicator)
        chosen = np.sort(np.concatenate([dealt[number] for number in blocks]))
    problem, stop = (
        make_problem(model, X, y, indicator, _fill_weight(weight, X)),
        Stop(model.tol, model.max_iter),
    )
    if solved is None:
        seed = check_random_state(model.random_state).randint(2**31)  # as in DualLinearSVC.fit
        threads = n_jobs if model.n_jobs is None else model.n_jobs
        found = solve(problem, stop, seed=seed, n_jobs=threads, blocks=blocks)
        warn_if_stopped_early(found.relative_gap, stop, stacklevel=5)
        coef, solved = found.coef, DualWeights(found.dual_coef, found.intercept)
    else:
        coef = _rebuild_weights(take_classes(problem, chosen), solved.beta)
    inside, dual = indicator[:, chosen], Dual(solved.beta, take_classes(problem, chosen), stop)
    return FittedClasses(X, inside, names[chosen], coef, solved.intercept, None, dual)


def _rebuild_weights(problem: Problem, beta: sparse.csr_matrix) -> NDArray[np.float64]:
    """Return the weights (classes x features) of a dual solution."""
    X, bias = problem.X, limit_bias(problem.bias)
    rows = make_rows(X.indptr, X.indices, X.data, np.ones(X.shape[0]))
    coef = np.empty((beta.shape[0], X.shape[1]))
    for k, weights in enumerate(coef):
        with_prior = rows._replace(variance=problem.take_variance(k))
        rebuild(with_prior, bias, beta[[k]].toarray().ravel(), weights)
    return coef


def _read_model(
    X: sparse.csr_matrix,
    y: Any,
    model: Any,
    indicator: sparse.csc_matrix,
    classes: NDArray[Any],
    names: NDArray[Any],
    weight: NDArray[np.float64] | None,
) -> FittedClasses:
    """Fit any linear model unless it is fitted, and read its weights."""
    if not is_fitted(model):
        assert weight is None
        model = clone(model).fit(X, y)
    coef, intercept = read_weights(model, classes, names.size, X.shape[1])
    is_dual = isinstance(model, DualLinearSVC)
    dual = _read_dual(model, X, y, indicator, weight) if is_dual else None
    return FittedClasses(X, indicator, names, coef, intercept, None, dual)


def is_fitted(model: Any) -> bool:
    """Return whether a model is fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def read_weights(
    model: Any, classes: NDArray[Any], n_rows: int, n_features: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights and intercepts of a fitted linear model, checked for their shape."""
    if not hasattr(model, "coef_"):
        raise ValueError(
            f"estimator must be a linear model with coef_. Got {type(model).__name__}, "
            "which has none when fitted."
        )
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)
    coef = np.ascontiguousarray(np.atleast_2d(coef), np.float64)
    if coef.shape != (n_rows, n_features):
        raise ValueError(
            f"estimator must have weights for {n_rows} classes and {n_features} features, one row "
            f"against the rest each. Got coef_ of shape {coef.shape} instead."
        )
    if not np.array_equal(getattr(model, "classes_", classes), classes):
        raise ValueError(
            f"estimator must be fitted on the classes of y. Got {model.classes_!r} instead."
        )
    intercept = np.broadcast_to(np.asarray(model.intercept_, np.float64), n_rows)
    return coef, intercept


def _fill_weight(weight: NDArray[np.float64] | None, X: Any) -> NDArray[np.float64]:
    """Return the weights of documents, one each by default."""
    return np.ones(X.shape[0]) if weight is None else weight


def _read_dual(
    model: DualLinearSVC,
    X: Any,
    y: Any,
    indicator: sparse.csc_matrix,
    weight: NDArray[np.float64] | None,
) -> Dual:
    if model.dual_coef_.shape[1] != X.shape[0]:
        raise ValueError(
            f"estimator must be fitted on X and y. It was fitted on {model.dual_coef_.shape[1]} "
            f"documents and X has {X.shape[0]}."
        )
    problem = make_problem(model, X, y, indicator, _fill_weight(weight, X))
    return Dual(model.dual_coef_, problem, Stop(model.tol, model.max_iter))
