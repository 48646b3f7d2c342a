"""Variances of the prior of the weights, scaled."""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compile import compiled


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
