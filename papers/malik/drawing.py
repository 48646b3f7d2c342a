"""The figures of the study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from papers.limits import LEVEL
from papers.malik import common
from papers.malik.pruning import EVERYTHING
from papers.malik.quality import ALL
from papers.malik.sparsity import CRITERIA, PARTS, WHOLE
from papers.verdicts import Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, safe for colour-blind readers; lines from the eighth on are dashed
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7")
LABELS = {"best_f1": "best F1", "f1": "F1 at threshold 0", "auc": "AUC"}
LAGGARDS = ("naive_bayes", "random")
BASELINE = {"color": "#7f7f7f", "lw": 1.2, "ls": (0, (1, 1.5))}


def draw_sparsity(tables: Tables) -> dict[str, Figure]:
    """Draw nonzeros against features, by criteria and by normals from parts."""
    table = tables["sparsity_grid"]
    collections = _list_names(table, "collection")
    figure, axes = _lay_out(len(collections), 2, (11.5, 4.2 * len(collections)))
    for row, collection in zip(axes, collections, strict=True):
        of = table.filter(collection=collection)
        for ax, names, title in zip(
            row,
            (_present(of, CRITERIA), (WHOLE, *PARTS)),
            ("every ranking", "normals from parts of the documents"),
            strict=True,
        ):
            _draw_lines(ax, of, names, "n_features", "nonzeros")
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_title(f"{collection}: {title}", fontsize=10)
            ax.set_xlabel("features kept, mean over classes")
            ax.set_ylabel("nonzeros per document")
            ax.legend(fontsize=7, frameon=False, loc="lower right", ncols=1 + (len(names) > 7))
    return {"sparsity": figure}


def draw_quality(tables: Tables) -> dict[str, Figure]:
    """Draw quality against sparsity, its predictors, precision and recall, and dropped weights."""
    quality = tables["quality"].filter(classes="all")
    return {
        "quality": _draw_measures(quality, _present(quality, CRITERIA)),
        "quality_parts": _draw_parts(quality),
        "collapse": _draw_collapse(tables),
        "recall": _draw_recall(tables["recall"].filter(classes="all")),
        "dropped": _draw_dropped(tables["dropped"].filter(classes="all")),
    }


def _draw_measures(quality: pl.DataFrame, names: Sequence[str]) -> Figure:
    collections = _list_names(quality, "collection")
    figure, axes = _lay_out(len(collections), 3, (13, 3.9 * len(collections)), legend=1.7)
    for row, collection in zip(axes, collections, strict=True):
        for ax, measure in zip(row, common.MEASURES, strict=True):
            of = quality.filter(collection=collection, measure=measure)
            _draw_lines(ax, of, names, "cut", "macro")
            whole = of.filter(ranking=ALL)["macro"]
            ax.axhline(whole[0], label=ALL, **BASELINE)
            _mark_sparsities(ax, of["cut"].unique().sort().to_list())
            _show_leaders(ax, of, names)
            ax.set_title(f"{collection}: {LABELS[measure]}", fontsize=10)
    axes[0][0].set_ylabel("mean over classes")
    _add_legend(figure, axes[0][0])
    return figure


def _draw_parts(quality: pl.DataFrame) -> Figure:
    """Draw the differences of normals of subsets from the normal of all documents."""
    collections = _list_names(quality, "collection")
    figure, axes = _lay_out(len(collections), 3, (13, 3.9 * len(collections)), legend=1.2)
    for row, collection in zip(axes, collections, strict=True):
        for ax, measure in zip(row, common.MEASURES, strict=True):
            of = quality.filter(collection=collection, measure=measure)
            _draw_lines(ax, of, _present(of, PARTS), "cut", "difference")
            ax.axhline(0, label="normal of all", **BASELINE)
            _mark_sparsities(ax, of["cut"].unique().sort().to_list())
            ax.set_title(f"{collection}: {LABELS[measure]}", fontsize=10)
        row[0].set_ylabel("difference from the normal of all documents")
    _add_legend(figure, axes[0][0])
    return figure


def _show_leaders(ax: Axes, table: pl.DataFrame, names: Sequence[str]) -> None:
    """Fit the axis to the leading lines; others may leave the picture."""
    leaders = [name for name in names if name not in LAGGARDS]
    values = table.filter(pl.col("ranking").is_in(leaders))["macro"].drop_nulls().to_numpy()
    margin = 0.08 * (values.max() - values.min())
    ax.set_ylim(values.min() - margin, values.max() + margin)


def _draw_collapse(tables: Tables) -> Figure:
    quality = tables["quality_by_features"].filter(classes="all", measure="best_f1")
    told = tables["collapse"].filter(classes="all", measure="best_f1", without="random")
    names = [name for name in _present(quality, CRITERIA) if name != "random"]
    collections = _list_names(quality, "collection")
    figure, axes = _lay_out(len(collections), 2, (11.5, 3.9 * len(collections)), legend=1.7)
    for row, collection in zip(axes, collections, strict=True):
        of = quality.filter(collection=collection)
        along = {"features": "cut", "nonzeros": "nonzeros"}
        for ax, (name, column) in zip(row, along.items(), strict=True):
            _draw_lines(ax, of, names, column, "macro")
            share = told.filter(collection=collection, along=name)
            ax.set_xscale("log")
            ax.set_xlabel("features kept" if name == "features" else "nonzeros per document")
            ax.set_title(
                f"{collection}: a rising curve explains {share['explained'][0]:.0%}", fontsize=10
            )
        row[0].set_ylabel("best F1, mean over classes")
    _add_legend(figure, axes[0][0])
    return figure


def _draw_recall(recall: pl.DataFrame) -> Figure:
    collections = _list_names(recall, "collection")
    figure, axes = _lay_out(1, len(collections), (5.8 * len(collections), 4.2), legend=2)
    styles = {"macro_precision": "-", "macro_recall": "--"}
    for ax, collection in zip(axes[0], collections, strict=True):
        of = recall.filter(collection=collection)
        names = _present(of, ("random", "normal", "information_gain"))
        for colour, name in zip((COLOURS[5], COLOURS[0], COLOURS[2]), names, strict=False):
            line = of.filter(ranking=name)
            for column, style in styles.items():
                label = f"{name}, {column.removeprefix('macro_')}"
                ax.plot(
                    line["sparsity"], line[column], style, color=colour, marker=".", label=label
                )
        _mark_sparsities(ax, of["sparsity"].drop_nulls().unique().sort().to_list())
        ax.set_ylim(0, 1)
        ax.set_title(f"{collection}, at threshold 0", fontsize=10)
    axes[0][0].set_ylabel("mean over classes (precision: that find anything)")
    _add_legend(figure, axes[0][0])
    return figure


def _draw_dropped(dropped: pl.DataFrame) -> Figure:
    collections = _list_names(dropped, "collection")
    figure, axes = _lay_out(1, len(collections), (5.8 * len(collections), 4.2))
    lines = [(by, method) for by in ("normal", "random") for method in ("mask", "exact")]
    says = {"mask": "not retrained", "exact": "retrained"}
    for ax, collection in zip(axes[0], collections, strict=True):
        for by, method in lines:
            of = dropped.filter(collection=collection, ranking=by, method=method)
            ax.plot(
                of["fraction"],
                of["best_f1"],
                "-" if method == "exact" else "--",
                color=COLOURS[0] if by == "normal" else COLOURS[5],
                marker=".",
                label=f"largest weights, {says[method]}"
                if by == "normal"
                else f"any features, {says[method]}",
            )
        ax.set_xscale("log")
        ax.set_xlabel("share of the features kept")
        ax.set_ylabel("best F1, mean over classes")
        ax.set_title(collection, fontsize=10)
        ax.legend(fontsize=8, frameon=False, loc="lower right")
    return figure


def draw_memory(tables: Tables) -> dict[str, Figure]:
    """Draw best F1 against the number of documents, for several memories."""
    table = tables["memory"].filter(classes="all")
    collections, shares = _list_names(table, "collection"), _list_names(table, "share")
    figure, axes = _lay_out(len(collections), 2, (11.5, 4.2 * len(collections)), legend=2)
    styles = {"normal": "-", "information_gain": "--", "odds_ratio": ":"}
    titles = {"shared": "one vocabulary for all classes", "own": "each class its own words"}
    for row, collection in zip(axes, collections, strict=True):
        for ax, (vocabulary, title) in zip(row, titles.items(), strict=True):
            for colour, share in zip(COLOURS[4::-2], shares, strict=False):
                for ranking, style in styles.items():
                    of = table.filter(
                        collection=collection, vocabulary=vocabulary, share=share, ranking=ranking
                    )
                    if of.is_empty():
                        continue
                    label = f"{share} of the whole, {ranking}"
                    ax.plot(of["n_documents"], of["best_f1"], style, color=colour, label=label)
                    gains = of.filter(
                        pl.col("best_f1_p_value") < LEVEL, pl.col("best_f1_difference") > 0
                    )
                    for points, face in ((of, "white"), (gains, colour)):
                        ax.plot(
                            *(points["n_documents"], points["best_f1"]),
                            *("o",),
                            color=colour,
                            markerfacecolor=face,
                            markersize=4.5,
                        )
            ax.set_xscale("log")
            ax.set_ylim(bottom=0)
            ax.set_title(f"{collection}: {title}", fontsize=10)
            ax.set_xlabel("documents; filled: above the first, P < .05")
            ax.set_ylabel("best F1, mean over classes")
        top = max(ax.get_ylim()[1] for ax in row)
        for ax in row:
            ax.set_ylim(0, top)
    _add_legend(figure, axes[0][1])
    return {"memory": figure}


def draw_pruning(tables: Tables) -> dict[str, Figure]:
    """Draw the loss or gain of each way to prune."""
    return {
        "pruning": _draw_differences(
            tables["pruning"].filter(
                pl.col("kept") != EVERYTHING, ~pl.col("kept").str.starts_with("only")
            ),
            "kept",
            "difference from keeping every word",
        )
    }


def draw_learners(tables: Tables) -> dict[str, Figure]:
    """Draw the differences of other classifiers from the SVM."""
    table = tables["learners"].filter(pl.col("auc_difference").is_not_null())
    return {"learners": _draw_differences(table, "classifier", "difference from the linear SVM")}


def _draw_differences(table: pl.DataFrame, column: str, label: str) -> Figure:
    """Draw a row of dots per name, filled where the difference is significant."""
    collections, names = _list_names(table, "collection"), _list_names(table, column)
    size = (6.2 * len(collections) + 1, 1.4 + 0.32 * len(names))
    figure, axes = _lay_out(1, len(collections), size)
    marks = {"best_f1": ("o", COLOURS[4], 0.15), "auc": ("s", COLOURS[5], -0.15)}
    for ax, collection in zip(axes[0], collections, strict=True):
        of = table.filter(collection=collection, classes="all")
        heights = [-names.index(name) for name in of[column]]
        for measure, (mark, colour, shift) in marks.items():
            for height, difference, p_value in zip(
                heights, of[f"{measure}_difference"], of[f"{measure}_p_value"], strict=True
            ):
                face = colour if p_value < LEVEL else "white"
                ax.plot(difference, height + shift, mark, color=colour, markerfacecolor=face)
            ax.plot([], [], mark, color=colour, label=LABELS[measure])
        ax.axvline(0, color="#7f7f7f", lw=1)
        ax.set_yticks([-n for n in range(len(names))], names, fontsize=8)
        ax.set_ylim(0.6 - len(names), 0.5)
        ax.locator_params(axis="x", nbins=6)
        ax.set_title(collection, fontsize=10)
        ax.set_xlabel(f"{label}; filled: P < .05")
        ax.legend(fontsize=8, frameon=False, loc="lower left")
    return figure


def _lay_out(
    n_rows: int, n_columns: int, size: tuple[float, float], legend: float = 0.0
) -> tuple[Figure, Any]:
    """Return a figure and its axes; ``legend`` is the width of a legend on the right, in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] + legend, size[1]), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    for ax in axes.flat:
        ax.grid(alpha=0.3)
    return figure, axes


def _draw_lines(ax: Axes, table: pl.DataFrame, names: Iterable[str], across: str, up: str) -> None:
    for number, name in enumerate(names):
        line = table.filter(ranking=name).sort(across)
        is_first = name.startswith("normal")
        ax.plot(
            line[across],
            line[up],
            "-" if number < len(COLOURS) else "--",
            color=COLOURS[number % len(COLOURS)],
            lw=2.2 if is_first and number == 0 else 1.3,
            marker=".",
            markersize=4,
            label=name,
        )


def _mark_sparsities(ax: Axes, sparsities: Sequence[float]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(sparsities, [f"{sparsity:g}" for sparsity in sparsities])
    ax.minorticks_off()
    ax.set_xlabel("nonzeros per document")


def _add_legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=8)


def _list_names(table: pl.DataFrame, column: str) -> list[str]:
    return table[column].unique(maintain_order=True).to_list()


def _present(table: pl.DataFrame, names: Iterable[str]) -> list[str]:
    known = set(table["ranking"])
    return [name for name in names if name in known]
