"""DualLinearSVC, the linear SVM that returns its dual solution."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from spokeshave.svm.calibration import fit_sigmoids, halve
from spokeshave.svm.one_vs_rest import CalibratedMixin
from spokeshave.svm.prior import check_prior, compute_variance
from spokeshave.svm.solver import (
    Problem,
    Solution,
    Stop,
    solve,
    take_documents,
    warn_if_stopped_early,
)
from spokeshave.utils.validation import (
    binarize,
    check_array,
    check_magnitude,
    check_targets,
    tidy,
    validate_data,
)


class DualLinearSVC(CalibratedMixin, BaseEstimator):  # type: ignore[misc]
    """Linear support vector classifier that returns its dual solution for every class.

    Solves the same one-vs-rest problem as :class:`sklearn.svm.LinearSVC` with ``dual=True``, by
    dual coordinate descent over all classes at once. The result does not depend on ``n_jobs``.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a training error, per document.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a training error.
    tol : float, default=1e-3
        Training of a class stops when ``duality_gap_ <= tol * objective_``, measured in float64
        over all documents: the objective is then within that fraction of the optimum.
    max_iter : int, default=1000
        Largest number of passes over the active documents, per class.
    class_weight : dict or "balanced", optional
        Factors of C per class, as in LinearSVC: with more than two classes, the factor applies to
        the documents of the class, not to the rest. With multilabel targets the keys are column
        numbers, and "balanced" balances each column separately.
    fit_intercept : bool or "free", default=True
        Whether to add an intercept. True regularises it like any other weight, as LIBLINEAR does;
        "free" does not, as LIBSVM and SMO. The two differ much if C is small and the classes are
        imbalanced. A free intercept takes two to three times as long.
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight is the intercept. The larger it is, the less
        the intercept is regularised.
    probability : bool or "training", default=False
        Whether to fit Platt's sigmoid for ``predict_proba``. True uses the scores of a 2-fold
        cross-validation, which costs two more fits on half the documents each. "training" uses
        the scores of the training documents: no further fits, but overconfident probabilities.
    prior : {"bns"} or array of shape (n_features,) or (n_classes, n_features), optional
        Standard deviations s of a Gaussian prior of the weights: the penalty of a weight is
        (w_j / s_j)^2 / 2 instead of w_j^2 / 2, as if feature j were multiplied by s_j; ``coef_``
        stays in the units of X. "bns" is the Bi-Normal Separation of each feature and class, with
        rates kept off 0 and 1 by one over the number of documents, and scaled so that the mean
        squared length of multiplied documents is that of X. An array is used as it is, a row for
        each row of ``coef_`` or one for all.
    prior_strength : float, default=1.0
        Exponent of s; 0 is no prior.
    warm_start : bool, default=False
        Whether to start from the dual of the previous fit, rescaled to the new C. The documents
        and classes must be the same; features, C and weights may differ.
    n_jobs : int, optional
        Number of threads; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which documents are visited.

    Attributes
    ----------
    C_ : float
        C of the last fit.
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for multilabel targets.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights; one row for two classes. ``dual_coef_ @ X``, times s^2 with a prior.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    dual_coef_ : csr_matrix of shape (n_classes, n_documents)
        y * alpha of every class and document.
    support_ : ndarray
        Documents with a nonzero alpha in any class.
    objective_ : ndarray of shape (n_classes,)
        Primal objective.
    duality_gap_ : ndarray of shape (n_classes,)
        Primal minus dual objective.
    calibration_ : ndarray of shape (2, n_classes)
        Slope and offset of each class's sigmoid; only with ``probability``.
    multilabel_ : bool
        Whether the targets were an indicator matrix.
    n_iter_ : int
        Largest number of passes over the documents of any class.
    n_features_in_ : int
        Number of features seen in fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spokeshave import DualLinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DualLinearSVC(C=0.1, random_state=0).fit(X, y)
    >>> model.dual_coef_.shape
    (3, 150)
    >>> bool((model.duality_gap_ <= model.tol * model.objective_).all())
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: dict[Any, float] | str | None = None,
        fit_intercept: bool | str = True,
        intercept_scaling: float = 1.0,
        probability: bool | str = False,
        prior: Any = None,
        prior_strength: float = 1.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.probability = probability
        self.prior = prior
        self.prior_strength = prior_strength
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train every class against the rest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents; a dense table is converted to sparse rows.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class, dense or sparse.
        sample_weight : array-like of shape (n_documents,), optional
            Nonnegative factors of C per document.

        Returns
        -------
        self : DualLinearSVC
        """
        check_svc(self)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True
        )
        check_magnitude(X)
        X, y, weight = tidy(X), check_targets(y), check_weight(sample_weight, X)
        self.classes_, indicator = binarize(y)
        self.multilabel_ = y.ndim == 2
        start = self._find_start(indicator) if self.warm_start else None
        problem = make_problem(self, X, y, indicator, weight)
        rng = check_random_state(self.random_state)
        solution = self._solve(problem, rng, start)
        self.C_ = self.C
        self.dual_coef_ = solution.dual_coef
        self.support_ = np.unique(solution.dual_coef.indices)
        self.coef_, self.intercept_ = solution.coef, solution.intercept
        self.objective_, self.duality_gap_ = solution.objective, solution.gap
        self.n_iter_ = int(solution.n_passes.max())
        warn_if_stopped_early(
            solution.relative_gap,
            Stop(self.tol, self.max_iter),
            names=self.classes_[-len(solution.gap) :],
            stacklevel=2,
        )
        self._forget_calibration()
        if self.probability:
            self._calibrate(problem, y, rng)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the signed distance of each document to each class's hyperplane, times |w|.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        scores : ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return self._shape_scores(scores)

    def _solve(
        self,
        problem: Problem,
        rng: np.random.RandomState,
        start: sparse.csr_matrix | None = None,
    ) -> Solution:
        stop = Stop(self.tol, self.max_iter)
        return solve(problem, stop, seed=rng.randint(2**31), start=start, n_jobs=self.n_jobs)

    def _find_start(self, indicator: sparse.csc_matrix) -> sparse.csr_matrix | None:
        """Return the dual of the previous fit, if there was one, rescaled to the new C."""
        if not hasattr(self, "dual_coef_"):
            return None
        if self.dual_coef_.shape != indicator.shape[::-1]:
            n_classes, n_documents = self.dual_coef_.shape
            raise ValueError(
                f"warm_start needs the {n_documents} documents and {n_classes} classes of the "
                f"previous fit. Got {indicator.shape[0]} and {indicator.shape[1]} instead; "
                "set warm_start=False to start again."
            )
        return self.dual_coef_ * (self.C / self.C_)

    def _calibrate(self, problem: Problem, y: Any, rng: np.random.RandomState) -> None:
        """Fit Platt's sigmoid on scores of 2-fold cross-validation, or on the training scores."""
        if self.probability == "training":
            scores = problem.X @ self.coef_.T + self.intercept_
        else:
            scores = np.empty(problem.indicator.shape)
            for train, test in halve(y, rng):
                part = take_documents(problem, train)
                part = part._replace(variance=_find_variance(self, *part[:3]))
                half = self._solve(part, rng)
                scores[test] = problem.X[test] @ half.coef.T + half.intercept
        self.calibration_ = fit_sigmoids(scores, problem.indicator, problem.weight)


