"""The chart of quality at every cut."""

from __future__ import annotations

import altair as alt

from spokeshave.jobs.record import RunRecord
from spokeshave.report.axes import (
    CHOSEN,
    draw_current,
    make_colors,
    make_current,
    make_measure_axis,
    make_share_axis,
    make_tooltip,
)


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
        draw_current(),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, size=34, opacity=1).encode(y=y),
        *_draw_marks(x, y),
        _draw_places(base, y),
    ).add_params(make_current())


def _name_axis(record: RunRecord) -> str:
    unit = record.data.unit
    if len(record.curves[0].names) == 1:
        return f"share of the ranked {unit} kept"
    return f"share of its ranked {unit} that each class keeps"


def _draw_marks(x: alt.X, y: alt.Y) -> tuple[alt.Chart, alt.Chart]:
    """Return rings around the cuts that are the best and the chosen one, and what they are."""
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


def _draw_places(base: alt.Chart, y: alt.Y) -> alt.Chart:
    """Return places around the points that are large enough to point at, on top of everything."""
    places: alt.Chart = base.mark_point(filled=True, size=500, opacity=0, cursor="pointer").encode(
        y=y, tooltip=make_tooltip(method="method", kept="kept", text="value")
    )
    return places
