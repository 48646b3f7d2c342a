"""How a feature curve is found: one fit, then every cut of every class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from spokeshave.curves.cuts import AGAINST, PAPER_FRACTIONS, check_cuts
from spokeshave.curves.fitted import Trained, train
from spokeshave.curves.result import FeatureCurve
from spokeshave.curves.retraining import PATHS, warn_if_stopped_early
from spokeshave.curves.scoring import (
    Bench,
    Cut,
    Documents,
    collect,
    count_nonzeros,
    find_cut,
    lay_out,
    renumber,
    retrain_class,
    score_masked,
    score_weighted,
    set_up,
    weigh_support_vectors,
)
from spokeshave.metrics import Counts, count_order, mean_known
from spokeshave.ranking.criteria import check_criterion
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.utils.validation import align, binarize, check_documents

SHARES_PER_THREAD = 4  # of the classes: enough to even out, and little time spent on dealing
METHODS = ("mask", "sv_set", *PATHS)


@dataclass(frozen=True)
class Plan:
    """What was asked for, the data aside."""

    method: str
    by: str
    estimator: Any
    cuts: NDArray[Any]
    against: str
    aggregate: str | None
    renormalize: bool | None
    n_jobs: int | None
    random_state: Any


class Job(NamedTuple):
    """A class to trace: its row of the model, its column among all classes, and its documents."""

    k: int
    column: int
    positives: NDArray[np.intp]
    seed: int


class ClassCurve(NamedTuple):
    """One class in one fold: an entry per cut, and the number of its ranked features.

    ``optima`` (2 x cuts) are objectives and relative gaps, NaN where nothing was retrained.
    """

    counts: Counts
    thresholds: NDArray[np.float64]
    n_features: NDArray[np.intp]
    nonzeros: NDArray[np.float64]
    n_ranked: int
    optima: NDArray[np.float64]


class Fold(NamedTuple):
    """The curves of the classes of one fold, None for a class it does not train."""

    curves: list[ClassCurve | None]
    fit_seconds: float


def feature_curve(
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    cv: Any = None,
    method: str = "mask",
    by: str = "normal",
    estimator: Any = None,
    cuts: Any = PAPER_FRACTIONS,
    against: str = "features",
    aggregate: str | None = None,
    renormalize: bool | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> FeatureCurve:
    """Measure quality at every cut, for every class against the rest.

    Kolcz and Chowdhury, "Avoidance of model re-induction in SVM-based feature selection for text
    categorization", IJCAI 2007, and beyond: one fit, then all cuts in one pass over the documents.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Training documents.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Labels, or a column of zeros and ones per class.
    X_test, y_test : like X and y, optional
        Documents to measure quality on. What is chosen from such a curve was chosen on them, and
        the result says so.
    cv : int, splitter or iterable, optional
        Folds of X to measure quality on instead, as in scikit-learn: ranked, cut and trained on
        the other folds. 5 where there is no test set.
    method : {"mask", "sv_set", "exact", "warm", "rfe"}, default="mask"
        "mask" drops weights; "sv_set" adds up the masked and re-normalised support vectors again;
        "exact" retrains at each cut; "warm" reaches the same optimum from the dual of the cut
        before; "rfe" ranks anew by each retrained model before the next cut.
    by : str, default="normal"
        The criterion, as in `rank_features`.
    estimator : estimator, optional
        A `DualLinearSVC`, the default one if None; for "mask" any linear model of scikit-learn.
        With a test set a fitted one is used as it is; it must have been fitted on X and y.
    cuts : sequence of float or int, or "log", default=PAPER_FRACTIONS
        Fractions of the features with a nonzero score, counts, or powers of two; with
        ``against="sparsity"`` nonzeros per document, by default 2.5, 5, 10, 20, 40 and 80.
    against : {"features", "sparsity"}, default="features"
        What cuts are numbers of. "sparsity" keeps as many of the top features of a class as leave
        the training documents no more nonzeros than that on average, and one at least, so that
        criteria can be compared at equal memory. Not for "rfe": what it will rank highest at a
        cut is not known before the cut.
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
    curve : FeatureCurve
        A class that X has no document of is left out: its measures are NaN.

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
    _check_choices(method, by, against, aggregate, estimator)
    X, y = check_documents(X, y)
    plan = Plan(
        method=method,
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
        folds = _trace_folds(plan, X, y, indicator, names, 5 if cv is None else cv)
        return gather_folds(plan, names, folds, "cross-validation", start)
    if cv is not None or X_test is None or y_test is None:
        raise ValueError("Give X_test and y_test, or cv, and not both.")
    X_test, y_test = check_documents(X_test, y_test, like=X)
    folds = [trace_fold(plan, X, y, X_test, align(y_test, y, classes), names)]
    return gather_folds(plan, names, folds, "test set", start)


def _check_choices(
    method: str, by: str, against: str, aggregate: str | None, estimator: Any
) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}. Got {method!r} instead.")
    if aggregate not in (None, "max", "mean"):
        raise ValueError(f"aggregate must be 'max' or 'mean'. Got {aggregate!r} instead.")
    if against not in AGAINST:
        raise ValueError(f"against must be 'features' or 'sparsity'. Got {against!r} instead.")
    if against == "sparsity" and method == "rfe":
        raise ValueError(
            "against='sparsity' needs a ranking that stays as it is from cut to cut. "
            "Got method='rfe' instead, which ranks anew at each: try 'warm'."
        )
    check_criterion(by)
    if method != "mask" and not isinstance(estimator, DualLinearSVC | None):
        raise ValueError(
            f"method={method!r} needs a DualLinearSVC, which keeps its dual. "
            f"Got {type(estimator).__name__} instead: only method='mask' works with it."
        )


