"""`ShavedSVC`: a linear SVM at the smallest cut that is as good as the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from spokeshave.curves.cuts import PAPER_FRACTIONS, check_cuts
from spokeshave.curves.feature_curve import (
    CurveOptions,
    FoldCurves,
    MeasuredFold,
    Split,
    average_folds,
    check_options,
    decide_unit,
    draw_seeds,
    measure_folds,
)
from spokeshave.curves.fitted import DualWeights, FittedClasses, train
from spokeshave.curves.result import Choice
from spokeshave.curves.scoring import find_cut, fit_at_cut
from spokeshave.metrics import LABEL_F1, MEASURES
from spokeshave.selection.selector import check_n_features, forget_choice
from spokeshave.selection.thresholds import count_steps, tune_thresholds
from spokeshave.svm.calibration import check_calibration, fit_sigmoid
from spokeshave.svm.estimator import DualLinearSVC, check_weight, make_svc
from spokeshave.svm.one_vs_rest import CalibratedMixin
from spokeshave.svm.solver import warn_if_stopped_early
from spokeshave.utils.validation import (
    binarize,
    check_magnitude,
    check_targets,
    tidy,
    validate_data,
)

FINALS = ("warm", "exact", "mask", "sv_set")
OF_SVM = ("C", "loss", "class_weight", "prior", "prior_strength")  # parameters of the SVM


@dataclass(frozen=True, eq=False)
class CutModel:
    """Classes at their cuts, a row or an entry each.

    Attributes
    ----------
    coef : csr_matrix of shape (n_classes, n_features)
        Weights of the features kept.
    intercept : ndarray of shape (n_classes,)
        Intercepts.
    kept : csr_matrix of shape (n_classes, n_features)
        One for every feature that a class keeps, even if its weight is zero.
    unit : bool
        Whether documents are scaled to length one on the features of each class.
    """

    coef: sparse.csr_matrix
    intercept: NDArray[np.float64]
    kept: sparse.csr_matrix
    unit: bool


class FinalClasses(NamedTuple):
    """Some classes of the final model, and of the SVM on all features.

    ``rows`` are their numbers among all classes. ``dual`` is None if it is not to be kept.
    """

    rows: NDArray[np.intp]
    model: CutModel
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    dual: sparse.csr_matrix | None


class ShavedSVC(CalibratedMixin, BaseEstimator):  # type: ignore[misc]
    """A linear SVM on as few features as are as good as the best number of features.

    Fits an SVM on all features, measures quality at every cut by cross-validation on the training
    documents, chooses the smallest cut that is as good as the best, and fits the final model at
    that cut. Each class keeps its own features unless ``aggregate`` is given. Every fold is
    trained once, for the curve, the thresholds and the calibration.

    Parameters
    ----------
    estimator : DualLinearSVC, optional
        The SVM; it is cloned. With ``probability=True`` the final model has probabilities: Platt's
        sigmoid is fitted on the scores that the folds of ``cv`` give to their test documents.
    n_features : "auto", int, float or Choice, default="auto"
        Features per class: a number (fewer if fewer have a nonzero score), a share of the features
        with a nonzero score, a choice made from a curve of your own, or "auto" for the choice from
        the curve by cross-validation.
    final : {"warm", "exact", "mask", "sv_set"}, default="warm"
        How the final weights are found: retrained on the features kept, from the dual of the first
        fit or from zero; or without retraining.
    method : {"mask", "sv_set", "exact", "warm", "rfe"}, default="mask"
        How the curve is found, as in `feature_curve`. The final model keeps the top of the first
        ranking whatever the method.
    by, aggregate, cuts, renormalize
        As in `feature_curve`.
    measure : str, default="best_f1"
        The measure that "auto" compares: see `FeatureCurve`.
    average : {"macro", "micro", None}, default="macro"
        How it is averaged over classes; None lets each class choose its own cut, which needs a
        ``tolerance``.
    tolerance : float, optional
        The accepted loss against the best; one standard error over the folds by default.
    thresholds : {"auto", "best_f1", "zero"}, default="auto"
        The score above which a document is of a class: zero, or that of the best F1 on the scores
        that the folds of ``cv`` give to their test documents. For the macro-average it is the best
        of each class, shrunk to the best common one if its documents are few; for the
        micro-average, the best common one (`tune_thresholds`). "auto" is "best_f1" for multilabel
        targets, and "zero" for labels, which are predicted by the highest score.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn.
    n_jobs : int, optional
        Threads; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the SVM.
    C, loss, class_weight, prior, prior_strength : optional
        Parameters of the SVM, as in `DualLinearSVC`, to tune without an ``estimator``. One that is
        given replaces that of the estimator; None leaves it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for multilabel targets.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights, zero for the features removed; one row for two classes.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts, less the thresholds.
    thresholds_ : ndarray of shape (n_classes,)
        The thresholds that were subtracted from the intercepts.
    kept_ : csr_matrix of shape (n_classes, n_features)
        One for every feature that a class keeps.
    features_ : ndarray
        Features that any class keeps; no other is read.
    unit_ : bool
        Whether a document is scaled to length one on the features of each class.
    estimator_ : DualLinearSVC
        The SVM on all features.
    calibration_ : ndarray of shape (2, n_classes)
        Slope and offset of each class's sigmoid; only of an estimator with ``probability=True``.
    curve_ : FeatureCurve
        Quality against features by cross-validation; only for "auto".
    choice_ : Choice
        The cut and the documents it was chosen on; only for "auto" or a given choice.

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
        C: float | None = None,
        loss: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        prior: Any = None,
        prior_strength: float | None = None,
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
        self.C = C
        self.loss = loss
        self.class_weight = class_weight
        self.prior = prior
        self.prior_strength = prior_strength

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Choose a cut by cross-validation and train the final model at it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class, dense or sparse.
        sample_weight : array-like of shape (n_documents,), optional
            Nonnegative factors of C per document, in the folds and in the final model; thresholds
            and calibration weight the documents too. In the measures of the curve, and in rankings
            other than by the normal, each document counts once. Documents of weight zero are left
            out of everything.

        Returns
        -------
        self : ShavedSVC
        """
        self._check_parameters()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True
        )
        check_magnitude(X)
        X, y = tidy(X), check_targets(y)
        weight = None if sample_weight is None else check_weight(sample_weight, X)
        self.multilabel_ = y.ndim == 2
        svc = self._make_svc()
        is_calibrated = bool(svc.probability)
        svc.set_params(probability=False)  # the final model is calibrated, not this SVM
        given = X, y, weight
        if weight is not None and not weight.all():
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        if is_calibrated:
            check_calibration(y)
        self.classes_, indicator = binarize(y)
        needs_folds = is_calibrated or self._has_thresholds
        splits = self._split(*given) if needs_folds or self._is_auto else []
        cut, measured = self._choose_cut(X, y, svc, indicator, splits, weight)
        if np.size(cut) not in (1, indicator.shape[1]):
            raise ValueError(
                f"n_features must be a choice of one cut, or of one for each of the "
                f"{indicator.shape[1]} classes. Got one for each of {np.size(cut)} instead."
            )
        cuts = np.broadcast_to(cut, indicator.shape[1])
        folds = []
        if needs_folds:
            duals = [fold.dual for fold in measured] or None
            folds = self._measure_final(X, y, svc, indicator, splits, cuts, duals, weight)
        self.estimator_ = svc.fit(X, y, weight)
        part = train_final(X, y, self, svc, cut, None, keep_dual=False, weight=weight)
        self._finish([part], folds, [test for _, test in splits], indicator, weight)
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
        scores = score_at_cuts(tidy(X), self.coef_, self.kept_, self.unit_)
        return self._shape_scores(scores + self.intercept_)

    def _check_parameters(self) -> None:
        for name, names in (
            ("final", FINALS),
            ("measure", (*MEASURES, LABEL_F1, "macro_f1", "micro_f1")),
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

    def _make_svc(self) -> DualLinearSVC:
        """Return the SVM with the parameters that are given besides it."""
        svc = make_svc(self.estimator, self.n_jobs, self.random_state)
        given = {name: getattr(self, name) for name in OF_SVM}
        svc.set_params(**{name: value for name, value in given.items() if value is not None})
        return svc

    def _split(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> list[Split]:
        """Return the folds of the documents that have a weight, as numbers among these.

        Folds that are given as lists hold numbers among all documents.
        """
        if weight is None or weight.all():
            return list(check_cv(self.cv, y, classifier=True).split(X, y))
        used = weight > 0
        if self.cv is None or isinstance(self.cv, Integral) or hasattr(self.cv, "split"):
            return list(check_cv(self.cv, y[used], classifier=True).split(X[used], y[used]))
        number = np.cumsum(used) - 1
        splits = check_cv(self.cv, y, classifier=True).split(X, y)
        return [(number[a][used[a]], number[b][used[b]]) for a, b in splits]

    def _choose_cut(
        self,
        X: Any,
        y: Any,
        svc: DualLinearSVC,
        indicator: sparse.csc_matrix,
        splits: list[Split],
        weight: NDArray[np.float64] | None,
    ) -> tuple[Any, list[MeasuredFold]]:
        """Return the cut, or one for each class, and the folds measured to choose it."""
        forget_choice(self)
        if isinstance(self.n_features, Choice):
            self.choice_ = self.n_features
            return self.choice_.cut, []
        if not self._is_auto:
            return check_n_features(self.n_features, X.shape[1]), []
        check_options((self.method,), self.by, self._against, self.aggregate, svc)
        start = perf_counter()
        cuts = check_cuts(self.cuts, X.shape[1])
        options = self._curve_options(svc, self.method, cuts, keep_scores=False)
        measured = list(measure_folds(options, X, y, indicator, splits, weight=weight))
        curves = [fold.curves for fold in measured]
        names, seconds = self.classes_[-indicator.shape[1] :], perf_counter() - start
        (self.curve_,) = average_folds(options, names, curves, "cross-validation", seconds)
        self.choice_ = self.curve_.smallest_within(self.tolerance, self.measure, self.average)
        return self.choice_.cut, measured

    def _measure_final(
        self,
        X: Any,
        y: Any,
        svc: DualLinearSVC,
        indicator: sparse.csc_matrix,
        splits: list[Split],
        cuts: NDArray[Any],
        duals: list[DualWeights | None] | None,
        weight: NDArray[np.float64] | None,
    ) -> list[FoldCurves]:
        """Return the final model's folds at its cuts, for its thresholds and its calibration.

        Folds that were measured to choose the cut have ``duals``, and are not trained again.
        """
        check_options((self.final,), self.by, self._against, self.aggregate, svc)
        options = self._curve_options(svc, self.final, cuts[:, None], keep_scores=True)
        folds = measure_folds(options, X, y, indicator, splits, duals, weight)
        return [fold.curves for fold in folds]

    @property
    def _is_auto(self) -> bool:
        """Whether the cut is chosen from the curve."""
        return isinstance(self.n_features, str) and self.n_features == "auto"

    @property
    def _has_thresholds(self) -> bool:
        return self.thresholds == "best_f1" or (self.thresholds == "auto" and self.multilabel_)

    @property
    def _average(self) -> str | None:
        """The average that the cut was chosen by, or that was asked for if the cut was given."""
        return self.choice_.average if hasattr(self, "choice_") else self.average

    @property
    def _against(self) -> str:
        """The unit of the cut: nonzeros only for a given choice that was made in nonzeros."""
        return self.n_features.against if isinstance(self.n_features, Choice) else "features"

    @property
    def _final_options(self) -> dict[str, Any]:
        return {
            "against": self._against,
            "final": self.final,
            "renormalize": self.renormalize,
            "n_jobs": self.n_jobs,
        }

    def _seed(self, svc: DualLinearSVC) -> Any:
        return svc.random_state if self.random_state is None else self.random_state

    def _curve_options(
        self, svc: DualLinearSVC, method: str, cuts: NDArray[Any], *, keep_scores: bool
    ) -> CurveOptions:
        return CurveOptions(
            methods=(method,),
            by=self.by,
            estimator=svc,
            cuts=cuts,
            against=self._against,
            aggregate=self.aggregate,
            renormalize=self.renormalize,
            n_jobs=self.n_jobs,
            random_state=self._seed(svc),
            keep_scores=keep_scores,
        )

    def _finish(
        self,
        parts: Sequence[FinalClasses],
        folds: Sequence[FoldCurves],
        test_rows: Sequence[NDArray[np.intp]],
        indicator: sparse.csc_matrix,
        weight: NDArray[np.float64] | None = None,
    ) -> None:
        """Set the thresholds, the weights, the features kept and the calibration.

        ``folds`` are those of the final model; without them it has no calibration. ``weight`` is
        that of the documents.
        """
        found = test_rows, indicator, weight
        self.thresholds_ = np.zeros(indicator.shape[1])
        if self._has_thresholds and folds:
            self.thresholds_ = find_thresholds(folds, *found, self._average)
        order: Any = np.argsort(np.concatenate([part.rows for part in parts]))
        models = [part.model for part in parts]
        self.coef_ = sparse.vstack([each.coef for each in models]).toarray()[order]
        self.kept_ = sparse.vstack([each.kept for each in models], format="csr")[order]
        intercept = np.concatenate([each.intercept for each in models])[order]
        self.intercept_ = intercept - self.thresholds_
        self.unit_, self.features_ = models[0].unit, np.unique(self.kept_.indices)
        self._forget_calibration()
        if folds and getattr(self.estimator, "probability", False):
            self.calibration_ = calibrate_folds(folds, *found, self.thresholds_)


def train_final(
    X: sparse.csr_matrix,
    y: Any,
    model: ShavedSVC,
    svc: DualLinearSVC,
    cut: Any,
    blocks: Sequence[int] | None,
    *,
    keep_dual: bool,
    weight: NDArray[np.float64] | None = None,
) -> FinalClasses:
    """Train some blocks of classes, or all, and cut them as ``model.fit`` does."""
    classes, indicator = binarize(y)
    names = classes[-indicator.shape[1] :]
    how = model.by, model.aggregate, model.n_jobs, model.random_state
    fitted = train(X, y, svc, *how, blocks, weight=weight)
    rows = np.flatnonzero(np.isin(names, fitted.classes))
    cuts = np.broadcast_to(cut, names.size)[rows]
    seeds = draw_seeds(model._seed(svc), names.size)[rows]
    cut_model = cut_classes(fitted, cuts, seeds, **model._final_options)
    dual = fitted.dual.beta if keep_dual and fitted.dual is not None else None
    return FinalClasses(rows, cut_model, fitted.coef, fitted.intercept, dual)


def assemble(
    model: ShavedSVC,
    svc: DualLinearSVC,
    X: sparse.csr_matrix,
    y: Any,
    parts: Sequence[FinalClasses],
    folds: Sequence[FoldCurves],
    test_rows: Sequence[NDArray[np.intp]],
) -> ShavedSVC:
    """Return ``model`` fitted, from parts by `train_final` and the final model's folds.

    Its ``n_features`` must be a `Choice`. Without folds it has no thresholds and no calibration.
    """
    model.classes_, indicator = binarize(y)
    model.multilabel_ = y.ndim == 2
    model.n_features_in_ = X.shape[1]
    assert isinstance(model.n_features, Choice)
    model.choice_ = model.n_features
    model.estimator_ = clone(svc)
    for name in ("classes_", "multilabel_", "n_features_in_"):
        setattr(model.estimator_, name, getattr(model, name))
    order: Any = np.argsort(np.concatenate([part.rows for part in parts]))
    model.estimator_.coef_ = np.concatenate([part.coef for part in parts])[order]
    model.estimator_.intercept_ = np.concatenate([part.intercept for part in parts])[order]
    duals = [part.dual for part in parts if part.dual is not None]
    if duals:
        model.estimator_.dual_coef_ = sparse.vstack(duals, format="csr")[order]
    model._finish(parts, folds, test_rows, indicator)
    return model


def cut_classes(
    fitted: FittedClasses,
    cuts: NDArray[Any],
    seeds: NDArray[np.int64],
    *,
    against: str,
    final: str,
    renormalize: bool | None,
    n_jobs: int | None,
) -> CutModel:
    """Cut every class of a model, and give it its final weights by the method ``final``.

    ``cuts`` and ``seeds`` have an entry per class. Warns if retraining stopped early.
    """
    unit, classes = decide_unit(renormalize, final, fitted), range(len(fitted.coef))
    found = [find_cut(fitted, k, cuts[k : k + 1], against) for k in classes]
    weighed = Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
        delayed(fit_at_cut)(fitted, k, found[k], final, unit, seeds[k]) for k in classes
    )
    coef, intercept, _, gaps = zip(*weighed, strict=True)
    if fitted.dual is not None:
        warn_if_stopped_early(gaps, fitted.dual.stop, retraining=True, stacklevel=3)
    kept = [cut.order[: cut.ends[0]] for cut in found]
    ends = np.cumsum([0, *map(len, kept)])
    features, ones = np.concatenate(kept), np.ones(ends[-1])
    values = np.concatenate([row[order] for row, order in zip(coef, kept, strict=True)])
    shape = len(coef), fitted.X.shape[1]
    return CutModel(
        coef=sparse.csr_matrix((values, features, ends), shape),
        intercept=np.array(intercept),
        kept=sparse.csr_matrix((ones, features, ends), shape),
        unit=unit,
    )


def score_at_cuts(
    X: sparse.csr_matrix, coef: NDArray[np.float64], kept: sparse.csr_matrix, unit: bool
) -> NDArray[np.float64]:
    """Return the scores of documents (documents x classes), without the intercepts."""
    scores = np.asarray(X @ coef.T)
    if unit:
        squared_length = (X.power(2) @ kept.T).toarray()
        scores /= np.sqrt(np.where(squared_length > 0, squared_length, 1))
    return scores


def pool_scores(
    folds: Sequence[FoldCurves],
    test_rows: Sequence[NDArray[np.intp]],
    indicator: sparse.csc_matrix,
    weight: NDArray[np.float64] | None,
    k: int,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64] | None]:
    """Return the scores of a class for the test documents of all folds, and which are of it.

    A fold that does not train the class has no scores of it. The last array is the weight of each
    of these documents, if they have any.
    """
    is_class = indicator[:, [k]].toarray().ravel() > 0
    scores, found = [np.zeros(0)], [np.zeros(0, np.intp)]
    for fold, rows in zip(folds, test_rows, strict=True):
        curves = fold.classes[k]
        if curves is not None:
            assert curves[0].scores is not None
            scores.append(curves[0].scores)
            found.append(rows)
    at = np.concatenate(found)
    return np.concatenate(scores), is_class[at], None if weight is None else weight[at]


def find_thresholds(
    folds: Sequence[FoldCurves],
    test_rows: Sequence[NDArray[np.intp]],
    indicator: sparse.csc_matrix,
    weight: NDArray[np.float64] | None,
    average: str | None,
) -> NDArray[np.float64]:
    """Return the threshold of each class from the folds' scores; zero without a document of it."""
    steps = [
        count_steps(*pool_scores(folds, test_rows, indicator, weight, k))
        for k in range(indicator.shape[1])
    ]
    return np.where(np.diff(indicator.indptr) > 0, tune_thresholds(steps, average), 0.0)


def calibrate_folds(
    folds: Sequence[FoldCurves],
    test_rows: Sequence[NDArray[np.intp]],
    indicator: sparse.csc_matrix,
    weight: NDArray[np.float64] | None,
    thresholds: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Fit Platt's sigmoid of each class on the scores of the folds' test documents (2 x classes).

    A class that no fold trains gets the probability of a class without documents.
    """
    sigmoids = np.empty((2, indicator.shape[1]))
    for k in range(indicator.shape[1]):
        scores, positive, of_each = pool_scores(folds, test_rows, indicator, weight, k)
        if not scores.size:
            scores, positive = np.zeros(indicator.shape[0]), indicator[:, [k]].toarray().ravel() > 0
            of_each = weight
        counted = np.ones(scores.size) if of_each is None else of_each
        sigmoids[:, k] = fit_sigmoid(scores - thresholds[k], positive, counted)
    return sigmoids
