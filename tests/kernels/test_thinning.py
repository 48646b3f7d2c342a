"""Rows dropped, counted and gathered, against plain lists."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.kernels.thinning import count_features, gather_rows, keep_rows

N_FEATURES = 6
ROWS = st.lists(st.lists(st.integers(0, N_FEATURES - 1), max_size=5), max_size=10)
VALUES = pytest.mark.parametrize("has_values", [True, False])
EXAMPLES = settings(deadline=None, max_examples=60)


def make_arrays(rows, has_values):
    """Return rows in CSR form; each cell has a value of its own."""
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.uint64)
    indices = np.array(list(chain(*rows)), np.uint32)
    data = np.arange(1, indices.size + 1, dtype=np.float32) if has_values else None
    return indptr, indices, data


def list_rows(indptr, indices, data):
    """Return the cells of each row, with their values where they have any."""
    cells = list(zip(indices.tolist(), (indices if data is None else data).tolist(), strict=True))
    ends = indptr.astype(int).tolist()
    return [cells[first:last] for first, last in pairwise(ends)]


@VALUES
@EXAMPLES
@given(ROWS, st.data())
def test_rows_that_are_kept_are_as_they_were(has_values, rows, data):
    indptr, indices, values = make_arrays(rows, has_values)
    before = list_rows(indptr, indices, values)
    kept = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    n_kept = keep_rows(indptr, indices, values, np.array(kept, bool))
    expected = [row for row, is_kept in zip(before, kept, strict=True) if is_kept]
    assert n_kept == len(expected)
    assert indptr[n_kept] == sum(map(len, expected))
    assert list_rows(indptr[: n_kept + 1], indices, values) == expected


@EXAMPLES
@given(ROWS)
def test_features_are_added_to_the_counts_there_are(rows):
    _, indices, _ = make_arrays(rows, has_values=False)
    frequency = np.arange(N_FEATURES)
    count_features(indices, frequency)
    cells = list(chain(*rows))
    assert frequency.tolist() == [j + cells.count(j) for j in range(N_FEATURES)]


@VALUES
@EXAMPLES
@given(ROWS.filter(len), st.data())
def test_chosen_rows_are_gathered_in_the_order_given(has_values, rows, data):
    indptr, indices, values = make_arrays(rows, has_values)
    before = list_rows(indptr, indices, values)
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12))
    lengths = [len(rows[i]) for i in chosen]
    found = np.empty(sum(lengths), np.uint32)
    found_values = np.empty(sum(lengths), np.float32) if has_values else None
    gather_rows(indptr, indices, values, np.array(chosen, np.intp), found, found_values)
    ends = np.cumsum([0, *lengths]).astype(np.uint64)
    assert list_rows(ends, found, found_values) == [before[i] for i in chosen]
