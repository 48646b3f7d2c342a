"""The Markdown blocks of the README, written from the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import nan
from typing import Any

import polars as pl

from papers.forman2009.judges.gains import BENCHMARK_NAMES, NAMES, name_variant, show_p
from papers.forman2009.tables import (
    AS_DRAWN,
    BASELINE,
    BEYOND,
    CROSS_FITTED,
    EXPERIMENT_MEASURES,
    EXPERIMENTS,
    LESIONS,
    MEASURES,
    METHODS,
    SHAPING,
    TASK,
    TRAINING_SHARE,
    WHOLE,
    average_sets,
)
from papers.limits import LEVEL
from papers.markdown import write_table
from papers.verdicts import Tables, show

NOTHING = "–"
N_TASKS = 5  # that gain most, and as many that lose most
N_SETS = 3  # that take longest


def write_anchors(tables: Tables) -> str:
    """Return the numbers in the paper's text next to ours."""
    rows = (
        (f"{label}, {row['what']}", _relate(row), _write_number(_read(row["ours"])))
        for name, label in BENCHMARK_NAMES.items()
        for row in tables[f"{name}_anchors"].to_dicts()
    )
    return write_table(("", "published", "ours"), rows)


def write_curves(benchmark: str, methods: Sequence[str], tables: Tables) -> str:
    """Return means over tasks, one column per training size that all methods have."""
    means = tables[f"{benchmark}_curves"].filter(pl.col("method").is_in(methods))
    shown = [name for name in methods if name in set(means["method"])]
    counts = means.group_by("percent").len().filter(len=len(shown))
    percents = sorted(counts["percent"])
    found = {(row["method"], row["percent"]): row for row in means.to_dicts()}
    tests = {
        (row["measure"], row["method"], row["percent"]): row
        for row in tables[f"{benchmark}_tests"].filter(against=BASELINE).to_dicts()
    }
    rows = (
        (
            NAMES[of],
            method,
            *(_write_mean(found[method, at][of], tests.get((of, method, at))) for at in percents),
        )
        for of, method in product(MEASURES, shown)
    )
    return write_table(("", "", *_head(percents)), rows)


def write_variants(benchmark: str, tables: Tables) -> str:
    """Return all methods with all training cases, sorted by AUC."""
    rows = (
        (
            row["method"],
            *(
                _stress(show(row[of]), _read(row[f"{of}_difference"]), _read(row[f"{of}_p"]))
                for of in MEASURES
            ),
        )
        for row in tables[f"{benchmark}_variants"].to_dicts()
    )
    return write_table(("", *(NAMES[of] for of in MEASURES)), rows)


def write_lesions(tables: Tables) -> str:
    """Return the variants of the lesion study in published order, with their rank in ours."""
    lesions = tables["uci_variants"].filter(pl.col("method").is_in(LESIONS))
    order = lesions["method"].to_list()
    rows = (
        (
            name_variant(row["method"]),
            str(LESIONS.index(row["method"]) + 1),
            str(order.index(row["method"]) + 1),
            show(row["auc"]),
            show(row["auc_difference"], signed=True),
            show_p(nan if row["auc_p"] is None else float(row["auc_p"])),
        )
        for row in sorted(lesions.to_dicts(), key=lambda row: LESIONS.index(row["method"]))
    )
    head = ("", "published rank", "our rank", "AUC", "minus shaping", "test")
    return write_table(head, rows)


def write_tasks(tables: Tables) -> str:
    """Return the UCI tasks that gain most and lose most AUC by shaping."""
    wide = tables["uci_tasks"].with_columns(gain=pl.col(SHAPING) - pl.col(BASELINE))
    ordered = wide.drop_nulls("gain").sort("gain", descending=True)
    ends = pl.concat((ordered.head(N_TASKS), ordered.tail(N_TASKS))).unique(maintain_order=True)
    rows = (
        (
            *(str(row[of]) for of in TASK),
            *(show(row[of]) for of in (BASELINE, SHAPING)),
            show(row["gain"], signed=True),
        )
        for row in ends.to_dicts()
    )
    return write_table((*TASK, BASELINE, SHAPING, "gain in AUC"), rows)


