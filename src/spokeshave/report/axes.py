"""What the charts of a report share: axes, colours, and the rule at the current cut."""

from __future__ import annotations

from math import log10, sqrt
from statistics import median

import altair as alt

MOSTLY_SMALL = 0.1  # half of the cuts below it would crowd any other axis than a logarithmic one
TICK_GAP = 0.09  # of the axis, so that labels of ticks do not touch
N_COLORS = 8
WRITTEN = "format(datum.value, '.3~f')"
SHORT = f"datum.value > 0 && datum.value < 1 ? slice({WRITTEN}, 1) : {WRITTEN}"
INK, MUTED, LINE, ACCENT, CHOSEN = (
    f"var(--{name})" for name in ("ink", "muted", "line", "accent", "chosen")
)


def make_share_axis(fractions: list[float], title: str) -> alt.X:
    """Return an axis of shares on which small ones have room."""
    is_log = median(fractions) < MOSTLY_SMALL and min(fractions) > 0
    scale = alt.Scale(
        type="log" if is_log else "sqrt",
        domain=[min(fractions), max(fractions)],
        nice=False,
        padding=14,
    )
    axis = alt.Axis(
        values=choose_ticks(fractions, is_log=is_log),
        format=".3~%",
        grid=False,
        labelFlush=True,
        labelOverlap="greedy",
    )
    return alt.X("fraction:Q", title=title, scale=scale, axis=axis)


def choose_ticks(fractions: list[float], *, is_log: bool) -> list[float]:
    """Return the cuts that have room for a label, the largest first.

    Examples
    --------
    >>> choose_ticks([0.01, 0.1, 0.5, 0.98, 0.99, 1.0], is_log=False)
    [1.0, 0.5, 0.1, 0.01]
    """
    place = log10 if is_log else sqrt
    top = place(max(fractions))
    width = top - place(min(fractions)) if is_log else top
    ticks: list[float] = []
    for fraction in sorted(fractions, reverse=True):
        if not ticks or place(ticks[-1]) - place(fraction) >= TICK_GAP * width > 0:
            ticks.append(fraction)
    return ticks


def make_measure_axis(n_ticks: int = 6) -> alt.Axis:
    """Return an axis of measures, written without the zero before the point."""
    return alt.Axis(labelExpr=SHORT, tickCount=n_ticks, domain=False, ticks=False)


def make_colors(field: str, names: list[str]) -> alt.Color:
    """Return colours that stay with their names whatever is shown; the page has the legend."""
    colors = [f"var(--series-{number % N_COLORS + 1})" for number in range(len(names))]
    return alt.Color(field, scale=alt.Scale(domain=names, range=colors), legend=None)


def make_tooltip(**titles: str) -> list[alt.Tooltip]:
    """Return a tooltip of fields that are text, with what each is called."""
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def draw_current() -> alt.Chart:
    """Return a rule at the cut that the page is at: the parameter ``current``."""
    at = alt.XDatum(alt.ExprRef("current"), type="quantitative")
    rule: alt.Chart = (
        alt.Chart(alt.InlineData([{}]))
        .mark_rule(stroke=INK, strokeWidth=1.5, strokeDash=[4, 3], opacity=0.7, tooltip=None)
        .encode(x=at)
    )
    return rule


def make_current() -> alt.Parameter:
    """Return the parameter that says where the rule is."""
    return alt.param(name="current", value=1)
