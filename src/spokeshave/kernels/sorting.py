"""Sorting, ranking and shuffling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled

FEW = 40  # up to so many, insertion sort is faster
SIGN = np.uint64(1) << np.uint64(63)


@compiled
def write_keys(values, keys):
    """Write integer keys that ascend with the values; -0 and 0 share a key, NaN is not allowed."""
    bits = values.view(np.uint64)
    for i in range(np.uint64(values.size)):
        positive = bits[i] < SIGN or bits[i] == SIGN
        keys[i] = bits[i] | SIGN if positive else ~bits[i]


@compiled
def sort_pairs(keys, items, spare_keys, spare_items):
    """Sort keys and their items in place by a stable radix sort; ``spare_*`` are work space."""
    if keys.size <= FEW:
        insert_pairs(keys, items)
        return
    varying = np.uint64(0)
    for i in range(np.uint64(keys.size)):
        varying |= keys[i] ^ keys[0]
    is_swapped = False
    for byte in range(8):
        shift = np.uint64(8 * byte)
        if varying >> shift & np.uint64(255):
            if is_swapped:
                deal_pairs(spare_keys, spare_items, shift, keys, items)
            else:
                deal_pairs(keys, items, shift, spare_keys, spare_items)
            is_swapped = not is_swapped
    if is_swapped:
        keys[:] = spare_keys
        items[:] = spare_items


@compiled
def insert_pairs(keys, items):
    """Sort keys and their items in place by insertion; the sort is stable."""
    for i in range(1, keys.size):
        key, item = keys[i], items[i]
        at = i
        while at > 0 and keys[at - 1] > key:
            keys[at], items[at] = keys[at - 1], items[at - 1]
            at -= 1
        keys[at], items[at] = key, item


@compiled
def deal_pairs(keys, items, shift, new_keys, new_items):
    """Write the pairs sorted by one byte of their keys; equal bytes keep their order."""
    free = np.zeros(257, np.uint64)
    for i in range(np.uint64(keys.size)):
        free[(keys[i] >> shift & np.uint64(255)) + np.uint64(1)] += np.uint64(1)
    for digit in range(np.uint64(256)):
        free[digit + np.uint64(1)] += free[digit]
    for i in range(np.uint64(keys.size)):
        digit = keys[i] >> shift & np.uint64(255)
        at = free[digit]
        new_keys[at], new_items[at] = keys[i], items[i]
        free[digit] = at + np.uint64(1)


@compiled
def seeded(seed):
    """Return the state of a random generator; numba's own state differs between threads."""
    return np.array([np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)])


@compiled
def shuffle(items, m, state):
    """Shuffle the first m items and advance the state, in place (Fisher-Yates, xorshift64)."""
    x = state[0]
    for s in range(m - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        t = (x >> np.uint64(32)) * np.uint64(s + 1) >> np.uint64(32)
        items[s], items[t] = items[t], items[s]
    state[0] = x


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
