"""The subset that is kept: random, as large as there is memory for, and as it came."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_batches import list_words, make_batch, make_texts, scan_texts, to_dense
from spokeshave.budget.lexicon import Lexicon
from spokeshave.budget.sample import JUDGES, Sample
from spokeshave.budget.store import Batch
from spokeshave.budget.survey import draw

N_DOCUMENTS, N_COLUMNS, N_CLASSES = 300, 12, 3
ALL, SOME = 10**9, 40_000  # bytes for all vectors, and for half of them or so
ALL_TEXTS, SOME_TEXTS = 10**9, 460_000
SIZES = st.lists(st.integers(1, 120), min_size=1, max_size=8)


def make_sample(limit, *, seed=0, has_values=True, lexicon=None):
    return Sample(limit, seed=seed, has_values=has_values, lexicon=lexicon, n_threads=1)


def divide(n, sizes):
    """Yield where parts of the given sizes, again and again, begin and end."""
    first, turn = 0, 0
    while first < n:
        yield slice(first, first + sizes[turn % len(sizes)])
        first, turn = first + sizes[turn % len(sizes)], turn + 1


def make_vectors(n=N_DOCUMENTS):
    """Return documents, the first column of each telling which one it is."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(n, N_COLUMNS)).astype(float)
    X[:, 0] = np.arange(1, n + 1)
    return sparse.csr_matrix(X), (np.arange(n) % N_CLASSES).tolist()


def sample_vectors(limit, sizes=(50,), **options):
    X, labels = make_vectors()
    sample = make_sample(limit, **options)
    for part in divide(N_DOCUMENTS, sizes):
        sample.add(make_batch(X[part], labels[part]), N_CLASSES)
    return sample


def read(store):
    return to_dense(store.indptr, store.indices, store.values, N_COLUMNS)


def list_documents(sample):
    """Return which documents are in the two parts of a subset of vectors."""
    return [read(store)[:, 0].astype(int) - 1 for store in (sample.train, sample.judges)]


def sample_texts(texts, labels, limit, sizes=(40,), *, seed=0, has_values=False):
    sample = make_sample(limit, seed=seed, has_values=has_values, lexicon=Lexicon())
    codes = {name: code for code, name in enumerate(dict.fromkeys(labels))}
    for part in divide(len(texts), sizes):
        incoming = scan_texts(texts[part], labels[part], has_values=has_values)
        ends = np.arange(incoming.n_documents + 1)
        batch_codes = np.array([codes[label] for label in labels[part]], np.int32)
        rows = incoming.indptr, incoming.features, incoming.values, ends, batch_codes
        sample.add(Batch(*rows), len(codes), incoming.words)
    return sample


def spell(sample, store):
    """Return the words of each document of a store, with their counts."""
    words = sample.lexicon.spell(store.indices)
    values = np.ones(len(words)) if store.values is None else store.values
    ends = store.indptr.astype(int)
    return [
        dict(zip(words[first:last], values[first:last].astype(int).tolist(), strict=True))
        for first, last in pairwise(ends)
    ]


def expect_parts(sample, n):
    """Return which documents are to be in a subset, by their lots."""
    is_low = draw(sample.seed, 0, n) < sample.highest
    judges = draw(sample.seed + 1, 0, n) < JUDGES
    return np.flatnonzero(is_low & ~judges), np.flatnonzero(is_low & judges)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1000), SIZES)
def test_documents_with_low_lots_are_kept_as_they_came(seed, sizes):
    X, labels = make_vectors()
    sample = sample_vectors(SOME, sizes, seed=seed)
    assert 30 < len(sample) < N_DOCUMENTS
    for store, expected in zip(
        (sample.train, sample.judges), expect_parts(sample, N_DOCUMENTS), strict=True
    ):
        np.testing.assert_array_equal(read(store), X[expected].toarray())
        codes = store.indicate(N_CLASSES).toarray().argmax(axis=1)
        np.testing.assert_array_equal(codes, np.array(labels)[expected])


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 1000), SIZES, SIZES)
def test_the_subset_does_not_depend_on_the_sizes_of_batches(seed, sizes, others):
    one, other = (sample_vectors(SOME, parts, seed=seed) for parts in (sizes, others))
    for found, expected in zip(list_documents(one), list_documents(other), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert one.highest == other.highest


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000), SIZES, SIZES)
def test_a_subset_of_texts_does_not_depend_on_the_sizes_of_batches(seed, sizes, others):
    texts, labels = make_texts(N_DOCUMENTS)
    one, other = (
        sample_texts(texts, labels, SOME_TEXTS, parts, seed=seed) for parts in (sizes, others)
    )
    assert len(one) < N_DOCUMENTS
    assert spell(one, one.train) == spell(other, other.train)
    assert spell(one, one.judges) == spell(other, other.judges)


