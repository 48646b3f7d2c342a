"""Averages and choices against plain numpy, on counts made by hand and on real ones."""

from __future__ import annotations

import pickle
import sys
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize

from spokeshave import DualLinearSVC, FeatureCurve, feature_curve
from spokeshave.metrics import MEASURES, Counts

PROPERTY = settings(deadline=None, derandomize=True)
NAN = np.nan
# AUCs in percent (folds x classes x cuts)
PERCENTS = arrays(
    np.float64,
    st.tuples(st.integers(2, 4), st.integers(1, 4), st.integers(1, 6)),
    elements=st.integers(0, 100).map(float),
)


def make_curve(
    auc, *, positive=10.0, cuts=None, evaluated_on="cross-validation", against="features"
):
    """Return a curve of the given AUCs in percent; a class of NaN has no document."""
    percent = np.array(auc, float)
    percent = percent.reshape((1,) * (3 - percent.ndim) + percent.shape)
    n_classes, n_cuts = percent.shape[1:]
    positive = np.where(np.isnan(percent), 0, np.broadcast_to(positive, percent.shape))
    counts = Counts(*np.zeros((len(Counts._fields), *percent.shape)))._replace(
        positive=positive,
        negative=np.full_like(positive, 10),
        pairs=10 * positive,
        won=np.nan_to_num(percent) / 100 * 10 * positive,
    )
    cuts = np.linspace(0, 1, n_cuts + 1)[1:] if cuts is None else np.array(cuts)
    numbers = np.arange(n_classes * n_cuts).reshape(n_classes, n_cuts)
    return FeatureCurve(
        classes=np.array(list("abcdefgh"))[:n_classes],
        cuts=cuts,
        fractions=cuts / cuts[-1],
        n_features=1 + numbers,
        nonzeros=0.5 + numbers,
        thresholds=0.1 * numbers,
        counts=counts,
        method="mask",
        by="normal",
        evaluated_on=evaluated_on,
        seconds=0.0,
        fit_seconds=0.0,
        against=against,
    )


@pytest.fixture
def curve(rng):
    """Return a curve of random counts over 4 folds, 3 classes and 5 cuts."""
    shape = 4, 3, 5
    positive = np.broadcast_to(rng.integers(1, 20, size=(4, 3, 1)), shape)
    positive = positive * (rng.random((4, 3, 1)) < 0.8)  # some folds lack some classes
    positive[0, 0] = 5
    negative = 40 - positive
    pairs = positive * negative
    found = Counts(
        positive=positive,
        negative=negative,
        pairs=pairs,
        won=rng.integers(0, pairs + 1),
        best_true=rng.integers(0, positive + 1),
        best_false=rng.integers(0, negative + 1),
        true=rng.integers(0, positive + 1),
        false=rng.integers(0, negative + 1),
        top=np.full(shape, 20),
        top_true=rng.integers(0, np.minimum(positive, 20) + 1),
    )
    made = make_curve(np.ones(shape))
    return replace_counts(made, Counts(*(field.astype(float) for field in found)))


def replace_counts(curve, counts):
    given = {field.name: getattr(curve, field.name) for field in fields(curve)}
    return FeatureCurve(**given | {"counts": counts})


def measure_naively(name, counts):
    c = counts
    with np.errstate(invalid="ignore"):
        precision, recall = c.best_true / (c.best_true + c.best_false), c.best_true / c.positive
        values = {
            "auc": c.won / c.pairs,
            "best_f1": np.nan_to_num(2 * precision * recall / (precision + recall)),
            "f1": c.true / (c.true + 0.5 * (c.false + c.positive - c.true)),
            "accuracy": (c.true + (c.negative - c.false)) / 40,
            "precision_at_20": c.top_true / 20,
        }[name]
    return np.where(c.positive == 0, NAN, values)


@pytest.mark.parametrize("name", MEASURES)
def test_averages_are_those_of_plain_numpy(curve, name):
    by_fold = measure_naively(name, curve.counts)
    assert np.isnan(by_fold).any()
    per_class = np.nanmean(by_fold, axis=0)
    np.testing.assert_allclose(curve.per_class(name), per_class)
    np.testing.assert_allclose(getattr(curve, name), per_class)
    np.testing.assert_allclose(curve.macro(name), per_class.mean(axis=0))
    np.testing.assert_allclose(curve.average(name, "macro"), per_class.mean(axis=0))
    macros = np.nanmean(by_fold, axis=1)
    error = macros.std(axis=0, ddof=1) / 2
    np.testing.assert_allclose(curve.standard_error(name), error)


