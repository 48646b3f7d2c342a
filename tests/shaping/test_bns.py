"""Separation by hand, by brute force, and by the ranking of the same name."""

from __future__ import annotations

import pickle
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone

from made_up import make_targets, make_text
from spokeshave import BNSScaler, LocalProbabilityShaper, rank_features
from spokeshave.shaping import levels
from spokeshave.shaping.bns import (
    Separation,
    find_rates,
    find_scale,
    separate_classes,
    separate_shapes,
)
from spokeshave.shaping.levels import count_class, find_levels
from spokeshave.shaping.shapes import map_levels

PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)
CELLS = st.sampled_from([-1.0, 0.0, 0.0, 1.0, 2.0]) | st.floats(-9, 9, width=16)
KINDS_OF_TARGETS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])


@st.composite
def problems(draw):
    """Draw a table and labels of two classes."""
    X = draw(arrays(np.float64, st.tuples(st.integers(2, 25), st.integers(1, 3)), elements=CELLS))
    y = draw(arrays(np.int64, len(X), elements=st.integers(0, 1)))
    y[:2] = 0, 1
    return X, y


def bend(rate, smallest=0.0005):
    """Return the inverse normal distribution of a rate kept off 0 and 1."""
    return NormalDist().inv_cdf(min(max(rate, smallest), 1 - smallest))


def separate_naively(column, positive, smallest=0.0005):
    """Return the best separation over all thresholds."""
    thresholds = sorted(set(column))[1:]
    rates = [((column >= t)[positive].mean(), (column >= t)[~positive].mean()) for t in thresholds]
    return max((abs(bend(tpr, smallest) - bend(fpr, smallest)) for tpr, fpr in rates), default=0)


def to_dense(X):
    return X.toarray() if sparse.issparse(X) else X


def make_binary(n_true, n_false, of=(20, 30)):
    """Return a binary column that so many of 20 positives and of 30 negatives have."""
    column = [1.0] * n_true + [0.0] * (of[0] - n_true) + [1.0] * n_false
    return np.array([column + [0.0] * (of[1] - n_false)]).T, np.repeat([1, 0], of)


@pytest.mark.parametrize(
    ("n_true", "n_false", "expected"),
    [
        (10, 15, 0),  # .5 and .5
        (10, 3, 1.2815515655),  # .5 and .1
        (3, 27, 2.3179849550),  # .15 and .9
        (20, 0, 6.5810534629),  # 1 and 0, as .9995 and .0005
        (0, 15, 3.2905267315),  # 0 and .5
        (0, 0, 0),
        (20, 30, 0),
    ],
)
def test_binary_features_by_hand(n_true, n_false, expected):
    X, y = make_binary(n_true, n_false)
    for documents in (X, sparse.csr_matrix(X)):
        scaler = BNSScaler().fit(documents, y)
        np.testing.assert_allclose(scaler.bns_, [expected], atol=1e-9)
        shaped = to_dense(scaler.transform(documents))
        is_constant = n_true + n_false in (0, 50)
        np.testing.assert_allclose(shaped, 0 * X if is_constant else expected * X, atol=1e-9)


@pytest.mark.parametrize(
    ("smallest_rate", "expected"),
    [
        (0.0005, 6.5810534629),
        (0.1, 2.5631031311),  # .9 and .1
        (0.25, 1.3489795004),
        ("1/n", 4.1074978211),  # .98 and .02, of 50 documents
        (np.float32(0.1), 2.5631031311),
    ],
)
def test_a_perfect_feature_separates_as_far_as_rates_may_go(smallest_rate, expected):
    X, y = make_binary(20, 0)
    for documents in (X, sparse.csr_matrix(X)):
        scaler = BNSScaler(smallest_rate=smallest_rate).fit(documents, y)
        np.testing.assert_allclose(scaler.bns_, [expected], rtol=1e-6)


@PROPERTY
@given(problems(), st.sampled_from([1e-6, 0.01, 0.3, "1/n"]), st.booleans())
def test_rates_are_kept_off_the_ends_as_asked(problem, smallest_rate, is_sparse):
    X, y = problem
    smallest = 1 / len(X) if smallest_rate == "1/n" else smallest_rate
    expected = [separate_naively(column, y == 1, smallest) for column in X.T]
    scaler = BNSScaler(smallest_rate=smallest_rate).fit(sparse.csr_matrix(X) if is_sparse else X, y)
    np.testing.assert_allclose(scaler.bns_, expected, atol=1e-9)


