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

from spokeshave import learning_curve
from spokeshave.papers.collections import FORMAN, UCI, Labelled, load_forman, load_uci
from spokeshave.papers.forman2009 import published
from spokeshave.papers.forman2009.methods import METHODS
from spokeshave.papers.forman2009.tables import MEASURES, N_FOLDS, TRAINING_SHARE
from spokeshave.reproduction import Setting, Task

LOADERS = {"text": load_forman, "uci": load_uci}
SETS = {"text": FORMAN, "uci": UCI}
LARGE = ("la1s", "la2s", "ohscal", "letter", "optdigits")  # a task for each fold of these
SEED = 0
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
    """Yield a task for each data set, that counts what it holds."""
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
        # Folds that are run apart must not draw the same samples; all methods draw the same.
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
        **{key: _clear(numbers[key]) for key in (*MEASURES, "C", "seconds")},
    }


def _relate(sizes: list[float], n_folds: int) -> list[float]:
    """Return sizes as shares of the training part of one of ten folds."""
    return [round(size * (1 - 1 / n_folds) / TRAINING_SHARE, 6) for size in sizes]


def _split(labels: np.ndarray[Any, Any], n_folds: int) -> list[Any]:
    """Return folds; a class of fewer cases, which is no task, is not in each of them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
        return list(folds.split(labels, labels))


def describe(data: Path, *, benchmark: str, name: str) -> dict[str, Any]:
    """Return the size of a data set, as the paper's Table 1 has it."""
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
    """Return about how long the baseline takes with all training cases, in arbitrary units."""
    size = published.SETS[benchmark][name]
    return size.classes * (0.3 + size.cases / (3000 if benchmark == "text" else 9000))


def _pose(given: Labelled) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """Return labels and the classes to learn; of two classes the rarer one is positive."""
    if np.unique(given.labels).size == 2:
        return given.labels == given.tasks[0], [True]
    return given.labels, list(given.tasks)


def _count_attributes(data: Path, name: str) -> int:
    """Return the attributes of a table before nominal ones become columns, without the class."""
    lines = (data / "uci" / f"{name}.arff").read_text(encoding="utf-8").splitlines()
    return sum(line.lower().startswith("@attribute") for line in lines) - 1


def _clear(values: Any) -> Any:
    """Return nested lists of rounded numbers, None for NaN."""
    if isinstance(values, np.ndarray):
        return [_clear(value) for value in values]
    return None if np.isnan(values) else round(float(values), 6)