@pytest.mark.parametrize("name", ["auc", "best_f1", "f1", "precision_at_20"])
def test_micro_averages_are_measures_of_sums(curve, name):
    pooled = Counts(*(field.sum(axis=1) for field in curve.counts))
    by_fold = pooled.top_true / 60 if name == "precision_at_20" else measure_naively(name, pooled)
    np.testing.assert_allclose(curve.micro(name), by_fold.mean(axis=0))
    np.testing.assert_allclose(curve.average(name, "micro"), by_fold.mean(axis=0))
    error = by_fold.std(axis=0, ddof=1) / 2
    np.testing.assert_allclose(curve.standard_error(name, "micro"), error)


def test_a_class_without_documents_is_left_out():
    curve = make_curve([[50, 90], [NAN, NAN], [70, 70]])
    np.testing.assert_array_equal(curve.auc, [[0.5, 0.9], [NAN, NAN], [0.7, 0.7]])
    np.testing.assert_allclose(curve.macro("auc"), [0.6, 0.8])
    np.testing.assert_allclose(curve.micro("auc"), [0.6, 0.8])
    choice = curve.best("auc", average=None)
    np.testing.assert_array_equal(choice.index, [1, 0, 0])
    np.testing.assert_array_equal(choice.value, [0.9, NAN, 0.7])
    np.testing.assert_array_equal(choice.best_value, [0.9, NAN, 0.7])
    assert curve.best("auc").index == 1


def test_a_fold_without_documents_is_left_out_of_the_error():
    with_it = make_curve([[[50, 90]], [[NAN, NAN]], [[70, 70]]])
    without = make_curve([[[50, 90]], [[70, 70]]])
    for average in ("macro", "micro"):
        error = with_it.standard_error("auc", average)
        np.testing.assert_allclose(error, without.standard_error("auc", average))
    assert with_it.smallest_within(name="auc").index == without.smallest_within(name="auc").index


def test_the_best_cut_of_equals_is_the_smallest():
    curve = make_curve([[60, 80, 80, 70], [90, 80, 80, 90]])
    choice = curve.best("auc")
    assert (choice.index, choice.cut, choice.fraction) == (1, 0.5, 0.5)
    assert choice.value == choice.best_value == pytest.approx(0.8)
    np.testing.assert_array_equal(curve.best("auc", average=None).index, [1, 0])


def test_micro_follows_the_classes_of_many_documents():
    curve = make_curve([[80, 70], [20, 60]], positive=np.array([[90.0], [10.0]]))
    np.testing.assert_allclose(curve.micro("auc"), [0.74, 0.69])
    np.testing.assert_allclose(curve.macro("auc"), [0.5, 0.65])
    assert curve.best("auc", "micro").index == 0
    assert curve.best("auc", "macro").index == 1
    np.testing.assert_array_equal(curve.best("auc", None).index, [0, 1])


@pytest.mark.parametrize("average", ["macro", "micro", None])
@PROPERTY
@given(PERCENTS, st.integers(0, 30), st.integers(0, 30))
def test_the_smallest_cut_within_a_tolerance(average, percents, tolerance, more):
    curve = make_curve(percents)
    values = np.atleast_2d(
        curve.per_class("auc") if average is None else curve.average("auc", average)
    )
    best = curve.best("auc", average)
    np.testing.assert_array_equal(best.index, np.squeeze(values.argmax(axis=1)))
    none, some, much = (
        curve.smallest_within(t / 1000 + 1e-9 * (t > 0), "auc", average)
        for t in (0, tolerance, tolerance + more)
    )
    np.testing.assert_array_equal(none.index, best.index)
    assert np.all(some.index <= best.index)
    assert np.all(much.index <= some.index)
    for row, at in zip(values, np.atleast_1d(some.index), strict=True):
        within = row >= row.max() - tolerance / 1000 - 1e-9 * (tolerance > 0)
        assert at == np.flatnonzero(within)[0]
    np.testing.assert_array_equal(some.best_value, best.value)


