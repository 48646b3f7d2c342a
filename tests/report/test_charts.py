"""Specifications of charts: what is drawn, from what, and in which colours."""

from __future__ import annotations

import json

import altair

from records import make_bare_record, make_record
from spokeshave.report.charts import draw_charts


def test_there_is_a_chart_for_what_there_is_data_for():
    record = make_record()
    assert set(draw_charts(record, ["a", "b"])) == {"curve", "stability", "shape", "nominal_shape"}
    assert draw_charts(make_bare_record(), []) == {}
    amounts = [shape for shape in record.shapes if not shape.is_nominal]
    assert set(draw_charts(make_bare_record(shapes=amounts), [])) == {"shape"}


def test_charts_are_valid():
    for spec in draw_charts(make_record(), ["a", "b"]).values():
        kind = altair.LayerChart if "layer" in spec else altair.Chart
        kind.from_dict({**spec, "data": {"name": "points"}}, validate=True)


def test_charts_hold_no_data_and_no_address():
    for spec in draw_charts(make_record(), ["a", "b"]).values():
        text = json.dumps(spec)
        assert "http" not in text
        assert "#" not in text  # every colour is a variable of the style
        assert set(spec.get("datasets", {})) <= {"empty"}


def test_a_theme_that_someone_uses_changes_nothing():
    record = make_record()
    plain = draw_charts(record, ["a", "b"])
    with altair.theme.enable("dark"):
        assert draw_charts(record, ["a", "b"]) == plain
