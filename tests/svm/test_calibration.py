from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from spokeshave.svm.calibration import fit_sigmoid, fit_sigmoids, halve, sigmoid


def platt_loss(parameters, scores, positive, weight):
    """Return the cross-entropy against Platt's targets, written out."""
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    total = 0.0
    for score, is_positive, w in zip(scores, positive, weight, strict=True):
        target = (n_positive + 1) / (n_positive + 2) if is_positive else 1 / (n_negative + 2)
        p = 1 / (1 + np.exp(-(parameters[0] * score + parameters[1])))
        total -= w * (target * np.log(p) + (1 - target) * np.log(1 - p))
    return total


def test_the_sigmoid_is_the_most_likely_one(rng):
    scores = rng.normal(size=80)
    positive = scores + rng.normal(size=80) > 0.3
    weight = rng.uniform(0.5, 2, size=80)
    found = fit_sigmoid(scores, positive, weight)
    expected = minimize(
        platt_loss, [0, 0], (scores, positive, weight), "Nelder-Mead", options={"xatol": 1e-8}
    )
    np.testing.assert_allclose(found, expected.x, atol=1e-3)


def measure_loss(parameters, scores, positive, weight):
    """Return the same loss per document, safe from overflow."""
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    logits = parameters[0] * scores + parameters[1]
    return float(weight @ (np.logaddexp(0, logits) - target * logits) / weight.sum())


@st.composite
def make_scores(draw):
    """Draw scores within a few of zero, which of them are positive, and weights."""
    n = draw(st.integers(2, 25))
    scores = np.array(draw(st.lists(st.integers(-500, 500), min_size=n, max_size=n))) / 100
    kind = draw(st.sampled_from(["any", "separable", "reversed", "constant", "one"]))
    positive = {
        "any": np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))),
        "separable": scores > np.median(scores),
        "reversed": scores < np.median(scores),
        "constant": np.arange(n) % 3 == 0,
        "one": np.arange(n) == 0,
    }[kind]
    if kind == "constant":
        scores[:] = scores[0]
    return scores, positive, np.array(draw(st.lists(st.floats(0.01, 20), min_size=n, max_size=n)))


@settings(deadline=None, max_examples=50)
@given(make_scores(), st.integers(-250, 250), st.sampled_from([0.0, 0.1, -30.0]))
def test_no_sigmoid_is_more_likely_on_any_scale(case, exponent, shift):
    base, positive, weight = case
    scores = (base + shift) * 10.0**exponent
    found = fit_sigmoid(scores, positive, weight)
    assert np.isfinite(found).all()
    assert np.isfinite(sigmoid(scores, *found)).all()
    arguments = base, positive, weight
    best = minimize(measure_loss, [0, 0], arguments, "BFGS", options={"gtol": 1e-10})
    # BFGS may stop before the minimum, so that the loss found here can be below its loss.
    assert measure_loss(found, scores, positive, weight) <= best.fun + 1e-9


@pytest.mark.parametrize("outlier", [1e3, -1e6, 1e9])
def test_an_outlier_does_not_hide_the_other_scores(outlier, rng):
    scores = np.append(rng.normal(size=30), outlier)
    positive = scores + rng.normal(size=31) > 0
    weight = np.ones(31)
    found = measure_loss(fit_sigmoid(scores, positive, weight), scores, positive, weight)
    best = minimize(
        measure_loss, [0, 0], (scores, positive, weight), "Nelder-Mead", options={"maxiter": 4000}
    )
    assert found < best.fun + 1e-9


@pytest.mark.parametrize("middle", [0.1, -3.0, 1e8])
def test_scores_that_differ_by_rounding_are_equal(middle, rng):
    scores = middle * (1 + 2e-16 * rng.integers(-1, 2, size=12))
    slope, offset = fit_sigmoid(scores, np.arange(12) < 3, np.ones(12))
    np.testing.assert_allclose(sigmoid(scores, slope, offset), 0.8 * 0.25 + 0.75 / 11, atol=1e-6)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e200, 1e308])
def test_the_largest_and_the_smallest_numbers_are_scores(scale):
    scores = np.array([-1.0, -1.0, 1.0, 1.0]) * scale
    found = fit_sigmoid(scores, scores > 0, np.ones(4))
    assert np.isfinite(found).all()
    assert np.isfinite(sigmoid(scores, *found)).all()


def test_separable_scores_have_a_finite_slope():
    scores = np.linspace(-3, 3, 20)
    slope, offset = fit_sigmoid(scores, scores > 0, np.ones(20))
    assert 0 < slope < 100
    assert offset == pytest.approx(0, abs=1e-3)


def test_one_class_only_gives_its_smoothed_share():
    slope, offset = fit_sigmoid(np.zeros(8), np.zeros(8, bool), np.ones(8))
    np.testing.assert_allclose(sigmoid([0.0], slope, offset), 0.1, atol=1e-3)


def test_each_class_has_a_sigmoid_of_its_own(rng):
    scores = rng.normal(size=(60, 3))
    positive = scores + rng.normal(size=(60, 3)) > [0.3, 0, -0.5]
    weight = rng.uniform(0.5, 2, size=60)
    found = fit_sigmoids(scores, sparse.csc_matrix(positive.astype(int)), weight)
    expected = [
        fit_sigmoid(*of_class, weight) for of_class in zip(scores.T, positive.T, strict=True)
    ]
    assert found.shape == (2, 3)
    np.testing.assert_array_equal(found.T, expected)


TARGETS = {
    "labels": np.arange(23) % 3,
    "names": np.array(["ash", "oak"])[np.arange(23) % 5 // 4],
    "multilabel": np.arange(46).reshape(23, 2) % 3 % 2,
    "sparse": sparse.csr_matrix(np.arange(46).reshape(23, 2) % 3 % 2),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_each_half_is_trained_on_once_and_scored_once(kind):
    (one, other), (train, test) = halve(TARGETS[kind], 0)
    np.testing.assert_array_equal(one, test)
    np.testing.assert_array_equal(other, train)
    np.testing.assert_array_equal(np.sort(np.concatenate([one, other])), np.arange(23))
    assert abs(one.size - other.size) <= 1


@pytest.mark.parametrize("kind", ["labels", "names"])
def test_halves_have_as_many_of_each_label(kind):
    y = TARGETS[kind]
    for one, other in halve(y, 0):
        counts = [np.unique(y[half], return_counts=True)[1] for half in (one, other)]
        assert np.abs(np.subtract(*counts)).max() <= 1


def test_halves_are_drawn_by_the_seed():
    y = TARGETS["labels"]
    one, same, other = (next(halve(y, seed))[0].tolist() for seed in (0, 0, 1))
    assert one == same != other


def test_two_documents_of_a_class_are_enough():
    y = np.array(["ash", "oak", "ash", "oak", "ash"])
    for half in next(halve(y, 0)):
        assert set(y[half]) == {"ash", "oak"}


def test_a_class_of_one_document_cannot_be_halved():
    with pytest.raises(ValueError, match=r"two documents of each class or more\. Got one of 'yew'"):
        next(halve(np.array(["ash", "ash", "oak", "oak", "yew"]), 0))