@pytest.mark.parametrize("average", ["macro", "micro"])
@PROPERTY
@given(PERCENTS)
def test_one_standard_error_of_the_best_cut_by_default(average, percents):
    curve = make_curve(percents)
    values, best = curve.average("auc", average), curve.best("auc", average)
    choice = curve.smallest_within(name="auc", average=average)
    lowest = best.value - curve.standard_error("auc", average)[best.index]
    assert choice.value >= lowest
    assert (values[: choice.index] < lowest).all()
    assert choice.best_value == best.value


@pytest.mark.parametrize("evaluated_on", ["test set", "cross-validation"])
def test_a_choice_is_what_the_curve_has_at_its_cut(evaluated_on):
    curve = make_curve([[60, 90, 70], [80, 60, 90]], cuts=[3, 9, 30], evaluated_on=evaluated_on)
    whole = curve.best("auc", "macro")
    assert whole.index == 2
    assert whole.cut == 30
    assert whole.fraction == 1.0
    assert (whole.measure, whole.average) == ("auc", "macro")
    np.testing.assert_array_equal(whole.n_features, curve.n_features[:, 2])
    np.testing.assert_array_equal(whole.thresholds, curve.thresholds[:, 2])
    apart = curve.smallest_within(0.15, "auc", average=None)
    np.testing.assert_array_equal(apart.index, [1, 0])
    np.testing.assert_array_equal(apart.cut, [9, 3])
    np.testing.assert_array_equal(apart.fraction, [0.3, 0.1])
    np.testing.assert_allclose(apart.value, [0.9, 0.8])
    np.testing.assert_allclose(apart.best_value, [0.9, 0.9])
    np.testing.assert_array_equal(apart.n_features, curve.n_features[[0, 1], [1, 0]])
    np.testing.assert_array_equal(apart.thresholds, curve.thresholds[[0, 1], [1, 0]])
    assert whole.evaluated_on == apart.evaluated_on == evaluated_on


def test_a_choice_in_words():
    curve = make_curve([[60, 90], [80, 60]], evaluated_on="test set")
    assert str(curve.best("auc")) == "1 of the features: macro auc 0.7500, chosen on the test set"
    assert str(curve.best("auc", average=None)) == (
        "0.75 of the features in the median class: "
        "best of each class auc 0.8500, chosen on the test set"
    )


