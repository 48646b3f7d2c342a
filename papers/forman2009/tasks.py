"""Learning curves of one data set by one method."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from papers.datasets import FORMAN, UCI, Labelled, load_forman, load_uci
from papers.forman2009 import published
from papers.forman2009.methods import METHODS
from papers.forman2009.tables import MEASURES, N_FOLDS, TRAINING_SHARE
from papers.results import to_json
from papers.study import Setting, Task
from spokeshave import learning_curve

LOADERS = {"text": load_forman, "uci": load_uci}
SETS = {"text": FORMAN, "uci": UCI}
LARGE = ("la1s", "la2s", "ohscal", "letter", "optdigits")  # one task per fold
SEED = 0
DIGITS = 6  # of results
QUICK = {"text": ("tr23",), "uci": ("iris",)}
QUICK_FOLDS, QUICK_SIZES = [0], (0.1, 1.0)


def list_tasks(benchmark: str, setting: Setting) -> Iterator[Task]:
    """Yield the tasks of a benchmark, text or uci."""
    sets = QUICK[benchmark] if setting.is_quick else SETS[benchmark]
    for name in sets:
        for method, how in METHODS[benchmark].items():
            sizes = [s for s in how.sizes if not setting.is_quick or s in QUICK_SIZES]
            cost = _guess_cost(benchmark, name) * how.cost * sum(sizes)
            for folds in _block(name, how.n_folds, setting):
                label = f"{benchmark}-{name}-{method}".replace(" ", "_").replace(",", "")
                arguments = {
                    "benchmark": benchmark,
                    "name": name,
                    "method": method,
                    "sizes": sizes,
                    "folds": folds,
                }
                number = "-" + "-".join(map(str, folds)) if len(folds) < how.n_folds else ""
                yield Task(label + number, learn, arguments, cost * len(folds) / N_FOLDS)


def list_sets(setting: Setting) -> Iterator[Task]:
    """Yield one task per data set that describes its size."""
    for benchmark, names in SETS.items():
        for name in QUICK[benchmark] if setting.is_quick else names:
            yield Task(f"set-{name}", describe, {"benchmark": benchmark, "name": name}, 0.1)


def learn(
    data: Path, *, benchmark: str, name: str, method: str, sizes: list[float], folds: list[int]
) -> dict[str, Any]:
    """Return the measures of every class, fold and size of a data set by a method."""
    given, how = LOADERS[benchmark](data, name), METHODS[benchmark][method]
    labels, classes = _pose(given)
    splits = _split(given.labels, how.n_folds)
    curve = learning_curve(
        how.make_estimator(),
        given.X,
        labels,
        sizes=sizes,
        cv=[splits[fold] for fold in folds],
        classes=classes,
        scoring=how.scoring,
        # Folds in separate tasks must draw different samples, but all methods the same ones.
        random_state=SEED + folds[0],
    )
    numbers = {**curve.values, "C": curve.C, "seconds": curve.seconds}
    return {
        "benchmark": benchmark,
        "set": name,
        "method": method,
        "classes": list(given.tasks),
        "sizes": _relate(sizes, how.n_folds),
        "folds": folds,
        **{key: to_json(numbers[key], DIGITS) for key in (*MEASURES, "C", "seconds")},
    }


def _relate(sizes: list[float], n_folds: int) -> list[float]:
    """Return sizes as shares of the training part of one of ten folds."""
    return [round(size * (1 - 1 / n_folds) / TRAINING_SHARE, 6) for size in sizes]


def _split(labels: np.ndarray[Any, Any], n_folds: int) -> list[Any]:
    """Return stratified folds; classes that are too small for them are no tasks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
        return list(folds.split(labels, labels))


def describe(data: Path, *, benchmark: str, name: str) -> dict[str, Any]:
    """Return the size of a data set, in the columns of the paper's Table 1."""
    given = LOADERS[benchmark](data, name)
    sizes = sorted(Counter(given.labels.tolist()).values())
    n, columns = given.X.shape
    features = columns if benchmark == "text" else _count_attributes(data, name)
    nonzeros = given.X.nnz if sparse.issparse(given.X) else np.count_nonzero(given.X)
    return {
        "benchmark": benchmark,
        "set": name,
        "cases": n,
        "classes": len(sizes),
        "smallest": 100 * sizes[0] / n,
        "largest": 100 * sizes[-1] / n,
        "features": features,
        "columns": columns,
        "nonzeros": int(nonzeros),
        "tasks": len(given.tasks),
    }


def _block(name: str, n_folds: int, setting: Setting) -> list[list[int]]:
    """Return the folds of each task of a data set."""
    if setting.is_quick:
        return [QUICK_FOLDS]
    return [[f] for f in range(n_folds)] if name in LARGE else [list(range(n_folds))]


def _guess_cost(benchmark: str, name: str) -> float:
    """Return the approximate running time of the baseline with all training cases."""
    size = published.SETS[benchmark][name]
    return size.classes * (0.3 + size.cases / (3000 if benchmark == "text" else 9000))


def _pose(given: Labelled) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """Return labels and the classes to learn; the rarer of two classes is positive."""
    if np.unique(given.labels).size == 2:
        return given.labels == given.tasks[0], [True]
    return given.labels, list(given.tasks)


def _count_attributes(data: Path, name: str) -> int:
    """Return the number of attributes of a table, without the class, before one-hot encoding."""
    lines = (data / "uci" / f"{name}.arff").read_text(encoding="utf-8").splitlines()
    return sum(line.lower().startswith("@attribute") for line in lines) - 1
