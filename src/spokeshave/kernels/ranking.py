"""The order of the features of a class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled


def order_nonzero(scores: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Return the features of nonzero score, the highest first, equals by their number.

    Sorting whole numbers is several times faster than sorting the features of real ones: a number
    holds a score rounded to float32 and the feature.

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
    """Write a key that ascends as the score descends for each nonzero score; return how many."""
    n = np.uint64(0)
    for j in range(np.uint64(scores.size)):
        # the bits of a float as a number ascend with it, but for the sign
        descending = bits[j] if bits[j] >> np.uint32(31) else bits[j] ^ np.uint32(0x7FFFFFFF)
        keys[n] = np.uint64(descending) << np.uint64(32) | j
        n += np.uint64(scores[j] != 0)
    return n


@compiled
def unpack(keys, scores, features):
    """Write the features of sorted keys, those of equal key in the order of their exact scores."""
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
