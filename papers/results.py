"""Results of tasks: measures of scores, and arrays as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_auc_score


def measure_scores(y: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return the AUC and the best F1 over all thresholds."""
    precision, recall, _ = precision_recall_curve(y, scores)
    best = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12))
    return float(roc_auc_score(y, scores)), float(best)


def to_json(values: Any, digits: int) -> Any:
    """Return an array as nested lists of rounded numbers, None for NaN and infinity.

    Examples
    --------
    >>> to_json([[0.25, np.nan], [1, 1 / 3]], 3)
    [[0.25, None], [1.0, 0.333]]
    """
    numbers = np.asarray(values, float)
    found = numbers.round(digits).astype(object)
    found[~np.isfinite(numbers)] = None
    return found.tolist()
