"""The stages together against the stages one by one."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
    normalize,
)

from made_up import make_targets
from spokeshave import BNSScaler, DualLinearSVC, FeatureShaper, LocalProbabilityShaper
from spokeshave.shaping import levels

PROPERTY = settings(deadline=None, derandomize=True, max_examples=30)
KINDS_OF_TARGETS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])
FORMS = pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])

SHAPED, ODDS = LocalProbabilityShaper(), LocalProbabilityShaper(output="log_odds")
VARIANTS = {
    "shaping": ({}, [SHAPED, BNSScaler()], "l2"),
    "scaling of text": ({"shape": "binary"}, [Binarizer(), BNSScaler()], "l2"),
    "scaling of amounts": ({"shape": None}, [BNSScaler()], "l2"),
    "log odds": ({"shape": "log_odds"}, [ODDS, BNSScaler()], "l2"),
    "no scaling": ({"scale": None}, [SHAPED], "l2"),
    "times": ({"scale": "times_bns"}, [SHAPED, BNSScaler(stretch=False)], "l2"),
    "times, of amounts": (
        {"shape": None, "scale": "times_bns"},
        [BNSScaler(stretch=False)],
        "l2",
    ),
    "l1 norm": ({"norm": "l1"}, [SHAPED, BNSScaler()], "l1"),
    "max norm": ({"norm": "max"}, [SHAPED, BNSScaler()], "max"),
    "no norm": ({"norm": None}, [SHAPED, BNSScaler()], None),
    "baseline of text": ({"shape": "binary", "scale": None}, [Binarizer()], "l2"),
    "only a norm": ({"shape": None, "scale": None}, [], "l2"),
    "nothing": ({"shape": None, "scale": None, "norm": None}, [], None),
    "other neighbours": (
        {"shape": LocalProbabilityShaper(n_neighbors=5)},
        [LocalProbabilityShaper(n_neighbors=5), BNSScaler()],
        "l2",
    ),
    "cross-fitted": (
        {"shape": LocalProbabilityShaper(cross_fit=True, random_state=0)},
        [LocalProbabilityShaper(cross_fit=True, random_state=0), BNSScaler()],
        "l2",
    ),
    "auto neighbours": (
        {"shape": LocalProbabilityShaper(n_neighbors="auto", random_state=0)},
        [LocalProbabilityShaper(n_neighbors="auto", random_state=0), BNSScaler()],
        "l2",
    ),
    "another smallest rate": (
        {"scale": BNSScaler(smallest_rate="1/n")},
        [SHAPED, BNSScaler(smallest_rate="1/n")],
        "l2",
    ),
    "other stages": (
        {"shape": MaxAbsScaler(), "scale": MaxAbsScaler()},
        [MaxAbsScaler(), MaxAbsScaler()],
        "l2",
    ),
}
EVERY_VARIANT = pytest.mark.parametrize(
    ("options", "stages", "norm"), VARIANTS.values(), ids=VARIANTS.keys()
)


def run_by_hand(stages, norm, X, y, X_test):
    """Return training and test documents transformed by stages fitted one after the other."""
    for stage in map(clone, stages):
        X, X_test = stage.fit_transform(X, y), stage.transform(X_test)
    return [documents if norm is None else normalize(documents, norm) for documents in (X, X_test)]


def to_dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


@EVERY_VARIANT
@KINDS_OF_TARGETS
@FORMS
def test_every_variant_is_its_stages_by_hand(options, stages, norm, kind, make):
    X, y = make_targets(kind)
    X, X_test = make(X), make(X[::-1] * 1.1)
    shaper = FeatureShaper(**options)
    found = shaper.fit_transform(X, y), shaper.transform(X_test)
    for mine, by_hand in zip(found, run_by_hand(stages, norm, X, y, X_test), strict=True):
        assert sparse.issparse(mine) == sparse.issparse(X)
        np.testing.assert_allclose(to_dense(mine), to_dense(by_hand), atol=1e-12)


@EVERY_VARIANT
def test_fitting_is_the_first_half_of_fitting_and_shaping(options, stages, norm):
    X, y = make_targets("labels")
    at_once, fitted = FeatureShaper(**options), FeatureShaper(**options).fit(X, y)
    shaped = at_once.fit_transform(X, y)
    np.testing.assert_array_equal(fitted.transform(X).data, at_once.transform(X).data)
    if not getattr(options.get("shape"), "cross_fit", False):
        np.testing.assert_allclose(shaped.toarray(), fitted.transform(X).toarray(), atol=1e-15)


@PROPERTY
@given(st.data(), st.booleans(), st.sampled_from(["local_probability", "log_odds"]))
def test_named_shapes_are_scaled_as_by_hand(data, is_sparse, shape):
    cells = st.sampled_from([-1.0, 0.0, 0.0, 1.0, 2.0]) | st.floats(-9, 9, width=16)
    X = data.draw(arrays(np.float64, st.tuples(st.integers(3, 20), st.just(2)), elements=cells))
    y = data.draw(arrays(np.int64, len(X), elements=st.integers(0, 2)))
    y[:2] = 0, 1
    X = sparse.csr_matrix(X) if is_sparse else X
    stages = [ODDS if shape == "log_odds" else SHAPED, BNSScaler()]
    shaped = FeatureShaper(shape=shape).fit_transform(X, y)
    expected = run_by_hand(stages, "l2", X, y, X)[0]
    np.testing.assert_allclose(to_dense(shaped), to_dense(expected), atol=1e-9)


@pytest.mark.parametrize("shape", ["local_probability", "log_odds", "binary", None])
@KINDS_OF_TARGETS
def test_columns_can_be_centred(shape, kind):
    X, y = make_targets(kind)
    X, X_test = X.toarray(), X.toarray()[::-1] * 1.1
    shaper = FeatureShaper(shape=shape, scale="center", norm=None)
    plain = FeatureShaper(shape=shape, scale=None, norm=None)
    mean = plain.fit_transform(X, y).mean(axis=0)
    np.testing.assert_allclose(shaper.fit_transform(X, y), plain.transform(X) - mean, atol=1e-12)
    np.testing.assert_allclose(shaper.transform(X_test), plain.transform(X_test) - mean, atol=1e-12)
    with pytest.raises(ValueError, match="scale must not be 'center' for sparse documents"):
        clone(shaper).fit(sparse.csr_matrix(X), y)


@pytest.mark.parametrize("name", ["shaping", "scaling of text", "cross-fitted", "only a norm"])
@FORMS
@pytest.mark.parametrize("kind", ["binary", "labels"])
def test_features_can_be_kept_beside_their_shapes(name, make, kind):
    options, stages, norm = VARIANTS[name]
    X, y = make_targets(kind)
    X, X_test = make(X), make(X[::-1] * 1.1)
    shaper = FeatureShaper(keep_raw=True, **options | {"norm": None})
    raw = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
    found = shaper.fit_transform(X, y), shaper.transform(X_test)
    shaped = run_by_hand(stages, None, X, y, X_test)
    for mine, documents, by_hand in zip(found, (X, X_test), shaped, strict=True):
        assert sparse.issparse(mine) == sparse.issparse(X)
        expected = np.hstack([to_dense(raw.transform(documents)), to_dense(by_hand)])
        np.testing.assert_allclose(to_dense(mine), expected, atol=1e-12)
    normed = FeatureShaper(keep_raw=True, **options).fit(X, y).transform(X_test)
    expected = found[1] if norm is None else normalize(found[1], norm)
    np.testing.assert_allclose(to_dense(normed), to_dense(expected), atol=1e-12)
    names = shaper.get_feature_names_out()
    assert names[:2].tolist() == ["x0_raw", "x1_raw"]
    assert names.size == found[0].shape[1]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("options", [{}, {"shape": None}, {"shape": "binary"}, {"keep_raw": True}])
def test_sparse_matrices_stay_matrices_and_sparse_arrays_arrays(make, options):
    X, y = make_targets("labels")
    shaper = FeatureShaper(**options)
    for shaped in (shaper.fit_transform(make(X), y), shaper.transform(make(X))):
        assert type(shaped) is make


@pytest.mark.parametrize(
    "options", [{}, {"shape": None}, {"scale": "center"}, {"scale": "times_bns"}, {"scale": None}]
)
@pytest.mark.parametrize("keep_raw", [True, False])
def test_single_precision_stays_single(options, keep_raw):
    X, y = make_targets("labels")
    shaper = FeatureShaper(keep_raw=keep_raw, **options)
    for documents in (X,) * ("center" not in options.values()) + (X.toarray(),):
        single = documents.astype(np.float32)
        assert shaper.fit_transform(single, y).dtype == np.float32
        assert shaper.transform(single).dtype == np.float32
        assert shaper.transform(documents).dtype == np.float64


@KINDS_OF_TARGETS
def test_dense_documents_whose_zeros_are_apart_are_scaled_as_sparse_ones(kind):
    X, y = make_targets(kind)
    X_test = X[::-1] * 1.1
    shaper = FeatureShaper(shape=LocalProbabilityShaper(zero="bin")).fit(X.toarray(), y)
    expected = FeatureShaper().fit(X, y).transform(X_test).toarray()
    np.testing.assert_allclose(shaper.transform(X_test.toarray()), expected, atol=1e-12)
    np.testing.assert_allclose(shaper.transform(X_test).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("nominal", [[1], [False, True, False], "x1"])
def test_columns_that_are_asked_to_be_nominal_are_not_kept(nominal, rng):
    X, y = rng.integers(0, 4, (40, 3)).astype(float), np.arange(40) % 2
    shape = LocalProbabilityShaper(nominal=nominal)
    shaper = FeatureShaper(shape=shape, keep_raw=True, norm=None)
    shaped = shaper.fit_transform(X, y)
    names = ["x0_raw", "x2_raw", "x0", "x1", "x2"]
    assert shaper.get_feature_names_out().tolist() == names
    raw = StandardScaler().fit_transform(X[:, [0, 2]])
    expected = FeatureShaper(shape=shape, norm=None).fit_transform(X, y)
    np.testing.assert_allclose(shaped, np.hstack([raw, expected]), atol=1e-12)


def test_missing_values_of_sparse_documents_are_kept_as_zero():
    X = np.array([[1.0, 0.0], [math.nan, 2.0], [0.0, math.nan], [3.0, 4.0]])
    shaper = FeatureShaper(keep_raw=True, norm=None)
    shaped = shaper.fit_transform(sparse.csr_matrix(X), [0, 1, 1, 0]).toarray()
    expected = np.nan_to_num(X / np.nanstd(X, axis=0))
    np.testing.assert_allclose(shaped[:, :2], expected)
    np.testing.assert_allclose(shaper.transform(X)[:, :2], expected)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_frames_of_any_kind_keep_their_amounts(output):
    columns = {"job": ["a", "b", None, "a"], "age": [3, None, 5, 7], "wage": [1.0, 2.0, 4.0, 3.0]}
    expected = None
    for make in (pd.DataFrame, pl.DataFrame):
        with config_context(transform_output=output):
            shaper = FeatureShaper(keep_raw=True, scale="center", norm=None)
            shaped = shaper.fit_transform(make(columns), [0, 1, 1, 0])
            np.testing.assert_array_equal(shaper.transform(make(columns)), shaped)
        if output != "default":
            assert type(shaped).__module__.startswith(output)
            assert list(shaped.columns) == ["age_raw", "wage_raw", "job", "age", "wage"]
        expected = np.asarray(shaped) if expected is None else expected
        np.testing.assert_array_equal(shaped, expected)
    np.testing.assert_allclose(expected.mean(axis=0), 0, atol=1e-12)


def test_features_are_kept_beside_what_a_sparse_stage_makes_of_them():
    X, y = np.array([[1.0, 2], [2, 1], [1, 1], [2, 2]]), [0, 1, 1, 0]
    options = {"shape": OneHotEncoder(), "scale": None, "norm": None}
    shaped = FeatureShaper(keep_raw=True, **options).fit_transform(X, y)
    expected = [StandardScaler().fit_transform(X), OneHotEncoder().fit_transform(X).toarray()]
    np.testing.assert_array_equal(to_dense(shaped), np.hstack(expected))


def test_missing_values_are_average_beside_any_stage_that_takes_them():
    X, y = np.array([[1.0], [math.nan], [3.0], [4.0]]), [0, 1, 1, 0]
    options = {"shape": SimpleImputer(), "scale": None, "norm": None}
    plain = FeatureShaper(**options).fit_transform(X, y)
    shaped = FeatureShaper(keep_raw=True, **options).fit_transform(X, y)
    raw = np.nan_to_num((X - np.nanmean(X)) / np.nanstd(X))
    np.testing.assert_allclose(shaped, np.hstack([raw, plain]))


def test_only_amounts_are_kept_and_missing_ones_are_average():
    ages = [30.0, 41.0, math.nan, 63.0, 28.0, 30.0]
    frame = pd.DataFrame({"job": ["a", "b", None, "a", "b", "a"], "age": ages})
    shaper = FeatureShaper(keep_raw=True, norm=None).set_output(transform="pandas")
    shaped = shaper.fit_transform(frame, [0, 1, 1, 0, 1, 0])
    assert list(shaped.columns) == ["age_raw", "job", "age"]
    known = np.array([age for age in ages if age == age])
    expected = np.nan_to_num((np.array(ages) - known.mean()) / known.std())
    np.testing.assert_allclose(shaped["age_raw"], expected)
    pd.testing.assert_frame_equal(shaper.transform(frame), shaped)


def test_there_may_be_no_amounts_to_keep():
    frame = pd.DataFrame({"job": ["a", "b", None, "a", "b", "a"]})
    y = [0, 1, 1, 0, 1, 0]
    shaped = FeatureShaper(keep_raw=True).fit_transform(frame, y)
    np.testing.assert_array_equal(shaped, FeatureShaper().fit_transform(frame, y))


@FORMS
@pytest.mark.parametrize(
    ("norm", "measure"),
    [
        ("l2", lambda X: np.sqrt((X**2).sum(axis=1))),
        ("l1", lambda X: np.abs(X).sum(axis=1)),
        ("max", lambda X: np.abs(X).max(axis=1)),
    ],
)
def test_documents_have_norm_one_unless_they_are_empty(make, norm, measure):
    X, y = make_targets("binary")
    shaped = to_dense(FeatureShaper(norm=norm, shape="binary").fit_transform(make(X), y))
    is_empty = X.getnnz(axis=1) == 0
    assert is_empty.sum() == 1
    np.testing.assert_allclose(measure(shaped)[~is_empty], 1)
    assert not shaped[is_empty].any()


def test_empty_documents_stay_empty_when_they_are_shaped():
    X, y = make_targets("binary")
    shaped = FeatureShaper().fit_transform(X, y)
    lengths = np.sqrt(shaped.multiply(shaped).sum(axis=1)).A1
    np.testing.assert_allclose(lengths[X.getnnz(axis=1) > 0], 1)
    assert lengths[3] == 0


def test_missing_values_are_shaped():
    X = np.array([[1.0, math.nan], [2, 1], [math.nan, 1], [3, 0], [1, math.nan]])
    shaper = FeatureShaper(norm=None).fit(X, [0, 1, 1, 0, 0])
    assert np.isfinite(shaper.transform(X)).all()
    with pytest.raises(ValueError, match="contains NaN"):
        FeatureShaper(shape=None).fit(X, [0, 1, 1, 0, 0])


@pytest.mark.parametrize("shape", ["local_probability", "log_odds", LocalProbabilityShaper()])
def test_what_may_be_missing_is_said(shape):
    assert FeatureShaper(shape=shape).__sklearn_tags__().input_tags.allow_nan
    for other in (None, "binary", BNSScaler()):
        assert not FeatureShaper(shape=other).__sklearn_tags__().input_tags.allow_nan


class Root(TransformerMixin, BaseEstimator):
    """A transformer as people write it, which has no names for its columns."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.sqrt(X)


