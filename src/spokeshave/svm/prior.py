"""The Gaussian prior of an SVM's weights: one that prefers features which separate the class.

An SVM with standard deviations s_j minimises 1/2 sum_j (w_j / s_j)^2 + C sum loss, which is the
SVM on features multiplied by s. Bi-Normal Separation as s joins Forman's BNS scaling (CIKM 2008)
with the solver, without a copy of the documents.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri

from spokeshave.kernels.prior import scale_variance
from spokeshave.utils.sums import Sums, sum_presence


def compute_variance(
    prior: Any,
    strength: float,
    X: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    weight: NDArray[np.float64],
) -> NDArray[np.float32] | None:
    """Return the prior variance of each weight (classes x features); None if all are one."""
    if prior is None:
        return None
    if isinstance(prior, str):
        squares = weight @ sparse.csr_matrix((X.data**2, X.indices, X.indptr), X.shape)
        variance = separate(sum_presence(X, indicator, weight), squares, strength)
    else:
        shape = indicator.shape[1], X.shape[1]
        deviations = check_deviations(prior, *shape)
        with np.errstate(over="ignore"):
            variance = np.broadcast_to((deviations ** (2 * strength)).astype(np.float32), shape)
        if not np.isfinite(variance).all():
            raise ValueError(
                "prior must have squares that single precision holds, with prior_strength as "
                f"exponent. Got {deviations.max():.2g} instead."
            )
    return None if (variance == 1).all() else variance


def separate(presence: Sums, squares: NDArray[np.float64], strength: float) -> NDArray[np.float32]:
    """Return the prior variance of each weight by Bi-Normal Separation (classes x features).

    ``squares`` are the sums of squared values of each feature over the documents. The mean squared
    length of documents times s is that of the documents, so that C keeps its meaning. A class that
    no feature separates has a variance of one everywhere.
    """
    variance = np.ones(presence.by_class.shape, np.float32)
    smallest = min(1 / max(presence.n_documents, 1), 0.5)
    frequencies, codes = np.unique(presence.total, return_inverse=True)
    total, found = squares.sum(), np.empty(codes.size)

    def raise_separation(inside: Any, outside: Any, size: float) -> NDArray[np.float64]:
        z_inside = _find_quantiles(inside, size, smallest)
        z_outside = _find_quantiles(outside, presence.n_documents - size, smallest)
        return np.asarray(np.abs(z_inside - z_outside) ** (2 * strength))

    for k, size in enumerate(presence.sizes.tolist()):
        if 0 < size < presence.n_documents:
            # Most features are in no document of a class: then only their frequency matters.
            of_absent = raise_separation(np.zeros_like(frequencies), frequencies, size)
            features, inside = presence.list_inside(k)
            outside = presence.total[features] - inside
            of_features = raise_separation(inside, outside, size)
            # No product of long vectors by BLAS: its threads go on to wait for work, and take the
            # processors from the threads of the solver.
            scale_variance(
                of_absent, codes, features, of_features, squares, total, found, variance[k]
            )
    return variance


def _find_quantiles(counts: NDArray[Any], size: float, smallest: float) -> NDArray[np.float64]:
    """Return Φ⁻¹ of shares of ``size`` documents, as `bi_normal_separation` does.

    Counts that are whole numbers have few distinct values: a table of them takes less time.
    """
    is_whole = counts.size and counts.max() < counts.size and (counts == np.floor(counts)).all()
    shares = (np.arange(counts.max() + 1) if is_whole else counts) / size
    quantiles = ndtri(np.clip(shares, smallest, 1 - smallest))
    return np.asarray(quantiles[counts.astype(np.intp)] if is_whole else quantiles)


def check_prior(prior: Any, strength: Any) -> None:
    """Raise ValueError for a prior or a strength that is not allowed."""
    if isinstance(prior, str) and prior != "bns":
        raise ValueError(f"prior must be None, 'bns' or an array. Got {prior!r} instead.")
    if not isinstance(strength, Real) or not 0 <= float(strength) < np.inf:
        raise ValueError(f"prior_strength must not be negative. Got {strength!r} instead.")


def check_deviations(prior: Any, n_rows: int, n_features: int) -> NDArray[np.float64]:
    """Return an array of standard deviations after checking its shape and its values."""
    try:
        found = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"prior must be None, 'bns' or an array. Got {prior!r} instead.") from None
    if found.shape not in ((n_features,), (n_rows, n_features)):
        raise ValueError(
            f"prior must have shape ({n_features},) or ({n_rows}, {n_features}). "
            f"Got {found.shape} instead."
        )
    if not ((found >= 0) & (found < np.inf)).all():
        raise ValueError("prior must not be negative, infinite or NaN.")
    return found
