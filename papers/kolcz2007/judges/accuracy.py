"""Judges of what the paper says about AUC and best F1: Table 1 and Figure 1."""

from __future__ import annotations

from typing import Any

import polars as pl

from spokeshave.papers.kolcz2007.judges.wording import (
    APPROXIMATE,
    CLOSE,
    NAMES,
    NEAR,
    dot,
    enlist,
    grade,
)
from spokeshave.papers.kolcz2007.published import SIGNIFICANT, TABLE1
from spokeshave.papers.kolcz2007.tables import FORMAN_ALL, MEASURES
from spokeshave.papers.kolcz2007.tasks import COLLECTIONS
from spokeshave.reproduction import NOT_TRIED, Tables, Verdict


def judge_closeness(tables: Tables, collection: str) -> Verdict:
    """Whether the best results of the three methods are within a few thousandths."""
    rows = _take_table1(tables, collection)
    if rows is None:
        return _miss(collection)
    worst = max(abs(row["difference"]) for row in rows)
    exact = {m: _find(tables["table1"], collection, m, "exact")["average_best"] for m in MEASURES}
    return Verdict(
        grade(worst <= CLOSE, worst <= NEAR),
        f"exact {dot(exact['auc'])} AUC, {dot(exact['best_f1'])} F1; "
        + enlist(f"{_label(row)} {row['difference']:+.4f}" for row in rows),
    )


def judge_significance(tables: Tables, collection: str) -> Verdict:
    """Whether the same differences from exact are significant as in the paper."""
    rows = _take_table1(tables, collection)
    if rows is None:
        return _miss(collection)
    expected = {
        (row["measure"], row["method"]): _is_significant_in_paper(collection, row) for row in rows
    }
    agree = [
        (row["p_one_sided"] < SIGNIFICANT) == expected[row["measure"], row["method"]]
        for row in rows
    ]
    return Verdict(
        grade(all(agree), any(agree)),
        enlist(f"{_label(row)} P = {row['p_one_sided']:.2g}{_tell_side(row)}" for row in rows),
    )


def judge_levels(tables: Tables) -> Verdict:
    """Whether RCV1's averages are the published ones."""
    auc = _find(tables["table1"], "RCV1", "auc", "exact")
    f1 = _find(tables["table1"], "RCV1", "best_f1", "exact")
    if auc is None:
        return _miss("RCV1")
    is_auc = abs(auc["average_best"] - auc["published"]) <= NEAR
    is_f1 = abs(f1["average_best"] - f1["published"]) <= NEAR
    return Verdict(
        grade(is_auc and is_f1, is_auc or is_f1),
        f"AUC {dot(auc['average_best'])} macro and {dot(auc['micro_best'])} micro, "
        f"F1 {dot(f1['average_best'])}; a sample of RCV1, {auc['classes']} topics",
    )


def judge_gains(tables: Tables) -> Verdict:
    """Whether an approximation is significantly better than exact somewhere, and nowhere worse."""
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


def judge_equivalence(tables: Tables) -> Verdict:
    """Whether the best of mask is within a few thousandths of the best of exact."""
    table = (
        tables["table1"]
        .filter(pl.col("method") == "mask")
        .filter(pl.col("collection").is_in([*COLLECTIONS, FORMAN_ALL]))
    )
    worst = table["difference"].abs().max()
    assert isinstance(worst, float)
    return Verdict(
        grade(worst <= CLOSE, worst <= NEAR),
        "mask less exact: "
        + enlist(
            f"{row['collection']} {NAMES[row['measure']]} {row['difference']:+.4f}"
            for row in table.iter_rows(named=True)
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
        + enlist(
            f"{peak:.0%} ({name}, all features {lost:.4f} lower)"
            for name, (peak, lost) in peaks.items()
        ),
    )


def judge_best_f1(tables: Tables) -> Verdict:
    """Whether fewer features than almost all give the best average F1."""
    peaks = _list_peaks(tables, ("macro_best_f1",))
    low = [peak < 0.9 and lost > 0 for peak, lost in peaks.values()]
    return Verdict(
        grade(all(low), any(low)),
        "exact is at its best with "
        + enlist(
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
        grade(all(more), any(more)),
        "share of classes whose best cut keeps over half, by AUC and by F1: "
        + enlist(f"{name} {auc:.0%} and {f1:.0%}" for name, (auc, f1) in shares.items()),
    )


def judge_upper_half(tables: Tables) -> Verdict:
    """Whether the three methods agree above half of the features."""
    worst = _list_differences(tables, 0.5, 0.99)
    return Verdict(
        grade(max(worst.values()) <= CLOSE, max(worst.values()) <= NEAR),
        "largest difference from exact above half, in AUC or F1: "
        + enlist(f"{name} {value:.4f}" for name, value in worst.items()),
    )


def judge_lower_half(tables: Tables) -> Verdict:
    """Whether the methods differ more with a tenth of the features or less."""
    low, high = _list_differences(tables, 0.0, 0.1), _list_differences(tables, 0.5, 0.99)
    more = [low[name] > 2 * high[name] for name in low]
    return Verdict(
        grade(all(more), any(more)),
        "largest difference from exact up to a tenth, and above half: "
        + enlist(f"{name} {low[name]:.4f} and {high[name]:.4f}" for name in low),
    )


def judge_weighting(tables: Tables) -> Verdict:
    """Whether binary rows are no worse than weighted ones."""
    rows = list(tables["weighting"].filter(method="all").iter_rows(named=True))
    as_good = [row["difference"] > -CLOSE or row["p_two_sided"] >= SIGNIFICANT for row in rows]
    return Verdict(
        grade(all(as_good), any(as_good)),
        "binary less weighted, all features: "
        + enlist(
            f"{row['collection']} ({row['weighting']}) {NAMES[row['measure']]} "
            f"{row['difference']:+.4f}, P = {row['p_two_sided']:.2g}"
            for row in rows
        ),
    )


def judge_recursion(tables: Tables) -> Verdict:
    """Whether ranking anew before each cut changes little."""
    table = (
        tables["table1"]
        .filter(pl.col("method") == "rfe")
        .filter(pl.col("collection").is_in([*COLLECTIONS, FORMAN_ALL]))
    )
    worst = table["difference"].abs().max()
    assert isinstance(worst, float)
    return Verdict(
        grade(worst <= CLOSE, worst <= NEAR),
        "rfe less exact, best of each class: "
        + enlist(
            f"{row['collection']} {NAMES[row['measure']]} {row['difference']:+.4f} "
            f"(P = {row['p_two_sided']:.2g}, two-sided)"
            for row in table.iter_rows(named=True)
        ),
    )


def _miss(collection: str) -> Verdict:
    return Verdict(NOT_TRIED, f"{collection} is not part of this run.")


def _find(table: pl.DataFrame, collection: str, measure: str, method: str) -> Any:
    """Return a row of Table 1, None where there is none."""
    rows = table.filter(collection=collection, measure=measure, method=method)
    return rows.row(0, named=True) if len(rows) else None


def _take_table1(tables: Tables, collection: str) -> list[Any] | None:
    rows = [_find(tables["table1"], collection, m, a) for m in MEASURES for a in APPROXIMATE]
    return None if None in rows else rows


def _is_significant_in_paper(collection: str, row: Any) -> bool:
    """Return whether the paper's P-value is; where it has none it says that none is."""
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
    """Return how far mask and sv set are from exact at most, between two fractions."""
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
