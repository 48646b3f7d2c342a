"""Scores at every cut in one pass over the columns, features best first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled
from spokeshave.kernels.lanes import LANES, add_to_rows, sum_rows
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
def gather_features(columns, order, ends, indptr, indices, data, lengths):
    """Write the rows of the first ``ends[-1]`` features of ``order``, and their length at each cut.

    Row i begins at ``indptr[i]``. Its features follow ``order``, so a cut keeps the first ones:
    their number is written into ``lengths`` (cuts x documents).
    """
    free = indptr[:-1].copy()
    first = 0
    for c in range(ends.size):
        for q in range(first, ends[c]):
            j = np.uint64(order[q])
            for p in range(columns.indptr[j], columns.indptr[j + np.uint64(1)]):
                i = np.uint64(columns.documents[p])
                indices[free[i]] = j
                if data is not None:
                    data[free[i]] = columns.data[p]
                free[i] += np.uint64(1)
        first = ends[c]
        for i in range(np.uint64(free.size)):
            lengths[c, i] = free[i] - indptr[i]


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


@compiled
def score_mask(columns, order, ends, w, b, scores):
    """Write the scores (cuts x documents) of a model that ignores the features beyond each cut.

    Documents are not normalised again: they keep their length over all features.
    """
    total = np.zeros(columns.scale.size)
    first = 0
    for c in range(ends.size):
        for q in range(first, ends[c]):
            j = np.uint64(order[q])
            start, stop = columns.indptr[j], columns.indptr[j + np.uint64(1)]
            add_column(columns.documents, columns.data, start, stop, w[j], total)
        first = ends[c]
        for i in range(total.size):
            scores[c, i] = total[i] * columns.scale[i] + b


@compiled
def measure_cuts(columns, order, ends, squared_length):
    """Write squared lengths (cuts x documents) over the kept features, in units of the scale."""
    total = np.zeros(columns.scale.size)
    first = 0
    for c in range(ends.size):
        for q in range(first, ends[c]):
            j = np.uint64(order[q])
            start, stop = columns.indptr[j], columns.indptr[j + np.uint64(1)]
            add_squares(columns.documents, columns.data, start, stop, total)
        first = ends[c]
        squared_length[c] = total


@compiled
def renormalize(scores, squared_length, scale, b):
    """Turn scores (cuts x documents) without scale or intercept into those of unit rows, in place.

    Only the sign of the scale matters, so documents that keep the same words tie exactly, whatever
    their original length.
    """
    for c in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            length = (
                np.sqrt(squared_length[c, i]) if scale[i] >= 0 else -np.sqrt(squared_length[c, i])
            )
            scores[c, i] = b[c] + (scores[c, i] / length if length != 0 else 0.0)


@compiled
def add_support_vectors(rows, documents, beta, bucket, unit, V):
    """Write into V (features x lanes) the weights of the sv set method at each of ``LANES`` cuts.

    The weights of a cut are the sum of ``beta`` times the support vectors, each restricted to the
    kept features and, if ``unit``, normalised again. ``bucket`` is the first cut that keeps a
    feature, or ``LANES``.
    """
    V[:] = 0
    squares = np.empty(LANES + 1)
    step = np.empty(LANES)
    for s in range(documents.size):
        i = np.uint64(documents[s])
        start, stop = rows.indptr[i], rows.indptr[i + np.uint64(1)]
        step[:] = beta[s] * rows.scale[i]
        if unit:
            squares[:] = 0
            _add_to_buckets(rows.indices, rows.data, start, stop, bucket, squares)
            squared_length = 0.0
            for c in range(LANES):
                squared_length += squares[c]
                length = abs(rows.scale[i]) * np.sqrt(squared_length)
                step[c] = step[c] / length if length > 0 else 0.0
        add_to_rows(V, rows.indices, rows.data, start, stop, step, None)
    for j in range(bucket.size):
        for c in range(bucket[j]):
            V[j, c] = 0.0


@compiled
def _add_to_buckets(indices, data, start, stop, bucket, squares):
    """Add the squared values of one row to the bucket of their features, in place."""
    for p in range(start, stop):
        if data is None:
            squares[bucket[indices[p]]] += 1.0
        else:
            squares[bucket[indices[p]]] += np.float64(data[p]) * np.float64(data[p])


@compiled
def score_weights(rows, V, b, scores):
    """Write the scores (cuts x documents) of at most ``LANES`` cuts with separate weights.

    V (features x lanes) is zero where a cut drops the feature.
    """
    total = np.empty(LANES)
    for i in range(np.uint64(rows.scale.size)):
        start, stop = rows.indptr[i], rows.indptr[i + np.uint64(1)]
        sum_rows(V, rows.indices, rows.data, start, stop, total, None)
        for c in range(scores.shape[0]):
            scores[c, i] = total[c] * rows.scale[i] + b[c]
