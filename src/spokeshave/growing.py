"""Training sets that grow inside fixed folds, one class against the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import product
from numbers import Integral
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_array, check_consistent_length, check_random_state

from spokeshave.checkpoint import Checkpoint, Fingerprint, Unit, describe, digest
from spokeshave.cuts import count_kept
from spokeshave.evaluation import count_order, measure
from spokeshave.learning import LearningCurve
from spokeshave.targets import binarize, check_targets
from spokeshave.tuning import PAPER_CS, check_Cs, choose_C, split_steps

PAPER_SIZES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
MEASURED = ("auc", "f1", "accuracy", "precision_at_20")

Result = dict[str, float]
Report = Callable[[int, int], Any]


class Fold(NamedTuple):
    """The documents of a fold; the first of ``train`` are those of a smaller training set."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


class Plan(NamedTuple):
    """What each unit of work needs: the documents, and how to train on them."""

    X: Any
    estimator: Any
    Cs: tuple[float, ...] | None
    tune_cv: int
    scoring: Any


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = PAPER_SIZES,
    cv: Any = 10,
    Cs: Iterable[float] | None = PAPER_CS,
    tune_cv: int = 5,
    scoring: Any = None,
    classes: Iterable[Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    checkpoint: str | Path | None = None,
    progress: bool | Report = False,
) -> LearningCurve:
    """Measure quality at growing sizes of the training set, for every class against the rest.

    Section 4 of Forman, Scholz and Rajaram, "Feature shaping for linear SVM classifiers", KDD
    2009. The test folds stay as they are and only the training part of each is sub-sampled, every
    sample within the next. C is tuned by cross-validation on the sample alone.

    A measure is of one fold, and folds are averaged. Scores of different folds come from different
    models and cannot be compared, so they are never pooled and sorted together.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba`` or ``decision_function``, or a pipeline that ends in
        one; it is not changed. It is trained on 1 for the documents of a class and 0 for the rest,
        and so are transformers that look at the target.
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Documents. NaN is allowed where the estimator allows it.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Labels, or a column of zeros and ones per class.
    sizes : sequence of float or int, default=PAPER_SIZES
        Fractions of the training part of each fold, or numbers of documents from 2 on.
    cv : int, splitter or iterable, default=10
        Test folds, the same for every class. An integer gives shuffled ones, stratified for single
        labels.
    Cs : iterable of float or None, default=(0.01, 0.1, 1, 10, 100)
        Values of C to try, of which the best is taken, the smallest of equals. In a pipeline it is
        the C of the last step, and the steps before it are fitted once for all values. None leaves
        the estimator as it is.
    tune_cv : int, default=5
        Folds of the training set for the choice of C. They are as many as the documents of the
        smaller class where those are fewer; for a single one the middle value is taken.
    scoring : str or callable, optional
        What the choice of C maximises, as in scikit-learn; accuracy by default. Of a pipeline it
        sees the last step.
    classes : iterable, optional
        Those of the classes to go through; all by default.
    n_jobs : int, optional
        Threads, or workers of the backend that ``joblib.parallel_config`` names; -1 for all cores.
        The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, the samples, and each ``random_state`` of the estimator that is None.
        With the same integer, two estimators get the same folds and samples.
    checkpoint : str or Path, optional
        File for the finished units of work, each a class in a fold at a size. The same call again
        goes on from there; other arguments are refused. Needs ``random_state``.
    progress : bool or callable, default=False
        Whether to show a bar with the time left, on a terminal; or what to call with the number of
        finished units and of all units, at the start and after each unit.

    Returns
    -------
    curve : LearningCurve

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from spokeshave import DualLinearSVC, learning_curve
    >>> X, y = load_digits(return_X_y=True)
    >>> curve = learning_curve(
    ...     DualLinearSVC(), normalize(X), y, sizes=(0.02, 0.2), cv=3, Cs=[1.0], random_state=0
    ... )
    >>> curve.macro("auc").round(2)
    array([0.94, 0.99])
    """
    plan = _check_plan(estimator, Cs, tune_cv, scoring, X)
    _check_choices(checkpoint, random_state, progress)
    y = check_targets(y if sparse.issparse(y) else np.asarray(y))
    check_consistent_length(plan.X, y)
    labels, indicator = binarize(y)
    names = labels[-indicator.shape[1] :]
    columns = _find_columns(names, classes)
    rng = check_random_state(random_state)
    folds = _make_folds(plan.X, y, cv, rng)
    sizes = _check_sizes(sizes, min(fold.train.size for fold in folds))
    n_documents = count_kept(sizes, np.array([fold.train.size for fold in folds]))
    # Seeds are of all classes and no size, so that a class scores the same whatever else is asked.
    seeds = rng.randint(2**31, size=(names.size, len(folds)))

    def start_unit(unit: Unit) -> Any:
        k, f, s = unit
        target, train = indicator[:, [k]].toarray().ravel().astype(np.intp), folds[f].train
        return delayed(_run_unit)(
            unit, plan, target, train[: n_documents[f, s]], folds[f].test, seeds[k, f]
        )

    # The largest of a fold go first: what is left for the end, when threads run out, is small.
    units: list[Unit] = list(product(columns, range(len(folds)), reversed(range(sizes.size))))
    keeper: AbstractContextManager[Checkpoint | None] = nullcontext()
    if checkpoint is not None:
        fingerprint = _identify(plan, names, indicator, sizes, folds, seeds)
        keeper = Checkpoint(checkpoint, fingerprint)
    with keeper as kept, _reporting(progress) as report:
        results = _run(units, start_unit, n_jobs, kept, report)
    return _gather(names[columns], columns, sizes, n_documents, results)


