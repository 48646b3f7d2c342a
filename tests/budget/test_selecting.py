"""The choice of features, from all that fit to the fewest that will do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from made_batches import Feed, list_words, make_request, make_texts
from spokeshave import DocumentVectorizer
from spokeshave.budget import selecting, surveying
from spokeshave.budget.costs import Costs
from spokeshave.budget.plan import Cut, make_plan
from spokeshave.budget.request import Reporter
from spokeshave.budget.room import Room
from spokeshave.budget.selecting import (
    Selection,
    load_selection,
    save_selection,
    select_features,
)
from spokeshave.budget.surveying import survey_feed

MUCH = 10**9


@pytest.fixture(autouse=True)
def resident(monkeypatch):
    """Let the process hold nothing, so that only the room counts."""
    monkeypatch.setattr(surveying, "measure_resident", lambda: -(10**9))


def select(feed, free=MUCH, *, free_after=None, **options):
    """Survey a feed in so much memory, and select in as much, or in what is left after."""
    request = make_request(**options)
    surveyed = survey_feed(feed, request, Room(free, 0), Reporter())
    room = Room(free if free_after is None else free_after, 0)
    names, codes = surveyed.classes.rank(feed.is_multilabel)
    objective = request.svm(names, codes, surveyed.survey)
    costs = Costs(len(codes), request.n_threads, request.has_values(feed))
    plan = make_plan(surveyed.survey, surveyed.sample, room, costs)
    return select_features(surveyed, request, plan, objective, room, costs), plan


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_df": 3},
        {"max_df": 0.3},
        {"min_df": 0.02, "max_df": 40},
        {"stop_words": frozenset({"w1", "w2", "ähre3"})},
    ],
    ids=["usual", "rare", "frequent", "both", "stop words"],  # a set has no order to be told by
)
def test_everything_that_fits_is_kept_as_the_vectorizer_keeps_it(options):
    texts, labels = make_texts(150)
    selection, plan = select(Feed(texts, labels), **options)
    vectorizer = DocumentVectorizer(**{"min_df": 1, "strip_markup": False, **options}).fit(texts)
    assert plan.fits_whole
    assert sorted(selection.features) == list(vectorizer.vocabulary_)
    cut = selection.cut
    assert (cut.n_rare, cut.n_frequent) == (vectorizer.n_rare_, vectorizer.n_frequent_)
    assert cut.n_features == cut.n_ranked == len(vectorizer.vocabulary_)
    assert cut.needed == 0
    assert cut.in_memory
    per_document = vectorizer.transform(texts).nnz / len(texts)
    assert cut.per_document == pytest.approx(per_document)


def test_everything_that_fits_is_kept_whatever_the_criterion():
    texts, labels = make_texts(150)
    selection, plan = select(Feed(texts, labels), by="chi2")
    assert plan.fits_whole
    assert sorted(selection.features) == sorted(set().union(*map(list_words, texts)))


def test_everything_that_fits_is_kept_however_many_would_judge(monkeypatch):
    monkeypatch.setattr(selecting, "MOST_JUDGES", 5)
    texts, labels = make_texts(150)
    selection, plan = select(Feed(texts, labels))
    assert plan.fits_whole
    assert sorted(selection.features) == sorted(set().union(*map(list_words, texts)))


def test_features_are_in_the_order_of_their_frequency():
    texts, labels = make_texts(150)
    counts = {}
    for text in texts:
        for word in set(list_words(text)):
            counts[word] = counts.get(word, 0) + 1
    for options in ({}, {"nonzeros_per_document": 4.0}):
        selection, _ = select(Feed(texts, labels), **options)
        frequency = [counts[word] for word in selection.features]
        assert frequency == sorted(frequency, reverse=True)


def test_frequencies_of_tfidf_are_those_of_the_vectorizer():
    texts, labels = make_texts(150)
    selection, _ = select(Feed(texts, labels), weighting="tfidf", min_df=2)
    vectorizer = DocumentVectorizer(weighting="tfidf", min_df=2, strip_markup=False).fit(texts)
    expected = [vectorizer.idf_[vectorizer.vocabulary_[word]] for word in selection.features]
    np.testing.assert_allclose(selection.idf, expected, rtol=1e-6)
    assert select(Feed(texts, labels), weighting="counts")[0].idf is None


@pytest.mark.parametrize("wanted", [0.01, 1.0, 3.0, 6.5, 1000.0])
@pytest.mark.parametrize("weighting", ["binary", "tfidf"])
def test_documents_keep_as_many_nonzeros_as_are_wanted(wanted, weighting):
    texts, labels = make_texts(150)
    selection, _ = select(
        Feed(texts, labels), nonzeros_per_document=wanted, weighting=weighting, min_df=2
    )
    kept = set(selection.features)
    found = sum(len(kept & set(list_words(text))) for text in texts) / len(texts)
    assert selection.cut.per_document == pytest.approx(found)
    assert found <= wanted or len(kept) == 1
    assert len(kept) == selection.cut.n_features <= selection.cut.n_ranked
    if wanted < found * 3 and len(kept) > 1:
        assert found > wanted - 1


def test_words_that_tell_classes_apart_are_kept_first():
    texts, labels = make_texts(300)
    selection, _ = select(Feed(texts, labels), nonzeros_per_document=2.0, min_df=2)
    assert sum(word.startswith("ähre") for word in selection.features) > 0.8 * len(
        selection.features
    )


def test_as_many_features_are_kept_as_fit():
    """Each costs memory, and so does a cell: more memory keeps more."""
    texts, labels = make_texts(300)
    kept = []
    for free in (26_000, 30_000, 40_000):
        selection, plan = select(Feed(texts, labels), free_after=free, min_df=2, tolerance=0.99)
        costs = Costs(3, 1, False)
        size = 300 * (costs.row + selection.cut.per_document * costs.cell)
        size += selection.cut.n_features * (costs.feature + 100)
        assert selection.cut.in_memory == (size <= free)
        assert not plan.fits_whole
        kept.append(selection.cut.n_features)
    assert kept == sorted(kept)


def test_where_too_few_fit_those_that_are_needed_are_kept_on_the_disk():
    texts, labels = make_texts(300)
    selection, plan = select(Feed(texts, labels), free_after=20_000, min_df=2, tolerance=0.0)
    assert plan.fits_at == 0
    assert not selection.cut.in_memory
    assert selection.cut.n_features == selection.cut.needed > 0
    costs = Costs(3, 1, False)
    assert 2 * selection.cut.n_features * (costs.feature + 100) <= 20_000


def test_columns_of_vectors_are_kept_by_their_numbers(rng):
    y = np.arange(120) % 2
    X = rng.integers(0, 2, size=(120, 10)).astype(float)
    X[:, 7], X[:, 2] = y, 0
    feed = Feed(sparse.csr_matrix(X), y.tolist())
    selection, _ = select(feed, nonzeros_per_document=0.6)
    assert selection.features.tolist() == [7]
    everything, _ = select(feed)
    assert sorted(everything.features) == [0, 1, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("by", ["chi2", "bns", "random", "perceptron"])
def test_other_criteria_choose_from_part_of_the_subset(by):
    texts, labels = make_texts(300)
    selection, _ = select(Feed(texts, labels), by=by, nonzeros_per_document=3.0, min_df=2)
    assert 0 < selection.cut.per_document <= 3


def test_no_word_left_gets_one_sentence():
    texts, labels = make_texts(20)
    with pytest.raises(ValueError, match=r"No word is left: .* min_df=20 and max_df=1.0. Lower"):
        select(Feed(texts, labels), min_df=20)


def test_no_feature_left_gets_one_sentence():
    feed = Feed(sparse.csr_matrix((6, 3)), [0, 1] * 3)
    with pytest.raises(ValueError, match="No feature is left: no document has a value that is not"):
        select(feed)


@pytest.mark.parametrize("idf", [None, np.array([1.5, 2.5], np.float32)])
@pytest.mark.parametrize(
    "features", [["größe", "中文"], np.array([7, 3])], ids=["words", "numbers"]
)
def test_what_is_saved_is_read_back(tmp_path, features, idf):
    cut = Cut(2, 9, 3, 1, 1.5, 0, 1234, False)
    save_selection(tmp_path, Selection(features, idf, cut))
    read = load_selection(tmp_path)
    np.testing.assert_array_equal(read.features, features)
    assert type(read.features) is type(features)
    np.testing.assert_array_equal(read.idf, idf)
    assert read.cut == cut
