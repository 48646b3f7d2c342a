"""The shaved SVM against one that is made by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline

from made_up import CUTS, KINDS, TIGHT, TREES, keep, list_features, make_targets, make_text
from spokeshave import (
    DocumentVectorizer,
    DualLinearSVC,
    ShavedSVC,
    feature_curve,
    rank_features,
)
from spokeshave.selection.thresholds import LOWEST_F1, count_steps, tune_thresholds
from spokeshave.svm.calibration import fit_sigmoids
from spokeshave.svm.solver import solve
from spokeshave.utils.validation import binarize, check_targets

FINALS = ["warm", "exact", "mask", "sv_set"]
KINDS_OF_TARGETS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])


def shave(X, y, **options):
    options = {"estimator": DualLinearSVC(**TIGHT), "random_state": 0, "cv": 3} | options
    return ShavedSVC(**options).fit(X, y)


def shave_by_hand(X, y, X_test, n_features, final, unit):
    """Return the scores of each class, made by the definition of the final model."""
    model = DualLinearSVC(**TIGHT).fit(X, y)
    indicator = y if y.ndim == 2 else (y[:, None] == model.classes_)[:, -len(model.coef_) :]
    scores = []
    for k, coef in enumerate(model.coef_):
        order = list_features(coef)
        count = n_features if isinstance(n_features, int) else round(n_features * order.size)
        features = order[:count]
        documents, tests = keep(X, features, unit), keep(X_test, features, unit)
        w, b = np.zeros(X.shape[1]), model.intercept_[k]
        w[features] = coef[features]
        if final == "sv_set":
            w = (model.dual_coef_[[k]] @ documents).toarray().ravel()
        if final in ("warm", "exact"):
            again = DualLinearSVC(**TIGHT).fit(documents, indicator[:, k])
            w, b = again.coef_[0], again.intercept_[0]
        scores.append(tests @ w + b)
    return np.squeeze(np.transpose(scores))


@KINDS_OF_TARGETS
@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("is_default", [True, False])
@pytest.mark.parametrize("n_features", [6, 0.5])
def test_the_final_model_is_what_it_is_defined_to_be(kind, final, is_default, n_features):
    X, y = make_targets(kind)
    X, y, X_test = X[:60], y[:60], X[60:]
    unit = (final != "mask") == is_default
    renormalize = None if is_default else unit
    model = shave(
        X, y, n_features=n_features, final=final, renormalize=renormalize, thresholds="zero"
    )
    assert model.unit_ == unit
    expected = shave_by_hand(X, y, X_test, n_features, final, unit)
    np.testing.assert_allclose(model.decision_function(X_test), expected, atol=1e-3)


@KINDS_OF_TARGETS
@pytest.mark.parametrize("final", FINALS)
def test_predictions_are_those_of_the_scores(kind, final):
    X, y = make_targets(kind)
    model = shave(X, y, n_features=6, final=final)
    scores, predicted = model.decision_function(X), model.predict(X)
    expected = scores.argmax(axis=1) if kind == "labels" else scores > 0
    np.testing.assert_array_equal(predicted, expected)
    assert scores.shape == y.shape or kind == "labels"
    assert (predicted == y).mean() > 0.6


@KINDS_OF_TARGETS
def test_masking_nothing_is_the_plain_svm(kind):
    X, y = make_targets(kind)
    model = shave(X, y, n_features=1.0, final="mask", thresholds="zero")
    plain = DualLinearSVC(**TIGHT).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("renormalize", [True, False])
@pytest.mark.parametrize("final", FINALS)
def test_removed_words_are_never_looked_at(final, renormalize, rng):
    X, y = make_text()
    model = shave(X, y, n_features=4, final=final, renormalize=renormalize)
    assert 4 <= model.features_.size <= 12
    before = model.decision_function(X)
    changed = rng.normal(size=X.shape) * (rng.random(X.shape) < 0.5)
    changed[:, model.features_] = X[:, model.features_].toarray()
    np.testing.assert_allclose(model.decision_function(changed), before, atol=1e-12)
    for k in range(3):  # nor are the words of another class
        kept = model.kept_[[k]].indices
        changed = rng.normal(size=X.shape)
        changed[:, kept] = X[:, kept].toarray()
        found = model.decision_function(changed)[:, k]
        np.testing.assert_allclose(found, before[:, k], atol=1e-12)


@KINDS_OF_TARGETS
@pytest.mark.parametrize("final", FINALS)
def test_attributes_agree_with_one_another(kind, final):
    X, y = make_targets(kind)
    model = shave(X, y, n_features=5, final=final)
    kept = model.kept_.toarray()
    assert kept.shape == model.coef_.shape
    assert set(kept.ravel()) == {0, 1}
    np.testing.assert_array_equal(kept.sum(axis=1), 5)
    assert not model.coef_[kept == 0].any()
    np.testing.assert_array_equal(model.features_, np.flatnonzero(kept.any(axis=0)))
    first = DualLinearSVC(**TIGHT).fit(X, y).coef_
    for k, coef in enumerate(first):
        np.testing.assert_array_equal(np.flatnonzero(kept[k]), np.sort(list_features(coef)[:5]))
    assert not hasattr(model, "curve_")
    assert not hasattr(model, "choice_")


def score_by_folds(X, y, cut, **options):
    """Return the scores of documents by models of the other folds, and the indicator."""
    _, indicator = binarize(check_targets(y))
    scores = np.empty(indicator.shape)
    splitter = KFold(3) if np.ndim(y) == 2 else StratifiedKFold(3)
    for one, other in splitter.split(X, y):
        part = shave(X[one], y[one], n_features=cut, thresholds="zero", **options)
        scores[other] = part.decision_function(X[other]).reshape(len(other), -1)
    return scores, indicator


@KINDS_OF_TARGETS
@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("thresholds", ["auto", "best_f1", "zero"])
def test_thresholds_are_those_of_the_scores_of_all_folds(kind, final, thresholds):
    X, y = make_targets(kind)
    model = shave(X, y, n_features=0.4, final=final, thresholds=thresholds)
    without = shave(X, y, n_features=0.4, final=final, thresholds="zero")
    expected = np.zeros(len(model.coef_))
    is_found = thresholds == "best_f1" or (thresholds == "auto" and kind == "multilabel")
    if is_found:
        scores, indicator = score_by_folds(X, y, 0.4, final=final)
        columns = zip(scores.T, indicator.toarray().T > 0, strict=True)
        expected = tune_thresholds([count_steps(*column) for column in columns], "macro")
    np.testing.assert_allclose(model.thresholds_, expected, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, without.intercept_ - model.thresholds_)
    np.testing.assert_array_equal(model.coef_, without.coef_)
    assert np.abs(expected).max() > 0.01 or not is_found


@pytest.mark.parametrize("given", [0.4, "auto", "choice"])
def test_the_micro_average_has_one_threshold_for_all_classes(given):
    X, y = make_targets("multilabel")
    options = {"cuts": CUTS, "average": "micro"}
    if given == "choice":
        given = shave(X, y, **options).choice_
        options = {}
    thresholds = shave(X, y, n_features=given, **options).thresholds_
    assert thresholds[0] != 0
    np.testing.assert_array_equal(thresholds, thresholds[0])


@pytest.mark.parametrize("final", FINALS)
def test_folds_that_chose_the_cut_give_the_thresholds_of_folds_trained_anew(final):
    X, y = make_text(n=300, d=400, chances=(0.0, 0.04))
    Y = np.column_stack([y == 0, y != 1, y == 2]).astype(int)
    loose = {"estimator": DualLinearSVC(random_state=0), "cuts": CUTS, "final": final}
    model = shave(X, Y, method="mask" if final != "mask" else "warm", **loose)
    again = shave(X, Y, n_features=model.choice_, **loose)
    np.testing.assert_array_equal(model.thresholds_, again.thresholds_)
    assert model.thresholds_.any()


@pytest.mark.parametrize("method", ["mask", "warm"])
def test_thresholds_do_not_depend_on_how_the_cut_was_given(method):
    X, y = make_targets("multilabel")
    model = shave(X, y, method=method, final=method, cuts=CUTS)
    again = shave(X, y, n_features=model.choice_, final=method)
    np.testing.assert_array_equal(model.thresholds_, again.thresholds_)
    assert model.thresholds_.any()


@KINDS_OF_TARGETS
@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("method", ["mask", "rfe"])
def test_auto_shaves_to_what_the_curve_says(kind, average, method):
    X, y = make_targets(kind)
    options = {"method": method, "cuts": CUTS}
    model = shave(X, y, average=average, measure="f1", tolerance=0.03, **options)
    curve = feature_curve(X, y, cv=3, estimator=DualLinearSVC(**TIGHT), random_state=0, **options)
    choice = curve.smallest_within(0.03, "f1", average)
    np.testing.assert_array_equal(model.curve_.f1, curve.f1)
    assert model.choice_.cut == choice.cut
    assert model.choice_.evaluated_on == model.curve_.evaluated_on == "cross-validation"
    fixed = shave(X, y, n_features=float(choice.cut), method=method)
    np.testing.assert_array_equal(model.coef_, fixed.coef_)
    np.testing.assert_array_equal(model.kept_.toarray(), fixed.kept_.toarray())


def test_one_standard_error_by_default():
    X, y = make_text()
    model = shave(X, y, cuts=CUTS)
    assert model.choice_.cut == model.curve_.smallest_within().cut


def test_each_class_may_choose_for_itself():
    X, y = make_targets("multilabel")
    model = shave(X, y, average=None, tolerance=0.02, cuts=CUTS, final="exact")
    choice = model.curve_.smallest_within(0.02, "best_f1", average=None)
    assert len(set(choice.cut)) > 1
    np.testing.assert_array_equal(model.choice_.cut, choice.cut)
    first = DualLinearSVC(**TIGHT).fit(X, y).coef_
    expected = np.rint(choice.cut * np.count_nonzero(first, axis=1))
    np.testing.assert_array_equal(model.kept_.toarray().sum(axis=1), expected)
    for k, cut in enumerate(choice.cut):
        alone = shave(X, y, n_features=float(cut), final="exact")
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[k])


@pytest.mark.parametrize("average", ["macro", None])
def test_a_choice_of_ones_own_says_what_it_was_made_on(average):
    X, y = make_text()
    curve = feature_curve(X[:60], y[:60], X_test=X[60:], y_test=y[60:], cuts=CUTS, random_state=0)
    choice = curve.smallest_within(0.02, average=average)
    model = shave(X[:60], y[:60], n_features=choice)
    assert model.choice_ is choice
    assert model.choice_.evaluated_on == "test set"
    cuts = np.broadcast_to(choice.cut, 3)
    for k, cut in enumerate(cuts):
        alone = shave(X[:60], y[:60], n_features=float(cut))
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[k])
    assert not hasattr(model, "curve_")


@pytest.mark.parametrize("aggregate", ["max", "mean"])
@pytest.mark.parametrize("final", FINALS)
def test_classes_may_share_their_features(aggregate, final):
    X, y = make_text()
    model = shave(X, y, aggregate=aggregate, final=final, n_features=6)
    scores = getattr(np.abs(DualLinearSVC(**TIGHT).fit(X, y).coef_), aggregate)(axis=0)
    expected = np.sort(list_features(scores)[:6])
    np.testing.assert_array_equal(model.features_, expected)
    for k in range(3):
        np.testing.assert_array_equal(np.sort(model.kept_[[k]].indices), expected)


def test_the_shaved_svm_ranks_by_any_criterion():
    X, y = make_text()
    model = shave(X, y, by="bns", n_features=6)
    order = rank_features(X, y, "bns").order
    for k in range(3):
        np.testing.assert_array_equal(np.sort(model.kept_[[k]].indices), np.sort(order[k, :6]))


@pytest.mark.parametrize("final", FINALS)
def test_documents_of_any_length_are_left_so(final):
    X, y = make_text()
    model = shave(3 * X, y, n_features=6, final=final)
    assert not model.unit_
    expected = shave_by_hand(3 * X, y, 3 * X, 6, final, unit=False)
    np.testing.assert_allclose(model.decision_function(3 * X), expected, atol=1e-3)


@pytest.mark.parametrize("final", FINALS)
def test_sparse_and_dense_documents_are_alike(final):
    X, y = make_text()
    one, two = shave(X, y, final=final, cuts=CUTS), shave(X.toarray(), y, final=final, cuts=CUTS)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X.toarray()))


@pytest.mark.parametrize("as_sparse", [True, False])
def test_sparse_and_dense_targets_are_alike(as_sparse):
    X, y = make_targets("multilabel")
    model = shave(X, sparse.csr_matrix(y) if as_sparse else y.astype(bool), cuts=CUTS)
    np.testing.assert_array_equal(model.coef_, shave(X, y, cuts=CUTS).coef_)
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("final", FINALS)
def test_threads_change_nothing(final):
    X, y = make_text(6)
    one, two = (
        shave(X, y, final=final, cuts=CUTS, n_jobs=n, estimator=DualLinearSVC(random_state=0))
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


def test_the_seed_is_the_estimators_by_default():
    X, y = make_text()
    estimator = DualLinearSVC(tol=0.1, random_state=3)
    one, two = (
        shave(X, y, estimator=estimator, n_features=20, final="exact", random_state=None)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_repeated_entries_are_added_up_and_left_as_they_are():
    X, y = make_text()
    model = shave(X, y, n_features=6)
    parts = np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr
    doubled = sparse.csr_matrix(parts, shape=X.shape)
    for part in (doubled.data, doubled.indices, doubled.indptr):
        part.flags.writeable = False
    np.testing.assert_allclose(model.decision_function(doubled), model.decision_function(X))
    assert doubled.nnz == 2 * X.nnz


def test_an_empty_document_is_scored_by_the_intercept():
    X, y = make_text()
    model = shave(X, y, n_features=6)
    np.testing.assert_allclose(
        model.decision_function(sparse.csr_matrix((1, 40))), model.intercept_[None]
    )


@pytest.mark.parametrize("by", ["normal", "information_gain"])
@pytest.mark.parametrize("final", FINALS)
def test_a_class_without_documents_is_never_predicted(final, by):
    X, y = make_text()
    Y = np.eye(3, dtype=int)[y]
    Y[:, 1] = 0
    model = shave(X, Y, final=final, by=by, cuts=CUTS)
    assert not model.predict(X)[:, 1].any()
    assert model.predict(X)[:, [0, 2]].any()
    assert model.thresholds_[1] == 0


@pytest.mark.parametrize("final", FINALS)
def test_labels_may_be_text(final):
    X, y = make_text(2)
    names = np.array(["ham", "spam"])[y]
    model, numbers = (shave(X, labels, final=final, n_features=9) for labels in (names, y))
    assert model.classes_.tolist() == ["ham", "spam"]
    assert model.decision_function(X).shape == (90,)
    np.testing.assert_array_equal(model.predict(X), np.array(["ham", "spam"])[numbers.predict(X)])
    np.testing.assert_array_equal(model.predict(X) == "spam", model.decision_function(X) > 0)


@KINDS_OF_TARGETS
def test_a_shaved_svm_survives_pickling_and_cloning(kind):
    X, y = make_targets(kind)
    model = shave(X, y, cuts=CUTS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert str(again.choice_) == str(model.choice_)
    with_choice = clone(model).set_params(n_features=model.choice_)
    fitted = clone(with_choice).fit(X, y)
    np.testing.assert_array_equal(fitted.coef_, model.coef_)


def test_a_pipeline_from_text():
    model = make_pipeline(DocumentVectorizer(), ShavedSVC(n_features=2, random_state=0))
    model.fit(TREES, KINDS)
    assert model.predict(["an acorn of the oak", "a grey ash"]).tolist() == ["oak", "ash"]
    assert model[-1].unit_
    assert model[-1].features_.size == 2


def test_any_splitter_will_do():
    X, y = make_text()
    folds = ShuffleSplit(2, random_state=0)
    model = shave(X, y, cv=folds, cuts=CUTS)
    assert model.curve_.counts.won.shape[0] == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"final": "rfe"}, "final must be one of 'warm', 'exact', 'mask', 'sv_set'. Got 'rfe'"),
        ({"thresholds": "f1"}, "thresholds must be one of 'auto', 'best_f1', 'zero'. Got 'f1'"),
        ({"average": "mean"}, "average must be one of 'macro', 'micro', None. Got 'mean' instead"),
        ({"aggregate": "min", "n_features": 3}, "aggregate must be one of 'max', 'mean', None. G"),
        ({"n_features": 0}, "a whole number from 1 to 40, .* Got 0 instead"),
        ({"n_features": 41}, "a whole number from 1 to 40, .* Got 41 instead"),
        ({"n_features": 1.01}, "a share above 0 and up to 1.0. Got 1.01 instead"),
        ({"n_features": "few"}, "n_features must be 'auto', .* Got 'few' instead"),
        ({"estimator": LogisticRegression()}, "must be a DualLinearSVC. Got LogisticRegression"),
        ({"method": "masc"}, "method must be one of mask, .* Got 'masc' instead"),
        ({"by": "gini"}, "by must be one of"),
        ({"measure": "f2"}, "measure must be one of 'auc', 'best_f1', .* Got 'f2' instead"),
        ({"n_features": True}, "n_features must be 'auto', .* Got True instead"),
        ({"average": None}, "tolerance must be given where each class has its own cut"),
        ({"tolerance": -0.1}, "tolerance must be a number that is not negative. Got -0.1 instead"),
        ({"cuts": "linear"}, "cuts must be 'log' or a list of numbers. Got 'linear' instead"),
    ],
)
def test_bad_options_of_the_shaved_svm_get_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        shave(*make_text(), **options)


@pytest.mark.filterwarnings("ignore:Stopped after max_iter")
def test_a_final_model_that_stops_early_says_so():
    X, y = make_text()
    svc = DualLinearSVC(tol=1e-12, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Retraining stopped after max_iter=1 passes"):
        ShavedSVC(svc, n_features=0.5).fit(X, y)


def test_a_choice_for_other_classes_is_refused():
    X, y = make_text()
    choice = feature_curve(X, y, cv=3, cuts=CUTS, random_state=0).best(average=None)
    with pytest.raises(ValueError, match=r"of the 2 classes\. Got one for each of 3 instead"):
        shave(X, np.eye(3, dtype=int)[y][:, :2], n_features=choice)


def test_what_an_earlier_fit_chose_is_forgotten():
    X, y = make_text()
    model = ShavedSVC(DualLinearSVC(**TIGHT), cuts=CUTS, cv=3).fit(X, y)
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
        ShavedSVC(n_features=1).fit(X, y)


PROBABLE = DualLinearSVC(probability=True, random_state=0)


@KINDS_OF_TARGETS
@pytest.mark.parametrize("final", FINALS)
def test_probabilities_follow_from_scores(kind, final):
    X, y = make_targets(kind)
    model = shave(X, y, estimator=PROBABLE, n_features=6, final=final)
    scores, probability = model.decision_function(X), model.predict_proba(X)
    assert probability.shape == (len(X.indptr) - 1, len(model.classes_))
    assert ((probability > 0) & (probability < 1)).all()
    slope, offset = model.calibration_
    assert (slope > 0).all()  # the higher the score, the likelier the class
    expected = 1 / (1 + np.exp(-(slope * scores.reshape(len(scores), -1) + offset)))
    if kind == "binary":
        expected = np.column_stack([1 - expected, expected])
    if kind == "labels":
        expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probability, expected)
    if kind != "multilabel":
        np.testing.assert_allclose(probability.sum(axis=1), 1)
    if kind == "binary":
        order = np.argsort(scores)
        assert (np.diff(probability[order, 1]) >= 0).all()


@KINDS_OF_TARGETS
@pytest.mark.parametrize("n_features", [6, "auto"])
def test_sigmoids_are_those_of_scores_that_folds_give_their_test_documents(kind, n_features):
    X, y = make_targets(kind)
    estimator = DualLinearSVC(**TIGHT, probability=True)
    model = shave(X, y, estimator=estimator, n_features=n_features, cuts=CUTS)
    cut = model.choice_ if n_features == "auto" else n_features
    scores, indicator = score_by_folds(X, y, cut)
    expected = fit_sigmoids(scores - model.thresholds_, indicator, np.ones(len(scores)))
    np.testing.assert_allclose(model.calibration_, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("probability", [False, True])
def test_each_fold_is_trained_once(monkeypatch, probability):
    X, y = make_targets("multilabel")
    trained = []
    monkeypatch.setattr(
        "spokeshave.curves.fitted.solve", lambda *a, **k: trained.append(1) or solve(*a, **k)
    )
    shave(X, y, estimator=DualLinearSVC(**TIGHT, probability=probability), cuts=CUTS)
    assert len(trained) == 3  # for the curve, the thresholds and the calibration


@KINDS_OF_TARGETS
def test_probabilities_change_nothing_else(kind):
    X, y = make_targets(kind)
    model, plain = (
        shave(X, y, estimator=svm, cuts=CUTS) for svm in (PROBABLE, DualLinearSVC(random_state=0))
    )
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)
    assert model.choice_.cut == plain.choice_.cut
    assert model.calibration_.shape == (2, len(model.coef_))
    assert not hasattr(plain, "calibration_")
    assert model.estimator is PROBABLE
    assert PROBABLE.probability


@pytest.mark.parametrize("kind", ["binary", "multilabel"])
def test_probabilities_are_better_than_the_share_of_the_class(kind):
    X, y = make_text(2, n=300)
    Y = np.column_stack([y == 0, y == 1]).astype(int)
    target = Y if kind == "multilabel" else y
    model = shave(X[:150], target[:150], estimator=PROBABLE, n_features=12)
    found, share = model.predict_proba(X[150:]), Y[:150].mean(axis=0)
    assert ((found - Y[150:]) ** 2).mean() < 0.8 * ((share - Y[150:]) ** 2).mean()


def test_without_probabilities_there_is_no_method_for_them():
    X, y = make_text()
    model = shave(X, y, n_features=6)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "calibration_")
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as caught:
        model.predict_proba(X)
    assert "needs an estimator with probability=True" in str(caught.value.__cause__)
    assert not hasattr(ShavedSVC(), "predict_proba")
    assert hasattr(ShavedSVC(PROBABLE), "predict_proba")


def test_probabilities_of_a_class_with_one_document_get_a_sentence():
    X, y = make_text()
    names = np.array(["ash", "oak", "yew"])[y]
    names[names == "yew"] = "oak"
    names[5] = "yew"
    with pytest.raises(ValueError, match=r"two documents of each class or more\. Got one of 'yew'"):
        shave(X, names, estimator=PROBABLE, n_features=6)


def test_a_class_without_documents_has_a_low_probability():
    X, y = make_targets("multilabel")
    y = np.column_stack([y, np.zeros(len(y), int)])
    model = shave(X, y, estimator=PROBABLE, n_features=6)
    assert model.predict_proba(X)[:, 3].max() < 0.05


@KINDS_OF_TARGETS
def test_the_svm_on_all_features_is_there(kind):
    X, y = make_targets(kind)
    for svm in (PROBABLE, DualLinearSVC(random_state=0)):
        model = shave(X, y, estimator=svm, n_features=6)
        plain = DualLinearSVC(random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.estimator_.coef_, plain.coef_)
        assert not model.estimator_.probability


def test_probabilities_of_an_earlier_fit_are_forgotten():
    X, y = make_text()
    model = ShavedSVC(clone(PROBABLE), n_features=6).fit(X, y)
    model.set_params(estimator__probability=False).fit(X, y)
    assert not hasattr(model, "calibration_")


def test_a_class_that_is_hardly_found_is_not_predicted_everywhere():
    X, _ = make_text(3, n=900)
    rng = np.random.default_rng(0)
    hopeless, easy = np.zeros(900, int), (X[:, 0].toarray().ravel() > 0).astype(int)
    hopeless[rng.choice(900, 4, replace=False)] = 1  # of no word in particular
    y = np.column_stack([easy, hopeless])
    model = ShavedSVC(n_features=0.5, cv=3, random_state=0).fit(X, y)
    found = feature_curve(X, y, cv=3, method="warm", cuts=(0.5,), random_state=0)
    assert found.best_f1[1, 0] < LOWEST_F1 < found.best_f1[0, 0]
    assert model.predict(X)[:, 1].mean() < 0.1


@pytest.mark.parametrize("average", ["macro", None])
@pytest.mark.parametrize("kind", ["labels", "multilabel"])
def test_a_choice_of_a_sparsity_keeps_features_up_to_it(kind, average):
    X, y = make_targets(kind)
    cuts = (0.5, 1.5, 4.0)
    curve = feature_curve(X, y, cv=3, cuts=cuts, against="sparsity", random_state=0)
    choice = curve.smallest_within(0.01, average=average)
    model = shave(X, y, n_features=choice)
    most = np.broadcast_to(choice.cut, 3)
    ranking = rank_features(X, y, estimator=DualLinearSVC(**TIGHT))
    for k in range(3):
        kept, order = model.kept_[k].indices, list_features(ranking.scores[k])
        np.testing.assert_array_equal(np.sort(kept), np.sort(order[: kept.size]))
        assert X[:, kept].nnz / X.shape[0] <= most[k]
        assert X[:, order[: kept.size + 1]].nnz / X.shape[0] > most[k]
    assert model.choice_ is choice


def test_parameters_of_the_svm_need_no_estimator():
    X, y = make_targets("labels")
    given = {"C": 0.3, "loss": "squared_hinge", "class_weight": "balanced"}
    given |= {"prior": "bns", "prior_strength": 0.5}
    made = shave(X, y, estimator=DualLinearSVC(**TIGHT, **given), n_features=6)
    other = DualLinearSVC(C=7, prior=np.full(X.shape[1], 2.0), **TIGHT)
    for estimator in (DualLinearSVC(**TIGHT), other):  # what is given replaces the estimator's
        found = shave(X, y, estimator=estimator, n_features=6, **given)
        np.testing.assert_array_equal(found.coef_, made.coef_)
        assert found.estimator is estimator
    assert other.C == 7
    alone = ShavedSVC(n_features=6, random_state=0, C=0.3).fit(X, y)
    assert alone.estimator_.C == 0.3
    assert shave(X, y, estimator=other, n_features=6).estimator_.C == 7


def test_the_parameters_can_be_searched_without_an_estimator():
    X, y = make_targets("labels")
    model = ShavedSVC(n_features=6, final="mask", random_state=0)
    found = GridSearchCV(model, {"C": [0.3, 2.0]}, cv=2).fit(X, y)
    assert found.best_params_["C"] == found.best_estimator_.estimator_.C
    with pytest.raises(ValueError, match=r"C must be a positive number. Got -1 instead"):
        clone(model).set_params(C=-1).fit(X, y)


@KINDS_OF_TARGETS
@pytest.mark.parametrize("final", FINALS)
def test_a_weight_is_a_repetition(kind, final, rng):
    X, y = make_targets(kind)
    weight = rng.integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    options = {"n_features": 20, "final": final, "thresholds": "best_f1"}
    options["estimator"] = DualLinearSVC(**TIGHT, probability=True)

    def split(documents):
        fold = documents // 3 % 3
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]

    weighted = ShavedSVC(cv=split(np.arange(len(y))), **options).fit(X, y, sample_weight=weight)
    expected = ShavedSVC(cv=split(repeated), **options).fit(X[repeated], y[repeated])
    for name in ("coef_", "intercept_", "thresholds_", "calibration_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(expected, name), atol=1e-3)
    unweighted = ShavedSVC(cv=split(np.arange(len(y))), **options).fit(X, y)
    assert not np.allclose(unweighted.thresholds_, weighted.thresholds_, atol=1e-3)


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3)])
def test_documents_of_weight_zero_are_left_out(cv):
    X, y = make_targets("labels")
    weight = (np.arange(len(y)) % 4 > 0).astype(float)
    used = np.flatnonzero(weight)
    model = shave(X, y, cuts=CUTS, cv=cv, thresholds="best_f1")
    model.fit(X, y, weight)
    expected = shave(X[used], y[used], cuts=CUTS, cv=cv, thresholds="best_f1")
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)
    np.testing.assert_array_equal(model.curve_.auc, expected.curve_.auc)


def test_a_bad_weight_gets_a_sentence():
    X, y = make_targets("labels")
    with pytest.raises(ValueError, match=r"sample_weight must not be negative"):
        ShavedSVC(n_features=3).fit(X, y, sample_weight=-np.ones(len(y)))