@pytest.mark.parametrize("smallest_rate", [0, 0.5, -0.1, 1, "n", "1/m", None, np.nan, True])
def test_a_smallest_rate_that_is_none_gets_a_sentence(smallest_rate):
    sentence = rf"smallest_rate must be '1/n' or between 0 and 0\.5\. Got {smallest_rate!r} instead"
    with pytest.raises(ValueError, match=sentence):
        BNSScaler(smallest_rate=smallest_rate).fit([[1.0], [2.0]], [0, 1])


def test_rates_are_of_each_class():
    for smallest_rate, smallest in ((0.01, 0.01), ("1/n", 0.025)):
        found = find_rates(np.array([3, 40, 0]), 40, smallest_rate)
        for of_class, n_positive in zip(found, (3, 40, 0), strict=True):
            (alone,) = find_rates([n_positive], 40, smallest)
            for one, other in zip(of_class, alone, strict=True):
                np.testing.assert_array_equal(one, other)


def test_a_separation_by_hand():
    cell_levels = find_levels(sparse.csr_matrix([[1.0], [1.0], [2.0], [3.0], [0.0], [0.0]]))
    positives = count_class(cell_levels, np.array([2, 3, 4]))
    np.testing.assert_array_equal(positives, [1, 0, 0, 1, 1])
    rates = find_rates([3], 6, 0.0005)
    found = separate_classes(cell_levels.levels, positives[None], cell_levels.levels.values, rates)
    # Above 1 lie two positives of three and no negative; below 1 one of three of either kind.
    np.testing.assert_allclose(found.bns, bend(2 / 3) - bend(0.0005))
    assert (found.lowest[0], found.highest[0]) == (0, 3)
    # Images that differ by no more than 1 count as equal: all but the last.
    images = np.array([0.0, np.nan, 1.0, 2.0, 9.0])
    found = separate_classes(cell_levels.levels, positives[None], images, rates, 1.0)
    np.testing.assert_allclose(found.bns, bend(0.9995) - bend(2 / 3))
    assert (found.lowest[0], found.highest[0]) == (0, 9)


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1e-9, 0.0005, 0.1, 0.49]))
def test_rates_are_transformed_by_the_inverse_normal_distribution(n_positive, n_negative, smallest):
    (rates,) = find_rates([n_positive], n_positive + n_negative, smallest)
    for size, found in zip((n_positive, n_negative), rates, strict=True):
        expected = [bend(n / size, smallest) for n in range(size + 1)]
        np.testing.assert_allclose(found, expected, atol=1e-9)
        assert all(below <= above for below, above in pairwise(found))


@pytest.mark.parametrize("n_positive", [0, 4])
def test_a_class_of_none_or_all_documents_is_not_separated(n_positive):
    cell_levels = find_levels(sparse.csr_matrix([[1.0], [3.0], [0.0], [2.0]]))
    rates = find_rates([n_positive], 4, 0.0005)
    assert [of_side.size for of_side in rates[0]] == [n_positive + 1, 5 - n_positive]
    positives = count_class(cell_levels, np.arange(n_positive))
    found = separate_classes(cell_levels.levels, positives[None], cell_levels.levels.values, rates)
    assert (found.bns[0], found.lowest[0], found.highest[0]) == (0, 0, 3)


FOUND = Separation(np.array([2.0, 3.0, 1.0]), np.array([-1.0, 2.0, -4.0]), np.array([3.0, 6, -2]))


@pytest.mark.parametrize(
    ("stretch", "zero_is_fixed", "base", "factor"),
    [
        (True, False, [-1, 2, -4], [2 / 4, 3 / 4, 1 / 2]),
        (True, True, [0, 0, 0], [2 / 4, 3 / 6, 1 / 4]),
        (False, False, [0, 0, 0], [2, 3, 1]),
        (False, True, [0, 0, 0], [2, 3, 1]),
    ],
)
def test_columns_are_stretched_from_the_least_or_from_zero(stretch, zero_is_fixed, base, factor):
    found = find_scale(FOUND, stretch=stretch, zero_is_fixed=zero_is_fixed)
    np.testing.assert_array_equal(found, [base, factor])


@pytest.mark.parametrize("zero_is_fixed", [True, False])
@pytest.mark.parametrize("extent", [0.0, 5e-324, 1e-300])
def test_extents_too_small_to_stretch_are_none(extent, zero_is_fixed):
    found = Separation(np.array([2.0]), np.array([0.0]), np.array([extent]))
    base, factor = find_scale(found, stretch=True, zero_is_fixed=zero_is_fixed)
    assert (base[0], factor[0]) == (0, 0)
    larger = found._replace(highest=np.array([2e-300]))
    assert find_scale(larger, stretch=True, zero_is_fixed=zero_is_fixed)[1][0] == 2 / 2e-300


