"""Values are spelt the same way everywhere."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.corpus.options import MalformedRow
from spokeshave.corpus.rewrite.line_writer import to_cell, to_json

MOMENT = "2024-01-02T00:00:00+00:00"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("value", "as_json", "as_cell"),
    [
        (None, "null", ""),
        ("", '""', ""),
        ('é"\n', '"é\\"\\n"', 'é"\n'),
        (True, "true", "true"),
        (7, "7", "7"),
        (0.1, "0.1", "0.1"),
        (1e300, "1e+300", "1e+300"),
        (float("nan"), "null", "nan"),
        (float("-inf"), "null", "-inf"),
        (date(2024, 2, 29), '"2024-02-29"', "2024-02-29"),
        (time(1, 2), '"01:02:00"', "01:02:00"),
        (datetime(2024, 1, 2, tzinfo=UTC), f'"{MOMENT}"', MOMENT),
        (timedelta(seconds=1.5), "1.5", "1.5"),
        (Decimal("1.50"), '"1.50"', "1.50"),
        (["a", None, [1]], '["a", null, [1]]', '["a", null, [1]]'),
        (("a", "b"), '["a", "b"]', '["a", "b"]'),
        ({"é": date(1, 1, 1)}, '{"é": "0001-01-01"}', '{"é": "0001-01-01"}'),
    ],
)
def test_spelling(value, as_json, as_cell):
    assert to_json(value) == as_json
    assert to_cell(value) == as_cell


@given(values)
def test_everything_is_valid_json(value):
    def refuse(constant):
        raise AssertionError(constant)

    json.loads(to_json(value), parse_constant=refuse)


@pytest.mark.parametrize("value", [b"a", [b"a"], {"x": object()}])
def test_what_cannot_be_spelt(value):
    for spell in (to_json, to_cell):
        with pytest.raises(MalformedRow, match="cannot be written as text; write parquet instead"):
            spell(value)
