"""Documents by feature: the columns of a CSR matrix, the layout that cuts are scored from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled
from spokeshave.kernels.rows import Rows


class Columns(NamedTuple):
    """The documents of each feature in CSC form.

    A value is ``data`` times the ``scale`` of its document; ``data`` is None if it is 1 everywhere.
    """

    indptr: NDArray[np.uint64]
    documents: NDArray[np.uint32]
    data: NDArray[Any] | None
    scale: NDArray[np.float64]


def transpose(rows: Rows, n_features: int) -> Columns:
    """Return the rows as columns; the documents of each column ascend."""
    indptr = np.zeros(n_features + 1, np.uint64)
    np.cumsum(np.bincount(rows.indices, minlength=n_features), out=indptr[1:])
    documents = np.empty(rows.indices.size, np.uint32)
    data = None if rows.data is None else np.empty_like(rows.data)
    _fill(rows.indptr, rows.indices, rows.data, indptr[:-1].copy(), documents, data)
    return Columns(indptr, documents, data, rows.scale)


@compiled
def _fill(indptr, indices, data, free, documents, new_data):
    """Write the documents and values of each column; ``free`` is moved past its last entry."""
    for i in range(np.uint64(indptr.size - 1)):
        for p in range(indptr[i], indptr[i + np.uint64(1)]):
            j = np.uint64(indices[p])
            q = free[j]
            documents[q] = i
            if data is not None:
                new_data[q] = data[p]
            free[j] = q + np.uint64(1)


@compiled
def add_column(documents, data, start, stop, weight, total):
    """Add ``weight`` times a column to the ``total`` of each of its documents, in place."""
    for p in range(start, stop):
        if data is None:
            total[documents[p]] += weight
        else:
            total[documents[p]] += weight * data[p]


@compiled
def add_squares(documents, data, start, stop, total):
    """Add the squares of a column to the ``total`` of each of its documents, in place."""
    for p in range(start, stop):
        if data is None:
            total[documents[p]] += 1.0
        else:
            total[documents[p]] += np.float64(data[p]) * np.float64(data[p])
