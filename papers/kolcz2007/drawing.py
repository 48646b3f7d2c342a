"""The figures of the paper, and those beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from papers.kolcz2007.published import FIGURE4_FRACTION, FIGURE4_OVERLAP, TABLE1
from papers.verdicts import Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, which is safe for colour-blind readers
COLOURS = {
    "exact": "#0072B2",
    "mask": "#D55E00",
    "sv_set": "#009E73",
    "warm": "#CC79A7",
    "rfe": "#E69F00",
    "all": "#777777",
}
MARKERS = {"exact": "o", "mask": "s", "sv_set": "^", "warm": "x", "rfe": "D"}
NAMES = {"sv_set": "sv set", "all": "all features", "rfe": "rfe (beyond)", "warm": "warm (beyond)"}


def draw_curves(tables: Tables) -> dict[str, Figure]:
    """Draw average best F1, and AUC below it, against the percentage of features."""
    table = tables["figure1"]
    collections = table["collection"].unique(maintain_order=True)
    figure = _open(4.2 * len(collections), 6.6)
    axes = figure.subplots(2, len(collections), squeeze=False, sharex=True)
    for j, collection in enumerate(collections):
        for i, (column, label) in enumerate(
            (("macro_best_f1", "average best F1"), ("macro_auc", "average AUC"))
        ):
            ax = axes[i, j]
            for method in ("exact", "mask", "sv_set", "rfe"):
                part = table.filter(collection=collection, method=method)
                _draw_line(ax, part["fraction"] * 100, part[column], method)
            ax.set_ylabel(label)
        axes[0, j].set_title(collection)
        axes[1, j].set_xlabel("features kept, %")
    published = TABLE1["RCV1", "auc", "exact"].value
    if "RCV1" in collections:
        axes[1, collections.to_list().index("RCV1")].axhline(
            published, color="black", ls="--", lw=1, label="published, best cut of each class"
        )
        axes[1, collections.to_list().index("RCV1")].legend(fontsize=8)
    axes[0, 0].legend(fontsize=8)
    return {"figure1": figure}


def draw_problems(tables: Tables) -> dict[str, Figure]:
    """Draw the average best AUC of the two-class problems, with the controls beside it."""
    table, problems = tables["figure2"], tables["pairs"]
    levels = table["noise"].unique(maintain_order=True)
    figure = _open(4.4 * len(levels), 7.2)
    axes = figure.subplots(2, len(levels), squeeze=False)
    controls = ("nested_exact", "nested_mask", "random_exact")
    methods = ("all", "mask", "sv_set", "exact", "warm", "rfe", *controls)
    for j, noise in enumerate(levels):
        part = table.filter(noise=noise)
        _draw_dots(axes[0, j], part, methods)
        axes[0, j].set_title(
            "stand-in for TechTC-100" if noise == 0 else f"with {noise} irrelevant descriptions"
        )
        rows = problems.filter(noise=noise)
        axes[1, j].scatter(
            rows["all"], rows["exact"] - rows["all"], s=14, color=COLOURS["exact"], label="best cut"
        )
        axes[1, j].scatter(
            rows["all"],
            rows["nested_exact"] - rows["all"],
            s=14,
            marker="x",
            color="black",
            label="cut chosen within the training folds",
        )
        axes[1, j].axhline(0, color="#777777", lw=1)
        axes[1, j].set_xlabel("AUC with all features")
        axes[1, j].set_ylabel("gain of exact in AUC")
    axes[1, 0].legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return {"figure2": figure}


def draw_normals(tables: Tables) -> dict[str, Figure]:
    """Draw cosine and Pearson's correlation of masked and retrained weights."""
    table = tables["stability"].filter(method="exact")
    collections = table["collection"].unique(maintain_order=True)
    figure = _open(4.2 * len(collections), 3.6)
    axes = figure.subplots(1, len(collections), squeeze=False, sharey=True)[0]
    for ax, collection in zip(axes, collections, strict=True):
        part = table.filter(collection=collection)
        ax.plot(part["fraction"] * 100, part["cosine"], "o-", color="#0072B2", label="cosine")
        ax.plot(part["fraction"] * 100, part["pearson"], "s--", color="#D55E00", label="Pearson")
        ax.set_title(collection)
        ax.set_xlabel("features kept, %")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("masked and retrained weights")
    axes[0].legend()
    return {"figure3": figure}


