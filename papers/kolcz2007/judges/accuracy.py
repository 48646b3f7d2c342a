"""Judges of claims on AUC and best F1: Table 1, Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from papers.datasets import COLLECTIONS
from papers.kolcz2007.published import SIGNIFICANT, TABLE1
from papers.kolcz2007.tables import APPROXIMATE, FORMAN_ALL, MEASURES, NAMES
from papers.verdicts import NotTriedError, Tables, Verdict, grade, grade_cases, show

CLOSE, NEAR = 0.002, 0.01  # differences of averages that count as very close, and as near


def judge_closeness(tables: Tables, collection: str) -> Verdict:
    """Whether the best results of the three methods are within a few thousandths."""
    rows = _take_table1(tables, collection)
    worst = max(abs(row["difference"]) for row in rows)
    exact = {m: _find(tables["table1"], collection, m, "exact")["average_best"] for m in MEASURES}
    return Verdict(
        grade(worst <= CLOSE, worst <= NEAR),
        f"exact {show(exact['auc'], 4)} AUC, {show(exact['best_f1'], 4)} F1; "
        + ", ".join(f"{_label(row)} {row['difference']:+.4f}" for row in rows),
    )


def judge_significance(tables: Tables, collection: str) -> Verdict:
    """Whether the same differences from exact are significant here and in the paper."""
    rows = _take_table1(tables, collection)
    expected = {
        (row["measure"], row["method"]): _is_significant_in_paper(collection, row) for row in rows
    }
    agree = [
        (row["p_one_sided"] < SIGNIFICANT) == expected[row["measure"], row["method"]]
        for row in rows
    ]
    return Verdict(
        grade_cases(agree),
        ", ".join(f"{_label(row)} P = {row['p_one_sided']:.2g}{_tell_side(row)}" for row in rows),
    )


def judge_levels(tables: Tables) -> Verdict:
    """Whether RCV1's averages are the published ones."""
    auc = _find(tables["table1"], "RCV1", "auc", "exact")
    f1 = _find(tables["table1"], "RCV1", "best_f1", "exact")
    is_auc = abs(auc["average_best"] - auc["published"]) <= NEAR
    is_f1 = abs(f1["average_best"] - f1["published"]) <= NEAR
    return Verdict(
        grade(is_auc and is_f1, is_auc or is_f1),
        f"AUC {show(auc['average_best'], 4)} macro and {show(auc['micro_best'], 4)} micro, "
        f"F1 {show(f1['average_best'], 4)}; a sample of RCV1, {auc['classes']} topics",
    )


def judge_gains(tables: Tables) -> Verdict:
    """Whether approximations are significantly better than exact in some cases and never worse."""
    rows = tables["table1"].filter(
        pl.col("method").is_in(APPROXIMATE) & (pl.col("p_one_sided") < SIGNIFICANT)
    )
    better, worse = (rows.filter(sign * pl.col("difference") > 0) for sign in (1, -1))
    best = better.sort("difference", descending=True).head(2).iter_rows(named=True)
    compared = len(tables["table1"].filter(pl.col("method").is_in(APPROXIMATE)))
    return Verdict(
        grade(len(better) > 0 and not len(worse), len(better) > 0),
        f"of {compared} comparisons {len(better)} significantly better than exact and {len(worse)} "
        f"significantly worse, where chance gives {compared * SIGNIFICANT:.0f} of each"
        + "".join(
            f"; {r['collection']} {_label(r)} {r['difference']:+.4f}, P = {r['p_one_sided']:.2g}"
            for r in best
        ),
    )


def judge_equivalence(tables: Tables, method: str, label: str, with_p: bool = False) -> Verdict:
    """Whether the best results of a method are within a few thousandths of those of exact."""
    table = tables["table1"].filter(
        pl.col("collection").is_in([*COLLECTIONS, FORMAN_ALL]), method=method
    )
    rows = table.to_dicts()
    worst = max(abs(row["difference"]) for row in rows)
    return Verdict(
        grade(worst <= CLOSE, worst <= NEAR),
        f"{label}: "
        + ", ".join(
            f"{row['collection']} {NAMES[row['measure']]} {row['difference']:+.4f}"
            + (f" (P = {row['p_two_sided']:.2g}, two-sided)" if with_p else "")
            for row in rows
        ),
    )


def judge_best_auc(tables: Tables) -> Verdict:
    """Whether the average AUC is highest with all or almost all features."""
    peaks = _list_peaks(tables, ("macro_auc", "micro_auc"))
    high = [peak >= 0.9 for peak, _ in peaks.values()]
    near = [lost <= 0.001 for _, lost in peaks.values()]
    return Verdict(
        grade(all(high), all(near) or any(high)),
        "exact is at its best with "
        + ", ".join(
            f"{peak:.0%} ({name}, all features {lost:.4f} lower)"
            for name, (peak, lost) in peaks.items()
        ),
    )


def judge_best_f1(tables: Tables) -> Verdict:
    """Whether the average F1 is highest with fewer than 90% of the features."""
    peaks = _list_peaks(tables, ("macro_best_f1",))
    low = [peak < 0.9 and lost > 0 for peak, lost in peaks.values()]
    return Verdict(
        grade_cases(low),
        "exact is at its best with "
        + ", ".join(
            f"{peak:.0%} ({name}, {lost:+.4f} over all)" for name, (peak, lost) in peaks.items()
        ),
    )


