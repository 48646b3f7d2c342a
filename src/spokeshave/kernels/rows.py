"""Documents as rows of a CSR matrix: products with weights, and removal of rows and features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled

DROPPED = np.uint32(2**32 - 1)


class Rows(NamedTuple):
    """Documents in CSR form.

    A value is ``data`` times the ``scale`` of its row; ``data`` is None if it is 1 everywhere.
    ``indices`` (uint32) are None if every row has all features: descent on a table of a few
    columns then takes a third of the time.

    ``variance`` is that of the Gaussian prior of each weight, s_j^2, and None if it is 1. Descent
    with it equals descent on features multiplied by s, but weights stay in the units of the rows.
    Squared lengths are of the multiplied features.

    Positions and features are unsigned, so numba needs no test for a negative index. That makes
    loops over nonzeros a third faster.
    """

    indptr: NDArray[np.uint64]
    indices: Any
    data: NDArray[Any] | None
    scale: NDArray[np.float64]
    squared_length: NDArray[np.float64]
    weight: NDArray[np.float64]
    variance: NDArray[np.float32] | None = None


def make_rows(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], weight: NDArray[np.float64]
) -> Rows:
    """Return the rows of a CSR matrix; ``data`` is dropped if each row has only one value."""
    indptr = indptr.astype(np.uint64)
    indices = _make_unsigned(indices)
    scale, squared_length = np.empty((2, weight.size))
    measure_length(indptr, data, squared_length)
    if find_scale(indptr, data, scale):
        return Rows(indptr, indices, None, scale, squared_length, weight)
    return Rows(indptr, indices, data, np.ones_like(scale), squared_length, weight)


def _make_unsigned(indices: NDArray[Any]) -> NDArray[np.uint32]:
    # A view: a copy would double the memory of a large collection.
    return indices.view(np.uint32) if indices.itemsize == 4 else indices.astype(np.uint32)


def count_frequency(indices: NDArray[Any], n_features: int) -> NDArray[np.int64]:
    """Return the number of occurrences of each feature, without a copy of the indices.

    Examples
    --------
    >>> count_frequency(np.array([2, 0, 2], np.int32), 4)
    array([1, 0, 2, 0])
    """
    frequency = np.zeros(n_features, np.int64)
    count_features(_make_unsigned(indices), frequency)
    return frequency


def make_full_rows(X: NDArray[Any], weight: NDArray[np.float64]) -> Rows:
    """Return the rows of a dense table, zeros included."""
    n, d = X.shape
    indptr, data = np.arange(n + 1, dtype=np.uint64) * np.uint64(d), np.ascontiguousarray(X).ravel()
    squared_length = np.empty(n)
    measure_length(indptr, data, squared_length)
    return Rows(indptr, None, data, np.ones(n), squared_length, weight)


def center_rows(rows: Rows, n_features: int) -> tuple[Rows, NDArray[np.float64]]:
    """Return the documents less their mean, as a dense table, and the mean."""
    table = np.zeros((rows.scale.size, n_features))
    expand_rows(rows._replace(variance=None), table)
    mean = table.mean(axis=0)
    table -= mean
    return set_prior(make_full_rows(table, rows.weight), rows.variance), mean


def set_prior(rows: Rows, variance: NDArray[np.float32] | None) -> Rows:
    """Return rows with the prior variances of the weights; they share all other arrays."""
    if variance is None:
        return rows
    squared_length = np.empty_like(rows.squared_length)
    weigh_lengths(rows.indptr, rows.indices, rows.data, rows.scale, variance, squared_length)
    return rows._replace(squared_length=squared_length, variance=variance)


@compiled
def expand_rows(rows, table):
    """Add the documents to a dense table, in place."""
    for i in range(np.uint64(rows.scale.size)):
        add_row(rows, i, 1.0, table[i])


@compiled
def find_scale(indptr, data, scale):
    """Write the value of each row into ``scale``; return whether every row has only one value."""
    for i in range(scale.size):
        start, stop = indptr[i], indptr[i + 1]
        scale[i] = data[start] if start < stop else 1.0
        for p in range(start, stop):
            if data[p] != data[start]:
                return False
    return True


@compiled
def measure_length(indptr, data, squared_length):
    """Write the squared Euclidean length of each row into ``squared_length``."""
    for i in range(squared_length.size):
        squared_length[i] = _sum_squares(data, indptr[i], indptr[i + 1])


@compiled
def _sum_squares(data, start, stop):
    total = 0.0
    for p in range(start, stop):
        total += np.float64(data[p]) * np.float64(data[p])
    return total


@compiled
def weigh_lengths(indptr, indices, data, scale, variance, squared_length):
    """Write the squared length of each row, with every square times ``variance``."""
    for i in range(np.uint64(scale.size)):
        start, total = indptr[i], 0.0
        for p in range(start, indptr[i + np.uint64(1)]):
            square = 1.0 if data is None else np.float64(data[p]) * np.float64(data[p])
            total += square * np.float64(variance[_feature(indices, start, p)])
        squared_length[i] = total * scale[i] * scale[i]


@compiled
def rescale(indptr, data, unit, scale, squared_length):
    """Write the squared length of each row; if ``unit``, first change its scale to length one."""
    for i in range(np.uint64(scale.size)):
        start, stop = indptr[i], indptr[i + np.uint64(1)]
        squares = np.float64(stop - start) if data is None else _sum_squares(data, start, stop)
        if unit and squares > 0 and scale[i] != 0:
            scale[i] = np.copysign(1 / np.sqrt(squares), scale[i])
        squared_length[i] = scale[i] * scale[i] * squares


@compiled
def dot(rows, i, w):
    """Return the inner product of row i and ``w``."""
    start, stop = rows.indptr[i], rows.indptr[i + np.uint64(1)]
    return rows.scale[i] * _weighted_sum(rows.indices, rows.data, start, stop, w)


@compiled
def add_row(rows, i, step, w):
    """Add ``step`` times row i, times the variances if there are any, to ``w``, in place."""
    start, stop = rows.indptr[i], rows.indptr[i + np.uint64(1)]
    _step_along(rows.indices, rows.data, rows.variance, start, stop, step * rows.scale[i], w)


# Fields that may be None are separate arguments so that numba prunes the tests for None when it
# compiles.


@compiled
def _weighted_sum(indices, data, start, stop, w):
    total = 0.0
    for p in range(start, stop):
        if data is None:
            total += w[_feature(indices, start, p)]
        else:
            total += w[_feature(indices, start, p)] * data[p]
    return total


@compiled
def _step_along(indices, data, variance, start, stop, step, w):
    for p in range(start, stop):
        j = _feature(indices, start, p)
        change = step
        if data is not None:
            change *= data[p]
        if variance is not None:
            change *= variance[j]
        w[j] += change


@compiled
def _feature(indices, start, p):
    if indices is None:
        return p - start
    else:  # noqa: RET505 (numba prunes this branch only where there is an else)
        return np.uint64(indices[p])


@compiled
def drop_features(indptr, indices, data, number, out_indptr, out_indices, out_data):
    """Write rows with each feature j numbered ``number[j]``, and dropped if it is ``DROPPED``.

    The arrays that are written may be those that are read.
    """
    start, q = indptr[0], np.uint64(0)
    for i in range(np.uint64(indptr.size - 1)):
        stop = indptr[i + np.uint64(1)]
        for p in range(start, stop):
            out_indices[q] = number[indices[p]]
            if data is not None:
                out_data[q] = data[p]
            q += np.uint64(out_indices[q] != DROPPED)
        start, out_indptr[i + np.uint64(1)] = stop, q


@compiled
def shorten_rows(indptr, indices, data, length):
    """Keep the first ``length[i]`` entries of each row i, in place."""
    start, q = indptr[0], np.uint64(0)
    for i in range(np.uint64(length.size)):
        for p in range(start, start + np.uint64(length[i])):
            indices[q] = indices[p]
            if data is not None:
                data[q] = data[p]
            q += np.uint64(1)
        start, indptr[i + np.uint64(1)] = indptr[i + np.uint64(1)], q


@compiled
def keep_rows(indptr, indices, data, kept):
    """Drop the rows whose ``kept`` is false, in place; return the number of rows left."""
    q, r, start = np.uint64(0), np.uint64(0), indptr[0]
    for i in range(np.uint64(kept.size)):
        stop = indptr[i + np.uint64(1)]
        if kept[i]:
            for p in range(start, stop):
                indices[q] = indices[p]
                if data is not None:
                    data[q] = data[p]
                q += np.uint64(1)
            r += np.uint64(1)
            indptr[r] = q
        start = stop
    return r


@compiled
def gather_rows(indptr, indices, data, chosen, out_indices, out_data):
    """Write the indices and values of the chosen rows, one row after the other."""
    q = np.uint64(0)
    for c in range(np.uint64(chosen.size)):
        i = np.uint64(chosen[c])
        for p in range(indptr[i], indptr[i + np.uint64(1)]):
            out_indices[q] = indices[p]
            if data is not None:
                out_data[q] = data[p]
            q += np.uint64(1)


@compiled
def count_features(indices, frequency):
    """Add the number of occurrences of each feature to ``frequency``, in place."""
    for p in range(np.uint64(indices.size)):
        frequency[indices[p]] += 1


@compiled
def add_presence(indptr, indices, data, scale, ends, classes, by_class, total, squares):
    """Add, in place, how many documents have each feature, and the squares of its values.

    Document i is of the classes ``classes[ends[i] : ends[i + 1]]``; a negative class is ignored.
    ``by_class`` is (classes x features).
    """
    for i in range(np.uint64(scale.size)):
        start, stop = indptr[i], indptr[i + np.uint64(1)]
        for p in range(start, stop):
            j = np.uint64(indices[p])
            value = scale[i] if data is None else scale[i] * data[p]
            total[j] += 1
            squares[j] += value * value
        for q in range(ends[i], ends[i + np.uint64(1)]):
            if classes[q] >= 0:
                for p in range(start, stop):
                    by_class[classes[q], np.uint64(indices[p])] += 1


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
