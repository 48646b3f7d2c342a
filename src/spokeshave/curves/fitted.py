"""What every cut starts from: documents, the model trained on them, and a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spokeshave.curves.retraining import warn_if_stopped_early
from spokeshave.kernels.ranking import order_nonzero
from spokeshave.kernels.rows import Rows, make_rows
from spokeshave.ranking.criteria import Ranking, rank_by_normal, rank_features
from spokeshave.ranking.pruning import count_documents
from spokeshave.svm.estimator import DualLinearSVC, make_problem
from spokeshave.svm.solver import Problem, Stop, make_blocks, rank_by_frequency, solve, take_classes
from spokeshave.utils.validation import binarize

UNIT_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Dual:
    """What only a `DualLinearSVC` has: y times alpha, the problem it solved, and when it stops."""

    beta: sparse.csr_matrix
    problem: Problem
    stop: Stop


@dataclass(frozen=True)
class Trained:
    """A one-vs-rest model and what it was trained on, a row or an entry per class.

    ``ranking`` is None where features are ranked by the model's own weights: those of all classes
    are not copied.
    """

    X: sparse.csr_matrix
    indicator: sparse.csc_matrix
    classes: NDArray[Any]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    ranking: Ranking | None
    dual: Dual | None

    def list_features(self, k: int) -> NDArray[np.uint32]:
        """Return the features of class k that have a nonzero score, the best first."""
        if self.ranking is None:
            return order_nonzero(np.abs(self.coef[k]))
        return self.ranking.list_ranked(min(k, len(self.ranking.scores) - 1))

    @cached_property
    def rows(self) -> Rows:
        """The documents as kernels read them."""
        return make_rows(self.X.indptr, self.X.indices, self.X.data, np.ones(self.X.shape[0]))

    @cached_property
    def number(self) -> NDArray[np.uint32]:
        """A new number for each feature, frequent ones first: their weights share the cache."""
        return rank_by_frequency(self.X)

    @cached_property
    def renumbered(self) -> Rows:
        """The documents with the new numbers."""
        return self.rows._replace(indices=self.number[self.X.indices])

    @cached_property
    def frequency(self) -> NDArray[np.intp]:
        """The number of documents that each feature is in."""
        return count_documents(self.X)

    @cached_property
    def has_unit_rows(self) -> bool:
        """Whether every document that is not empty has Euclidean length one."""
        squares = self.rows.squared_length
        return bool((np.abs(squares[squares > 0] - 1) < UNIT_TOLERANCE).all())


def train(
    X: sparse.csr_matrix,
    y: Any,
    estimator: Any,
    by: str,
    aggregate: str | None,
    n_jobs: int | None,
    random_state: Any,
    blocks: Sequence[int] | None = None,
) -> Trained:
    """Return the model, fitted unless it is, and the ranking that the cuts follow.

    Of some of the solver's ``blocks`` only, for those of the classes, which have rankings of their
    own then.
    """
    default = DualLinearSVC(n_jobs=n_jobs, random_state=random_state)
    model = default if estimator is None else estimator
    if blocks is not None:
        assert aggregate is None
        return _train_blocks(X, y, model, by, n_jobs, random_state, blocks)
    if not is_fitted(model):
        model = clone(model).fit(X, y)
    classes, indicator = binarize(y)
    names = classes[-indicator.shape[1] :]
    coef, intercept = read_weights(model, classes, names.size, X.shape[1])
    ranking = None
    if by != "normal":
        ranking = rank_features(X, y, by, random_state=random_state, n_jobs=n_jobs)
    if aggregate is not None:
        ranking = (ranking or rank_by_normal(coef, names)).aggregate(aggregate)
    dual = _read_dual(model, X, y, indicator) if isinstance(model, DualLinearSVC) else None
    return Trained(X, indicator, names, coef, intercept, ranking, dual)


def _train_blocks(
    X: sparse.csr_matrix,
    y: Any,
    svc: DualLinearSVC,
    by: str,
    n_jobs: int | None,
    random_state: Any,
    blocks: Sequence[int],
) -> Trained:
    classes, indicator = binarize(y)
    dealt, names = make_blocks(indicator), classes[-indicator.shape[1] :]
    chosen = np.sort(np.concatenate([dealt[number] for number in blocks]))
    problem, stop = (
        make_problem(svc, X, y, indicator, np.ones(X.shape[0])),
        Stop(svc.tol, svc.max_iter),
    )
    seed = check_random_state(svc.random_state).randint(2**31)  # as the estimator draws it
    solution = solve(problem, stop, seed=seed, n_jobs=n_jobs, blocks=blocks)
    warn_if_stopped_early((solution.gap / solution.objective).max(), stop, stacklevel=3)
    ranking = None
    if by != "normal":
        ranking = rank_features(X, y, by, random_state=random_state, n_jobs=n_jobs)
        ranking = Ranking(ranking.scores[chosen], names[chosen], by)
    dual = Dual(solution.dual_coef, take_classes(problem, chosen), stop)
    inside = indicator[:, chosen]
    return Trained(X, inside, names[chosen], solution.coef, solution.intercept, ranking, dual)


def is_fitted(model: Any) -> bool:
    """Return whether a model has been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def read_weights(
    model: Any, classes: NDArray[Any], n_rows: int, n_features: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights and intercepts of a fitted linear model, or raise where it has others."""
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


def _read_dual(model: DualLinearSVC, X: Any, y: Any, indicator: sparse.csc_matrix) -> Dual:
    if model.dual_coef_.shape[1] != X.shape[0]:
        raise ValueError(
            f"estimator must be fitted on X and y. It was fitted on {model.dual_coef_.shape[1]} "
            f"documents and X has {X.shape[0]}."
        )
    problem = make_problem(model, X, y, indicator, np.ones(X.shape[0]))
    return Dual(model.dual_coef_, problem, Stop(model.tol, model.max_iter))
