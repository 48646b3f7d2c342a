"""Quality in one memory, as documents are traded for words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spokeshave import DualLinearSVC, budget_curve, feature_curve, rank_features
from spokeshave.papers.collections import Split
from spokeshave.papers.malik.classes import (
    BYTES_PER_NONZERO,
    BYTES_PER_ROW,
    MEASURES,
    average,
    compare,
    count_bytes,
    follow,
    group_classes,
    list_collections,
    list_descriptions,
    load,
    read_descriptions,
    tabulate,
    to_array,
    to_json,
)
from spokeshave.reproduction import Setting, Task

SHARES = (1 / 4, 1 / 16, 1 / 64)
SEEDS = (0, 1, 2)
CRITERIA = ("normal", "information_gain", "odds_ratio")
Results = Mapping[str, Any]


def list_tasks(setting: Setting) -> Iterator[Task]:
    """Yield a task for each memory and each random choice of documents."""
    yield from list_descriptions(setting)
    for where in list_collections(setting):
        size = 15 if where["collection"] == "RCV1" else 6
        for share in SHARES[1:2] if setting.is_quick else SHARES:
            for seed in SEEDS[:1] if setting.is_quick else SEEDS:
                name = f"trade-{where['collection']}-{round(1 / share)}-{seed}"
                arguments = {**where, "share": share, "seed": seed}
                if setting.is_quick:
                    arguments["criteria"] = list(CRITERIA[:2])
                yield Task(name, trade, arguments, cost=size)


def trade(
    data: Path,
    *,
    collection: str,
    largest: int | None,
    share: float,
    seed: int,
    criteria: Sequence[str] = CRITERIA,
) -> dict[str, Any]:
    """Train on ever more documents of ever fewer words in a share of what the whole matrix takes.

    Words are ranked on what fits with all of them. Either all classes share one vocabulary, as in
    `BudgetedSVC`, or each has its own, as in the paper, which trains them one at a time.
    """
    split = load(data, collection, largest)
    memory = int(share * count_bytes(split.X.nnz, split.X.shape[0]))
    curve = budget_curve(
        split.X,
        split.Y,
        memory,
        X_test=split.X_test,
        y_test=split.Y_test,
        estimator=DualLinearSVC(n_jobs=1, random_state=seed),
        n_jobs=1,
        random_state=seed,
    )
    pairs = [pair._asdict() for pair in curve.pairs]
    order = check_random_state(seed).permutation(split.X.shape[0])
    sizes = [pair.n_documents for pair in curve.pairs]
    shared = {name: to_json(curve.per_class(name)) for name in MEASURES}
    return {
        "collection": collection,
        "share": str(Fraction(share)),
        "memory": memory,
        "seed": seed,
        "pairs": pairs,
        "shared normal": shared,
        **{f"own {by}": _trade_by_class(split, order, sizes, memory, by, seed) for by in criteria},
    }


def _trade_by_class(
    split: Split,
    order: NDArray[np.int64],
    sizes: list[int],
    memory: int,
    by: str,
    seed: int,
) -> dict[str, Any]:
    """Return what classes score that keep words of their own."""
    options: dict[str, Any] = {"random_state": seed, "n_jobs": 1}
    first = np.sort(order[: sizes[0]])
    ranking = rank_features(split.X[first], split.Y[first], by, **options)
    found: dict[str, list[Any]] = {name: [] for name in (*MEASURES, "n_features", "nonzeros")}
    for size in sizes:
        documents = np.sort(order[:size])
        X, Y = split.X[documents], split.Y[documents]
        allowed = (memory - BYTES_PER_ROW * (size + 1)) / (BYTES_PER_NONZERO * size)
        curve = feature_curve(
            X,
            Y,
            X_test=split.X_test,
            y_test=split.Y_test,
            estimator=follow(DualLinearSVC(**options).fit(X, Y), ranking),
            method="exact",
            cuts=[allowed],
            against="sparsity",
            **options,
        )
        blind = _know_nothing(split)
        for name in MEASURES:
            values = curve.per_class(name)[:, 0]
            found[name].append(np.where(np.isfinite(values), values, blind[name]))
        found["n_features"].append(curve.n_features[:, 0])
        found["nonzeros"].append(np.nan_to_num(curve.nonzeros[:, 0]))
    return {name: to_json(np.transpose(columns)) for name, columns in found.items()}


def _know_nothing(split: Split) -> dict[str, Any]:
    """Return what scores that are all the same come to: a class without a document has these."""
    n_positive, n_documents = split.Y_test.sum(axis=0), split.Y_test.shape[0]
    return {"best_f1": 2 * n_positive / (n_documents + n_positive), "f1": 0.0, "auc": 0.5}


def tabulate_memory(results: Results) -> dict[str, pl.DataFrame]:
    """Return the tables of this part."""
    return {
        "memory": tabulate(_average_seeds(results)),
        "memory_runs": tabulate(_list_runs(results)),
    }


def _list_runs(results: Results) -> Iterator[dict[str, Any]]:
    """Yield every random choice of documents, with one vocabulary for all classes."""
    for result in results.values():
        for p, pair in enumerate(result.get("pairs", ())):
            values = {name: to_array(result["shared normal"][name]) for name in MEASURES}
            best_f1 = values["best_f1"]
            yield {
                **{key: result[key] for key in ("collection", "share", "memory", "seed")},
                **pair,
                **{name: average(each[:, p]) for name, each in values.items()},
                "best_f1_p_value": compare(best_f1[:, p], best_f1[:, 0])[1] if p else None,
            }


def _average_seeds(results: Results) -> Iterator[dict[str, Any]]:
    """Yield means over choices of documents, and tests of each pair against the first.

    The first pair has all words of the documents that fit. The same number of pairs fits whatever
    the choice, and a little more or fewer documents.
    """
    about = read_descriptions(results)
    runs: dict[tuple[str, str], list[Any]] = {}
    for result in results.values():
        if "pairs" in result:
            runs.setdefault((result["collection"], result["share"]), []).append(result)
    for (collection, share), of in runs.items():
        groups = group_classes(about[collection]["sizes"])
        for how in (name for name in of[0] if name.startswith(("shared", "own"))):
            values = {
                name: np.mean([to_array(run[how][name]) for run in of], axis=0) for name in MEASURES
            }
            for group in ("all", "large"):
                for p in range(len(of[0]["pairs"])):
                    row = {
                        "collection": collection,
                        "share": share,
                        "memory": of[0]["memory"],
                        "vocabulary": how.split()[0],
                        "ranking": how.split()[1],
                        "classes": group,
                        "pair": p,
                        "n_documents": _mean(run["pairs"][p]["n_documents"] for run in of),
                        **_describe_kept(of, how, p, groups[group]),
                    }
                    for name, each in values.items():
                        column, first = each[groups[group], p], each[groups[group], 0]
                        difference, p_value = compare(column, first)
                        row[name] = average(column)
                        row[f"{name}_difference"] = difference if p else None
                        row[f"{name}_p_value"] = p_value if p else None
                    yield row


def _describe_kept(
    runs: list[Any], how: str, p: int, classes: NDArray[np.bool_]
) -> dict[str, float]:
    """Return the words and nonzeros of a pair, means over runs and, of their own, over classes."""
    kept = {}
    for name in ("n_features", "nonzeros"):
        if how.startswith("shared"):
            kept[name] = _mean(run["pairs"][p][name] for run in runs)
        else:
            kept[name] = _mean(to_array(run[how][name])[classes, p].mean() for run in runs)
    return kept


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
