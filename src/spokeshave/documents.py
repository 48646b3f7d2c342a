"""Documents as users give them, checked and made sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length

from spokeshave.targets import check_targets


def check_documents(X: Any, y: Any, like: Any = None) -> tuple[sparse.csr_matrix, Any]:
    """Return documents as tidy sparse rows, and targets as labels or a sparse indicator.

    Documents to test on must have the features of those they are ``like``.
    """
    X = tidy(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]))
    y = check_targets(y if sparse.issparse(y) else np.asarray(y))
    check_consistent_length(X, y)
    if like is not None and X.shape[1] != like.shape[1]:
        raise ValueError(
            f"X_test must have the {like.shape[1]} features of X. Got {X.shape[1]} instead."
        )
    return X, y


def tidy(X: Any) -> sparse.csr_matrix:
    """Return the documents as rows in which every stored value is one that occurs, once.

    Examples
    --------
    >>> tidy(sparse.csr_matrix(([1.0, 2.0, 0.0], [0, 0, 1], [0, 3]), shape=(1, 2))).data
    array([3.])
    """
    X = sparse.csr_matrix(X)
    if not (X.has_canonical_format and X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X
