"""Every method against one cut after the other, dense, and against LIBLINEAR."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from spokeshave import PAPER_FRACTIONS, DualLinearSVC, feature_curve, rank_features
from spokeshave.svm.solver import solve

METHODS = ["mask", "sv_set", "exact", "warm", "rfe"]
TIGHT = {"tol": 1e-10, "max_iter": 100_000, "random_state": 0}
CUTS = (0.1, 0.4, 0.8, 1.0)


def make_text(n_classes=3, *, is_binary=False, n=150, d=80, seed=0):
    """Return sparse rows of length one and labels, halved into training and test."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    chances = rng.uniform(0.02, 0.25, size=(n_classes, d))
    X = (rng.random((n, d)) < chances[y]).astype(float)
    if not is_binary:
        X *= rng.uniform(0.5, 2, size=X.shape)
    X[3] = 0  # a document without a word
    X = normalize(sparse.csr_matrix(X))
    return X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :]


def keep(X, features, unit):
    masked = sparse.lil_matrix(X.shape)
    masked[:, features] = X[:, features]
    masked = sparse.csr_matrix(masked)
    return normalize(masked) if unit else masked


def list_features(coef):
    order = np.argsort(-np.abs(coef), kind="stable")
    return order[: np.count_nonzero(coef)]


def score_naively(method, model, X, k, features, X_test, unit):
    """Return the test scores of class k at one cut, by the definition of the method."""
    test = keep(X_test, features, unit)
    w = np.zeros(X.shape[1])
    w[features] = model.coef_[k, features]
    b = model.intercept_[k]
    if method == "sv_set":
        w = (model.dual_coef_[k] @ keep(X, features, unit)).toarray().ravel()
    if method in ("exact", "warm"):
        y = (model.classes_[k] == model.trained_on).astype(int)
        again = LinearSVC(loss="hinge", tol=1e-10, max_iter=1_000_000, random_state=0)
        again.fit(keep(X, features, unit), y)
        w, b = again.coef_.ravel(), again.intercept_[0]
    return test @ w + b


def count_near_ties(truth, scores):
    """Return the share of pairs whose order is a matter of rounding.

    There are some where few words are left: free support vectors all score 1.
    """
    gaps = np.abs(scores[truth][:, None] - scores[~truth])
    return (gaps < 1e-4).mean()


def about(truth, scores):
    """Return the AUC of the scores, give or take what rounding can do to it."""
    return pytest.approx(roc_auc_score(truth, scores), abs=1e-9 + count_near_ties(truth, scores))


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("method", ["mask", "sv_set", "exact", "warm"])
def test_methods_are_what_they_are_defined_to_be(method, is_binary, unit):
    X, y, X_test, y_test = make_text(is_binary=is_binary)
    model = DualLinearSVC(**TIGHT).fit(X, y)
    model.trained_on = y
    curve = feature_curve(
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        method=method,
        estimator=model,
        cuts=CUTS,
        renormalize=unit,
    )
    for k in range(3):
        order = list_features(model.coef_[k])
        for c, fraction in enumerate(CUTS):
            features = order[: max(1, round(fraction * order.size))]
            assert curve.n_features[k, c] == features.size
            scores = score_naively(method, model, X, k, features, X_test, unit)
            truth = y_test == k
            assert curve.auc[k, c] == about(truth, scores)
            taken = scores >= scores[:, None]  # from each score on
            best = (2 * (taken & truth).sum(axis=1) / (taken.sum(axis=1) + truth.sum())).max()
            if count_near_ties(truth, scores) == 0:
                assert curve.best_f1[k, c] == pytest.approx(best)
            assert curve.f1[k, c] == pytest.approx(f1_score(truth, scores > 0))
            assert np.abs(scores - curve.thresholds[k, c]).min() < 1e-4


def test_rfe_ranks_anew_after_each_cut():
    X, y, X_test, y_test = make_text(2)
    curve = feature_curve(
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        method="rfe",
        estimator=DualLinearSVC(**TIGHT),
        cuts=(11, 20, 40),
    )
    features = list_features(DualLinearSVC(**TIGHT).fit(X, y).coef_[0])
    for c, count in reversed(list(enumerate((11, 20, 40)))):
        features = features[:count]
        again = DualLinearSVC(**TIGHT).fit(keep(X, features, unit=True), y)
        scores = again.decision_function(keep(X_test, features, unit=True))
        assert curve.auc[0, c] == about(y_test > 0, scores)
        features = features[np.argsort(-np.abs(again.coef_[0, features]), kind="stable")]


