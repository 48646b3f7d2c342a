"""The figures of the paper, drawn from the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from papers.forman2009 import published
from papers.forman2009.tables import (
    ANCHORS,
    AS_DRAWN,
    BASELINE,
    BEYOND,
    BY_AUC,
    CROSS_FIT,
    CROSS_FITTED,
    EXPERIMENT_MEASURES,
    EXPERIMENTS,
    IDF_AND_BNS,
    LESIONS,
    MEASURES,
    METHODS,
    NO_PLATT,
    NO_PLATT_CV,
    POLICY,
    PRICED,
    SCALING,
    SHAPING,
    TF_IDF,
    find_nearest,
    find_tests,
)
from papers.limits import LEVEL
from papers.verdicts import Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {
    "auc": "AUC",
    "f1": "F-measure",
    "accuracy": "accuracy",
    "precision_at_20": "precision at 20",
}
TEXT_CURVES = {
    "figure1": "f1",
    "figure2": "accuracy",
    "figure8": "auc",
    "figure9": "precision_at_20",
}
UCI_CURVES = {
    "figure3": "auc",
    "figure4": "precision_at_20",
    "figure5": "accuracy",
    "figure10": "f1",
}
TITLES = {"text": "text", "uci": "UCI"}
LESION_LABELS = {SCALING: "no shaping (scaling)", NO_PLATT_CV: "Platt – CV"}
PUBLISHED = "#555555"


class Style(NamedTuple):
    """How a method is drawn."""

    color: str
    marker: str
    width: float = 2.0
    dashes: str = "-"


# The palette of Okabe and Ito, which is safe for colour-blind readers
STYLES = {
    BASELINE: Style("#000000", "o"),
    SCALING: Style("#E69F00", "s"),
    SHAPING: Style("#0072B2", "^"),
    TF_IDF: Style("#D55E00", "P", 1.1, ":"),
    IDF_AND_BNS: Style("#CC79A7", "v", 1.1, "-."),
    CROSS_FITTED: Style("#009E73", "D", 1.1, "--"),
    POLICY: Style("#CC79A7", "v", 1.1, "-."),
}
VARIANT = Style("#009E73", "o")
EXPERIMENT_STYLES = {
    AS_DRAWN: STYLES[SHAPING],
    NO_PLATT: Style("#D55E00", "o", 1.4, "--"),
    BY_AUC: Style("#E69F00", "s", 1.4, "-."),
    PRICED: Style("#CC79A7", "v", 1.4, ":"),
    CROSS_FIT: STYLES[CROSS_FITTED],
}


def draw_text(tables: Tables) -> dict[str, Figure]:
    """Return Figures 1, 2, 8 and 9, every method with all training cases, and the experiments."""
    figures = {name: draw_curves(tables, "text", of, name) for name, of in TEXT_CURVES.items()}
    return figures | {
        "text_variants": draw_variants(tables, "text"),
        "text_experiments": draw_experiments(tables, "text"),
    }


def draw_uci(tables: Tables) -> dict[str, Figure]:
    """Return Figures 3 to 7 and 10, every method with all training cases, and the experiments."""
    figures = {name: draw_curves(tables, "uci", of, name) for name, of in UCI_CURVES.items()}
    return figures | {
        "figure6": draw_tasks(tables),
        "figure7": draw_lesions(tables),
        "uci_variants": draw_variants(tables, "uci"),
        "uci_experiments": draw_experiments(tables, "uci"),
    }


def draw_curves(tables: Tables, benchmark: str, measure: str, name: str) -> Figure:
    """Draw a measure against the training size, and below it the gains over the baseline."""
    from matplotlib.figure import Figure

    means, tests = tables[f"{benchmark}_curves"], tables[f"{benchmark}_tests"]
    shown = [name for name in (*METHODS, *BEYOND) if name in set(means["method"])]
    figure = Figure(figsize=(7, 7.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for method in shown:
        style, line = STYLES[method], means.filter(method=method).sort("size")
        _plot(above, line["percent"], line[measure], style, _count(method, line, means))
        if method != BASELINE:
            _draw_gains(below, find_tests(tests, measure, method), style)
    for mark in _list_marks(benchmark, measure, means):
        _draw_mark(above, mark)
    below.axhline(0, color=STYLES[BASELINE].color, lw=STYLES[BASELINE].width)
    n_tasks = means.filter(method=BASELINE)["tasks"].to_list() or [0]
    number = name.removeprefix("figure")
    above.set_title(
        f"Figure {number}: {LABELS[measure]}, mean of {_range(n_tasks)} {TITLES[benchmark]} tasks"
    )
    above.set_ylabel(LABELS[measure])
    above.legend(frameon=False, fontsize="small")
    below.set_ylabel("difference from the baseline")
    below.set_xlabel("training cases, % of the data set")
    below.set_title(_note(benchmark, measure, tests), fontsize="small", loc="left")
    below.set_xticks(sorted(set(means["percent"])))
    below.xaxis.set_major_formatter("{x:g}")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    return figure


def draw_tasks(tables: Tables) -> Figure:
    """Draw the AUC of every UCI task, sorted by the AUC of the baseline."""
    from matplotlib.figure import Figure

    wide = tables["uci_tasks"]
    shown = [name for name in (*METHODS, CROSS_FITTED, POLICY) if name in wide.columns]
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    axes = figure.subplots()
    ranks = range(1, wide.height + 1)
    for method in shown:
        style, is_baseline = STYLES[method], method == BASELINE
        axes.plot(
            ranks,
            wide[method],
            color=style.color,
            marker=style.marker,
            markersize=4.5 if method in METHODS else 3.5,
            markerfacecolor=style.color if method in METHODS else "none",
            ls="-" if is_baseline else "none",
            lw=style.width,
            zorder=2 if is_baseline else 3,
            label=method,
        )
    axes.set_title(f"Figure 6: AUC of each of {wide.height} UCI tasks, all training cases")
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("task, by the AUC of the baseline")
    axes.set_ylabel("AUC")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def draw_lesions(tables: Tables) -> Figure:
    """Draw the four measures of the variants of the lesion study, by AUC."""
    rows = tables["uci_variants"].filter(pl.col("method").is_in((*LESIONS, SHAPING)))
    title = "Figure 7: shaping on UCI with one stage changed"
    return _draw_dots(rows, title, LESION_LABELS | {SHAPING: "shaping, all stages"})


def draw_variants(tables: Tables, benchmark: str) -> Figure:
    """Draw the four measures of every method with all training cases, by AUC."""
    title = f"every method on {TITLES[benchmark]}, all training cases"
    return _draw_dots(tables[f"{benchmark}_variants"], title, {})


def draw_experiments(tables: Tables, benchmark: str) -> Figure:
    """Draw the gain of shaping over the baseline in each experiment."""
    from matplotlib.figure import Figure

    rows = tables[f"{benchmark}_experiments"]
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    panels = figure.subplots(1, len(EXPERIMENT_MEASURES))
    for axes, measure in zip(panels, EXPERIMENT_MEASURES, strict=True):
        for name in EXPERIMENTS:
            found = rows.filter(experiment=name, measure=measure).sort("size").to_dicts()
            _draw_gains(axes, found, EXPERIMENT_STYLES[name], name)
        axes.axhline(0, color=STYLES[BASELINE].color, lw=STYLES[BASELINE].width)
        axes.set_xscale("log")
        axes.set_xticks(sorted(set(rows["percent"])))
        axes.minorticks_off()
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_title(LABELS[measure])
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("shaping less baseline")
    panels[0].legend(frameon=False, fontsize="small")
    figure.suptitle(f"what the gain of shaping on {TITLES[benchmark]} is owed to")
    panels[1].set_xlabel(f"training cases, % of the data set (filled: p < {LEVEL})")
    return figure


def _draw_dots(rows: pl.DataFrame, title: str, labels: dict[str, str]) -> Figure:
    """Draw one row per method and one panel per measure, with a line at shaping."""
    from matplotlib.figure import Figure

    methods = rows["method"].to_list()
    figure = Figure(figsize=(10, 1.6 + 0.34 * len(methods)), layout="constrained")
    panels = figure.subplots(1, len(MEASURES), sharey=True)
    for axes, measure in zip(panels, MEASURES, strict=True):
        for height, row in enumerate(rows.to_dicts()):
            color = (STYLES[row["method"]] if row["method"] in METHODS else VARIANT).color
            is_clear = _is_clear(row[f"{measure}_p"]) or row["method"] == SHAPING
            face = color if is_clear else "none"
            axes.plot(row[measure], height, "o", color=color, markerfacecolor=face, markersize=7)
            if row["method"] == SHAPING:
                axes.axvline(row[measure], color=color, lw=1, ls="--", zorder=1)
        axes.set_xlabel(LABELS[measure])
        axes.locator_params(axis="x", nbins=3)
        axes.margins(x=0.15)
        axes.grid(alpha=0.3)
    panels[0].set_yticks(range(len(methods)), [labels.get(name, name) for name in methods])
    figure.suptitle(f"{title} (filled: differs from shaping, p < {LEVEL})", fontsize="medium")
    return figure


class Mark(NamedTuple):
    """A number in the paper's text: a point, or a level if the text names no size."""

    percent: float | None
    value: float
    label: str | None


