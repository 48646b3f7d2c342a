"""Blocks of rows, put together, are the matrix of one machine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import normalize

from made_parts import make_collection
from spokeshave.cluster.blocks import (
    Range,
    encode,
    join_rows,
    join_targets,
    make_block,
    plan_blocks,
)
from spokeshave.cluster.counting import Count
from spokeshave.cluster.reading import Kind
from spokeshave.jobs.dataset import make_targets
from spokeshave.text.vectorizer import DocumentVectorizer


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 400)), min_size=1, max_size=6),
    st.integers(1, 100),
)
def test_every_document_is_in_one_block(sizes, cells):
    counts = [Count(n, nonzeros if n else 0) for n, nonzeros in sizes]
    ranges = plan_blocks(counts, cells)
    for number, count in enumerate(counts):
        of_part = [at for at in ranges if at.part == number]
        covered = [i for at in of_part for i in range(at.first, at.last)]
        assert covered == list(range(count.n_documents))
        assert all(at.first < at.last for at in of_part)


@pytest.mark.parametrize("weighting", ["binary", "counts", "tfidf"])
@pytest.mark.parametrize("several", [False, True])
def test_blocks_put_together_are_the_whole(weighting, several):
    collection = make_collection(50, several=several)
    vectorizer = DocumentVectorizer(weighting=weighting)
    X = vectorizer.fit_transform(collection.texts)
    names = sorted({name for label in collection.labels for name in
                    (label if several else (label,))})  # fmt: skip
    part = list(zip(collection.texts, collection.labels, strict=True))
    blocks = [
        make_block(part, Kind(True, several), None, Range(0, first, last), vectorizer, names)
        for first, last in ((0, 13), (13, 14), (14, 50))
    ]
    found = join_rows(blocks, vectorizer, X.shape[1])
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(X, name))
    y = join_targets(blocks, names, is_multilabel=several)
    expected = make_targets(collection.labels, names)
    if several:
        assert (y != expected).nnz == 0
    else:
        np.testing.assert_array_equal(y, expected)
        assert y.dtype == expected.dtype


def test_vectors_are_brought_to_length_one(rng):
    X = sparse.random(20, 9, 0.4, "csr", rng=rng)
    labels = ["ash", "oak"] * 10
    kind = Kind(is_text=False, is_multilabel=False)
    parts = (X[:5, :6], labels[:5]), (X[5:], labels[5:])
    blocks = [
        make_block(part, kind, None, Range(0, 0, part[0].shape[0]), None, ["ash", "oak"])
        for part in parts
    ]
    narrow = X[:5].copy()
    narrow = sparse.vstack([sparse.csr_matrix((X[:5, :6]).toarray() @ np.eye(6, 9)), X[5:]])
    assert abs(join_rows(blocks, None, 9) - normalize(narrow)).max() < 1e-15


def test_classes_are_numbered_in_their_order():
    ends, codes = encode(["oak", "ash"], ["ash", "oak"])
    assert ends.tolist() == [0, 1, 2]
    assert codes.tolist() == [1, 0]
