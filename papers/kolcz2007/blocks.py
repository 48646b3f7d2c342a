"""The Markdown blocks of the README, written from the tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from papers.datasets import COLLECTIONS
from papers.kolcz2007.balance import EVERY, KEPT
from papers.kolcz2007.claims import CLAIMS
from papers.kolcz2007.published import TABLE1, Published
from papers.kolcz2007.tables import FORMAN_ALL, MEASURES, NAMES
from papers.markdown import write_table
from papers.verdicts import Tables, judge_claims, show

METHODS = ("exact", "mask", "sv_set", "warm", "rfe", "all")
TITLES = {"sv_set": "sv set", "all": "all features"}
SCALED = {
    (False, False): "nothing (mask)",
    (False, True): "documents",
    (True, False): "support vectors (as printed)",
    (True, True): "both (sv set)",
}
SIDE_FRACTIONS = (0.05, 0.2)
SIDES = {
    "mask": "mask",
    "sv_set": "sv set",
    EVERY: EVERY,
    KEPT: KEPT,
    "exact": "exact",
}
FREE_TABLES = tuple(
    f"{name}_free"
    for name in (
        *("table1", "best_cuts", "figure1", "figure2"),
        *("stability", "limit", "alpha"),
    )
)
PROBLEMS = {
    "all": "all features",
    "exact": "exact, the best of 12 cuts",
    "mask": "mask",
    "sv_set": "sv set",
    "warm": "warm",
    "rfe": "rfe",
    "nested_exact": "exact, a cut chosen within the training folds",
    "nested_mask": "mask, a cut chosen within the training folds",
    "random_exact": "exact, random order, the best of 12 cuts",
}


def write_table1(tables: Tables) -> str:
    """Return the averages of Table 1, the published ones above ours."""
    table, rows = tables["table1"], []
    for measure in MEASURES:
        for collection in ("TREC-AP", *COLLECTIONS, FORMAN_ALL):
            published = [TABLE1.get((collection, measure, method)) for method in METHODS]
            if any(published):
                label = f"{collection}, {NAMES[measure]}, published"
                rows.append([label, "", *map(_show_published, published)])
            part = table.filter(collection=collection, measure=measure)
            if len(part):
                found = {row["method"]: row for row in part.iter_rows(named=True)}
                label = f"{collection}, {NAMES[measure]}"
                classes = str(found["exact"]["classes"])
                rows.append(
                    [label, classes, *(_show_average(found[m], "average_best") for m in METHODS)]
                )
                if measure == "auc":
                    micro = [show(found[m]["micro_best"], 4) for m in METHODS]
                    rows.append([f"{label}, micro-average", classes, *micro])
    return write_table(["", "classes", *(TITLES.get(m, m) for m in METHODS)], rows)


def write_sizes(tables: Tables) -> str:
    """Return the differences of mask and sv set from exact, by number of test documents."""
    table = tables["table1_by_size"].filter(pl.col("method").is_in(["mask", "sv_set"]))
    keys = ["collection", "from", "to", "classes"]
    wide = table.select(*keys, "measure", "method", "difference", "p_one_sided").sort(
        "collection", "from", maintain_order=True
    )
    rows = []
    for (collection, low, high, classes), part in wide.group_by(keys, maintain_order=True):
        cells = {
            (r["measure"], r["method"]): _show_difference(r) for r in part.iter_rows(named=True)
        }
        reach = f"{low} to {high}" if high else f"{low} or more"
        rows.append(
            [
                f"{collection}, {reach}",
                str(classes),
                *(cells[measure, m] for measure in MEASURES for m in ("mask", "sv_set")),
            ]
        )
    head = ["test documents of a class", "classes", "mask, AUC", "sv set, AUC", "mask, F1"]
    return write_table([*head, "sv set, F1"], rows)


def write_lengths(tables: Tables) -> str:
    """Return the AUC for each choice of renormalised vectors, and that of retraining."""
    table, curves = tables["lengths"], tables["figure1"].filter(method="exact")
    cases = list(table.select("collection", "fraction").unique(maintain_order=True).iter_rows())
    rows = []
    for (vectors, documents), label in SCALED.items():
        part = table.filter(vectors=vectors, documents=documents)
        found = {(r["collection"], r["fraction"]): r["auc"] for r in part.iter_rows(named=True)}
        rows.append([label, *(show(found[case], 3) for case in cases)])
    exact = {(r["collection"], r["fraction"]): r["macro_auc"] for r in curves.iter_rows(named=True)}
    rows.append(["retrained (exact)", *(show(exact[case], 3) for case in cases)])
    return write_table(
        ["scaled to length one again", *(f"{name}, {f:.0%}" for name, f in cases)], rows
    )


def write_problems(tables: Tables) -> str:
    """Return the average AUC of the two-class problems by method and noise."""
    table = tables["figure2"]
    levels = table["noise"].unique(maintain_order=True)
    found = {(r["noise"], r["method"]): r for r in table.iter_rows(named=True)}
    rows = [
        ["problems", *(str(found[n, "all"]["problems"]) for n in levels)],
        *(
            [label, *(_show_average(found[n, method], "average_auc") for n in levels)]
            for method, label in PROBLEMS.items()
        ),
    ]
    names = ["stand-in" if n == 0 else f"{n} irrelevant descriptions" for n in levels]
    return write_table(["average AUC (one-sided P against exact)", *names], rows)


def write_sides(tables: Tables) -> str:
    """Return AUC and F1 of the sv set with a factor for each side, at two small cuts."""
    table = tables["sides"].filter(pl.col("fraction").is_in(SIDE_FRACTIONS))
    keys = ["collection", "weighting", "fraction"]
    rows = []
    for (name, weighting, fraction), part in table.group_by(keys, maintain_order=True):
        found = {row["method"]: row for row in part.iter_rows(named=True)}
        cells = (
            " / ".join(show(found[method][measure], 3) for measure in MEASURES) for method in SIDES
        )
        rows.append([f"{name}, {weighting}, {fraction:.0%}", *cells])
    return write_table(["AUC / F1", *SIDES.values()], rows)


def write_masking(tables: Tables) -> str:
    """Return the duality gap that masking one feature adds, by quarter of its weight."""
    rows = [
        [
            f"{row['collection']}, {row['quarter']}",
            f"{row['gap']:.1e}",
            f"{row['largest_gap']:.1e}",
            f"{row['share_of_support']:.2%}",
            _show_correlation(row, "by_weight"),
            _show_correlation(row, "by_frequency"),
        ]
        for row in tables["masking"].iter_rows(named=True)
    ]
    head = ["weights", "gap added", "by the worst feature", "of the support vectors have it"]
    return write_table([*head, "rank correlation with weight", "with frequency"], rows)


def write_moved(tables: Tables) -> str:
    """Return the claims whose verdict a free intercept moves."""
    free = {name.removesuffix("_free"): name for name in FREE_TABLES}
    moved = {**tables, **{name: tables[of] for name, of in free.items()}}
    pairs = zip(judge_claims(CLAIMS, tables), judge_claims(CLAIMS, moved), strict=True)
    rows = [
        [before.claim.where, before.claim.says, before.verdict.word, *after.verdict]
        for before, after in pairs
        if before.verdict.word != after.verdict.word
    ]
    if not rows:
        return "No verdict moves."
    head = ["where", "the paper says", "regularised intercept", "free intercept"]
    return write_table([*head, "what came out with a free intercept"], rows)


def write_difficulty(tables: Tables) -> str:
    """Return the gains over all features by difficulty of the problem."""
    names = ("exact", "mask", "sv_set", "nested_exact", "random_exact")
    rows = [
        [
            str(row["noise"]),
            f"{show(row['from'], 2)} to {show(row['to'], 2)}",
            str(row["candidates"]),
            str(row["problems"]),
            *(_show_gain(row[f"gain_{name}"]) for name in names),
        ]
        for row in tables["difficulty"].iter_rows(named=True)
    ]
    head = ["irrelevant", "AUC on other documents", "pairs", "chosen"]
    gains = ("exact", "mask", "sv set", "exact, chosen within", "exact, random order")
    return write_table([*head, *gains], rows)


def write_weightings(tables: Tables) -> str:
    """Return binary and weighted rows side by side."""
    keys = ["collection", "weighting", "method"]
    rows = []
    for (name, weighting, method), part in tables["weighting"].group_by(keys, maintain_order=True):
        found = {row["measure"]: row for row in part.iter_rows(named=True)}
        rows.append(
            [
                f"{name} ({weighting}), {'all features' if method == 'all' else 'best cuts'}",
                *(show(found[m][how], 4) for m in MEASURES for how in ("binary", "weighted")),
            ]
        )
    return write_table(["", "binary, AUC", "weighted, AUC", "binary, F1", "weighted, F1"], rows)


def write_speed(tables: Tables) -> str:
    """Return the seconds of each method, and the ratio of retraining to it."""
    table = tables["speed"]
    names = table["collection"].unique(maintain_order=True)
    rows = []
    for (what,), part in table.group_by("what", maintain_order=True):
        found = {row["collection"]: row for row in part.iter_rows(named=True)}
        cells = [
            cell
            for name in names
            for cell in (f"{found[name]['seconds']:.3g} s", f"{found[name]['exact_takes']:.3g}×")
        ]
        rows.append([TITLES.get(str(what), str(what)), *cells])
    return write_table(["", *(c for name in names for c in (name, "exact takes"))], rows)


def write_peers(tables: Tables) -> str:
    """Return the best results of each selector, averaged over classes."""
    best = (
        tables["peers"]
        .group_by("collection", "selector", "label", maintain_order=True)
        .agg(
            pl.col("best_f1", "auc").max(),
            pl.col("features").get(pl.col("best_f1").arg_max()),
            # A path covers all numbers of features at once; an L1 penalty only one.
            pl.when(pl.col("selector").first() == "L1 SelectFromModel")
            .then(pl.col("seconds").sum())
            .otherwise(pl.col("seconds").first())
            .alias("seconds"),
        )
    )
    means = best.group_by("collection", "selector", maintain_order=True).agg(
        pl.len(), pl.col("best_f1", "auc", "seconds").mean(), pl.col("features").median()
    )
    rows = [
        [
            f"{row['collection']}, {row['selector']}",
            str(row["len"]),
            show(row["auc"], 4),
            show(row["best_f1"], 4),
            f"{row['features']:,.0f}",
            f"{row['seconds']:.3g} s",
        ]
        for row in means.iter_rows(named=True)
    ]
    head = ["", "classes", "best AUC", "best F1", "features at best F1 (median)", "for a class"]
    return write_table(head, rows)


def _show_published(published: Published | None) -> str:
    if published is None:
        return ""
    value, p_value = (f"{number}".removeprefix("0") for number in published)
    return value if published.p_value is None else f"{value} ({p_value})"


def _show_average(row: Any, column: str) -> str:
    value, p_value = show(row[column], 4), row["p_one_sided"]
    return value if p_value is None else f"{value} ({_show_p(p_value)})"


def _show_difference(row: Any) -> str:
    return f"{row['difference']:+.4f} ({_show_p(row['p_one_sided'])})"


def _show_gain(gain: float | None) -> str:
    return "" if gain is None else f"{gain:+.4f}"


def _show_correlation(row: Any, name: str) -> str:
    return f"{show(row[name], 2)} ± {show(row[f'{name}_error'], 2)}"


def _show_p(p_value: float) -> str:
    return f"{p_value:.2g}".removeprefix("0")


BLOCKS = {
    "table1": write_table1,
    "sizes": write_sizes,
    "lengths": write_lengths,
    "problems": write_problems,
    "difficulty": write_difficulty,
    "masking": write_masking,
    "sides": write_sides,
    "moved": write_moved,
    "weighting": write_weightings,
    "speed": write_speed,
    "peers": write_peers,
}
