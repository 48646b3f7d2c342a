"""The choice of features, from all that fit to the fewest that will do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from made_batches import (
    Stream,
    list_codes,
    list_words,
    make_batch,
    make_request,
    make_texts,
    pose_svc,
    to_dense,
)
from made_up import TIGHT, make_targets, make_text
from spokeshave import DocumentVectorizer, DualLinearSVC, rank_features
from spokeshave.budget import select as select_module
from spokeshave.budget.memory import AvailableMemory, Costs
from spokeshave.budget.plan import Cut
from spokeshave.budget.sample import Sample, run_first_pass
from spokeshave.budget.select import (
    Ranker,
    Selection,
    load_selection,
    pose,
    prune,
    save_selection,
    select_features,
    to_matrix,
)
from spokeshave.budget.shards import make_rows
from spokeshave.budget.store import Store
from spokeshave.curves.cuts import accumulate
from spokeshave.ranking.criteria import CRITERIA
from spokeshave.svm.solver import Stop

MUCH = 10**9


def choose(stream, free=MUCH, *, free_after=None, **options):
    """Count a stream in so much memory, and select in as much, or in what is left after."""
    request = make_request(is_text=stream.is_text, is_multilabel=stream.is_multilabel, **options)
    first = run_first_pass(stream, request, AvailableMemory(free, 0), lambda share: None)
    memory = AvailableMemory(free if free_after is None else free_after, 0)
    posed = pose(first, request, memory, request.n_threads)
    return select_features(first, request, posed, memory), posed.plan


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
    selection, plan = choose(Stream(texts, labels), **options)
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
    selection, plan = choose(Stream(texts, labels), by="chi2")
    assert plan.fits_whole
    assert sorted(selection.features) == sorted(set().union(*map(list_words, texts)))


def test_everything_that_fits_is_kept_however_many_would_judge(monkeypatch):
    monkeypatch.setattr(select_module, "MOST_VALIDATION", 5)
    texts, labels = make_texts(150)
    selection, plan = choose(Stream(texts, labels))
    assert plan.fits_whole
    assert sorted(selection.features) == sorted(set().union(*map(list_words, texts)))


def test_features_are_in_the_order_of_their_frequency():
    texts, labels = make_texts(150)
    counts = {}
    for text in texts:
        for word in set(list_words(text)):
            counts[word] = counts.get(word, 0) + 1
    for options in ({}, {"nonzeros_per_document": 4.0}):
        selection, _ = choose(Stream(texts, labels), **options)
        frequency = [counts[word] for word in selection.features]
        assert frequency == sorted(frequency, reverse=True)


def test_frequencies_of_tfidf_are_those_of_the_vectorizer():
    texts, labels = make_texts(150)
    selection, _ = choose(Stream(texts, labels), weighting="tfidf", min_df=2)
    vectorizer = DocumentVectorizer(weighting="tfidf", min_df=2, strip_markup=False).fit(texts)
    expected = [vectorizer.idf_[vectorizer.vocabulary_[word]] for word in selection.features]
    np.testing.assert_allclose(selection.idf, expected, rtol=1e-6)
    assert choose(Stream(texts, labels), weighting="counts")[0].idf is None


@pytest.mark.parametrize("wanted", [0.01, 1.0, 3.0, 6.5, 1000.0])
@pytest.mark.parametrize("weighting", ["binary", "tfidf"])
def test_documents_keep_as_many_nonzeros_as_are_wanted(wanted, weighting):
    texts, labels = make_texts(150)
    selection, _ = choose(
        Stream(texts, labels), nonzeros_per_document=wanted, weighting=weighting, min_df=2
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
    selection, _ = choose(Stream(texts, labels), nonzeros_per_document=2.0, min_df=2)
    assert sum(word.startswith("ähre") for word in selection.features) > 0.8 * len(
        selection.features
    )


def test_as_many_features_are_kept_as_fit():
    """Each costs memory, and so does a cell: more memory keeps more."""
    texts, labels = make_texts(300)
    kept = []
    for free in (26_000, 30_000, 40_000):
        selection, plan = choose(Stream(texts, labels), free_after=free, min_df=2, tolerance=0.99)
        costs = Costs(3, 1, False)
        size = 300 * (costs.row + selection.cut.per_document * costs.cell)
        size += selection.cut.n_features * (costs.feature + 100)
        assert selection.cut.in_memory == (size <= free)
        assert not plan.fits_whole
        kept.append(selection.cut.n_features)
    assert kept == sorted(kept)


def test_where_too_few_fit_those_that_are_needed_are_kept_on_the_disk():
    texts, labels = make_texts(300)
    selection, plan = choose(Stream(texts, labels), free_after=20_000, min_df=2, tolerance=0.0)
    assert plan.fits_at == 0
    assert not selection.cut.in_memory
    assert selection.cut.n_features == selection.cut.needed > 0
    costs = Costs(3, 1, False)
    assert 2 * selection.cut.n_features * (costs.feature + 100) <= 20_000


def test_columns_of_vectors_are_kept_by_their_numbers(rng):
    y = np.arange(120) % 2
    X = rng.integers(0, 2, size=(120, 10)).astype(float)
    X[:, 7], X[:, 2] = y, 0
    stream = Stream(sparse.csr_matrix(X), y.tolist())
    selection, _ = choose(stream, nonzeros_per_document=0.6)
    assert selection.features.tolist() == [7]
    everything, _ = choose(stream)
    assert sorted(everything.features) == [0, 1, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("by", ["chi2", "bns", "random", "perceptron"])
def test_other_criteria_choose_from_part_of_the_subset(by):
    texts, labels = make_texts(300)
    selection, _ = choose(Stream(texts, labels), by=by, nonzeros_per_document=3.0, min_df=2)
    assert 0 < selection.cut.per_document <= 3


def test_no_word_left_gets_one_sentence():
    texts, labels = make_texts(20)
    with pytest.raises(ValueError, match=r"No word is left: .* min_df=20 and max_df=1.0. Lower"):
        choose(Stream(texts, labels), min_df=20)


def test_no_feature_left_gets_one_sentence():
    stream = Stream(sparse.csr_matrix((6, 3)), [0, 1] * 3)
    with pytest.raises(ValueError, match="No feature is left: no document has a value that is not"):
        choose(stream)


@pytest.mark.parametrize("idf", [None, np.array([1.5, 2.5], np.float32)])
@pytest.mark.parametrize(
    "features",
    [["größe", "中文"], [" \n", "\ud800"], np.array([7, 3])],
    ids=["words", "n-grams", "numbers"],
)
def test_what_is_saved_is_read_back(tmp_path, features, idf):
    cut = Cut(2, 9, 3, 1, 1.5, 0, 1234, False)
    save_selection(tmp_path, Selection(features, idf, cut))
    read = load_selection(tmp_path)
    np.testing.assert_array_equal(read.features, features)
    assert type(read.features) is type(features)
    np.testing.assert_array_equal(read.idf, idf)
    assert read.cut == cut


KINDS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])


class Judged:
    """A subset of documents, and a ranker for it."""

    def __init__(self, X, y, *, by="normal", tolerance=0.005, norm=None):
        self.X, self.y, self.d = X.astype(np.float32), y, X.shape[1]
        self.sample = Sample(10**9, seed=0, has_values=True, terms=None, n_threads=1)
        n_classes = y.shape[1] if y.ndim == 2 else y.max() + 1
        self.sample.add(make_batch(self.X, list_codes(y)), n_classes)
        self.ranker = Ranker(
            make_request(
                by=by,
                stop=Stop(TIGHT["tol"], TIGHT["max_iter"]),
                norm=norm,
                tolerance=tolerance,
            ),
            objective=pose_svc(DualLinearSVC(), y),
            n_classes=n_classes,
            n_threads=2,
        )

    @property
    def train(self):
        """The documents that are trained on, as a matrix and targets."""
        n_classes = self.ranker.n_classes
        store = self.sample.train
        X = to_dense(store.indptr, store.indices, store.values, self.d)
        indicator = store.indicate(n_classes).toarray()
        y = indicator if self.y.ndim == 2 else indicator.argmax(axis=1)
        return sparse.csr_matrix(X), y

    def find_needed(self, fewest):
        order, value = self.ranker.rank(self.sample, self.d)
        per_document = accumulate(self.sample.count(), order, len(self.sample))
        found = self.ranker.find_needed(self.sample, order, per_document, value, fewest)
        return found, order, value


@KINDS
def test_the_order_by_normal_is_that_of_rank_features(kind):
    judged = Judged(*make_targets(kind))
    order, value = judged.ranker.rank(judged.sample, judged.d)
    ranking = rank_features(*judged.train, estimator=DualLinearSVC(**TIGHT))
    scores = ranking.aggregate("max").scores[0]
    assert set(order) == set(np.flatnonzero(scores))
    # Weights are found to a tolerance: neighbours may change places where they are that close.
    assert (np.diff(scores[order]) < 1e-4).all()
    assert 0 < value <= 1


FITTING = [by for by in CRITERIA if by not in ("normal", "random")]


@KINDS
@pytest.mark.parametrize("by", FITTING)
def test_the_order_by_other_criteria_is_that_of_rank_features(kind, by):
    judged = Judged(*make_targets(kind), by=by)
    X, y = judged.train
    order, value = judged.ranker.rank(judged.sample, judged.d)
    expected = rank_features(X, y, by, random_state=0).aggregate("max").list_ranked(0)
    scores = rank_features(X, y, by, random_state=0).aggregate("max").scores[0]
    assert set(order) == set(expected)
    np.testing.assert_allclose(scores[order], scores[expected], rtol=1e-4, atol=1e-6)
    assert 0 < value <= 1


def test_a_random_order_holds_every_feature():
    judged = Judged(*make_text(3), by="random")
    order, _ = judged.ranker.rank(judged.sample, judged.d)
    assert sorted(order) == list(range(judged.d))


@pytest.mark.parametrize("by", ["normal", "chi2", "information_gain"])
def test_the_fewest_features_are_needed_where_all_cuts_are_as_good(by):
    judged = Judged(*make_text(3, n=150), by=by, tolerance=1.0)
    found, order, _ = judged.find_needed(15)
    assert found == 15 < order.size


def test_a_document_keeps_a_feature_or_two_however_few_would_do():
    judged = Judged(*make_text(3, n=150), tolerance=1.0)
    frequency, n = judged.sample.count(), len(judged.sample)
    found, order, _ = judged.find_needed(0)
    per_document = accumulate(frequency, order, n)[found]
    assert 0.5 < per_document < 2


def test_all_features_are_needed_where_no_cut_is_as_good():
    """Every document has one of its class's words, four times over: half of them tell of half."""
    n, n_words = 900, 30
    word = np.arange(n) % n_words
    X = np.zeros((n, 4 * n_words))
    for copy in range(4):
        X[np.arange(n), 4 * word + copy] = 1
    judged = Judged(sparse.csr_matrix(X), word % 3, tolerance=0.0)
    found, order, value = judged.find_needed(0)
    assert value == 1
    assert found == order.size == 4 * n_words


