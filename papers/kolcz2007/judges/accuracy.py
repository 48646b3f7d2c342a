"""Judges of claims on AUC and best F1: Table 1, Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import polars as pl

from papers.datasets import COLLECTIONS
from papers.kolcz2007.published import TABLE1
from papers.kolcz2007.tables import APPROXIMATE, FORMAN_ALL, MEASURES, NAMES
from papers.limits import ERRORS, LEVEL, POINT, shows
from papers.verdicts import NotTriedError, Tables, Verdict, grade, grade_cases, show

ALMOST_ALL = 0.9  # of the features
POOLED = (*COLLECTIONS, FORMAN_ALL)  # collections that share no document


def judge_closeness(tables: Tables, collection: str) -> Verdict:
    """Whether no difference of mask and sv set from exact shows, best of each class."""
    rows = _take_table1(tables, collection)
    exact = {m: _find(tables["table1"], collection, m, "exact")["average_best"] for m in MEASURES}
    return Verdict(
        grade_cases(not _shows(row) for row in rows),
        "difference from exact, best of each class: "
        + ", ".join(f"{_label(row)} {row['difference']:+.4f}{_mark(row)}" for row in rows)
        + f"; exact {show(exact['auc'], 4)} AUC, {show(exact['best_f1'], 4)} F1",
    )


def judge_significance(tables: Tables, collection: str) -> Verdict:
    """Whether the same differences from exact are significant here and in the paper."""
    rows = _take_table1(tables, collection)
    expected = {
        (row["measure"], row["method"]): _is_significant_in_paper(collection, row) for row in rows
    }
    agree = [
        (row["p_one_sided"] < LEVEL) == expected[row["measure"], row["method"]] for row in rows
    ]
    return Verdict(
        grade_cases(agree),
        "one-sided P: "
        + ", ".join(f"{_label(row)} {row['p_one_sided']:.2g}{_tell_side(row)}" for row in rows),
    )


def judge_levels(tables: Tables) -> Verdict:
    """Whether RCV1's averages are the published ones."""
    auc = _find(tables["table1"], "RCV1", "auc", "exact")
    f1 = _find(tables["table1"], "RCV1", "best_f1", "exact")
    is_auc = abs(auc["micro_best"] - auc["published"]) <= POINT
    is_f1 = abs(f1["average_best"] - f1["published"]) <= POINT
    return Verdict(
        grade_cases((is_auc, is_f1)),
        f"averages of exact: AUC {show(auc['micro_best'], 4)} micro (as the paper averages it) and "
        f"{show(auc['average_best'], 4)} macro, F1 {show(f1['average_best'], 4)} macro; a sample "
        f"of RCV1, {auc['classes']} topics",
    )


def judge_gains(tables: Tables) -> Verdict:
    """Whether no loss against exact shows, and some gain is significant.

    The 16 sets count once, together.
    """
    rows = [
        row
        for name in tables["table1"]["collection"].unique(maintain_order=True)
        if name in POOLED
        for row in _take_table1(tables, name)
    ]
    better, worse = (
        [row for row in rows if sign * row["difference"] > 0 and row["p_one_sided"] < LEVEL]
        for sign in (1, -1)
    )
    losses = [row for row in worse if _shows(row)]
    listed = ", ".join(f"{row['collection']} {_tell(row)}" for row in better + losses)
    return Verdict(
        grade(not losses and bool(better), bool(better) or 2 * len(losses) < len(rows)),
        f"mask and sv set against exact, best of each class: of {len(rows)} comparisons "
        f"{len(better)} significantly better and {len(worse)} significantly worse, where chance "
        f"gives {len(rows) * LEVEL:.1f} of each; {len(losses)} of the losses show"
        + (f": {listed}" if listed else ""),
    )