@PROPERTY
@given(problems())
def test_dense_columns_lie_between_zero_and_their_separation(problem):
    X, y = problem
    scaler = BNSScaler().fit(X, y)
    bns = np.array([separate_naively(column, y == 1) for column in X.T])
    np.testing.assert_allclose(scaler.bns_, bns, atol=1e-12)
    np.testing.assert_array_equal(scaler.min_, X.min(axis=0))
    scaled = scaler.transform(X)
    np.testing.assert_allclose(scaled.min(axis=0), 0)
    np.testing.assert_allclose(scaled.max(axis=0), bns, atol=1e-12)
    extent = np.ptp(X, axis=0)
    expected = (X - X.min(axis=0)) * np.where(extent > 0, bns / np.where(extent, extent, 1), 0)
    np.testing.assert_allclose(scaled, expected, atol=1e-12)


@PROPERTY
@given(problems(), st.sampled_from([sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array]))
def test_sparse_columns_keep_their_zeros(problem, make):
    X, y = problem
    scaler = BNSScaler().fit(make(X), y)
    bns = np.array([separate_naively(column, y == 1) for column in X.T])
    np.testing.assert_allclose(scaler.bns_, bns, atol=1e-12)
    assert not scaler.min_.any()
    extent = np.maximum(X.max(axis=0), 0) - np.minimum(X.min(axis=0), 0)
    scaled = scaler.transform(make(X))
    assert sparse.issparse(scaled)
    assert scaled.nnz <= np.count_nonzero(X)
    np.testing.assert_allclose(scaled.toarray(), X * bns / np.where(extent, extent, 1), atol=1e-12)
    np.testing.assert_allclose(scaler.transform(X), scaled.toarray(), atol=1e-12)


@PROPERTY
@given(problems(), st.sampled_from([np.asarray, sparse.csr_matrix]))
def test_columns_can_be_multiplied_by_their_separation(problem, make):
    X, y = problem
    scaler = BNSScaler(stretch=False).fit(make(X), y)
    bns = BNSScaler().fit(make(X), y).bns_
    np.testing.assert_array_equal(scaler.bns_, bns)
    np.testing.assert_array_equal(scaler.scale_, bns)
    assert not scaler.min_.any()
    for documents in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(to_dense(scaler.transform(documents)), X * bns)


@pytest.mark.parametrize("value", [0.0, -2.0, 3.5])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_constant_columns_vanish(value, make):
    X, y = make(np.full((6, 1), value)), [0, 1] * 3
    scaler = BNSScaler().fit(X, y)
    assert (scaler.bns_[0], scaler.scale_[0]) == (0, 0)
    assert not to_dense(scaler.transform(X)).any()


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])
@pytest.mark.parametrize("kind", ["labels", "multilabel"])
def test_the_largest_of_any_class_counts(kind, make):
    X, y = make_targets(kind)
    X = make(X)
    of_class = [y[:, k] if kind == "multilabel" else y == k for k in range(3)]
    expected = np.max([BNSScaler().fit(X, label).bns_ for label in of_class], axis=0)
    np.testing.assert_allclose(BNSScaler().fit(X, y).bns_, expected)


def test_a_class_without_documents_does_not_count(rng):
    X, y = rng.integers(0, 3, (40, 4)).astype(float), np.arange(40) % 2
    expected = BNSScaler().fit(X, y).bns_
    for empty in (np.zeros(40, int), np.ones(40, int)):
        scaler = BNSScaler().fit(X, np.column_stack([y, empty]))
        np.testing.assert_allclose(scaler.bns_, expected)


@KINDS_OF_TARGETS
def test_presence_is_ranked_alike(kind):
    y = make_targets(kind)[1]
    X = make_text(2 if kind == "binary" else 3, is_binary=True)[0]
    X.data[:] = 1
    ranking = rank_features(X, y, by="bns")
    np.testing.assert_allclose(BNSScaler().fit(X, y).bns_, ranking.scores.max(axis=0), atol=1e-12)


