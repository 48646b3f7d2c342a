"""Thresholds of classes, from scores of documents that the model was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LOWEST_F1 = 0.1  # below it, a threshold lets in far more of the rest than of the class
PRIOR_POSITIVES = 10  # a class with so many positives is halfway between its own threshold and all
MICRO_SHARE = 0.1  # share of the threshold of the best micro-F1 in every threshold


class Steps(NamedTuple):
    """The distinct scores of a class, highest first, and the documents at or above each.

    ``right`` are those of the class, ``predicted`` are all; ``positive`` is the number of documents
    of the class. Documents of a weight count by it.
    """

    scores: NDArray[np.float64]
    right: NDArray[Any]
    predicted: NDArray[Any]
    positive: float

    @property
    def f1(self) -> NDArray[np.float64]:
        """F1 if all documents from each score upwards are predicted."""
        return np.asarray(2 * self.right / (self.predicted + self.positive))


def count_steps(
    scores: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None = None,
) -> Steps:
    """Count the documents at or above each score, or add up their weights.

    Documents so low that F1 is below `LOWEST_F1` from there on count as one tie, so that memory
    grows with the labels of documents, and not with documents times classes.

    Examples
    --------
    >>> steps = count_steps(np.array([0.2, 0.9, 0.2]), np.array([True, True, False]))
    >>> steps.scores, steps.right, steps.predicted
    (array([0.9, 0.2]), array([1, 2]), array([1, 3]))
    """
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    counted: NDArray[Any] = np.ones(order.size, np.int64) if weight is None else weight[order]
    right, predicted = np.cumsum(is_positive[order] * counted), np.cumsum(counted)
    positive = right[-1].item() if right.size else 0
    rest = int(np.searchsorted(predicted, 2 * (positive or 1) / LOWEST_F1, side="right"))
    scores[rest:] = scores[rest : rest + 1]
    at = np.flatnonzero(np.append(scores[:-1] > scores[1:], True)[: scores.size])
    return Steps(scores[at], right[at], predicted[at], positive)


def find_common(classes: Sequence[Steps], average: str) -> float:
    """Return the threshold of the best macro- or micro-F1 if all classes have the same one.

    It is the middle between two neighbouring scores; of several equally good ones, the highest.
    Zero without positives.

    Examples
    --------
    >>> steps = count_steps(np.array([0.2, 0.9, 0.5]), np.array([False, True, True]))
    >>> round(find_common([steps], "macro"), 2)
    0.35
    """
    known = [each for each in classes if each.scores.size]
    n_positive = sum(each.positive for each in known)
    if not n_positive:
        return 0.0
    scores = np.concatenate([each.scores for each in known])
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]

    def add_up(fields: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the sum over classes at every score."""
        return np.cumsum(np.concatenate([np.diff(each, prepend=0) for each in fields])[order])

    if average == "micro":
        predicted = add_up([each.predicted.astype(float) for each in known])
        right = add_up([each.right.astype(float) for each in known])
        values = 2 * right / (predicted + n_positive)
    else:
        values = add_up([each.f1 for each in known])
    is_last = np.append(scores[:-1] > scores[1:], True)
    best = int(np.argmax(np.where(is_last, values, -1.0)))
    if best + 1 == scores.size:
        return float(np.nextafter(scores[best], -np.inf))
    middle = scores[best + 1] + (scores[best] - scores[best + 1]) / 2
    return float(min(middle, np.nextafter(scores[best], -np.inf)))


def tune_thresholds(classes: Sequence[Steps], average: str | None) -> NDArray[np.float64]:
    """Return the threshold of each class, given scores of documents it was not trained on.

    For the micro-average, all classes have the threshold of the best micro-F1. Otherwise each has
    that of its own best F1, shrunk to the common threshold of the best macro-F1 the more, the fewer
    its positives: n of them have a weight of n / (n + `PRIOR_POSITIVES`). A class whose F1 is below
    `LOWEST_F1` has no weight, as in SCutFBR of Yang (2001). A tenth of the result is the threshold
    of the best micro-F1.

    Examples
    --------
    >>> steps = count_steps(np.array([0.2, 0.9, 0.5]), np.array([False, True, True]))
    >>> none = count_steps(np.array([-0.9, -0.8, -0.7]), np.array([False, False, False]))
    >>> tune_thresholds([steps, none], "macro").round(2)
    array([0.35, 0.35])
    """
    micro = find_common(classes, "micro")
    if average == "micro":
        return np.full(len(classes), micro)
    own = np.array([find_common([each], "macro") for each in classes])
    positive = np.array([each.positive for each in classes], float)
    is_found = np.array([each.f1.max(initial=0.0) >= LOWEST_F1 for each in classes])
    weight = np.where(is_found, positive / (positive + PRIOR_POSITIVES), 0.0)
    shrunk = weight * own + (1 - weight) * find_common(classes, "macro")
    return np.asarray((1 - MICRO_SHARE) * shrunk + MICRO_SHARE * micro)
