"""Cuts: how many features to keep, as a fraction, a count, or nonzeros per document."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAPER_FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0)
SPARSITIES = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
AGAINST = ("features", "sparsity")


def check_cuts(cuts: Any, n_features: int, against: str = "features") -> NDArray[Any]:
    """Return the cuts in ascending order: floats are fractions, integers are counts.

    ``"log"`` stands for the powers of two up to the number of features, and that number. Against
    sparsity, cuts are nonzeros per document.

    Examples
    --------
    >>> check_cuts((1.0, 0.5), n_features=10)
    array([0.5, 1. ])
    >>> check_cuts("log", n_features=10)
    array([ 1,  2,  4,  8, 10])
    >>> check_cuts((20, 2.5), n_features=10, against="sparsity")
    array([ 2.5, 20. ])
    """
    if against == "sparsity":
        # The default fractions of features make no sense as nonzeros.
        return _check_sparsities(SPARSITIES if cuts is PAPER_FRACTIONS else cuts)
    if isinstance(cuts, str):
        if cuts != "log":
            raise ValueError(f"cuts must be 'log' or a list of numbers. Got {cuts!r} instead.")
        powers = 2 ** np.arange(n_features.bit_length())
        return np.unique(np.minimum(np.append(powers, n_features), n_features))
    found = np.unique(np.asarray(cuts))
    is_fraction = found.dtype.kind == "f" and ((found > 0) & (found <= 1)).all()
    is_count = found.dtype.kind in "iu" and (found > 0).all()
    if found.size == 0 or not (is_fraction or is_count):
        raise ValueError(
            "cuts must be fractions above 0 and up to 1.0, or whole numbers of features from 1 on. "
            f"Got {cuts!r} instead."
        )
    return found


def _check_sparsities(cuts: Any) -> NDArray[np.float64]:
    found = np.unique(np.asarray(cuts))
    if found.size == 0 or found.dtype.kind not in "fiu" or not (found > 0).all():
        raise ValueError(
            "cuts must be positive numbers of nonzeros per document, against sparsity. "
            f"Got {cuts!r} instead."
        )
    return found.astype(np.float64)


def check_nonzeros(nonzeros_per_document: Any) -> float:
    """Return a positive number of nonzeros per document, or raise ValueError."""
    is_number = isinstance(nonzeros_per_document, Real)
    if not is_number or not 0 < float(nonzeros_per_document) < np.inf:
        raise ValueError(
            "nonzeros_per_document must be a positive number. "
            f"Got {nonzeros_per_document!r} instead."
        )
    return float(nonzeros_per_document)


def count_kept(cuts: NDArray[Any], n_ranked: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many features each class (row) keeps at each cut (column).

    A fraction is of the ranked features, which have a nonzero score, and keeps at least one of
    them; a count keeps at most all of them.

    Examples
    --------
    >>> count_kept(np.array([0.01, 0.5]), np.array([10, 0]))
    array([[1, 5],
           [0, 0]])
    >>> count_kept(np.array([4, 20]), np.array([10]))
    array([[ 4, 10]])
    """
    available = np.asarray(n_ranked)[:, None]
    wanted = np.rint(cuts * available).astype(np.intp) if cuts.dtype.kind == "f" else cuts[None, :]
    return np.asarray(np.minimum(np.maximum(wanted, 1), available), np.intp)


def accumulate(
    frequency: NDArray[np.intp], order: NDArray[Any], n_documents: int
) -> NDArray[np.float64]:
    """Return the mean nonzeros per document with the first 0, 1, 2, ... features.

    ``frequency`` is the document frequency of each feature, and ``order`` the features of a class,
    best first.

    Examples
    --------
    >>> accumulate(np.array([4, 1, 2]), np.array([2, 0]), n_documents=4)
    array([0. , 0.5, 1.5])
    """
    total = np.zeros(len(order) + 1)
    np.cumsum(frequency[order], out=total[1:])
    return total / n_documents


def count_within(nonzeros: NDArray[np.float64], wanted: Any) -> NDArray[np.intp]:
    """Return how many features leave at most the nonzeros wanted; at least one, if there are any.

    The inverse of `accumulate`, which returns ``nonzeros``.

    Examples
    --------
    >>> count_within(np.array([0.0, 0.5, 1.5]), np.array([0.1, 0.5, 1.4, 9.0]))
    array([1, 1, 1, 2])
    """
    n_ranked = len(nonzeros) - 1
    found = np.searchsorted(nonzeros, wanted, side="right") - 1
    return np.asarray(np.minimum(np.maximum(found, 1), n_ranked), np.intp)
