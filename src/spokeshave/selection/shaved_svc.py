"""The whole job as one classifier: choose a cut, then train the final model at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spokeshave.curves.cuts import PAPER_FRACTIONS
from spokeshave.curves.feature_curve import decide_unit, feature_curve
from spokeshave.curves.fitted import Trained, train
from spokeshave.curves.result import Choice, FeatureCurve
from spokeshave.curves.retraining import warn_if_stopped_early
from spokeshave.curves.scoring import find_cut, weigh_class
from spokeshave.metrics import MEASURES
from spokeshave.selection.selector import check_n_features, forget_choice
from spokeshave.svm.calibration import fit_sigmoids, halve
from spokeshave.svm.estimator import DualLinearSVC, make_svc
from spokeshave.svm.one_vs_rest import CalibratedMixin
from spokeshave.utils.validation import binarize, check_targets, tidy

FINALS = ("warm", "exact", "mask", "sv_set")


@dataclass(frozen=True, eq=False)
class Shaven:
    """Classes at their cuts, a row or an entry each.

    Attributes
    ----------
    coef : csr_matrix of shape (n_classes, n_features)
        Weights of the features kept.
    intercept : ndarray of shape (n_classes,)
        Intercepts.
    kept : csr_matrix of shape (n_classes, n_features)
        One for every feature that a class keeps, be its weight zero or not.
    unit : bool
        Whether documents are scaled to length one on the features of each class.
    """

    coef: sparse.csr_matrix
    intercept: NDArray[np.float64]
    kept: sparse.csr_matrix
    unit: bool


def draw_seeds(seed: Any, n_classes: int) -> NDArray[np.int64]:
    """Return a seed for the retraining of each class."""
    return np.asarray(check_random_state(seed).randint(2**31, size=n_classes))


def score_shaven(
    X: sparse.csr_matrix, coef: NDArray[np.float64], kept: sparse.csr_matrix, unit: bool
) -> NDArray[np.float64]:
    """Return the scores of documents (documents x classes), without the intercepts."""
    scores = np.asarray(X @ coef.T)
    if unit:
        squared_length = (X.power(2) @ kept.T).toarray()
        scores /= np.sqrt(np.where(squared_length > 0, squared_length, 1))
    return scores


def shave(
    trained: Trained,
    cuts: NDArray[Any],
    seeds: NDArray[np.int64],
    *,
    against: str,
    final: str,
    renormalize: bool | None,
    n_jobs: int | None,
) -> Shaven:
    """Cut every class of a model, and give it its final weights as ``final`` says.

    ``cuts`` and ``seeds`` have an entry per class. Warns where retraining ran out of passes.
    """
    unit, classes = decide_unit(renormalize, final, trained), range(len(trained.coef))
    found = [find_cut(trained, k, cuts[k : k + 1], against) for k in classes]
    weighed = Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
        delayed(weigh_class)(trained, k, found[k], final, unit, seeds[k]) for k in classes
    )
    coef, intercept, gaps = zip(*weighed, strict=True)
    if trained.dual is not None:
        warn_if_stopped_early(max(gaps), trained.dual.stop, stacklevel=3)
    kept = [cut.order[: cut.ends[0]] for cut in found]
    ends = np.cumsum([0, *map(len, kept)])
    features, ones = np.concatenate(kept), np.ones(ends[-1])
    values = np.concatenate([row[order] for row, order in zip(coef, kept, strict=True)])
    shape = len(coef), trained.X.shape[1]
    return Shaven(
        coef=sparse.csr_matrix((values, features, ends), shape),
        intercept=np.array(intercept),
        kept=sparse.csr_matrix((ones, features, ends), shape),
        unit=unit,
    )


LOWEST_F1 = 0.1  # with less, a threshold lets in far more of the rest than of the class


class ShavedSVC(CalibratedMixin, BaseEstimator):  # type: ignore[misc]
    """The whole job: a linear SVM on as few features as do as well as the best number of them.

    Fits an SVM on all features, measures quality at every cut by cross-validation on the training
    documents, chooses the smallest cut that is as good as the best, and makes the final model at
    that cut. Each class keeps features of its own unless ``aggregate`` says otherwise.

    Parameters
    ----------
    estimator : DualLinearSVC, optional
        The SVM; it is cloned. With ``probability=True`` the final model has probabilities, at the
        cost of two more fits on half the documents each.
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
        model, or zero; zero as well where that F1 is below 0.1, as in SCutFBR.1 of Yang (2001),
        lest rare classes be found everywhere. "auto" is the first for multilabel targets and the
        second for labels, which go to the class of the highest score.
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
    estimator_ : DualLinearSVC
        The SVM on all features.
    calibration_ : ndarray of shape (2, n_classes)
        Slope and offset of each class's sigmoid; only of an estimator with ``probability=True``.
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
        svc = make_svc(self.estimator, self.n_jobs, self.random_state)
        is_calibrated = svc.probability
        svc.set_params(probability=False)  # of the final model, not of the SVM on all features
        cut = self._choose_cut(X, y, svc)
        if np.size(cut) not in (1, indicator.shape[1]):
            raise ValueError(
                f"n_features must be a choice of one cut, or of one for each of the "
                f"{indicator.shape[1]} classes. Got one for each of {np.size(cut)} instead."
            )
        cuts = np.broadcast_to(cut, indicator.shape[1])
        self.thresholds_ = self._find_thresholds(X, y, svc, cuts)
        self.estimator_ = svc.fit(X, y)
        self._make_final(X, y, svc, cuts)
        self._forget_calibration()
        if is_calibrated:
            self.calibration_ = self._calibrate(X, y, indicator, svc, cut)
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
        scores = score_shaven(tidy(X), self.coef_, self.kept_, self.unit_)
        return self._shape_scores(scores + self.intercept_)

    def _check_parameters(self) -> None:
        for name, names in (
            ("final", FINALS),
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
        forget_choice(self)
        if isinstance(self.n_features, Choice):
            self.choice_ = self.n_features
        elif self.n_features == "auto":
            self.curve_ = self._trace(X, y, svc, self.method, self.cuts)
            self.choice_ = self.curve_.smallest_within(self.tolerance, self.measure, self.average)
        else:
            return check_n_features(self.n_features, X.shape[1])
        return self.choice_.cut

    @property
    def _against(self) -> str:
        """What the cut is a number of: nonzeros only where a choice made from such is given."""
        return self.n_features.against if isinstance(self.n_features, Choice) else "features"

    def _trace(self, X: Any, y: Any, svc: DualLinearSVC, method: str, cuts: Any) -> FeatureCurve:
        return feature_curve(
            X,
            y,
            cv=self.cv,
            method=method,
            by=self.by,
            estimator=svc,
            cuts=cuts,
            against=self._against,
            aggregate=self.aggregate,
            renormalize=self.renormalize,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _make_final(self, X: Any, y: Any, svc: DualLinearSVC, cuts: NDArray[Any]) -> None:
        """Set the weights, the intercepts and the features kept."""
        trained = train(X, y, svc, self.by, self.aggregate, self.n_jobs, self.random_state)
        seed = svc.random_state if self.random_state is None else self.random_state
        shaven = shave(
            trained,
            cuts,
            draw_seeds(seed, cuts.size),
            against=self._against,
            final=self.final,
            renormalize=self.renormalize,
            n_jobs=self.n_jobs,
        )
        self.take(shaven)

    def take(self, shaven: Shaven) -> None:
        """Set the weights, the intercepts and the features kept, less the thresholds there are.

        Parameters
        ----------
        shaven : Shaven
            All classes at their cuts.
        """
        self.unit_, self.kept_ = shaven.unit, shaven.kept
        self.coef_ = shaven.coef.toarray()
        self.intercept_ = shaven.intercept - self.thresholds_
        self.features_ = np.unique(self.kept_.indices)

    def _find_thresholds(
        self, X: Any, y: Any, svc: DualLinearSVC, cuts: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the threshold of the best F1 of each class by cross-validation, or zeros."""
        if self.thresholds == "zero" or (self.thresholds == "auto" and not self.multilabel_):
            return np.zeros(cuts.size)
        if self.n_features == "auto" and self.final == self.method:
            curve = self.curve_
        else:
            curve = self._trace(X, y, svc, self.final, np.unique(cuts))
        return read_thresholds(curve, cuts)

    def _calibrate(
        self, X: Any, y: Any, indicator: sparse.csc_matrix, svc: DualLinearSVC, cut: Any
    ) -> NDArray[np.float64]:
        """Fit Platt's sigmoid on scores that each half of the documents gets from the other."""
        n_features = self.choice_ if hasattr(self, "choice_") else cut
        half = clone(self).set_params(estimator=svc, n_features=n_features, thresholds="zero")
        scores = np.empty(indicator.shape)
        seed = svc.random_state if self.random_state is None else self.random_state
        for one, other in halve(y, seed):
            half.fit(X[one], y[one])
            scores[other] = half.decision_function(X[other]).reshape(len(other), -1)
        return fit_sigmoids(scores - self.thresholds_, indicator, np.ones(len(scores)))


def read_thresholds(curve: FeatureCurve, cuts: NDArray[Any]) -> NDArray[np.float64]:
    """Return the threshold of the best F1 of each class at its cut, zero where that F1 is low."""
    at = np.arange(cuts.size), np.searchsorted(curve.cuts, cuts)
    found, is_found = curve.thresholds[at], curve.best_f1[at] >= LOWEST_F1
    return np.where(np.isfinite(found) & is_found, found, 0.0)
