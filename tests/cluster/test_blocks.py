"""Blocks of rows, put together, are the matrix of one machine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer, normalize

from made_parts import make_collection, sort_by_class, write_parts
from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.row_batches import Classes
from spokeshave.cluster import blocks as blocks_module
from spokeshave.cluster import count as count_module
from spokeshave.cluster import spread_documents
from spokeshave.cluster.blocks import (
    Range,
    encode_range,
    join_rows,
    join_targets,
    plan_blocks,
)
from spokeshave.cluster.parts import Kind
from spokeshave.jobs.dataset import make_targets
from spokeshave.text.vectorizer import DocumentVectorizer


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 400)), min_size=1, max_size=6),
    st.integers(1, 100),
)
def test_every_document_is_in_one_block(sizes, cells):
    counts = [CollectionCounts(n, nonzeros if n else 0) for n, nonzeros in sizes]
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
    vectorizer = DocumentVectorizer(weighting=weighting, sublinear_tf=several)
    X = vectorizer.fit_transform(collection.texts)
    names = sorted({name for label in collection.labels for name in
                    (label if several else (label,))})  # fmt: skip
    part = list(zip(collection.texts, collection.labels, strict=True))
    blocks = [
        encode_range(part, None, Kind(True, several), Range(0, first, last), vectorizer, names)
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
        encode_range(part, None, kind, Range(0, 0, part[0].shape[0]), None, ["ash", "oak"])
        for part in parts
    ]
    narrow = X[:5].copy()
    narrow = sparse.vstack([sparse.csr_matrix((X[:5, :6]).toarray() @ np.eye(6, 9)), X[5:]])
    assert abs(join_rows(blocks, None, 9) - normalize(narrow)).max() < 1e-15


def test_classes_are_numbered_in_their_order():
    ends, codes = Classes(["ash", "oak"], is_closed=True).encode(["oak", "ash"])
    assert ends.tolist() == [0, 1, 2]
    assert codes.tolist() == [1, 0]


KINDS = {
    "mixed": (make_collection(), {}),
    "by class": (sort_by_class(make_collection()), {}),
    "several labels": (make_collection(several=True), {"label_separator": ";"}),
}
DEALT = {"one part": (), "a class in each": (60, 0, 60, 60), "one large": (1, 0, 238)}


def check_same(client, spread, collection, vectorizer):
    """Check that blocks, one after the other, are what one machine makes of the collection."""
    blocks = client.gather(spread.blocks)
    X = vectorizer.fit_transform(collection.texts)
    found = sparse.vstack([block.X for block in blocks], format="csr")
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(X, name))
    labels = collection.labels
    names = MultiLabelBinarizer()
    y = names.fit_transform(labels if spread.is_multilabel else [[label] for label in labels])
    indicator = sparse.vstack([block.indicator for block in blocks])
    np.testing.assert_array_equal(indicator.toarray(), y)
    assert spread.names == names.classes_.tolist()
    assert (spread.n_documents, spread.n_features) == X.shape


@pytest.mark.parametrize("sizes", DEALT)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_do_not_matter(client, tmp_path, kind, sizes):
    collection, how = KINDS[kind]
    pattern = write_parts(collection, tmp_path, DEALT[sizes])
    recipe = DocumentVectorizer(weighting="tfidf", sublinear_tf=True)
    spread = spread_documents(client, pattern, vectorizer=recipe, **how)
    check_same(client, spread, collection, recipe)


VECTORIZERS = {
    "pairs": {"ngram_range": (1, 2), "weighting": "tfidf", "sublinear_tf": True},
    "most frequent": {"ngram_range": (1, 2), "weighting": "counts", "max_features": 200},
    "characters": {"analyzer": "char_wb", "ngram_range": (2, 4), "strip_accents": "unicode"},
    "both": {"analyzer": "word+char_wb", "ngram_range": (1, 2), "weighting": "tfidf"},
    "function": {"analyzer": lambda text: text.split()[:5]},
}


@pytest.mark.parametrize("kind", VECTORIZERS)
def test_terms_are_those_of_one_machine(client, collection, parts, kind):
    recipe = DocumentVectorizer(**VECTORIZERS[kind])
    spread = spread_documents(client, parts, vectorizer=recipe)
    check_same(client, spread, collection, recipe)
    again = spread_documents(client, parts, like=spread)
    check_same(client, again, collection, recipe)


def test_workers_that_die_change_nothing(four, make_deadly, collection, parts):
    tasks = [
        make_deadly(count_module, "count_part", at=2),
        make_deadly(blocks_module, "make_block"),
    ]
    check_same(four, spread_documents(four, parts), collection, DocumentVectorizer())
    assert all(task.has_killed for task in tasks)
