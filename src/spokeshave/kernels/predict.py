"""Scores of documents under sparse weights."""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled


@compiled
def add_weights(indptr, words, values, starts, classes, weights, scores, squares):
    """Add the weights of each document's words to its score of each class, in place.

    Word j has the weights ``weights[starts[j] : starts[j + 1]]`` for the classes in the same slice
    of ``classes``. A weight times the value of the word is added to ``scores``
    (documents x classes), the squared value to ``squares`` unless it is None. If ``values`` is
    None, every value is one.
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