def judge_equivalence(tables: Tables, method: str, label: str) -> Verdict:
    """Whether no difference of a method from exact shows, best of each class."""
    rows = tables["table1"].filter(pl.col("collection").is_in(POOLED), method=method).to_dicts()
    return Verdict(
        grade_cases(not _shows(row) for row in rows),
        f"{label}: "
        + ", ".join(
            f"{row['collection']} {NAMES[row['measure']]} {row['difference']:+.4f}"
            f" (two-sided P = {row['p_two_sided']:.2g})"
            for row in rows
        ),
    )


def judge_best_auc(tables: Tables) -> Verdict:
    """Whether no loss of AUC shows with all features, against the best cut of the average."""
    peaks = [peak for average in ("macro", "micro") for peak in _list_peaks(tables, average, "auc")]
    return Verdict(
        grade_cases(not _shows(peak) for peak in peaks),
        "AUC of exact with all features less that at the best cut of the average: "
        + ", ".join(
            f"{peak['name']} {-peak['difference']:+.4f}{_mark(peak)} at {peak['fraction']:.0%}"
            for peak in peaks
        ),
    )


def judge_best_f1(tables: Tables) -> Verdict:
    """Whether exact gains F1 significantly with fewer features, on some collection."""
    peaks = _list_peaks(tables, "macro", "best_f1")
    gains = [peak for peak in peaks if peak["fraction"] < ALMOST_ALL and peak["difference"] > 0]
    clear = [peak for peak in gains if peak["difference"] >= ERRORS * peak["error"]]
    return Verdict(
        grade(bool(clear), bool(gains)),
        "F1 of exact at the best cut of the average less that with all features: "
        + ", ".join(
            f"{peak['name']} {peak['difference']:+.4f}{_mark(peak)} at {peak['fraction']:.0%}"
            for peak in peaks
        ),
    )


def judge_criterion(tables: Tables) -> Verdict:
    """Whether the share of best cuts above half of the features depends on the measure."""
    table = tables["best_cuts"].filter(method="exact")
    shares = {
        name: _compare_shares(*(_share_above_half(table, name, m) for m in MEASURES))
        for name in table["collection"].unique(maintain_order=True)
    }
    clear = [abs(auc - f1) >= ERRORS * error for auc, f1, error in shares.values()]
    return Verdict(
        grade(all(clear), any(auc != f1 for auc, f1, _ in shares.values())),
        "share of classes whose best cut keeps over half of the features, by AUC and by F1: "
        + ", ".join(
            f"{name} {auc:.0%} and {f1:.0%} (difference ± {error:.0%})"
            for name, (auc, f1, error) in shares.items()
        ),
    )


def judge_upper_half(tables: Tables) -> Verdict:
    """Whether no difference from exact shows above half of the features."""
    found = _list_differences(tables, 0.5, 0.99)
    return Verdict(
        grade_cases(not any(map(_shows, rows)) for rows in found.values()),
        "largest difference from exact above half of the features, in AUC or F1: "
        + _list_largest(found),
    )


def judge_lower_half(tables: Tables) -> Verdict:
    """Whether differences up to a tenth of the features show and exceed those above half."""
    low, high = _list_differences(tables, 0.0, 0.1), _list_differences(tables, 0.5, 0.99)
    more = [
        any(map(_shows, low[name])) and _find_size(low[name]) > _find_size(high[name])
        for name in low
    ]
    return Verdict(
        grade_cases(more),
        "largest difference from exact up to a tenth of the features, and above half: "
        + ", ".join(
            f"{name} {_find_size(low[name]):.4f} and {_find_size(high[name]):.4f}" for name in low
        ),
    )


def judge_weighting(tables: Tables) -> Verdict:
    """Whether no loss of binary rows against weighted ones shows."""
    rows = list(tables["weighting"].filter(method="all").iter_rows(named=True))
    as_good = [row["difference"] > 0 or not _shows(row) for row in rows]
    return Verdict(
        grade_cases(as_good),
        "binary minus weighted, all features: "
        + ", ".join(
            f"{row['collection']} ({row['weighting']}) {NAMES[row['measure']]} "
            f"{row['difference']:+.4f}, P = {row['p_two_sided']:.2g}"
            for row in rows
        ),
    )


