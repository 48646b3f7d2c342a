"""Sorts against numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spokeshave.kernels.sorting import (
    FEW,
    deal_pairs,
    insert_pairs,
    order_nonzero,
    sort_pairs,
    write_keys,
)

WIDTHS = [1, 8, 9, 16, 24, 64]


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False) | st.integers(-2, 2).map(float), max_size=30))
@example([0.0, -0.0, 5e-324, -5e-324, np.inf, -np.inf, 1.7e308, -1.7e308])
def test_keys_ascend_as_values_do(values):
    values = np.array(values, float)
    keys = np.empty(values.size, np.uint64)
    write_keys(values, keys)
    np.testing.assert_array_equal(keys[:, None] < keys, values[:, None] < values)
    np.testing.assert_array_equal(keys[:, None] == keys, values[:, None] == values)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("item_type", [np.uint32, np.int64])
@pytest.mark.parametrize("n", [0, 1, 2, FEW, FEW + 1, 300])
def test_pairs_are_sorted_and_ties_keep_their_order(rng, n, item_type, width):
    top = np.uint64(2**width - 1)
    keys = rng.integers(0, top, n, np.uint64, endpoint=True) ^ np.uint64(1 << 63)
    keys[1::3] = keys[:1] if n else 0
    expected = np.argsort(keys, kind="stable")
    items, ordered = np.arange(n, dtype=item_type), keys[expected]
    sort_pairs(keys, items, np.empty_like(keys), np.empty_like(items))
    np.testing.assert_array_equal(keys, ordered)
    np.testing.assert_array_equal(items, expected)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1), max_size=60))
def test_insertion_is_a_stable_sort(keys):
    keys = np.array(keys, np.uint64)
    expected = np.argsort(keys, kind="stable")
    items, ordered = np.arange(keys.size), keys[expected]
    insert_pairs(keys, items)
    np.testing.assert_array_equal(keys, ordered)
    np.testing.assert_array_equal(items, expected)


@pytest.mark.parametrize("shift", [0, 8, 56])
def test_one_pass_sorts_by_one_byte(rng, shift):
    keys = rng.integers(0, 2**64 - 1, 500, np.uint64)
    items, new_keys, new_items = np.arange(500), np.empty_like(keys), np.empty(500, np.int64)
    deal_pairs(keys, items, np.uint64(shift), new_keys, new_items)
    expected = np.argsort(keys >> np.uint64(shift) & np.uint64(255), kind="stable")
    np.testing.assert_array_equal(new_items, expected)
    np.testing.assert_array_equal(new_keys, keys[expected])


NEAR_ONE = st.integers(-3, 3).map(lambda k: 1.0 + k * 2e-16)


@settings(deadline=None)
@given(
    st.one_of(
        st.lists(st.floats(allow_nan=False), max_size=50),
        st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0]), max_size=50),
        st.lists(NEAR_ONE, max_size=50),  # alike in float32
    )
)
@example([1e-320, 5e-324, -1e-320, 1e300, 2e300])
def test_order_is_that_of_a_stable_sort(values):
    scores = np.array(values, float)
    nonzero = np.flatnonzero(scores)
    expected = nonzero[np.argsort(-scores[nonzero], kind="stable")]
    np.testing.assert_array_equal(order_nonzero(scores), expected)
