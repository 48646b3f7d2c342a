"""The chart in characters: what fits, what is longest, and what is not known."""

from __future__ import annotations

import string
from itertools import pairwise
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.cli.chart import ASCII, BLOCKS, choose_glyphs, draw_chart

shares = st.floats(0, 1)
glyph_sets = st.sampled_from([BLOCKS, ASCII])


@st.composite
def curves(draw, values=shares):
    """Draw the arguments of a chart: cuts in ascending order, a value and an error at each."""
    n_cuts = draw(st.integers(1, 15))
    of_cuts = {"min_size": n_cuts, "max_size": n_cuts}
    return {
        "fractions": sorted(draw(st.lists(st.floats(1e-4, 1), **of_cuts))),
        "values": draw(st.lists(values, **of_cuts)),
        "errors": draw(st.lists(st.floats(0, 0.5) | st.just(nan), **of_cuts)),
        "n_features": sorted(draw(st.lists(st.floats(0, 9_999_999), **of_cuts))),
        "chosen": draw(st.integers(0, n_cuts - 1)),
        "measure": "macro best F1",
        "unit": "words",
    }


def take_rows(lines, n_cuts):
    return lines[1 : 1 + n_cuts]


def measure_bar(row, glyphs):
    """Return the length of a bar in cells, to the part of a cell that its last block fills."""
    cells = row.partition("%")[2]
    n_steps = len(glyphs.blocks)
    parts = {block: (step + 1) / n_steps for step, block in enumerate(glyphs.blocks)}
    parts[glyphs.shade] = 1
    return sum(parts.get(cell, 0) for cell in cells)


@given(curves(shares | st.just(nan)), st.integers(70, 200), glyph_sets)
def test_every_line_fits_and_every_cut_has_one(curve, width, glyphs):
    lines = draw_chart(**curve, width=width, glyphs=glyphs)
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    rows = take_rows(lines, len(curve["values"]))
    assert [row.split("%")[0].strip() for row in rows] == [
        f"{100 * fraction:.3g}" for fraction in curve["fractions"]
    ]


@given(curves(shares | st.just(nan)), glyph_sets)
def test_one_cut_is_chosen_and_the_highest_is_best(curve, glyphs):
    rows = take_rows(draw_chart(**curve, glyphs=glyphs), len(curve["values"]))
    assert [n for n, row in enumerate(rows) if "chosen" in row] == [curve["chosen"]]
    known = [value for value in curve["values"] if not isnan(value)]
    best = [curve["values"].index(max(known))] if known else []
    assert [n for n, row in enumerate(rows) if row.endswith("best")] == best


@given(curves(), glyph_sets)
def test_a_higher_value_never_has_a_shorter_bar(curve, glyphs):
    rows = take_rows(draw_chart(**curve, glyphs=glyphs), len(curve["values"]))
    bars = [measure_bar(row, glyphs) for row in rows]
    by_value = sorted(range(len(bars)), key=curve["values"].__getitem__)
    assert all(bars[lower] <= bars[higher] for lower, higher in pairwise(by_value))


@given(curves(), glyph_sets)
def test_bars_below_one_standard_error_of_the_best_are_shaded(curve, glyphs):
    lines = draw_chart(**curve, glyphs=glyphs)
    values, errors = curve["values"], curve["errors"]
    best = values.index(max(values))
    floor = values[best] - (0 if isnan(errors[best]) else errors[best])
    for value, row in zip(values, take_rows(lines, len(values)), strict=True):
        assert (glyphs.shade if value >= floor else glyphs.blocks[-1]) not in row
    has_legend = len(lines) == len(values) + 2
    assert has_legend == any(value < floor for value in values)


@given(curves(shares | st.just(nan)))
def test_ascii_is_ascii(curve):
    assert set("".join(draw_chart(**curve, glyphs=ASCII))) <= set(string.printable)


def test_the_head_says_where_bars_begin_and_end():
    head = draw_chart([0.5, 1], [0.775, 0.869], [0.01, 0.01], [5, 10], chosen=1)[0]
    assert head.split() == ["kept", "0.77", head.split()[2], "0.87", "value", "features"]
    wide = draw_chart([0.5, 1], [0.21, 0.869], [0.01, 0.01], [5, 10], chosen=1)[0]
    assert wide.split()[1:4:2] == ["0.20", "0.90"]


def test_numbers_are_written_as_they_are():
    row = draw_chart([0.3], [0.86525], [0.00404], [1172.9], chosen=0, unit="words")[1]
    assert row.endswith("0.8652 ± 0.0040  1,173  ← chosen, best")


@pytest.mark.parametrize("value", [0.07, 0.29, 0.86, 0.865, 1.0])
def test_equal_values_have_equal_bars(value):
    curve = [0.1, 0.5, 1], [value] * 3, [0.01] * 3, [1, 5, 10]
    rows = draw_chart(*curve, chosen=0)[1:]
    assert len(rows) == 3  # nothing is below the best, so there is no legend
    lengths = {measure_bar(row, BLOCKS) for row in rows}
    assert len(lengths) == 1
    assert lengths.pop() > 0


def test_one_cut_is_chosen_and_best():
    head, row = draw_chart([1.0], [0.8], [nan], [10], chosen=0, glyphs=ASCII)
    assert head.startswith("kept  0.79 ---")
    assert row.startswith("100%  ####")
    assert row.endswith("#  0.8000        10  <- chosen, best")


def test_what_is_not_known_has_no_bar():
    lines = draw_chart([0.5, 1], [nan, nan], [nan, nan], [5, 10], chosen=0)
    assert [line.split() for line in lines[1:]] == [
        ["50%", "unknown", "5", "←", "chosen"],
        ["100%", "unknown", "10"],
    ]


@pytest.mark.parametrize(
    ("encoding", "glyphs"),
    [
        ("utf-8", BLOCKS),
        ("UTF-16", BLOCKS),
        ("ascii", ASCII),
        ("latin-1", ASCII),
        ("cp1252", ASCII),
        ("cp437", ASCII),
        ("no such encoding", ASCII),
    ],
)
def test_blocks_are_drawn_where_they_can_be_written(encoding, glyphs):
    assert choose_glyphs(encoding) is glyphs


def test_cuts_may_have_names_of_their_own():
    cuts = ["nonzeros", "2.5", "80"]
    rows = draw_chart([0.1, 1], [0.7, 0.8], [0.01, 0.01], [5, 50], chosen=1, cuts=cuts)[:3]
    assert [row.split()[0] for row in rows] == cuts
    assert len({row.index(name) + len(name) for row, name in zip(rows, cuts, strict=True)}) == 1
