"""Documents as the rows of a CSR matrix, in the form the solver reads fastest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compiled import compiled


class Rows(NamedTuple):
    """Documents as CSR rows, ``data`` None where all values of a row equal its ``scale``.

    Positions and features are unsigned: numba then needs no test for a negative index, which
    makes the loops over nonzeros a third faster.
    """

    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    data: NDArray[Any] | None
    scale: NDArray[np.float64]
    squared_length: NDArray[np.float64]
    weight: NDArray[np.float64]


@compiled
def find_scale(indptr, data, scale):
    """Return whether the values of each row are all alike; write the value of each row."""
    for i in range(scale.size):
        start, stop = indptr[i], indptr[i + 1]
        scale[i] = data[start] if start < stop else 1.0
        for p in range(start, stop):
            if data[p] != data[start]:
                return False
    return True


@compiled
def measure_length(indptr, data, squared_length):
    """Write the squared Euclidean length of each row."""
    for i in range(squared_length.size):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[p]) * np.float64(data[p])
        squared_length[i] = total


@compiled
def dot(rows, i, w):
    """Return the inner product of row i and the weights."""
    start, stop = rows.indptr[i], rows.indptr[i + 1]
    return rows.scale[i] * _weighted_sum(rows.indices, rows.data, start, stop, w)


@compiled
def add_row(rows, i, step, w):
    """Add ``step`` times row i to the weights, in place."""
    start, stop = rows.indptr[i], rows.indptr[i + 1]
    _step_along(rows.indices, rows.data, start, stop, step * rows.scale[i], w)


# ``data`` is an argument of its own here: numba prunes the test for None when it compiles.


@compiled
def _weighted_sum(indices, data, start, stop, w):
    total = 0.0
    for p in range(start, stop):
        if data is None:
            total += w[indices[p]]
        else:
            total += w[indices[p]] * data[p]
    return total


@compiled
def _step_along(indices, data, start, stop, step, w):
    for p in range(start, stop):
        if data is None:
            w[indices[p]] += step
        else:
            w[indices[p]] += step * data[p]
