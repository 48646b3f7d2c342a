"""Axes: labels of ticks have room, whatever the cuts."""

from __future__ import annotations

from itertools import pairwise
from math import log10, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records import FRACTIONS
from spokeshave.report.axes import N_COLORS, TICK_GAP, choose_ticks, make_colors, make_share_axis

cuts = st.lists(st.floats(1e-6, 1), min_size=1, max_size=40, unique=True)


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
