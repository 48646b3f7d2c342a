"""The tasks of a learning curve: transform, choose C, train, measure."""

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


class Sight(NamedTuple):
    """Training documents, laid out, and documents to test on, as a class sees them."""

    train: Prepared
    test: Any


Look = Callable[[int], Sight]


def look(before: Any, X: Any, Y: NDArray[np.intp], X_test: Any) -> Look:
    """Fit the steps before a classifier, and return what shows each class its documents.

    ``Y`` has a column of zeros and ones for each class. Steps that need no target are fitted once
    for all classes and are given none. Of a last `FeatureShaper` the classes share what is sorted
    and counted, where they can; anything else is fitted for each class anew.
    """
    shared, own = split_shared(before)
    if shared is not None:
        shared = clone(shared)
        X, X_test = shared.fit_transform(X), shared.transform(X_test)
    if own is None:
        sight = Sight(prepare(check_rows(X)), check_rows(X_test))
        return lambda k: sight
    if type(own) is FeatureShaper and has_class_transforms(own):
        return _look_transformed(own, X, Y, X_test)

    def look_alone(k: int) -> Sight:
        steps = clone(own)
        train = steps.fit_transform(X, Y[:, k])
        return Sight(prepare(check_rows(train)), check_rows(steps.transform(X_test)))

    return look_alone


def split_shared(before: Any) -> tuple[Any, Any]:
    """Return the first steps, which need no target, and the others; None where there are none."""
    if before is None:
        return None, None
    steps = [step for _, step in before.steps] if isinstance(before, Pipeline) else [before]
    steps = [step for step in steps if step not in ("passthrough", None)]
    needs = [_needs_target(step) for step in steps]
    first = needs.index(True) if any(needs) else len(steps)
    return _join(steps[:first]), _join(steps[first:])


def has_class_transforms(shaper: FeatureShaper) -> bool:
    """Return whether the transforms of all classes can be fitted from one sort of the values."""
    shape, scale = make_stages(shaper.shape, shaper.scale, shaper.norm, None)
    is_known = shape is None or type(shape) is LocalProbabilityShaper or shaper.shape == "binary"
    is_crossed = getattr(shape, "cross_fit", False) or getattr(shape, "n_neighbors", 0) == "auto"
    is_scaled = scale is None or type(scale) is BNSScaler
    return is_known and is_scaled and not is_crossed and not shaper.keep_raw


def _look_transformed(shaper: FeatureShaper, X: Any, Y: NDArray[np.intp], X_test: Any) -> Look:
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

    return lambda k: Sight(prepare(show(train, k)), show(test, k))


def _needs_target(step: Any) -> bool:
    """Say whether a step, or one inside it, is to be given a target.

    `SelectKBest` may need one whatever its tags say, and so may others like it.
    """
    inside = [part for part in step.get_params().values() if hasattr(part, "fit")]
    return any(
        isinstance(part, SelectorMixin) or _must_have_target(part) for part in (step, *inside)
    )


def _must_have_target(part: Any) -> bool:
    """Say whether an estimator must have a target, by its tags or because fit cannot do without."""
    y = signature(part.fit).parameters.get("y")
    return (y is not None and y.default is y.empty) or bool(get_tags(part).target_tags.required)


def _join(steps: list[Any]) -> Any:
    """Return steps as one."""
    if len(steps) < 2:
        return steps[0] if steps else None
    return make_pipeline(*steps)


MEASURED = ("auc", "f1", "accuracy", "precision_at_20")
MEASURE_OF = {None: "accuracy", "accuracy": "accuracy", "f1": "f1", "roc_auc": "auc"}

Result = dict[str, float]


class Plan(NamedTuple):
    """How to train, and the documents to do it on.

    ``Y`` has a column of zeros and ones for each class; ``labels`` tell which documents are to be
    dealt out evenly when C is chosen, None where each class has to do that by itself.
    """

    X: Any
    Y: NDArray[np.int8]
    labels: NDArray[Any] | None
    estimator: Any
    Cs: tuple[float, ...] | None
    tune_cv: int
    scoring: Any