def test_no_fewer_are_needed_than_fit():
    for fewest in (5, 20, 39, 40, 1000):
        judged = Judged(*make_text(3, n=150), tolerance=1.0)
        found, order, _ = judged.find_needed(fewest)
        assert found >= min(fewest, order.size)


def test_the_value_is_that_of_training_on_the_features_that_are_left(monkeypatch):
    """The features of the subset have new numbers after each cut: the documents are the same."""
    X, y = make_text(3, n=300)
    judged = Judged(X, y, tolerance=1.0)
    values, judge = [], Ranker._validate

    def judge_and_tell(self, sample, solution):
        values.append((judge(self, sample, solution), solution.coef.shape[1]))
        return values[-1][0]

    monkeypatch.setattr(Ranker, "_validate", judge_and_tell)
    found, order, _ = judged.find_needed(0)
    assert values[-1][1] == found
    for value, n_features in values[1:]:
        masked = sparse.csr_matrix(judged.X[:, np.sort(order[:n_features])])
        again = Judged(masked, y)
        assert again.ranker.rank(again.sample, n_features)[1] == pytest.approx(value)


def test_a_subset_without_judges_needs_all_features():
    judged = Judged(*make_text(3))
    judged.sample.thin_validation(0)
    found, order, value = judged.find_needed(1)
    assert np.isnan(value)
    assert found == order.size


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
    st.integers(1, 5),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
