"""Features stretched to how well they tell the classes apart."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spokeshave.documents import tidy
from spokeshave.levels import (
    Levels,
    Separation,
    count_class,
    separate_class,
    store_all,
    take_census,
)
from spokeshave.shapes import Shapes, image_levels
from spokeshave.targets import binarize, check_targets, list_documents


class BNSScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Stretch each feature to its Bi-Normal Separation.

    BNS is ``|Φ⁻¹(tpr) - Φ⁻¹(fpr)|``, the largest over all thresholds on the feature, with rates
    kept .0005 off 0 and 1 (Forman 2008; Forman, Scholz and Rajaram 2009). Of a binary feature that
    is the separation of its presence. A dense column comes to lie between 0 and its BNS. Sparse
    ones are multiplied by BNS over their range, zero included, so zeros stay zero. With more than
    two classes, and with multilabel targets, the largest BNS of any class counts.

    Parameters
    ----------
    n_jobs : int, optional
        Threads; -1 for all cores.

    Attributes
    ----------
    bns_ : ndarray of shape (n_features,)
        The separation of each feature.
    scale_ : ndarray of shape (n_features,)
        What its values are multiplied by; 0 for a feature that is constant.
    min_ : ndarray of shape (n_features,)
        What is taken off first: the least value of a dense column, 0 for sparse ones.

    Examples
    --------
    >>> from spokeshave import BNSScaler
    >>> X = [[1, 3], [1, 1], [1, 2], [0, 3], [0, 2], [0, 3]]
    >>> BNSScaler().fit([*X, [1, 1]], [1, 1, 1, 0, 0, 0, 0]).bns_.round(2)
    array([3.97, 0.43])
    """

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Find the separation of each feature.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class.

        Returns
        -------
        self : BNSScaler
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True
        )
        _, indicator = binarize(check_targets(y))
        is_sparse = sparse.issparse(X)
        census = take_census(tidy(X) if is_sparse else store_all(X), n_jobs=self.n_jobs)
        positives = np.array(
            [count_class(census, list_documents(indicator, k)) for k in range(indicator.shape[1])]
        )
        images = census.levels.values
        found = separate_classes(census.levels, positives, images, X.shape[0])
        self._set(found, zero_is_fixed=is_sparse)
        return self

    def fit_shapes(self, X: Any, shapes: Shapes, *, output: str, zero_is_fixed: bool) -> Self:
        """Do what `fit` does, for features as shapes have made them, without sorting them again.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_documents, n_features)
            The shaped documents that the shapes were learned from.
        shapes : Shapes
            What was learned.
        output : {"probability", "log_odds"}
            What was made of it.
        zero_is_fixed : bool
            Whether the image of zero was taken off.

        Returns
        -------
        self : BNSScaler
        """
        validate_data(self, X, skip_check_array=True)
        parts = []
        for k in range(len(shapes.prior)):
            images = image_levels(shapes, k, output, zero_is_fixed=zero_is_fixed)
            parts.append(separate_classes(shapes.levels, shapes.positives, images, X.shape[0]))
        # A feature's columns, one for each class, stand side by side.
        found = Separation(*(np.transpose(part).ravel() for part in zip(*parts, strict=True)))
        self._set(found, zero_is_fixed=zero_is_fixed)
        return self

    def _set(self, found: Separation, zero_is_fixed: bool) -> None:
        self.bns_ = found.bns
        self.min_ = np.zeros_like(found.lowest) if zero_is_fixed else found.lowest
        self.scale_ = find_factor(found, zero_is_fixed=zero_is_fixed)

    def transform(self, X: Any) -> Any:
        """Stretch the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scale = self.scale_.astype(X.dtype)
        if not sparse.issparse(X):
            return (X - self.min_.astype(X.dtype)) * scale
        if self.min_.any():
            raise ValueError(
                "X must be dense, as it was in fit: there some features were shifted, which would "
                "fill a sparse matrix. Got a sparse matrix instead."
            )
        return type(X)((X.data * scale[X.indices], X.indices, X.indptr), X.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def separate_classes(
    levels: Levels,
    positives: NDArray[np.int32],
    images: NDArray[np.float64],
    n_documents: int,
) -> Separation:
    """Return the largest separation of any class, by thresholds on the images of each column."""
    n_positive = positives[:, levels.starts[0] : levels.starts[1]].sum(axis=1)
    found = [
        separate_class(levels, of_class, images, int(size), n_documents)
        for of_class, size in zip(positives, n_positive, strict=True)
    ]
    return found[0]._replace(bns=np.max([each.bns for each in found], axis=0))


def find_factor(found: Separation, *, zero_is_fixed: bool) -> NDArray[np.float64]:
    """Return what stretches each column to its separation."""
    lowest, highest = found.lowest, found.highest
    if zero_is_fixed:
        lowest, highest = np.minimum(lowest, 0), np.maximum(highest, 0)
    extent = highest - lowest
    return found.bns / np.where(extent > 0, extent, 1)
