"""The charts of what the values of a feature become: a line for amounts, bars for names."""

from __future__ import annotations

import altair as alt

from spokeshave.report.axes import ACCENT, CHOSEN, make_measure_axis, make_tooltip

N_TICKS = 4
DOT_SIZES = [14, 220]


def draw_shape() -> alt.LayerChart | alt.FacetChart:
    """Return what each value of a feature becomes, dots by documents, and the bin of zeros."""
    x = alt.X("value:Q", title=None, axis=alt.Axis(tickCount=5, grid=False))
    y = alt.Y(
        "image:Q",
        title=None,
        scale=alt.Scale(zero=False, padding=8),
        axis=make_measure_axis(N_TICKS),
    )
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    dots = base.mark_point(filled=True, fill=ACCENT, opacity=0.75)
    size = alt.Size("documents:Q", legend=None, scale=alt.Scale(range=DOT_SIZES))
    zero = alt.Chart(alt.NamedData("zero")).mark_point(
        shape="square", filled=False, stroke=CHOSEN, strokeWidth=2.5, size=110, opacity=1
    )
    return alt.layer(
        base.mark_line(stroke=ACCENT, strokeWidth=1.5),
        dots.encode(size=size, tooltip=_describe()),
        zero.encode(x=x, y=y, tooltip=_describe()),
    )


def draw_nominal_shape() -> alt.Chart:
    """Return what each name that a feature has becomes, as bars."""
    axis = alt.Axis(labelAngle=-35, labelLimit=90, ticks=False)
    chart: alt.Chart = (
        alt.Chart(alt.NamedData("points"))
        .mark_bar(fill=ACCENT, opacity=0.8)
        .encode(
            x=alt.X("value:N", title=None, sort=None, axis=axis, scale=alt.Scale(padding=0.4)),
            y=alt.Y("image:Q", title=None, axis=make_measure_axis(N_TICKS)),
            tooltip=_describe(),
        )
    )
    return chart


def _describe() -> list[alt.Tooltip]:
    return make_tooltip(name="value", text="becomes", support="documents")
