"""Tables made from the results of tasks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from papers.datasets import COLLECTIONS
from papers.kolcz2007.published import TABLE1
from papers.kolcz2007.tasks import METHODS
from papers.limits import find_error
from papers.study import Results
from spokeshave import PairedTest, paired_test

FORMAN_ALL = "16 Forman sets"
MEASURES = ("auc", "best_f1")
APPROXIMATE = ("mask", "sv_set")
NAMES = {"auc": "AUC", "best_f1": "F1", "sv_set": "sv set"}
SIZES = ((1, 9), (10, 99), (100, None))  # test documents of a class, from and to
BINS = (0.0, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)  # of the screening AUC
CONTROLS = ("nested_", "random_")
DIGITS = 6

Curves = dict[str, dict[str, Any]]  # by method


def tabulate_quality(results: Results) -> dict[str, pl.DataFrame]:
    """Return Table 1, the same by class size, and the best cuts of the classes."""
    by_collection = _group(results)
    of_test_sets = {name: by_collection[name] for name in COLLECTIONS if name in by_collection}
    return {
        "table1": _frame(
            row for name, curves in by_collection.items() for row in _compare(name, curves)
        ),
        "table1_by_size": _frame(
            row for name, curves in of_test_sets.items() for row in _compare_sizes(name, curves)
        ),
        "best_cuts": _frame(
            row
            for name, curves in (of_test_sets | {FORMAN_ALL: by_collection[FORMAN_ALL]}).items()
            for row in _count_best_cuts(name, curves)
        ),
    }


def tabulate_curves(results: Results) -> dict[str, pl.DataFrame]:
    """Return the averages at every cut that Figure 1 shows."""
    return {
        "figure1": _frame(
            row for name, curves in _group(results).items() for row in _list_averages(name, curves)
        )
    }


def tabulate_weightings(results: Results) -> dict[str, pl.DataFrame]:
    """Return the results of binary and of weighted rows, both of length one."""
    rows = []
    for collection in COLLECTIONS:
        for weighting in ("ltc", "tfidf"):
            if f"{_slug(collection)}-mask-{weighting}" not in results:
                continue
            for method, task in (("all", "mask"), ("exact", "exact")):
                binary = results[f"{_slug(collection)}-{task}"]
                weighted = results[f"{_slug(collection)}-{task}-{weighting}"]
                for measure in MEASURES:
                    a, b = (_take(curve, measure, method) for curve in (binary, weighted))
                    rows.append(
                        {
                            "collection": collection,
                            "weighting": weighting,
                            "method": method,
                            "measure": measure,
                            "classes": a.size,
                            "binary": a.mean(),
                            "weighted": b.mean(),
                            "difference": (a - b).mean(),
                            "p_two_sided": _short(paired_test(a, b)),
                        }
                    )
    return {"weighting": _frame(rows)}


def tabulate_lengths(results: Results) -> dict[str, pl.DataFrame]:
    """Return quality for each choice of renormalised vectors."""
    return {
        "lengths": _frame(
            {"collection": _find_collection(name), **row}
            for name, found in results.items()
            for row in found
        )
    }


def tabulate_sides(results: Results) -> dict[str, pl.DataFrame]:
    """Return the quality of the sv set with a factor for each side."""
    return {"sides": _frame(row for found in results.values() for row in found)}


def tabulate_masking(results: Results) -> dict[str, pl.DataFrame]:
    """Return the duality gap that masking one feature adds."""
    rows = (
        {"collection": _find_collection(name), **row}
        for name, found in results.items()
        for row in found
    )
    return {"masking": pl.DataFrame(list(rows), infer_schema_length=None)}


def tabulate_problems(results: Results) -> dict[str, pl.DataFrame]:
    """Return the two-class problems, averages over them, and the gain by difficulty."""
    problems = pl.DataFrame(
        [
            {"noise": int(name.split("-")[1]), **problem}
            for name, found in results.items()
            for problem in found["problems"]
        ]
    ).sort("noise", "screening_auc", "first", "second")
    screened = pl.DataFrame(
        [
            {"noise": int(name.split("-")[1]), "screening_auc": value}
            for name, found in results.items()
            for value in found["screened"]
        ]
    )
    scores = ["all", *METHODS, *(name for name in problems.columns if name.startswith(CONTROLS))]
    return {
        "pairs": _round(problems),
        "figure2": _frame(
            {"noise": noise, **_summarize(part, name)}
            for (noise,), part in problems.group_by("noise", maintain_order=True)
            for name in scores
        ),
        "difficulty": _frame(
            {"noise": noise, **row}
            for (noise,), part in problems.group_by("noise", maintain_order=True)
            for row in _list_gains(part, screened.filter(noise=noise))
        ),
    }


def tabulate_stability(results: Results) -> dict[str, pl.DataFrame]:
    """Return the similarity of masked and retrained models at every cut."""
    rows = []
    for name, found in results.items():
        if "-stability-" not in name:
            continue
        collection, method = _find_collection(name), name.rsplit("-", 1)[1]
        for c, fraction in enumerate(found["fractions"]):
            rows.append(
                {
                    "collection": collection,
                    "method": method,
                    "fraction": fraction,
                    **{key: values[c] for key, values in found.items() if key != "fractions"},
                }
            )
    return {"stability": _frame(rows)}


def tabulate_support(results: Results) -> dict[str, pl.DataFrame]:
    """Return the similarity of models, the limit of support vectors, and the changes of alpha."""
    limits, duals = [], []
    for name, found in results.items():
        if "-stability-" in name:
            continue
        kind, rest = name.split("-", 1)
        collection = _find_collection(rest)
        is_renormalized = "renormalized" in name
        if kind == "limit":
            tol = float(name.rsplit("_", 1)[1])
            limits.append(
                {
                    "collection": collection,
                    "renormalized": is_renormalized,
                    "tolerance": tol,
                    **found,
                }
            )
        else:
            duals += [
                {"collection": collection, "renormalized": is_renormalized, **row} for row in found
            ]
    return {**tabulate_stability(results), "limit": _frame(limits), "alpha": _frame(duals)}


def tabulate_speed(results: Results) -> dict[str, pl.DataFrame]:
    """Return the seconds of each method, the ratio of retraining to it, and the growth of time."""
    times, growth = [], []
    for name, found in results.items():
        kind, rest = name.split("-", 1)
        collection = _find_collection(rest)
        if kind == "speed":
            times += [
                {
                    "collection": collection,
                    "what": what,
                    "seconds": seconds,
                    "exact_takes": found["exact"] / seconds,
                    "linear_svc_takes": found["LinearSVC at every cut"] / seconds,
                }
                for what, seconds in found.items()
            ]
        else:
            growth += [
                {"collection": collection, "share": float(share), "what": what, "seconds": seconds}
                for share, row in found.items()
                for what, seconds in row.items()
            ]
    return {"speed": _frame(times), "growth": _frame(growth)}


def tabulate_peers(results: Results) -> dict[str, pl.DataFrame]:
    """Return the results of each selector for each class."""
    rows = []
    for name, found in results.items():
        _, collection, label = name.split("-", 2)
        rows += [{"collection": _find_collection(collection), "label": label, **r} for r in found]
    return {"peers": _frame(rows)}


def tabulate_free(results: Results) -> dict[str, pl.DataFrame]:
    """Return the tables of models with a free intercept: NAME_free for each table NAME."""
    found = {name.removeprefix("free-"): result for name, result in results.items()}
    problems = {name: result for name, result in found.items() if name.startswith("pairs-")}
    support = {
        name: result
        for name, result in found.items()
        if name.startswith(("limit-", "duals-")) or "-stability-" in name
    }
    quality = {
        name: result
        for name, result in found.items()
        if name not in problems and name not in support
    }
    curves = {name: result for name, result in quality.items() if not name.startswith("forman-")}
    tables = {
        **tabulate_quality(quality),
        **tabulate_curves(curves),
        **tabulate_problems(problems),
        **tabulate_support(support),
    }
    return {f"{name}_free": table for name, table in tables.items()}


def name_task(collection: str, *rest: str) -> str:
    """Return the name of a task of a collection."""
    return "-".join((_slug(collection), *rest))


def _slug(collection: str) -> str:
    return collection.replace(" ", "_").replace("-", "_")


def _find_collection(task: str) -> str:
    return next(name for name in COLLECTIONS if task.startswith(_slug(name)))


def _group(results: Results) -> dict[str, Curves]:
    """Return curves by collection and method; the 16 sets together are one more collection."""
    grouped: dict[str, Curves] = {name: {} for name in COLLECTIONS}
    sets: dict[str, Curves] = {}
    for name, found in results.items():
        collection, method = name.rsplit("-", 1)
        if collection.startswith("forman"):
            sets.setdefault(collection.split("-")[1], {})[method] = found
        else:
            grouped[_find_collection(collection)][method] = found
    together = {
        method: _join([curves[method] for curves in sets.values()]) for method in METHODS if sets
    }
    known = {name: curves for name, curves in grouped.items() if curves}
    return known | ({FORMAN_ALL: together} if together else {}) | sets


def _join(curves: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one curve with the classes of several."""
    joined = {
        key: [value for curve in curves for value in curve[key]]
        for key in ("names", "positives", "pairs", *MEASURES)
    }
    return {**joined, "fractions": curves[0]["fractions"]}