def write_experiments(benchmark: str, tables: Tables) -> str:
    """Return the gain of shaping over the baseline in each experiment."""
    table = tables[f"{benchmark}_experiments"]
    percents = sorted(set(table["percent"]))
    head = ("", "shaping minus baseline", *_head(percents), "share of the first row, leftmost")
    found = {(row["measure"], row["experiment"], row["percent"]): row for row in table.to_dicts()}
    rows = (
        (
            NAMES[of],
            name,
            *(_write_gain(found.get((of, name, at))) for at in percents),
            _write_part(found, of, name, percents[0]),
        )
        for of, name in product(EXPERIMENT_MEASURES, EXPERIMENTS)
    )
    return f"{write_table(head, rows)}\n\n{_write_shares(table)}"


def _write_part(found: Mapping[Any, Any], measure: str, name: str, percent: float) -> str:
    """Return the gain in an experiment as a share of the gain in the paper's procedure."""
    first, ours = found.get((measure, AS_DRAWN, percent)), found.get((measure, name, percent))
    if not first or not ours or not first["difference"]:
        return NOTHING
    return f"{ours['difference'] / first['difference']:.0%}"


def _write_shares(table: pl.DataFrame) -> str:
    """Return how often AUC is below .5 and how often C is the smallest, at the smallest size."""
    lines = table.filter(measure="auc").sort("size").unique("experiment", maintain_order=True)
    found = {row["experiment"]: row for row in lines.to_dicts()}
    columns = ("against_below_half", "below_half", "against_least_C", "least_C")
    head = (
        *("", "training cases", "folds with an AUC below .5: baseline", "shaping"),
        *("tasks with the smallest C: baseline", "shaping"),
    )
    rows = (
        (name, f"{found[name]['percent']:g}%", *(f"{found[name][of]:.1%}" for of in columns))
        for name in EXPERIMENTS
        if name in found
    )
    return write_table(head, rows)


def write_samples(tables: Tables) -> str:
    """Return the accuracy on UCI by size of the training sample."""
    methods = (BASELINE, SHAPING, CROSS_FITTED)
    table = tables["uci_samples"].filter(pl.col("method").is_in(methods))
    mixed = table.filter(pl.col("cases").n_unique().over("percent") > 1)
    keys = ("percent", "cases", "tasks")
    shown = [name for name in methods if name in set(mixed["method"])]
    wide = mixed.pivot(on="method", index=keys, values="accuracy")
    rows = (
        (
            f"{row['percent']:g}%",
            row["cases"],
            str(row["tasks"]),
            *(NOTHING if row[of] is None else show(row[of]) for of in shown),
        )
        for row in wide.sort("percent", maintain_order=True).to_dicts()
    )
    return write_table(("", "training cases", "tasks", *shown), rows)


def write_losses(tables: Tables) -> str:
    """Return the gain in accuracy on UCI by data set and size, and the training cases."""
    rows = average_sets("uci", tables["uci"], "accuracy")
    percents = rows["percent"].unique().sort().to_list()
    found = {(row["set"], row["percent"]): row for row in rows.iter_rows(named=True)}
    sets = rows.sort("cases", "set")["set"].unique(maintain_order=True)
    lines = []
    for name in sets:
        of = [found.get((name, percent)) for percent in percents]
        tasks = next(row["tasks"] for row in of if row)
        cells = (
            NOTHING if row is None else f"{show(row['gain'], signed=True)} ({row['cases']:,.0f})"
            for row in of
        )
        lines.append((name, str(tasks), *cells))
    return write_table(("", "tasks", *(f"{percent:g}%" for percent in percents)), lines)


def write_unknown(tables: Tables) -> str:
    """Return the number of training samples without a case of the class."""
    rows = (
        (label, *row)
        for name, label in BENCHMARK_NAMES.items()
        for row in _count_unknown(tables[name].filter(method=BASELINE))
    )
    return write_table(("", "training cases", "samples", "tasks without a value"), rows)


