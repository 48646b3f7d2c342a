"""Ranking of the features of a class by score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled


def order_nonzero(scores: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Return the features of nonzero score, highest first, ties in ascending order of feature.

    Sorting integer keys is several times faster than an argsort of floats. A key holds the score,
    rounded to float32, and the feature.

    Examples
    --------
    >>> order_nonzero(np.array([0.0, 2.0, -1.0, 2.0]))
    array([1, 3, 2], dtype=uint32)
    """
    keys = np.empty(scores.size, np.uint64)
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32)
    n = pack(scores, rounded.view(np.uint32), keys)
    features = np.empty(n, np.uint32)
    unpack(np.sort(keys[:n]), scores, features)
    return features


@compiled
def pack(scores, bits, keys):
    """Write a key for each nonzero score, ascending as scores descend; return their number."""
    n = np.uint64(0)
    for j in range(np.uint64(scores.size)):
        # apart from the sign, the bits of a float read as an integer ascend with its value
        descending = bits[j] if bits[j] >> np.uint32(31) else bits[j] ^ np.uint32(0x7FFFFFFF)
        keys[n] = np.uint64(descending) << np.uint64(32) | j
        n += np.uint64(scores[j] != 0)
    return n


@compiled
def unpack(keys, scores, features):
    """Write the features of sorted keys; equal rounded scores are ordered by the exact ones."""
    for q in range(keys.size):
        j = np.uint32(keys[q] & np.uint64(0xFFFFFFFF))
        at = q
        while (
            at > 0
            and keys[at - 1] >> np.uint64(32) == keys[q] >> np.uint64(32)
            and scores[features[at - 1]] < scores[j]
        ):
            features[at] = features[at - 1]
            at -= 1
        features[at] = j