def _take(curve: dict[str, Any], measure: str, method: str) -> NDArray[np.float64]:
    """Return the best value of each class over the paper's cuts, or its value with all features."""
    values = np.array(curve[measure])
    return values[:, -1] if method == "all" else values[:, :-1].max(axis=1)


def _list_values(curves: Curves, measure: str) -> dict[str, NDArray[np.float64]]:
    best = {method: _take(curve, measure, method) for method, curve in curves.items()}
    return best | {"all": _take(curves["mask"], measure, "all")}


def _compare(collection: str, curves: Curves) -> Iterable[dict[str, Any]]:
    for measure in MEASURES:
        values = _list_values(curves, measure)
        pairs = np.array(curves["exact"]["pairs"], float)
        for method, of_class in values.items():
            row = {
                "collection": collection,
                "measure": measure,
                "method": method,
                "classes": of_class.size,
                "average_best": of_class.mean(),
                "micro_best": np.average(of_class, weights=pairs) if measure == "auc" else None,
                **_test_against(of_class, values["exact"], method != "exact"),
            }
            published = TABLE1.get((collection, measure, method))
            row["published"] = published and published.value
            row["published_p"] = published and published.p_value
            yield row


def _compare_sizes(collection: str, curves: Curves) -> Iterable[dict[str, Any]]:
    """Yield Table 1 separately for classes of few, some and many test documents."""
    positives = np.array(curves["exact"]["positives"])
    for measure in MEASURES:
        values = _list_values(curves, measure)
        for low, high in SIZES:
            among = (positives >= low) & (positives <= (high or np.inf))
            if among.sum() < 2:
                continue
            for method in METHODS:
                yield {
                    "collection": collection,
                    "measure": measure,
                    "from": low,
                    "to": high,
                    "classes": int(among.sum()),
                    "method": method,
                    "average_best": values[method][among].mean(),
                    **_test_against(
                        values[method][among], values["exact"][among], method != "exact"
                    ),
                }