def _count_unknown(frame: pl.DataFrame) -> Iterator[tuple[str, str, str]]:
    counts = frame.group_by("size").agg(
        pl.col("folds", "unknown").sum(),
        tasks=pl.len(),
        lost=(pl.col("unknown") == pl.col("folds")).sum(),
    )
    for row in counts.filter(pl.col("unknown") > 0).sort("size").to_dicts():
        yield (
            f"{100 * TRAINING_SHARE * row['size']:g}%",
            f"{row['unknown']:,} of {row['folds']:,}",
            f"{row['lost']} of {row['tasks']}",
        )


def write_time(tables: Tables) -> str:
    """Return the time of training and testing by set and by size."""
    rows = ((label, *_sum_up_time(tables[name])) for name, label in BENCHMARK_NAMES.items())
    head = (
        *("", "minutes", "slowest sets", "all training cases"),
        "shaping relative to baseline, all training cases",
    )
    return write_table(head, rows)


def _sum_up_time(frame: pl.DataFrame) -> tuple[str, str, str, str]:
    """Return minutes, shares of the slowest sets and of the largest size, and time of shaping."""
    total = sum(frame["seconds"])
    by_set = frame.group_by("set").agg(pl.col("seconds").sum()).sort("seconds", descending=True)
    slowest = ", ".join(f"{name} {part / total:.0%}" for name, part in by_set.head(N_SETS).rows())
    whole = frame.filter(size=WHOLE)
    of = dict(whole.group_by("method").agg(pl.col("seconds").sum()).iter_rows())
    ratio = f"{of[SHAPING] / of[BASELINE]:.1f} times" if {BASELINE, SHAPING} <= set(of) else NOTHING
    return f"{total / 60:,.0f}", slowest, f"{sum(whole['seconds']) / total:.0%}", ratio


def _head(percents: Sequence[float]) -> list[str]:
    return [f"{percent:g}%" for percent in percents]


def _stress(text: str, difference: float | None, p_value: float | None) -> str:
    """Return a number in bold if it is significantly above another, in italics if below."""
    if difference is None or p_value is None or not p_value < LEVEL:
        return text
    return f"**{text}**" if difference > 0 else f"*{text}*"


def _write_mean(value: float, test: Mapping[str, Any] | None) -> str:
    if test is None:
        return show(value)
    return _stress(show(value), test["difference"], _read(test["p_value"]))


def _write_gain(test: Mapping[str, Any] | None) -> str:
    if test is None:
        return NOTHING
    gain = show(test["difference"], signed=True)
    return _stress(gain, test["difference"], _read(test["p_value"]))


def _write_number(number: float | None) -> str:
    return NOTHING if number is None else f"{number:.3g}"


def _relate(anchor: Mapping[str, Any]) -> str:
    return f"{anchor['relation']} {anchor['published']:.3g}".removeprefix("= ")


def _read(number: Any) -> float | None:
    """Return a number of a table; polars reads an empty column as text."""
    return None if number is None else float(number)


BLOCKS: dict[str, Callable[[Tables], str]] = {
    "unknown": write_unknown,
    "time": write_time,
    "anchors": write_anchors,
    "text_curves": partial(write_curves, "text", METHODS),
    "text_variants": partial(write_variants, "text"),
    "uci_curves": partial(write_curves, "uci", METHODS),
    "tasks": write_tasks,
    "lesions": write_lesions,
    "uci_variants": partial(write_variants, "uci"),
    "text_experiments": partial(write_experiments, "text"),
    "uci_experiments": partial(write_experiments, "uci"),
    "samples": write_samples,
    "losses": write_losses,
    "text_beyond": partial(write_curves, "text", (BASELINE, SHAPING, *BEYOND)),
    "uci_beyond": partial(write_curves, "uci", (BASELINE, SHAPING, *BEYOND)),
}
