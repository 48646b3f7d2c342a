"""The sparsity curve against plain Python, and against the matrices at each cut."""

from __future__ import annotations

import pickle
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from made_up import make_text
from spokeshave import NormalSelector, Ranking, feature_curve, rank_features, sparsity_curve

PROPERTY = settings(deadline=None, derandomize=True, max_examples=50)
N_FEATURES = 12
DOCUMENTS = st.integers(1, 15).flatmap(
    lambda n: arrays(np.float64, (n, N_FEATURES), elements=st.sampled_from([0.0, 0.0, 1.0, -2.5]))
)
# Ties, zeros and scores below zero, as of the odds ratio
SCORES = st.integers(1, 3).flatmap(
    lambda k: arrays(np.float64, (k, N_FEATURES), elements=st.integers(-2, 4).map(float))
)


def rank(scores, by="made up"):
    return Ranking(np.array(scores, float), np.arange(len(scores)), by)


def count_naively(X, scores, count):
    """Return the features kept and the nonzeros per document, one cell after the other."""
    order = sorted((-score, j) for j, score in enumerate(scores) if score != 0)
    kept = [j for _, j in order[:count]]
    nonzeros = sum(1 for row in X for j in kept if row[j] != 0)
    return kept, nonzeros


@PROPERTY
@given(DOCUMENTS, SCORES)
def test_counts_are_those_of_plain_python(X, scores):
    curve = sparsity_curve(X, rank(scores))
    np.testing.assert_array_equal(curve.cuts, [1, 2, 4, 8, 12])
    for k, row in enumerate(scores):
        for c, count in enumerate(curve.cuts):
            kept, nonzeros = count_naively(X.tolist(), row.tolist(), count)
            assert curve.n_features[0, k, c] == len(kept)
            assert curve.nonzeros[0, k, c] == nonzeros / len(X)
            assert curve.matrix_bytes[0, k, c] == 8 * nonzeros + 8 * (len(X) + 1)
            assert curve.model_bytes[0, k, c] == 8 * len(kept) + 4


@pytest.mark.parametrize("cuts", [[1, 5, 30], (0.1, 0.5, 1.0), "log"])
def test_bytes_are_those_of_the_matrix(cuts):
    X, y = make_text()
    ranking = rank_features(X, y, by="bns")
    curve = sparsity_curve(X, ranking, cuts=cuts)
    for k, order in enumerate(ranking.order):
        for c, n in enumerate(curve.n_features[0, k]):
            part = X[:, order[:n]].astype(np.float32)
            assert part.indices.dtype == np.int32
            size = part.data.nbytes + part.indices.nbytes + 2 * part.indptr.nbytes
            assert curve.matrix_bytes[0, k, c] == size
            assert curve.nonzeros[0, k, c] == part.nnz / X.shape[0]


@PROPERTY
@given(DOCUMENTS, SCORES)
def test_curves_never_fall(X, scores):
    curve = sparsity_curve(X, rank(scores), cuts=range(1, N_FEATURES + 1))
    for name in ("n_features", "nonzeros", "matrix_bytes", "model_bytes"):
        assert (np.diff(getattr(curve, name), axis=2) >= 0).all()


@PROPERTY
@given(DOCUMENTS, SCORES, st.floats(0.01, 15))
def test_features_are_counted_back(X, scores, wanted):
    curve = sparsity_curve(X, rank(scores), cuts=range(1, N_FEATURES + 1))
    (counts,) = curve.count_features(wanted)
    for row, n in zip(scores.tolist(), counts, strict=True):
        n_ranked = np.count_nonzero(row)
        assert min(1, n_ranked) <= n <= n_ranked
        assert count_naively(X, row, n)[1] / len(X) <= wanted or n == 1
        if n < n_ranked:
            assert count_naively(X, row, n + 1)[1] / len(X) > wanted


