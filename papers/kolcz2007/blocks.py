"""What of the tables stands in the README."""

from __future__ import annotations

from typing import Any

import polars as pl

from spokeshave.papers.kolcz2007.judges.wording import NAMES, dot
from spokeshave.papers.kolcz2007.published import TABLE1, Published
from spokeshave.papers.kolcz2007.tables import FORMAN_ALL, MEASURES
from spokeshave.papers.kolcz2007.tasks import COLLECTIONS
from spokeshave.reproduction import Tables, write_table

METHODS = ("exact", "mask", "sv_set", "warm", "rfe", "all")
TITLES = {"sv_set": "sv set", "all": "all features"}
SCALED = {
    (False, False): "nothing (mask)",
    (False, True): "documents",
    (True, False): "support vectors (as printed)",
    (True, True): "both (sv set)",
}
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
    """Return averages of the best of each class, with what was published above ours."""
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
                rows.append([label, classes, *(_show_best(found[m]) for m in METHODS)])
                if measure == "auc":
                    micro = [dot(found[m]["micro_best"]) for m in METHODS]
                    rows.append([f"{label}, micro-average", classes, *micro])
    return write_table(["", "classes", *(TITLES.get(m, m) for m in METHODS)], rows)


def write_sizes(tables: Tables) -> str:
    """Return how far mask and sv set are from exact, by the test documents of a class."""
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
    """Return the AUC by what is scaled to length one again, and that of retraining."""
    table, curves = tables["lengths"], tables["figure1"].filter(method="exact")
    cases = list(table.select("collection", "fraction").unique(maintain_order=True).iter_rows())
    rows = []
    for (vectors, documents), label in SCALED.items():
        part = table.filter(vectors=vectors, documents=documents)
        found = {(r["collection"], r["fraction"]): r["auc"] for r in part.iter_rows(named=True)}
        rows.append([label, *(dot(found[case], 3) for case in cases)])
    exact = {(r["collection"], r["fraction"]): r["macro_auc"] for r in curves.iter_rows(named=True)}
    rows.append(["retrained (exact)", *(dot(exact[case], 3) for case in cases)])
    return write_table(
        ["scaled to length one again", *(f"{name}, {f:.0%}" for name, f in cases)], rows
    )


def write_problems(tables: Tables) -> str:
    """Return the average AUC of the two-class problems, by method and irrelevant words."""
    table = tables["figure2"]
    levels = table["noise"].unique(maintain_order=True)
    found = {(r["noise"], r["method"]): r for r in table.iter_rows(named=True)}
    rows = [
        ["problems", *(str(found[n, "all"]["problems"]) for n in levels)],
        *(
            [label, *(_show_problem(found[n, method]) for n in levels)]
            for method, label in PROBLEMS.items()
        ),
    ]
    names = ["stand-in" if n == 0 else f"{n} irrelevant descriptions" for n in levels]
    return write_table(["average AUC (one-sided P against exact)", *names], rows)


def write_difficulty(tables: Tables) -> str:
    """Return the gains over all features by how hard a problem looked."""
    names = ("exact", "mask", "sv_set", "nested_exact", "random_exact")
    rows = [
        [
            str(row["noise"]),
            f"{dot(row['from'], 2)} to {dot(row['to'], 2)}",
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
                *(dot(found[m][how]) for m in MEASURES for how in ("binary", "weighted")),
            ]
        )
    return write_table(["", "binary, AUC", "weighted, AUC", "binary, F1", "weighted, F1"], rows)


def write_speed(tables: Tables) -> str:
    """Return seconds, and how many times as long retraining takes."""
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
    """Return the best of each selector over the numbers of features, averaged over classes."""
    best = (
        tables["peers"]
        .group_by("collection", "selector", "label", maintain_order=True)
        .agg(
            pl.col("best_f1", "auc").max(),
            pl.col("features").get(pl.col("best_f1").arg_max()),
            # A path tries all numbers at once; penalties are tried one by one.
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
            dot(row["auc"]),
            dot(row["best_f1"]),
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


def _show_best(row: Any) -> str:
    value = dot(row["average_best"])
    return value if row["p_one_sided"] is None else f"{value} ({_show_p(row['p_one_sided'])})"


def _show_difference(row: Any) -> str:
    return f"{row['difference']:+.4f} ({_show_p(row['p_one_sided'])})"


def _show_problem(row: Any) -> str:
    value = dot(row["average_auc"])
    return value if row["p_one_sided"] is None else f"{value} ({_show_p(row['p_one_sided'])})"


def _show_gain(gain: float | None) -> str:
    return "" if gain is None else f"{gain:+.4f}"


def _show_p(p_value: float) -> str:
    return f"{p_value:.2g}".removeprefix("0")


BLOCKS = {
    "table1": write_table1,
    "sizes": write_sizes,
    "lengths": write_lengths,
    "problems": write_problems,
    "difficulty": write_difficulty,
    "weighting": write_weightings,
    "speed": write_speed,
    "peers": write_peers,
}
