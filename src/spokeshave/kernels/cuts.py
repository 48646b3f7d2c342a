"""Scores at every cut in one pass over the documents.

``order`` lists the features of a class, best first, and cut c keeps the first ``ends[c]``. Each cut
adds the features between two ends to the sums of the previous cut. Kolcz and Chowdhury,
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
        add_to_rows(V, rows.indices, rows.data, start, stop, step)
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
        sum_rows(V, rows.indices, rows.data, rows.indptr[i], rows.indptr[i + np.uint64(1)], total)
        for c in range(scores.shape[0]):
            scores[c, i] = total[c] * rows.scale[i] + b[c]
