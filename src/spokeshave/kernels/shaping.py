"""Levels of a column, the local probability of a class at each, and Bi-Normal Separation.

A level is a distinct value of a column. Every column has two more, the bins ``ZERO`` (implicit
zeros of sparse rows) and ``MISSING``, before its values. Forman, Scholz and Rajaram, "Feature
shaping for linear SVM classifiers", KDD 2009.
"""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled
from spokeshave.kernels.sorting import sort_pairs, write_keys

ZERO, MISSING, N_BINS = 0, 1, 2
UNRANKED = UNKNOWN = np.uint32(2**32 - 1)  # no rank, no level
FEW_VALUES = 16  # up to so many, comparing them one by one is faster than sorting the column


@compiled
def take_columns(indices, data, free, positions, values):
    """Write the position and the value of each cell, column by column, in the order of the rows.

    ``free`` holds the start of each column and is moved to its end.
    """
    for p in range(np.uint64(indices.size)):
        j = np.uint64(indices[p])
        q = free[j]
        positions[q], values[q] = p, data[p]
        free[j] = q + np.uint64(1)


@compiled
def rank_columns(starts, values, first, last, rank, n_levels):
    """Write the rank of each cell among the distinct values of its column, and count the levels.

    The first entries of a column in ``values`` are overwritten with its distinct values,
    ascending. A missing value has the rank ``UNRANKED``.
    """
    longest = FEW_VALUES
    for j in range(first, last):
        longest = max(longest, starts[j + 1] - starts[j])
    known, place = np.empty(longest), np.empty(FEW_VALUES, np.uint32)
    keys, spare_keys = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    items, spare_items = np.empty(longest, np.uint32), np.empty(longest, np.uint32)
    for j in range(first, last):
        column, ranks = values[starts[j] : starts[j + 1]], rank[starts[j] : starts[j + 1]]
        count = rank_few(column, known, place, ranks)
        if count < 0:
            count = rank_many(column, known, keys, items, spare_keys, spare_items, ranks)
        n_levels[j] = N_BINS + count


@compiled
def rank_few(column, known, place, ranks):
    """Rank a column of few distinct values; return their number, or -1 if there are too many."""
    count = np.uint64(0)
    for q in range(np.uint64(column.size)):
        value = column[q]
        at = np.uint64(0)
        while at < count and known[at] != value:
            at += np.uint64(1)
        if at == count:
            if np.isnan(value):
                ranks[q] = UNRANKED
                continue
            if count == np.uint64(FEW_VALUES):
                return -1
            known[at] = value
            count += np.uint64(1)
        ranks[q] = at
    is_sorted = True
    for at in range(count):
        below = np.uint32(0)
        for other in range(count):
            below += np.uint32(known[other] < known[at])
        place[at] = below
        is_sorted = is_sorted and below == at
    if not is_sorted:
        for q in range(np.uint64(column.size)):
            if ranks[q] != UNRANKED:
                ranks[q] = place[ranks[q]]
    for at in range(count):
        column[place[at]] = known[at]
    return np.int64(count)


@compiled
def rank_many(column, known, keys, items, spare_keys, spare_items, ranks):
    """Rank a column by sorting it; return the number of distinct values."""
    n = 0
    for q in range(column.size):
        ranks[q] = UNRANKED
        if not np.isnan(column[q]):
            known[n], items[n] = column[q], q
            n += 1
    write_keys(known[:n], keys[:n])
    sort_pairs(keys[:n], items[:n], spare_keys[:n], spare_items[:n])
    count = 0
    for q in range(n):
        if q == 0 or keys[q] != keys[q - 1]:
            known[count] = column[items[q]]
            count += 1
        ranks[items[q]] = count - 1
    for level in range(count):
        column[level] = known[level]
    return count


@compiled
def write_levels(
    starts, positions, distinct, rank, first, last, level_starts, values, sizes, level_of
):
    """Write the value and size of each level of some columns, and the level of each of their cells.

    ``distinct`` and ``rank`` are the results of `rank_columns`; ``sizes`` must be zero.
    """
    for j in range(first, last):
        bins = level_starts[j]
        begin = bins + N_BINS
        values[bins + ZERO], values[bins + MISSING] = 0.0, np.nan
        for level in range(level_starts[j + 1] - begin):
            values[begin + level] = distinct[starts[j] + level]
        for q in range(starts[j], starts[j + 1]):
            level = bins + MISSING if rank[q] == UNRANKED else begin + rank[q]
            level_of[positions[q]] = level
            sizes[level] += 1


@compiled
def count_positives(indptr, level_of, documents, starts, zero_level, positives):
    """Write the number of the given documents at each level into ``positives``."""
    positives[:] = 0
    for i in documents:
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            positives[level_of[p]] += 1
    for j in range(zero_level.size):
        stored = 0
        for level in range(starts[j], starts[j + 1]):
            stored += positives[level]
        positives[zero_level[j]] += documents.size - stored


@compiled
def estimate(starts, sizes, positives, reach, prior, probability):
    """Write the probability of a class at each level of each column.

    The window of a level holds its own documents, the ``reach[j]`` documents of the next lower
    values and as many of the next higher ones. A level that the edge of the window cuts counts in
    proportion, which is the mean over random orders of equal values. With n documents in the
    window, p of them of the class, the estimate is (p + 1) / (n + 2), or the prior if n is 0. Bins
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
        low, n_low, p_low = first, 0, 0  # the level at the window's lower edge; counts below it
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
    """Write the level at or just below each cell into ``left``, and interpolation weights.

    ``share`` is the weight of the next level. A value beyond the known ones is clamped to the
    nearest, a missing one has the bin ``MISSING``. A nominal value that is not known, or any value
    of a column without levels, is ``UNKNOWN``.
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
    """Write the image of each cell, given the levels of `look_up`.

    The image is the interpolated probability, or its log odds, minus ``base[j]``, times
    ``factor[j]``. If ``share`` is None, every cell is exactly at a level.
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


@compiled
def separate(
    starts, sizes, positives, images, tolerance, z_true, z_false, separation, lowest, highest
):
    """Write the BNS of each column, and the lowest and highest image of its documents.

    ``z_true[n]`` is the inverse normal distribution at the rate of n positives, ``z_false[n]`` of n
    negatives. A threshold lies between two images that differ by more than ``tolerance``; a column
    without a threshold has separation 0.
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
