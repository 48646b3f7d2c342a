"""Quality against sparsity and against the number of features, retrained on the kept features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.isotonic import IsotonicRegression
from sklearn.preprocessing import binarize

from papers.limits import shows
from papers.malik import common
from papers.malik.sparsity import CRITERIA, SHARES, SLOW
from papers.results import to_json
from papers.study import Results, Setting, Task
from spokeshave import FeatureCurve, Ranking, rank_features, rank_subsets

SPARSITIES = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
COUNTS = (10, 32, 100, 316, 1000, 3162, 10_000)
QUICK_CRITERIA = ("normal", "perceptron", "random")
ALL = "all features"
GROUPS = ("all", "large")
FRACTIONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1.0)
QUICK_SPARSITIES, QUICK_COUNTS, QUICK_FRACTIONS = [5.0, 20.0], [10, 100, 1000], [0.5, 1.0]


def list_tasks(setting: Setting) -> Iterator[Task]:
    """Yield a task for each criterion, each part of the documents, and all features."""
    yield from common.list_descriptions(setting)
    fewer = {"sparsities": QUICK_SPARSITIES, "counts": QUICK_COUNTS} if setting.is_quick else {}
    for where in common.list_collections(setting):
        size = 10 if where["collection"] == "RCV1" else 4
        for by in QUICK_CRITERIA if setting.is_quick else CRITERIA:
            arguments = {**where, **fewer, "by": by, "share": 1.0}
            cost = size + SLOW.get(by, 0) * size / 5
            yield Task(f"trace-{where['collection']}-{by}", trace, arguments, cost=cost)
        for share in SHARES[-1:] if setting.is_quick else SHARES[1:]:
            name = f"trace-{where['collection']}-normal-{round(1 / share)}"
            arguments = {**where, **fewer, "by": "normal", "share": share}
            yield Task(name, trace, arguments, cost=size)
        if not setting.is_quick:
            name = f"trace-{where['collection']}-naive_bayes-unscaled"
            arguments = {**where, "by": "naive_bayes", "share": 1.0, "is_scaled": False}
            yield Task(name, trace, arguments, cost=size)
        yield Task(f"trace-{where['collection']}-all", trace_all, where, cost=size / 4)
        arguments = where | ({"fractions": QUICK_FRACTIONS} if setting.is_quick else {})
        yield Task(f"drop-{where['collection']}", drop, arguments, cost=3 * size)


def trace(
    data: Path,
    *,
    collection: str,
    largest: int | None,
    by: str,
    share: float,
    sparsities: Sequence[float] = SPARSITIES,
    counts: Sequence[int] = COUNTS,
    is_scaled: bool = True,
) -> dict[str, Any]:
    """Rank on a subset of the documents, retrain on all of them, and measure on the test set.

    Words are ranked on rows of length one, or on binary rows if not ``is_scaled``.
    """
    split = common.load(data, collection, largest)
    options: dict[str, Any] = {"random_state": common.SEED, "n_jobs": 1}
    X = split.X if is_scaled else binarize(split.X)
    if share == 1:
        ranking = rank_features(X, split.Y, by, **options)
    else:
        (ranking,) = rank_subsets(X, split.Y, [share], by, **options).values()
    leader = common.follow(common.fit_whole(data, collection, largest), ranking)
    found = {
        against: split.trace(
            estimator=leader,
            method="exact",
            cuts=cuts,
            against=against,
            **options,
        )
        for against, cuts in (("sparsity", sparsities), ("features", counts))
    }
    part = "" if share == 1 else f" {Fraction(share)}"
    return {
        "collection": collection,
        "ranking": f"{by}{part}{'' if is_scaled else ' unscaled'}",
        "curves": {against: _measure(curve, ranking) for against, curve in found.items()},
    }


def trace_all(data: Path, *, collection: str, largest: int | None) -> dict[str, Any]:
    """Measure the SVM on all features."""
    split = common.load(data, collection, largest)
    curve = split.trace(
        estimator=common.fit_whole(data, collection, largest),
        cuts=[1.0],
        n_jobs=1,
    )
    return {"collection": collection, "ranking": ALL, "curves": {"whole": _measure(curve, None)}}


def _measure(curve: FeatureCurve, ranking: Ranking | None) -> dict[str, Any]:
    """Return all measures (classes x cuts), NaN for classes that a ranking does not cover."""
    counts = curve.counts
    positive, true, false = (field[0] for field in (counts.positive, counts.true, counts.false))
    with np.errstate(invalid="ignore"):
        values = {
            **{name: curve.per_class(name) for name in common.MEASURES},
            "precision": true / (true + false),
            "recall": true / positive,
            "true": true,
            "found": true + false,
            "positive": positive,
            "n_features": curve.n_features.astype(float),
            "nonzeros": curve.nonzeros.copy(),
        }
    if ranking is not None:
        for each in values.values():
            each[ranking.n_ranked == 0] = np.nan
    return {
        "cuts": [float(cut) for cut in curve.cuts],
        **{name: to_json(each, common.DIGITS) for name, each in values.items()},
    }


def drop(
    data: Path,
    *,
    collection: str,
    largest: int | None,
    fractions: Sequence[float] = FRACTIONS,
) -> dict[str, Any]:
    """Drop the features of least weight, or random ones, with and without retraining."""
    split = common.load(data, collection, largest)
    model = common.fit_whole(data, collection, largest)
    found = []
    for by in ("normal", "random"):
        ranking = rank_features(
            split.X,
            split.Y,
            by,
            estimator=model if by == "normal" else None,
            random_state=common.SEED,
        )
        for method in ("mask", "exact"):
            curve = split.trace(
                estimator=model,
                by=by,
                method=method,
                cuts=fractions,
                n_jobs=1,
                random_state=common.SEED,
            )
            found.append({"by": by, "method": method, **_measure(curve, None)})
        found[-2]["changed"] = [_count_changed(split, model, ranking, f) for f in fractions]
    return {"collection": collection, "dropped": found}


def _count_changed(split: Any, model: Any, ranking: Ranking, fraction: float) -> float:
    """Return how many decisions change without the lower weights, per document assigned."""
    coef = np.zeros_like(model.coef_)
    for k, n_ranked in enumerate(ranking.n_ranked):
        kept = ranking.list_ranked(k)[: max(1, round(fraction * n_ranked))]
        coef[k, kept] = model.coef_[k, kept]
    before = model.decision_function(split.X_test) > 0
    after = split.X_test @ coef.T + model.intercept_ > 0
    return float((before != after).sum() / before.sum())


def gather(results: Results, against: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the measures by collection and ranking, as arrays (classes x cuts)."""
    found = {}
    for result in results.values():
        curve = result.get("curves", {}).get(against)
        if curve is not None:
            arrays = {name: common.to_array(each) for name, each in curve.items() if name != "cuts"}
            found[result["collection"], result["ranking"]] = {"cuts": curve["cuts"], **arrays}
    return found


