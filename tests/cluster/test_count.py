"""Counts of parts add up to those of all documents."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from threading import Lock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_parts import make_collection
from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.select import require_words
from spokeshave.cluster.count import (
    FREQUENCY,
    WORD,
    count_part,
    fit_vectorizer,
    limit_words,
    list_words,
    make_words,
    measure_words,
    merge_words,
    prune_words,
    require_portable,
)
from spokeshave.cluster.parts import Kind, Side
from spokeshave.corpus.documents import compute_fingerprint
from spokeshave.text.vectorizer import DocumentVectorizer

TEXTS = Kind(is_text=True, is_multilabel=False)
VECTORS = Kind(is_text=False, is_multilabel=False)
PLAIN = DocumentVectorizer()


def pair_up(collection, rows=slice(None)):
    return list(zip(collection.texts[rows], collection.labels[rows], strict=True))


def as_dict(words):
    return dict(zip(list_words(words[WORD]), words[FREQUENCY], strict=True))


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 60), max_size=4), st.integers(1, 5))
def test_parts_add_up(edges, n_buckets):
    collection = make_collection(60)
    bounds = [0, *sorted(edges), 60]
    parts = [
        count_part(pair_up(collection, slice(first, last)), TEXTS, None, PLAIN, n_buckets)
        for first, last in pairwise(bounds)
    ]
    total = CollectionCounts()
    for count, _ in parts:
        total = total.merge(count)
    words = [merge_words([buckets[b] for _, buckets in parts]) for b in range(n_buckets)]
    assert total.n_documents == 60
    assert total.class_counts == Counter(collection.labels)
    assert total.fingerprint == compute_fingerprint(collection, collection.labels)
    expected = Counter(word for text in collection.texts for word in set(text.split()))
    assert total.n_nonzeros == sum(expected.values())
    found = {}
    for bucket in words:
        assert not found.keys() & as_dict(bucket).keys()
        found |= as_dict(bucket)
    assert found == expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_df": 30, "max_df": 0.5},
        {"weighting": "tfidf"},
        {"max_features": 20},
        {"max_features": 20, "weighting": "tfidf", "sublinear_tf": True},
        {"ngram_range": (1, 2), "weighting": "counts", "max_features": 300},
        {"ngram_range": (2, 3), "weighting": "tfidf"},
        {"analyzer": "char", "ngram_range": (1, 4), "weighting": "tfidf", "sublinear_tf": True},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "max_features": 100},
        {"analyzer": "word+char_wb", "weighting": "tfidf", "max_features": 100},
        {"analyzer": str.split, "max_features": 50},
        {"lowercase": False, "strip_accents": "ascii", "unspaced": None, "strip_markup": False},
    ],
    ids=str,
)
def test_a_vocabulary_of_buckets_is_that_of_all_texts(options):
    collection = make_collection()
    texts = [*collection.texts[2:], "<b>Ähre</b> word3\ud800word4", "東京都 <b>Ähre</b>"]
    pairs = list(zip(texts, collection.labels, strict=True))
    recipe = DocumentVectorizer(**options, stop_words=["word3", "word9"])
    parts = [count_part(part, TEXTS, None, recipe, 3)[1] for part in (pairs[:90], pairs[90:])]
    buckets = [merge_words(list(each)) for each in zip(*parts, strict=True)]
    pruned = [prune_words(bucket, recipe, len(texts)) for bucket in buckets]
    if recipe.max_features is not None:
        pruned = [limit_words(pruned, recipe)]
    found = fit_vectorizer(pruned, recipe, len(texts))
    expected = DocumentVectorizer(**options, stop_words=["word3", "word9"])
    X = expected.fit_transform(texts)
    assert found.vocabulary_ == expected.vocabulary_
    assert (found.n_rare_, found.n_frequent_) == (expected.n_rare_, expected.n_frequent_)
    sizes = np.sum([measure_words(bucket) for bucket in pruned], axis=0)
    assert sizes[1:].tolist() == [X.shape[1], X.nnz]
    assert (found.transform(texts) != X).nnz == 0


def test_functions_that_cannot_be_sent_are_refused():
    lock = Lock()
    require_portable(DocumentVectorizer(analyzer=lambda text: text.split()))
    with pytest.raises(ValueError, match="functions that can be pickled"):
        require_portable(DocumentVectorizer(analyzer=lambda text: [str(lock)]))


def test_where_no_word_is_left_it_says_so():
    recipe = DocumentVectorizer(min_df=2)
    pruned = prune_words(make_words(["ash", "oak"], np.array([1, 1])), recipe, 9)
    n_words, n_kept, _ = measure_words(pruned)
    with pytest.raises(ValueError, match=r"No word is left: all 2 are .* Lower min_df"):
        require_words(n_words, n_kept, recipe)
    with pytest.raises(ValueError, match="must hold words"):
        require_words(0, 0, recipe)


def test_a_side_of_a_part_is_counted():
    collection = make_collection(30)
    is_held = np.arange(30) % 3 == 0
    count, _ = count_part(pair_up(collection), TEXTS, Side(is_held, False), PLAIN, 1)
    kept = [label for label, held in zip(collection.labels, is_held, strict=True) if not held]
    assert count.class_counts == Counter(kept)


def test_vectors_are_counted_by_their_numbers(rng):
    X = sparse.random(20, 9, 0.3, "csr", rng=rng)
    X.data[0] = 0  # stored, and not there
    labels = ["ash", "oak"] * 10
    parts = [count_part((X[rows], labels[rows]), VECTORS, None, PLAIN, 4) for rows in
             (slice(7), slice(7, 7), slice(7, 20))]  # fmt: skip
    total = CollectionCounts()
    for count, _ in parts:
        total = total.merge(count)
    assert (total.n_documents, total.n_features, total.n_nonzeros) == (20, 9, X.nnz - 1)
    found = merge_words([buckets[0] for _, buckets in parts])
    np.testing.assert_array_equal(found, (X.toarray() != 0).sum(axis=0)[: found.size])


def test_several_labels_are_counted_once_each():
    part = [("a text", ("ash", "oak", "ash")), ("another", ())]
    count, _ = count_part(part, Kind(True, True), None, PLAIN, 1)
    assert count.class_counts == {"ash": 1, "oak": 1}
    assert count.n_documents == 2