def judge_criterion(tables: Tables) -> Verdict:
    """Whether classes are at their best AUC with more features than at their best F1."""
    table = tables["best_cuts"].filter(method="exact")
    shares = {}
    for collection in table["collection"].unique(maintain_order=True):
        shares[collection] = [_share_above_half(table, collection, m) for m in MEASURES]
    more = [auc > f1 for auc, f1 in shares.values()]
    return Verdict(
        grade_cases(more),
        "share of classes whose best cut keeps over half of the features, by AUC and by F1: "
        + ", ".join(f"{name} {auc:.0%} and {f1:.0%}" for name, (auc, f1) in shares.items()),
    )


def judge_upper_half(tables: Tables) -> Verdict:
    """Whether the three methods agree above half of the features."""
    worst = _list_differences(tables, 0.5, 0.99)
    return Verdict(
        grade(max(worst.values()) <= CLOSE, max(worst.values()) <= NEAR),
        "largest difference from exact above half of the features, in AUC or F1: "
        + ", ".join(f"{name} {value:.4f}" for name, value in worst.items()),
    )


def judge_lower_half(tables: Tables) -> Verdict:
    """Whether the methods differ more with a tenth of the features or less."""
    low, high = _list_differences(tables, 0.0, 0.1), _list_differences(tables, 0.5, 0.99)
    more = [low[name] > 2 * high[name] for name in low]
    return Verdict(
        grade_cases(more),
        "largest difference from exact up to a tenth of the features, and above half: "
        + ", ".join(f"{name} {low[name]:.4f} and {high[name]:.4f}" for name in low),
    )


def judge_weighting(tables: Tables) -> Verdict:
    """Whether binary rows are no worse than weighted ones."""
    rows = list(tables["weighting"].filter(method="all").iter_rows(named=True))
    as_good = [row["difference"] > -CLOSE or row["p_two_sided"] >= SIGNIFICANT for row in rows]
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
    return bool(published and published.p_value is not None and published.p_value < SIGNIFICANT)


def _list_peaks(tables: Tables, columns: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Return the cut at which exact is highest, and how much lower all features are."""
    table = tables["figure1"].filter(method="exact")
    peaks = {}
    for (name,), part in table.group_by("collection", maintain_order=True):
        for column in columns:
            top = part.sort(column, descending=True).row(0, named=True)
            whole = part.filter(fraction=1.0).row(0, named=True)
            average = f" {column.split('_')[0]}" if len(columns) > 1 else ""
            peaks[f"{name}{average}"] = (top["fraction"], top[column] - whole[column])
    return peaks


def _list_differences(tables: Tables, above: float, upto: float) -> dict[str, float]:
    """Return the largest differences of mask and sv set from exact between two fractions."""
    table = tables["figure1"].filter((pl.col("fraction") > above) & (pl.col("fraction") <= upto))
    exact = table.filter(method="exact").select(
        "collection", "fraction", "macro_best_f1", "macro_auc"
    )
    both = table.filter(pl.col("method").is_in(APPROXIMATE)).join(
        exact, on=["collection", "fraction"]
    )
    return {
        f"{name} {NAMES.get(method, method)}": max(
            abs(row[column] - row[f"{column}_right"])
            for row in part.iter_rows(named=True)
            for column in ("macro_auc", "macro_best_f1")
        )
        for (name, method), part in both.group_by("collection", "method", maintain_order=True)
    }


def _share_above_half(table: pl.DataFrame, collection: str, measure: str) -> float:
    part = table.filter(collection=collection, measure=measure)
    above = part["classes"].filter(part["fraction"] > 0.5)
    return sum(above) / sum(part["classes"])


def _label(row: Any) -> str:
    return f"{NAMES.get(row['method'], row['method'])} {NAMES[row['measure']]}"


def _tell_side(row: Any) -> str:
    """Return on which side of exact a significant difference lies."""
    if row["p_one_sided"] >= SIGNIFICANT:
        return ""
    return " (above exact)" if row["difference"] > 0 else " (below exact)"


SUBSTANTIAL = 0.01  # a gain in AUC


def judge_problems_gain(tables: Tables) -> Verdict:
    """Whether selection is substantially better than all features, without added noise."""
    rows = {m: _find_problem(tables, 0, m) for m in ("exact", *APPROXIMATE)}
    nested = _find_problem(tables, 0, "nested_exact")
    chance = _find_problem(tables, 0, "random_exact")
    is_clear = all(
        row["p_over_all"] < SIGNIFICANT and row["gain_over_all"] > 0 for row in rows.values()
    )
    is_big = all(row["gain_over_all"] >= SUBSTANTIAL for row in rows.values())
    return Verdict(
        grade(is_clear and is_big, is_clear),
        f"all features {show(_find_problem(tables, 0, 'all')['average_auc'], 4)}; "
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
    is_growing = gains == sorted(gains) and gains[-1] >= SUBSTANTIAL
    return Verdict(
        grade(is_growing and honest[-1] >= SUBSTANTIAL, is_growing),
        "exact over all features with "
        + ", ".join(
            f"{n} irrelevant descriptions to a document {gain:+.4f} ({real:+.4f} at a cut chosen "
            "within the training folds)"
            for n, gain, real in zip(levels, gains, honest, strict=True)
        ),
    )


def judge_problems_sv_set(tables: Tables) -> Verdict:
    """Whether sv set and exact do not differ significantly."""
    return _judge_problems(tables, "sv_set", lambda row: row["p_one_sided"] >= SIGNIFICANT)


def judge_problems_mask(tables: Tables) -> Verdict:
    """Whether mask is significantly below exact."""
    return _judge_problems(
        tables,
        "mask",
        lambda row: row["p_one_sided"] < SIGNIFICANT and row["difference_from_exact"] < 0,
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