def _list_marks(benchmark: str, measure: str, means: pl.DataFrame) -> Iterator[Mark]:
    """Yield the published numbers of a curve."""
    baseline = means.filter(method=BASELINE).sort("size").to_dicts()
    if not baseline:
        return
    left, right = baseline[0], baseline[-1]
    if (benchmark, measure) == ("text", "auc"):
        label = f"published: baseline {published.TEXT_AUC}"
        yield Mark(right["percent"], published.TEXT_AUC, label)
    if (benchmark, measure) == ("text", "f1"):
        gain = published.TEXT_F1_GAIN
        label = f"published: shaping is over {gain:.0%} above the baseline"
        yield Mark(left["percent"], (1 + gain) * left["f1"], label)
    if (benchmark, measure) == ("uci", "f1"):
        first, last = published.UCI_F1, published.UCI_SHAPING_F1
        yield Mark(None, first, f"published: from {first} to over {last}, size not given")
        yield Mark(None, last, None)


def _draw_mark(axes: Axes, mark: Mark) -> None:
    if mark.percent is None:
        axes.axhline(mark.value, color=PUBLISHED, lw=1, ls=(0, (1, 3)), label=mark.label)
        return
    axes.plot(
        mark.percent,
        mark.value,
        "x",
        color=PUBLISHED,
        markersize=10,
        markeredgewidth=2,
        zorder=5,
        label=mark.label,
    )