@PROPERTY
@given(
    problems(),
    st.sampled_from([0, 1, 3, 6, 30]),
    st.sampled_from(["auto", "bin", "value"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([{}, {"stretch": False}, {"smallest_rate": "1/n"}]),
)
def test_shapes_are_separated_as_what_they_make_of_documents(
    problem, n_neighbors, zero, is_sparse, is_log, options
):
    X, y = problem
    X = sparse.csr_matrix(X) if is_sparse else X
    output = "log_odds" if is_log else "probability"
    shaper = LocalProbabilityShaper(n_neighbors=n_neighbors, output=output, zero=zero)
    shaped = shaper.fit_transform(X, y)
    zero_is_fixed = is_sparse or zero == "bin"
    how = {"output": output, "zero_is_fixed": zero_is_fixed}
    scaler = BNSScaler(**options)._fit_shapes(shaper.shapes_, **how)
    # If zeros stay zero, shaped documents are scaled like sparse ones.
    rounded = to_dense(shaped).round(12)
    expected = BNSScaler(**options).fit(sparse.csr_matrix(rounded) if zero_is_fixed else rounded, y)
    for name in ("bns_", "min_", "scale_"):
        found = getattr(scaler, name)
        np.testing.assert_allclose(found, getattr(expected, name), rtol=1e-9, atol=1e-11)
    assert scaler.n_features_in_ == shaped.shape[1]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_matrix.toarray])
@pytest.mark.parametrize("kind", ["labels", "multilabel"])
def test_shapes_of_many_classes_are_separated_side_by_side(kind, make):
    X, y = make_targets(kind)
    X = make(X)
    shaper = LocalProbabilityShaper()
    shaped = shaper.fit_transform(X, y)
    how = {"output": "probability", "zero_is_fixed": sparse.issparse(X)}
    scaler = BNSScaler()._fit_shapes(shaper.shapes_, **how)
    expected = BNSScaler().fit(shaped, y)
    assert scaler.bns_.shape == (120,)
    for name in ("bns_", "min_", "scale_"):
        np.testing.assert_allclose(getattr(scaler, name), getattr(expected, name), atol=1e-9)


def test_estimates_that_are_equal_but_for_rounding_are_not_separated():
    rng = np.random.default_rng(220)
    values, y = rng.integers(0, 12, 60), (rng.random(60) < 0.3).astype(int)
    shaper = LocalProbabilityShaper(n_neighbors=12)
    shaped = shaper.fit_transform(values[:, None].astype(float), y)
    # To twelve digits, far more than the estimates differ by where they differ at all.
    expected = BNSScaler().fit(shaped.round(12), y).bns_
    scaler = BNSScaler()._fit_shapes(shaper.shapes_, output="probability", zero_is_fixed=False)
    np.testing.assert_allclose(scaler.bns_, expected)
    assert BNSScaler().fit(shaped, y).bns_ > expected + 0.1


def test_amounts_that_differ_by_little_are_separated():
    X, y = np.array([[1.0], [1 + 1e-15], [1], [1 + 1e-15]]), [0, 1, 0, 1]
    scaler = BNSScaler().fit(X, y)
    np.testing.assert_allclose(scaler.bns_, 2 * bend(1))
    np.testing.assert_allclose(scaler.transform(X).ravel(), [0, 2 * bend(1)] * 2)


@pytest.mark.parametrize("output", ["probability", "log_odds"])
@pytest.mark.parametrize("zero_is_fixed", [True, False])
def test_the_image_of_zero_moves_the_ends_but_not_the_separation(output, zero_is_fixed):
    X, y = make_targets("labels")
    shaper = LocalProbabilityShaper(n_neighbors=6).fit(X, y)
    shapes, levels_ = shaper.shapes_, shaper.shapes_.levels
    rates = find_rates(shapes.n_positive, 90, 0.0005)
    for k in range(3):
        images = map_levels(shapes, k, output)
        found = separate_shapes(shapes, k, output, rates, zero_is_fixed=zero_is_fixed)
        expected = separate_classes(levels_, shapes.positives, images, rates, 1e-12)
        np.testing.assert_array_equal(found.bns, expected.bns)
        zero = images[levels_.zero_level] if zero_is_fixed else 0
        np.testing.assert_array_equal(found.lowest, expected.lowest - zero)
        np.testing.assert_array_equal(found.highest, expected.highest - zero)


