"""Prune features that occur in too few or too many documents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.kernels.rows import count_frequency
from spokeshave.text.vectorizer import check_limits, find_limits
from spokeshave.utils.validation import check_array, tidy


class Pruned(NamedTuple):
    """The result of pruning.

    Attributes
    ----------
    kept : ndarray of bool, of shape (n_features,)
        Whether each feature is kept.
    n_rare, n_frequent : int
        Number of features dropped because they occur in too few, or in too many, documents.
    """

    kept: NDArray[np.bool_]
    n_rare: int
    n_frequent: int


def prune_features(X: Any, min_df: float = 1, max_df: float = 1.0) -> Pruned:
    """Find the features that occur in neither too few nor too many documents.

    Pruning comes before ranking: very rare and very frequent words are unlikely to be useful,
    whatever their score.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Documents. A feature occurs in a document if its value is not zero.
    min_df, max_df : int or float, default=1, 1.0
        Smallest and largest number of documents with the feature: a count (int) or a share of all
        documents (float).

    Returns
    -------
    pruned : Pruned
        The features kept, and the numbers of those dropped.

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
            f"min_df and max_df must leave at least one of the {kept.size} features. "
            f"Got min_df={min_df} and max_df={max_df} instead; lower min_df or raise max_df."
        )
    return Pruned(kept, int(is_rare.sum()), int(is_frequent.sum()))


def count_documents(X: sparse.csr_matrix) -> NDArray[np.intp]:
    """Count the documents that have each feature, given tidy rows.

    Examples
    --------
    >>> count_documents(sparse.csr_matrix([[1.0, 0.0], [2.0, 0.0]]))
    array([2, 0])
    """
    return count_frequency(X.indices, X.shape[1])


def drop_features(X: sparse.csr_matrix, kept: NDArray[np.bool_]) -> sparse.csr_matrix:
    """Return the documents with the columns of all other features emptied.

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
