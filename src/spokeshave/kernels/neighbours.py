"""The share of a class among the neighbours of a value, from below and from above.

G. Forman, M. Scholz, S. Rajaram, "Feature shaping for linear SVM classifiers", KDD 2009, 3.2.
"""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compiled import compiled
from spokeshave.kernels.counts import N_BINS

UNKNOWN = np.uint32(2**32 - 1)


@compiled
def estimate(starts, sizes, positives, reach, prior, probability):
    """Write the probability of a class at each level of each column.

    Documents stand in the order of their values. A level's window holds its own documents,
    ``reach[j]`` documents below them and as many above; a level that the edge of the window cuts
    counts in proportion, which is what rows in random order would give on average. Of n documents
    in the window, p of the class, the estimate is (p + 1) / (n + 2); of none it is the prior. Bins
    have no neighbours.
    """
    for j in range(starts.size - 1):
        first, end = starts[j] + N_BINS, starts[j + 1]
        for level in range(starts[j], first):
            is_empty = sizes[level] == 0
            probability[level] = (
                prior if is_empty else (positives[level] + 1.0) / (sizes[level] + 2.0)
            )
        n_documents = 0
        for level in range(first, end):
            n_documents += sizes[level]
        low, n_low, p_low = first, 0, 0  # the level with the window's lower edge; what is below it
        high, n_high, p_high = first, 0, 0
        n_below = 0
        for level in range(first, end):
            bottom = max(n_below - reach[j], 0.0)
            n_below += sizes[level]
            top = min(n_below + reach[j], np.float64(n_documents))
            if top == bottom:
                probability[level] = prior
                continue
            while n_low + sizes[low] <= bottom:
                n_low, p_low, low = n_low + sizes[low], p_low + positives[low], low + 1
            while n_high + sizes[high] < top:
                n_high, p_high, high = n_high + sizes[high], p_high + positives[high], high + 1
            p_bottom = p_low + positives[low] * (bottom - n_low) / sizes[low]
            p_top = p_high + positives[high] * (top - n_high) / sizes[high]
            probability[level] = (p_top - p_bottom + 1.0) / (top - bottom + 2.0)


@compiled
def look_up(indices, data, starts, values, is_nominal, left, share):
    """Write which level each cell is at or just above, and how far on its way to the next.

    A value beyond the known ones is at the nearest, one that is missing in the bin for such. A
    nominal value that is not known, or one of a column without any, is at no level: ``UNKNOWN``.
    """
    for p in range(np.uint64(indices.size)):
        j = np.uint64(indices[p])
        value = np.float64(data[p])
        share[p] = 0.0
        if np.isnan(value):
            left[p] = starts[j] + N_BINS - 1
            continue
        low, high = np.int64(starts[j] + N_BINS), np.int64(starts[j + np.uint64(1)])
        first, end = low, high
        while low < high:  # the first level above the value
            middle = (low + high) >> 1
            if values[middle] <= value:
                low = middle + 1
            else:
                high = middle
        at = max(low - 1, first)
        if first == end or (is_nominal[j] and values[at] != value):
            left[p] = UNKNOWN
            continue
        left[p] = at
        if first < low < end and values[at] != value:
            share[p] = (value - values[at]) / (values[low] - values[at])


@compiled
def draw(indices, left, share, probability, prior, is_log, base, factor, image):
    """Write the image of each cell that ``look_up`` has found.

    The probability there, or its log odds, less ``base[j]``, times ``factor[j]``. Where ``share``
    is None every cell is at a level.
    """
    for p in range(np.uint64(left.size)):
        at = np.uint64(left[p])
        if left[p] == UNKNOWN:
            value = prior
        else:
            value = probability[at]
            if share is not None and share[p] > 0:
                value += share[p] * (probability[at + np.uint64(1)] - value)
        if is_log:
            value = np.log(value / (1.0 - value))
        j = np.uint64(indices[p])
        image[p] = (value - base[j]) * factor[j]
