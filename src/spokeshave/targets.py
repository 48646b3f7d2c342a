"""What documents are to be classified as: labels, or an indicator of many labels each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets


def check_targets(y: Any) -> Any:
    """Return y as a vector of labels or as a sparse indicator matrix."""
    if y.ndim == 2 and (sparse.issparse(y) or y.shape[1] > 1):
        return _check_indicator(y)
    check_classification_targets(y)
    return column_or_1d(y, warn=True)


def _check_indicator(y: Any) -> sparse.csr_matrix:
    if y.dtype.kind in "biuf":
        indicator = sparse.csr_matrix(y)
        if (indicator.data[indicator.data != 0] == 1).all():
            return indicator
    raise ValueError(
        "y must be one label per document, or an indicator matrix of zeros and ones. "
        "Got a matrix of other values instead."
    )


def binarize(y: Any) -> tuple[NDArray[Any], sparse.csc_matrix]:
    """Return the classes and an int8 indicator: one column per class, one for two classes."""
    if y.ndim == 2:
        indicator = sparse.csc_matrix(y, dtype=np.int8)
        indicator.eliminate_zeros()
        return np.arange(y.shape[1]), indicator
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes. Got one class only: {classes[0]}.")
    shape = len(y), len(classes)
    ones = np.ones(len(y), np.int8)
    indicator = sparse.csc_matrix((ones, (np.arange(len(y)), codes)), shape=shape)
    return classes, indicator[:, 1:] if len(classes) == 2 else indicator
