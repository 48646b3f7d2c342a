from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from spokeshave.calibration import fit_sigmoid, sigmoid


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