@pytest.mark.parametrize("tolerance", [0.0, 0.5, 5.0])
def test_images_within_the_tolerance_count_as_one_for_every_class(rng, tolerance):
    X, y = rng.integers(1, 7, (40, 3)) * [0.4, 1.0, 0.6], rng.integers(0, 3, 40)
    cell_levels = find_levels(sparse.csr_matrix(X))
    positives = np.array([count_class(cell_levels, np.flatnonzero(y == k)) for k in range(3)])
    rates = find_rates(np.bincount(y), 40, 0.0005)
    found = separate_classes(
        cell_levels.levels, positives, cell_levels.levels.values, rates, tolerance
    )
    # Steps of 0.4 are within a tolerance of 0.5, and all steps within one of 5.
    is_one = np.array([tolerance > 0.4, tolerance > 1, tolerance > 0.6])
    expected = [max(separate_naively(column, y == k) for k in range(3)) for column in X.T]
    np.testing.assert_allclose(found.bns, np.where(is_one, 0, expected), atol=1e-9)
    np.testing.assert_array_equal((found.lowest, found.highest), (X.min(axis=0), X.max(axis=0)))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-300])
def test_columns_of_tiny_values_are_constant(make, tiny):
    X = make(np.array([[0, 1.0], [tiny, 2.0], [0, 1.0], [tiny, 2.0]]))
    scaler = BNSScaler()
    scaled = to_dense(scaler.fit_transform(X, [0, 1, 0, 1]))
    assert scaler.scale_[0] == 0
    assert not scaled[:, 0].any()
    assert scaled[:, 1].any()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("dtype", "tiny"), [(np.float64, 1e-299), (np.float32, 1e-40)])
def test_columns_of_small_values_stay_finite(make, dtype, tiny):
    X = make(np.array([[0], [tiny], [0], [tiny]], dtype))
    assert np.isfinite(to_dense(BNSScaler().fit_transform(X, [0, 1, 0, 1]))).all()


def test_threads_change_nothing(monkeypatch):
    X, y = make_targets("labels")
    expected = BNSScaler().fit(X, y).bns_
    monkeypatch.setattr(levels, "WORTH_A_THREAD", 100)
    np.testing.assert_array_equal(BNSScaler(n_jobs=2).fit(X, y).bns_, expected)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_documents_are_never_changed(rng, make):
    X, y = make(rng.choice([0.0, 0.0, 1.0, 2.0], (30, 4))), np.arange(30) % 2
    before = to_dense(X).copy()
    scaled = BNSScaler().fit_transform(X, y)
    assert type(scaled) is type(X)
    if sparse.issparse(X):
        scaled.data[::2] = 0
        scaled.eliminate_zeros()
    else:
        scaled[:] = 0
    np.testing.assert_array_equal(to_dense(X), before)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_single_precision_stays_single(rng, make):
    X, y = make(rng.integers(0, 4, (30, 3)).astype(np.float32)), np.arange(30) % 2
    assert BNSScaler().fit_transform(X, y).dtype == np.float32


def test_sparse_after_dense_gets_a_sentence():
    X, y = np.array([[1.0], [3.0], [2.0]]), [0, 1, 1]
    scaler = BNSScaler().fit(X, y)
    with pytest.raises(ValueError, match=r"X must be dense, as it was in fit: some features are"):
        scaler.transform(sparse.csr_matrix(X))
    unshifted = BNSScaler().fit(X - 1, y)
    scaled = unshifted.transform(sparse.csr_matrix(X - 1))
    np.testing.assert_array_equal(scaled.toarray(), unshifted.transform(X - 1))
    multiplied = BNSScaler(stretch=False).fit(X, y)
    scaled = multiplied.transform(sparse.csr_matrix(X))
    np.testing.assert_array_equal(scaled.toarray(), multiplied.transform(X))


def test_missing_values_get_a_sentence():
    with pytest.raises(ValueError, match="contains NaN"):
        BNSScaler().fit([[np.nan], [1.0]], [0, 1])


def test_columns_keep_their_names():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "wage": [3.0, 1.0, 2.0]})
    scaler = BNSScaler().set_output(transform="pandas").fit(frame, [0, 1, 1])
    assert list(scaler.transform(frame).columns) == ["age", "wage"]
    assert scaler.get_feature_names_out().tolist() == ["age", "wage"]


def test_a_scaler_can_be_pickled_and_cloned():
    X, y = make_targets("binary")
    scaler = BNSScaler(n_jobs=2, stretch=False, smallest_rate="1/n").fit(X, y)
    again = pickle.loads(pickle.dumps(scaler))
    np.testing.assert_array_equal(again.transform(X).data, scaler.transform(X).data)
    assert clone(scaler).get_params() == scaler.get_params()