def test_features_too_rare_or_too_frequent_are_pruned(frequency, lowest, highest, random):
    is_stopped = [random.random() < 0.2 for _ in frequency]
    found = prune(np.array(frequency), lowest, highest, np.array(is_stopped))
    expected = [
        j for j, n in enumerate(frequency) if n > 0 and lowest <= n <= highest and not is_stopped[j]
    ]
    assert found.features.tolist() == sorted(expected, key=lambda j: -frequency[j])
    assert found.frequency.tolist() == [frequency[j] for j in found.features]
    assert found.n_rare == sum(0 < n < lowest for n in frequency)
    assert found.n_frequent == sum(n > highest for n in frequency)


def make_store(has_values, capacity=100):
    """Return rows whose features are not in order."""
    X = sparse.csr_matrix(
        (np.array([1, 2, 3, 4, 5], np.float32), np.array([7, 2, 5, 8, 0]), [0, 3, 3, 5]),
        shape=(3, 9),
    )
    store = Store(capacity, has_values=has_values)
    store.add(make_batch(X, [0, 1, 0], has_values=has_values), np.zeros(3))
    return X.toarray() if has_values else (X.toarray() != 0).astype(float), store


@pytest.mark.parametrize("has_values", [True, False])
@pytest.mark.parametrize("norm", ["l2", "l1", None])
def test_rows_become_the_matrix_that_they_stand_for(has_values, norm):
    dense, store = make_store(has_values)
    X = to_matrix(make_rows(store.indptr, store.indices, store.values, norm), 9)
    order = {"l2": 2, "l1": 1, None: None}[norm]
    length = 1.0 if order is None else np.linalg.norm(dense, ord=order, axis=1, keepdims=True)
    np.testing.assert_allclose(X.toarray(), dense / np.where(length > 0, length, 1), rtol=1e-6)
    assert X.has_sorted_indices


@pytest.mark.parametrize("capacity", [8, 100])
def test_a_matrix_of_rows_leaves_the_rows_as_they_were(capacity):
    """Scipy copies what is less than half of the array that it is of, and only that."""
    dense, store = make_store(True, capacity)
    to_matrix(make_rows(store.indptr, store.indices, store.values, None), 9)
    np.testing.assert_array_equal(to_dense(store.indptr, store.indices, store.values), dense)
