"""Charts, drawn with matplotlib, which is an optional dependency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOSTLY_SMALL = 0.1  # with a median cut below it, a linear axis would crowd the cuts
N_BARS = 30
INK, BAND, MARK = "#1f4e79", "#9dc3e6", "#c55a11"


class Across(NamedTuple):
    """The horizontal axis of a curve: the positions of the cuts, its label, and their unit."""

    at: NDArray[np.float64]
    label: str
    unit: str
    is_log: bool


def lay_features(fractions: NDArray[np.float64]) -> Across:
    """Return the axis of the share of features kept."""
    is_log = bool(np.median(fractions) < MOSTLY_SMALL)
    label = "features kept, % of those with a nonzero score"
    return Across(100 * fractions, label, "% of features", is_log)


def lay_nonzeros(nonzeros: NDArray[np.float64]) -> Across:
    """Return the axis of nonzeros per document."""
    return Across(nonzeros, "nonzeros per document", " nonzeros per document", True)


def draw_curve(
    across: Across,
    values: NDArray[np.float64],
    error: NDArray[np.float64],
    *,
    marked: int,
    line: str,
    band: str,
    value_label: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw a value at each cut, with a band of errors and one cut marked."""
    ax = _make_axes() if ax is None else ax
    at = across.at
    ax.fill_between(at, values - error, values + error, color=BAND, alpha=0.5, lw=0, label=band)
    ax.plot(at, values, color=INK, marker="o", markersize=3.5, label=line)
    ax.axvline(at[marked], color=MARK, lw=1, ls="--")
    ax.plot(
        at[marked],
        values[marked],
        color=MARK,
        marker="o",
        markersize=8,
        ls="none",
        label=f"{at[marked]:.3g}{across.unit}: {values[marked]:.4f}",
    )
    if across.is_log:
        ax.set_xscale("log")
    ax.set_xlabel(across.label)
    ax.set_ylabel(value_label)
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right", frameon=False)
    return ax


def draw_learning(
    n_documents: NDArray[np.float64],
    values: NDArray[np.float64],
    error: NDArray[np.float64],
    *,
    label: str | None,
    value_label: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw values against the size of the training set, with a band of errors.

    Each call on the same axes uses the next colour, to compare learners.
    """
    ax = _make_axes() if ax is None else ax
    (line,) = ax.plot(n_documents, values, marker="o", markersize=3.5, label=label)
    ax.fill_between(
        n_documents, values - error, values + error, color=line.get_color(), alpha=0.2, lw=0
    )
    ax.set_xlabel("training documents")
    ax.set_ylabel(value_label)
    if label is not None:
        ax.legend(loc="lower right", frameon=False)
    ax.grid(alpha=0.3)
    return ax


def draw_sparsity(
    lines: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    *,
    value_label: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw values against features kept, a line for each ranking, on logarithmic axes."""
    ax = _make_axes() if ax is None else ax
    for number, (name, (n_features, values)) in enumerate(lines.items()):
        dashes = ("-", "--", ":", "-.")[number // 10 % 4]  # there are ten colours
        ax.plot(n_features, values, ls=dashes, marker="o", markersize=3, label=name)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("features kept per class")
    ax.set_ylabel(value_label)
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right", frameon=False, fontsize="small")
    return ax


def draw_shape(shape: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the shaped values of a `FeatureShape` over the distribution of each class."""
    ax = _make_axes() if ax is None else ax
    at = np.arange(shape.values.size) if shape.is_nominal else shape.values
    groups = dict(zip(map(str, shape.classes), shape.positives, strict=True))
    if len(groups) == 1:
        groups["the rest"] = shape.sizes - shape.positives[0]
    under = ax.twinx()
    for number, (name, counts) in enumerate(groups.items()):
        _draw_density(under, at, counts, shape.is_nominal, f"C{number}", name)
    under.set_ylim(0, 1.6 * under.get_ylim()[1])
    under.set_ylabel("share of the class")
    ax.set_zorder(under.get_zorder() + 1)
    ax.patch.set_visible(False)
    style = {"marker": "o", "ls": "none"} if shape.is_nominal else {"marker": ".", "markersize": 4}
    for number, (name, images) in enumerate(zip(shape.classes, shape.images, strict=True)):
        ax.plot(at, images, color=f"C{number}", label=f"image, {name}", **style)
        if shape.n_zero:
            ax.plot(0, shape.zero[number], color=f"C{number}", marker="s", label="image of zero")
        if shape.n_missing:
            ax.axhline(shape.missing[number], color=f"C{number}", ls=":", label="image of missing")
    if shape.is_nominal:
        ax.set_xticks(at, [str(value) for value in shape.values])
    ax.set_xlabel(shape.name)
    ax.set_ylabel("image")
    lines = [*ax.get_legend_handles_labels(), *under.get_legend_handles_labels()]
    handles, labels = lines[0] + lines[2], lines[1] + lines[3]
    ax.legend(handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False, ncols=4)
    return ax


def _draw_density(
    ax: Axes, at: NDArray[Any], counts: NDArray[Any], is_nominal: bool, color: str, name: str
) -> None:
    """Draw the distribution of the values in a class."""
    share = counts / max(counts.sum(), 1)
    if is_nominal or at.size <= N_BARS:
        width = 0.8 * (np.diff(at).min() if at.size > 1 else 1)
        ax.bar(at, share, width, color=color, alpha=0.25, label=name)
    else:
        edges = np.histogram_bin_edges(at, N_BARS)
        height = np.histogram(at, edges, weights=share)[0]
        ax.stairs(height, edges, fill=True, color=color, alpha=0.25, label=name)


def _make_axes() -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Charts need matplotlib: pip install 'spokeshave[plot]'") from error
    axes: Axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")[1]
    return axes
