"""Rows on the disk against the matrix that they came from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import normalize

from made_batches import (
    N_CLASSES,
    N_FEATURES,
    NORMS,
    divide,
    documents,
    make_batch,
    to_dense,
    write_batches,
)
from spokeshave.budget.shards import ShardWriter, list_shards, make_rows
from spokeshave.kernels.descent import score

BOUNDS = st.lists(st.integers(0, 12), max_size=5)
SIZES = st.integers(1, 200)
VALUES = pytest.mark.parametrize("has_values", [True, False])
EACH_NORM = pytest.mark.parametrize("norm", NORMS)


def expect(X, norm, has_values):
    """Return the documents as training is to see them."""
    dense = X.toarray().astype(float) if has_values else (X.toarray() != 0).astype(float)
    return dense if norm is None or not len(dense) else normalize(dense, norm=norm)


def read(block):
    """Return the rows of a block with their scales, as a dense table."""
    rows = block.rows
    return to_dense(rows.indptr, rows.indices, rows.data) * rows.scale[:, None]


@VALUES
@EACH_NORM
@settings(deadline=None, max_examples=20)
@given(documents(), BOUNDS, SIZES)
def test_documents_come_back_in_ranges_of_any_size(
    tmp_path_factory, has_values, norm, collection, bounds, most
):
    X, labels = collection
    folder = tmp_path_factory.mktemp("shards")
    write_batches(folder, divide(X, labels, bounds, has_values=has_values), has_values=has_values)
    shards = list_shards(folder, norm, most)
    expected = expect(X, norm, has_values)
    assert sum(map(len, shards)) == len(labels)
    assert sum(shard.n_nonzeros for shard in shards) == X.nnz
    w = np.arange(1.0, N_FEATURES + 1)
    for shard in shards:
        first, last = shard.documents
        with shard.open() as block:
            assert block.n_documents == len(shard) == last - first
            here = expected[first:last]
            np.testing.assert_allclose(read(block), here, rtol=1e-6)
            squares = (here**2).sum(axis=1)
            np.testing.assert_allclose(block.rows.squared_length, squares, rtol=1e-6)
            np.testing.assert_array_equal(block.rows.weight, 1)
            margins = np.empty(len(shard))
            score(block.rows, w, 0.5, margins)
            np.testing.assert_allclose(margins, here @ w + 0.5, rtol=1e-5, atol=1e-6)
            for code in range(N_CLASSES):
                signs = [1 if code in label else -1 for label in labels[first:last]]
                assert block.find_class(code).tolist() == signs


@settings(deadline=None, max_examples=20)
@given(documents(max_size=12), BOUNDS, SIZES)
def test_ranges_follow_one_another_and_are_no_larger_than_they_may_be(
    tmp_path_factory, collection, bounds, most
):
    X, labels = collection
    batches = list(divide(X, labels, bounds))
    folder = write_batches(tmp_path_factory.mktemp("shards"), batches)
    shards = list_shards(folder, None, most)
    ends = 0
    for shard in shards:
        assert shard.documents[0] == ends
        ends = shard.documents[1]
    assert ends == len(labels)
    largest = max((batch.n_documents + len(batch.features) for batch in batches), default=0)
    sizes = [len(shard) + shard.n_nonzeros for shard in shards]
    assert max(sizes, default=0) <= max(most, largest)
    # Two neighbours would not have fitted in one range together with what came at once.
    for one, other in pairwise(sizes):
        assert one + other + largest > most


@VALUES
def test_documents_of_one_label_each_come_back(tmp_path, rng, has_values):
    X = documents_of_numbers(rng, 20)
    y = rng.integers(0, 3, size=20)
    folder = write_batches(
        tmp_path, [make_batch(X, y.tolist(), has_values=has_values)], has_values=has_values
    )
    (shard,) = list_shards(folder, "l2", 10**6)
    with shard.open() as block:
        for code in range(3):
            np.testing.assert_array_equal(block.find_class(code), np.where(y == code, 1, -1))
        np.testing.assert_allclose(read(block), expect(X, "l2", has_values), rtol=1e-6)


def documents_of_numbers(rng, n):
    return sparse.csr_matrix(rng.integers(0, 3, size=(n, N_FEATURES)).astype(np.float32))


@VALUES
def test_what_is_written_is_counted(tmp_path, rng, has_values):
    X = documents_of_numbers(rng, 10)
    with ShardWriter(tmp_path, has_values=has_values) as writer:
        writer.add(make_batch(X[:4], [(), (0,), (0, 1), ()], has_values=has_values))
        writer.add(make_batch(X[4:], [(2,)] * 6, has_values=has_values))
        writer.finish()
    assert (writer.n_documents, writer.n_nonzeros, writer.n_codes) == (10, X.nnz, 9)
    assert (tmp_path / "values").exists() == has_values


def test_training_on_a_range_leaves_the_files_alone(tmp_path, rng):
    folder = write_batches(tmp_path, [make_batch(documents_of_numbers(rng, 5), [0] * 5)])
    before = (folder / "values").read_bytes()
    (shard,) = list_shards(folder, None, 10**6)
    with shard.open() as block:
        block.rows.data[:] = 7
    assert (folder / "values").read_bytes() == before


@VALUES
@EACH_NORM
@settings(deadline=None, max_examples=20)
@given(documents())
def test_lengths_equal_those_of_dense_rows(has_values, norm, collection):
    X, _ = collection
    values = X.data if has_values else None
    found = make_rows(X.indptr.astype(np.uint64), X.indices, values, norm)
    rows = X.toarray().astype(float) if has_values else (X.toarray() != 0).astype(float)
    expected = expect(X, norm, has_values)
    np.testing.assert_allclose(rows * found.scale[:, None], expected, rtol=1e-6)
    np.testing.assert_allclose(found.squared_length, (expected**2).sum(axis=1), rtol=1e-6)