def test_a_subset_of_many_words_does_not_depend_on_the_sizes_of_batches(rng):
    texts = [" ".join(f"u{word}" for word in row) for row in rng.integers(0, 20_000, (2_000, 8))]
    labels = ["oak", "ash"] * 1_000
    whole = [sample_texts(texts, labels, ALL_TEXTS, [size]) for size in (10, 2_000)]
    limit = sum(sample.estimate(2) for sample in whole) // 2
    one, other = (sample_texts(texts, labels, limit, [size]) for size in (10, 2_000))
    assert one.highest == other.highest


def test_a_vector_of_a_large_number_does_not_make_the_subset_depend_on_batches():
    X, labels = make_vectors()
    dense = np.hstack([X.toarray(), np.zeros((N_DOCUMENTS, 150))])
    dense[draw(0, 0, N_DOCUMENTS).argmax(), -1] = 1  # in the document that goes first
    X, shares = sparse.csr_matrix(dense), set()
    for size in (1, N_DOCUMENTS):
        sample = make_sample(SOME)
        for part in divide(N_DOCUMENTS, [size]):
            sample.add(make_batch(X[part], labels[part]), N_CLASSES)
        shares.add(sample.highest)
    assert len(shares) == 1


def test_a_subset_of_wide_vectors_is_not_thinned_to_nothing():
    """Ten documents have a hundred features, for which there is room."""
    X = sparse.random(N_DOCUMENTS, 10_000, density=0.001, format="csr", random_state=0)
    sample = make_sample(160_000)
    sample.add(make_batch(X, [0] * N_DOCUMENTS), N_CLASSES)
    assert len(sample) > 10


def test_a_subset_is_never_empty():
    X, labels = make_vectors(4)
    for seed in range(10):
        sample = make_sample(10, seed=seed)
        sample.add(make_batch(X, labels), N_CLASSES)
        assert len(sample) >= 1


def test_every_document_is_as_likely_to_be_kept_as_any_other():
    n_seeds, chosen, judging = 300, Counter(), Counter()
    shares = []
    for seed in range(n_seeds):
        train, judges = list_documents(sample_vectors(SOME, seed=seed))
        chosen.update(np.concatenate([train, judges]).tolist())
        judging.update(judges.tolist())
        shares.append((train.size + judges.size) / N_DOCUMENTS)
    share = np.mean(shares)
    often = np.array([chosen[i] for i in range(N_DOCUMENTS)]) / n_seeds
    assert 0.3 < share < 0.8
    # No further off than four and a half standard deviations: for none of the 300 in most runs.
    assert np.abs(often - share).max() < 4.5 * np.sqrt(share * (1 - share) / n_seeds)
    assert np.var(often) == pytest.approx(share * (1 - share) / n_seeds, rel=0.35)
    assert sum(judging.values()) / sum(chosen.values()) == pytest.approx(JUDGES, rel=0.05)


def test_documents_are_kept_independently_of_their_neighbours():
    kept = np.zeros((200, N_DOCUMENTS))
    for seed in range(200):
        kept[seed, np.concatenate(list_documents(sample_vectors(SOME, seed=seed)))] = 1
    together = np.corrcoef(kept[:, :-1].ravel(), kept[:, 1:].ravel())[0, 1]
    assert abs(together) < 0.03


def test_documents_to_judge_by_are_not_trained_on():
    for limit in (SOME, ALL):
        train, judges = list_documents(sample_vectors(limit))
        assert train.size
        assert judges.size
        assert not set(train) & set(judges)


@pytest.mark.parametrize("limit", [1_000, 10_000, SOME, ALL])
@pytest.mark.parametrize("size", [1, 7, 300])
def test_the_estimate_is_never_above_the_limit(limit, size):
    X, labels = make_vectors()
    sample = make_sample(limit)
    for part in divide(N_DOCUMENTS, [size]):
        sample.add(make_batch(X[part], labels[part]), N_CLASSES)
        assert sample.estimate(N_CLASSES) <= limit or len(sample) <= 1


def test_the_estimate_of_texts_is_never_above_the_limit():
    texts, labels = make_texts(N_DOCUMENTS)
    for sizes in ([1], [30]):
        sample = sample_texts(texts, labels, SOME_TEXTS, sizes)
        assert sample.estimate(3) <= SOME_TEXTS
        assert 30 < len(sample) < N_DOCUMENTS


def test_all_documents_are_kept_where_they_fit():
    sample = sample_vectors(ALL)
    assert sample.is_whole
    assert sample.highest == 1
    assert sorted(np.concatenate(list_documents(sample))) == list(range(N_DOCUMENTS))
    assert not sample_vectors(SOME).is_whole


@pytest.mark.parametrize("has_values", [True, False])
@pytest.mark.parametrize("limit", [SOME_TEXTS, ALL_TEXTS])
def test_documents_keep_exactly_the_words_they_had(has_values, limit):
    texts, labels = make_texts(N_DOCUMENTS)
    sample = sample_texts(texts, labels, limit, has_values=has_values)
    for store, expected in zip(
        (sample.train, sample.judges), expect_parts(sample, N_DOCUMENTS), strict=True
    ):
        words = [Counter(list_words(texts[i])) for i in expected]
        assert spell(sample, store) == (
            words if has_values else [dict.fromkeys(w, 1) for w in words]
        )