@PROPERTY
@given(SCORES, st.integers(0, 1000))
def test_counting_back_is_the_inverse(scores, seed):
    X = np.random.default_rng(seed).random((9, N_FEATURES)) < 0.4
    X[0] = True  # every feature occurs
    curve = sparsity_curve(X, rank(scores), cuts=range(1, N_FEATURES + 1))
    for k, kept in enumerate(curve.n_features[0]):
        for n, nonzeros in zip(kept, curve.nonzeros[0, k], strict=True):
            if n > 0:
                assert curve.count_features(nonzeros)[0, k] == n


@PROPERTY
@given(DOCUMENTS, SCORES, st.randoms(use_true_random=False))
def test_the_order_of_documents_means_nothing(X, scores, random):
    shuffled = X[random.sample(range(len(X)), len(X))]
    one, two = (sparsity_curve(rows, rank(scores)) for rows in (X, shuffled))
    np.testing.assert_array_equal(one.nonzeros, two.nonzeros)
    np.testing.assert_array_equal(one.matrix_bytes, two.matrix_bytes)
    np.testing.assert_array_equal(one.count_features(2.0), two.count_features(2.0))


@PROPERTY
@given(DOCUMENTS, SCORES)
def test_a_cut_of_everything_keeps_everything_but_scores_of_zero(X, scores):
    curve = sparsity_curve(X, rank(scores), cuts=[1.0])
    np.testing.assert_array_equal(curve.n_features[0, :, 0], np.count_nonzero(scores, axis=1))
    for k, row in enumerate(scores):
        assert curve.nonzeros[0, k, 0] == np.count_nonzero(X[:, row != 0]) / len(X)
    np.testing.assert_array_equal(curve.count_features(1e9), curve.n_features[:, :, 0])


def test_sparse_and_dense_documents_are_alike_and_stored_zeros_are_none():
    X = np.array([[1.0, 0, 3], [0, 2, 0]])
    stored = sparse.csr_matrix(X)
    stored.data[0] = 0  # it stays stored
    X[0, 0] = 0
    twice = sparse.csr_matrix(([1.0, 2.0, 2.0], [2, 2, 1], [0, 2, 3]), shape=(2, 3))
    for documents in (X, stored, twice, sparse.coo_matrix(X)):
        curve = sparsity_curve(documents, rank([[3, 2, 1]]), cuts=[1, 2, 3])
        np.testing.assert_array_equal(curve.nonzeros[0, 0], [0.0, 0.5, 1.0])


def test_a_curve_for_each_name():
    X, y = make_text()
    rankings = {by: rank_features(X, y, by) for by in ("odds_ratio", "chi2")}
    both = sparsity_curve(X, rankings)
    assert both.nonzeros.shape == (2, 3, 7)
    for r, ranking in enumerate(rankings.values()):
        alone = sparsity_curve(X, ranking)
        assert list(alone.rankings) == [ranking.by]
        np.testing.assert_array_equal(alone.nonzeros[0], both.nonzeros[r])
        np.testing.assert_array_equal(alone.count_features(3)[0], both.count_features(3)[r])


def test_macro_leaves_out_classes_that_nothing_is_said_of():
    X = np.array([[1.0, 1, 0], [1, 0, 0]])
    curve = sparsity_curve(X, rank([[2, 1, 0], [0, 0, 0], [0, 4, 0]]), cuts=[1, 2])
    np.testing.assert_array_equal(curve.n_features[0], [[1, 2], [0, 0], [1, 1]])
    np.testing.assert_array_equal(curve.macro(), [[0.75, 1.0]])
    np.testing.assert_array_equal(curve.macro("n_features"), [[1.0, 1.5]])
    np.testing.assert_array_equal(curve.count_features(0.1), [[1, 0, 1]])
    nothing = sparsity_curve(X, rank([[0, 0, 0]]))
    assert np.isnan(nothing.macro()).all()


