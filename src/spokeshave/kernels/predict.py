"""Sums of weights over the words of documents."""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled


@compiled
def add_weights(indptr, words, values, starts, classes, weights, scores, squares):
    """Add up, for each document, the weights of its words in each class.

    Word j has ``weights[starts[j] : starts[j + 1]]``, of the classes in the same places. A weight
    times the value of the word goes to ``scores`` (documents x classes), the square of the value
    to ``squares``, unless that is None. Where ``values`` is None, every value is one.
    """
    for row in range(np.uint64(indptr.size - 1)):
        for p in range(np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])):
            j = np.uint64(words[p])
            value = 1.0 if values is None else values[p]
            for q in range(np.uint64(starts[j]), np.uint64(starts[j + np.uint64(1)])):
                k = np.uint64(classes[q])
                scores[row, k] += np.float64(weights[q]) * value
                if squares is not None:
                    squares[row, k] += value * value
