"""The tasks of a learning curve: fit the steps, choose C, train, and measure on test documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import assert_all_finite, check_random_state, get_tags

from spokeshave.metrics import count_order, measure
from spokeshave.shaping.bns import BNSScaler
from spokeshave.shaping.feature_shaper import FeatureShaper, make_stages
from spokeshave.shaping.local_probability import LocalProbabilityShaper
from spokeshave.shaping.shaped_svc import (
    ShapedDocuments,
    fit_shaper,
    fit_transforms,
    read_documents,
)
from spokeshave.svm.binary import (
    Prepared,
    check_rows,
    is_plain,
    prepare,
    solve_path,
    train_and_score,
)
from spokeshave.svm.estimator import check_svc
from spokeshave.svm.tuning import (
    Folds,
    choose_best,
    choose_C,
    deal_folds,
    is_settled,
    split_steps,
    take_middle,
)

MEASURED = ("auc", "f1", "accuracy", "precision_at_20")
MEASURE_OF = {None: "accuracy", "accuracy": "accuracy", "f1": "f1", "roc_auc": "auc"}

Result = dict[str, float]


class LearningOptions(NamedTuple):
    """The documents and the options of a learning curve.

    ``Y`` has a column of zeros and ones for each class. ``labels`` stratify the folds that C is
    chosen by; with None each class has stratified folds of its own.
    """

    X: Any
    Y: NDArray[np.int8]
    labels: NDArray[Any] | None
    estimator: Any
    Cs: tuple[float, ...] | None
    tune_cv: int
    scoring: Any


class Sample(NamedTuple):
    """Training and test documents, by number, and a seed for each class."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    seeds: NDArray[np.int64]


def run_tasks(options: LearningOptions, sample: Sample, classes: Sequence[int]) -> list[Result]:
    """Tune and train some classes on a sample, and measure each on the test documents."""
    known = [k for k in classes if np.ptp(options.Y[sample.train, k])]
    is_lean = is_plain(split_steps(options.estimator)[1]) and options.scoring in MEASURE_OF
    if is_lean and options.labels is not None and known:
        found = dict(zip(known, _run_shared(options, sample, known), strict=True))
    else:
        found = {k: _run_one(options, sample, k) for k in known}
    unknown = dict.fromkeys(("C", *MEASURED, "seconds"), np.nan)
    return [found.get(k, unknown) for k in classes]


def _run_shared(options: LearningOptions, sample: Sample, classes: list[int]) -> list[Result]:
    """Run classes that share the steps which do not depend on the class."""
    start = perf_counter()
    model = _set_seeds(clone(options.estimator), int(sample.seeds[0]))
    before, last = split_steps(model)
    for C in options.Cs or (last.C,):
        check_svc(clone(last).set_params(C=C))
    svcs = [clone(last) for _ in classes]
    if split_steps(options.estimator)[1].random_state is None:
        for k, svc in zip(classes, svcs, strict=True):
            svc.random_state = int(sample.seeds[k])
    X, Y = options.X[sample.train], options.Y[sample.train].astype(np.intp)
    if options.Cs is not None:
        assert options.labels is not None
        folds = deal_folds(options.labels[sample.train], options.tune_cv)
        for svc, C in zip(
            svcs, _choose_shared(options, before, svcs, X, Y, folds, classes), strict=True
        ):
            svc.C = C
    transform = fit_steps(before, X, Y, options.X[sample.test])
    results = []
    for k, svc in zip(classes, svcs, strict=True):
        laid, X_test = transform(k)
        scores = train_and_score(svc, laid, Y[:, k], X_test)
        results.append({"C": float(svc.C), **_measure(scores, options.Y[sample.test, k])})
    seconds = (perf_counter() - start) / len(classes)
    return [{**result, "seconds": seconds} for result in results]


def _choose_shared(
    options: LearningOptions,
    before: Any,
    svcs: list[Any],
    X: Any,
    Y: NDArray[np.intp],
    folds: Folds,
    classes: list[int],
) -> list[float]:
    """Return the best C of each class."""
    assert options.Cs is not None
    Cs, name = options.Cs, MEASURE_OF[options.scoring]
    is_open = {k: not is_settled(Y[:, k], Cs) for k in classes}
    scores: dict[int, list[list[float]]] = {k: [] for k in classes}
    for train, test in folds if any(is_open.values()) else ():
        transform = fit_steps(before, X[train], Y[train], X[test])
        for k, svc in zip(classes, svcs, strict=True):
            if is_open[k] and np.ptp(Y[train, k]):
                laid, X_test = transform(k)
                seed = check_random_state(svc.random_state).randint(2**31)
                found = solve_path(laid, Y[train, k], svc, Cs, seed).score(X_test)
                scores[k].append(_score(found, Y[test, k], name))
    return [choose_best(Cs, scores[k]) if is_open[k] else take_middle(Cs) for k in classes]


def _score(scores: NDArray[np.float64], target: NDArray[np.intp], name: str) -> list[float]:
    """Return a measure of each row of scores; accuracy is known without a positive document."""
    if name == "accuracy":
        return [float(share) for share in ((scores > 0) == target).mean(axis=1)]
    counts, _ = count_order(scores, np.flatnonzero(target))
    return [float(value) for value in measure(name, counts)]


