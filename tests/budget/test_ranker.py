"""Features ordered on a subset, and how many of them are needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from made_batches import list_codes, make_batch, pose_svc, to_dense
from made_up import TIGHT, make_targets, make_text
from spokeshave import DualLinearSVC, rank_features
from spokeshave.budget.ranker import Ranker, make_rows, prune, to_matrix
from spokeshave.budget.sample import Sample
from spokeshave.budget.store import Store
from spokeshave.curves.cuts import accumulate
from spokeshave.ranking.criteria import CRITERIA
from spokeshave.svm.solver import Stop

KINDS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])


class Judged:
    """A subset of documents, and a ranker for it."""

    def __init__(self, X, y, *, by="normal", tolerance=0.005, norm=None):
        self.X, self.y, self.d = X.astype(np.float32), y, X.shape[1]
        self.sample = Sample(10**9, seed=0, has_values=True, lexicon=None, n_threads=1)
        n_classes = y.shape[1] if y.ndim == 2 else y.max() + 1
        self.sample.add(make_batch(self.X, list_codes(y)), n_classes)
        self.ranker = Ranker(
            by=by,
            objective=pose_svc(DualLinearSVC(), y),
            stop=Stop(TIGHT["tol"], TIGHT["max_iter"]),
            norm=norm,
            tolerance=tolerance,
            n_classes=n_classes,
            seed=0,
            n_jobs=1,
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
    values, judge = [], Ranker._judge

    def judge_and_tell(self, sample, solution):
        values.append((judge(self, sample, solution), solution.coef.shape[1]))
        return values[-1][0]

    monkeypatch.setattr(Ranker, "_judge", judge_and_tell)
    found, order, _ = judged.find_needed(0)
    assert values[-1][1] == found
    for value, n_features in values[1:]:
        masked = sparse.csr_matrix(judged.X[:, np.sort(order[:n_features])])
        again = Judged(masked, y)
        assert again.ranker.rank(again.sample, n_features)[1] == pytest.approx(value)


def test_a_subset_without_judges_needs_all_features():
    judged = Judged(*make_text(3))
    judged.sample.thin_judges(0)
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
    store.add(make_batch(X, [0, 1, 0], has_values=has_values))
    return X.toarray() if has_values else (X.toarray() != 0).astype(float), store


@pytest.mark.parametrize("has_values", [True, False])
@pytest.mark.parametrize("norm", ["l2", "l1", None])
def test_rows_become_the_matrix_that_they_stand_for(has_values, norm):
    dense, store = make_store(has_values)
    X = to_matrix(make_rows(store, norm), 9)
    order = {"l2": 2, "l1": 1, None: None}[norm]
    length = 1.0 if order is None else np.linalg.norm(dense, ord=order, axis=1, keepdims=True)
    np.testing.assert_allclose(X.toarray(), dense / np.where(length > 0, length, 1), rtol=1e-6)
    assert X.has_sorted_indices


@pytest.mark.parametrize("capacity", [8, 100])
def test_a_matrix_of_rows_leaves_the_rows_as_they_were(capacity):
    """Scipy copies what is less than half of the array that it is of, and only that."""
    dense, store = make_store(True, capacity)
    to_matrix(make_rows(store, None), 9)
    np.testing.assert_array_equal(to_dense(store.indptr, store.indices, store.values), dense)
