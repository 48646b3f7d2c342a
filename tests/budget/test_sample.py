"""The subset that is kept: random, as large as there is memory for, and as it came."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_batches import (
    Stream,
    list_words,
    make_batch,
    make_request,
    make_texts,
    scan_texts,
    to_dense,
)
from spokeshave.budget.counts import draw
from spokeshave.budget.memory import AvailableMemory
from spokeshave.budget.sample import (
    VALIDATION,
    Sample,
    load_first_pass,
    make_sample,
    run_first_pass,
    save_first_pass,
)
from spokeshave.budget.store import Batch
from spokeshave.text.term_index import WordIndex

N_DOCUMENTS, N_COLUMNS, N_CLASSES = 300, 12, 3
ALL, SOME = 10**9, 40_000  # bytes for all vectors, and for half of them or so
ALL_TEXTS, SOME_TEXTS = 10**9, 460_000
SIZES = st.lists(st.integers(1, 120), min_size=1, max_size=8)


def empty_sample(limit, *, seed=0, has_values=True, terms=None):
    return Sample(limit, seed=seed, has_values=has_values, terms=terms, n_threads=1)


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
    sample = empty_sample(limit, **options)
    for part in divide(N_DOCUMENTS, sizes):
        sample.add(make_batch(X[part], labels[part]), N_CLASSES)
    return sample


def read(store):
    return to_dense(store.indptr, store.indices, store.values, N_COLUMNS)


def list_documents(sample):
    """Return which documents are in the two parts of a subset of vectors."""
    return [read(store)[:, 0].astype(int) - 1 for store in (sample.train, sample.validation)]


def sample_texts(texts, labels, limit, sizes=(40,), *, seed=0, has_values=False):
    sample = empty_sample(limit, seed=seed, has_values=has_values, terms=WordIndex())
    codes = {name: code for code, name in enumerate(dict.fromkeys(labels))}
    for part in divide(len(texts), sizes):
        incoming = scan_texts(texts[part], labels[part], has_values=has_values)
        ends = np.arange(incoming.n_documents + 1)
        batch_codes = np.array([codes[label] for label in labels[part]], np.int32)
        rows = incoming.indptr, incoming.features, incoming.values, ends, batch_codes
        sample.add(Batch(*rows), len(codes), incoming.terms)
    return sample


def spell(sample, store):
    """Return the words of each document of a store, with their counts."""
    words = sample.terms.decode(store.indices)
    values = np.ones(len(words)) if store.values is None else store.values
    ends = store.indptr.astype(int)
    return [
        dict(zip(words[first:last], values[first:last].astype(int).tolist(), strict=True))
        for first, last in pairwise(ends)
    ]


def expect_parts(sample, n):
    """Return which documents are to be in a subset, by their keys."""
    is_low = draw(sample.seed, 0, n) < sample.highest
    validation = draw(sample.seed + 1, 0, n) < VALIDATION
    return np.flatnonzero(is_low & ~validation), np.flatnonzero(is_low & validation)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1000), SIZES)
def test_documents_with_low_lots_are_kept_as_they_came(seed, sizes):
    X, labels = make_vectors()
    sample = sample_vectors(SOME, sizes, seed=seed)
    assert 30 < len(sample) < N_DOCUMENTS
    for store, expected in zip(
        (sample.train, sample.validation), expect_parts(sample, N_DOCUMENTS), strict=True
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
    assert spell(one, one.validation) == spell(other, other.validation)


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
        sample = empty_sample(SOME)
        for part in divide(N_DOCUMENTS, [size]):
            sample.add(make_batch(X[part], labels[part]), N_CLASSES)
        shares.add(sample.highest)
    assert len(shares) == 1


def test_a_subset_of_wide_vectors_is_not_thinned_to_nothing():
    """Ten documents have a hundred features, for which there is room."""
    X = sparse.random(N_DOCUMENTS, 10_000, density=0.001, format="csr", random_state=0)
    sample = empty_sample(160_000)
    sample.add(make_batch(X, [0] * N_DOCUMENTS), N_CLASSES)
    assert len(sample) > 10


def test_a_subset_is_never_empty():
    X, labels = make_vectors(4)
    for seed in range(10):
        sample = empty_sample(10, seed=seed)
        sample.add(make_batch(X, labels), N_CLASSES)
        assert len(sample) >= 1


def test_every_document_is_as_likely_to_be_kept_as_any_other():
    n_seeds, chosen, judging = 300, Counter(), Counter()
    shares = []
    for seed in range(n_seeds):
        train, validation = list_documents(sample_vectors(SOME, seed=seed))
        chosen.update(np.concatenate([train, validation]).tolist())
        judging.update(validation.tolist())
        shares.append((train.size + validation.size) / N_DOCUMENTS)
    share = np.mean(shares)
    often = np.array([chosen[i] for i in range(N_DOCUMENTS)]) / n_seeds
    assert 0.3 < share < 0.8
    # No further off than four and a half standard deviations: for none of the 300 in most runs.
    assert np.abs(often - share).max() < 4.5 * np.sqrt(share * (1 - share) / n_seeds)
    assert np.var(often) == pytest.approx(share * (1 - share) / n_seeds, rel=0.35)
    assert sum(judging.values()) / sum(chosen.values()) == pytest.approx(VALIDATION, rel=0.05)


def test_documents_are_kept_independently_of_their_neighbours():
    kept = np.zeros((200, N_DOCUMENTS))
    for seed in range(200):
        kept[seed, np.concatenate(list_documents(sample_vectors(SOME, seed=seed)))] = 1
    together = np.corrcoef(kept[:, :-1].ravel(), kept[:, 1:].ravel())[0, 1]
    assert abs(together) < 0.03


def test_documents_to_judge_by_are_not_trained_on():
    for limit in (SOME, ALL):
        train, validation = list_documents(sample_vectors(limit))
        assert train.size
        assert validation.size
        assert not set(train) & set(validation)


@pytest.mark.parametrize("limit", [1_000, 10_000, SOME, ALL])
@pytest.mark.parametrize("size", [1, 7, 300])
def test_the_estimate_is_never_above_the_limit(limit, size):
    X, labels = make_vectors()
    sample = empty_sample(limit)
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
        (sample.train, sample.validation), expect_parts(sample, N_DOCUMENTS), strict=True
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
        assert set(sample.terms.decode(np.arange(len(words)))) == words


@pytest.mark.parametrize("limit", [SOME_TEXTS, ALL_TEXTS])
def test_documents_of_words_are_counted(limit):
    texts, labels = make_texts(N_DOCUMENTS)
    sample = sample_texts(texts, labels, limit)
    documents = np.concatenate(expect_parts(sample, N_DOCUMENTS))
    expected = Counter(word for i in documents for word in set(list_words(texts[i])))
    words = sample.terms.decode(np.arange(sample.n_features))
    assert dict(zip(words, sample.count().tolist(), strict=True)) == expected


def test_documents_of_features_are_counted():
    sample = sample_vectors(SOME)
    both = np.vstack([read(sample.train), read(sample.validation)])
    np.testing.assert_array_equal(sample.count(), (both != 0).sum(axis=0))


@pytest.mark.parametrize("has_values", [True, False])
def test_what_is_saved_is_read_back_and_grows_on(tmp_path, has_values):
    texts, labels = make_texts(N_DOCUMENTS)
    saved = sample_texts(texts, labels, SOME_TEXTS, has_values=has_values)
    saved.save(tmp_path)
    found = empty_sample(SOME_TEXTS, has_values=has_values, terms=WordIndex())
    found.load(tmp_path)
    for name in ("highest", "n_seen", "n_features", "n_nonzeros", "is_whole"):
        assert getattr(found, name) == getattr(saved, name)
    for sample in (saved, found):
        sample.thin()
    for part in ("train", "validation"):
        one, other = getattr(saved, part), getattr(found, part)
        assert spell(saved, one) == spell(found, other)
        np.testing.assert_array_equal(one.indicate(3).toarray(), other.indicate(3).toarray())


def test_vectors_that_are_saved_are_read_back(tmp_path):
    saved = sample_vectors(SOME)
    saved.save(tmp_path)
    found = empty_sample(SOME)
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
    found = empty_sample(SOME_TEXTS, has_values=False, terms=WordIndex())
    found.load(tmp_path)
    for one in (sample, found):
        assert spell(one, one.train) == words
        np.testing.assert_array_equal(one.count(), frequency)


@pytest.mark.parametrize("n", [0, 1, 10, 29, 1000])
def test_judges_are_thinned_at_random_to_so_many(n):
    sample = sample_vectors(ALL)
    train, validation = list_documents(sample)
    sample.thin_validation(n)
    left = list_documents(sample)
    np.testing.assert_array_equal(left[0], train)
    keys = draw(0, 0, N_DOCUMENTS)[validation]
    np.testing.assert_array_equal(
        left[1], validation[keys < np.sort([*keys, 2.0])[min(n, keys.size)]]
    )
    assert left[1].size == min(n, validation.size)


def test_features_get_new_numbers_and_values_new_factors():
    sample = sample_vectors(ALL)
    train, validation = read(sample.train), read(sample.validation)
    order = np.arange(N_COLUMNS, dtype=np.uint32)[::-1].copy()
    sample.renumber(order)
    sample.multiply(np.full(N_COLUMNS, 2, np.float32))
    np.testing.assert_array_equal(read(sample.train), 2 * train[:, ::-1])
    np.testing.assert_array_equal(read(sample.validation), 2 * validation[:, ::-1])


MUCH, LITTLE = AvailableMemory(10**9 + 1000, 1000), AvailableMemory(460_000, 0)


def count(stream, free=MUCH, report=lambda share: None, **options):
    return run_first_pass(stream, request_for(stream, **options), free, report)


def request_for(stream, **options):
    return make_request(is_text=stream.is_text, is_multilabel=stream.is_multilabel, **options)


def require_equal(one, other):
    assert one.counts.n_documents == other.counts.n_documents
    assert one.counts.n_nonzeros == other.counts.n_nonzeros
    assert one.counts.n_features == other.counts.n_features
    assert one.counts.class_counts == other.counts.class_counts
    np.testing.assert_array_equal(one.counts.smallest, other.counts.smallest)
    assert one.classes.names == other.classes.names
    assert len(one.sample) == len(other.sample)
    assert count_words(one.sample) == count_words(other.sample)


def count_words(sample):
    """Return how many documents have each word: numbers of words depend on batches."""
    frequency = sample.count().tolist()
    if sample.terms is None:
        return frequency
    words = sample.terms.decode(np.arange(sample.n_features))
    return dict(zip(words, frequency, strict=True))


def test_texts_are_counted_and_all_kept_where_there_is_room():
    texts, labels = make_texts(120)
    found = count(Stream(texts, labels))
    tokens = [set(list_words(text)) for text in texts]
    assert found.counts.n_documents == 120
    assert found.counts.n_nonzeros == sum(map(len, tokens))
    assert found.counts.n_words == len(set().union(*tokens))
    assert found.counts.class_counts == Counter(labels)
    assert found.classes.names == list(dict.fromkeys(labels))
    assert found.sample.is_whole


@pytest.mark.parametrize("memory", [MUCH, LITTLE])
def test_batches_change_nothing(memory):
    texts, labels = make_texts(300)
    whole = count(Stream(texts, labels), memory)
    for batch_size in (1, 33, 300):
        require_equal(count(Stream(texts, labels, batch_size=batch_size), memory), whole)


def test_threads_change_nothing():
    texts, labels = make_texts(300)
    one, many = (count(Stream(texts, labels, batch_size=20), n_jobs=n_jobs) for n_jobs in (1, 3))
    require_equal(many, one)
    assert many.checksum == one.checksum


def test_the_checksum_is_that_of_the_documents():
    texts, labels = make_texts(60)
    sums = {count(Stream(texts, labels)).checksum for _ in range(2)}
    assert len(sums) == 1
    sums.add(count(Stream([*texts[:-1], "other"], labels)).checksum)
    sums.add(count(Stream(texts, [*labels[:-1], "other"])).checksum)
    sums.add(count(Stream(texts[::-1], labels[::-1])).checksum)
    assert len(sums) == 4


def test_the_checksum_is_that_of_the_order_of_batches_too():
    texts, labels = make_texts(60)
    others = texts[30:] + texts[:30], labels[30:] + labels[:30]
    one, other = (count(Stream(*both, batch_size=30)) for both in ((texts, labels), others))
    assert one.checksum != other.checksum


def test_vectors_are_counted(rng):
    X = sparse.csr_matrix(rng.integers(0, 2, size=(50, 8)).astype(float))
    labels = [("oak", "ash")[: i % 3] for i in range(50)]
    found = count(Stream(X, labels, batch_size=7, is_multilabel=True))
    assert found.counts.n_features == 8
    assert found.counts.n_nonzeros == X.nnz
    assert found.counts.class_counts == {"oak": 33, "ash": 16}
    np.testing.assert_array_equal(found.sample.count(), (X.toarray() != 0).sum(axis=0))


def test_classes_that_no_document_has_are_there_too():
    texts, labels = make_texts(20)
    found = count(Stream(texts, labels), class_names=["class 9", "class 1"])
    assert found.classes.names == ["class 9", "class 1", "class 0", "class 2"]
    assert found.counts.class_counts["class 9"] == 0


@pytest.mark.parametrize(
    ("labels", "is_multilabel", "sentence"),
    [
        (["oak", "oak"], False, "two classes or more; all are of class 'oak'"),
        ([(), ()], True, "two classes or more; none has a label"),
    ],
)
def test_too_few_classes_get_one_sentence(labels, is_multilabel, sentence):
    with pytest.raises(ValueError, match=sentence):
        count(Stream(["grey bark", "acorn"], labels, is_multilabel=is_multilabel))


def test_one_class_will_do_where_a_document_may_have_none():
    found = count(Stream(["grey bark", "acorn"], [("oak",), ()], is_multilabel=True))
    assert found.classes.names == ["oak"]


def test_the_share_that_is_read_is_reported():
    texts, labels = make_texts(30)
    shares = []
    count(Stream(texts, labels, batch_size=10), report=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("memory", [MUCH, LITTLE])
def test_what_the_process_holds_changes_nothing_and_too_much_is_warned_of(memory):
    texts, labels = make_texts(300)
    stream = Stream(texts, labels, batch_size=50)
    found = count(stream, memory, n_jobs=2)
    with pytest.warns(UserWarning, match=r"more than the budget of 1.0 MB"):
        short = count(stream, memory, n_jobs=2, memory=10**6)
    require_equal(short, found)


@pytest.mark.parametrize("memory", [MUCH, LITTLE])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighting": "counts"},
        {"ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"analyzer": "word+char_wb", "ngram_range": (1, 2)},
        {"analyzer": str.split},
    ],
    ids=str,
)
def test_what_is_saved_is_read_back(tmp_path, memory, options):
    texts, labels = make_texts(300)
    stream, request = Stream(texts, labels), make_request(**options)
    found = run_first_pass(stream, request, memory, lambda share: None)
    save_first_pass(tmp_path, found)
    read = load_first_pass(tmp_path, make_sample(request, memory))
    require_equal(read, found)
    assert read.checksum == found.checksum
    every = np.arange(found.sample.n_features)
    assert read.sample.terms.decode(every) == found.sample.terms.decode(every)


def test_vectors_with_numbers_for_classes_are_read_back(tmp_path, rng):
    X = sparse.csr_matrix(rng.integers(0, 2, size=(50, 8)).astype(float))
    stream, request = (
        Stream(X, (np.arange(50) % 4).tolist()),
        make_request(is_text=False, class_names=range(6)),
    )
    found = run_first_pass(stream, request, MUCH, lambda share: None)
    save_first_pass(tmp_path, found)
    read = load_first_pass(tmp_path, make_sample(request, MUCH))
    require_equal(read, found)
    assert read.classes.names == [0, 1, 2, 3, 4, 5]
    assert read.counts.class_counts[5] == 0
