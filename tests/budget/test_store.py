"""Rows in a store against the matrix that they came from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_batches import (
    N_CLASSES,
    N_FEATURES,
    divide,
    documents,
    make_batch,
    to_dense,
)
from spokeshave.budget.row_batches import Batch, to_offsets
from spokeshave.budget.store import PIECE, Store
from spokeshave.kernels.rows import DROPPED

BOUNDS = st.lists(st.integers(0, 12), max_size=4)
VALUES = pytest.mark.parametrize("has_values", [True, False])


def fill(collection, bounds=(), *, has_values=True, capacity=1):
    """Return a store that is filled batch by batch, from one that has next to no room."""
    store = Store(capacity, has_values=has_values)
    for batch in divide(*collection, bounds, has_values=has_values):
        store.add(batch, np.zeros(batch.n_documents))
    return store


def read(store):
    return to_dense(store.indptr, store.indices, store.values)


def expect(X, has_values):
    return X.toarray() if has_values else (X.toarray() != 0).astype(float)


def indicate(labels):
    return np.array([[code in codes for code in range(N_CLASSES)] for codes in labels])


def require(store, X, labels, has_values):
    """Require that a store holds these documents, no more and no less."""
    assert len(store) == len(labels)
    assert store.n_nonzeros == X.nnz
    np.testing.assert_array_equal(store.indices, X.indices)  # in the order that they came in
    np.testing.assert_array_equal(read(store), expect(X, has_values))
    indicator = store.indicate(N_CLASSES)
    np.testing.assert_array_equal(
        indicator.toarray(), indicate(labels).reshape(len(labels), N_CLASSES)
    )


@VALUES
@settings(deadline=None, max_examples=30)
@given(documents(), BOUNDS)
def test_what_is_added_is_there_however_it_is_divided(has_values, collection, bounds):
    require(fill(collection, bounds, has_values=has_values), *collection, has_values)


@VALUES
@settings(deadline=None, max_examples=30)
@given(documents(), BOUNDS, st.data())
def test_rows_that_are_not_kept_are_gone(has_values, collection, bounds, data):
    X, labels = collection
    n = len(labels)
    store = fill(collection, bounds, has_values=has_values)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    store.keep(kept)
    left = [label for label, is_kept in zip(labels, kept, strict=True) if is_kept]
    require(store, X[kept], left, has_values)
    batch = make_batch(X, labels, has_values=has_values)
    store.add(batch, np.zeros(batch.n_documents))  # and others come after them
    together = sparse.vstack([X[kept], X], format="csr") if n else X
    require(store, together, left + labels, has_values)


@VALUES
@settings(deadline=None, max_examples=30)
@given(documents(), st.lists(st.booleans(), min_size=N_FEATURES, max_size=N_FEATURES))
def test_features_get_new_numbers_or_are_dropped(has_values, collection, kept):
    store = fill(collection, has_values=has_values)
    kept = np.flatnonzero(kept)[::-1]
    number = np.full(N_FEATURES, DROPPED)
    number[kept] = np.arange(kept.size)
    store.renumber(number)
    expected = expect(collection[0], has_values)[:, kept]
    np.testing.assert_array_equal(read(store)[:, : kept.size], expected)
    assert store.n_nonzeros == np.count_nonzero(expected)


@settings(deadline=None, max_examples=30)
@given(documents())
def test_values_are_multiplied_by_the_factors_of_their_features(collection):
    store = fill(collection)
    factors = np.arange(1, N_FEATURES + 1, dtype=np.float32)
    store.multiply(factors)
    np.testing.assert_array_equal(read(store), collection[0].toarray() * factors)


def test_values_of_many_pieces_are_multiplied(rng):
    n = PIECE + 5
    features = rng.integers(0, 3, size=n)
    ends, codes = np.array([0, 1]), np.zeros(1, np.int32)
    store = Store(n, has_values=True)
    batch = Batch(np.array([0, n]), features, np.ones(n, np.float32), ends, codes)
    store.add(batch, np.zeros(1))
    store.multiply(np.array([2, 3, 5], np.float32))
    np.testing.assert_array_equal(store.values, np.array([2, 3, 5])[features])


@VALUES
@settings(deadline=None, max_examples=30)
@given(documents(), BOUNDS)
def test_features_are_counted_by_row(has_values, collection, bounds):
    frequency = np.ones(N_FEATURES, np.int64)
    fill(collection, bounds, has_values=has_values).count(frequency)
    np.testing.assert_array_equal(frequency - 1, (collection[0].toarray() != 0).sum(axis=0))


@VALUES
@settings(deadline=None, max_examples=30)
@given(documents(), BOUNDS)
def test_what_is_saved_is_read_back(tmp_path_factory, has_values, collection, bounds):
    folder = tmp_path_factory.mktemp("store")
    fill(collection, bounds, has_values=has_values).save(folder, "train")
    store = Store(1, has_values=has_values)
    store.load(folder, "train")
    require(store, *collection, has_values)


@settings(deadline=None, max_examples=30)
@given(documents(), st.data())
def test_rows_of_a_batch_are_taken_as_those_of_a_matrix(collection, data):
    X, labels = collection
    n = len(labels)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    taken = make_batch(X, labels).take(chosen)
    left = [label for label, is_chosen in zip(labels, chosen, strict=True) if is_chosen]
    for found, expected in zip(taken, make_batch(X[chosen], left), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert taken.n_documents == chosen.sum()


@given(st.lists(st.integers(0, 100)))
def test_rows_end_where_the_next_begin(lengths):
    ends = to_offsets(np.array(lengths, int))
    assert ends.tolist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]
