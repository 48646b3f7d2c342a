"""The shaped SVM against a shaper and an SVM for each class, fitted by hand."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from made_up import TIGHT, make_targets
from spokeshave import BNSScaler, DualLinearSVC, FeatureShaper, LocalProbabilityShaper, ShapedSVC
from spokeshave.shaping import levels
from spokeshave.shaping.shaped_svc import fit_shaper, fit_transforms, read_documents
from spokeshave.utils.validation import binarize, check_targets

FORMS = pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])
KINDS_OF_TARGETS = pytest.mark.parametrize(
    "kind", ["binary", "labels", "multilabel with an empty class"]
)
VARIANTS = {
    "default": {},
    "raw": {"shape": None},
    "binary": {"shape": "binary"},
    "log odds": {"shape": "log_odds"},
    "few neighbours": {"shape": LocalProbabilityShaper(n_neighbors=10)},
    "zero as a value": {"shape": LocalProbabilityShaper(zero="value")},
    "times": {"scale": "times_bns", "shape": "log_odds"},
    "raw times": {"scale": "times_bns", "shape": None},
    "another smallest rate": {"scale": BNSScaler(smallest_rate="1/n")},
    "no scale": {"scale": None},
    "raw without a scale": {"shape": None, "scale": None},
    "l1": {"norm": "l1"},
    "max": {"norm": "max", "shape": "log_odds"},
    "no norm": {"norm": None},
    "nothing": {"shape": None, "scale": None, "norm": None},
}
EVERY_VARIANT = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())


def make_problem(kind, make=sparse.csr_matrix):
    """Return documents, targets, and other documents with values that were not there."""
    X, y = make_targets(kind.split()[0])
    if "empty" in kind:
        y = np.column_stack([y, np.zeros(len(y), int)])
    return make(X), y, make(sparse.csr_matrix(X[::-1] * 1.1))


def list_classes(y):
    """Return which documents are of each class; as an indicator where it may be none."""
    if y.ndim == 2:
        return [sparse.csc_matrix(label[:, None]) for label in y.T]
    classes = np.unique(y)
    return [y == label for label in (classes[1:] if classes.size == 2 else classes)]


def score_by_hand(X, y, X_test, *, svc=None, **options):
    """Return the scores of each class, from a shaper and an SVM of its own."""
    scores = []
    for label in list_classes(y):
        shaper, model = FeatureShaper(**options), clone(svc or DualLinearSVC(**TIGHT))
        model.fit(shaper.fit_transform(X, label), label)
        scores.append(model.decision_function(shaper.transform(X_test)).ravel())
    return np.squeeze(np.transpose(scores))


def fit(X, y, **options):
    return ShapedSVC(DualLinearSVC(**TIGHT), **options).fit(X, y)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("binary", sparse.csr_matrix.toarray),
        ("labels", sparse.csr_matrix),
        ("labels", sparse.csr_matrix.toarray),
        ("multilabel with an empty class", sparse.csr_matrix),
    ],
)
@EVERY_VARIANT
def test_scores_are_those_of_a_shaper_and_an_svm_for_each_class(kind, make, options):
    X, y, X_test = make_problem(kind, make)
    scores = fit(X, y, **options).decision_function(X_test)
    expected = score_by_hand(X, y, X_test, **options)
    assert scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_it_is_what_scikit_learn_makes_of_the_parts():
    X, y, X_test = make_problem("labels")
    peer = OneVsRestClassifier(make_pipeline(FeatureShaper(), DualLinearSVC(**TIGHT))).fit(X, y)
    scores = fit(X, y).decision_function(X_test)
    np.testing.assert_allclose(scores, peer.decision_function(X_test), atol=1e-5)


def test_dense_documents_may_keep_zero_apart():
    X, y, X_test = make_problem("labels", sparse.csr_matrix.toarray)
    shape = LocalProbabilityShaper(zero="bin")
    scores = fit(X, y, shape=shape).decision_function(X_test)
    X, X_test = sparse.csr_matrix(X), sparse.csr_matrix(X_test)
    np.testing.assert_allclose(scores, fit(X, y).decision_function(X_test), atol=1e-6)


@KINDS_OF_TARGETS
def test_labels_follow_from_scores(kind):
    X, y, X_test = make_problem(kind)
    model = fit(X, y)
    scores = model.decision_function(X_test)
    if kind == "binary":
        expected = (scores > 0).astype(int)
    else:
        expected = scores.argmax(axis=1) if y.ndim == 1 else (scores > 0).astype(int)
    np.testing.assert_array_equal(model.predict(X_test), expected)
    assert model.multilabel_ == (y.ndim == 2)
    n_classes = 1 if kind == "binary" else scores.shape[1]
    assert model.coef_.shape == (n_classes, 40)
    assert model.intercept_.shape == (n_classes,)


def test_a_class_without_documents_is_never_predicted():
    X, y, X_test = make_problem("multilabel with an empty class")
    assert not fit(X, y).predict(X_test)[:, 3].any()


@pytest.mark.parametrize("make_y", [list, pd.Series, pl.Series])
def test_labels_may_be_text(make_y):
    X, y, _ = make_problem("labels")
    names = np.array(["ash", "elm", "oak"])
    model = fit(X, make_y(names[y]))
    assert model.classes_.tolist() == ["ash", "elm", "oak"]
    np.testing.assert_array_equal(model.predict(X), names[fit(X, y).predict(X)])


def test_targets_may_be_sparse():
    X, y, X_test = make_problem("multilabel")
    expected = fit(X, y).decision_function(X_test)
    scores = fit(X, sparse.csr_matrix(y)).decision_function(X_test)
    np.testing.assert_array_equal(scores, expected)


@KINDS_OF_TARGETS
@FORMS
@pytest.mark.parametrize("shape", ["local_probability", None])
def test_threads_change_nothing(kind, make, shape, monkeypatch):
    X, y, X_test = make_problem(kind, make)
    alone = ShapedSVC(shape=shape, random_state=0).fit(X, y)
    monkeypatch.setattr(levels, "WORTH_A_THREAD", 100)
    together = ShapedSVC(shape=shape, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(together.coef_, alone.coef_)
    np.testing.assert_array_equal(together.intercept_, alone.intercept_)
    scores = together.decision_function(X_test)
    np.testing.assert_array_equal(scores, alone.decision_function(X_test))


@KINDS_OF_TARGETS
def test_probabilities_are_those_of_each_class(kind):
    X, y, X_test = make_problem(kind)
    svc = DualLinearSVC(probability=True, **TIGHT)
    model = ShapedSVC(svc).fit(X, y)
    expected = []
    for label in list_classes(y):
        shaper = FeatureShaper()
        by_hand = clone(svc).fit(shaper.fit_transform(X, label), label)
        expected.append(by_hand.predict_proba(shaper.transform(X_test))[:, -1])
    expected = np.transpose(expected)
    if kind == "binary":
        expected = np.column_stack([1 - expected, expected])
    elif kind == "labels":
        expected = expected / expected.sum(axis=1, keepdims=True)
    probability = model.predict_proba(X_test)
    np.testing.assert_allclose(probability, expected, atol=1e-5)
    assert model.calibration_.shape == (2, len(model.coef_))
    if y.ndim == 1:
        np.testing.assert_allclose(probability.sum(axis=1), 1)


def test_a_class_of_two_documents_has_one_in_each_half():
    # Halves that are not alike in their classes would have none of it, for some of these seeds.
    X, y, _ = make_problem("labels")
    y = np.where(np.arange(90) < 2, 2, y % 2)
    for seed in range(5):
        svc = DualLinearSVC(probability=True, **TIGHT | {"random_state": seed})
        model, by_hand, shaper = ShapedSVC(svc).fit(X, y), clone(svc), FeatureShaper()
        by_hand.fit(shaper.fit_transform(X, y == 2), y == 2)
        np.testing.assert_allclose(model.calibration_[:, 2], by_hand.calibration_[:, 0], rtol=1e-3)


def test_probabilities_must_be_asked_for():
    X, y, _ = make_problem("binary")
    model = fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)
    assert CalibratedClassifierCV(model, cv=2).fit(X, y).predict_proba(X).shape == (90, 2)


@pytest.mark.parametrize("names", [[0, 1], ["ash", "elm"], [False, True]])
@pytest.mark.parametrize("weights", [{0: 0.5, 1: 5}, {1: 5}, {0: 5}, {}, "balanced", None])
def test_both_of_two_classes_can_be_weighed(weights, names):
    X, y, X_test = make_problem("binary")
    if isinstance(weights, dict):
        weights = {names[k]: weight for k, weight in weights.items()}
    y = np.array(names)[y]
    svc = DualLinearSVC(class_weight=weights, **TIGHT)
    shaper = FeatureShaper()
    by_hand = clone(svc).fit(shaper.fit_transform(X, y), y)
    expected = by_hand.decision_function(shaper.transform(X_test))
    scores = ShapedSVC(svc).fit(X, y).decision_function(X_test)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("names", [[0, 1, 2], ["ash", "elm", "oak"]])
@pytest.mark.parametrize("weights", [{0: 0.5, 1: 5, 2: 1}, {1: 5}, {}])
def test_each_of_more_classes_is_weighed_against_one_for_the_rest(weights, names):
    X, y, X_test = make_problem("labels")
    svc = DualLinearSVC(class_weight={names[k]: weights[k] for k in weights}, **TIGHT)
    scores = ShapedSVC(svc).fit(X, np.array(names)[y]).decision_function(X_test)
    for k in range(3):
        svc = DualLinearSVC(class_weight={True: weights.get(k, 1)}, **TIGHT)
        expected = score_by_hand(X, y == k, X_test, svc=svc)
        np.testing.assert_allclose(scores[:, k], expected, atol=1e-6)


def test_weights_by_class_are_as_those_of_the_svm_alone():
    # Without shaping, scaling and norm, the documents are the same for all classes.
    for kind in ("labels", "multilabel"):
        X, y, X_test = make_problem(kind)
        svc = DualLinearSVC(class_weight={0: 3, 2: 0.2}, **TIGHT)
        model = ShapedSVC(svc, shape=None, scale=None, norm=None).fit(X, y)
        expected = clone(svc).fit(X, y).decision_function(X_test)
        np.testing.assert_allclose(model.decision_function(X_test), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["labels", "multilabel"])
def test_classes_can_be_balanced_each_against_its_rest(kind):
    X, y, X_test = make_problem(kind)
    svc = DualLinearSVC(class_weight="balanced", **TIGHT)
    scores = ShapedSVC(svc).fit(X, y).decision_function(X_test)
    np.testing.assert_allclose(scores, score_by_hand(X, y, X_test, svc=svc), atol=1e-6)


def test_columns_of_many_labels_are_weighed_by_number():
    X, y, X_test = make_problem("multilabel")
    svc = DualLinearSVC(class_weight={0: 0.5, 2: 5}, **TIGHT)
    scores = ShapedSVC(svc).fit(X, y).decision_function(X_test)
    for k, weight in enumerate([0.5, 1, 5]):
        alone = DualLinearSVC(class_weight={True: weight}, **TIGHT)
        expected = score_by_hand(X, y[:, k] > 0, X_test, svc=alone)
        np.testing.assert_allclose(scores[:, k], expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["binary", "labels"])
def test_weights_of_unknown_classes_get_a_sentence(kind):
    X, y, _ = make_problem(kind)
    sentence = r"class_weight must have classes as keys: \[0, 1.*\]\. Got \{7: 2\} instead\."
    with pytest.raises(ValueError, match=sentence):
        ShapedSVC(DualLinearSVC(class_weight={7: 2})).fit(X, y)


def test_weights_of_unknown_columns_get_a_sentence():
    X, y, _ = make_problem("multilabel")
    for model in (
        DualLinearSVC(class_weight={7: 2}),
        ShapedSVC(DualLinearSVC(class_weight={7: 2})),
    ):
        with pytest.raises(ValueError, match=r"class_weight must .* Got \{7: 2\} instead\."):
            model.fit(X, y)


@pytest.mark.parametrize("weights", [{0: 0}, {1: -1.0}, {1: math.inf}])
@pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
def test_weights_must_be_positive(kind, weights):
    X, y, _ = make_problem(kind)
    with pytest.raises(ValueError, match="class_weight must give every class a positive factor"):
        ShapedSVC(DualLinearSVC(class_weight=weights)).fit(X, y)


@KINDS_OF_TARGETS
@FORMS
def test_a_scale_can_be_a_scaler(kind, make):
    X, y, X_test = make_problem(kind, make)
    for name, scaler in (("bns", BNSScaler()), ("times_bns", BNSScaler(stretch=False))):
        expected = fit(X, y, scale=name).decision_function(X_test)
        scores = fit(X, y, scale=scaler).decision_function(X_test)
        np.testing.assert_array_equal(scores, expected)
        assert not hasattr(scaler, "bns_")


def test_the_svm_is_cloned():
    X, y, _ = make_problem("binary")
    svc = DualLinearSVC(C=0.1, loss="squared_hinge", **TIGHT)
    model = ShapedSVC(svc).fit(X, y)
    assert not hasattr(svc, "coef_")
    np.testing.assert_allclose(
        model.decision_function(X), score_by_hand(X, y, X, svc=svc), atol=1e-6
    )


def test_a_seed_gives_the_same_twice():
    X, y, _ = make_problem("labels")
    coef = [ShapedSVC(random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(coef[0], coef[1])
    assert (coef[0] != coef[2]).any()


@pytest.mark.parametrize("shape", ["local_probability", None, "binary"])
@FORMS
def test_documents_are_never_changed(shape, make):
    X, y, _ = make_problem("labels", make)
    before = X.copy()
    ShapedSVC(shape=shape, random_state=0).fit(X, y).decision_function(X)
    if sparse.issparse(X):
        np.testing.assert_array_equal(X.indices, before.indices)
        X, before = X.toarray(), before.toarray()
    np.testing.assert_array_equal(X, before)


@FORMS
@pytest.mark.parametrize("shape", ["local_probability", None])
def test_single_precision_is_as_good(make, shape):
    X, y, X_test = make_problem("labels", make)
    scores = fit(X.astype(np.float32), y, shape=shape).decision_function(X_test.astype(np.float32))
    expected = fit(X.astype(np.float32).astype(float), y, shape=shape)
    expected = expected.decision_function(X_test.astype(np.float32).astype(float))
    np.testing.assert_allclose(scores, expected, atol=1e-4)


def make_frames(rng):
    """Return a table with names, by pandas and by polars, and labels that depend on it."""
    y = np.arange(60) % 3
    jobs = np.array(["smith", "cook", "clerk", None], object)
    of_job = np.where(rng.random(60) < 0.5, y, rng.integers(0, 4, 60))
    age = rng.normal(40 + 5 * y, 5)
    age[::9] = math.nan
    columns = {"age": age, "job": jobs[of_job], "rich": (rng.random(60) < 0.3 + 0.2 * y).tolist()}
    table = pl.DataFrame({**columns, "job": pl.Series(jobs[of_job].tolist(), dtype=pl.String)})
    return pd.DataFrame(columns), table.with_columns(age=pl.col("age").fill_nan(None)), y


def test_frames_with_names_are_classified(rng):
    *frames, y = make_frames(rng)
    expected = None
    for frame in frames:
        model = fit(frame[:40], y[:40])
        scores = model.decision_function(frame[40:])
        by_hand = score_by_hand(frame[:40], y[:40], frame[40:])
        np.testing.assert_allclose(scores, by_hand, atol=1e-6)
        expected = scores if expected is None else expected
        np.testing.assert_allclose(scores, expected, atol=1e-9)
        assert model.feature_names_in_.tolist() == ["age", "job", "rich"]
        assert model.shape_of("job").values.tolist() == ["clerk", "cook", "smith"]


def test_frames_must_be_as_in_fit(rng):
    frame, _, y = make_frames(rng)
    model = fit(frame, y)
    with pytest.raises(ValueError, match="X must be a data frame with the columns seen in fit"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[["job", "age", "rich"]])
    numbers = frame[["age"]].fillna(0).assign(wage=1.0)
    for shape in ("local_probability", None, "binary"):
        model = fit(numbers, y, shape=shape)
        with pytest.raises(ValueError, match="must be in the same order"):
            model.predict(numbers[["wage", "age"]])


@FORMS
@KINDS_OF_TARGETS
@pytest.mark.parametrize("scale", ["bns", "times_bns", None])
def test_a_shape_is_what_a_class_sees_before_the_norm(kind, make, scale):
    X, y, _ = make_problem(kind, make)
    model = fit(X, y, scale=scale, shape="log_odds")
    shape = model.shape_of(7)
    assert len(shape.images) == len(model.coef_)
    queries = np.zeros((shape.values.size + 1, 40))
    queries[:-1, 7] = shape.values
    queries = make(sparse.csr_matrix(queries))
    for k, label in enumerate(list_classes(y)):
        alone = FeatureShaper(shape="log_odds", scale=scale, norm=None).fit(X, label)
        images = alone.transform(queries)
        images = (images.toarray() if sparse.issparse(images) else images)[:, 7]
        np.testing.assert_allclose(shape.images[k], images[:-1], atol=1e-12)
        if sparse.issparse(X):
            np.testing.assert_allclose(shape.zero[k], images[-1], atol=1e-12)


@pytest.mark.parametrize("shape", [None, "binary"])
def test_only_local_probability_has_a_shape(shape):
    X, y, _ = make_problem("labels")
    with pytest.raises(ValueError, match="LocalProbabilityShaper to have feature shapes"):
        fit(X, y, shape=shape).shape_of(0)


@pytest.mark.parametrize("scale", ["bns", "times_bns", None])
@pytest.mark.parametrize("shape", ["local_probability", "log_odds", None, "binary"])
def test_sparse_after_dense_gets_a_sentence(shape, scale):
    X, y, _ = make_problem("labels", sparse.csr_matrix.toarray)
    model = ShapedSVC(shape=shape, scale=scale, random_state=0).fit(X, y)
    for use in (model.decision_function, model.predict):
        with pytest.raises(ValueError, match=r"X must be dense, as it was in fit: .* Got a sparse"):
            use(sparse.csr_matrix(X))


@pytest.mark.parametrize("shape", ["local_probability", None, "binary"])
def test_dense_after_sparse_is_the_same(shape):
    X, y, X_test = make_problem("labels")
    model = fit(X, y, shape=shape)
    assert model.is_sparse_
    scores = model.decision_function(X_test)
    np.testing.assert_allclose(model.decision_function(X_test.toarray()), scores, atol=1e-9)


@pytest.mark.parametrize("shape", [None, "binary", LocalProbabilityShaper(zero="bin")])
def test_sparse_and_dense_are_one_where_zeros_stay(shape):
    X, y, X_test = make_problem("labels")
    on_sparse, on_dense = fit(X, y, shape=shape), fit(X.toarray(), y, shape=shape)
    scores = on_sparse.decision_function(X_test)
    for model in (on_sparse, on_dense):
        found = model.decision_function(X_test.toarray())
        np.testing.assert_allclose(found, scores, atol=1e-6)


def test_sparse_may_come_after_dense_where_zeros_are_apart():
    X, y, X_test = make_problem("labels")
    model = fit(X.toarray(), y, shape=LocalProbabilityShaper(zero="bin"))
    expected = model.decision_function(X_test.toarray())
    np.testing.assert_allclose(model.decision_function(X_test), expected, atol=1e-9)


@FORMS
@pytest.mark.parametrize("make_array", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_documents_may_be_of_any_kind(make, make_array):
    X, y, X_test = make_problem("labels")
    expected = ShapedSVC(random_state=0).fit(X, y).decision_function(X_test)
    model = ShapedSVC(random_state=0).fit(make_array(X), y)
    np.testing.assert_allclose(model.decision_function(make(X_test)), expected, atol=1e-12)


def test_neighbours_can_be_chosen():
    X, y, X_test = make_problem("binary")
    shape = LocalProbabilityShaper(n_neighbors="auto", random_state=0)
    model = fit(X, y, shape=shape)
    assert len(set(model.shaper_.n_neighbors_.ravel())) > 1
    expected = score_by_hand(X, y, X_test, shape=shape)
    np.testing.assert_allclose(model.decision_function(X_test), expected, atol=1e-6)


@pytest.mark.parametrize("shape", ["local_probability", "binary", None])
@FORMS
def test_output_set_for_everyone_does_not_matter(shape, make):
    X, y, X_test = make_problem("labels", make)
    expected = fit(X, y, shape=shape).decision_function(X_test)
    with config_context(transform_output="pandas"):
        scores = fit(X, y, shape=shape).decision_function(X_test)
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("shape", ["local_probability", "log_odds", LocalProbabilityShaper()])
def test_what_may_be_missing_is_said(shape):
    X, y = np.array([[1.0], [2], [math.nan], [3]]), [0, 1, 1, 0]
    assert np.isfinite(fit(X, y, shape=shape).decision_function(X)).all()
    assert ShapedSVC(shape=shape).__sklearn_tags__().input_tags.allow_nan
    assert not ShapedSVC(shape="binary").__sklearn_tags__().input_tags.allow_nan


@EVERY_VARIANT
def test_a_model_can_be_pickled_and_cloned(options):
    X, y, X_test = make_problem("labels")
    model = fit(X, y, **options)
    again = pickle.loads(pickle.dumps(model))
    expected = model.decision_function(X_test)
    np.testing.assert_array_equal(again.decision_function(X_test), expected)
    twin = clone(model)
    assert not hasattr(twin, "coef_")
    np.testing.assert_array_equal(twin.fit(X, y).decision_function(X_test), expected)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"scale": "idf"},
            r"scale must be 'bns', .*, None or a transformer\. Got 'idf' instead\.",
        ),
        (
            {"scale": "center"},
            r"scale must be 'bns', 'times_bns', None or a BNSScaler\. Got 'center' instead\.",
        ),
        (
            {"scale": StandardScaler()},
            r"scale must be 'bns', 'times_bns', None or a BNSScaler\. Got StandardScaler\(\) i",
        ),
        (
            {"scale": BNSScaler(smallest_rate=0.7)},
            r"smallest_rate must be '1/n' or between 0 and 0\.5\. Got 0\.7 instead\.",
        ),
        ({"norm": "l3"}, r"norm must be 'l2', 'l1', 'max' or None\. Got 'l3' instead\."),
        ({"shape": "odds"}, r"shape must be 'local_probability', .* Got 'odds' instead\."),
        (
            {"shape": StandardScaler()},
            r"shape must be a name, None or a LocalProbabilityShaper: .* Got StandardScaler\(\) i",
        ),
        (
            {"shape": LocalProbabilityShaper(cross_fit=True)},
            r"shape must have cross_fit=False; use FeatureShaper in .* Got cross_fit=True inst",
        ),
        ({"shape": LocalProbabilityShaper(n_neighbors=-1)}, r"n_neighbors must be .* Got -1"),
        (
            {"estimator": LogisticRegression()},
            r"estimator must be a DualLinearSVC\. Got LogisticRegression instead\.",
        ),
    ],
)
def test_bad_parameters_get_a_sentence(options, sentence):
    X, y, _ = make_problem("binary")
    with pytest.raises(ValueError, match=sentence):
        ShapedSVC(**options).fit(X, y)


def test_one_class_gets_a_sentence():
    X, _, _ = make_problem("binary")
    with pytest.raises(ValueError, match=r"y must have at least two classes\. Got one class only"):
        ShapedSVC().fit(X, np.ones(90))


SHAPES = {
    "none": None,
    "probability": LocalProbabilityShaper(),
    "log odds": LocalProbabilityShaper(output="log_odds", n_neighbors=6),
    "zero apart": LocalProbabilityShaper(zero="bin"),
    "zero not apart": LocalProbabilityShaper(zero="value"),
}


def transform(X, y, X_test, shaper, scale, norm):
    """Return the transforms of all classes, and test documents for them."""
    _, indicator = binarize(check_targets(y))
    transforms = fit_transforms(shaper, scale, norm, fit_shaper(shaper, X, y), indicator)
    return transforms, read_documents(shaper, X_test)


@pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
@FORMS
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("scale", "norm"),
    [
        (BNSScaler(), "l2"),
        (BNSScaler(stretch=False), None),
        (BNSScaler(smallest_rate="1/n"), "max"),
        (None, "l1"),
    ],
)
def test_the_transform_of_a_class_is_that_of_a_shaper_of_its_own(kind, make, shape, scale, norm):
    X, y = make_targets(kind)
    X, X_test = make(X), make(sparse.csr_matrix(X[::-1] * 1.2))
    transforms, documents = transform(X, y, X_test, SHAPES[shape], scale, norm)
    positive = {"binary": [y == 1], "labels": [y == 0, y == 1, y == 2]}.get(kind, y.T)
    assert len(transforms.base) == len(positive)
    for k, label in enumerate(positive):
        alone = FeatureShaper(shape=SHAPES[shape], scale=scale, norm=norm).fit(X, label)
        expected = alone.transform(X_test)
        expected = expected.toarray() if sparse.issparse(expected) else expected
        np.testing.assert_allclose(transforms.apply(documents, k).toarray(), expected, atol=1e-12)


def test_classes_have_different_transforms_that_change_no_documents():
    X, y = make_targets("labels")
    transforms, documents = transform(X, y, X, LocalProbabilityShaper(), BNSScaler(), "l2")
    rows, before = documents.rows, documents.rows.copy()
    shown = [transforms.apply(documents, k).toarray() for k in (0, 1, 2, 0)]
    np.testing.assert_array_equal(shown[0], shown[3])
    assert (shown[0] != shown[1]).any()
    np.testing.assert_array_equal(rows.data, before.data)
    np.testing.assert_array_equal(rows.indices, before.indices)


@FORMS
@pytest.mark.parametrize("shape", SHAPES)
def test_scaling_leaves_nothing_to_a_class_of_no_or_all_documents(make, shape):
    X, y = make_targets("multilabel")
    y[:, 0], y[:, 2] = 0, 1
    X = make(X)
    transforms, documents = transform(X, y, X, SHAPES[shape], BNSScaler(), "l2")
    assert not transforms.factor[[0, 2]].any()
    for k, is_left in enumerate([False, True, False]):
        assert transforms.apply(documents, k).toarray().any() == is_left


@pytest.mark.parametrize("zero", ["bin", "value"])
@FORMS
def test_zeros_that_stay_zero_are_not_stored(make, zero):
    X, y = make_targets("labels")
    shaper = LocalProbabilityShaper(zero=zero)
    transforms, documents = transform(make(X), y, make(X), shaper, BNSScaler(), "l2")
    is_fixed = zero == "bin" or make is sparse.csr_matrix
    assert documents.rows.nnz == (X.nnz if is_fixed else X.shape[0] * X.shape[1])
    for k in range(3):
        assert transforms.apply(documents, k).nnz == documents.rows.nnz
        assert transforms.apply(documents, k).toarray()[3].any() != is_fixed  # it has no word


def test_the_scaler_that_is_given_is_not_changed():
    X, y = make_targets("labels")
    scaler = BNSScaler()
    transform(X, y, X, LocalProbabilityShaper(), scaler, "l2")
    assert not hasattr(scaler, "bns_")


def test_threads_do_not_change_transforms(monkeypatch):
    X, y = make_targets("labels")
    _, indicator = binarize(y)
    documents = read_documents(None, X)
    monkeypatch.setattr(levels, "WORTH_A_THREAD", 100)
    alone, together = (
        fit_transforms(None, BNSScaler(), None, documents, indicator, n) for n in (1, 2)
    )
    np.testing.assert_array_equal(alone.factor, together.factor)
    assert alone.factor.all()
