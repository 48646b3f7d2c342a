"""The two collections, the groups of their classes, and tests over the classes of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from papers.datasets import COLLECTIONS, Split
from papers.study import Setting, Task
from spokeshave import DualLinearSVC, Ranking, paired_test

NAMES = ("RCV1", "Reuters-21578")
MEASURES = ("best_f1", "f1", "auc")
COMPARED = tuple(  # columns of `compare_all`
    name + what for name in MEASURES for what in ("", "_difference", "_p_value")
)
LARGE = 200  # training documents of a large class
SEED = 0
DIGITS = 8  # of results
QUICK_CLASSES = 10
BYTES_PER_NONZERO, BYTES_PER_ROW = 8, 8  # as `sparsity_curve` counts them


def list_collections(setting: Setting) -> list[dict[str, Any]]:
    """Return the arguments of tasks that name a collection."""
    if setting.is_quick:
        return [{"collection": "Reuters-21578", "largest": QUICK_CLASSES}]
    return [{"collection": name, "largest": None} for name in NAMES]


@lru_cache(2)
def load(data: Path, collection: str, largest: int | None) -> Split:
    """Return a collection with its largest classes; None keeps all classes."""
    return COLLECTIONS[collection](data, "binary").keep_largest(largest)


@lru_cache(2)
def fit_whole(data: Path, collection: str, largest: int | None) -> DualLinearSVC:
    """Return the SVM on all documents with all features."""
    split = load(data, collection, largest)
    return DualLinearSVC(n_jobs=1, random_state=SEED).fit(split.X, split.Y)


def follow(model: DualLinearSVC, ranking: Ranking) -> DualLinearSVC:
    """Return a fitted model whose weights are ordered as a ranking.

    Cuts follow the weights of a model; retraining does not use them.
    """
    weights = np.zeros(ranking.scores.shape)
    for k, row in enumerate(weights):
        order = ranking.list_ranked(k)
        row[order] = np.arange(order.size, 0, -1)
    found = copy(model)
    found.coef_ = weights
    return found


def describe(data: Path, *, collection: str, largest: int | None) -> dict[str, Any]:
    """Return the size of a collection and of its classes."""
    split = load(data, collection, largest)
    return {
        "collection": collection,
        "documents": split.X.shape[0],
        "test_documents": split.X_test.shape[0],
        "features": split.X.shape[1],
        "nonzeros": split.X.nnz / split.X.shape[0],
        "megabytes": count_bytes(split.X.nnz, split.X.shape[0]) / 1e6,
        "sizes": split.Y.sum(axis=0).tolist(),
    }


def count_bytes(n_nonzeros: float, n_documents: int) -> float:
    """Return the memory of a sparse matrix in bytes."""
    return BYTES_PER_NONZERO * n_nonzeros + BYTES_PER_ROW * (n_documents + 1)


def list_descriptions(setting: Setting) -> list[Task]:
    """Return the tasks that describe the collections."""
    return [
        Task(f"describe-{where['collection']}", describe, where, cost=1)
        for where in list_collections(setting)
    ]


def read_descriptions(results: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the descriptions among results of tasks, by collection."""
    found = [result for name, result in results.items() if name.startswith("describe-")]
    return {each["collection"]: each for each in found}


def group_classes(sizes: Iterable[int]) -> dict[str, NDArray[np.bool_]]:
    """Return the classes of each group.

    Examples
    --------
    >>> group_classes([1000, 3])["large"]
    array([ True, False])
    """
    documents = np.array(list(sizes))
    is_large = documents >= LARGE
    return {"all": np.ones_like(is_large), "large": is_large, "small": ~is_large}


def to_array(values: Any) -> NDArray[np.float64]:
    """Return lists as an array, NaN for None."""
    return np.array(values, float)


def compare(
    a: NDArray[np.float64], b: NDArray[np.float64], alternative: str = "two-sided"
) -> tuple[float | None, float | None]:
    """Return the mean difference of two methods and its p-value; None for fewer than two classes.

    Examples
    --------
    >>> compare(np.array([0.5]), np.array([0.4]))
    (None, None)
    """
    if np.isfinite(a - b).sum() < 2:
        return None, None
    test = paired_test(a, b, alternative=alternative)
    return test.mean_difference, test.p_value


def compare_all(results: Mapping[str, Any], key: str, reference: str) -> Iterator[dict[str, Any]]:
    """Yield each result with a key, by group of classes, compared with a reference.

    Measures per class become means, differences from the reference and p-values.
    """
    for collection, about in read_descriptions(results).items():
        found = {
            result[key]: result
            for result in results.values()
            if result["collection"] == collection and key in result
        }
        groups = group_classes(about["sizes"])
        for group, (variant, result) in product(("all", "large"), found.items()):
            if not groups[group].any():
                continue
            row: dict[str, Any] = {}
            for name in MEASURES:
                values, others = (
                    to_array(each[name])[groups[group]] for each in (result, found[reference])
                )
                difference, p_value = compare(values, others)
                row[name] = average(values)
                row[f"{name}_difference"] = None if variant == reference else difference
                row[f"{name}_p_value"] = None if variant == reference else p_value
            yield {"collection": collection, "classes": group, **result, **row}


def average(values: NDArray[np.float64]) -> float | None:
    """Return the mean of the finite values, None if there are none."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def tabulate(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows as a table with numbers of six significant digits."""
    frame = pl.DataFrame(list(rows), infer_schema_length=None)
    return frame.with_columns(selectors.float().round_sig_figs(6))
