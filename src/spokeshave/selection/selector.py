"""Estimators that choose how many features to keep, on training data only."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from spokeshave.curves.cuts import (
    PAPER_FRACTIONS,
    accumulate,
    check_nonzeros,
    count_kept,
    count_within,
)
from spokeshave.curves.feature_curve import feature_curve
from spokeshave.ranking.criteria import rank_features
from spokeshave.ranking.pruning import count_documents, drop_features, prune_features
from spokeshave.svm.estimator import DualLinearSVC, make_svc
from spokeshave.utils.sparse_format import check_format
from spokeshave.utils.validation import check_targets, tidy, validate_data


class NormalSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features that rank highest over all classes.

    By default features are ranked by the largest absolute weight that a linear SVM gives them in
    any class. The smallest cut that is as good as the best is kept, by cross-validation of that SVM
    with the weights of the other features masked.

    Parameters
    ----------
    estimator : DualLinearSVC, optional
        The SVM; it is cloned.
    n_features : "auto", int or float, default="auto"
        A number of features, a share of the features with a nonzero score, or "auto" for the
        choice from the curve.
    nonzeros_per_document : float, optional
        Keep as many features as leave the training documents at most that many nonzeros on
        average, instead of ``n_features``.
    min_df, max_df : int or float, default=1, 1.0
        Minimum and maximum document frequency of a feature: a count, or as a float a share of the
        training documents. Other features are dropped before ranking.
    by : str, default="normal"
        The criterion, as in `rank_features`.
    aggregate : {"max", "mean"}, default="max"
        How the scores of a feature are combined over classes.
    measure : str, default="best_f1"
        The measure that "auto" compares, averaged over classes: see `FeatureCurve`.
    tolerance : float, optional
        The accepted loss against the best; one standard error over the folds by default.
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
        Number of features kept.
    nonzeros_per_document_ : float
        Mean nonzeros per training document, on the features kept.
    n_rare_, n_frequent_ : int
        Features dropped by ``min_df``, and by ``max_df``.
    curve_ : FeatureCurve
        Quality against features; only for "auto".
    choice_ : Choice
        The chosen cut; only for "auto".

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
        min_df: float = 1,
        max_df: float = 1.0,
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
        self.min_df = min_df
        self.max_df = max_df
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
        kept, self.n_rare_, self.n_frequent_ = prune_features(X, self.min_df, self.max_df)
        X = drop_features(X, kept)
        svc = make_svc(self.estimator, self.n_jobs, self.random_state)
        ranking = rank_features(
            X,
            y,
            self.by,
            estimator=svc if self.by == "normal" else None,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).aggregate(self.aggregate)
        order = ranking.list_ranked(0)
        nonzeros = accumulate(count_documents(X), order, X.shape[0])
        self.scores_ = ranking.scores[0]
        self.n_features_ = self._count(X, y, svc, nonzeros)
        self.nonzeros_per_document_ = float(nonzeros[self.n_features_])
        self.support_ = np.zeros(X.shape[1], bool)
        self.support_[order[: self.n_features_]] = True
        return self

    def transform(self, X: Any) -> Any:
        """Keep the selected features only.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_selected)
        """
        return super().transform(check_format(X))

    def inverse_transform(self, X: Any) -> Any:
        """Return documents with zeros for the features that were not selected.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_selected)
            Documents with the selected features.

        Returns
        -------
        X : {ndarray, csc_matrix} of shape (n_documents, n_features)
        """
        return super().inverse_transform(check_format(X))

    def _count(self, X: Any, y: Any, svc: DualLinearSVC, nonzeros: NDArray[np.float64]) -> int:
        """Return how many of the ranked features to keep; ``nonzeros`` are those of each number."""
        forget_choice(self)
        if self.nonzeros_per_document is not None:
            return int(count_within(nonzeros, check_nonzeros(self.nonzeros_per_document)))
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
            cut = check_n_features(self.n_features, X.shape[1])
        return int(count_kept(np.array([cut]), np.array([nonzeros.size - 1]))[0, 0])

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def forget_choice(model: Any) -> None:
    """Remove the curve and the choice of an earlier fit."""
    for name in ("curve_", "choice_"):
        model.__dict__.pop(name, None)


def check_n_features(n_features: Any, n_available: int) -> float | int:
    """Return a count as an int, or a share as a float."""
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