@pytest.mark.parametrize("method", METHODS)
def test_a_cut_of_everything_scores_as_the_model_does(method):
    X, y, X_test, y_test = make_text()
    model = DualLinearSVC(**TIGHT).fit(X, y)
    used = model.coef_.any(axis=0)
    X, X_test = X[:, used], X_test[:, used]  # retraining must have nothing to drop
    X, X_test = normalize(X), normalize(X_test)
    model = DualLinearSVC(**TIGHT).fit(X, y)
    curve = feature_curve(
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        method=method,
        estimator=model,
        cuts=[1.0],
        aggregate="max",
    )
    scores = model.decision_function(X_test)
    for k in range(3):
        assert curve.auc[k, 0] == pytest.approx(roc_auc_score(y_test == k, scores[:, k]))
        assert curve.f1[k, 0] == pytest.approx(f1_score(y_test == k, scores[:, k] > 0))


SPARSE = [m for m in METHODS if m != "rfe"]


@pytest.mark.parametrize("aggregate", [None, "max"])
@pytest.mark.parametrize("method", SPARSE)
def test_cuts_against_sparsity_are_the_counts_that_leave_so_many_nonzeros(method, aggregate):
    X, y, X_test, y_test = make_text()
    model = DualLinearSVC(**TIGHT).fit(X, y)
    options = {
        "X_test": X_test,
        "y_test": y_test,
        "method": method,
        "estimator": model,
        "aggregate": aggregate,
    }
    wanted = np.array([0.01, 1, 2.5, 4, 1000])
    curve = feature_curve(X, y, cuts=wanted[::-1], against="sparsity", **options)
    assert curve.against == "sparsity"
    np.testing.assert_array_equal(curve.cuts, wanted)
    coef = np.abs(model.coef_).max(axis=0, keepdims=True) if aggregate else model.coef_
    for k in range(3):
        order = list_features(coef[min(k, len(coef) - 1)])
        counts = [X[:, order[:n]].nnz / X.shape[0] for n in range(order.size + 1)]
        expected = [max(1, sum(n <= most for n in counts) - 1) for most in wanted]
        np.testing.assert_array_equal(curve.n_features[k], expected)
        np.testing.assert_allclose(curve.nonzeros[k], [counts[n] for n in expected])
        counted = feature_curve(X, y, cuts=np.unique(expected), **options)
        at = np.searchsorted(counted.cuts, expected)
        tolerance = 1e-3 if method == "warm" else 1e-9  # the way there is another one
        np.testing.assert_allclose(curve.auc[k], counted.auc[k, at], atol=tolerance)
        np.testing.assert_allclose(curve.f1[k], counted.f1[k, at], atol=tolerance)
    n_ranked = np.array([np.count_nonzero(row) for row in coef])[:, None]
    np.testing.assert_allclose(curve.fractions, (curve.n_features / n_ranked).mean(axis=0))
    assert (curve.nonzeros[:, 1:] <= wanted[1:]).all()


@pytest.mark.parametrize("method", METHODS)
def test_nonzeros_are_those_of_the_features_kept(method):
    X, y, X_test, y_test = make_text(2)
    options = {"method": method, "estimator": DualLinearSVC(**TIGHT)}
    curve = feature_curve(X, y, X_test=X_test, y_test=y_test, cuts=(11, 20, 40), **options)
    features = list_features(DualLinearSVC(**TIGHT).fit(X, y).coef_[0])
    for c, count in reversed(list(enumerate((11, 20, 40)))):
        features = features[:count]
        assert curve.nonzeros[0, c] == pytest.approx(X[:, features].nnz / X.shape[0])
        if method == "rfe":
            again = DualLinearSVC(**TIGHT).fit(keep(X, features, unit=True), y)
            features = features[np.argsort(-np.abs(again.coef_[0, features]), kind="stable")]