def _check_plan(estimator: Any, Cs: Any, tune_cv: Any, scoring: Any, X: Any) -> Plan:
    name, last = type(estimator).__name__, split_steps(estimator)[1]
    if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise ValueError(
            "estimator must have predict_proba or decision_function, to order documents by. "
            f"Got {name} instead."
        )
    if not isinstance(tune_cv, Integral) or tune_cv < 2:
        raise ValueError(f"tune_cv must be an integer from 2 on. Got {tune_cv!r} instead.")
    if Cs is not None:
        Cs = check_Cs(Cs)
        if "C" not in last.get_params():
            raise ValueError(
                f"estimator must have a parameter C to tune. Got {type(last).__name__} instead: "
                "pass Cs=None to train it as it is."
            )
        check_scoring(last, scoring)
    X = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan")
    return Plan(X, estimator, Cs, int(tune_cv), scoring)


def _check_choices(checkpoint: Any, random_state: Any, progress: Any) -> None:
    if checkpoint is not None and random_state is None:
        raise ValueError(
            "random_state must be an integer where there is a checkpoint: without a seed a run "
            "cannot be resumed. Got None instead."
        )
    if not (isinstance(progress, bool) or callable(progress)):
        raise ValueError(
            f"progress must be True, False or a function of two numbers. Got {progress!r} instead."
        )


def _check_sizes(sizes: Any, n_available: int) -> NDArray[Any]:
    """Return the sizes in ascending order: floats are fractions, integers are counts."""
    found = np.unique(np.asarray(sizes))
    is_fraction = found.dtype.kind == "f" and ((found > 0) & (found <= 1)).all()
    is_count = found.dtype.kind in "iu" and (found > 1).all()
    if found.size == 0 or not (is_fraction or is_count):
        raise ValueError(
            "sizes must be fractions above 0 and up to 1.0, or whole numbers of documents from 2 "
            f"on. Got {sizes!r} instead."
        )
    if is_count and found[-1] > n_available:
        raise ValueError(
            f"sizes must be at most {n_available}, the documents that the smallest fold trains on. "
            f"Got {found[-1]} instead."
        )
    return found


def _find_columns(names: NDArray[Any], classes: Iterable[Any] | None) -> list[int]:
    known = names.tolist()
    wanted = known if classes is None else list(classes)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        got = repr(unknown[0]) if unknown else "none"
        raise ValueError(
            f"classes must be among {', '.join(map(str, known[:10]))}"
            f"{', …' if len(known) > 10 else ''}. Got {got} instead."
        )
    return [k for k, name in enumerate(known) if name in wanted]


def _make_folds(X: Any, y: Any, cv: Any, rng: np.random.RandomState) -> list[Fold]:
    """Return folds whose training documents are in the order in which samples take them up."""
    seed, order_rng = rng.randint(2**31), np.random.RandomState(rng.randint(2**31))
    if isinstance(cv, Integral):
        kind = KFold if y.ndim == 2 else StratifiedKFold
        cv = kind(int(cv), shuffle=True, random_state=seed)
    labels = np.zeros(y.shape[0]) if y.ndim == 2 else y
    return [
        Fold(np.asarray(train)[nest(labels[train], order_rng)], np.asarray(test))
        for train, test in check_cv(cv, y, classifier=True).split(X, y)
    ]


