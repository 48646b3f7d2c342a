from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from spokeshave.calibration import fit_sigmoid, fit_sigmoids, halve, sigmoid


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