def _test_against(
    values: NDArray[np.float64], exact: NDArray[np.float64], is_other: bool
) -> dict[str, float | None]:
    """Return the difference from exact and its P-values, the one-sided in its own direction."""
    if not is_other:
        return {"difference": None, "p_one_sided": None, "p_two_sided": None}
    test = paired_test(values, exact)
    return {
        "difference": test.mean_difference,
        "p_one_sided": float(f"{test.p_value / 2:.3g}"),
        "p_two_sided": _short(test),
    }


def _list_averages(collection: str, curves: Curves) -> Iterable[dict[str, Any]]:
    """Yield averages at every cut, and standard errors of their differences over classes.

    ``auc_error`` is that of the difference from exact at the same cut, and ``auc_error_of_all``
    that of the difference from the same method with all features.
    """
    for method, curve in curves.items():
        for c, fraction in enumerate(curve["fractions"]):
            errors = {}
            for measure in MEASURES:
                values, exact = (np.array(each[measure]) for each in (curve, curves["exact"]))
                errors[f"{measure}_error"] = find_error(values[:, c] - exact[:, c])
                errors[f"{measure}_error_of_all"] = find_error(values[:, c] - values[:, -1])
            yield {
                "collection": collection,
                "method": method,
                "fraction": fraction,
                "macro_auc": np.mean([row[c] for row in curve["auc"]]),
                "micro_auc": curve["micro_auc"][c],
                "macro_best_f1": np.mean([row[c] for row in curve["best_f1"]]),
                "micro_best_f1": curve["micro_best_f1"][c],
                **errors,
            }