def test_a_choice_of_a_sparsity_in_words():
    curve = make_curve([[60, 90, 50], [80, 60, 90]], cuts=[2.5, 5.0, 20.0], against="sparsity")
    choice = curve.best("auc")
    assert (choice.cut, choice.against) == (5.0, "sparsity")
    assert str(choice) == "5 nonzeros per document: macro auc 0.7500, chosen by cross-validation"
    assert str(curve.best("auc", average=None)) == (
        "12.5 nonzeros per document in the median class: "
        "best of each class auc 0.9000, chosen by cross-validation"
    )


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda curve: curve.best("f2"), "The measure must be one of auc, best_f1, .* Got 'f2'"),
        (lambda curve: curve.per_class("f2"), "The measure must be one of auc"),
        (lambda curve: curve.macro("f2"), "The measure must be one of auc"),
        (lambda curve: curve.micro("f2"), "The measure must be one of auc"),
        (lambda curve: curve.standard_error("f2"), "The measure must be one of auc"),
        (lambda curve: curve.best(average="mean"), "average must be 'macro' or 'micro'. Got"),
        (lambda curve: curve.average("auc", "mean"), "average must be 'macro' or 'micro'. Got"),
        (lambda curve: curve.standard_error("auc", "mean"), "average must be 'macro' or 'micro'"),
        (lambda curve: curve.smallest_within(-0.1), "that is not negative. Got -0.1"),
        (lambda curve: curve.smallest_within(NAN), "that is not negative. Got nan"),
        (lambda curve: curve.smallest_within("auc"), "must be a number .* Got 'auc' instead"),
        (lambda curve: curve.smallest_within(average=None), "tolerance must be given where each"),
    ],
)
def test_bad_questions_get_a_sentence(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask(make_curve([[[60, 90]], [[70, 70]]]))


def test_a_standard_error_needs_folds():
    curve = make_curve([[60, 90], [70, 70]])
    with pytest.raises(ValueError, match="A standard error needs folds: make the curve with cv=5"):
        curve.standard_error("auc")
    with pytest.raises(ValueError, match="A standard error needs folds"):
        curve.smallest_within(name="auc")
    assert curve.smallest_within(0.1, "auc").index == 1
    assert curve.smallest_within(0.2, "auc").index == 0


def test_a_frame_has_a_row_per_class_and_cut(curve):
    frame = curve.to_frame()
    kinds = ["method", "class", "fraction", "n_features", "nonzeros"]
    assert list(frame.columns) == [*kinds, *MEASURES, "threshold"]
    assert len(frame) == 15
    assert not frame.duplicated(["class", "fraction"]).any()
    for k, name in enumerate(curve.classes):
        for c, fraction in enumerate(curve.fractions):
            (row,) = frame[(frame["class"] == name) & (frame["fraction"] == fraction)].itertuples()
            assert row.method == "mask"
            assert row.n_features == curve.n_features[k, c]
            assert row.nonzeros == curve.nonzeros[k, c]
            assert row.threshold == curve.thresholds[k, c]
            for measure in MEASURES:
                assert getattr(row, measure) == curve.per_class(measure)[k, c]


def test_a_frame_needs_pandas(curve, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas: pip install pandas"):
        curve.to_frame()


def test_results_are_frozen_and_survive_pickling(curve):
    choice = curve.best()
    for result in (curve, choice):
        with pytest.raises(FrozenInstanceError):
            result.evaluated_on = "nothing"
    again = pickle.loads(pickle.dumps(curve))
    np.testing.assert_array_equal(again.auc, curve.auc)
    assert str(pickle.loads(pickle.dumps(choice))) == str(choice)


def test_results_can_be_compared_and_put_in_sets(curve):
    one, two = curve.best(), curve.best()
    assert len({one, two, curve}) == 3
    assert one != two


def make_documents(n=60, d=30):
    """Return rows of length one of three classes; the last feature tells nothing of any."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = (rng.random((n, d)) < rng.uniform(0.05, 0.5, size=(3, d))[y]).astype(float)
    X[:, -1] = 0
    return normalize(X), y


def test_counts_as_cuts_are_shares_of_the_ranked_features():
    X, y = make_documents()
    estimator = DualLinearSVC(random_state=0)
    curve = feature_curve(X, y, X_test=X, y_test=y, estimator=estimator, cuts=[1, 8, 500])
    n_ranked = np.count_nonzero(estimator.fit(X, y).coef_, axis=1)
    assert n_ranked.max() < 30
    kept = np.minimum([[1, 8, 500]], n_ranked[:, None])
    np.testing.assert_array_equal(curve.cuts, [1, 8, 500])
    np.testing.assert_array_equal(curve.n_features, kept)
    np.testing.assert_allclose(curve.fractions, (kept / n_ranked[:, None]).mean(axis=0))
    assert curve.best("auc").fraction == curve.fractions[curve.best("auc").index]


@pytest.mark.parametrize("average", ["macro", "micro", None])
@pytest.mark.parametrize("method", ["mask", "warm"])
def test_a_real_choice_scores_what_it_says(method, average):
    X, y = make_documents()
    options = {"method": method, "cuts": (0.1, 0.3, 0.6, 1.0), "random_state": 0}
    on_test = feature_curve(X[::2], y[::2], X_test=X[1::2], y_test=y[1::2], **options)
    folds = feature_curve(X, y, cv=3, **options)
    assert on_test.best("f1", average).evaluated_on == "test set"
    for curve in (on_test, folds):
        choice = curve.smallest_within(0.02, "f1", average)
        values = curve.f1 if average is None else curve.average("f1", average)[None]
        at = np.atleast_1d(choice.index)
        np.testing.assert_array_equal(choice.value, np.squeeze(values[range(len(at)), at]))
        assert np.all(choice.value >= choice.best_value - 0.02)


def test_what_a_choice_scored_is_on_the_curve_where_folds_lack_a_class():
    X, y = make_documents()
    Y = np.column_stack([y == 0, (y == 1) & (np.arange(60) < 24)]).astype(int)
    curve = feature_curve(X, Y, cv=KFold(5), cuts=(0.1, 0.5, 1.0), random_state=0)
    assert (curve.counts.positive == 0).any()
    choice = curve.smallest_within(name="f1")
    assert choice.value == curve.macro("f1")[choice.index]