def make_svc(
    estimator: DualLinearSVC | None, n_jobs: int | None, random_state: Any
) -> DualLinearSVC:
    """Return a clone of the SVM, or a default one."""
    if estimator is None:
        return DualLinearSVC(n_jobs=n_jobs, random_state=random_state)
    if not isinstance(estimator, DualLinearSVC):
        raise ValueError(
            f"estimator must be a DualLinearSVC. Got {type(estimator).__name__} instead."
        )
    model: DualLinearSVC = clone(estimator)
    return model


def check_svc(model: DualLinearSVC) -> None:
    """Raise a ValueError if a parameter of the SVM is invalid."""
    for name in ("C", "tol", "intercept_scaling"):
        value: Any = getattr(model, name)
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise ValueError(f"{name} must be a positive number. Got {value!r} instead.")
    for name, allowed, listed in (
        ("loss", ("hinge", "squared_hinge"), "'hinge' or 'squared_hinge'"),
        ("fit_intercept", (True, False, "free"), "True, False or 'free'"),
        ("probability", (True, False, "training"), "True, False or 'training'"),
    ):
        if (value := getattr(model, name)) not in allowed:
            raise ValueError(f"{name} must be {listed}. Got {value!r} instead.")
    max_iter: Any = model.max_iter
    if not isinstance(max_iter, Integral) or int(max_iter) < 1:
        raise ValueError(f"max_iter must be a positive integer. Got {max_iter!r} instead.")
    check_prior(model.prior, model.prior_strength)


