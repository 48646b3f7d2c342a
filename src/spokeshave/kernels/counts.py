"""How many documents have each value of each feature, and how many of them are of a class.

The distinct values of a column are its levels. Every column has two more in front: one for the
zeros that are not stored, where these are apart from other values, and one for missing values.
"""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compiled import compiled
from spokeshave.kernels.sorting import sort_pairs, write_keys

ZERO, MISSING, N_BINS = 0, 1, 2
UNRANKED = np.uint32(2**32 - 1)
FEW_VALUES = 16  # so many are told apart faster one by one than by sorting the column


@compiled
def take_columns(indices, data, free, positions, values):
    """Write the cells of each column, in the order of the rows: where they are, and their values.

    ``free`` holds where each column begins, and is moved on.
    """
    for p in range(np.uint64(indices.size)):
        j = np.uint64(indices[p])
        q = free[j]
        positions[q], values[q] = p, data[p]
        free[j] = q + np.uint64(1)


@compiled
def rank_columns(starts, values, first, last, rank, n_levels):
    """Write the rank of each cell among the distinct values of its column, and count the levels.

    The distinct values of a column, ascending, take the place of its first values. A missing value
    has the rank ``UNRANKED``.
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
    """Rank a column of few distinct values; return how many there are, or -1 if they are many."""
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
    """Rank a column by sorting it; return how many distinct values there are."""
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
    """Write value and size of each level of some columns, and the level of each of their cells.

    ``distinct`` and ``rank`` are what ``rank_columns`` has found; sizes are zero before.
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
    """Write how many of some documents have each level."""
    positives[:] = 0
    for i in documents:
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            positives[level_of[p]] += 1
    for j in range(zero_level.size):
        stored = 0
        for level in range(starts[j], starts[j + 1]):
            stored += positives[level]
        positives[zero_level[j]] += documents.size - stored