def _run_one(options: LearningOptions, sample: Sample, k: int) -> Result:
    """Run one class, with any classifier."""
    start, X, y = (
        perf_counter(),
        options.X[sample.train],
        options.Y[sample.train, k].astype(np.intp),
    )
    model = _set_seeds(clone(options.estimator), int(sample.seeds[k]))
    classifier = split_steps(model)[1]
    if options.Cs is not None:
        labels = y if options.labels is None else options.labels[sample.train]
        folds = deal_folds(labels, options.tune_cv)
        classifier.set_params(C=choose_C(model, X, y, options.Cs, folds, options.scoring))
    model.fit(X, y)
    X_test = options.X[sample.test]
    if hasattr(model, "predict_proba"):
        scores = np.array(model.predict_proba(X_test)[None, :, 1] - 0.5, float)
    else:
        scores = np.array(model.decision_function(X_test)[None, :], float)
    C = float(classifier.get_params().get("C", np.nan))
    measured = _measure(scores, options.Y[sample.test, k])
    return {"C": C, **measured, "seconds": perf_counter() - start}


def _measure(scores: NDArray[np.float64], target: NDArray[Any]) -> Result:
    counts, _ = count_order(scores, np.flatnonzero(target))
    return {name: float(measure(name, counts)[0]) for name in MEASURED}


def _set_seeds(model: Any, seed: int) -> Any:
    unset = [
        name
        for name, value in model.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    ]
    return model.set_params(**dict.fromkeys(unset, seed))


class TransformedClass(NamedTuple):
    """Training documents, laid out for the solver, and test documents, transformed for a class."""

    train: Prepared
    test: Any


ClassTransform = Callable[[int], TransformedClass]


def fit_steps(before: Any, X: Any, Y: NDArray[np.intp], X_test: Any) -> ClassTransform:
    """Fit the steps before a classifier, and return a function that transforms for a class.

    ``Y`` has a column of zeros and ones for each class. Steps that need no target are fitted once
    for all classes, without a target. The classes share the statistics of a last `FeatureShaper`
    if they can; any other step is fitted for each class anew.
    """
    shared, own = split_shared(before)
    if shared is not None:
        shared = clone(shared)
        X, X_test = shared.fit_transform(X), shared.transform(X_test)
    if own is None:
        transformed = TransformedClass(prepare(check_rows(X)), check_rows(X_test))
        return lambda k: transformed
    if type(own) is FeatureShaper and can_share_statistics(own):
        return _share_statistics(own, X, Y, X_test)

    def transform_class(k: int) -> TransformedClass:
        steps = clone(own)
        train = steps.fit_transform(X, Y[:, k])
        return TransformedClass(prepare(check_rows(train)), check_rows(steps.transform(X_test)))

    return transform_class


def split_shared(before: Any) -> tuple[Any, Any]:
    """Return the leading steps without a target, and the other steps; None for no steps."""
    if before is None:
        return None, None
    steps = [step for _, step in before.steps] if isinstance(before, Pipeline) else [before]
    steps = [step for step in steps if step not in ("passthrough", None)]
    needs = [_needs_target(step) for step in steps]
    first = needs.index(True) if any(needs) else len(steps)
    return _join(steps[:first]), _join(steps[first:])


def can_share_statistics(shaper: FeatureShaper) -> bool:
    """Return whether one pass over the values gives the statistics of all classes."""
    shape, scale = make_stages(shaper.shape, shaper.scale, shaper.norm, None)
    is_known = shape is None or type(shape) is LocalProbabilityShaper or shaper.shape == "binary"
    is_crossed = getattr(shape, "cross_fit", False) or getattr(shape, "n_neighbors", 0) == "auto"
    is_scaled = scale is None or type(scale) is BNSScaler
    return is_known and is_scaled and not is_crossed and not shaper.keep_raw


def _share_statistics(
    shaper: FeatureShaper, X: Any, Y: NDArray[np.intp], X_test: Any
) -> ClassTransform:
    shape, scale = make_stages(shaper.shape, shaper.scale, shaper.norm, None)
    if not isinstance(shape, LocalProbabilityShaper):
        for part in (X, X_test):
            assert_all_finite(part, input_name="X")
    train = fit_shaper(shape, X, Y if Y.shape[1] > 1 else Y.ravel())
    test = read_documents(shape, X_test)
    indicator = sparse.csc_matrix(Y, dtype=np.int8)
    transforms = fit_transforms(shape, scale, shaper.norm, train, indicator)

    def show(documents: ShapedDocuments, k: int) -> Any:
        """Return documents transformed for class k, dense if all of their cells are stored."""
        rows = transforms.apply(documents, k)
        return rows if train.zero_is_fixed else rows.data.reshape(rows.shape)

    return lambda k: TransformedClass(prepare(show(train, k)), show(test, k))


def _needs_target(step: Any) -> bool:
    """Return whether a step, or one inside it, needs a target.

    A selector may need one whatever its tags say, as `SelectKBest` does.
    """
    inside = [part for part in step.get_params().values() if hasattr(part, "fit")]
    return any(
        isinstance(part, SelectorMixin) or _must_have_target(part) for part in (step, *inside)
    )


def _must_have_target(part: Any) -> bool:
    """Return whether an estimator requires a target, by its tags or by the signature of fit."""
    y = signature(part.fit).parameters.get("y")
    return (y is not None and y.default is y.empty) or bool(get_tags(part).target_tags.required)


def _join(steps: list[Any]) -> Any:
    """Return steps as one transformer, None for no steps."""
    if len(steps) < 2:
        return steps[0] if steps else None
    return make_pipeline(*steps)