def _find(table: pl.DataFrame, collection: str, measure: str, method: str) -> Any:
    """Return a row of Table 1."""
    rows = table.filter(collection=collection, measure=measure, method=method)
    if rows.is_empty():
        raise NotTriedError(f"{collection} is not part of this run.")
    return rows.row(0, named=True)


def _take_table1(tables: Tables, collection: str) -> list[Any]:
    return [_find(tables["table1"], collection, m, a) for m in MEASURES for a in APPROXIMATE]


def _is_significant_in_paper(collection: str, row: Any) -> bool:
    """Return whether the paper's P-value is significant; without one it says that none is."""
    published = TABLE1.get((collection, row["measure"], row["method"]))
    return bool(published and published.p_value is not None and published.p_value < LEVEL)


def _list_peaks(tables: Tables, average: str, measure: str) -> list[dict[str, Any]]:
    """Return the cut at which exact is highest on average, and its difference from all features.

    The standard error of a micro-average is not known.
    """
    column, peaks = f"{average}_{measure}", []
    table = tables["figure1"].filter(method="exact")
    for (name,), part in table.group_by("collection", maintain_order=True):
        top = part.sort(column, descending=True).row(0, named=True)
        whole = part.filter(fraction=1.0).row(0, named=True)
        peaks.append(
            {
                "name": f"{name} {average}" if measure == "auc" else name,
                "fraction": top["fraction"],
                "difference": top[column] - whole[column],
                "error": top[f"{measure}_error_of_all"] if average == "macro" else None,
            }
        )
    return peaks


def _list_differences(
    tables: Tables, above: float, upto: float
) -> dict[str, list[dict[str, float]]]:
    """Return the differences of mask and sv set from exact between two fractions."""
    table = tables["figure1"].filter((pl.col("fraction") > above) & (pl.col("fraction") <= upto))
    exact = table.filter(method="exact").select(
        "collection", "fraction", "macro_best_f1", "macro_auc"
    )
    both = table.filter(pl.col("method").is_in(APPROXIMATE)).join(
        exact, on=["collection", "fraction"]
    )
    return {
        f"{name} {NAMES.get(method, method)}": [
            {
                "difference": row[f"macro_{measure}"] - row[f"macro_{measure}_right"],
                "error": row[f"{measure}_error"],
            }
            for row in part.iter_rows(named=True)
            for measure in MEASURES
        ]
        for (name, method), part in both.group_by("collection", "method", maintain_order=True)
    }


def _find_size(rows: list[dict[str, float]]) -> float:
    return max(abs(row["difference"]) for row in rows)


def _list_largest(found: dict[str, list[dict[str, float]]]) -> str:
    """Return the largest difference of each list, or the largest that shows if any does."""
    listed = []
    for name, rows in found.items():
        shown = [row for row in rows if _shows(row)]
        top = max(shown or rows, key=lambda row: abs(row["difference"]))
        listed.append(f"{name} {abs(top['difference']):.4f}{_mark(top)}")
    return ", ".join(listed)


def _share_above_half(table: pl.DataFrame, collection: str, measure: str) -> tuple[float, int]:
    """Return the share of classes whose best cut keeps over half, and the number of classes."""
    part = table.filter(collection=collection, measure=measure)
    above = part["classes"].filter(part["fraction"] > 0.5)
    return sum(above) / sum(part["classes"]), sum(part["classes"])


def _compare_shares(
    first: tuple[float, int], second: tuple[float, int]
) -> tuple[float, float, float]:
    """Return two shares and the standard error of their difference, as if of other classes."""
    (a, n), (b, m) = first, second
    return a, b, sqrt(a * (1 - a) / n + b * (1 - b) / m)


def _shows(row: Any) -> bool:
    """Return whether a difference shows, by its standard error or its P-value."""
    return shows(row["difference"], error=row.get("error"), p_value=row.get("p_two_sided"))


