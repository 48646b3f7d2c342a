"""Validation of documents, targets and document frequency limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array as check_values
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data as validate_values

from spokeshave.utils.sparse_format import check_format


def check_array(X: Any, **options: Any) -> Any:
    """Return X by scikit-learn's ``check_array``; a sparse matrix must be well-formed."""
    return check_values(check_format(X, options.get("input_name") or "X"), **options)


def validate_data(
    estimator: Any, X: Any = "no_validation", y: Any = "no_validation", **options: Any
) -> Any:
    """Return X and y by scikit-learn's ``validate_data``; sparse ones must be well-formed."""
    return validate_values(estimator, check_format(X), check_format(y, "y"), **options)


def check_target_format(y: Any) -> Any:
    """Return y as an array, or as it is if it is a sparse matrix, which must be well-formed."""
    return check_format(y, "y") if sparse.issparse(y) else np.asarray(y)


LARGEST_VALUE = float(np.sqrt(np.finfo(np.float32).max))  # whose square single precision holds


def check_targets(y: Any) -> Any:
    """Return y as a vector of labels or as a sparse indicator matrix."""
    if y.ndim == 2 and (sparse.issparse(y) or y.shape[1] > 1):
        return _check_indicator(y)
    check_classification_targets(y)
    return column_or_1d(y, warn=True)


def _check_indicator(y: Any) -> sparse.csr_matrix:
    if y.dtype.kind in "biuf":
        indicator = tidy(y) if sparse.issparse(y) else _find_nonzeros(np.asarray(y))
        if (indicator.data == 1).all():
            return indicator.astype(np.int8)
    raise ValueError(
        "y must be one label per document, or an indicator matrix of zeros and ones. "
        "Got a matrix of other values instead."
    )


def _find_nonzeros(y: NDArray[Any]) -> sparse.csr_matrix:
    """Return a dense matrix in CSR form; scipy is slower."""
    at = np.flatnonzero(y != 0)
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(y, axis=1))])
    return sparse.csr_matrix((y.ravel()[at], at % y.shape[1], indptr), shape=y.shape)


def binarize(y: Any) -> tuple[NDArray[Any], sparse.csc_matrix]:
    """Return the classes and an int8 indicator: a column per class, or one for two classes."""
    if y.ndim == 2:
        indicator = sparse.csc_matrix(y, dtype=np.int8)
        indicator.eliminate_zeros()
        return np.arange(y.shape[1]), indicator
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes. Got one class only: {classes[0]}.")
    return classes, _indicate(codes, len(classes))


def align(y: Any, like: Any, classes: NDArray[Any]) -> sparse.csc_matrix:
    """Return an indicator of test targets ``y`` with the columns of ``binarize(like)``.

    Examples
    --------
    >>> align(np.array(["b", "a"]), np.array(["a", "b", "c"]), np.array(["a", "b", "c"])).toarray()
    array([[0, 1, 0],
           [1, 0, 0]], dtype=int8)
    """
    if y.ndim != like.ndim or (y.ndim == 2 and y.shape[1] != like.shape[1]):
        raise ValueError(
            "y_test must be of the same kind as y: labels, or an indicator with as many columns. "
            f"Got shapes {y.shape} and {like.shape} instead."
        )
    if y.ndim == 2:
        return binarize(y)[1]
    # As objects: numpy would convert numbers to text to compare them with text.
    unknown = np.setdiff1d(np.unique(y).astype(object), classes.astype(object))
    if unknown.size:
        raise ValueError(
            f"y_test must only have labels of y. Got {str(unknown[0])!r}, which y does not have."
        )
    return _indicate(np.searchsorted(classes, y), len(classes))


def list_documents(indicator: sparse.csc_matrix, k: int) -> NDArray[Any]:
    """Return the documents of class k."""
    return np.asarray(indicator.indices[indicator.indptr[k] : indicator.indptr[k + 1]])


def _indicate(codes: NDArray[np.intp], n_classes: int) -> sparse.csc_matrix:
    ones, shape = np.ones(codes.size, np.int8), (codes.size, n_classes)
    indicator = sparse.csc_matrix((ones, (np.arange(codes.size), codes)), shape=shape)
    return indicator[:, 1:] if n_classes == 2 else indicator


def check_documents(X: Any, y: Any, like: Any = None) -> tuple[sparse.csr_matrix, Any]:
    """Return documents as canonical sparse rows, and targets as labels or a sparse indicator.

    Test documents must have as many features as ``like``, the training documents.
    """
    X = tidy(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]))
    check_magnitude(X)
    y = check_targets(check_target_format(y))
    check_consistent_length(X, y)
    if like is not None and X.shape[1] != like.shape[1]:
        raise ValueError(
            f"X_test must have the {like.shape[1]} features of X. Got {X.shape[1]} instead."
        )
    return X, y


def check_magnitude(X: Any, name: str = "X") -> None:
    """Raise ValueError for values whose squares overflow in single precision.

    The solver adds up squares and products of values, in part in single precision, and a model in
    a budget keeps the values so. Missing values are ignored.

    Examples
    --------
    >>> check_magnitude(np.array([[1e20]]))
    Traceback (most recent call last):
      ...
    ValueError: X must have values of at most 1.8e+19 in size. Got 1e+20 instead: scale them.
    """
    values = X.data if sparse.issparse(X) else X
    ends = (of.reduce(values, axis=None, initial=0.0) for of in (np.fmin, np.fmax))
    largest = float(max(map(abs, ends)))
    if largest > LARGEST_VALUE:
        raise ValueError(
            f"{name} must have values of at most {LARGEST_VALUE:.2g} in size. "
            f"Got {largest:.2g} instead: scale them."
        )


def tidy(X: Any) -> sparse.csr_matrix:
    """Return documents in CSR form without duplicate entries or stored zeros.

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
