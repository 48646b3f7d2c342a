"""Platt's sigmoid: from the scores of a classifier to probabilities.

J. Platt, "Probabilistic outputs for support vector machines", 1999.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.model_selection import KFold, StratifiedKFold

MOST_STEPS, SHORTEST_STEP = 100, 1e-10
SMALLEST_GAIN = 1e-12  # of the loss, by Newton's forecast
ROUNDING = 1e-12  # scores that differ by less, relative to the largest, are equal
SMALLEST_SPREAD = 1e-300  # one over it, and a thousand times that, is a number
DAMPING = 1e-12  # keeps Newton's equations solvable where all scores are equal


def sigmoid(scores: ArrayLike, slope: ArrayLike, offset: ArrayLike) -> NDArray[np.float64]:
    """Return the probability of the positive class at each score.

    Examples
    --------
    >>> sigmoid([-1.0, 0.0], slope=2.0, offset=0.0).round(3)
    array([0.119, 0.5  ])
    """
    return np.asarray(expit(np.asarray(slope) * np.asarray(scores) + np.asarray(offset)))


def fit_sigmoid(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], weight: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the slope and offset of the most likely sigmoid of the scores.

    By Newton's method with steps that are halved until they gain (Lin, Lin and Weng, "A note on
    Platt's probabilistic outputs", 2007). Targets are Platt's: not 0 and 1 but what a
    uniform prior leaves of them, so that separable scores do not give an infinite slope.

    Examples
    --------
    >>> scores = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> slope, offset = fit_sigmoid(scores, scores > 0, np.ones(4))
    >>> sigmoid(scores, slope, offset).round(2)
    array([0.21, 0.34, 0.66, 0.79])
    """
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    parameters = np.array([0.0, np.log((n_positive + 1) / (n_negative + 1))])
    centre, spread = _find_span(scores)
    design = np.column_stack([(scores - centre) / spread, np.ones_like(scores)])
    share = weight / weight.sum()
    loss, logits = _cross_entropy(design, parameters, target, share)
    for _ in range(MOST_STEPS):
        probability = expit(logits)
        gradient = design.T @ (share * (probability - target))
        curvature = share * probability * (1 - probability)
        hessian = (design.T * curvature) @ design + DAMPING * np.eye(2)
        step, length = np.linalg.solve(hessian, gradient), 1.0
        if gradient @ step < SMALLEST_GAIN:
            break
        while True:
            tried = parameters - length * step
            new_loss, new_logits = _cross_entropy(design, tried, target, share)
            if new_loss <= loss - 1e-4 * length * (gradient @ step) or length < SHORTEST_STEP:
                break
            length /= 2
        if length < SHORTEST_STEP:  # rounding hides what is left to gain
            break
        parameters, loss, logits = tried, new_loss, new_logits
    slope = parameters[0] / spread
    return float(slope), float(parameters[1] - slope * centre)


def _find_span(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return the middle of the scores and how far they lie from it, or far more if by rounding."""
    lowest, highest, largest = scores.min() / 2, scores.max() / 2, np.abs(scores).max()
    centre, spread = float(lowest + highest), float(highest - lowest)
    is_known = spread > max(ROUNDING * largest, SMALLEST_SPREAD)
    return centre, spread if is_known else max(float(largest), 1.0)


def _cross_entropy(
    design: NDArray[np.float64],
    parameters: NDArray[np.float64],
    target: NDArray[np.float64],
    share: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    logits = design @ parameters
    return float(share @ (np.logaddexp(0, logits) - target * logits)), logits


def fit_sigmoids(
    scores: NDArray[np.float64], indicator: sparse.csc_matrix, weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the slopes and the offsets (2 x classes) of scores (documents x classes)."""
    positive = indicator.toarray() > 0
    pairs = zip(scores.T, positive.T, strict=True)
    return np.transpose([fit_sigmoid(of_class, is_class, weight) for of_class, is_class in pairs])


def halve(y: Any, random_state: Any) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield two splits into halves, one to train on and one to score, with every label in both."""
    check_calibration(y)
    if y.ndim == 2:
        yield from KFold(2, shuffle=True, random_state=random_state).split(np.empty(y.shape[0]))
    else:
        yield from StratifiedKFold(2, shuffle=True, random_state=random_state).split(y, y)


def check_calibration(y: Any) -> None:
    """Raise ValueError if a label has a single document: one to train on and one to score."""
    if y.ndim == 2:
        return
    names, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        rare = str(names[counts.argmin()])
        raise ValueError(
            f"probability=True needs two documents of each class or more. Got one of {rare!r}."
        )