def test_nonzeros_of_folds_are_averaged_and_of_no_fold_unknown():
    X, y, _, _ = make_text()
    options = {"estimator": DualLinearSVC(**TIGHT), "cuts": (1, 3), "against": "sparsity"}
    curve = feature_curve(X, y, cv=3, **options)
    folds = [
        feature_curve(X[train], y[train], X_test=X[test], y_test=y[test], **options)
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_allclose(curve.nonzeros, np.mean([fold.nonzeros for fold in folds], axis=0))
    np.testing.assert_allclose(curve.auc, np.mean([fold.auc for fold in folds], axis=0))
    choice = curve.smallest_within(name="auc")
    assert choice.against == "sparsity"
    assert choice.cut in (1.0, 3.0)
    Y = np.column_stack([y == 0, np.zeros(75)]).astype(int)
    unseen = feature_curve(X, Y, X_test=X, y_test=Y, **options)
    assert np.isnan(unseen.nonzeros[1]).all()
    assert np.isfinite(unseen.nonzeros[0]).all()


def test_the_usual_sparsities_where_no_cuts_are_given():
    X, y, X_test, y_test = make_text()
    curve = feature_curve(X, y, X_test=X_test, y_test=y_test, against="sparsity")
    np.testing.assert_array_equal(curve.cuts, [2.5, 5, 10, 20, 40, 80])
    everything = feature_curve(
        X, y, X_test=X_test, y_test=y_test, cuts=[np.inf], against="sparsity", random_state=0
    )
    whole = feature_curve(X, y, X_test=X_test, y_test=y_test, cuts=[1.0], random_state=0)
    same(everything, whole)


def same(a, b, tolerance=1e-9):
    for name in ("auc", "best_f1", "f1", "accuracy", "precision_at_20", "n_features"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=tolerance)


def trace(method="mask", **options):
    X, y, X_test, y_test = make_text()
    options = {"estimator": DualLinearSVC(**TIGHT), "cuts": CUTS, "random_state": 0} | options
    return feature_curve(X, y, X_test=X_test, y_test=y_test, method=method, **options)


def test_the_sv_set_without_renormalising_is_the_mask():
    same(trace("sv_set", renormalize=False), trace("mask"))


def test_warm_and_exact_reach_the_same_optimum():
    same(trace("warm", cuts=(0.5, 1.0)), trace("exact", cuts=(0.5, 1.0)), tolerance=1e-3)


@pytest.mark.parametrize("is_folded", [True, False])
@pytest.mark.parametrize("aggregate", [None, "max"])
def test_curves_of_several_methods_are_those_of_each(is_folded, aggregate):
    X, y, X_test, y_test = make_text()
    given = {"cv": 3} if is_folded else {"X_test": X_test, "y_test": y_test}
    options = {"cuts": CUTS, "random_state": 0, "aggregate": aggregate, **given}
    curves = feature_curve(X, y, method=METHODS, **options)
    assert [curve.method for curve in curves] == list(METHODS)
    for curve in curves:
        alone = feature_curve(X, y, method=curve.method, **options)
        same(curve, alone, tolerance=0)
        np.testing.assert_array_equal(curve.thresholds, alone.thresholds)
        np.testing.assert_array_equal(curve.nonzeros, alone.nonzeros)
        np.testing.assert_array_equal(curve.objectives, alone.objectives)
        assert curve.seconds > curve.fit_seconds


def test_each_fold_is_trained_once_for_all_methods(monkeypatch):
    X, y, _, _ = make_text()
    trained = []
    monkeypatch.setattr(
        "spokeshave.curves.fitted.solve", lambda *a, **k: trained.append(1) or solve(*a, **k)
    )
    feature_curve(X, y, cv=3, method=("mask", "sv_set", "warm"), cuts=CUTS)
    assert len(trained) == 3


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing(method):
    one, two = trace(method, n_jobs=1), trace(method, n_jobs=2)
    same(one, two, tolerance=0)
    np.testing.assert_array_equal(one.thresholds, two.thresholds)


@pytest.mark.parametrize("method", METHODS)
def test_more_cuts_than_lanes_are_the_same_cuts(method):
    many = trace(method, cuts=tuple(range(20, 60)))
    few = trace(method, cuts=(20, 37, 59))
    agree = (few.auc - many.auc[:, [0, 17, 39]]) ** 2
    if method == "rfe":
        agree = agree[:, 2:]  # the way to the smaller cuts is another one
    assert agree.max() < 1e-5


@pytest.mark.parametrize("method", METHODS)
def test_permuted_features_change_nothing(method, rng):
    X, y, X_test, y_test = make_text()
    shuffled = rng.permutation(X.shape[1])
    options = {"method": method, "estimator": DualLinearSVC(**TIGHT), "cuts": (0.5, 1.0)}
    one = feature_curve(X, y, X_test=X_test, y_test=y_test, **options)
    two = feature_curve(X[:, shuffled], y, X_test=X_test[:, shuffled], y_test=y_test, **options)
    np.testing.assert_allclose(one.auc, two.auc, atol=1e-3)
    np.testing.assert_array_equal(one.n_features, two.n_features)


def test_multilabel_targets_are_one_problem_per_column():
    X, y, X_test, y_test = make_text()
    indicator = np.column_stack([y == 0, y != 1, y == 2]).astype(int)
    tested = np.column_stack([y_test == 0, y_test != 1, y_test == 2]).astype(int)
    options = {"estimator": DualLinearSVC(**TIGHT), "cuts": CUTS}
    whole = feature_curve(X, indicator, X_test=X_test, y_test=tested, **options)
    assert whole.classes.tolist() == [0, 1, 2]
    for k in range(3):
        one = feature_curve(X, indicator[:, k], X_test=X_test, y_test=tested[:, k], **options)
        assert one.classes.tolist() == [1]
        np.testing.assert_allclose(one.auc[0], whole.auc[k])
        np.testing.assert_allclose(one.best_f1[0], whole.best_f1[k])


def test_sparse_and_dense_targets_and_documents_are_alike():
    X, y, X_test, y_test = make_text()
    Y, Y_test = np.eye(3, dtype=int)[y], np.eye(3, dtype=int)[y_test]
    options = {"estimator": DualLinearSVC(**TIGHT), "cuts": CUTS}
    one = feature_curve(X, Y, X_test=X_test, y_test=Y_test, **options)
    two = feature_curve(
        X.toarray(),
        sparse.csr_matrix(Y),
        X_test=X_test.toarray(),
        y_test=sparse.csr_matrix(Y_test),
        **options,
    )
    same(one, two)


@pytest.mark.parametrize("by", ["information_gain", "bns", "random"])
@pytest.mark.parametrize("method", ["mask", "exact", "warm"])
def test_any_ranking_will_do(by, method):
    X, y, X_test, y_test = make_text(2)
    curve = feature_curve(
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        method=method,
        by=by,
        estimator=DualLinearSVC(**TIGHT),
        cuts=(4, 30),
        random_state=3,
    )
    order = rank_features(X, y, by, random_state=3).order[0]
    for c, count in enumerate((4, 30)):
        if method == "mask":
            model = DualLinearSVC(**TIGHT).fit(X, y)
            w = np.zeros(X.shape[1])
            w[order[:count]] = model.coef_[0, order[:count]]
            scores = X_test @ w
        else:
            again = DualLinearSVC(**TIGHT).fit(keep(X, order[:count], unit=True), y)
            scores = again.decision_function(keep(X_test, order[:count], unit=True))
        assert curve.auc[0, c] == about(y_test > 0, scores)


@pytest.mark.parametrize("aggregate", ["max", "mean"])
def test_one_ranking_for_all_classes(aggregate):
    curve = trace(aggregate=aggregate)
    assert (curve.n_features == curve.n_features[0]).all()
    X, y, X_test, y_test = make_text()
    model = DualLinearSVC(**TIGHT).fit(X, y)
    shared = getattr(np.abs(model.coef_), aggregate)(axis=0)
    kept = np.argsort(-shared, kind="stable")[: curve.n_features[0, 1]]
    scores = X_test[:, kept] @ model.coef_[1, kept]
    assert curve.auc[1, 1] == pytest.approx(roc_auc_score(y_test == 1, scores))


@pytest.mark.parametrize("is_fitted", [True, False])
def test_mask_takes_any_linear_model(is_fitted):
    X, y, X_test, y_test = make_text()
    model = LogisticRegression()
    fitted = LogisticRegression().fit(X, y)
    curve = feature_curve(
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        estimator=fitted if is_fitted else model,
        cuts=[1.0],
    )
    scores = fitted.decision_function(X_test)
    for k in range(3):
        assert curve.auc[k, 0] == pytest.approx(roc_auc_score(y_test == k, scores[:, k]))
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("is_multilabel", [False, True])
def test_cross_validation_is_a_test_set_per_fold(is_multilabel):
    X, y, _, _ = make_text()
    y = np.eye(3, dtype=int)[y] if is_multilabel else y
    options = {"estimator": DualLinearSVC(**TIGHT), "cuts": CUTS}
    curve = feature_curve(X, y, cv=3, **options)
    splitter = KFold(3) if is_multilabel else StratifiedKFold(3)
    folds = [
        feature_curve(X[train], y[train], X_test=X[test], y_test=y[test], **options)
        for train, test in splitter.split(X, y)
    ]
    assert curve.evaluated_on == "cross-validation"
    assert folds[0].evaluated_on == "test set"
    np.testing.assert_allclose(curve.auc, np.mean([fold.auc for fold in folds], axis=0))
    by_fold = np.array([fold.macro("best_f1") for fold in folds])
    np.testing.assert_allclose(curve.macro("best_f1"), by_fold.mean(axis=0))
    np.testing.assert_allclose(
        curve.standard_error("best_f1"), by_fold.std(axis=0, ddof=1) / np.sqrt(3)
    )


def test_five_folds_where_there_is_no_test_set():
    X, y, _, _ = make_text()
    assert feature_curve(X, y, cuts=[5]).counts.won.shape[0] == 5


def test_a_fitted_model_is_not_used_in_folds_it_has_seen():
    X, y, _, _ = make_text()
    model = DualLinearSVC(**TIGHT).fit(X, y)
    fresh = feature_curve(X, y, cv=3, estimator=DualLinearSVC(**TIGHT), cuts=CUTS)
    same(feature_curve(X, y, cv=3, estimator=model, cuts=CUTS), fresh)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("method", METHODS)
def test_a_class_with_a_single_positive(method):
    X, y, X_test, y_test = make_text()
    Y, Y_test = np.eye(3, dtype=int)[y], np.eye(3, dtype=int)[y_test]
    Y[:, 1] = 0
    Y[4, 1] = 1
    curve = feature_curve(X, Y, X_test=X_test, y_test=Y_test, method=method, cuts=CUTS)
    assert np.isfinite(curve.auc).all()
    folds = feature_curve(X, Y, cv=3, method=method, cuts=CUTS)  # no fold both trains and tests it
    assert np.isnan(folds.auc[1]).all()
    assert np.isfinite(folds.macro("auc")).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_class_without_a_training_document_is_left_out(method):
    X, y, X_test, y_test = make_text()
    Y, Y_test = np.eye(3, dtype=int)[y], np.eye(3, dtype=int)[y_test]
    Y[:, 1] = 0
    curve = feature_curve(X, Y, X_test=X_test, y_test=Y_test, method=method, cuts=CUTS)
    assert np.isnan(curve.auc[1]).all()
    assert np.isfinite(curve.auc[[0, 2]]).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_feature_of_one_value_and_ties_in_the_ranking(method):
    X, y, X_test, y_test = make_text(2)
    twice = sparse.hstack([X, X, np.ones((X.shape[0], 1))], format="csr")  # every feature is tied
    test = sparse.hstack([X_test, X_test, np.ones((X_test.shape[0], 1))], format="csr")
    curve = feature_curve(twice, y, X_test=test, y_test=y_test, method=method, cuts=CUTS)
    assert np.isfinite(curve.auc).all()
    counts = curve.n_features[0]
    np.testing.assert_array_equal(counts, np.rint(np.array(CUTS) * counts[-1]))


@pytest.mark.parametrize("method", METHODS)
def test_more_cuts_than_features(method):
    X, y, X_test, y_test = make_text(2, d=4)
    curve = feature_curve(X, y, X_test=X_test, y_test=y_test, method=method)
    assert curve.auc.shape == (1, len(PAPER_FRACTIONS))
    assert curve.n_features.max() <= 4
    assert np.isfinite(curve.auc).all()


def test_documents_of_any_length_are_left_so_by_default():
    X, y, X_test, y_test = make_text()
    options = {"X_test": 3 * X_test, "y_test": y_test, "cuts": CUTS, "random_state": 0}
    left = feature_curve(3 * X, y, method="sv_set", **options)
    same(left, feature_curve(3 * X, y, method="sv_set", renormalize=False, **options))


def test_repeated_entries_are_added_up():
    X, y, X_test, y_test = make_text()
    half = X.copy()
    half.data /= 2
    doubled = sparse.csr_matrix(
        (
            np.repeat(half.data, 2),
            np.repeat(half.indices, 2),
            2 * half.indptr,
        ),
        shape=X.shape,
    )
    options = {"X_test": X_test, "y_test": y_test, "cuts": CUTS, "random_state": 0}
    same(feature_curve(doubled, y, **options), feature_curve(X, y, **options))


def test_a_retraining_that_stops_early_says_so():
    estimator = DualLinearSVC(tol=1e-3, random_state=0)
    X, y, X_test, y_test = make_text()
    estimator.fit(X, y)
    estimator.set_params(tol=1e-9, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol"):
        feature_curve(
            X, y, X_test=X_test, y_test=y_test, method="exact", estimator=estimator, cuts=CUTS
        )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"method": "masc"}, "method must be one of mask, sv_set, exact, warm, rfe. Got 'masc'"),
        ({"method": ()}, "method must be one of mask, sv_set, exact, warm, rfe. Got ''"),
        ({"method": ("mask", "masc")}, "Got 'masc' instead"),
        ({"by": "gini"}, "by must be"),
        ({"aggregate": "median"}, "'max' or 'mean'. Got 'median'"),
        ({"cuts": [2.5]}, "cuts must be"),
        ({"against": "words"}, "against must be 'features' or 'sparsity'. Got 'words' instead"),
        ({"against": "sparsity", "cuts": [0]}, "cuts must be positive numbers of nonzeros per doc"),
        ({"against": "sparsity", "cuts": "log"}, "against sparsity. Got 'log' instead"),
        ({"against": "sparsity", "method": "rfe"}, "Got method='rfe' instead, .*: try 'warm'"),
        ({"cv": 3}, "and not both"),
        ({"y_test": None}, "X_test and y_test"),
        ({"X_test": np.ones((4, 3)), "y_test": [0, 1, 0, 1]}, "must have the 80 features of X"),
        ({"y_test": np.full(75, 9)}, "only have labels of y. Got '9'"),
        ({"y_test": np.ones((75, 2))}, "of the same kind as y"),
        ({"method": "exact", "estimator": LogisticRegression()}, "needs a DualLinearSVC"),
        ({"y": np.zeros(75)}, "at least two classes"),
        ({"y": np.zeros(7)}, "inconsistent numbers of samples"),
    ],
)
def test_bad_input_gets_a_sentence(change, sentence):
    X, y, X_test, y_test = make_text()
    arguments = {"X": X, "y": y, "X_test": X_test, "y_test": y_test} | change
    with pytest.raises(ValueError, match=sentence):
        feature_curve(arguments.pop("X"), arguments.pop("y"), **arguments)


def test_an_estimator_fitted_on_something_else_is_refused():
    X, y, X_test, y_test = make_text()
    test = {"X_test": X_test, "y_test": y_test}
    with pytest.raises(ValueError, match="fitted on the classes of y"):
        feature_curve(X, y, **test, estimator=DualLinearSVC().fit(X, y + 1))
    with pytest.raises(ValueError, match="weights for 3 classes and 80 features"):
        feature_curve(X, y, **test, estimator=DualLinearSVC().fit(X[:, :9], y))
    with pytest.raises(ValueError, match="fitted on 30 documents and X has 75"):
        feature_curve(X, y, **test, estimator=DualLinearSVC().fit(X[:30], y[:30]))