def _list_groups(results: Results) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    for collection, about in common.read_descriptions(results).items():
        for group, classes in common.group_classes(about["sizes"]).items():
            if group in GROUPS and classes.any():
                yield collection, group, classes


def tabulate_quality(results: Results) -> dict[str, pl.DataFrame]:
    """Return the tables of this part."""
    by_sparsity, by_features = gather(results, "sparsity"), gather(results, "features")
    whole = gather(results, "whole")
    preserved = common.tabulate(_test_preserved(results, by_sparsity, whole))
    return {
        "quality": common.tabulate(_compare_all(results, by_sparsity, whole)),
        "quality_by_features": common.tabulate(_compare_all(results, by_features, {})),
        "preserved": preserved,
        "enough": common.tabulate(find_enough(preserved)),
        "collapse": common.tabulate(_explain(results, by_features)),
        "spread": common.tabulate(
            _spread(results, {"sparsity": by_sparsity, "features": by_features})
        ),
        "recall": common.tabulate(_list_recall(results, by_sparsity | whole)),
        "dropped": common.tabulate(_list_dropped(results)),
    }


def _compare_all(
    results: Results,
    found: Mapping[tuple[str, str], dict[str, Any]],
    whole: Mapping[tuple[str, str], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield the measures of each ranking at each cut, and their differences from the normal."""
    for collection, group, classes in _list_groups(results):
        normal = found[collection, "normal"]
        for (of, ranking), arrays in {**found, **whole}.items():
            for measure in common.MEASURES if of == collection else ():
                values, nonzeros = (
                    np.broadcast_to(arrays[name], normal[measure].shape)[classes]
                    for name in (measure, "nonzeros")
                )
                for c, cut in enumerate(normal["cuts"]):
                    difference, p_value = (
                        common.compare(values[:, c], normal[measure][classes, c])
                        if ranking != "normal"
                        else (None, None)
                    )
                    yield {
                        "collection": collection,
                        "classes": group,
                        "measure": measure,
                        "ranking": ranking,
                        "cut": cut,
                        "nonzeros": common.average(nonzeros[:, c]),
                        "n_classes": int(np.isfinite(values[:, c]).sum()),
                        "macro": common.average(values[:, c]),
                        "difference": difference,
                        "p_value": p_value,
                    }


def _test_preserved(
    results: Results,
    found: Mapping[tuple[str, str], dict[str, Any]],
    whole: Mapping[tuple[str, str], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield one-sided tests of the normal's features against all features at each sparsity."""
    for collection, group, classes in _list_groups(results):
        normal, reference = found[collection, "normal"], whole[collection, ALL]
        for measure in common.MEASURES:
            of_all = reference[measure][classes, 0]
            for c, sparsity in enumerate(normal["cuts"]):
                difference, p_value = common.compare(normal[measure][classes, c], of_all, "less")
                yield {
                    "collection": collection,
                    "classes": group,
                    "measure": measure,
                    "sparsity": sparsity,
                    "share_of_nonzeros": common.average(
                        normal["nonzeros"][classes, c] / reference["nonzeros"][classes, 0]
                    ),
                    "share_of_features": common.average(
                        normal["n_features"][classes, c] / reference["n_features"][classes, 0]
                    ),
                    "all_features": common.average(of_all),
                    "difference": difference,
                    "p_value": p_value,
                    "is_below": difference is not None
                    and difference < 0
                    and shows(difference, p_value=p_value),
                }


def find_enough(preserved: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the smallest sparsity from which the normal is never below all features."""
    keys = ("collection", "classes", "measure")
    for key, rows in preserved.group_by(keys, maintain_order=True):
        of = rows.sort("sparsity")
        last = max((c for c, is_below in enumerate(of["is_below"]) if is_below), default=-1)
        has_any = last + 1 < of.height
        yield {
            **dict(zip(keys, key, strict=True)),
            **{
                name: of[name][last + 1] if has_any else None
                for name in ("sparsity", "share_of_nonzeros", "share_of_features", "difference")
            },
        }


def _explain(
    results: Results, found: Mapping[tuple[str, str], dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield how well nonzeros and features predict quality, across criteria.

    The points are the means of every criterion at every number of features, without random
    features. Both predictors use the same models.
    """
    for collection, group, classes in _list_groups(results):
        for without in ("random", "random, naive_bayes"):
            chosen = [
                arrays
                for (of, ranking), arrays in found.items()
                if of == collection and ranking in CRITERIA and ranking not in without
            ]
            for measure in common.MEASURES:
                quality, *along = (
                    np.concatenate([arrays[name][classes].mean(axis=0) for arrays in chosen])
                    for name in (measure, "nonzeros", "n_features")
                )
                for name, predictor in zip(("nonzeros", "features"), along, strict=True):
                    yield {
                        "collection": collection,
                        "classes": group,
                        "without": without,
                        "measure": measure,
                        "along": name,
                        "points": quality.size,
                        "explained": explain(predictor, quality),
                        "rank_correlation": float(spearmanr(predictor, quality).statistic),
                    }


def explain(predictor: NDArray[np.float64], quality: NDArray[np.float64]) -> float:
    """Return the share of the variance that an isotonic curve explains.

    Examples
    --------
    >>> explain(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.5, 0.6]))
    1.0
    """
    fitted = IsotonicRegression().fit_transform(predictor, quality)
    return max(0.0, float(1 - np.var(quality - fitted) / np.var(quality)))


def _spread(
    results: Results, found: Mapping[str, Mapping[tuple[str, str], dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Yield the spread of quality over criteria, without random, at equal sparsity or features."""
    for collection, group, classes in _list_groups(results):
        for against, curves in found.items():
            for measure in common.MEASURES:
                for c, cut in enumerate(curves[collection, "normal"]["cuts"]):
                    macro = {
                        ranking: float(arrays[measure][classes, c].mean())
                        for (of, ranking), arrays in curves.items()
                        if of == collection and ranking in CRITERIA and ranking != "random"
                    }
                    yield {
                        "collection": collection,
                        "classes": group,
                        "measure": measure,
                        "against": against,
                        "cut": cut,
                        "mean": float(np.mean(list(macro.values()))),
                        "deviation": float(np.std(list(macro.values()))),
                        "lowest": min(macro, key=macro.__getitem__),
                        "highest": max(macro, key=macro.__getitem__),
                    }


def _list_recall(
    results: Results, found: Mapping[tuple[str, str], dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield precision and recall at threshold 0, and the number of classes with any positive."""
    for collection, group, classes in _list_groups(results):
        for (of, ranking), arrays in found.items():
            for c, sparsity in enumerate(arrays["cuts"]) if of == collection else ():
                true, found_, positive = (
                    float(np.nansum(arrays[name][classes, c]))
                    for name in ("true", "found", "positive")
                )
                yield {
                    "collection": collection,
                    "classes": group,
                    "ranking": ranking,
                    "sparsity": None if ranking == ALL else sparsity,
                    "n_classes": int(np.isfinite(arrays["recall"][classes, c]).sum()),
                    "n_finding": int(np.isfinite(arrays["precision"][classes, c]).sum()),
                    "macro_precision": common.average(arrays["precision"][classes, c]),
                    "macro_recall": common.average(arrays["recall"][classes, c]),
                    "micro_precision": true / found_ if found_ else None,
                    "micro_recall": true / positive,
                }


def _list_dropped(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the loss without the features of least weight, or without random ones."""
    for collection, group, classes in _list_groups(results):
        for each in results[f"drop-{collection}"]["dropped"]:
            for c, fraction in enumerate(each["cuts"]):
                row = {
                    "collection": collection,
                    "classes": group,
                    "ranking": each["by"],
                    "method": each["method"],
                    "fraction": fraction,
                    "nonzeros": common.average(common.to_array(each["nonzeros"])[classes, c]),
                    "changed": each["changed"][c] if "changed" in each and group == "all" else None,
                }
                for measure in common.MEASURES:
                    values = common.to_array(each[measure])[classes]
                    _, p_value = common.compare(values[:, c], values[:, -1], "less")
                    row[measure] = common.average(values[:, c])
                    row[f"{measure}_p_value"] = p_value
                yield row