def make_problem(
    model: DualLinearSVC,
    X: Any,
    y: Any,
    indicator: sparse.csc_matrix,
    weight: NDArray[np.float64],
) -> Problem:
    """Return the optimisation problem of a model's parameters and the data."""
    if y.ndim == 2:
        classes, sizes = np.arange(y.shape[1]), weight @ indicator
    else:
        classes, codes = np.unique(y, return_inverse=True)
        sizes = np.bincount(codes, weight)
    box, ridge, bias = compute_costs(model, classes, sizes, weight.sum(), y.ndim == 2)
    variance = _find_variance(model, X, indicator, weight)
    return Problem(X, indicator, weight, box, ridge, bias, variance)


def _find_variance(
    model: DualLinearSVC, X: Any, indicator: sparse.csc_matrix, weight: NDArray[np.float64]
) -> NDArray[np.float32] | None:
    return compute_variance(model.prior, model.prior_strength, X, indicator, weight)


def compute_costs(
    model: DualLinearSVC,
    classes: NDArray[Any],
    sizes: NDArray[np.float64],
    total: float,
    is_multilabel: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the box, ridge and bias (see ``kernels.descent``) of a model's parameters.

    ``sizes`` are the summed weights of the documents of each class, ``total`` that of all.
    """
    factors = _weigh_classes(model.class_weight, classes, sizes, total, is_multilabel)
    if not ((factors > 0) & (factors < np.inf)).all():
        raise ValueError(
            "class_weight must give every class a positive factor. "
            f"Got {model.class_weight!r} instead."
        )
    if model.loss == "hinge":
        box, ridge = model.C * factors, np.zeros_like(factors)
    else:
        box, ridge = np.full_like(factors, np.inf), 0.5 / (model.C * factors)
    bias = float(model.intercept_scaling) ** 2 if model.fit_intercept else 0.0
    return box, ridge, np.inf if model.fit_intercept == "free" else bias


def check_weight(sample_weight: ArrayLike | None, X: Any) -> NDArray[np.float64]:
    """Return the weight of each document, one by default."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.ndim != 1:
        raise ValueError(
            f"sample_weight must be one number per document. Got a {weight.ndim}D array instead."
        )
    check_consistent_length(X, weight)
    if (weight < 0).any() or not weight.any():
        raise ValueError("sample_weight must not be negative, nor zero for every document.")
    return np.asarray(weight)


def _weigh_classes(
    class_weight: dict[Any, float] | str | None,
    classes: NDArray[Any],
    sizes: NDArray[np.float64],
    total: float,
    is_multilabel: bool,
) -> NDArray[np.float64]:
    """Return the factors of C (classes x 2) for the negatives and the positives of each class."""
    if is_multilabel:
        return _weigh_columns(class_weight, sizes, total)
    if class_weight == "balanced":
        with np.errstate(divide="ignore"):  # compute_costs rejects a class without any weight
            found = total / (len(classes) * sizes)
    else:
        found = compute_class_weight(class_weight, classes=classes, y=classes)
    if len(classes) == 2:
        return np.asarray(found[None, :])
    return np.column_stack([np.ones(len(classes)), found])


def _weigh_columns(
    class_weight: dict[Any, float] | str | None, sizes: NDArray[np.float64], total: float
) -> NDArray[np.float64]:
    """Return the factors of C (columns x 2) for the negatives and positives of each column."""
    if class_weight == "balanced":
        both = np.column_stack([total - sizes, sizes])
        return np.asarray(total / (2 * np.where(both > 0, both, total / 2)))
    by_column = {} if class_weight is None else class_weight
    if not isinstance(by_column, dict) or not set(by_column) <= set(range(len(sizes))):
        raise ValueError(
            "class_weight must be 'balanced' or a dict of factors with column numbers from 0 to "
            f"{len(sizes) - 1} as keys. Got {class_weight!r} instead."
        )
    factors = np.ones((len(sizes), 2))
    factors[list(by_column), 1] = list(by_column.values())
    return factors