OTHERS = {
    "without names": Root(),
    "of a function": FunctionTransformer(np.sqrt),
    "quantiles": QuantileTransformer(n_quantiles=10),
    "pipeline": make_pipeline(MaxAbsScaler(), StandardScaler()),
}


@pytest.mark.parametrize("stage", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("parameter", ["shape", "scale"])
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_other_transformers_may_be_stages(stage, parameter, output):
    X, y = make_targets("binary")
    X = X.toarray()
    expected = normalize(clone(stage).fit_transform(X))
    shaper = FeatureShaper(**{"shape": None, "scale": None, parameter: stage})
    with config_context(transform_output=output):
        shaped = shaper.set_output(transform="default").fit_transform(X, y)
        np.testing.assert_array_equal(shaper.transform(X), shaped)
    assert isinstance(shaped, np.ndarray)
    np.testing.assert_allclose(shaped, expected)
    assert not hasattr(stage, "n_features_in_")


def test_a_pipeline_with_a_step_that_has_no_names_may_be_a_stage():
    X, y = make_targets("binary")
    X, stage = X.toarray(), make_pipeline(Root(), MaxAbsScaler())
    shaped = FeatureShaper(shape=stage, scale=None).fit_transform(X, y)
    np.testing.assert_allclose(shaped, normalize(clone(stage).fit_transform(X)))


def test_output_set_for_everyone_does_not_matter_to_a_pipeline_with_a_step_that_has_no_names():
    X, y = make_targets("binary")
    X, stage = X.toarray(), make_pipeline(Root(), MaxAbsScaler())
    expected = FeatureShaper(shape=None).fit_transform(clone(stage).fit_transform(X), y)
    shaper = FeatureShaper(shape=stage).set_output(transform="default")
    with config_context(transform_output="pandas"):
        np.testing.assert_allclose(shaper.fit_transform(X, y), expected)
    np.testing.assert_allclose(shaper.transform(X), expected)


def test_other_transformers_come_before_or_after_the_named_stages():
    X, y = make_targets("labels")
    X = X.toarray()
    before = FeatureShaper(shape=Root()).fit_transform(X, y)
    np.testing.assert_allclose(before, FeatureShaper(shape=None).fit_transform(np.sqrt(X), y))
    after = FeatureShaper(scale=Root(), norm=None).fit_transform(X, y)
    plain = FeatureShaper(scale=None, norm=None).fit_transform(X, y)
    np.testing.assert_allclose(after, np.sqrt(plain))


def test_stages_are_there_after_fitting():
    X, y = make_targets("binary")
    shaper = FeatureShaper(n_jobs=2).fit(X, y)
    assert isinstance(shaper.shaper_, LocalProbabilityShaper)
    assert isinstance(shaper.scaler_, BNSScaler)
    assert (shaper.shaper_.n_jobs, shaper.scaler_.n_jobs) == (2, 2)
    bare = FeatureShaper(shape=None, scale=None).fit(X, y)
    assert (bare.shaper_, bare.scaler_) == (None, None)
    assert bare.n_features_in_ == shaper.n_features_in_ == 40


def test_threads_change_nothing(monkeypatch):
    X, y = make_targets("labels")
    expected = FeatureShaper().fit_transform(X, y)
    monkeypatch.setattr(levels, "WORTH_A_THREAD", 100)
    shaped = FeatureShaper(n_jobs=2).fit_transform(X, y)
    np.testing.assert_array_equal(shaped.toarray(), expected.toarray())


@pytest.mark.parametrize("name", sorted(VARIANTS.keys() - {"nothing"}))
def test_documents_are_never_changed(name):
    X, y = make_targets("binary")
    before = X.toarray()
    shaped = FeatureShaper(**VARIANTS[name][0]).fit(X, y).transform(X)
    shaped.data[::2] = 0
    shaped.eliminate_zeros()
    np.testing.assert_array_equal(X.toarray(), before)


@KINDS_OF_TARGETS
@FORMS
@pytest.mark.parametrize("scale", ["bns", "times_bns", "center", None])
@pytest.mark.parametrize("shape", ["local_probability", "log_odds"])
def test_a_shape_is_what_values_become_before_the_norm(kind, make, scale, shape):
    X, y = make_targets(kind)
    make = sparse.csr_matrix.toarray if scale == "center" else make
    shaper = FeatureShaper(shape=shape, scale=scale, norm=None).fit(make(X), y)
    found = shaper.shape_of(7)
    queries = np.zeros((found.values.size + 1, 40))
    queries[:-1, 7] = found.values
    n_classes = len(found.images)
    images = to_dense(shaper.transform(make(sparse.csr_matrix(queries))))
    images = images[:, 7 * n_classes : 8 * n_classes]
    np.testing.assert_allclose(found.images.T, images[:-1], atol=1e-12)
    if make is sparse.csr_matrix:
        np.testing.assert_allclose(found.zero, images[-1], atol=1e-12)
    else:  # a value like others, which the bin for zeros knows nothing of
        assert (found.values[0], found.n_zero) == (0, 0)


@FORMS
def test_a_shape_is_the_same_beside_features_that_are_kept(make):
    X, y = make_targets("labels")
    plain = FeatureShaper().fit(make(X), y).shape_of(7)
    kept = FeatureShaper(keep_raw=True).fit(make(X), y).shape_of(7)
    np.testing.assert_array_equal(kept.images, plain.images)
    np.testing.assert_array_equal(kept.values, plain.values)


def test_the_shape_of_missing_values_is_stretched_too():
    X, y = np.array([[1.0], [2], [math.nan], [3], [math.nan]]), [0, 1, 1, 0, 0]
    shaper = FeatureShaper(norm=None, shape=LocalProbabilityShaper(n_neighbors=2)).fit(X, y)
    shape = shaper.shape_of("x0")
    np.testing.assert_allclose(shape.missing, shaper.transform([[math.nan]])[0])
    assert shape.n_missing == 2


@pytest.mark.parametrize(
    "options", [{"shape": None}, {"shape": "binary"}, {"shape": MaxAbsScaler()}]
)
def test_only_local_probability_has_a_shape(options):
    X, y = make_targets("binary")
    shaper = FeatureShaper(scale=None, **options).fit(X, y)
    with pytest.raises(ValueError, match="LocalProbabilityShaper to have feature shapes"):
        shaper.shape_of(0)


@pytest.mark.parametrize("scale", [MaxAbsScaler(), StandardScaler(with_std=False), Root()])
def test_a_shape_that_a_scaler_of_ones_own_has_changed_gets_a_sentence(scale):
    X, y = make_targets("binary")
    shaper = FeatureShaper(scale=scale, norm=None).fit(X.toarray(), y)
    for look in (shaper.shape_of, shaper.plot):
        with pytest.raises(ValueError, match="None or a BNSScaler to have feature shapes"):
            look(7)


@pytest.mark.parametrize("options", [{}, {"stretch": False}, {"smallest_rate": 0.1}])
def test_a_bns_scaler_of_ones_own_has_a_shape(options):
    X, y = make_targets("binary")
    shaper = FeatureShaper(scale=BNSScaler(**options), norm=None).fit(X, y)
    shape, query = shaper.shape_of(7), np.zeros((1, 40))
    query[0, 7] = shape.values[0]
    np.testing.assert_allclose(shape.images[0, 0], shaper.transform(query)[0, 7])


NAMES = [f"word{j}" for j in range(40)]


@EVERY_VARIANT
@pytest.mark.parametrize("kind", ["binary", "labels"])
def test_columns_are_named_by_the_stages(options, stages, norm, kind):
    X, y = make_targets(kind)
    frame = pd.DataFrame(X.toarray(), columns=NAMES)
    is_shaped = stages and isinstance(stages[0], LocalProbabilityShaper)
    suffixes = ["_0", "_1", "_2"] if kind == "labels" and is_shaped else [""]
    names = [name + suffix for name in NAMES for suffix in suffixes]
    shaper = FeatureShaper(**options)
    for output in ("pandas", "polars"):
        shaped = shaper.set_output(transform=output).fit_transform(frame, y)
        assert list(shaped.columns) == names
    assert shaper.get_feature_names_out().tolist() == names
    bare = FeatureShaper(**options).fit(X, y)
    assert bare.get_feature_names_out(NAMES).tolist() == names
    assert bare.get_feature_names_out()[0] == "x0" + suffixes[0]


def test_frames_with_names_are_shaped():
    columns = {"age": [30.0, 41, 52, 63, 28, 30], "job": ["a", "b", None, "a", "b", "a"]}
    y = [0, 1, 1, 0, 1, 0]
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        shaper = FeatureShaper()
        shaped = shaper.fit_transform(frame, y)
        expected = run_by_hand([SHAPED, BNSScaler()], "l2", frame, y, frame)[0]
        np.testing.assert_allclose(shaped, expected)
        assert shaper.shape_of("job").values.tolist() == ["a", "b"]
        assert shaper.get_feature_names_out().tolist() == ["age", "job"]


def test_columns_must_be_those_of_fit():
    X, y = make_targets("binary")
    frame = pd.DataFrame(X.toarray(), columns=NAMES)
    for options, _, _ in VARIANTS.values():
        shaper = FeatureShaper(**options).fit(frame, y)
        with pytest.raises(ValueError, match="must be in the same order"):
            shaper.transform(frame[NAMES[::-1]])
        with pytest.raises(ValueError, match="expecting 40 features"):
            FeatureShaper(**options).fit(X, y).transform(X[:, :9])


@EVERY_VARIANT
def test_a_shaper_can_be_pickled_and_cloned(options, stages, norm):
    X, y = make_targets("labels")
    shaper = FeatureShaper(**options).fit(X, y)
    again = pickle.loads(pickle.dumps(shaper))
    np.testing.assert_array_equal(again.transform(X).toarray(), shaper.transform(X).toarray())
    twin = clone(shaper)
    assert not hasattr(twin, "shaper_")
    np.testing.assert_array_equal(
        twin.fit(X, y).transform(X).toarray(), shaper.transform(X).toarray()
    )


@EVERY_VARIANT
@pytest.mark.parametrize("keep_raw", [True, False])
def test_output_set_for_everyone_does_not_matter(options, stages, norm, keep_raw):
    X, y = make_targets("binary")
    options = options | {"keep_raw": keep_raw}
    expected = FeatureShaper(**options).fit(X.toarray(), y).transform(X.toarray())
    with config_context(transform_output="pandas"):
        shaper = FeatureShaper(**options).fit(X.toarray(), y)
        shaped = shaper.transform(X.toarray())
        on_sparse = FeatureShaper(**options).set_output(transform="default").fit(X, y)
        assert sparse.issparse(on_sparse.transform(X))
    assert isinstance(shaped, pd.DataFrame)
    assert list(shaped.columns[:1]) == ["x0_raw" if keep_raw else "x0"]
    np.testing.assert_array_equal(shaped, expected)
    np.testing.assert_array_equal(shaper.transform(X.toarray()), shaped)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"norm": "l3"}, r"norm must be 'l2', 'l1', 'max' or None\. Got 'l3' instead\."),
        (
            {"scale": "idf"},
            r"scale must be 'bns', .*, None or a transformer\. Got 'idf' instead\.",
        ),
        ({"scale": 3}, r"scale must be 'bns', .*, None or a transformer\. Got 3 instead\."),
        (
            {"shape": "probability"},
            r"shape must be 'local_probability', 'log_odds', 'binary', None or a transformer\. "
            r"Got 'probability' instead\.",
        ),
        ({"shape": DualLinearSVC()}, r"None or a transformer\. Got DualLinearSVC\(\) instead\."),
    ],
)
def test_bad_parameters_get_a_sentence(options, sentence):
    X, y = make_targets("binary")
    with pytest.raises(ValueError, match=sentence):
        FeatureShaper(**options).fit(X, y)


def test_a_classifier_can_come_after():
    X, y = make_targets("labels")
    model = make_pipeline(FeatureShaper(), DualLinearSVC(random_state=0)).fit(X, y)
    assert model.score(X, y) > 0.8
    model.set_params(featureshaper__shape="log_odds", featureshaper__norm="l1").fit(X, y)
    assert isinstance(model[0].shaper_, LocalProbabilityShaper)