def _note(benchmark: str, measure: str, tests: pl.DataFrame) -> str:
    """Return the legend of filled marks, and the published p-value next to ours."""
    note = f"filled: p < {LEVEL}, paired t-test"
    rows = find_tests(tests, measure)
    for anchor in ANCHORS[benchmark]:
        if rows and (anchor.measure, anchor.column) == (measure, "p_value"):
            ours = find_nearest(rows, anchor.at)
            note += f"; published {anchor.what}: {anchor.published}"
            if ours["p_value"] is not None:
                note += f", ours at {ours['percent']:g}%: {float(ours['p_value']):.2g}"
    return note


def _draw_gains(
    axes: Axes, tests: list[dict[str, Any]], style: Style, label: str | None = None
) -> None:
    percents = [test["percent"] for test in tests]
    axes.plot(
        percents,
        [test["difference"] for test in tests],
        style.dashes,
        color=style.color,
        lw=style.width,
        label=label,
    )
    for test in tests:
        face = style.color if _is_clear(test["p_value"]) else "white"
        axes.plot(
            test["percent"],
            test["difference"],
            style.marker,
            color=style.color,
            markerfacecolor=face,
            markersize=6,
        )


def _plot(axes: Axes, x: pl.Series, y: pl.Series, style: Style, label: str) -> None:
    axes.plot(
        x,
        y,
        style.dashes,
        color=style.color,
        lw=style.width,
        marker=style.marker,
        markersize=6 if style.width > 1.5 else 4.5,
        label=label,
    )


def _is_clear(p_value: Any) -> bool:
    """Return whether a p-value is known and significant."""
    return p_value is not None and float(p_value) < LEVEL


def _count(method: str, line: pl.DataFrame, means: pl.DataFrame) -> str:
    """Return the name of a method, with its number of tasks if others have more."""
    n_tasks, n_all = line["tasks"].to_list(), means["tasks"].to_numpy().max()
    return method if max(n_tasks) == n_all else f"{method} ({_range(n_tasks)} tasks)"


def _range(numbers: list[int]) -> str:
    first, last = min(numbers), max(numbers)
    return f"{first}" if first == last else f"{first} to {last}"
