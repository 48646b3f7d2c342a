"""Bi-Normal Separation of features, and a transformer that scales them by it."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from spokeshave.kernels.shaping import separate
from spokeshave.ranking.criteria import SMALLEST_RATE
from spokeshave.shaping.frames import NUMERIC
from spokeshave.shaping.levels import Levels, count_levels, find_levels, store_all
from spokeshave.shaping.shapes import Shapes, map_levels
from spokeshave.utils.validation import (
    binarize,
    check_magnitude,
    check_targets,
    tidy,
    validate_data,
)

ROUNDING = 1e-12  # estimates that are equal up to rounding differ by less
SMALLEST_EXTENT = 1e-300  # stretching a smaller extent would overflow


class BNSScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scale each feature by its Bi-Normal Separation.

    BNS is ``|Φ⁻¹(tpr) - Φ⁻¹(fpr)|``, the largest over all thresholds on the feature, with rates
    clipped away from 0 and 1 (Forman 2008; Forman, Scholz and Rajaram 2009). For a binary feature
    this is the separation of its presence. A dense column is scaled to the range from 0 to its BNS.
    A sparse column is multiplied by its BNS divided by its range, zero included, so zeros stay
    zero. With more than two classes, or multilabel targets, a feature's BNS is the largest over the
    classes.

    Parameters
    ----------
    stretch : bool, default=True
        Whether to scale a column *to* its separation. Otherwise it is multiplied *by* it, which
        keeps earlier weights such as idf.
    smallest_rate : float or "1/n", default=0.0005
        Rates are clipped to [smallest_rate, 1 - smallest_rate]. "1/n" is one over the number of
        documents; in a large collection it leaves more weight to rare words.
    n_jobs : int, optional
        Number of threads; -1 for all cores.

    Attributes
    ----------
    bns_ : ndarray of shape (n_features,)
        The separation of each feature.
    scale_ : ndarray of shape (n_features,)
        The factor of each feature; 0 for a constant feature.
    min_ : ndarray of shape (n_features,)
        The number subtracted before: the minimum of a dense column that is stretched, else 0.

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
        X, y = validate_data(self, X, y, multi_output=True, **NUMERIC)
        check_magnitude(X)
        _, indicator = binarize(check_targets(y))
        is_sparse = sparse.issparse(X)
        cell_levels = find_levels(tidy(X) if is_sparse else store_all(X), n_jobs=self.n_jobs)
        counts, levels = count_levels(cell_levels, indicator), cell_levels.levels
        rates = find_rates(counts.n_positive, counts.n_documents, self.smallest_rate)
        found = separate_classes(levels, counts.positives, levels.values, rates)
        self._set(found, zero_is_fixed=is_sparse)
        return self

    def _fit_shapes(self, shapes: Shapes, *, output: str, zero_is_fixed: bool) -> Self:
        """Fit to shaped features, from their shapes, without sorting them again.

        ``output`` and ``zero_is_fixed`` are those of the shaper.
        """
        rates = find_rates(shapes.n_positive, shapes.n_documents, self.smallest_rate)
        of_classes = [
            separate_shapes(shapes, k, output, rates, zero_is_fixed=zero_is_fixed)
            for k in range(len(shapes.prior))
        ]
        # A feature has one column per class, side by side.
        found = Separation(*(np.transpose(part).ravel() for part in zip(*of_classes, strict=True)))
        self.n_features_in_ = found.bns.size
        self._set(found, zero_is_fixed=zero_is_fixed)
        return self

    def _set(self, found: Separation, zero_is_fixed: bool) -> None:
        self.bns_ = found.bns
        self.min_, self.scale_ = find_scale(
            found, stretch=self.stretch, zero_is_fixed=zero_is_fixed
        )

    def transform(self, X: Any) -> Any:
        """Scale the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **NUMERIC)
        check_magnitude(X)
        if sparse.issparse(X) and self.min_.any():
            raise ValueError(
                "X must be dense, as it was in fit: some features are shifted, which would make a "
                "sparse matrix dense. Got a sparse matrix instead."
            )
        return self._scale_in_place(X.copy())

    def _scale_in_place(self, X: Any) -> Any:
        """Scale the features in place, without validation, and return X."""
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


class Separation(NamedTuple):
    """Bi-Normal Separation of each column, and its lowest and highest value."""

    bns: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]


class Rates(NamedTuple):
    """Φ⁻¹ of the rate of true (false) positives, for every number of positives (negatives)."""

    z_true: NDArray[np.float64]
    z_false: NDArray[np.float64]


def find_rates(
    n_positive: NDArray[Any], n_documents: int, smallest_rate: float | str
) -> list[Rates]:
    """Return the table of rates of each class, given its number of documents.

    The rates of a class that has no documents, or all of them, are zero: nothing separates it.
    """
    smallest: Any = smallest_rate
    if smallest == "1/n":
        smallest = 1 / n_documents
    elif not isinstance(smallest, Real) or not 0 < float(smallest) < 0.5:
        raise ValueError(
            f"smallest_rate must be '1/n' or between 0 and 0.5. Got {smallest!r} instead."
        )
    smallest = float(smallest)
    found = []
    for size in n_positive:
        sizes = int(size), n_documents - int(size)
        if 0 in sizes:
            found.append(Rates(*(np.zeros(size + 1) for size in sizes)))
            continue
        rates = (np.arange(size + 1) / size for size in sizes)
        found.append(Rates(*(ndtri(np.clip(rate, smallest, 1 - smallest)) for rate in rates)))
    return found


def find_scale(
    found: Separation, *, stretch: bool, zero_is_fixed: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the number to subtract from each column, and the factor to multiply it by then."""
    lowest, highest = found.lowest, found.highest
    if not stretch:
        return np.zeros_like(lowest), found.bns
    if zero_is_fixed:
        lowest, highest = np.minimum(lowest, 0), np.maximum(highest, 0)
    extent = highest - lowest
    base = np.zeros_like(lowest) if zero_is_fixed else lowest
    return base, found.bns / np.where(extent > SMALLEST_EXTENT, extent, np.inf)


def separate_shapes(
    shapes: Shapes, k: int, output: str, rates: list[Rates], *, zero_is_fixed: bool
) -> Separation:
    """Return the largest separation of any class, by thresholds on the images for class k.

    The image of zero is subtracted last: before that, rounding is small relative to the images.
    """
    images = map_levels(shapes, k, output)
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
    """Return the largest separation of any class, by thresholds on the images of each column.

    Images that differ by no more than the tolerance count as equal.
    """
    found = []
    for of_class, of_rates in zip(positives, rates, strict=True):
        bns, lowest, highest = np.empty((3, levels.zero_level.size))
        tables = levels.starts, levels.sizes, of_class, images
        separate(*tables, tolerance, *of_rates, bns, lowest, highest)
        found.append(Separation(bns, lowest, highest))
    return found[0]._replace(bns=np.max([each.bns for each in found], axis=0))
