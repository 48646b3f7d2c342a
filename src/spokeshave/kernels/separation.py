"""Bi-Normal Separation of a class along a column, the largest over all thresholds."""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compiled import compiled
from spokeshave.kernels.sorting import sort_pairs, write_keys


@compiled
def separate(
    starts, sizes, positives, images, tolerance, z_true, z_false, separation, lowest, highest
):
    """Write the separation of each column, and the lowest and highest image of its documents.

    ``z_true[n]`` is what the inverse normal distribution makes of the rate of n positives, and
    ``z_false`` of negatives. A threshold lies between two images that differ by more than the
    ``tolerance``; with all documents on one side it separates nothing.
    """
    longest = 0
    for j in range(separation.size):
        longest = max(longest, starts[j + 1] - starts[j])
    values, keys = np.empty(longest), np.empty(longest, np.uint64)
    spare_keys = np.empty(longest, np.uint64)
    levels, spare_levels = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for j in range(separation.size):
        n = 0
        for level in range(starts[j], starts[j + 1]):
            if sizes[level] > 0:
                values[n], levels[n] = images[level], level
                n += 1
        write_keys(values[:n], keys[:n])
        sort_pairs(keys[:n], levels[:n], spare_keys[:n], spare_levels[:n])
        best, n_true, n_false = 0.0, 0, 0
        for q in range(n - 1):
            n_true += positives[levels[q]]
            n_false += sizes[levels[q]] - positives[levels[q]]
            if images[levels[q + 1]] - images[levels[q]] > tolerance:
                best = max(best, abs(z_true[n_true] - z_false[n_false]))
        separation[j] = best
        lowest[j], highest[j] = images[levels[0]], images[levels[n - 1]]
