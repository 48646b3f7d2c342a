"""The chart of how alike masked and retrained SVMs are at each cut."""

from __future__ import annotations

import altair as alt

from spokeshave.jobs.record import StabilityRecord
from spokeshave.report.axes import (
    draw_current,
    make_colors,
    make_current,
    make_measure_axis,
    make_share_axis,
    make_tooltip,
)


def draw_stability(stability: StabilityRecord) -> alt.LayerChart | alt.FacetChart:
    """Return a line for each measure of likeness, and the rule at the current cut."""
    base = alt.Chart(alt.NamedData("points")).encode(
        x=make_share_axis(stability.fractions, "share kept"),
        y=alt.Y(
            "value:Q", title=None, scale=alt.Scale(zero=False, padding=8), axis=make_measure_axis()
        ),
        color=make_colors("measure:N", list(stability.macro)),
    )
    places = base.mark_point(filled=True, size=400, opacity=0, cursor="pointer")
    return alt.layer(
        base.mark_line(strokeWidth=2),
        draw_current(),
        base.mark_point(filled=True, size=30, opacity=1),
        places.encode(tooltip=make_tooltip(measure="measure", kept="kept", text="value")),
    ).add_params(make_current())
