"""Stability against refitted models, one class and one cut at a time."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import made_up
from made_up import CUTS, keep
from spokeshave import DualLinearSVC, rank_features, stability

# The dual of the squared hinge has one optimum: its support vectors can be compared.
TIGHT = {"loss": "squared_hinge", "tol": 1e-10, "max_iter": 100_000, "random_state": 0}
make_text = partial(made_up.make_text, n=75, d=50, chances=(0.02, 0.3), has_empty=False)
NAMES = ("cosine", "pearson", "overlap", "containment", "n_support")


def compare_naively(model, again, k, features):
    """Return cosine, Pearson, overlap, containment and the number of support vectors."""
    masked, found = model.coef_[k, features], again.coef_[0, features]
    before = set(model.dual_coef_[[k]].indices)
    after = set(again.dual_coef_.indices)
    return (
        masked @ found / (np.linalg.norm(masked) * np.linalg.norm(found)),
        np.corrcoef(masked, found)[0, 1],
        len(before & after) / len(before | after),
        len(before & after) / len(after),
        len(after),
    )


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("method", ["warm", "exact"])
def test_values_are_those_of_refitted_models(method, is_binary, unit):
    X, y = make_text(is_binary=is_binary)
    model = DualLinearSVC(**TIGHT).fit(X, y)
    found = stability(
        X, y, estimator=DualLinearSVC(**TIGHT), method=method, cuts=CUTS, renormalize=unit
    )
    for k in range(3):
        order = np.argsort(-np.abs(model.coef_[k]), kind="stable")
        order = order[: np.count_nonzero(model.coef_[k])]
        for c, fraction in enumerate(CUTS):
            features = order[: round(fraction * order.size)]
            again = DualLinearSVC(**TIGHT).fit(keep(X, features, unit), y == k)
            expected = compare_naively(model, again, k, features)
            values = [getattr(found, name)[k, c] for name in NAMES]
            np.testing.assert_allclose(values, expected, atol=1e-4)


def test_rfe_compares_the_features_it_is_left_with():
    X, y = make_text(2)
    model = DualLinearSVC(**TIGHT).fit(X, y)
    found = stability(X, y, estimator=model, method="rfe", cuts=(5, 20, 40))
    features = np.argsort(-np.abs(model.coef_[0]), kind="stable")
    for c, count in reversed(list(enumerate((5, 20, 40)))):
        features = features[:count]
        again = DualLinearSVC(**TIGHT).fit(keep(X, features, unit=True), y)
        expected = compare_naively(model, again, 0, features)
        values = [getattr(found, name)[0, c] for name in NAMES]
        np.testing.assert_allclose(values, expected, atol=1e-4)
        features = features[np.argsort(-np.abs(again.coef_[0, features]), kind="stable")]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("method", ["warm", "exact", "rfe"])
def test_a_cut_of_everything_changes_nothing(method, loss):
    X, y = make_text(n=40, d=120)  # more words than documents: the dual has one optimum
    X = normalize(X[:, np.flatnonzero(np.diff(X.tocsc().indptr) > 5)])
    model = DualLinearSVC(**TIGHT | {"loss": loss}).fit(X, y)
    assert model.coef_.all()
    found = stability(X, y, estimator=model, method=method, cuts=[1.0])
    np.testing.assert_allclose(found.cosine, 1, atol=1e-6)
    np.testing.assert_allclose(found.pearson, 1, atol=1e-6)
    np.testing.assert_array_equal(found.overlap, 1)
    np.testing.assert_array_equal(found.containment, 1)
    np.testing.assert_array_equal(found.n_support.ravel(), np.diff(model.dual_coef_.indptr))


@pytest.mark.parametrize("by", ["information_gain", "random"])
def test_any_ranking_will_do(by):
    X, y = make_text(2)
    model = DualLinearSVC(**TIGHT).fit(X, y)
    found = stability(X, y, estimator=model, by=by, cuts=[10], random_state=3)
    features = rank_features(X, y, by, random_state=3).order[0, :10]
    again = DualLinearSVC(**TIGHT).fit(keep(X, features, unit=True), y)
    expected = compare_naively(model, again, 0, features)
    np.testing.assert_allclose([getattr(found, n)[0, 0] for n in NAMES], expected, atol=1e-4)


def test_macro_is_the_mean_of_the_classes_known():
    X, y = make_text()
    found = stability(X, y, cuts=(1, 30), random_state=0)
    for name in NAMES[2:]:
        np.testing.assert_allclose(found.macro(name), getattr(found, name).mean(axis=0))
    assert np.isnan(found.macro("pearson")[0])
    assert np.isfinite(found.macro("pearson")[1])


def test_one_feature_has_a_cosine_and_no_correlation():
    X, y = make_text()
    found = stability(X, y, cuts=[1], random_state=0)
    assert np.isnan(found.pearson).all()
    np.testing.assert_allclose(found.cosine, 1)


def test_no_feature_has_neither():
    X, y = make_text()
    Y = np.eye(3, dtype=int)[y]
    Y[:, 1] = 0  # nothing can be told about a class without documents
    found = stability(X, Y, by="information_gain", cuts=[4], random_state=0)
    assert np.isnan(found.cosine[1, 0])
    assert np.isnan(found.pearson[1, 0])
    assert np.isfinite(found.cosine[[0, 2], 0]).all()


def test_threads_change_nothing():
    X, y = make_text(6)
    one, two = (stability(X, y, cuts=CUTS, n_jobs=n_jobs, random_state=0) for n_jobs in (1, 2))
    for name in NAMES:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_the_seed_is_the_estimators_by_default():
    X, y = make_text()
    model = DualLinearSVC(tol=0.1, random_state=5)
    one, two = (stability(X, y, estimator=model, cuts=CUTS) for _ in range(2))
    for name in NAMES:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("length", [1.0, 3.0])
def test_documents_are_brought_to_length_one_if_they_have_it(length):
    X, y = make_text()
    options = {"estimator": DualLinearSVC(**TIGHT), "cuts": CUTS}
    found = stability(length * X, y, **options)
    expected = stability(length * X, y, renormalize=length == 1, **options)
    other = stability(length * X, y, renormalize=length != 1, **options)
    np.testing.assert_array_equal(found.cosine, expected.cosine)
    assert np.abs(found.cosine - other.cosine).max() > 1e-3


def test_classes_are_labels_or_columns():
    X, y = make_text()
    names = np.array(["ash", "oak", "yew"])[y]
    three = stability(X, names, cuts=CUTS, random_state=0)
    assert three.classes.tolist() == ["ash", "oak", "yew"]
    assert three.cosine.shape == (3, 4)
    two = stability(X, names == "oak", cuts=CUTS, random_state=0)
    assert two.classes.tolist() == [True]
    assert two.cosine.shape == (1, 4)
    columns = stability(X, np.eye(3, dtype=int)[y], cuts=CUTS, random_state=0)
    assert columns.classes.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(columns.cosine, three.cosine)
    np.testing.assert_array_equal(columns.cuts, CUTS)


def test_a_fitted_estimator_is_used_as_it_is():
    X, y = make_text()
    model = DualLinearSVC(**TIGHT).fit(X, y)
    fresh = stability(X, y, estimator=DualLinearSVC(**TIGHT), cuts=CUTS)
    fitted = stability(X, y, estimator=model, cuts=CUTS)
    np.testing.assert_array_equal(fitted.cosine, fresh.cosine)
    with pytest.raises(ValueError, match="fitted on 30 documents and X has 75"):
        stability(X, y, estimator=DualLinearSVC().fit(X[:30], y[:30]))


def test_results_survive_pickling():
    X, y = make_text()
    found = stability(X, y, cuts=CUTS, random_state=0)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.overlap, found.overlap)
    assert found != again  # compared as wholes: arrays have no truth value


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "mask"}, "method must be one of exact, warm, rfe. Got 'mask' instead."),
        ({"method": "hot"}, "method must be one of exact, warm, rfe. Got 'hot' instead."),
        ({"estimator": LinearSVC()}, "estimator must be a DualLinearSVC. Got LinearSVC instead."),
        ({"by": "gini"}, "by must be one of .* Got 'gini' instead."),
        ({"cuts": [2.5]}, "cuts must be fractions .* Got"),
        ({"y": np.zeros(75)}, "y must have at least two classes"),
        ({"y": np.zeros(7)}, "inconsistent numbers of samples"),
    ],
)
def test_bad_input_gets_a_sentence(options, sentence):
    X, y = make_text()
    with pytest.raises(ValueError, match=sentence):
        stability(X, **{"y": y} | options)


@pytest.mark.filterwarnings("ignore:Stopped after max_iter")
def test_retraining_that_stops_early_says_so():
    X, y = make_text()
    svc = DualLinearSVC(tol=1e-12, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Retraining stopped after max_iter=1 passes"):
        stability(X, y, estimator=svc, cuts=(0.5, 1.0))
