"""Learning curves: quality against the size of the training set, inside fixed test folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_consistent_length, check_random_state

from spokeshave.curves.cuts import count_kept
from spokeshave.curves.learning_tasks import MEASURED, LearningOptions, Result, Sample, run_tasks
from spokeshave.metrics import mean_known
from spokeshave.svm.tuning import PAPER_CS, check_Cs, split_steps
from spokeshave.utils.checkpoint import Checkpoint, Fingerprint, Unit, describe, digest
from spokeshave.utils.validation import binarize, check_array, check_target_format, check_targets

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

PAPER_SIZES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)

Report = Callable[[int, int], Any]


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Quality at every size of the training set, for every class and fold.

    Measures are ``"auc"``, ``"f1"``, ``"accuracy"`` and ``"precision_at_20"``. They are NaN where
    the training documents are all of one class, or no test document is of the class; averages
    leave those out.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Labels; the second of two, or column numbers for multilabel targets.
    sizes : ndarray of shape (n_sizes,)
        The sizes as they were given, ascending: fractions or counts.
    n_documents : ndarray of shape (n_folds, n_sizes)
        Training documents.
    C : ndarray of shape (n_classes, n_folds, n_sizes)
        The C that was chosen; NaN where nothing was trained, or the classifier has no C.
    values : dict of str to ndarray of shape (n_classes, n_folds, n_sizes)
        Each measure on each test fold.
    seconds : ndarray of shape (n_classes, n_folds, n_sizes)
        Time that tuning, training and scoring took.
    """

    classes: NDArray[Any]
    sizes: NDArray[Any]
    n_documents: NDArray[np.intp]
    C: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]
    seconds: NDArray[np.float64]

    def per_class(self, measure: str = "auc") -> NDArray[np.float64]:
        """Return a measure (n_classes, n_sizes), the mean over folds."""
        return mean_known(self._find(measure), axis=1)

    def macro(self, measure: str = "auc") -> NDArray[np.float64]:
        """Return the mean of a measure over classes, at each size."""
        return mean_known(self.per_class(measure), axis=0)

    def standard_error(self, measure: str = "auc") -> NDArray[np.float64]:
        """Return the standard error of the macro-average over folds, at each size."""
        by_fold = mean_known(self._find(measure), axis=0)
        squares = (by_fold - mean_known(by_fold, axis=0)) ** 2
        n_known = np.isfinite(by_fold).sum(axis=0)
        return np.asarray(np.sqrt(mean_known(squares, axis=0) / np.maximum(n_known - 1, 1)))

    def to_frame(self) -> pandas.DataFrame:
        """Return a row per class, fold and size with every measure, as a pandas frame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        class_, fold, size = (index.ravel() for index in np.indices(self.C.shape))
        return pandas.DataFrame(
            {
                "class": self.classes[class_],
                "fold": fold,
                "size": self.sizes[size],
                "n_documents": self.n_documents[fold, size],
                "C": self.C.ravel(),
                **{name: values.ravel() for name, values in self.values.items()},
                "seconds": self.seconds.ravel(),
            }
        )

    def plot(
        self, measure: str = "auc", *, label: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw the macro-average against the number of training documents; needs matplotlib.

        Parameters
        ----------
        measure : str, default="auc"
            The line; its band is one standard error over folds.
        label : str, optional
            Name of the line in the legend.
        ax : matplotlib Axes, optional
            Where to draw, such as the axes of another curve; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        from spokeshave.utils.plotting import draw_learning

        return draw_learning(
            self.n_documents.mean(axis=0),
            self.macro(measure),
            self.standard_error(measure),
            label=label,
            value_label=f"macro {measure}",
            ax=ax,
        )

    def _find(self, name: str) -> NDArray[np.float64]:
        if name not in self.values:
            raise ValueError(
                f"The measure must be one of {', '.join(self.values)}. Got {name!r} instead."
            )
        return self.values[name]


class Fold(NamedTuple):
    """The documents of a fold; a smaller training set is the beginning of ``train``."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


