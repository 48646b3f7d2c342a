"""Specifications of charts: what is drawn, from which data, in which colours, with which ticks."""

from __future__ import annotations

import json
from itertools import pairwise
from math import log10, sqrt

import altair
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records import FRACTIONS, make_bare_record, make_record
from spokeshave.report.charts import (
    N_COLORS,
    TICK_GAP,
    choose_ticks,
    draw_charts,
    make_colors,
    make_share_axis,
)

cuts = st.lists(st.floats(1e-6, 1), min_size=1, max_size=40, unique=True)


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


@settings(deadline=None)
@given(cuts, st.booleans())
def test_ticks_keep_their_distance(fractions, is_log):
    ticks = choose_ticks(fractions, is_log=is_log)
    assert ticks[0] == max(fractions)
    assert set(ticks) <= set(fractions)
    places = [log10(tick) if is_log else sqrt(tick) for tick in ticks]
    width = places[0] - (log10(min(fractions)) if is_log else 0)
    assert all(a - b >= TICK_GAP * width for a, b in pairwise(places))


def test_the_cuts_of_the_paper_have_round_labels():
    assert choose_ticks(FRACTIONS, is_log=False) == [1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.01]


@pytest.mark.parametrize(
    ("fractions", "kind"),
    [(FRACTIONS, "sqrt"), ([0.001, 0.01, 0.05, 0.1, 1.0], "log"), ([0.0, 0.01, 1.0], "sqrt")],
)
def test_mostly_small_cuts_are_on_a_logarithmic_axis(fractions, kind):
    assert make_share_axis(fractions, "kept").to_dict()["scale"]["type"] == kind


def test_colours_come_round_again():
    names = [str(number) for number in range(N_COLORS + 1)]
    colors = make_colors("method:N", names).to_dict()["scale"]["range"]
    assert colors[0] == colors[-1]
    assert len(set(colors)) == N_COLORS
