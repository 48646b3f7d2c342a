"""Features that are in too few documents, or too many, to be worth ranking."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from spokeshave.text.document_frequency import check_limits, find_limits
from spokeshave.utils.validation import tidy


class Pruned(NamedTuple):
    """What pruning leaves.

    Attributes
    ----------
    kept : ndarray of bool, of shape (n_features,)
        Whether each feature is left.
    n_rare, n_frequent : int
        Features left out because they are in too few documents, and in too many.
    """

    kept: NDArray[np.bool_]
    n_rare: int
    n_frequent: int


def prune_features(X: Any, min_df: float = 1, max_df: float = 1.0) -> Pruned:
    """Find the features that are in neither too few documents nor too many.

    Pruning comes before ranking: very rare words and very frequent ones are unlikely to be of
    use whatever a criterion says of them.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Documents. A feature is in those where its value is not zero.
    min_df, max_df : int or float, default=1, 1.0
        Fewest and most documents a feature may be in: a count, or as a float a share of them.

    Returns
    -------
    pruned : Pruned
        Which features are kept, and how many are not.

    Examples
    --------
    >>> from spokeshave import prune_features
    >>> X = [[1, 1, 0], [1, 0, 2], [1, 0, 1]]
    >>> prune_features(X, min_df=2, max_df=0.9)
    Pruned(kept=array([False, False,  True]), n_rare=1, n_frequent=1)
    """
    check_limits(min_df, max_df)
    X = tidy(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X"))
    frequency = count_documents(X)
    lowest, highest = find_limits(min_df, max_df, X.shape[0])
    is_rare, is_frequent = frequency < lowest, frequency > highest
    kept = ~(is_rare | is_frequent)
    if not kept.any() and frequency.any():
        raise ValueError(
            f"No feature is left: all {kept.size} are outside min_df={min_df} and "
            f"max_df={max_df}. Lower min_df or raise max_df."
        )
    return Pruned(kept, int(is_rare.sum()), int(is_frequent.sum()))


def count_documents(X: sparse.csr_matrix) -> NDArray[np.intp]:
    """Return the number of documents that each feature is in, given tidy rows.

    Examples
    --------
    >>> count_documents(sparse.csr_matrix([[1.0, 0.0], [2.0, 0.0]]))
    array([2, 0])
    """
    return np.bincount(X.indices, minlength=X.shape[1])


def drop_features(X: sparse.csr_matrix, kept: NDArray[np.bool_]) -> sparse.csr_matrix:
    """Return the documents without the values of other features, whose columns stay, empty.

    Examples
    --------
    >>> drop_features(sparse.csr_matrix([[1.0, 2.0]]), np.array([False, True])).toarray()
    array([[0., 2.]])
    """
    stays = kept[X.indices]
    if stays.all():
        return X
    indptr = np.concatenate([[0], np.cumsum(stays)])[X.indptr]
    return sparse.csr_matrix((X.data[stays], X.indices[stays], indptr), shape=X.shape)
