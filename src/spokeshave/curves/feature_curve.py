"""The feature curve: one fit per fold, then every cut of every class by every method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple, overload

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from spokeshave.curves.cuts import AGAINST, PAPER_FRACTIONS, check_cuts
from spokeshave.curves.fitted import DualWeights, FittedClasses, train
from spokeshave.curves.result import FeatureCurve
from spokeshave.curves.retraining import PATHS
from spokeshave.curves.scoring import (
    Cut,
    ScoreBuffers,
    ScoredDocuments,
    allocate_buffers,
    collect_weights,
    count_nonzeros,
    find_cut,
    fit_at_cut,
    lay_out_documents,
    renumber,
    retrain_class,
    score_masked,
    score_weighted,
    sum_support_vectors,
)
from spokeshave.metrics import (
    BestClasses,
    Counts,
    LabelCounts,
    begin_labels,
    count_order,
    mean_known,
)
from spokeshave.ranking.criteria import check_criterion
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.svm.solver import warn_if_stopped_early
from spokeshave.utils.validation import align, binarize, check_documents

BATCHES_PER_THREAD = 4  # of classes: enough to balance the load, few enough to schedule cheaply
METHODS = ("mask", "sv_set", *PATHS)

Split = tuple[NDArray[np.intp], NDArray[np.intp]]  # training and test documents of a fold


@dataclass(frozen=True)
class CurveOptions:
    """The options of a curve.

    ``cuts`` is one array for all classes, or has a row for each class. ``keep_scores`` keeps the
    scores of the test documents at the first cut.
    """

    methods: tuple[str, ...]
    by: str
    estimator: Any
    cuts: NDArray[Any]
    against: str
    aggregate: str | None
    renormalize: bool | None
    n_jobs: int | None
    random_state: Any
    keep_scores: bool = False

    def list_cuts(self, column: int) -> NDArray[Any]:
        """Return the cuts of a class."""
        return self.cuts[column] if self.cuts.ndim == 2 else self.cuts


class ClassTask(NamedTuple):
    """A class to measure: its row of the model, its column, its test documents, and a seed.

    ``label`` is its number among all classes, which is 1 for the only column of two classes.
    """

    k: int
    column: int
    positives: NDArray[np.intp]
    seed: int
    label: int


class ClassCurve(NamedTuple):
    """One class in one fold by one method: an entry per cut, and the number of ranked features.

    ``optima`` (2 x cuts) are objectives and relative gaps, NaN if nothing was retrained.
    """

    counts: Counts
    thresholds: NDArray[np.float64]
    n_features: NDArray[np.intp]
    nonzeros: NDArray[np.float64]
    n_ranked: int
    optima: NDArray[np.float64]
    seconds: float = 0.0
    scores: NDArray[np.float64] | None = None


class FoldCurves(NamedTuple):
    """One fold: for each class a curve per method, or None if the fold does not train the class.

    ``seconds`` has an entry per method, and so have ``labels``, the counts of predicted labels.
    Both are None for multilabel targets. If only some classes were measured, ``best`` has the best
    of them for each document instead, and ``truth`` the true classes.
    """

    classes: list[list[ClassCurve] | None]
    fit_seconds: float
    seconds: NDArray[np.float64]
    labels: list[LabelCounts] | None = None
    best: list[BestClasses] | None = None
    truth: NDArray[np.int32] | None = None


class MeasuredFold(NamedTuple):
    """The curves of a fold, and its dual solution to measure it again without training."""

    curves: FoldCurves
    dual: DualWeights | None


@overload
def feature_curve(
    X: Any,
    y: Any,
    *,
    method: str = ...,
    X_test: Any = ...,
    y_test: Any = ...,
    cv: Any = ...,
    by: str = ...,
    estimator: Any = ...,
    cuts: Any = ...,
    against: str = ...,
    aggregate: str | None = ...,
    renormalize: bool | None = ...,
    n_jobs: int | None = ...,
    random_state: int | np.random.RandomState | None = ...,
) -> FeatureCurve: ...
@overload
def feature_curve(
    X: Any,
    y: Any,
    *,
    method: Sequence[str],
    X_test: Any = ...,
    y_test: Any = ...,
    cv: Any = ...,
    by: str = ...,
    estimator: Any = ...,
    cuts: Any = ...,
    against: str = ...,
    aggregate: str | None = ...,
    renormalize: bool | None = ...,
    n_jobs: int | None = ...,
    random_state: int | np.random.RandomState | None = ...,
) -> list[FeatureCurve]: ...
def feature_curve(
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    cv: Any = None,
    method: str | Sequence[str] = "mask",
    by: str = "normal",
    estimator: Any = None,
    cuts: Any = PAPER_FRACTIONS,
    against: str = "features",
    aggregate: str | None = None,
    renormalize: bool | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> FeatureCurve | list[FeatureCurve]:
    """Measure quality at every cut, for every class against the rest.

    By default quality is measured by 5-fold cross-validation on X and y; given ``X_test`` and
    ``y_test``, on those, with a model trained on X and y.

    Kolcz and Chowdhury, "Avoidance of model re-induction in SVM-based feature selection for text
    categorization", IJCAI 2007, and beyond: one fit (per fold), then all cuts in one pass over the
    documents.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Training documents.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Labels, or a column of zeros and ones per class.
    X_test, y_test : like X and y, optional
        Documents to measure quality on. A cut chosen from such a curve was chosen on them, and the
        result says so.
    cv : int, splitter or iterable, optional
        Folds of X to measure quality on, as in scikit-learn: 5 by default. Features are ranked and
        models trained on the other folds. Not together with a test set.
    method : {"mask", "sv_set", "exact", "warm", "rfe"} or sequence of them, default="mask"
        "mask" drops weights; "sv_set" adds up the masked and re-normalised support vectors again;
        "exact" retrains at each cut; "warm" reaches the same optimum from the dual of the cut
        before; "rfe" ranks anew by each retrained model before the next cut. A sequence gives one
        curve per method from one training per fold.
    by : str, default="normal"
        The criterion, as in `rank_features`.
    estimator : estimator, optional
        A `DualLinearSVC`, the default one if None; for "mask" any linear model of scikit-learn.
        With a test set a fitted one is used as it is; it must have been fitted on X and y.
    cuts : sequence of float or int, or "log", default=PAPER_FRACTIONS
        Fractions of the features with a nonzero score, counts, or powers of two; with
        ``against="sparsity"`` nonzeros per document, by default 2.5, 5, 10, 20, 40 and 80.
    against : {"features", "sparsity"}, default="features"
        The unit of the cuts. "sparsity" keeps as many of the top features of a class as leave
        the training documents at most that many nonzeros on average, and at least one, so that
        criteria can be compared at equal memory. Not for "rfe", which ranks anew at each cut.
    aggregate : {"max", "mean"}, optional
        One ranking for all classes, of the largest or the mean score; each class has its own by
        default.
    renormalize : bool, optional
        Whether documents are scaled to length one after each cut. By default as in the paper: not
        for "mask", and otherwise if the documents of X have length one.
    n_jobs : int, optional
        Threads over classes; -1 for all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the default estimator, of retraining and of the ranking; that of the estimator by
        default.

    Returns
    -------
    curve : FeatureCurve, or list of FeatureCurve for a sequence of methods
        The measures of a class without a training document are NaN.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from spokeshave import feature_curve
    >>> X, y = load_digits(return_X_y=True)
    >>> curve = feature_curve(normalize(X), y, cuts=(0.1, 0.5, 1.0), cv=3, random_state=0)
    >>> curve.auc.shape
    (10, 3)
    >>> curve.smallest_within(0.05, "auc").fraction
    0.1
    """
    start = perf_counter()
    methods = (method,) if isinstance(method, str) else tuple(method)
    check_options(methods, by, against, aggregate, estimator)
    X, y = check_documents(X, y)
    options = CurveOptions(
        methods=methods,
        by=by,
        estimator=estimator,
        cuts=check_cuts(cuts, X.shape[1], against),
        against=against,
        aggregate=aggregate,
        renormalize=renormalize,
        n_jobs=n_jobs,
        random_state=getattr(estimator, "random_state", None)
        if random_state is None
        else random_state,
    )
    classes, indicator = binarize(y)
    names = classes[-indicator.shape[1] :]
    if X_test is None and y_test is None:
        splits = check_cv(5 if cv is None else cv, y, classifier=True).split(X, y)
        folds = [fold.curves for fold in measure_folds(options, X, y, indicator, splits)]
        evaluated_on = "cross-validation"
    elif cv is not None or X_test is None or y_test is None:
        raise ValueError("Give X_test and y_test, or cv, and not both.")
    else:
        X_test, y_test = check_documents(X_test, y_test, like=X)
        indicator = align(y_test, y, classes)
        folds = [measure_fold(options, X, y, X_test, indicator, names).curves]
        evaluated_on = "test set"
    curves = average_folds(options, names, folds, evaluated_on, perf_counter() - start)
    return curves[0] if isinstance(method, str) else curves


def check_options(
    methods: tuple[str, ...], by: str, against: str, aggregate: str | None, estimator: Any
) -> None:
    """Raise ValueError for options that no curve can have."""
    for method in methods or ("",):
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}. Got {method!r} instead.")
        if against == "sparsity" and method == "rfe":
            raise ValueError(
                "against='sparsity' needs a ranking that stays the same from cut to cut. "
                "Got method='rfe' instead, which ranks anew at each: try 'warm'."
            )
        if method != "mask" and not isinstance(estimator, DualLinearSVC | None):
            raise ValueError(
                f"method={method!r} needs a DualLinearSVC, which keeps its dual. "
                f"Got {type(estimator).__name__} instead: only method='mask' works with it."
            )
    if aggregate not in (None, "max", "mean"):
        raise ValueError(f"aggregate must be 'max' or 'mean'. Got {aggregate!r} instead.")
    if against not in AGAINST:
        raise ValueError(f"against must be 'features' or 'sparsity'. Got {against!r} instead.")
    check_criterion(by)


def measure_folds(
    options: CurveOptions,
    X: sparse.csr_matrix,
    y: Any,
    indicator: sparse.csc_matrix,
    splits: Iterator[Split] | Sequence[Split],
    duals: Sequence[DualWeights | None] | None = None,
    weight: NDArray[np.float64] | None = None,
) -> Iterator[MeasuredFold]:
    """Yield the curves of each fold in turn; ``duals`` are the solutions of trained folds.

    Documents are trained with their ``weight``; in the measures each counts once.
    """
    if options.estimator is not None:  # a fitted one has seen the test documents of the folds
        options = replace(options, estimator=clone(options.estimator))
    names = binarize(y)[0][-indicator.shape[1] :]
    for f, (train_rows, test_rows) in enumerate(splits):
        yield measure_fold(
            options,
            X[train_rows],
            y[train_rows],
            X[test_rows],
            indicator[test_rows],
            names,
            solved=None if duals is None else duals[f],
            weight=None if weight is None else weight[train_rows],
        )


def measure_fold(
    options: CurveOptions,
    X: sparse.csr_matrix,
    y: Any,
    X_test: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    names: NDArray[Any],
    *,
    blocks: Sequence[int] | None = None,
    solved: DualWeights | None = None,
    weight: NDArray[np.float64] | None = None,
) -> MeasuredFold:
    """Train on X and y once, and measure every method on the test documents.

    ``indicator`` has a column for each of the ``names``. With ``blocks``, only the classes of
    those blocks of the solver are trained and measured. With ``solved``, nothing is trained.
    ``weight`` is that of the training documents.
    """
    start = perf_counter()
    how = options.by, options.aggregate, options.n_jobs, options.random_state
    fitted = train(X, y, options.estimator, *how, blocks, solved, weight)
    fit_seconds = perf_counter() - start
    seeds = draw_seeds(options.random_state, names.size)
    columns = np.flatnonzero(np.isin(names, fitted.classes))
    tasks = [
        ClassTask(k, column, positives, seeds[column], column if names.size > 1 else 1)
        for k, (column, positives) in enumerate(_list_positives(indicator, columns))
        if fitted.indicator.indptr[k] < fitted.indicator.indptr[k + 1]
    ]
    start = perf_counter()
    test = lay_out_documents(X_test)
    renumbered = test
    if options.cuts.shape[-1] > 1 and set(options.methods) != {"mask"}:
        renumbered = renumber(test, fitted.number)
    n_batches = min(len(tasks), BATCHES_PER_THREAD * effective_n_jobs(options.n_jobs))
    truth = _find_truth(indicator) if y.ndim == 1 else None
    batches = Parallel(
        n_jobs=options.n_jobs, require="sharedmem", batch_size=1, return_as="generator"
    )(
        delayed(_measure_classes)(
            fitted, options, test, renumbered, tasks[first::n_batches], truth is not None
        )
        for first in range(n_batches)
    )
    classes: list[list[ClassCurve] | None] = [None] * names.size
    best: list[BestClasses] | None = None
    for first, (found, of_batch) in enumerate(batches):
        for task, curves in zip(tasks[first::n_batches], found, strict=True):
            classes[task.column] = curves
        best = merge_labels(best, of_batch)
    if fitted.dual is not None:
        gaps = [curve.optima[1] for curves in classes for curve in curves or ()]
        if gaps:
            warn_if_stopped_early(
                np.concatenate(gaps), fitted.dual.stop, retraining=True, stacklevel=4
            )
    seconds = _share_seconds(classes, len(options.methods), perf_counter() - start)
    curves_of_fold = FoldCurves(classes, fit_seconds, seconds, None, best, truth)
    if blocks is None:
        curves_of_fold = count_fold_labels(curves_of_fold)
    return MeasuredFold(curves_of_fold, fitted.dual_weights)


def _find_truth(indicator: sparse.csc_matrix) -> NDArray[np.int32]:
    """Return the class of each document; 0 and 1 if there is one column."""
    codes = np.arange(indicator.shape[1]) if indicator.shape[1] > 1 else np.ones(1)
    return np.asarray(indicator @ codes).astype(np.int32)


def merge_labels(
    first: list[BestClasses] | None, second: list[BestClasses] | None
) -> list[BestClasses] | None:
    """Return the best classes of two groups of classes, for each method."""
    if first is None or second is None:
        return first or second
    return [one.merge(other) for one, other in zip(first, second, strict=True)]


def count_fold_labels(fold: FoldCurves) -> FoldCurves:
    """Return a fold of which all classes have been measured, with counts of its labels."""
    if fold.best is None or fold.truth is None:
        return fold._replace(best=None, truth=None)
    n_classes, truth = max(2, len(fold.classes)), fold.truth
    labels = [each.compare(truth, n_classes) for each in fold.best]
    return fold._replace(labels=labels, best=None, truth=None)


def draw_seeds(seed: Any, n_classes: int) -> NDArray[np.int64]:
    """Return a seed for the retraining of each class."""
    return np.asarray(check_random_state(seed).randint(2**31, size=n_classes))


def _list_positives(
    indicator: sparse.csc_matrix, columns: NDArray[np.intp]
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    indicator = indicator.tocsc()
    for column in columns:
        yield column, indicator.indices[indicator.indptr[column] : indicator.indptr[column + 1]]


def _share_seconds(
    classes: list[list[ClassCurve] | None], n_methods: int, elapsed: float
) -> NDArray[np.float64]:
    """Divide the elapsed time among the methods by the time that threads spent on each."""
    spent = np.zeros(n_methods)
    for curves in classes:
        spent += [curve.seconds for curve in curves] if curves else 0.0
    return np.asarray(elapsed * spent / max(spent.sum(), 1e-9))


def _measure_classes(
    fitted: FittedClasses,
    options: CurveOptions,
    test: ScoredDocuments,
    renumbered: ScoredDocuments,
    tasks: list[ClassTask],
    has_labels: bool,
) -> tuple[list[list[ClassCurve]], list[BestClasses] | None]:
    """Measure some classes one by one, in buffers that they share.

    With single labels, also returns the best of the classes for each document, by each method.
    """
    buffers = allocate_buffers(test, options.cuts.shape[-1], fitted.X.shape[1])
    shared = None
    if options.aggregate and options.cuts.ndim == 1:
        shared = find_cut(fitted, 0, options.cuts, options.against)
    best = None
    if has_labels:
        shape = buffers.scores.shape
        has_two = tasks[0].label != tasks[0].column
        best = [begin_labels(*shape, has_two_classes=has_two) for _ in options.methods]
    found = []
    for task in tasks:
        cuts = options.list_cuts(task.column)
        cut = shared or find_cut(fitted, task.k, cuts, options.against)
        nonzeros = count_nonzeros(fitted, cut)
        curves = []
        for m, method in enumerate(options.methods):
            documents = test if method == "mask" else renumbered
            labels = None if best is None else best[m]
            curves.append(
                _measure_class(
                    fitted, task, options, method, cut, nonzeros, documents, buffers, labels
                )
            )
        found.append(curves)
    return found, best


def _measure_class(
    fitted: FittedClasses,
    task: ClassTask,
    options: CurveOptions,
    method: str,
    cut: Cut,
    nonzeros: NDArray[np.float64],
    test: ScoredDocuments,
    buffers: ScoreBuffers,
    labels: BestClasses | None,
) -> ClassCurve:
    """Score the test documents at every cut of a class by one method, and count."""
    start = perf_counter()
    n_cuts, n_ranked = cut.ends.size, cut.order.size
    unit = decide_unit(options.renormalize, method, fitted)
    optima = np.full((2, n_cuts), np.nan)
    if method == "mask":
        score_masked(test, cut, fitted.coef[task.k], fitted.intercept[task.k], unit, buffers)
    elif n_cuts == 1:
        at = fit_at_cut(fitted, task.k, cut, method, unit, task.seed)
        score_masked(test, cut, at.weights, at.intercept, unit, buffers)
        optima[:, 0] = at.objective, at.relative_gap
    elif method == "sv_set":
        weights = sum_support_vectors(fitted, task.k, cut, unit, buffers.by_lane)
        score_weighted(test, cut, weights, unit, buffers)
    else:
        solutions = retrain_class(fitted, task.k, cut, method, unit, task.seed)
        cut, weights = collect_weights(fitted, solutions, cut.ends, buffers.by_lane)
        score_weighted(test, cut, weights, unit, buffers)
        optima = weights.optima
        if method == "rfe":
            nonzeros = count_nonzeros(fitted, cut)
    scores = buffers.scores[0].copy() if options.keep_scores else None
    if labels is not None:
        labels.add(buffers.scores, task.label)
    counts, thresholds = count_order(buffers.scores, task.positives)
    seconds = perf_counter() - start
    return ClassCurve(counts, thresholds, cut.ends, nonzeros, n_ranked, optima, seconds, scores)


def decide_unit(renormalize: bool | None, method: str, fitted: FittedClasses) -> bool:
    """Return whether documents are scaled to length one after each cut."""
    if renormalize is not None:
        return renormalize
    return method != "mask" and fitted.has_unit_rows


def average_folds(
    options: CurveOptions,
    names: NDArray[Any],
    folds: Sequence[FoldCurves],
    evaluated_on: str,
    seconds: float,
) -> list[FeatureCurve]:
    """Return the curve of each method over all folds, given the elapsed time of all methods."""
    spent = np.sum([fold.seconds for fold in folds], axis=0)
    return [
        _average_method(
            options, names, folds, m, evaluated_on, float(seconds - spent.sum() + spent[m])
        )
        for m in range(len(options.methods))
    ]


def _average_method(
    options: CurveOptions,
    names: NDArray[Any],
    folds: Sequence[FoldCurves],
    m: int,
    evaluated_on: str,
    seconds: float,
) -> FeatureCurve:
    """Return the curve of one method; a class counts for nothing in a fold without it."""
    shape = len(folds), names.size, options.cuts.size
    counts = Counts(*np.zeros((len(Counts._fields), *shape)))
    thresholds, n_features, nonzeros, n_ranked, objectives = np.full((5, *shape), np.nan)
    for f, fold in enumerate(folds):
        for k, curves in enumerate(fold.classes):
            if curves is not None:
                curve = curves[m]
                for whole, part in zip(counts, curve.counts, strict=True):
                    whole[f, k] = part
                thresholds[f, k], n_features[f, k] = curve.thresholds, curve.n_features
                nonzeros[f, k], n_ranked[f, k] = curve.nonzeros, curve.n_ranked
                objectives[f, k] = curve.optima[0]
    thresholds[counts.positive == 0] = np.nan
    is_fraction = options.cuts.dtype.kind == "f" and options.against == "features"
    shares = n_features / np.maximum(n_ranked, 1)
    return FeatureCurve(
        classes=names,
        cuts=options.cuts,
        fractions=options.cuts if is_fraction else mean_known(mean_known(shares, 0), 0),
        n_features=np.rint(np.nan_to_num(mean_known(n_features, 0))).astype(np.intp),
        nonzeros=mean_known(nonzeros, 0),
        thresholds=mean_known(thresholds, 0),
        counts=counts,
        method=options.methods[m],
        by=options.by,
        evaluated_on=evaluated_on,
        seconds=seconds,
        fit_seconds=sum(fold.fit_seconds for fold in folds),
        objectives=mean_known(objectives, 0),
        against=options.against,
        labels=_stack_labels([fold.labels for fold in folds], m),
    )


def _stack_labels(folds: list[list[LabelCounts] | None], m: int) -> LabelCounts | None:
    """Return the counts of the labels predicted by one method (folds x classes x cuts)."""
    found = [fold[m] for fold in folds if fold is not None]
    if len(found) < len(folds):
        return None
    return LabelCounts(*(np.stack(field) for field in zip(*found, strict=True)))
