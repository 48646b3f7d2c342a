"""Charts, drawn with matplotlib, which is an extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOSTLY_SMALL = 0.1  # half of the cuts below it would crowd a linear axis
INK, BAND, MARK = "#1f4e79", "#9dc3e6", "#c55a11"


def draw_curve(
    fractions: NDArray[np.float64],
    values: NDArray[np.float64],
    error: NDArray[np.float64],
    *,
    marked: int,
    line: str,
    band: str,
    value_label: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw values against the share of features kept, with a band of error and one cut marked."""
    ax = _make_axes() if ax is None else ax
    percent = 100 * fractions
    ax.fill_between(
        percent, values - error, values + error, color=BAND, alpha=0.5, lw=0, label=band
    )
    ax.plot(percent, values, color=INK, marker="o", markersize=3.5, label=line)
    ax.axvline(percent[marked], color=MARK, lw=1, ls="--")
    ax.plot(
        percent[marked],
        values[marked],
        color=MARK,
        marker="o",
        markersize=8,
        ls="none",
        label=f"{percent[marked]:.3g}% of features: {values[marked]:.4f}",
    )
    if np.median(fractions) < MOSTLY_SMALL:
        ax.set_xscale("log")
    ax.set_xlabel("features kept, % of those with a nonzero score")
    ax.set_ylabel(value_label)
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right", frameon=False)
    return ax


def _make_axes() -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Charts need matplotlib: pip install 'spokeshave[plot]'") from error
    return pyplot.subplots(figsize=(7, 4.5), layout="constrained")[1]