@pytest.mark.parametrize("by", ["normal", "information_gain"])
@pytest.mark.parametrize("wanted", [0.01, 0.7, 2.5, 6, 99])
def test_curve_selector_and_sparsity_curve_agree(by, wanted):
    X, y = make_text()
    options = {"X_test": X, "y_test": y, "by": by, "random_state": 0}
    traced = feature_curve(X, y, cuts=[wanted], against="sparsity", **options)
    ranking = rank_features(X, y, by, random_state=0)
    curve = sparsity_curve(X, ranking)
    np.testing.assert_array_equal(traced.n_features[:, 0], curve.count_features(wanted)[0])
    selector = NormalSelector(nonzeros_per_document=wanted, by=by, random_state=0).fit(X, y)
    shared = sparsity_curve(X, ranking.aggregate(), cuts=[selector.n_features_])
    assert selector.n_features_ == shared.count_features(wanted)[0, 0]
    assert selector.nonzeros_per_document_ == shared.nonzeros[0, 0, 0]


def test_nonzeros_of_a_feature_curve_are_those_of_the_sparsity_curve():
    X, y = make_text()
    cuts = [1, 4, 20]
    traced = feature_curve(X, y, X_test=X, y_test=y, by="chi2", cuts=cuts)
    curve = sparsity_curve(X, rank_features(X, y, "chi2"), cuts=cuts)
    np.testing.assert_array_equal(traced.nonzeros, curve.nonzeros[0])
    np.testing.assert_array_equal(traced.n_features, curve.n_features[0])


def test_a_frame_has_a_row_per_ranking_class_and_cut():
    X, y = make_text()
    curve = sparsity_curve(X, {by: rank_features(X, y, by) for by in ("bns", "chi2")}, cuts=[2, 9])
    frame = curve.to_frame()
    counted = ["n_features", "nonzeros", "matrix_bytes", "model_bytes"]
    assert list(frame.columns) == ["ranking", "class", "cut", *counted]
    assert len(frame) == 12
    (row,) = frame[(frame["ranking"] == "chi2") & (frame["class"] == 2) & (frame["cut"] == 9)].index
    for name in counted:
        assert frame.loc[row, name] == getattr(curve, name)[1, 2, 1]


def test_a_frame_needs_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas: pip install pandas"):
        sparsity_curve(np.eye(3), rank([[1, 2, 3]])).to_frame()


def test_a_result_is_frozen_and_survives_pickling():
    curve = sparsity_curve(np.eye(3), rank([[1, 2, 3]]))
    with pytest.raises(FrozenInstanceError):
        curve.n_documents = 7
    again = pickle.loads(pickle.dumps(curve))
    np.testing.assert_array_equal(again.count_features(0.5), curve.count_features(0.5))


@pytest.mark.parametrize(
    ("ranking", "options", "sentence"),
    [
        ("chi2", {}, "ranking must be a Ranking or a mapping of names to Rankings. Got 'chi2'"),
        ({}, {}, "ranking must be a Ranking or a mapping .* Got {} instead"),
        ({"a": 3}, {}, "ranking must map names to Rankings. Got 3 for 'a' instead"),
        (rank([[1, 2]]), {}, "have the 3 features of X. Got 2 features in 'made up' instead"),
        (
            {"a": rank([[1, 2, 3]]), "b": rank([[1, 2, 3]] * 2)},
            {},
            "the same classes under every name",
        ),
        (rank([[1, 2, 3]]), {"cuts": [2.5]}, "cuts must be"),
        (rank([[1, 2, 3]]), {"cuts": "linear"}, "cuts must be 'log'"),
    ],
)
def test_bad_input_gets_a_sentence(ranking, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        sparsity_curve(np.eye(3), ranking, **options)


@pytest.mark.parametrize("wanted", [0, -1, float("nan"), "20"])
def test_bad_questions_get_a_sentence(wanted):
    curve = sparsity_curve(np.eye(3), rank([[1, 2, 3]]))
    with pytest.raises(ValueError, match="nonzeros_per_document must be a positive number"):
        curve.count_features(wanted)
    with pytest.raises(ValueError, match="name must be one of n_features, nonzeros"):
        curve.macro("auc")
