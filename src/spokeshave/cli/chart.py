"""A curve as a chart in characters, with one row per cut, for any terminal or file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, isnan
from typing import NamedTuple

GAP = "  "
SHORTEST_BAR, LONGEST_BAR = 12, 60
FINE, COARSE = 0.01, 0.1  # the axis begins and ends at multiples of one of them
WIDEST_FINE = 0.3  # largest range of values for the fine axis


class Glyphs(NamedTuple):
    """The characters of a chart; ``blocks`` fill a cell from one eighth to all of it."""

    blocks: str
    shade: str
    rule: str
    plus_minus: str
    arrow: str


BLOCKS = Glyphs("▏▎▍▌▋▊▉█", "░", "─", "±", "←")
ASCII = Glyphs("#", ":", "-", "+-", "<-")


class _Axis(NamedTuple):
    low: float
    high: float
    n_cells: int


def choose_glyphs(encoding: str) -> Glyphs:
    """Return block characters if the encoding has them, and ASCII otherwise.

    Examples
    --------
    >>> choose_glyphs("utf-8") is BLOCKS, choose_glyphs("latin-1") is ASCII
    (True, True)
    """
    try:
        "".join(BLOCKS).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def draw_chart(
    fractions: Sequence[float],
    values: Sequence[float],
    errors: Sequence[float],
    n_features: Sequence[float],
    *,
    chosen: int,
    measure: str = "value",
    unit: str = "features",
    cuts: Sequence[str] | None = None,
    width: int = 80,
    glyphs: Glyphs = BLOCKS,
) -> list[str]:
    """Return the lines of a chart: a header with the range of the bars, a row per cut, a legend.

    Bars need not begin at zero; the header shows the range. Bars more than one standard error below
    the best are shaded, so the first solid bar is the smallest cut within one standard error.

    Parameters
    ----------
    fractions : sequence of float
        Share of the features kept at each cut.
    values, errors : sequence of float
        A measure between 0 and 1 at each cut, and its standard error; NaN if unknown.
    n_features : sequence of float
        Mean number of features kept at each cut.
    chosen : int
        Index of the cut to mark.
    measure, unit : str
        Names of the values and of the features.
    cuts : sequence of str, optional
        Header and labels of the cuts; percentages of the features by default.
    width : int, default=80
        Largest width of a line, unless the numbers and a short bar need more.
    glyphs : Glyphs
        The characters to draw with.

    Returns
    -------
    lines : list of str

    Examples
    --------
    >>> for line in draw_chart(
    ...     [0.1, 0.5, 1], [0.715, 0.781, 0.785], [0.01, 0.01, 0.01], [10, 50, 100],
    ...     chosen=1, measure="F1", unit="words", width=65, glyphs=ASCII,
    ... ):
    ...     print(line)
    kept  0.71 ------------- 0.79  F1                words
     10%  :                        0.7150 +- 0.0100     10
     50%  ####################     0.7810 +- 0.0100     50  <- chosen
    100%  ######################   0.7850 +- 0.0100    100  <- best
          : more than one standard error below the best
    """
    best = _find_best(values)
    passing = _find_passing(values, errors, best)
    percents = ["kept", *(f"{100 * fraction:.3g}%" for fraction in fractions)]
    left = _align(percents if cuts is None else cuts, str.rjust)
    numbers = [_write(*pair, glyphs) for pair in zip(values, errors, strict=True)]
    counts = [f"{n:,.0f}" for n in n_features]
    marks = [_mark(cut, chosen, best, glyphs) for cut in range(len(values))]
    right = _join(
        _align([measure, *numbers], str.ljust), _align([unit, *counts], str.rjust), ["", *marks]
    )
    taken = len(left[0]) + max(map(len, right)) + 2 * len(GAP)
    axis = _set_axis(values, min(max(width - taken, SHORTEST_BAR), LONGEST_BAR))
    bars = [_draw_bar(value, axis, value >= passing, glyphs) for value in values]
    lines = _join(left, _align([_draw_axis(axis, glyphs), *bars], str.ljust), right)
    if any(value < passing for value in values):
        legend = f"{glyphs.shade} more than one standard error below the best"
        lines.append(" " * len(left[0]) + GAP + legend)
    return lines


def _align(cells: Sequence[str], to_side: Callable[[str, int], str]) -> list[str]:
    width = max(map(len, cells))
    return [to_side(cell, width) for cell in cells]


def _join(*columns: Sequence[str]) -> list[str]:
    return [GAP.join(row).rstrip() for row in zip(*columns, strict=True)]


def _find_best(values: Sequence[float]) -> int | None:
    """Return the index of the highest value, the first of several, or None if all are unknown."""
    known = [cut for cut, value in enumerate(values) if not isnan(value)]
    return max(known, key=values.__getitem__, default=None)


def _find_passing(values: Sequence[float], errors: Sequence[float], best: int | None) -> float:
    """Return the best value less one standard error."""
    if best is None:
        return 0.0
    return values[best] - (0.0 if isnan(errors[best]) else errors[best])


def _write(value: float, error: float, glyphs: Glyphs) -> str:
    if isnan(value):
        return "unknown"
    return f"{value:.4f}" + ("" if isnan(error) else f" {glyphs.plus_minus} {error:.4f}")


def _mark(cut: int, chosen: int, best: int | None, glyphs: Glyphs) -> str:
    names = [name for name, marked in (("chosen", chosen), ("best", best)) if cut == marked]
    return f"{glyphs.arrow} {', '.join(names)}" if names else ""


def _set_axis(values: Sequence[float], n_cells: int) -> _Axis:
    """Return an axis from below the lowest value to the highest, in round numbers."""
    known = [value for value in values if not isnan(value)] or [0.0]
    step = FINE if max(known) - min(known) <= WIDEST_FINE else COARSE
    low = max(ceil(round(min(known) / step, 6)) - 1, 0)
    high = max(ceil(round(max(known) / step, 6)), low + 1)
    return _Axis(low * step, high * step, n_cells)


def _draw_axis(axis: _Axis, glyphs: Glyphs) -> str:
    low, high = f"{axis.low:.2f} ", f" {axis.high:.2f}"
    return low + glyphs.rule * (axis.n_cells - len(low + high)) + high


def _draw_bar(value: float, axis: _Axis, is_passing: bool, glyphs: Glyphs) -> str:
    if isnan(value):
        return ""
    share = min(max((value - axis.low) / (axis.high - axis.low), 0.0), 1.0)
    if not is_passing:
        return glyphs.shade * int(share * axis.n_cells)
    n_steps = len(glyphs.blocks)
    whole, part = divmod(round(share * axis.n_cells * n_steps), n_steps)
    return glyphs.blocks[-1] * whole + (glyphs.blocks[part - 1] if part else "")
