"""Rows dropped and features counted, in place: neither takes memory of its own."""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compiled import compiled


@compiled
def keep_rows(indptr, indices, data, kept):
    """Drop the rows that are not kept, in place; return how many are left."""
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
def count_features(indices, frequency):
    """Add to ``frequency`` how often each feature occurs."""
    for p in range(np.uint64(indices.size)):
        frequency[indices[p]] += 1


@compiled
def gather_rows(indptr, indices, data, chosen, out_indices, out_data):
    """Write the cells of the chosen rows one after the other."""
    q = np.uint64(0)
    for c in range(np.uint64(chosen.size)):
        i = np.uint64(chosen[c])
        for p in range(indptr[i], indptr[i + np.uint64(1)]):
            out_indices[q] = indices[p]
            if data is not None:
                out_data[q] = data[p]
            q += np.uint64(1)