def _mark(row: Any) -> str:
    """Return the standard error of a difference and whether it shows, for the page."""
    error = row.get("error")
    return ("" if error is None else f" ± {error:.4f}") + (" (shows)" if _shows(row) else "")


def _label(row: Any) -> str:
    return f"{NAMES.get(row['method'], row['method'])} {NAMES[row['measure']]}"


def _tell_side(row: Any) -> str:
    """Return on which side of exact a significant difference lies."""
    if row["p_one_sided"] >= LEVEL:
        return ""
    return " (above exact)" if row["difference"] > 0 else " (below exact)"


def _tell(row: Any) -> str:
    return f"{_label(row)} {row['difference']:+.4f} (P = {row['p_one_sided']:.2g})"


def judge_problems_gain(tables: Tables) -> Verdict:
    """Whether selection is substantially better than all features, without added noise."""
    rows = {m: _find_problem(tables, 0, m) for m in ("exact", *APPROXIMATE)}
    nested = _find_problem(tables, 0, "nested_exact")
    chance = _find_problem(tables, 0, "random_exact")
    is_clear = all(row["p_over_all"] < LEVEL and row["gain_over_all"] > 0 for row in rows.values())
    is_big = all(row["gain_over_all"] >= POINT for row in rows.values())
    return Verdict(
        grade(is_clear and is_big, is_clear),
        "best AUC less that with all features, "
        f"{show(_find_problem(tables, 0, 'all')['average_auc'], 4)}: "
        + ", ".join(_tell_gain(NAMES.get(m, m), row) for m, row in rows.items())
        + f"; but {_tell_gain('exact at a cut chosen within the training folds', nested)}, and "
        + _tell_gain("a random order with the best of as many cuts", chance),
    )


def judge_problems_noise(tables: Tables) -> Verdict:
    """Whether the gain grows with the number of irrelevant words."""
    table = tables["figure2"]
    levels = sorted(table["noise"].unique())
    gains = [_find_problem(tables, n, "exact")["gain_over_all"] for n in levels]
    honest = [_find_problem(tables, n, "nested_exact")["gain_over_all"] for n in levels]
    is_growing = gains == sorted(gains) and gains[-1] >= POINT
    return Verdict(
        grade(is_growing and honest[-1] >= POINT, is_growing),
        "exact over all features with "
        + ", ".join(
            f"{n} irrelevant descriptions to a document {gain:+.4f} ({real:+.4f} at a cut chosen "
            "within the training folds)"
            for n, gain, real in zip(levels, gains, honest, strict=True)
        ),
    )


def judge_problems_sv_set(tables: Tables) -> Verdict:
    """Whether no difference of the sv set from exact shows."""
    return _judge_problems(
        tables,
        "sv_set",
        lambda row: not shows(row["difference_from_exact"], p_value=row["p_two_sided"]),
    )


def judge_problems_mask(tables: Tables) -> Verdict:
    """Whether mask is significantly below exact."""
    return _judge_problems(
        tables,
        "mask",
        lambda row: row["p_one_sided"] < LEVEL and row["difference_from_exact"] < 0,
    )


def _judge_problems(tables: Tables, method: str, holds: Callable[[Any], bool]) -> Verdict:
    """Judge a method against exact at every level of noise."""
    levels = sorted(tables["figure2"]["noise"].unique())
    rows = [_find_problem(tables, level, method) for level in levels]
    return Verdict(
        grade_cases(map(holds, rows)),
        f"{NAMES.get(method, method)} minus exact with "
        + ", ".join(
            f"{level} irrelevant descriptions {row['difference_from_exact']:+.4f}, "
            f"P = {row['p_one_sided']:.2g}"
            for level, row in zip(levels, rows, strict=True)
        ),
    )


def _find_problem(tables: Tables, noise: int, method: str) -> Any:
    return tables["figure2"].filter(noise=noise, method=method).row(0, named=True)


def _tell_gain(name: str, row: Any) -> str:
    return f"{name} {row['gain_over_all']:+.4f} (P = {row['p_over_all']:.2g})"