def _trace_folds(
    plan: Plan,
    X: sparse.csr_matrix,
    y: Any,
    indicator: sparse.csc_matrix,
    names: NDArray[Any],
    cv: Any,
) -> list[Fold]:
    if plan.estimator is not None:
        plan = replace(plan, estimator=clone(plan.estimator))
    splits = check_cv(cv, y, classifier=True).split(X, y)
    return [
        trace_fold(plan, X[train], y[train], X[test], indicator[test], names)
        for train, test in splits
    ]


def trace_fold(
    plan: Plan,
    X: sparse.csr_matrix,
    y: Any,
    X_test: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    names: NDArray[Any],
    blocks: Sequence[int] | None = None,
) -> Fold:
    """Train on X and y; measure on the test documents, which have a column per class named.

    Of some of the solver's ``blocks`` only, for the classes in them.
    """
    start = perf_counter()
    how = plan.by, plan.aggregate, plan.n_jobs, plan.random_state
    trained = train(X, y, plan.estimator, *how, blocks)
    fit_seconds = perf_counter() - start
    unit = decide_unit(plan.renormalize, plan.method, trained)
    shared = find_cut(trained, 0, plan.cuts, plan.against) if plan.aggregate else None
    seeds = check_random_state(plan.random_state).randint(2**31, size=names.size)
    test = lay_out(X_test)
    if plan.method != "mask":
        test = renumber(test, trained.number)
    columns = np.flatnonzero(np.isin(names, trained.classes))
    jobs = [
        Job(k, column, positives, seeds[column])
        for k, (column, positives) in enumerate(_list_positives(indicator, columns))
        if trained.indicator.indptr[k] < trained.indicator.indptr[k + 1]
    ]
    n_shares = min(len(jobs), SHARES_PER_THREAD * effective_n_jobs(plan.n_jobs))
    shares = Parallel(n_jobs=plan.n_jobs, require="sharedmem", batch_size=1)(
        delayed(_trace_share)(trained, plan, shared, unit, test, jobs[first::n_shares])
        for first in range(n_shares)
    )
    curves: list[ClassCurve | None] = [None] * names.size
    for first, found in enumerate(shares):
        for job, curve in zip(jobs[first::n_shares], found, strict=True):
            curves[job.column] = curve
    if trained.dual is not None:
        gaps = [curve.optima[1] for curve in curves if curve is not None]
        worst = np.nan_to_num(gaps).max(initial=0)
        warn_if_stopped_early(worst, trained.dual.stop, stacklevel=4)
    return Fold(curves, fit_seconds)


