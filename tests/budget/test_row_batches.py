"""Batches of documents turned into rows, in threads and in order."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_batches import documents, list_words, make_encoder, make_request, to_dense
from spokeshave import DocumentVectorizer
from spokeshave.budget.row_batches import (
    Classes,
    TextEncoder,
    VectorEncoder,
    chain_checksums,
    map_ahead,
    number_features,
)
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.text.alphabet import decode_words

TEXTS = [
    "The ASH has a <b>grey</b> bark, grey &amp; rough",
    "<p>Größe &lt;GRÖSSE&gt;</p> bark",
    "",
    "... --- ...",
    "ΣΊΤΟΣ, σίτος: 中文 x² ½",
    "bark bark bark ash",
]
LABELS = ["ash", "ash", "none", "none", "other", "ash"]
THREADS = pytest.mark.parametrize("n_threads", [1, 2, 5])


def to_matrix(encoded, names, columns):
    """Return rows of features as a matrix with a column for each word."""
    X = np.zeros((encoded.n_documents, len(columns)))
    ends = encoded.indptr.tolist()
    values = np.ones(encoded.features.size) if encoded.values is None else encoded.values
    for i, (first, last) in enumerate(pairwise(ends)):
        for p in range(first, last):
            if names[encoded.features[p]] in columns:
                X[i, columns[names[encoded.features[p]]]] = values[p]
    return X


@pytest.mark.parametrize("strip_markup", [True, False])
@pytest.mark.parametrize("has_values", [True, False])
def test_scan_finds_what_the_vectorizer_finds(strip_markup, has_values):
    weighting = "counts" if has_values else "binary"
    vectorizer = DocumentVectorizer(
        weighting=weighting, norm=None, min_df=1, strip_markup=strip_markup
    )
    expected = vectorizer.fit_transform(TEXTS).toarray()
    encoder = TextEncoder(vectorizer)
    encoded = encoder.scan(Texts(TEXTS, LABELS))
    names = decode_words(encoded.terms.words, np.arange(int(encoded.terms.words.size[0])))
    assert sorted(names) == list(vectorizer.vocabulary_)
    assert len(set(encoded.hash_terms().tolist())) == len(names)
    found = to_matrix(encoded, names, vectorizer.vocabulary_)
    np.testing.assert_array_equal(found, expected)
    assert encoded.labels == LABELS
    assert encoded.n_documents == len(TEXTS)


@pytest.mark.parametrize("strip_markup", [True, False])
@pytest.mark.parametrize("has_values", [True, False])
def test_find_gives_what_the_vectorizer_gives_for_words_it_knows(strip_markup, has_values):
    weighting = "counts" if has_values else "binary"
    vectorizer = DocumentVectorizer(
        weighting=weighting, norm=None, min_df=1, strip_markup=strip_markup
    ).fit(["grey bark of an oak", "größe 中文 amp"])
    names = list(vectorizer.vocabulary_)
    encoder = TextEncoder(vectorizer)
    encoded = encoder.find(Texts(TEXTS, LABELS), encoder.index(names))
    expected = vectorizer.transform(TEXTS).toarray()
    np.testing.assert_array_equal(to_matrix(encoded, names, vectorizer.vocabulary_), expected)
    assert encoded.features.size == np.count_nonzero(expected)
    assert (encoded.values is not None) == has_values
    assert encoded.checksum == encoder.scan(Texts(TEXTS, LABELS)).checksum


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(max_size=20), max_size=6), st.sets(st.text("aoß1", min_size=1, max_size=2)))
def test_known_words_of_any_text_are_found(texts, known):
    names = sorted(known)
    encoder = make_encoder("counts")
    encoded = encoder.find(Texts(texts, [""] * len(texts)), encoder.index(names))
    for text, (first, last) in zip(texts, pairwise(encoded.indptr.tolist()), strict=True):
        expected = {word: n for word, n in Counter(list_words(text)).items() if word in known}
        words = [names[number] for number in encoded.features[first:last]]
        counts = encoded.values[first:last].astype(int).tolist()
        assert dict(zip(words, counts, strict=True)) == expected


@settings(deadline=None, max_examples=50)
@given(documents(), st.permutations(range(9)), st.integers(0, 9))
def test_known_features_of_vectors_are_found(collection, order, n_kept):
    X, labels = collection
    encoder, kept = VectorEncoder(), np.array(order[:n_kept], int)
    scanned = encoder.scan(Vectors(X, labels, None))
    np.testing.assert_array_equal(
        to_dense(scanned.indptr, scanned.features, scanned.values), X.toarray()
    )
    known = encoder.index(kept)
    found = encoder.find(Vectors(X, labels, None), known)
    rows = to_dense(found.indptr, found.features, found.values)
    np.testing.assert_array_equal(rows[:, :n_kept], X.toarray()[:, kept])
    assert found.features.size == np.count_nonzero(X.toarray()[:, kept])
    assert found.checksum == scanned.checksum
    assert found.labels == labels


def test_vectors_may_be_narrower_or_wider_than_what_is_known():
    known = number_features(np.array([3, 1]), 4)
    for width in (2, 4, 7):
        X = sparse.csr_matrix(np.arange(1.0, 2 * width + 1).reshape(2, width))
        found = VectorEncoder().find(Vectors(X, ["a", "b"], None), known)
        expected = np.zeros((2, 9))
        expected[:, 1] = X[:, [1]].toarray().ravel()
        if width > 3:
            expected[:, 0] = X[:, [3]].toarray().ravel()
        rows = to_dense(found.indptr, found.features, found.values)
        np.testing.assert_array_equal(rows, expected)


def sum_up(texts, labels, size=2):
    """Return the checksum of documents that come in batches."""
    encoder, checksum = make_encoder(), 0
    for first in range(0, len(texts), size):
        batch = Texts(texts[first : first + size], labels[first : first + size])
        checksum = chain_checksums(checksum, encoder.scan(batch).checksum)
    return checksum


def test_the_checksum_of_texts_changes_with_any_text_label_or_order():
    texts, labels = ["oak", "ash", "yew tree", "elm"], ["a", "b", "a", "b"]
    changes = [
        (["oak", "ash", "yew trees", "elm"], labels),
        (["oaka", "sh", "yew tree", "elm"], labels),
        (texts, ["a", "b", "b", "b"]),
        (texts, [("a",), "b", "a", "b"]),
        (["ash", "oak", "yew tree", "elm"], ["b", "a", "a", "b"]),
        (["yew tree", "elm", "oak", "ash"], labels),
        (texts[:3], labels[:3]),
        ([*texts, ""], [*labels, "a"]),
    ]
    sums = [sum_up(*change) for change in [(texts, labels), *changes]]
    assert len(set(sums)) == len(sums)
    assert sum_up(list(texts), list(labels)) == sums[0]


def test_the_checksum_of_vectors_changes_with_any_cell_label_or_order():
    X = sparse.csr_matrix([[1.0, 0, 2], [0, 3, 0], [0, 0, 0]])
    labels, sums = ["a", "b", "a"], set()
    for other in (X, 2 * X, X[:, [1, 0, 2]], X[[1, 0, 2]], X[[0, 2, 1]], X[:2]):
        for names in (labels, ["a", "b", "b"]):
            found = VectorEncoder().scan(Vectors(other, names[: other.shape[0]], None))
            sums.add(found.checksum)
    assert len(sums) == 12 - 1  # without the third document both names are the same


def test_documents_are_encoded_with_their_classes():
    encoder, classes = make_encoder(), Classes()
    encoded = encoder.scan(Texts(["oak", "", "ash oak"], [("b", "a"), (), ("a",)]))
    batch = encoded.encode(classes)
    assert batch.code_ends.tolist() == [0, 2, 2, 3]
    assert batch.codes.tolist() == [0, 1, 1]
    assert batch.indptr.tolist() == [0, 1, 1, 3]


def test_an_encoder_is_for_what_a_stream_holds():
    assert not make_request(weighting="binary").encoder.has_values
    assert make_request(weighting="tfidf").encoder.has_values
    assert make_request(strip_markup=True).encoder.vectorizer.strip_markup
    assert make_request(is_text=False, weighting="binary").encoder.has_values


@THREADS
@given(numbers=st.lists(st.integers(), max_size=30))
@settings(deadline=None, max_examples=20)
def test_results_are_in_the_order_of_the_items(n_threads, numbers):
    assert list(map_ahead(str, numbers, n_threads)) == [str(number) for number in numbers]


@THREADS
def test_later_items_do_not_overtake_a_slow_one(n_threads):
    is_late = threading.Event()

    def wait_for_the_last(number):
        if number == n_threads - 1:
            is_late.set()
        return number, is_late.wait(10)

    assert list(map_ahead(wait_for_the_last, range(9), n_threads)) == [(i, True) for i in range(9)]


@THREADS
def test_an_error_of_the_function_is_raised_where_its_result_would_be(n_threads):
    results = map_ahead(lambda number: 6 // number, [3, 2, 0, 1], n_threads)
    assert [next(results), next(results)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert list(results) == []


@THREADS
def test_an_error_of_the_items_is_raised(n_threads):
    def yield_and_fail():
        yield from range(3)
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        list(map_ahead(str, yield_and_fail(), n_threads))


@THREADS
def test_only_a_few_items_are_taken_ahead(n_threads):
    taken = []
    items = (taken.append(number) or number for number in range(1000))
    results = map_ahead(str, items, n_threads)
    for n_read in range(1, 20):
        next(results)
        assert len(taken) <= n_read + n_threads
    results.close()


@THREADS
def test_threads_end_when_no_more_is_wanted(n_threads):
    before = threading.active_count()
    started = []
    results = map_ahead(started.append, range(1000), n_threads)
    next(results)
    assert threading.active_count() > before
    results.close()
    assert threading.active_count() == before
    assert len(started) <= n_threads + 1


@THREADS
def test_threads_end_after_an_error(n_threads):
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        list(map_ahead(lambda number: 1 // number, range(100), n_threads))
    assert threading.active_count() == before


NAMES = st.sampled_from(["oak", "ash", "yew", "Ähre", ""])
LABEL_LISTS = st.lists(NAMES | st.lists(NAMES, max_size=3).map(tuple), max_size=12)


def decode(classes, ends, codes):
    names = np.array(classes.names, object)[codes].tolist()
    return [tuple(names[first:last]) for first, last in pairwise(ends)]


@given(LABEL_LISTS, st.integers(0, 12))
def test_codes_are_those_of_the_labels_however_they_are_divided(labels, bound):
    classes = Classes()
    found = []
    for part in (labels[:bound], labels[bound:]):
        found += decode(classes, *classes.encode(part))
    sets = [label if isinstance(label, tuple) else (label,) for label in labels]
    assert found == [tuple(dict.fromkeys(names)) for names in sets]
    assert classes.names == list(dict.fromkeys(name for names in sets for name in names))
    assert len(classes) == len(classes.names)


def test_classes_that_are_known_before_keep_their_codes():
    classes = Classes([2, 0, 1])
    _, codes = classes.encode([0, 1, 5])
    assert codes.tolist() == [1, 2, 3]
    assert classes.names == [2, 0, 1, 5]


@pytest.mark.parametrize(
    ("names", "is_multilabel", "ordered", "codes"),
    [
        (["oak", "ash"], False, ["ash", "oak"], [0]),
        (["oak", "ash"], True, ["ash", "oak"], [1, 0]),
        (["oak", "ash", "elm"], False, ["ash", "elm", "oak"], [1, 2, 0]),
        ([10, 9, 2], False, [2, 9, 10], [2, 1, 0]),
        (["only"], True, ["only"], [0]),
    ],
)
def test_classes_are_trained_in_order_and_one_for_two(names, is_multilabel, ordered, codes):
    found, trained = Classes(names).rank(is_multilabel)
    assert found.tolist() == ordered
    assert trained.tolist() == codes