class Sample(NamedTuple):
    """Documents to train on and to test on, by number, and a seed for each class."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    seeds: NDArray[np.int64]


def run_units(plan: Plan, sample: Sample, classes: Sequence[int]) -> list[Result]:
    """Tune and train each of some classes on a sample, and measure it on the test documents."""
    known = [k for k in classes if np.ptp(plan.Y[sample.train, k])]
    is_lean = is_plain(split_steps(plan.estimator)[1]) and plan.scoring in MEASURE_OF
    if is_lean and plan.labels is not None and known:
        found = dict(zip(known, _run_together(plan, sample, known), strict=True))
    else:
        found = {k: _run_alone(plan, sample, k) for k in known}
    unknown = dict.fromkeys(("C", *MEASURED, "seconds"), np.nan)
    return [found.get(k, unknown) for k in classes]


def _run_together(plan: Plan, sample: Sample, classes: list[int]) -> list[Result]:
    """Run classes side by side: what does not depend on the class is made once."""
    start = perf_counter()
    model = _set_seeds(clone(plan.estimator), int(sample.seeds[0]))
    before, last = split_steps(model)
    for C in plan.Cs or (last.C,):
        check_svc(clone(last).set_params(C=C))
    svcs = [clone(last) for _ in classes]
    if split_steps(plan.estimator)[1].random_state is None:
        for k, svc in zip(classes, svcs, strict=True):
            svc.random_state = int(sample.seeds[k])
    X, Y = plan.X[sample.train], plan.Y[sample.train].astype(np.intp)
    if plan.Cs is not None:
        assert plan.labels is not None
        folds = deal_folds(plan.labels[sample.train], plan.tune_cv)
        for svc, C in zip(
            svcs, _choose_together(plan, before, svcs, X, Y, folds, classes), strict=True
        ):
            svc.C = C
    show = look(before, X, Y, plan.X[sample.test])
    results = []
    for k, svc in zip(classes, svcs, strict=True):
        laid, X_test = show(k)
        scores = train_and_score(svc, laid, Y[:, k], X_test)
        results.append({"C": float(svc.C), **_measure(scores, plan.Y[sample.test, k])})
    seconds = (perf_counter() - start) / len(classes)
    return [{**result, "seconds": seconds} for result in results]


def _choose_together(
    plan: Plan,
    before: Any,
    svcs: list[Any],
    X: Any,
    Y: NDArray[np.intp],
    folds: Folds,
    classes: list[int],
) -> list[float]:
    """Return the best C of each class."""
    assert plan.Cs is not None
    Cs, name = plan.Cs, MEASURE_OF[plan.scoring]
    is_open = {k: not is_settled(Y[:, k], Cs) for k in classes}
    scores: dict[int, list[list[float]]] = {k: [] for k in classes}
    for train, test in folds if any(is_open.values()) else ():
        show = look(before, X[train], Y[train], X[test])
        for k, svc in zip(classes, svcs, strict=True):
            if is_open[k] and np.ptp(Y[train, k]):
                laid, X_test = show(k)
                seed = check_random_state(svc.random_state).randint(2**31)
                found = solve_path(laid, Y[train, k], svc, Cs, seed).score(X_test)
                scores[k].append(_judge(found, Y[test, k], name))
    return [choose_best(Cs, scores[k]) if is_open[k] else take_middle(Cs) for k in classes]


def _judge(scores: NDArray[np.float64], target: NDArray[np.intp], name: str) -> list[float]:
    """Return a measure of each row of scores; accuracy needs no document of the class."""
    if name == "accuracy":
        return [float(share) for share in ((scores > 0) == target).mean(axis=1)]
    counts, _ = count_order(scores, np.flatnonzero(target))
    return [float(value) for value in measure(name, counts)]


def _run_alone(plan: Plan, sample: Sample, k: int) -> Result:
    """Run a class by itself, with any classifier."""
    start, X, y = perf_counter(), plan.X[sample.train], plan.Y[sample.train, k].astype(np.intp)
    model = _set_seeds(clone(plan.estimator), int(sample.seeds[k]))
    classifier = split_steps(model)[1]
    if plan.Cs is not None:
        labels = y if plan.labels is None else plan.labels[sample.train]
        folds = deal_folds(labels, plan.tune_cv)
        classifier.set_params(C=choose_C(model, X, y, plan.Cs, folds, plan.scoring))
    model.fit(X, y)
    X_test = plan.X[sample.test]
    if hasattr(model, "predict_proba"):
        scores = np.array(model.predict_proba(X_test)[None, :, 1] - 0.5, float)
    else:
        scores = np.array(model.decision_function(X_test)[None, :], float)
    C = float(classifier.get_params().get("C", np.nan))
    measured = _measure(scores, plan.Y[sample.test, k])
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
