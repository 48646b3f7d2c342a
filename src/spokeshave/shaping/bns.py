"""Features stretched to how well they tell the classes apart."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spokeshave.ranking.criteria import SMALLEST_RATE
from spokeshave.shaping.levels import (
    Levels,
    Rates,
    Separation,
    find_rates,
    separate_class,
    store_all,
    take_census,
)
from spokeshave.shaping.shapes import Shapes, count_documents, image_levels
from spokeshave.utils.validation import binarize, check_targets, tidy

ROUNDING = 1e-12  # estimates that are equal but for rounding differ by less
SMALLEST_EXTENT = 1e-300  # what is stretched from less overflows


class BNSScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Stretch each feature to its Bi-Normal Separation.

    BNS is ``|Φ⁻¹(tpr) - Φ⁻¹(fpr)|``, the largest over all thresholds on the feature, with rates
    kept off 0 and 1 (Forman 2008; Forman, Scholz and Rajaram 2009). Of a binary feature that
    is the separation of its presence. A dense column comes to lie between 0 and its BNS. Sparse
    ones are multiplied by BNS over their range, zero included, so zeros stay zero. With more than
    two classes, and with multilabel targets, the largest BNS of any class counts.

    Parameters
    ----------
    stretch : bool, default=True
        Whether a column is stretched *to* its separation. Otherwise it is multiplied *by* it, and
        what other weights gave it, such as idf, is kept.
    smallest_rate : float or "1/n", default=0.0005
        How far rates are kept off 0 and 1; "1/n" is one document in all, which leaves words that
        few documents have some weight in a large collection.
    n_jobs : int, optional
        Threads; -1 for all cores.

    Attributes
    ----------
    bns_ : ndarray of shape (n_features,)
        The separation of each feature.
    scale_ : ndarray of shape (n_features,)
        What its values are multiplied by; 0 for a feature that is constant.
    min_ : ndarray of shape (n_features,)
        What is taken off first: the least value of a dense column that is stretched, else 0.

    Examples
    --------
    >>> from spokeshave import BNSScaler
    >>> X = [[1, 3], [1, 1], [1, 2], [0, 3], [0, 2], [0, 3]]
    >>> BNSScaler().fit([*X, [1, 1]], [1, 1, 1, 0, 0, 0, 0]).bns_.round(2)
    array([3.97, 0.43])
    """

    def __init__(
        self,
        *,
        stretch: bool = True,
        smallest_rate: float | str = SMALLEST_RATE,
        n_jobs: int | None = None,
    ) -> None:
        self.stretch = stretch
        self.smallest_rate = smallest_rate
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
        counts, levels = count_documents(census, indicator), census.levels
        rates = self.find_rates(counts.n_positive, counts.n_documents)
        found = separate_classes(levels, counts.positives, levels.values, rates)
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
        return self.take_shapes(shapes, output=output, zero_is_fixed=zero_is_fixed)

    def take_shapes(self, shapes: Shapes, *, output: str, zero_is_fixed: bool) -> Self:
        """Do what `fit_shapes` does, where the documents are not at hand.

        Parameters
        ----------
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
        rates = self.find_rates(shapes.n_positive, shapes.n_documents)
        parts = [
            separate_shapes(shapes, k, output, rates, zero_is_fixed=zero_is_fixed)
            for k in range(len(shapes.prior))
        ]
        # A feature's columns, one for each class, stand side by side.
        found = Separation(*(np.transpose(part).ravel() for part in zip(*parts, strict=True)))
        self.n_features_in_ = found.bns.size
        self._set(found, zero_is_fixed=zero_is_fixed)
        return self

    def find_rates(self, n_positive: NDArray[Any], n_documents: int) -> list[Rates]:
        """Return what the inverse normal distribution makes of the rates of each class.

        Parameters
        ----------
        n_positive : ndarray of shape (n_classes,)
            Documents of each class.
        n_documents : int
            All documents.

        Returns
        -------
        rates : list of Rates
        """
        smallest: Any = self.smallest_rate
        if smallest == "1/n":
            smallest = 1 / n_documents
        elif not isinstance(smallest, Real) or not 0 < float(smallest) < 0.5:
            raise ValueError(
                f"smallest_rate must be '1/n' or between 0 and 0.5. Got {smallest!r} instead."
            )
        return [find_rates(int(size), n_documents, float(smallest)) for size in n_positive]

    def stretch_to(
        self, found: Separation, *, zero_is_fixed: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what to take off each column, and what then to multiply it by.

        Parameters
        ----------
        found : Separation
            How well each column separates.
        zero_is_fixed : bool
            Whether zero is to stay zero.

        Returns
        -------
        base, factor : ndarray of shape (n_features,)
        """
        lowest, highest = found.lowest, found.highest
        if not self.stretch:
            return np.zeros_like(lowest), found.bns
        if zero_is_fixed:
            lowest, highest = np.minimum(lowest, 0), np.maximum(highest, 0)
        extent = highest - lowest
        base = np.zeros_like(lowest) if zero_is_fixed else lowest
        return base, found.bns / np.where(extent > SMALLEST_EXTENT, extent, np.inf)

    def _set(self, found: Separation, zero_is_fixed: bool) -> None:
        self.bns_ = found.bns
        self.min_, self.scale_ = self.stretch_to(found, zero_is_fixed=zero_is_fixed)

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
        if not sparse.issparse(X):
            return self.stretch_columns(X.astype(X.dtype))
        if self.min_.any():
            raise ValueError(
                "X must be dense, as it was in fit: there some features were shifted, which would "
                "fill a sparse matrix. Got a sparse matrix instead."
            )
        return self.stretch_columns(X.copy())

    def stretch_columns(self, X: Any) -> Any:
        """Stretch the features in place, without a look at what is in them.

        Parameters
        ----------
        X : {ndarray, csr_matrix} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_features)
        """
        if sparse.issparse(X):
            np.multiply(X.data, self.scale_[X.indices], out=X.data, casting="same_kind")
            return X
        np.subtract(X, self.min_, out=X, casting="same_kind")
        return np.multiply(X, self.scale_, out=X, casting="same_kind")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def separate_shapes(
    shapes: Shapes, k: int, output: str, rates: list[Rates], *, zero_is_fixed: bool
) -> Separation:
    """Return the largest separation of any class, by thresholds on what values become for class k.

    Before the image of zero is taken off, rounding is small against the images.
    """
    images = image_levels(shapes, k, output)
    found = separate_classes(shapes.levels, shapes.positives, images, rates, ROUNDING)
    if not zero_is_fixed:
        return found
    zero = images[shapes.levels.zero_level]
    return found._replace(lowest=found.lowest - zero, highest=found.highest - zero)


def separate_classes(
    levels: Levels,
    positives: NDArray[np.int32],
    images: NDArray[np.float64],
    rates: list[Rates],
    tolerance: float = 0.0,
) -> Separation:
    """Return the largest separation of any class, by thresholds on the images of each column."""
    found = [
        separate_class(levels, of_class, images, of_rates, tolerance)
        for of_class, of_rates in zip(positives, rates, strict=True)
    ]
    return found[0]._replace(bns=np.max([each.bns for each in found], axis=0))
