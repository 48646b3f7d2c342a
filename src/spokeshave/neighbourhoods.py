"""How many neighbours each feature asks for, by the likelihood of documents left out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from spokeshave.levels import Levels
from spokeshave.shapes import LevelCounts, estimate_shapes

USUAL = 30.0  # the paper's
OTHERS = (10.0, 90.0, 270.0)


def choose_neighbors(
    levels: Levels,
    counts: LevelCounts,
    parts: Iterable[LevelCounts],
    is_nominal: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the number of neighbours for each class and feature (classes x features).

    Each part of a cross-validation is judged by estimates from the others. It is the usual number
    unless with another the mean log likelihood of a document is higher by more than one standard
    error of the difference; of several the one where it is highest.
    """
    shape = len(counts.positives), is_nominal.size
    total, squares = np.zeros((2, len(OTHERS), *shape))
    for part in parts:
        rest = counts.without(part)
        usual = estimate_shapes(levels, rest, np.full(shape, USUAL), is_nominal).probability
        negatives = part.sizes - part.positives
        for number, n_neighbors in enumerate(OTHERS):
            found = estimate_shapes(levels, rest, np.full(shape, n_neighbors), is_nominal)
            gain = np.log(found.probability / usual)
            loss = np.log((1 - found.probability) / (1 - usual))
            for power, sums in ((1, total), (2, squares)):
                of_levels = part.positives * gain**power + negatives * loss**power
                sums[number] += np.add.reduceat(of_levels, levels.starts[:-1], axis=1)
    mean = total / counts.n_documents
    error = np.sqrt(np.maximum(squares / counts.n_documents - mean**2, 0) / counts.n_documents)
    best = np.where(mean > error, mean, 0).argmax(axis=0)
    is_better = (mean > error).any(axis=0)
    return np.where(is_better, np.array(OTHERS)[best], USUAL)
