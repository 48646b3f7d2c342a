"""The charts of a report as Vega-Lite specifications, made with Altair.

They hold no data: the page puts in what is chosen there, by the names of the data sets. Colours
are variables of the page's style, so that a chart is recoloured as the page is.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from spokeshave.jobs.record import RunRecord
from spokeshave.report.axes import INK, LINE, MUTED
from spokeshave.report.curve_chart import draw_curves
from spokeshave.report.shape_charts import draw_nominal_shape, draw_shape
from spokeshave.report.stability_chart import draw_stability

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
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
            specs["stability"] = _finish(chart, 260, "Likeness of masked and retrained SVMs")
        if any(not shape.is_nominal for shape in record.shapes):
            specs["shape"] = _finish(draw_shape(), 170, "What values become")
        if any(shape.is_nominal for shape in record.shapes):
            specs["nominal_shape"] = _finish(draw_nominal_shape(), 170, "What values become")
    return specs


def _finish(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int, says: str) -> Spec:
    """Return the specification of a chart as wide as its place in the page."""
    sized = chart.properties(width="container", height=height, description=says)
    spec: Spec = sized.to_dict(validate=False)  # tests do, which takes longer than all the rest
    spec.pop("$schema")  # an address, which nothing should look as if it loads
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