def _count_best_cuts(collection: str, curves: Curves) -> Iterable[dict[str, Any]]:
    """Yield the number of classes whose best cut is each cut; ties go to the smallest."""
    for method, curve in curves.items():
        for measure in MEASURES:
            best = np.array(curve[measure])[:, :-1].argmax(axis=1)
            counts = np.bincount(best, minlength=len(curve["fractions"]) - 1)
            for fraction, count in zip(curve["fractions"][:-1], counts, strict=True):
                yield {
                    "collection": collection,
                    "measure": measure,
                    "method": method,
                    "fraction": fraction,
                    "classes": int(count),
                }


def _summarize(problems: pl.DataFrame, name: str) -> dict[str, Any]:
    """Return the average AUC of a method, and tests against all features and against exact."""
    values, base, exact = (problems[column].to_numpy() for column in (name, "all", "exact"))
    against_all, against_exact = (
        _test_against(values, base, name != "all"),
        _test_against(values, exact, name != "exact"),
    )
    return {
        "method": name,
        "problems": len(problems),
        "average_auc": values.mean(),
        "gain_over_all": against_all["difference"],
        "p_over_all": against_all["p_one_sided"],
        "difference_from_exact": against_exact["difference"],
        "p_one_sided": against_exact["p_one_sided"],
        "p_two_sided": against_exact["p_two_sided"],
    }


def _list_gains(problems: pl.DataFrame, screened: pl.DataFrame) -> Iterable[dict[str, Any]]:
    """Yield the number of candidate pairs and the gains on chosen ones, by screening AUC."""
    for (low, high, among), (_, _, candidates) in zip(
        _split_bins(problems), _split_bins(screened), strict=True
    ):
        if candidates.is_empty():
            continue
        row = {"from": low, "to": high, "candidates": len(candidates), "problems": len(among)}
        gains = {
            f"gain_{name}": (among[name] - among["all"]).mean()
            for name in (*METHODS, "nested_exact", "random_exact")
        }
        yield {**row, "words": among["words"].mean(), "all": among["all"].mean(), **gains}


def _split_bins(frame: pl.DataFrame) -> list[tuple[float, float, pl.DataFrame]]:
    bins = pl.Series(np.digitize(frame["screening_auc"], BINS[1:-1]))
    return [(low, high, frame.filter(bins == i)) for i, (low, high) in enumerate(pairwise(BINS))]


def _short(test: PairedTest) -> float:
    return float(f"{test.p_value:.3g}")


def _frame(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return _round(pl.DataFrame(list(rows), infer_schema_length=None))


def _round(frame: pl.DataFrame) -> pl.DataFrame:
    """Round all columns except for P-values, which may be tiny."""
    floats = [
        name
        for name, kind in frame.schema.items()
        if kind.is_float() and not name.startswith("p_") and name != "published_p"
    ]
    return frame.with_columns(pl.col(floats).round(DIGITS))
