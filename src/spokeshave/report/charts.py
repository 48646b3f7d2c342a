"""The charts of a report as Vega-Lite specifications, made with Altair.

The specifications hold no data. The page fills their named data sets with the selected class,
measure and method. Colours are CSS variables, so charts follow the colour scheme of the page.
"""

from __future__ import annotations

from math import log10, sqrt
from statistics import median
from typing import Any

import altair as alt

from spokeshave.jobs.record import RunRecord, StabilityRecord

MOSTLY_SMALL = 0.1  # with a median cut below it, only a logarithmic axis separates the cuts
TICK_GAP = 0.09  # share of the axis between two ticks, so that their labels do not overlap
N_COLORS = 8
N_SHAPE_TICKS = 4
DOT_SIZES = [14, 220]
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
WRITTEN = "format(datum.value, '.3~f')"
SHORT = f"datum.value > 0 && datum.value < 1 ? slice({WRITTEN}, 1) : {WRITTEN}"
INK, MUTED, LINE, ACCENT, CHOSEN = (
    f"var(--{name})" for name in ("ink", "muted", "line", "accent", "chosen")
)
Spec = dict[str, Any]


def draw_charts(record: RunRecord, curve_names: list[str]) -> dict[str, Spec]:
    """Return the specification of every chart that the record has data for."""
    specs: dict[str, Spec] = {}
    with alt.theme.enable("none"):
        if record.curves:
            chart = draw_curves(record, curve_names)
            specs["curve"] = _finish(chart, 340, "Quality at every cut")
        if record.stability is not None:
            chart = draw_stability(record.stability)
            specs["stability"] = _finish(chart, 260, "Similarity of masked and retrained SVMs")
        if any(not shape.is_nominal for shape in record.shapes):
            specs["shape"] = _finish(draw_shape(), 170, "Shaped values")
        if any(shape.is_nominal for shape in record.shapes):
            specs["nominal_shape"] = _finish(draw_nominal_shape(), 170, "Shaped values")
    return specs


def draw_curves(record: RunRecord, names: list[str]) -> alt.LayerChart | alt.FacetChart:
    """Return the curves, ± 1 standard error, with marks at the best, chosen and current cuts."""
    fractions = sorted({f for curve in record.curves for f in curve.fractions})
    x = make_share_axis(fractions, _name_axis(record))
    y = alt.Y(
        "value:Q", title=None, scale=alt.Scale(zero=False, padding=12), axis=make_measure_axis()
    )
    base = alt.Chart(alt.NamedData("points")).encode(x=x, color=make_colors("method:N", names))
    return alt.layer(
        base.mark_area(opacity=0.13).encode(y="low:Q", y2="high:Q"),
        _draw_current(),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, size=34, opacity=1).encode(y=y),
        *_draw_marks(x, y),
        _draw_targets(base, 500, method="method").encode(y=y),
    ).add_params(_make_current())


def draw_stability(stability: StabilityRecord) -> alt.LayerChart | alt.FacetChart:
    """Return a line for each measure of similarity, and the rule at the current cut."""
    base = alt.Chart(alt.NamedData("points")).encode(
        x=make_share_axis(stability.fractions, "share kept"),
        y=alt.Y(
            "value:Q", title=None, scale=alt.Scale(zero=False, padding=8), axis=make_measure_axis()
        ),
        color=make_colors("measure:N", list(stability.macro)),
    )
    return alt.layer(
        base.mark_line(strokeWidth=2),
        _draw_current(),
        base.mark_point(filled=True, size=30, opacity=1),
        _draw_targets(base, 400, measure="measure"),
    ).add_params(_make_current())


def draw_shape() -> alt.LayerChart | alt.FacetChart:
    """Return the shaped value of each numeric value, with dots sized by documents."""
    x = alt.X("value:Q", title=None, axis=alt.Axis(tickCount=5, grid=False))
    y = alt.Y(
        "image:Q",
        title=None,
        scale=alt.Scale(zero=False, padding=8),
        axis=make_measure_axis(N_SHAPE_TICKS),
    )
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    dots = base.mark_point(filled=True, fill=ACCENT, opacity=0.75)
    size = alt.Size("documents:Q", legend=None, scale=alt.Scale(range=DOT_SIZES))
    zero = alt.Chart(alt.NamedData("zero")).mark_point(
        shape="square", filled=False, stroke=CHOSEN, strokeWidth=2.5, size=110, opacity=1
    )
    return alt.layer(
        base.mark_line(stroke=ACCENT, strokeWidth=1.5),
        dots.encode(size=size, tooltip=_describe_value()),
        zero.encode(x=x, y=y, tooltip=_describe_value()),
    )


