"""Quality at constant memory: more documents of fewer words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from papers.datasets import Split
from papers.malik import common
from papers.results import to_json
from papers.study import Results, Setting, Task
from spokeshave import DualLinearSVC, budget_curve, feature_curve, rank_features

SHARES = (1 / 4, 1 / 16, 1 / 64)
SEEDS = (0, 1, 2)
CRITERIA = ("normal", "information_gain", "odds_ratio")


def list_tasks(setting: Setting) -> Iterator[Task]:
    """Yield a task for each memory and each random choice of documents."""
    yield from common.list_descriptions(setting)
    for where in common.list_collections(setting):
        size = 15 if where["collection"] == "RCV1" else 6
        for share in SHARES[1:2] if setting.is_quick else SHARES:
            for seed in SEEDS[:1] if setting.is_quick else SEEDS:
                name = f"memory-{where['collection']}-{round(1 / share)}-{seed}"
                arguments = {**where, "share": share, "seed": seed}
                if setting.is_quick:
                    arguments["criteria"] = list(CRITERIA[:2])
                yield Task(name, train_in_memory, arguments, cost=size)


def train_in_memory(
    data: Path,
    *,
    collection: str,
    largest: int | None,
    share: float,
    seed: int,
    criteria: Sequence[str] = CRITERIA,
) -> dict[str, Any]:
    """Train on more and more documents of fewer and fewer words, at constant memory.

    The memory is a share of that of the whole matrix. Words are ranked on the documents that fit
    with all words. Either all classes share one vocabulary, as in `BudgetedSVC`, or each class has
    its own, as in the paper, which trains them one at a time.
    """
    split = common.load(data, collection, largest)
    memory = int(share * common.count_bytes(split.X.nnz, split.X.shape[0]))
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
    shared = {name: to_json(curve.per_class(name), common.DIGITS) for name in common.MEASURES}
    return {
        "collection": collection,
        "share": str(Fraction(share)),
        "memory": memory,
        "seed": seed,
        "pairs": pairs,
        "shared normal": shared,
        **{f"own {by}": _train_by_class(split, order, sizes, memory, by, seed) for by in criteria},
    }


def _train_by_class(
    split: Split,
    order: NDArray[np.int64],
    sizes: list[int],
    memory: int,
    by: str,
    seed: int,
) -> dict[str, Any]:
    """Return the measures when each class keeps its own words."""
    options: dict[str, Any] = {"random_state": seed, "n_jobs": 1}
    first = np.sort(order[: sizes[0]])
    ranking = rank_features(split.X[first], split.Y[first], by, **options)
    found: dict[str, list[Any]] = {
        name: [] for name in (*common.MEASURES, "n_features", "nonzeros")
    }
    for size in sizes:
        documents = np.sort(order[:size])
        X, Y = split.X[documents], split.Y[documents]
        allowed = (memory - common.BYTES_PER_ROW * (size + 1)) / (common.BYTES_PER_NONZERO * size)
        curve = feature_curve(
            X,
            Y,
            X_test=split.X_test,
            y_test=split.Y_test,
            estimator=common.follow(DualLinearSVC(**options).fit(X, Y), ranking),
            method="exact",
            cuts=[allowed],
            against="sparsity",
            **options,
        )
        blind = _know_nothing(split)
        for name in common.MEASURES:
            values = curve.per_class(name)[:, 0]
            found[name].append(np.where(np.isfinite(values), values, blind[name]))
        found["n_features"].append(curve.n_features[:, 0])
        found["nonzeros"].append(np.nan_to_num(curve.nonzeros[:, 0]))
    return {name: to_json(np.transpose(columns), common.DIGITS) for name, columns in found.items()}


def _know_nothing(split: Split) -> dict[str, Any]:
    """Return the measures of constant scores, for classes without a training document."""
    n_positive, n_documents = split.Y_test.sum(axis=0), split.Y_test.shape[0]
    return {"best_f1": 2 * n_positive / (n_documents + n_positive), "f1": 0.0, "auc": 0.5}


def tabulate_memory(results: Results) -> dict[str, pl.DataFrame]:
    """Return the tables of this part."""
    return {
        "memory": common.tabulate(_average_seeds(results)),
        "memory_runs": common.tabulate(_list_runs(results)),
    }


def _list_runs(results: Results) -> Iterator[dict[str, Any]]:
    """Yield every random choice of documents, with one vocabulary for all classes."""
    for result in results.values():
        for p, pair in enumerate(result.get("pairs", ())):
            values = {
                name: common.to_array(result["shared normal"][name]) for name in common.MEASURES
            }
            best_f1 = values["best_f1"]
            yield {
                **{key: result[key] for key in ("collection", "share", "memory", "seed")},
                **pair,
                **{name: common.average(each[:, p]) for name, each in values.items()},
                "best_f1_p_value": common.compare(best_f1[:, p], best_f1[:, 0])[1] if p else None,
            }


def _average_seeds(results: Results) -> Iterator[dict[str, Any]]:
    """Yield means over random choices of documents, and tests of each pair against the first.

    The first pair has all words of the documents that fit. The number of pairs does not depend on
    the choice; their numbers of documents vary a little.
    """
    about = common.read_descriptions(results)
    runs: dict[tuple[str, str], list[Any]] = {}
    for result in results.values():
        if "pairs" in result:
            runs.setdefault((result["collection"], result["share"]), []).append(result)
    for (collection, share), of in runs.items():
        groups = common.group_classes(about[collection]["sizes"])
        for how in (name for name in of[0] if name.startswith(("shared", "own"))):
            values = {
                name: np.mean([common.to_array(run[how][name]) for run in of], axis=0)
                for name in common.MEASURES
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
                        difference, p_value = common.compare(column, first)
                        row[name] = common.average(column)
                        row[f"{name}_difference"] = difference if p else None
                        row[f"{name}_p_value"] = p_value if p else None
                    yield row


def _describe_kept(
    runs: list[Any], how: str, p: int, classes: NDArray[np.bool_]
) -> dict[str, float]:
    """Return the words and nonzeros of a pair, averaged over runs and classes."""
    kept = {}
    for name in ("n_features", "nonzeros"):
        if how.startswith("shared"):
            kept[name] = _mean(run["pairs"][p][name] for run in runs)
        else:
            kept[name] = _mean(common.to_array(run[how][name])[classes, p].mean() for run in runs)
    return kept


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
