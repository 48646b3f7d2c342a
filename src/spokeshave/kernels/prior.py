"""Variances of the prior of the weights: scaled, and beside the weights of sixteen classes."""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled
from spokeshave.kernels.lanes import LANES


@compiled
def scale_variance(of_absent, codes, features, of_features, squares, total, found, variance):
    """Write the variances of one class, scaled so that their mean over ``squares`` is one.

    Feature j has ``of_absent[codes[j]]`` before it is scaled, but the given features have
    ``of_features``. ``total`` is the sum of ``squares``, and ``found`` is work space. If the scale
    is not a positive number, all variances are one.
    """
    for j in range(np.uint64(codes.size)):
        found[j] = of_absent[codes[j]]
    for p in range(np.uint64(features.size)):
        found[features[p]] = of_features[p]
    scaled = 0.0
    for j in range(np.uint64(codes.size)):
        scaled += squares[j] * found[j]
    if not 0 < scaled < np.inf:
        variance[:] = 1
        return
    scale = total / scaled
    for j in range(np.uint64(codes.size)):
        variance[j] = found[j] * scale


@compiled
def rank_variances(variance, classes, rank, ranked, W):
    """Write the variances of some classes by rank of the feature: ``ranked`` has a row for each.

    Unless ``W`` is None they also go beside the weights in it, for as many lanes as classes.
    """
    order = np.empty(rank.size, np.uint32)
    for j in range(np.uint64(rank.size)):
        order[rank[j]] = j
    for r in range(np.uint64(rank.size)):
        j = np.uint64(order[r])
        for k in range(np.uint64(classes.size)):
            value = variance[np.uint64(classes[k]), j]
            ranked[k, r] = value
            if W is not None:
                W[r, np.uint64(LANES) + k] = value