def nest(labels: NDArray[Any], rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return a random order of documents that has each label in nearly its share wherever it ends.

    Documents of a label stand at even distances, the first of them at random within one distance.

    Examples
    --------
    >>> labels = np.array(["ash"] * 6 + ["oak"] * 3)
    >>> labels[nest(labels, np.random.RandomState(0))[:3]]
    array(['ash', 'oak', 'ash'], dtype='<U3')
    """
    shuffled = rng.permutation(labels.size)
    _, codes, sizes = np.unique(labels[shuffled], return_inverse=True, return_counts=True)
    rank = np.empty(codes.size)
    rank[np.argsort(codes, kind="stable")] = np.concatenate([np.arange(size) for size in sizes])
    place = (rank + rng.random_sample(sizes.size)[codes]) / sizes[codes]
    return np.asarray(shuffled[np.argsort(place, kind="stable")])


def _run(
    units: list[Unit],
    start_unit: Callable[[Unit], Any],
    n_jobs: int | None,
    kept: Checkpoint | None,
    report: Report,
) -> dict[Unit, Result]:
    """Return the results of all units, running those that no checkpoint has kept."""
    done = kept.done if kept else {}
    results = {unit: done[unit] for unit in units if unit in done}
    report(len(results), len(units))
    # As they come, so that what is finished is kept at once; one by one, for the same reason.
    workers = Parallel(
        n_jobs=n_jobs, prefer="threads", batch_size=1, return_as="generator_unordered"
    )
    outputs = workers(start_unit(unit) for unit in units if unit not in done)
    try:
        for unit, result in outputs:
            if kept:
                kept.add(unit, result)
            results[unit] = result
            report(len(results), len(units))
    except BaseException as error:
        outputs.throw(error)  # stops the workers
        raise
    return results


def _run_unit(
    unit: Unit,
    plan: Plan,
    target: NDArray[np.intp],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    seed: int,
) -> tuple[Unit, Result]:
    """Tune and train on some documents, and measure on others."""
    start, X, y = perf_counter(), plan.X[train], target[train]
    if y.min() == y.max():
        return unit, dict.fromkeys(("C", *MEASURED, "seconds"), np.nan)
    model = _set_seeds(clone(plan.estimator), int(seed))
    classifier = split_steps(model)[1]
    if plan.Cs is not None:
        classifier.set_params(C=choose_C(model, X, y, plan.Cs, plan.tune_cv, plan.scoring))
    scores = _score(model.fit(X, y), plan.X[test])
    counts, _ = count_order(scores, np.flatnonzero(target[test]))
    result = {name: float(measure(name, counts)[0]) for name in MEASURED}
    C = float(classifier.get_params().get("C", np.nan))
    return unit, {"C": C, **result, "seconds": perf_counter() - start}


def _set_seeds(model: Any, seed: int) -> Any:
    unset = [
        name
        for name, value in model.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    ]
    return model.set_params(**dict.fromkeys(unset, seed))


def _score(model: Any, X: Any) -> NDArray[np.float64]:
    """Return a row of scores, above 0 for what is taken for the class."""
    if hasattr(model, "predict_proba"):
        return np.array(model.predict_proba(X)[None, :, 1] - 0.5, float)
    return np.array(model.decision_function(X)[None, :], float)


def _identify(
    plan: Plan,
    names: NDArray[Any],
    indicator: Any,
    sizes: NDArray[Any],
    folds: list[Fold],
    seeds: NDArray[Any],
) -> Fingerprint:
    """Return all that results depend on; which classes are asked for is no part of it."""
    return {
        "X": digest(plan.X),
        "y": [digest(indicator), [str(name) for name in names]],
        "estimator": describe(plan.estimator),
        "Cs": plan.Cs,
        "tune_cv": plan.tune_cv,
        "scoring": describe(plan.scoring),
        "sizes": sizes.tolist(),
        "folds": [[digest(fold.train), digest(fold.test)] for fold in folds],
        "seeds": digest(seeds),
    }


@contextmanager
def _reporting(progress: bool | Report) -> Iterator[Report]:
    """Give what to call with the number of finished units and of all."""
    if not isinstance(progress, bool):
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (progress and console.is_terminal),
        speed_estimate_period=3600,  # units may take minutes
    )
    with bar:
        task = bar.add_task("")
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _gather(
    names: NDArray[Any],
    columns: list[int],
    sizes: NDArray[Any],
    n_documents: NDArray[np.intp],
    results: dict[Unit, Result],
) -> LearningCurve:
    found = {
        name: np.empty((len(columns), *n_documents.shape)) for name in ("C", *MEASURED, "seconds")
    }
    for (k, f, s), result in results.items():
        for name, values in found.items():
            values[columns.index(k), f, s] = result[name]
    return LearningCurve(
        classes=names,
        sizes=sizes,
        n_documents=n_documents,
        C=found["C"],
        values={name: found[name] for name in MEASURED},
        seconds=found["seconds"],
    )
