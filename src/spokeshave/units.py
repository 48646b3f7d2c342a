"""The units of a learning curve: C is chosen, a model is trained, and it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from spokeshave.evaluation import count_order, measure
from spokeshave.sights import look
from spokeshave.tuning import (
    Folds,
    choose_best,
    choose_C,
    deal_folds,
    is_settled,
    split_steps,
    take_middle,
)
from spokeshave.two_classes import is_plain, solve_path, train_and_score

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
        clone(last).set_params(C=C).check_parameters()
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