class Block(NamedTuple):
    """Classes to run on one sample of a fold, which share the steps that do not depend on them."""

    fold: int
    size: int
    classes: tuple[int, ...]


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

    Measures are computed on each fold and averaged. Scores of different folds come from different
    models and are not comparable, so they are never pooled.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba`` or ``decision_function``, or a pipeline that ends in
        one; it is not changed. Its target is 1 for the documents of a class and 0 for the rest.
        Transformers that require a target, and selectors, are fitted for each class. Before a
        `DualLinearSVC` other transformers are fitted once for all classes.
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
        Values of C to try; the best is used, the smallest of equals. In a pipeline it is the C of
        the last step, and the steps before it are fitted once for all values. None leaves the
        estimator as it is.
    tune_cv : int, default=5
        Folds of the training set for the choice of C, the same for every class of single labels.
        For a class with a single document the middle value is used.
    scoring : str or callable, optional
        The score that C maximises, as in scikit-learn; accuracy by default. It is given the last
        step of a pipeline.
    classes : iterable, optional
        The classes to measure; all by default.
    n_jobs : int, optional
        Threads, or workers of the backend that ``joblib.parallel_config`` names; -1 for all cores.
        The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, the samples, and each ``random_state`` of the estimator that is None.
        With the same integer, two estimators get the same folds and samples.
    checkpoint : str or Path, optional
        File of the finished tasks, each a class in a fold at a size. The same call resumes from
        it; a call with other arguments is refused. Needs ``random_state``.
    progress : bool or callable, default=False
        Whether to show a bar with the time left, on a terminal; or a function to call with the
        number of finished tasks and of all tasks, at the start and after each sample.

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
    _check_estimator(estimator, Cs, tune_cv, scoring)
    _check_choices(checkpoint, random_state, progress)
    X = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan")
    y = check_targets(check_target_format(y))
    check_consistent_length(X, y)
    labels, indicator = binarize(y)
    names = labels[-indicator.shape[1] :]
    options = LearningOptions(
        X,
        indicator.toarray(),
        None if y.ndim == 2 else y,
        estimator,
        None if Cs is None else check_Cs(Cs),
        int(tune_cv),
        scoring,
    )
    columns = _find_columns(names, classes)
    rng = check_random_state(random_state)
    folds = _make_folds(X, y, cv, rng)
    sizes = _check_sizes(sizes, min(fold.train.size for fold in folds))
    n_documents = count_kept(sizes, np.array([fold.train.size for fold in folds]))
    # Seeds do not depend on the classes or sizes asked for: a class always scores the same.
    seeds = rng.randint(2**31, size=(names.size, len(folds)))

    def start_block(block: Block) -> Any:
        fold = folds[block.fold]
        train = fold.train[: n_documents[block.fold, block.size]]
        sample = Sample(train, fold.test, seeds[:, block.fold])
        return delayed(_run_block)(block, options, sample)

    # The largest samples go first, so that threads idle less at the end.
    samples = list(product(range(len(folds)), reversed(range(sizes.size))))
    keeper: AbstractContextManager[Checkpoint | None] = nullcontext()
    if checkpoint is not None:
        fingerprint = _identify(options, names, indicator, sizes, folds, seeds)
        keeper = Checkpoint(checkpoint, fingerprint)
    with keeper as kept, _reporting(progress) as report:
        results = _run(samples, columns, start_block, n_jobs, kept, report)
    return _gather(names[columns], columns, sizes, n_documents, results)


def _check_estimator(estimator: Any, Cs: Any, tune_cv: Any, scoring: Any) -> None:
    name, last = type(estimator).__name__, split_steps(estimator)[1]
    if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise ValueError(
            "estimator must have predict_proba or decision_function, to order documents by. "
            f"Got {name} instead."
        )
    if not isinstance(tune_cv, Integral) or tune_cv < 2:
        raise ValueError(f"tune_cv must be an integer from 2 on. Got {tune_cv!r} instead.")
    if Cs is not None:
        if "C" not in last.get_params():
            raise ValueError(
                f"estimator must have a parameter C to tune. Got {type(last).__name__} instead: "
                "pass Cs=None to train it as it is."
            )
        check_scoring(last, scoring)


def _check_choices(checkpoint: Any, random_state: Any, progress: Any) -> None:
    if checkpoint is not None and random_state is None:
        raise ValueError(
            "random_state must be an integer with a checkpoint: without a seed a run cannot be "
            "resumed. Got None instead."
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
    """Return folds with their training documents in the order in which samples grow."""
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
    """Return a random order of documents in which every prefix is nearly stratified.

    Documents of a label are evenly spaced, with a random offset.

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
    position = (rank + rng.random_sample(sizes.size)[codes]) / sizes[codes]
    return np.asarray(shuffled[np.argsort(position, kind="stable")])


def _run(
    samples: list[tuple[int, int]],
    columns: list[int],
    start_block: Callable[[Block], Any],
    n_jobs: int | None,
    kept: Checkpoint | None,
    report: Report,
) -> dict[Unit, Result]:
    """Return the results of all tasks, running those that the checkpoint does not have."""
    units: list[Unit] = [(k, f, s) for f, s in samples for k in columns]
    done = kept.done if kept else {}
    results = {unit: done[unit] for unit in units if unit in done}
    report(len(results), len(units))
    left = (Block(f, s, tuple(k for k in columns if (k, f, s) not in done)) for f, s in samples)
    # Unordered and one by one, so that each finished block is saved at once.
    workers = Parallel(
        n_jobs=n_jobs, prefer="threads", batch_size=1, return_as="generator_unordered"
    )
    outputs = workers(start_block(block) for block in left if block.classes)
    try:
        for block, found in outputs:
            for k, result in zip(block.classes, found, strict=True):
                unit: Unit = (k, block.fold, block.size)
                if kept:
                    kept.add(unit, result)
                results[unit] = result
            report(len(results), len(units))
    except BaseException as error:
        outputs.throw(error)  # stops the workers
        raise
    return results


def _run_block(
    block: Block, options: LearningOptions, sample: Sample
) -> tuple[Block, list[Result]]:
    return block, run_tasks(options, sample, block.classes)


def _identify(
    options: LearningOptions,
    names: NDArray[Any],
    indicator: Any,
    sizes: NDArray[Any],
    folds: list[Fold],
    seeds: NDArray[Any],
) -> Fingerprint:
    """Return everything that results depend on, which excludes the classes asked for."""
    return {
        "X": digest(options.X),
        "y": [digest(indicator), [str(name) for name in names]],
        "estimator": describe(options.estimator),
        "Cs": options.Cs,
        "tune_cv": options.tune_cv,
        "scoring": describe(options.scoring),
        "sizes": sizes.tolist(),
        "folds": [[digest(fold.train), digest(fold.test)] for fold in folds],
        "seeds": digest(seeds),
    }


@contextmanager
def _reporting(progress: bool | Report) -> Iterator[Report]:
    """Yield a function to call with the number of finished tasks and of all."""
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
