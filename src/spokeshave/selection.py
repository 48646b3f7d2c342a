"""Estimators that choose how many features to keep, on training data only."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spokeshave.curve import Choice, FeatureCurve
from spokeshave.cuts import PAPER_FRACTIONS, count_kept
from spokeshave.cutting import find_cut, weigh_class
from spokeshave.documents import tidy
from spokeshave.evaluation import MEASURES
from spokeshave.one_vs_rest import OneVsRestMixin
from spokeshave.path import warn_if_stopped_early
from spokeshave.ranking import rank_features
from spokeshave.solver import Stop
from spokeshave.svm import DualLinearSVC
from spokeshave.targets import binarize, check_targets
from spokeshave.tracing import decide_unit, feature_curve
from spokeshave.trained import train


class NormalSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features that rank highest over all classes.

    By default features are ranked by the largest absolute weight that a linear SVM gives them in
    any class, and as few are kept as are as good as the best cut, judged by cross-validation of
    that SVM with the weights of the others dropped.

    Parameters
    ----------
    estimator : DualLinearSVC, optional
        The SVM; it is cloned.
    n_features : "auto", int or float, default="auto"
        A number of features, a share of those with a nonzero score, or what the curve says.
    nonzeros_per_document : float, optional
        Keep as many features as leave the training documents no more than so many nonzeros on
        average, instead of ``n_features``.
    by : str, default="normal"
        The criterion, as in `rank_features`.
    aggregate : {"max", "mean"}, default="max"
        What becomes of the scores of a feature for each class.
    measure : str, default="best_f1"
        What "auto" looks at, averaged over classes: see `FeatureCurve`.
    tolerance : float, optional
        How much less than the best will do; one standard error over the folds by default.
    cuts : sequence or "log", default=PAPER_FRACTIONS
        The cuts "auto" chooses from, as in `feature_curve`.
    cv : int, splitter or iterable, default=5
        The folds of "auto", as in scikit-learn.
    n_jobs : int, optional
        Threads; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the SVM.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The score of each feature over all classes.
    support_ : ndarray of shape (n_features_in_,)
        Whether each feature is kept.
    n_features_ : int
        How many are.
    curve_ : FeatureCurve
        Quality against features; only for "auto".
    choice_ : Choice
        The cut that was chosen; only for "auto".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from spokeshave import NormalSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> NormalSelector(n_features=20, random_state=0).fit_transform(normalize(X), y).shape
    (1797, 20)
    """

    def __init__(
        self,
        estimator: DualLinearSVC | None = None,
        *,
        n_features: str | int | float = "auto",
        nonzeros_per_document: float | None = None,
        by: str = "normal",
        aggregate: str = "max",
        measure: str = "best_f1",
        tolerance: float | None = None,
        cuts: Any = PAPER_FRACTIONS,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features = n_features
        self.nonzeros_per_document = nonzeros_per_document
        self.by = by
        self.aggregate = aggregate
        self.measure = measure
        self.tolerance = tolerance
        self.cuts = cuts
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features and choose how many to keep.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Targets.

        Returns
        -------
        self : NormalSelector
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True
        )
        if self.aggregate not in ("max", "mean"):
            raise ValueError(f"aggregate must be 'max' or 'mean'. Got {self.aggregate!r} instead.")
        X, y = tidy(X), check_targets(y)
        svc = _make_svc(self.estimator, self.n_jobs, self.random_state)
        ranking = rank_features(
            X,
            y,
            self.by,
            estimator=svc if self.by == "normal" else None,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).aggregate(self.aggregate)
        order = ranking.list_ranked(0)
        self.scores_ = ranking.scores[0]
        self.n_features_ = self._count(X, y, svc, order)
        self.support_ = np.zeros(X.shape[1], bool)
        self.support_[order[: self.n_features_]] = True
        return self

    def _count(self, X: Any, y: Any, svc: DualLinearSVC, order: NDArray[np.uint32]) -> int:
        """Return how many of the ranked features to keep."""
        _forget_choice(self)
        if self.nonzeros_per_document is not None:
            return _count_to_sparsity(X, order, self.nonzeros_per_document)
        if self.n_features == "auto":
            self.curve_ = feature_curve(
                X,
                y,
                cv=self.cv,
                by=self.by,
                estimator=svc,
                cuts=self.cuts,
                aggregate=self.aggregate,
                n_jobs=self.n_jobs,
                random_state=self.random_state,
            )
            self.choice_ = self.curve_.smallest_within(self.tolerance, self.measure)
            cut = self.choice_.cut
        else:
            cut = _check_n_features(self.n_features, X.shape[1])
        return int(count_kept(np.array([cut]), np.array([order.size]))[0, 0])

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class ShavedSVC(OneVsRestMixin, BaseEstimator):  # type: ignore[misc]
    """The whole job: a linear SVM on as few features as do as well as the best number of them.

    Fits an SVM on all features, measures quality at every cut by cross-validation on the training
    documents, chooses the smallest cut that is as good as the best, and makes the final model at
    that cut. Each class keeps features of its own unless ``aggregate`` says otherwise.

    Parameters
    ----------
    estimator : DualLinearSVC, optional
        The SVM; it is cloned.
    n_features : "auto", int, float or Choice, default="auto"
        Features per class: a number (fewer where fewer have a nonzero score), a share of those
        that have, a choice made from a curve of your own, or what the curve says.
    final : {"warm", "exact", "mask", "sv_set"}, default="warm"
        How the final model is made: retrained on the features kept, from the dual of the first
        fit or from nothing; or without retraining.
    method : {"mask", "sv_set", "exact", "warm", "rfe"}, default="mask"
        How the curve is found, as in `feature_curve`. The final model keeps the top of the first
        ranking whatever the method.
    by, aggregate, cuts, renormalize
        As in `feature_curve`.
    measure : str, default="best_f1"
        What "auto" looks at: see `FeatureCurve`.
    average : {"macro", "micro", None}, default="macro"
        How it is averaged over classes; None lets each class choose its own cut, which needs a
        ``tolerance``.
    tolerance : float, optional
        How much less than the best will do; one standard error over the folds by default.
    thresholds : {"auto", "best_f1", "zero"}, default="auto"
        The score at which a class begins: that of the best F1 in a cross-validation of the final
        model, or zero. "auto" is the first for multilabel targets and the second for labels, which
        go to the class of the highest score.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn.
    n_jobs : int, optional
        Threads; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the SVM.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for multilabel targets.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights, zero for the features removed; one row for two classes.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts, less the thresholds.
    thresholds_ : ndarray of shape (n_classes,)
        The scores above which classes begin, before they were taken off.
    kept_ : csr_matrix of shape (n_classes, n_features)
        One for every feature that a class keeps.
    features_ : ndarray
        Features that any class keeps: no other is ever looked at.
    unit_ : bool
        Whether a document is scaled to length one on the features of each class.
    curve_ : FeatureCurve
        Quality against features by cross-validation; only for "auto".
    choice_ : Choice
        The cut chosen and what it was chosen on; only for "auto" or a choice given.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from spokeshave import ShavedSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ShavedSVC(tolerance=0.02, random_state=0).fit(normalize(X), y)
    >>> float(model.choice_.fraction)
    0.3
    >>> model.choice_.evaluated_on
    'cross-validation'
    """

    def __init__(
        self,
        estimator: DualLinearSVC | None = None,
        *,
        n_features: str | int | float | Choice = "auto",
        final: str = "warm",
        method: str = "mask",
        by: str = "normal",
        aggregate: str | None = None,
        cuts: Any = PAPER_FRACTIONS,
        renormalize: bool | None = None,
        measure: str = "best_f1",
        average: str | None = "macro",
        tolerance: float | None = None,
        thresholds: str = "auto",
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features = n_features
        self.final = final
        self.method = method
        self.by = by
        self.aggregate = aggregate
        self.cuts = cuts
        self.renormalize = renormalize
        self.measure = measure
        self.average = average
        self.tolerance = tolerance
        self.thresholds = thresholds
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose a cut by cross-validation and train the final model at it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class, dense or sparse.

        Returns
        -------
        self : ShavedSVC
        """
        self._check_parameters()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True
        )
        X, y = tidy(X), check_targets(y)
        self.classes_, indicator = binarize(y)
        self.multilabel_ = y.ndim == 2
        svc = _make_svc(self.estimator, self.n_jobs, self.random_state)
        cut = self._choose_cut(X, y, svc)
        if np.size(cut) not in (1, indicator.shape[1]):
            raise ValueError(
                f"n_features must be a choice of one cut, or of one for each of the "
                f"{indicator.shape[1]} classes. Got one for each of {np.size(cut)} instead."
            )
        cuts = np.broadcast_to(cut, indicator.shape[1])
        self.thresholds_ = self._find_thresholds(X, y, svc, cuts)
        self._make_final(X, y, svc.fit(X, y), cuts)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return how far the score of each document is above the threshold of each class.

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
        X = tidy(X)
        scores = np.asarray(X @ self.coef_.T)
        if self.unit_:
            squared_length = (X.power(2) @ self.kept_.T).toarray()
            scores /= np.sqrt(np.where(squared_length > 0, squared_length, 1))
        scores += self.intercept_
        return self._shape_scores(scores)

    def _check_parameters(self) -> None:
        for name, names in (
            ("final", ("warm", "exact", "mask", "sv_set")),
            ("measure", tuple(MEASURES)),
            ("thresholds", ("auto", "best_f1", "zero")),
            ("average", ("macro", "micro", None)),
            ("aggregate", ("max", "mean", None)),
        ):
            if getattr(self, name) not in names:
                given = ", ".join(map(repr, names))
                raise ValueError(
                    f"{name} must be one of {given}. Got {getattr(self, name)!r} instead."
                )
        if self.average is None and self.tolerance is None:
            raise ValueError("tolerance must be given where each class has its own cut.")

    def _choose_cut(self, X: Any, y: Any, svc: DualLinearSVC) -> Any:
        """Return the cut, or one for each class."""
        _forget_choice(self)
        if isinstance(self.n_features, Choice):
            self.choice_ = self.n_features
        elif self.n_features == "auto":
            self.curve_ = self._trace(X, y, svc, self.method, self.cuts)
            self.choice_ = self.curve_.smallest_within(self.tolerance, self.measure, self.average)
        else:
            return _check_n_features(self.n_features, X.shape[1])
        return self.choice_.cut

    def _trace(self, X: Any, y: Any, svc: DualLinearSVC, method: str, cuts: Any) -> FeatureCurve:
        return feature_curve(
            X,
            y,
            cv=self.cv,
            method=method,
            by=self.by,
            estimator=svc,
            cuts=cuts,
            aggregate=self.aggregate,
            renormalize=self.renormalize,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _make_final(self, X: Any, y: Any, svc: DualLinearSVC, cuts: NDArray[Any]) -> None:
        """Set the weights, the intercepts and the features kept."""
        trained = train(X, y, svc, self.by, self.aggregate, self.n_jobs, self.random_state)
        self.unit_ = decide_unit(self.renormalize, self.final, trained)
        classes = range(trained.coef.shape[0])
        found = [find_cut(trained, k, cuts[k : k + 1]) for k in classes]
        seed = svc.random_state if self.random_state is None else self.random_state
        seeds = check_random_state(seed).randint(2**31, size=len(classes))
        weighed = Parallel(n_jobs=self.n_jobs, require="sharedmem", batch_size=1)(
            delayed(weigh_class)(trained, k, found[k], self.final, self.unit_, seeds[k])
            for k in classes
        )
        coef, intercept, gaps = zip(*weighed, strict=True)
        warn_if_stopped_early(max(gaps), Stop(svc.tol, svc.max_iter), stacklevel=3)
        self.coef_, self.intercept_ = np.array(coef), np.array(intercept) - self.thresholds_
        kept = [cut.order[: cut.ends[0]] for cut in found]
        counts = np.cumsum([0, *map(len, kept)])
        ones = np.ones(counts[-1])
        self.kept_ = sparse.csr_matrix((ones, np.concatenate(kept), counts), self.coef_.shape)
        self.features_ = np.unique(self.kept_.indices)

    def _find_thresholds(
        self, X: Any, y: Any, svc: DualLinearSVC, cuts: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the threshold of the best F1 of each class by cross-validation, or zeros."""
        if self.thresholds == "zero" or (self.thresholds == "auto" and not self.multilabel_):
            return np.zeros(cuts.size)
        if self.n_features == "auto" and self.final == self.method:
            found = self.choice_.thresholds
        else:
            curve = self._trace(X, y, svc, self.final, np.unique(cuts))
            found = curve.thresholds[np.arange(cuts.size), np.searchsorted(curve.cuts, cuts)]
        return np.where(np.isfinite(found), found, 0.0)


def _forget_choice(model: Any) -> None:
    """Remove what an earlier fit chose: it is not of this one."""
    for name in ("curve_", "choice_"):
        model.__dict__.pop(name, None)


def _make_svc(
    estimator: DualLinearSVC | None, n_jobs: int | None, random_state: Any
) -> DualLinearSVC:
    """Return a clone of the SVM, or the default one."""
    if estimator is None:
        return DualLinearSVC(n_jobs=n_jobs, random_state=random_state)
    if not isinstance(estimator, DualLinearSVC):
        raise ValueError(
            f"estimator must be a DualLinearSVC. Got {type(estimator).__name__} instead."
        )
    model: DualLinearSVC = clone(estimator)
    return model


def _check_n_features(n_features: Any, n_available: int) -> float | int:
    """Return a count as an int or a share as a float."""
    is_count = isinstance(n_features, Integral) and not isinstance(n_features, bool)
    if is_count and 1 <= int(n_features) <= n_available:
        return int(n_features)
    is_share = isinstance(n_features, Real) and not isinstance(n_features, Integral)
    if is_share and 0 < float(n_features) <= 1:
        return float(n_features)
    raise ValueError(
        f"n_features must be 'auto', a whole number from 1 to {n_available}, or a share above 0 "
        f"and up to 1.0. Got {n_features!r} instead."
    )


def _count_to_sparsity(X: sparse.csr_matrix, order: NDArray[np.uint32], wanted: Any) -> int:
    """Return how many features leave documents so many nonzeros on average; one at least."""
    if not isinstance(wanted, Real) or not 0 < float(wanted) < np.inf:
        raise ValueError(
            f"nonzeros_per_document must be a positive number. Got {wanted!r} instead."
        )
    frequency = np.bincount(X.indices, minlength=X.shape[1])[order]
    nonzeros = np.cumsum(frequency) / X.shape[0]
    return min(max(1, int(np.searchsorted(nonzeros, float(wanted), side="right"))), order.size)
