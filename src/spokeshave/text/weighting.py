"""Weighting: the values of terms in documents, from their counts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, check_non_negative

from spokeshave.utils.validation import check_magnitude, validate_data

WEIGHTINGS: dict[str, dict[str, Any]] = {  # parameters of DocumentVectorizer and TermWeighter
    "binary": {"weighting": "binary", "sublinear_tf": False},
    "counts": {"weighting": "counts", "sublinear_tf": False},
    "tfidf": {"weighting": "tfidf", "sublinear_tf": False},
    "sublinear": {"weighting": "tfidf", "sublinear_tf": True},
}


class TermWeighter(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Weigh counts of terms, as `DocumentVectorizer` weighs those of texts.

    Parameters
    ----------
    weighting : {"binary", "counts", "tfidf"}, default="tfidf"
        Value of a term in a document. The inverse document frequency of "tfidf" is smoothed:
        ln((1 + documents) / (1 + document frequency)) + 1.
    sublinear_tf : bool, default=False
        Whether a count is replaced by 1 + ln(count).
    norm : {"l2", "l1"} or None, default="l2"
        Norm by which each row is divided.

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        Inverse document frequencies; only with ``weighting="tfidf"``.

    Examples
    --------
    >>> from spokeshave import TermWeighter
    >>> counts = [[4, 0, 1], [1, 2, 0]]
    >>> TermWeighter("binary", norm=None).fit_transform(counts).toarray()
    array([[1., 0., 1.],
           [1., 1., 0.]])
    >>> TermWeighter(sublinear_tf=True).fit_transform(counts).toarray().round(2)
    array([[0.86, 0.  , 0.51],
           [0.39, 0.92, 0.  ]])
    """

    def __init__(
        self, weighting: str = "tfidf", *, sublinear_tf: bool = False, norm: str | None = "l2"
    ) -> None:
        self.weighting = weighting
        self.sublinear_tf = sublinear_tf
        self.norm = norm

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the document frequencies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Counts.
        y : object
            Ignored.

        Returns
        -------
        self : TermWeighter
        """
        check_weighting(self)
        counts = self._check(X, reset=True)
        if self.weighting == "tfidf":
            n_documents, n_features = counts.shape
            frequency = np.bincount(counts.indices, minlength=n_features)
            self.idf_ = compute_idf(frequency, n_documents)
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the weighted rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Counts.

        Returns
        -------
        X_weighted : csr_matrix of shape (n_documents, n_features)
        """
        check_is_fitted(self, "n_features_in_")
        return weight_counts(self, self._check(X, reset=False))

    def _check(self, X: Any, *, reset: bool) -> sparse.csr_matrix:
        """Return a copy of counts as sparse rows without zeros."""
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)
        check_non_negative(X, "TermWeighter, which weighs counts")
        check_magnitude(X)
        counts = sparse.csr_matrix(X, copy=True)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        return counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def are_counts(X: Any) -> bool:
    """Return whether a matrix is sparse, at most half full, of whole numbers from zero on.

    Examples
    --------
    >>> are_counts(sparse.csr_matrix([[2, 0, 0]])), are_counts(sparse.csr_matrix([[0.5, 0, 0]]))
    (True, False)
    """
    if not sparse.issparse(X) or X.nnz > np.prod(X.shape) / 2:
        return False
    return are_whole(X.data)


def are_whole(values: NDArray[Any]) -> bool:
    """Return whether all values are whole numbers from zero on."""
    return bool((values >= 0).all() and (values == np.rint(values)).all())


def check_weighting(options: Any) -> None:
    """Raise if the weighting or the norm of a vectorizer or a weighter is invalid."""
    if options.weighting not in ("binary", "counts", "tfidf"):
        raise ValueError(
            f"weighting must be 'binary', 'counts' or 'tfidf'. Got {options.weighting!r} instead."
        )
    if options.norm not in ("l2", "l1", None):
        raise ValueError(f"norm must be 'l2', 'l1' or None. Got {options.norm!r} instead.")


def weight_counts(fitted: Any, counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Turn counts of terms into the weighted and normalised matrix, in place.

    ``fitted`` is a fitted `DocumentVectorizer` or `TermWeighter`.
    """
    if fitted.weighting == "binary":
        counts.data[:] = 1
    elif fitted.sublinear_tf:
        dampen(counts.data)
    if fitted.weighting == "tfidf":
        counts.data *= fitted.idf_[counts.indices]
    if fitted.norm is None or not counts.shape[1]:
        return counts
    return normalize(counts, norm=fitted.norm, copy=False)


def compute_idf(frequency: NDArray[np.int64], n_documents: int) -> NDArray[np.float64]:
    """Return inverse document frequencies, smoothed as if one more document had every term."""
    return np.log((1 + n_documents) / (1.0 + frequency)) + 1


def dampen(counts: NDArray[Any]) -> None:
    """Replace counts by 1 + ln(count), in place."""
    np.log(counts, counts)
    counts += 1
