"""Values written into a page: nothing in them is markup, and they read back as they were."""

from __future__ import annotations

import json
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.report.embedding import embed_json, hash_script

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
)


@settings(deadline=None, max_examples=50)
@given(values)
def test_what_is_written_reads_back(value):
    assert json.loads(embed_json(value)) == value


@settings(deadline=None, max_examples=50)
@given(values)
def test_nothing_written_is_markup(value):
    assert not set(embed_json(value)) & set("<>&\u2028\u2029")


@pytest.mark.parametrize("unknown", [nan, inf, -inf])
def test_what_is_not_finite_is_not_known(unknown):
    assert embed_json({"values": [1.0, unknown]}) == '{"values":[1.0,null]}'


def test_numbers_have_no_more_digits_than_are_shown():
    assert embed_json([0.123456789, 123456789]) == "[0.1234568,123456789]"


def test_other_scripts_have_other_hashes():
    assert hash_script("a") != hash_script("b")
    assert hash_script("ä").startswith("'sha256-")