def _list_positives(
    indicator: sparse.csc_matrix, columns: NDArray[np.intp]
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    indicator = indicator.tocsc()
    for column in columns:
        yield column, indicator.indices[indicator.indptr[column] : indicator.indptr[column + 1]]


def _trace_share(
    trained: Trained,
    plan: Plan,
    shared: Cut | None,
    unit: bool,
    test: Documents,
    jobs: list[Job],
) -> list[ClassCurve]:
    """Trace some classes one by one, in memory that they share."""
    bench = set_up(test, plan.cuts.size, trained.X.shape[1])
    curves = []
    for job in jobs:
        cut = shared or find_cut(trained, job.k, plan.cuts, plan.against)
        curves.append(_trace_class(trained, job, plan, cut, unit, test, bench))
    return curves


def _trace_class(
    trained: Trained,
    job: Job,
    plan: Plan,
    cut: Cut,
    unit: bool,
    test: Documents,
    bench: Bench,
) -> ClassCurve:
    n_ranked, optima = cut.order.size, np.full((2, plan.cuts.size), np.nan)
    if plan.method == "mask":
        score_masked(test, cut, trained.coef[job.k], trained.intercept[job.k], unit, bench)
    elif plan.method == "sv_set":
        weights = weigh_support_vectors(trained, job.k, cut, unit, bench.by_lane)
        score_weighted(test, cut, weights, unit, bench)
    else:
        solutions = retrain_class(trained, job.k, cut, plan.method, unit, job.seed)
        cut, weights = collect(trained, solutions, plan.cuts.size, bench.by_lane)
        score_weighted(test, cut, weights, unit, bench)
        optima = weights.optima
    counts, thresholds = count_order(bench.scores, job.positives)
    nonzeros = count_nonzeros(trained, cut)
    return ClassCurve(counts, thresholds, cut.ends, nonzeros, n_ranked, optima)


def decide_unit(renormalize: bool | None, method: str, trained: Trained) -> bool:
    """Return whether documents are scaled to length one after each cut."""
    if renormalize is not None:
        return renormalize
    return method != "mask" and trained.has_unit_rows


def gather_folds(
    plan: Plan, names: NDArray[Any], folds: list[Fold], evaluated_on: str, start: float
) -> FeatureCurve:
    """Return the curve over all folds; a class counts nothing in a fold that does not train it."""
    shape = len(folds), names.size, plan.cuts.size
    counts = Counts(*np.zeros((len(Counts._fields), *shape)))
    thresholds, n_features, nonzeros, n_ranked, objectives = np.full((5, *shape), np.nan)
    for f, fold in enumerate(folds):
        for k, curve in enumerate(fold.curves):
            if curve is not None:
                for whole, part in zip(counts, curve.counts, strict=True):
                    whole[f, k] = part
                thresholds[f, k], n_features[f, k] = curve.thresholds, curve.n_features
                nonzeros[f, k], n_ranked[f, k] = curve.nonzeros, curve.n_ranked
                objectives[f, k] = curve.optima[0]
    thresholds[counts.positive == 0] = np.nan
    is_fraction = plan.cuts.dtype.kind == "f" and plan.against == "features"
    shares = n_features / np.maximum(n_ranked, 1)
    return FeatureCurve(
        classes=names,
        cuts=plan.cuts,
        fractions=plan.cuts if is_fraction else mean_known(mean_known(shares, 0), 0),
        n_features=np.rint(np.nan_to_num(mean_known(n_features, 0))).astype(np.intp),
        nonzeros=mean_known(nonzeros, 0),
        thresholds=mean_known(thresholds, 0),
        counts=counts,
        method=plan.method,
        by=plan.by,
        evaluated_on=evaluated_on,
        seconds=perf_counter() - start,
        fit_seconds=sum(fold.fit_seconds for fold in folds),
        objectives=mean_known(objectives, 0),
        against=plan.against,
    )