def draw_nominal_shape() -> alt.Chart:
    """Return the shaped value of each category as bars."""
    axis = alt.Axis(labelAngle=-35, labelLimit=90, ticks=False)
    chart: alt.Chart = (
        alt.Chart(alt.NamedData("points"))
        .mark_bar(fill=ACCENT, opacity=0.8)
        .encode(
            x=alt.X("value:N", title=None, sort=None, axis=axis, scale=alt.Scale(padding=0.4)),
            y=alt.Y("image:Q", title=None, axis=make_measure_axis(N_SHAPE_TICKS)),
            tooltip=_describe_value(),
        )
    )
    return chart


def make_share_axis(fractions: list[float], title: str) -> alt.X:
    """Return an axis of shares that spreads out the small ones."""
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
    """Return the cuts to label, largest first, at least `TICK_GAP` of the axis apart.

    Examples
    --------
    >>> choose_ticks([0.01, 0.1, 0.5, 0.98, 0.99, 1.0], is_log=False)
    [1.0, 0.5, 0.1, 0.01]
    """
    project = log10 if is_log else sqrt
    top = project(max(fractions))
    width = top - project(min(fractions)) if is_log else top
    ticks: list[float] = []
    for fraction in sorted(fractions, reverse=True):
        if not ticks or project(ticks[-1]) - project(fraction) >= TICK_GAP * width > 0:
            ticks.append(fraction)
    return ticks


def make_measure_axis(n_ticks: int = 6) -> alt.Axis:
    """Return an axis of measures, written without the zero before the point."""
    return alt.Axis(labelExpr=SHORT, tickCount=n_ticks, domain=False, ticks=False)


def make_colors(field: str, names: list[str]) -> alt.Color:
    """Return a fixed colour for each name, without a legend: the page has its own."""
    colors = [f"var(--series-{number % N_COLORS + 1})" for number in range(len(names))]
    return alt.Color(field, scale=alt.Scale(domain=names, range=colors), legend=None)


def _name_axis(record: RunRecord) -> str:
    unit = record.data.unit
    if len(record.curves[0].names) == 1:
        return f"share of the ranked {unit} kept"
    return f"share of its ranked {unit} that each class keeps"


def _draw_marks(x: alt.X, y: alt.Y) -> tuple[alt.Chart, alt.Chart]:
    """Return rings around the best and the chosen cut, and their labels."""
    base = alt.Chart(alt.NamedData("marks")).encode(x=x, y=y)
    rings = base.mark_point(filled=False, size=150, strokeWidth=2.5, stroke=CHOSEN, opacity=1)
    text = base.mark_text(
        fontWeight=600,
        fill=CHOSEN,
        align=alt.ExprRef("datum.fraction > 0.9 ? 'right' : 'left'"),
        dx=alt.ExprRef("datum.fraction > 0.9 ? -6 : 6"),
        dy=alt.ExprRef("datum.isLifted ? -29 : -16"),
    )
    return rings, text.encode(text="label:N")


def _draw_targets(base: alt.Chart, size: int, **series: str) -> alt.Chart:
    """Return invisible points with a tooltip, large enough to hover over and click."""
    targets: alt.Chart = base.mark_point(
        filled=True, size=size, opacity=0, cursor="pointer"
    ).encode(tooltip=_make_tooltip(**series, kept="kept", text="value"))
    return targets


def _draw_current() -> alt.Chart:
    """Return a rule at the current cut: the parameter ``current``."""
    at = alt.XDatum(alt.ExprRef("current"), type="quantitative")
    rule: alt.Chart = (
        alt.Chart(alt.InlineData([{}]))
        .mark_rule(stroke=INK, strokeWidth=1.5, strokeDash=[4, 3], opacity=0.7, tooltip=None)
        .encode(x=at)
    )
    return rule


def _make_current() -> alt.Parameter:
    return alt.param(name="current", value=1)


def _describe_value() -> list[alt.Tooltip]:
    return _make_tooltip(name="value", text="becomes", support="documents")


def _make_tooltip(**titles: str) -> list[alt.Tooltip]:
    """Return a tooltip of text fields, each with its title."""
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def _finish(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int, says: str) -> Spec:
    """Return the specification of a chart as wide as its container."""
    sized = chart.properties(width="container", height=height, description=says)
    spec: Spec = sized.to_dict(validate=False)  # tests validate; it takes longer than all the rest
    spec.pop("$schema")  # an address, although nothing is loaded from it
    spec["background"] = "transparent"
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    spec["config"] = _style()
    return spec


def _style() -> Spec:
    axis = {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": 400,
        "titlePadding": 10,
        "gridColor": LINE,
        "domainColor": LINE,
        "tickColor": LINE,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelPadding": 6,
    }
    text = {"fontSize": 12, "fill": INK}
    return {"font": FONT, "view": {"stroke": None}, "axis": axis, "text": text}