def test_words_of_documents_that_are_gone_are_forgotten():
    texts, labels = make_texts(N_DOCUMENTS)
    sample = sample_texts(texts, labels, ALL_TEXTS)
    for share in (0.7, 0.2, 0.5):
        sample.thin(share)
        documents = np.concatenate(expect_parts(sample, N_DOCUMENTS))
        words = set().union(*(list_words(texts[i]) for i in documents))
        assert len(sample) == documents.size
        assert sample.n_features == len(words)
        assert set(sample.lexicon.spell(np.arange(len(words)))) == words


@pytest.mark.parametrize("limit", [SOME_TEXTS, ALL_TEXTS])
def test_documents_of_words_are_counted(limit):
    texts, labels = make_texts(N_DOCUMENTS)
    sample = sample_texts(texts, labels, limit)
    documents = np.concatenate(expect_parts(sample, N_DOCUMENTS))
    expected = Counter(word for i in documents for word in set(list_words(texts[i])))
    words = sample.lexicon.spell(np.arange(sample.n_features))
    assert dict(zip(words, sample.count().tolist(), strict=True)) == expected


def test_documents_of_features_are_counted():
    sample = sample_vectors(SOME)
    both = np.vstack([read(sample.train), read(sample.judges)])
    np.testing.assert_array_equal(sample.count(), (both != 0).sum(axis=0))


@pytest.mark.parametrize("has_values", [True, False])
def test_what_is_saved_is_read_back_and_grows_on(tmp_path, has_values):
    texts, labels = make_texts(N_DOCUMENTS)
    saved = sample_texts(texts, labels, SOME_TEXTS, has_values=has_values)
    saved.save(tmp_path)
    found = make_sample(SOME_TEXTS, has_values=has_values, lexicon=Lexicon())
    found.load(tmp_path)
    for name in ("highest", "n_seen", "n_features", "n_nonzeros", "is_whole"):
        assert getattr(found, name) == getattr(saved, name)
    for sample in (saved, found):
        sample.thin()
    for part in ("train", "judges"):
        one, other = getattr(saved, part), getattr(found, part)
        assert spell(saved, one) == spell(found, other)
        np.testing.assert_array_equal(one.indicate(3).toarray(), other.indicate(3).toarray())


def test_vectors_that_are_saved_are_read_back(tmp_path):
    saved = sample_vectors(SOME)
    saved.save(tmp_path)
    found = make_sample(SOME)
    found.load(tmp_path)
    np.testing.assert_array_equal(read(found.train), read(saved.train))
    np.testing.assert_array_equal(found.count(), saved.count())
    assert found.n_features == saved.n_features == N_COLUMNS


def test_a_subset_that_is_closed_is_spelled_and_saved_as_before(tmp_path):
    texts, labels = make_texts(N_DOCUMENTS)
    sample = sample_texts(texts, labels, SOME_TEXTS)
    words, frequency = spell(sample, sample.train), sample.count()
    sample.close()
    sample.save(tmp_path)
    found = make_sample(SOME_TEXTS, has_values=False, lexicon=Lexicon())
    found.load(tmp_path)
    for one in (sample, found):
        assert spell(one, one.train) == words
        np.testing.assert_array_equal(one.count(), frequency)


@pytest.mark.parametrize("n", [0, 1, 10, 29, 1000])
def test_judges_are_thinned_at_random_to_so_many(n):
    sample = sample_vectors(ALL)
    train, judges = list_documents(sample)
    sample.thin_judges(n)
    left = list_documents(sample)
    np.testing.assert_array_equal(left[0], train)
    lots = draw(0, 0, N_DOCUMENTS)[judges]
    np.testing.assert_array_equal(left[1], judges[lots < np.sort([*lots, 2.0])[min(n, lots.size)]])
    assert left[1].size == min(n, judges.size)


def test_a_subset_that_stops_growing_stays_as_large_as_it_is():
    X, labels = make_vectors()
    sample = make_sample(ALL)
    for part in divide(N_DOCUMENTS, [50]):
        sample.add(make_batch(X[part], labels[part]), N_CLASSES)
        if part.start == 100:
            sample.stop_growing(N_CLASSES)
            size = sample.estimate(N_CLASSES)
            assert len(sample) == 150
    assert sample.limit == size
    assert sample.estimate(N_CLASSES) <= size
    assert 75 < len(sample) <= 150
    for found, expected in zip(
        list_documents(sample), expect_parts(sample, N_DOCUMENTS), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_features_get_new_numbers_and_values_new_factors():
    sample = sample_vectors(ALL)
    train, judges = read(sample.train), read(sample.judges)
    order = np.arange(N_COLUMNS, dtype=np.uint32)[::-1].copy()
    sample.renumber(order)
    sample.multiply(np.full(N_COLUMNS, 2, np.float32))
    np.testing.assert_array_equal(read(sample.train), 2 * train[:, ::-1])
    np.testing.assert_array_equal(read(sample.judges), 2 * judges[:, ::-1])
