"""Scores at every cut in one pass over the documents.

The features of a class are given best first in ``order``, and ``ends[c]`` of them are kept at cut
c, so a cut adds the features between two ends to what the cut before has. Kolcz and Chowdhury,
"Avoidance of model re-induction in SVM-based feature selection for text categorization", IJCAI
2007: ``score_mask`` is their section 3.1, ``add_support_vectors`` their section 3.2.
"""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.columns import add_column, add_squares
from spokeshave.kernels.compile import compiled
from spokeshave.kernels.lanes import LANES, add_to_rows, sum_rows


@compiled
def score_mask(columns, order, ends, w, b, scores):
    """Write the scores (cuts x documents) with the weights of the features beyond a cut dropped.

    Documents keep the lengths they have with all features.
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
    """Write the squared lengths (cuts x documents) that documents keep, in units of their scale."""
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

    The scale has no part in it but its sign, so documents that keep the same words are tied
    exactly, whatever length they had.
    """
    for c in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            length = (
                np.sqrt(squared_length[c, i]) if scale[i] >= 0 else -np.sqrt(squared_length[c, i])
            )
            scores[c, i] = b[c] + (scores[c, i] / length if length != 0 else 0.0)


@compiled
def add_support_vectors(rows, documents, beta, bucket, unit, V):
    """Add up the support vectors of a class, masked at each of ``LANES`` cuts, into V.

    ``bucket`` is the first cut that keeps a feature, or ``LANES``. V (features x lanes) becomes
    the weights: each vector counts ``beta`` times, re-normalised at each cut if ``unit``.
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
        add_to_rows(V, rows.indices, rows.data, start, stop, step)
    for j in range(bucket.size):
        for c in range(bucket[j]):
            V[j, c] = 0.0


@compiled
def _add_to_buckets(indices, data, start, stop, bucket, squares):
    for p in range(start, stop):
        if data is None:
            squares[bucket[indices[p]]] += 1.0
        else:
            squares[bucket[indices[p]]] += np.float64(data[p]) * np.float64(data[p])


@compiled
def score_weights(rows, V, b, scores):
    """Write the scores (cuts x documents) of at most ``LANES`` cuts with weights of their own.

    V (features x lanes) is zero where a cut drops the feature.
    """
    total = np.empty(LANES)
    for i in range(np.uint64(rows.scale.size)):
        sum_rows(V, rows.indices, rows.data, rows.indptr[i], rows.indptr[i + np.uint64(1)], total)
        for c in range(scores.shape[0]):
            scores[c, i] = total[c] * rows.scale[i] + b[c]
