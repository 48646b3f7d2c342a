"""The first pass: counts of all documents, a subset of them, and both saved and read again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import sparse

from made_batches import Feed, list_words, make_request, make_texts
from spokeshave.budget import surveying
from spokeshave.budget.request import Reporter
from spokeshave.budget.room import Room
from spokeshave.budget.surveying import load_survey, make_sample, save_survey, survey_feed

MUCH, LITTLE = Room(10**9 + 1000, 1000), Room(460_000, 0)


@pytest.fixture(autouse=True)
def resident(monkeypatch):
    """Let the process hold nothing, so that only the room counts."""
    held = [-(10**9)]
    monkeypatch.setattr(surveying, "measure_resident", lambda: held[0])
    return held


def survey(feed, room=MUCH, reporter=None, **options):
    return survey_feed(feed, make_request(**options), room, reporter or Reporter())


def require_equal(one, other):
    assert one.survey.n_documents == other.survey.n_documents
    assert one.survey.n_nonzeros == other.survey.n_nonzeros
    assert one.survey.n_features == other.survey.n_features
    assert one.survey.class_counts == other.survey.class_counts
    np.testing.assert_array_equal(one.survey.smallest, other.survey.smallest)
    assert one.classes.names == other.classes.names
    assert len(one.sample) == len(other.sample)
    assert count_words(one.sample) == count_words(other.sample)


def count_words(sample):
    """Return how many documents have each word: numbers of words depend on batches."""
    frequency = sample.count().tolist()
    if sample.lexicon is None:
        return frequency
    words = sample.lexicon.spell(np.arange(sample.n_features))
    return dict(zip(words, frequency, strict=True))


def test_texts_are_counted_and_all_kept_where_there_is_room():
    texts, labels = make_texts(120)
    found = survey(Feed(texts, labels))
    tokens = [set(list_words(text)) for text in texts]
    assert found.survey.n_documents == 120
    assert found.survey.n_nonzeros == sum(map(len, tokens))
    assert found.survey.n_words == len(set().union(*tokens))
    assert found.survey.class_counts == Counter(labels)
    assert found.classes.names == list(dict.fromkeys(labels))
    assert found.sample.is_whole


@pytest.mark.parametrize("room", [MUCH, LITTLE])
def test_batches_change_nothing(room):
    texts, labels = make_texts(300)
    whole = survey(Feed(texts, labels), room)
    for batch_size in (1, 33, 300):
        require_equal(survey(Feed(texts, labels, batch_size=batch_size), room), whole)


def test_threads_change_nothing():
    texts, labels = make_texts(300)
    one, many = (survey(Feed(texts, labels, batch_size=20), n_jobs=n_jobs) for n_jobs in (1, 3))
    require_equal(many, one)
    assert many.checksum == one.checksum


def test_the_checksum_is_that_of_the_documents():
    texts, labels = make_texts(60)
    sums = {survey(Feed(texts, labels)).checksum for _ in range(2)}
    assert len(sums) == 1
    sums.add(survey(Feed([*texts[:-1], "other"], labels)).checksum)
    sums.add(survey(Feed(texts, [*labels[:-1], "other"])).checksum)
    sums.add(survey(Feed(texts[::-1], labels[::-1])).checksum)
    assert len(sums) == 4


def test_the_checksum_is_that_of_the_order_of_batches_too():
    texts, labels = make_texts(60)
    others = texts[30:] + texts[:30], labels[30:] + labels[:30]
    one, other = (survey(Feed(*both, batch_size=30)) for both in ((texts, labels), others))
    assert one.checksum != other.checksum


def test_vectors_are_counted(rng):
    X = sparse.csr_matrix(rng.integers(0, 2, size=(50, 8)).astype(float))
    labels = [("oak", "ash")[: i % 3] for i in range(50)]
    found = survey(Feed(X, labels, batch_size=7, is_multilabel=True))
    assert found.survey.n_features == 8
    assert found.survey.n_nonzeros == X.nnz
    assert found.survey.class_counts == {"oak": 33, "ash": 16}
    np.testing.assert_array_equal(found.sample.count(), (X.toarray() != 0).sum(axis=0))


def test_classes_that_no_document_has_are_there_too():
    texts, labels = make_texts(20)
    found = survey(Feed(texts, labels), class_names=["class 9", "class 1"])
    assert found.classes.names == ["class 9", "class 1", "class 0", "class 2"]
    assert found.survey.class_counts["class 9"] == 0


@pytest.mark.parametrize(
    ("labels", "is_multilabel", "sentence"),
    [
        (["oak", "oak"], False, "two classes or more; all are of class 'oak'"),
        ([(), ()], True, "two classes or more; none has a label"),
    ],
)
def test_too_few_classes_get_one_sentence(labels, is_multilabel, sentence):
    with pytest.raises(ValueError, match=sentence):
        survey(Feed(["grey bark", "acorn"], labels, is_multilabel=is_multilabel))


def test_one_class_will_do_where_a_document_may_have_none():
    found = survey(Feed(["grey bark", "acorn"], [("oak",), ()], is_multilabel=True))
    assert found.classes.names == ["oak"]


def test_the_share_that_is_read_is_reported(monkeypatch):
    texts, labels = make_texts(30)
    reporter = Reporter()
    shares = []
    monkeypatch.setattr(reporter, "reach", shares.append)
    survey(Feed(texts, labels, batch_size=10), reporter=reporter)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_the_subset_stops_growing_when_memory_is_short(resident):
    texts, labels = make_texts(300)
    resident[0] = 10**10
    found = survey(Feed(texts, labels, batch_size=50))
    assert 10 < len(found.sample) <= 50


@pytest.mark.parametrize("room", [MUCH, LITTLE])
@pytest.mark.parametrize("weighting", ["binary", "counts"])
def test_what_is_saved_is_read_back(tmp_path, room, weighting):
    texts, labels = make_texts(300)
    feed, request = Feed(texts, labels), make_request(weighting=weighting)
    found = survey_feed(feed, request, room, Reporter())
    save_survey(tmp_path, found)
    read = load_survey(tmp_path, make_sample(feed, request, room))
    require_equal(read, found)
    assert read.checksum == found.checksum
    every = np.arange(found.sample.n_features)
    assert read.sample.lexicon.spell(every) == found.sample.lexicon.spell(every)


def test_vectors_with_numbers_for_classes_are_read_back(tmp_path, rng):
    X = sparse.csr_matrix(rng.integers(0, 2, size=(50, 8)).astype(float))
    feed, request = Feed(X, (np.arange(50) % 4).tolist()), make_request(class_names=range(6))
    found = survey_feed(feed, request, MUCH, Reporter())
    save_survey(tmp_path, found)
    read = load_survey(tmp_path, make_sample(feed, request, MUCH))
    require_equal(read, found)
    assert read.classes.names == [0, 1, 2, 3, 4, 5]
    assert read.survey.class_counts[5] == 0