def draw_support(tables: Tables) -> dict[str, Figure]:
    """Draw overlap and containment of support vectors, and their limit."""
    table, limit = tables["stability"].filter(method="exact"), tables["limit"]
    collections = table["collection"].unique(maintain_order=True)
    figure = _open(4.2 * len(collections), 7.0)
    axes = figure.subplots(2, len(collections), squeeze=False, sharey="row")
    for j, collection in enumerate(collections):
        part = table.filter(collection=collection)
        lines = (
            ("overlap", "o-", "#0072B2", "overlap"),
            ("containment", "s--", "#D55E00", "containment"),
            ("n_support", "^:", "#009E73", "support vectors, of the original number"),
        )
        for name, style, colour, label in lines:
            axes[0, j].plot(part["fraction"] * 100, part[name], style, color=colour, label=label)
        axes[0, j].plot(
            [FIGURE4_FRACTION * 100, 100],
            [FIGURE4_OVERLAP] * 2,
            "k--",
            lw=1,
            label="published: overlap is above",
        )
        axes[0, j].set_title(collection)
        axes[0, j].set_xlabel("features kept, %")
        axes[0, j].grid(alpha=0.3)
        for is_renormalized, style, colour in ((True, "o-", "#0072B2"), (False, "s--", "#D55E00")):
            rows = limit.filter(collection=collection, renormalized=is_renormalized)
            how = "rows scaled to length one again" if is_renormalized else "rows left as they were"
            axes[1, j].semilogx(rows["tolerance"], rows["overlap"], style, color=colour, label=how)
        axes[1, j].invert_xaxis()
        axes[1, j].set_xlabel("tolerance of the solver")
        axes[1, j].grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8, loc="lower right")
    axes[1, 0].set_ylabel("overlap, only zero weights removed")
    axes[1, 0].legend(fontsize=8)
    return {"figure4": figure}


def draw_speed(tables: Tables) -> dict[str, Figure]:
    """Draw the seconds of every method."""
    table = tables["speed"]
    collections = table["collection"].unique(maintain_order=True)
    figure = _open(5.2 * len(collections), 3.6)
    axes = figure.subplots(1, len(collections), squeeze=False, sharey=True)[0]
    for ax, collection in zip(axes, collections, strict=True):
        part = table.filter(collection=collection).sort("seconds", descending=True)
        colours = [COLOURS.get(name, "#777777") for name in part["what"]]
        names = [NAMES.get(name, name) for name in part["what"]]
        drawn = ax.barh(names, part["seconds"], color=colours)
        ax.bar_label(drawn, [f"{s:.3g} s" for s in part["seconds"]], padding=3, fontsize=8)
        ax.set_xscale("log")
        ax.set_xlim(min(part["seconds"]) / 3, max(part["seconds"]) * 4)
        ax.set_title(f"{collection}: all classes and cuts")
        ax.set_xlabel("seconds")
    return {"speed": figure}


def draw_peers(tables: Tables) -> dict[str, Figure]:
    """Draw the best F1 of every selector against the number of features, class by class."""
    table = tables["peers"]
    labels = table["label"].unique(maintain_order=True)
    figure = _open(4.2 * min(len(labels), 3), 3.4 * -(-len(labels) // 3))
    axes = figure.subplots(-(-len(labels) // 3), min(len(labels), 3), squeeze=False).ravel()
    styles = {
        "scikit-learn RFE": ("v-", "#56B4E9"),
        "L1 SelectFromModel": ("P-", "#000000"),
        **{name: (f"{MARKERS[name]}-", COLOURS[name]) for name in ("mask", "warm", "rfe")},
    }
    for ax, label in zip(axes, labels, strict=False):
        for selector, (style, colour) in styles.items():
            part = table.filter(label=label, selector=selector).sort("features")
            ax.semilogx(
                part["features"], part["best_f1"], style, color=colour, ms=4, label=selector
            )
        ax.set_title(label)
        ax.set_xlabel("features")
        ax.set_ylabel("best F1")
        ax.grid(alpha=0.3)
    for ax in axes[len(labels) :]:
        ax.set_visible(False)
    axes[0].legend(fontsize=8)
    return {"peers": figure}


def _open(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(max(width, 5), height), layout="constrained")


def _draw_line(ax: Axes, x: Any, y: Any, method: str) -> None:
    ax.plot(
        x,
        y,
        color=COLOURS[method],
        marker=MARKERS[method],
        ms=4,
        label=NAMES.get(method, method),
        ls="--" if method == "rfe" else "-",
    )
    ax.grid(alpha=0.3)


def _draw_dots(ax: Axes, table: pl.DataFrame, names: tuple[str, ...]) -> None:
    """Draw an average for each method, the first one at the top."""
    labels = {
        "nested_exact": "exact, cut chosen within",
        "nested_mask": "mask, cut chosen within",
        "random_exact": "exact, random order",
    }
    value = dict(zip(table["method"], table["average_auc"], strict=True))
    for height, name in enumerate(reversed(names)):
        is_control = name in labels
        colour = COLOURS[name.split("_", 1)[1] if is_control else name]
        ax.plot(value[name], height, "o", color=colour, mfc="white" if is_control else colour)
        ax.annotate(
            f"{value[name]:.4f}"[1:],
            (value[name], height),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    ax.set_yticks(
        range(len(names)),
        [labels.get(name, NAMES.get(name, name)) for name in reversed(names)],
        fontsize=8,
    )
    ax.axvline(value["all"], color=COLOURS["all"], lw=1, ls=":")
    ax.margins(x=0.25)
    ax.grid(axis="x", alpha=0.3)
    ax.set_xlabel("average best AUC")
