"""The selector against its ranking and its curve."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

from made_up import CUTS, KINDS, TIGHT, TREES, keep, list_features, make_targets, make_text
from spokeshave import (
    DocumentVectorizer,
    DualLinearSVC,
    NormalSelector,
    feature_curve,
    rank_features,
)

PROPERTY = settings(deadline=None, derandomize=True, max_examples=25)
KINDS_OF_TARGETS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])


def select(X, y, **options):
    return NormalSelector(**{"random_state": 0, "cv": 3} | options).fit(X, y)


@KINDS_OF_TARGETS
@pytest.mark.parametrize("n_features", [1, 7, 0.3, 1.0, 40])
def test_the_selector_keeps_the_best_of_its_ranking(kind, n_features):
    X, y = make_targets(kind)
    selector = select(X, y, n_features=n_features)
    coef = DualLinearSVC(random_state=0).fit(X, y).coef_
    scores = np.abs(coef).max(axis=0)
    np.testing.assert_array_equal(selector.scores_, scores)
    order = list_features(scores)
    count = n_features if isinstance(n_features, int) else round(n_features * order.size)
    assert selector.n_features_ == min(count, order.size)
    expected = np.sort(order[:count])
    np.testing.assert_array_equal(selector.get_support(indices=True), expected)
    np.testing.assert_array_equal(selector.support_, selector.get_support())
    transformed = selector.transform(X)
    assert sparse.issparse(transformed)
    np.testing.assert_array_equal(transformed.toarray(), X[:, expected].toarray())
    assert not hasattr(selector, "curve_")
    assert not hasattr(selector, "choice_")


@KINDS_OF_TARGETS
@pytest.mark.parametrize("aggregate", ["max", "mean"])
@pytest.mark.parametrize(("tolerance", "measure"), [(None, "best_f1"), (0.05, "auc")])
def test_auto_keeps_what_the_curve_says(kind, aggregate, tolerance, measure):
    X, y = make_targets(kind)
    selector = select(X, y, aggregate=aggregate, tolerance=tolerance, measure=measure, cuts=CUTS)
    curve = feature_curve(X, y, cv=3, cuts=CUTS, aggregate=aggregate, random_state=0)
    choice = curve.smallest_within(tolerance, measure)
    np.testing.assert_array_equal(selector.curve_.auc, curve.auc)
    assert selector.choice_.cut == choice.cut
    assert selector.choice_.evaluated_on == "cross-validation"
    assert selector.n_features_ == round(choice.cut * np.count_nonzero(selector.scores_))
    assert selector.n_features_ == selector.support_.sum()


def test_auto_takes_counts_for_cuts():
    X, y = make_text()
    selector = select(X, y, cuts=[3, 9, 27], tolerance=0.0)
    assert selector.n_features_ == selector.choice_.cut
    assert selector.n_features_ in (3, 9, 27)


@PROPERTY
@given(
    seed=st.integers(0, 1000),
    wanted=st.floats(0.05, 12),
    by=st.sampled_from(["normal", "information_gain"]),
)
def test_as_many_features_as_leave_so_many_nonzeros(seed, wanted, by):
    X, y = make_text(seed=seed)
    selector = select(X, y, nonzeros_per_document=wanted, by=by)
    order = list_features(selector.scores_)
    kept = selector.n_features_
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), np.sort(order[:kept]))
    assert selector.transform(X).nnz / X.shape[0] <= wanted or kept == 1
    if kept < order.size:
        assert X[:, order[: kept + 1]].nnz / X.shape[0] > wanted


def test_nonzeros_are_wanted_instead_of_a_number():
    X, y = make_text()
    both = select(X, y, nonzeros_per_document=2, n_features=3)
    np.testing.assert_array_equal(both.support_, select(X, y, nonzeros_per_document=2.0).support_)
    assert both.n_features_ != 3


@PROPERTY
@given(
    seed=st.integers(0, 1000),
    wanted=st.floats(0.05, 12),
    by=st.sampled_from(["normal", "odds_ratio", "random"]),
)
def test_nonzeros_and_a_number_are_two_views_of_one_cut(seed, wanted, by):
    X, y = make_text(seed=seed)
    sparse_one = select(X, y, nonzeros_per_document=wanted, by=by)
    counted = select(X, y, n_features=sparse_one.n_features_, by=by)
    np.testing.assert_array_equal(counted.support_, sparse_one.support_)
    assert counted.nonzeros_per_document_ == sparse_one.nonzeros_per_document_
    again = select(X, y, nonzeros_per_document=counted.nonzeros_per_document_, by=by)
    np.testing.assert_array_equal(again.support_, counted.support_)
    assert counted.nonzeros_per_document_ == counted.transform(X).nnz / X.shape[0]


@pytest.mark.parametrize("options", [{"n_features": 9}, {"nonzeros_per_document": 1.5}, {}])
@pytest.mark.parametrize("by", ["normal", "chi2", "random"])
def test_pruning_comes_first(by, options):
    X, y = make_text()
    frequency = np.diff(X.tocsc().indptr)
    lowest, highest = 12, 0.25
    kept = (frequency >= lowest) & (frequency <= highest * 90)
    selector = select(X, y, by=by, min_df=lowest, max_df=highest, **options)
    assert (selector.n_rare_, selector.n_frequent_) == (
        (frequency < 12).sum(),
        (frequency > 22.5).sum(),
    )
    assert 0 < selector.n_rare_ + selector.n_frequent_ == 40 - kept.sum()
    assert not selector.scores_[~kept].any()
    assert not selector.support_[~kept].any()
    if by != "random":  # which draws for fewer columns
        alone = select(X[:, kept], y, by=by, **options)
        np.testing.assert_allclose(selector.scores_[kept], alone.scores_)
        np.testing.assert_array_equal(selector.support_[kept], alone.support_)
        assert selector.nonzeros_per_document_ == alone.nonzeros_per_document_


@pytest.mark.parametrize("by", ["normal", "random"])
def test_nothing_is_pruned_by_default(by):
    X, y = make_text()
    X = sparse.hstack([sparse.csr_matrix((90, 1)), X], format="csr")  # a feature never seen
    selector = select(X, y, n_features=7, by=by)
    assert (selector.n_rare_, selector.n_frequent_) == (1, 0)
    everything = select(X, y, n_features=7, by=by, min_df=0.0)
    np.testing.assert_array_equal(selector.support_, everything.support_)
    assert everything.n_rare_ == 0


@pytest.mark.parametrize("aggregate", ["max", "mean"])
@pytest.mark.parametrize("by", ["information_gain", "bns", "odds_ratio", "perceptron", "random"])
def test_the_selector_ranks_by_any_criterion(by, aggregate):
    X, y = make_text()
    selector = select(X, y, by=by, aggregate=aggregate, n_features=6)
    ranking = rank_features(X, y, by, random_state=0).aggregate(aggregate)
    np.testing.assert_array_equal(selector.scores_, ranking.scores[0])
    np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(ranking.order[0, :6]))


def test_equals_are_kept_by_their_number():
    X, y = make_text(2, is_binary=True)
    twice = sparse.hstack([X, X], format="csr")
    selector = select(twice, y, by="information_gain", n_features=11)
    order = np.argsort(-selector.scores_, kind="stable")
    assert selector.scores_[order[9]] == selector.scores_[order[8]]
    np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(order[:11]))


def test_the_selectors_svm_is_the_one_given():
    X, y = make_text()
    estimator = DualLinearSVC(C=0.1, loss="squared_hinge", **TIGHT)
    selector = select(X, y, estimator=estimator, n_features=5)
    scores = np.abs(clone(estimator).fit(X, y).coef_).max(axis=0)
    np.testing.assert_array_equal(selector.scores_, scores)
    assert not hasattr(estimator, "coef_")


def test_names_of_columns_go_with_them():
    X, y = make_text()
    frame = pd.DataFrame(X.toarray(), columns=[f"word{j}" for j in range(40)])
    selector = NormalSelector(n_features=5, random_state=0).set_output(transform="pandas")
    kept = selector.fit_transform(frame, y)
    names = [f"word{j}" for j in selector.get_support(indices=True)]
    assert list(kept.columns) == list(selector.get_feature_names_out()) == names
    pd.testing.assert_frame_equal(kept, frame[names])


def test_what_was_removed_comes_back_as_zeros():
    X, y = make_text()
    selector = select(X, y, n_features=5)
    back = selector.inverse_transform(selector.transform(X))
    np.testing.assert_array_equal(
        back.toarray(), keep(X, selector.get_support(indices=True), unit=False).toarray()
    )
    dense = selector.inverse_transform(selector.transform(X.toarray()))
    np.testing.assert_array_equal(dense, back.toarray())


def test_a_selector_survives_pickling_and_cloning():
    X, y = make_text()
    selector = select(X, y, cuts=CUTS)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(X).toarray(), selector.transform(X).toarray())
    assert str(again.choice_) == str(selector.choice_)
    np.testing.assert_array_equal(clone(selector).fit(X, y).support_, selector.support_)


def test_a_selector_between_a_vectorizer_and_an_svm():
    words = NormalSelector(n_features=4, random_state=0)
    model = make_pipeline(DocumentVectorizer(), words, DualLinearSVC(random_state=0))
    model.fit(TREES, KINDS)
    assert model[-1].coef_.shape == (1, 4)
    assert set(model[:-1].get_feature_names_out()) <= set(model[0].vocabulary_)
    assert model.predict(["an acorn of the oak", "a grey ash"]).tolist() == ["oak", "ash"]


def test_a_search_over_numbers_of_features():
    X, y = make_text()
    sizes, folds = [2, 0.5, 30], list(StratifiedKFold(3).split(X, y))
    model = make_pipeline(NormalSelector(random_state=0), DualLinearSVC(random_state=0))
    search = GridSearchCV(model, {"normalselector__n_features": sizes}, cv=folds).fit(X, y)
    train, test = folds[0]
    for size, score in zip(sizes, search.cv_results_["split0_test_score"], strict=True):
        chosen = select(X[train], y[train], n_features=size)
        svm = DualLinearSVC(random_state=0).fit(chosen.transform(X[train]), y[train])
        assert score == svm.score(chosen.transform(X[test]), y[test])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_features": 0}, "n_features must be 'auto', a whole number from 1 to 40, .* Got 0 ins"),
        ({"n_features": 41}, "a whole number from 1 to 40, .* Got 41 instead"),
        ({"n_features": 0.0}, "a share above 0 and up to 1.0. Got 0.0 instead"),
        ({"n_features": 1.5}, "a share above 0 and up to 1.0. Got 1.5 instead"),
        ({"n_features": np.nan}, "a share above 0 and up to 1.0. Got nan instead"),
        ({"n_features": "all"}, "n_features must be 'auto', .* Got 'all' instead"),
        ({"n_features": None}, "n_features must be 'auto', .* Got None instead"),
        ({"nonzeros_per_document": 0}, "must be a positive number. Got 0 instead"),
        ({"nonzeros_per_document": -2.0}, "must be a positive number. Got -2.0 instead"),
        ({"nonzeros_per_document": np.inf}, "must be a positive number. Got inf instead"),
        ({"nonzeros_per_document": "few"}, "must be a positive number. Got 'few' instead"),
        ({"estimator": LogisticRegression()}, "must be a DualLinearSVC. Got LogisticRegression"),
        ({"by": "gini"}, "by must be one of"),
        ({"aggregate": "median"}, "aggregate must be 'max' or 'mean'. Got 'median' instead"),
        ({"aggregate": None}, "aggregate must be 'max' or 'mean'. Got None instead"),
        ({"measure": "f2"}, "The measure must be one of"),
        ({"n_features": True}, "n_features must be 'auto', .* Got True instead"),
        ({"tolerance": -1.0}, "tolerance must be a number that is not negative"),
        ({"cuts": [2.5]}, "cuts must be"),
        ({"min_df": 0}, "min_df must be a whole number of documents, at least 1, .* Got 0 instead"),
        ({"max_df": 1.5}, "max_df must be .* a share between 0.0 and 1.0. Got 1.5 instead"),
        ({"min_df": 50, "max_df": 0.1}, "max_df must allow at least min_df=50 of the 90 documents"),
        ({"min_df": 89}, "must leave at least one of the 40 features. Got min_df=89"),
    ],
)
def test_bad_options_of_the_selector_get_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        select(*make_text(), **options)


def test_threads_change_nothing():
    X, y = make_text()
    chosen = [select(X, y, cuts=CUTS, n_jobs=n).support_ for n in (1, 2)]
    np.testing.assert_array_equal(*chosen)


def test_what_an_earlier_fit_chose_is_forgotten():
    X, y = make_text()
    model = NormalSelector(DualLinearSVC(**TIGHT), cuts=CUTS, cv=3).fit(X, y)
    assert model.choice_.evaluated_on == model.curve_.evaluated_on
    model.set_params(n_features=3).fit(X, y)
    assert not hasattr(model, "choice_")
    assert not hasattr(model, "curve_")


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (np.ones((4, 2)), np.zeros(4), "y must have at least two classes"),
        (np.ones((4, 2)), np.array([[0, 2]] * 4), "an indicator matrix of zeros and ones"),
        (np.full((4, 2), np.nan), np.arange(4) % 2, "Input X contains NaN"),
        (np.ones((4, 2)), np.arange(3) % 2, "inconsistent numbers of samples"),
    ],
)
def test_bad_data_gets_a_sentence(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        NormalSelector(n_features=1).fit(X, y)
