"""How many features to keep: cuts as fractions, as counts, or on a log scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PAPER_FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0)


def check_cuts(cuts: Any, n_features: int) -> NDArray[Any]:
    """Return the cuts in ascending order: floats are fractions, integers are counts.

    ``"log"`` stands for the powers of two up to the number of features, and all of them.

    Examples
    --------
    >>> check_cuts((1.0, 0.5), n_features=10)
    array([0.5, 1. ])
    >>> check_cuts("log", n_features=10)
    array([ 1,  2,  4,  8, 10])
    """
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


def count_kept(cuts: NDArray[Any], n_ranked: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many features each class (row) keeps at each cut (column).

    A fraction counts only the ranked features, those of nonzero score, and keeps at least one of
    them; a count keeps no more than there are.

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
