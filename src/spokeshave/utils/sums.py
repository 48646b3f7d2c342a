"""Sums of each feature over the documents of each class, and Bi-Normal Separation from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri


class Tally(NamedTuple):
    """Sums of each feature over the documents inside and outside a class, and their numbers."""

    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    n_inside: float
    n_outside: float

    @property
    def rates(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Shares of the documents inside and outside the class that have each feature."""
        return self.inside / self.n_inside, self.outside / self.n_outside


class Sums(NamedTuple):
    """Sums of each feature over documents; the sums of disjoint sets of documents add up.

    Attributes
    ----------
    total : ndarray of shape (n_features,)
        Sums over all documents.
    by_class : csr_matrix or ndarray of shape (n_classes, n_features)
        Sums over the documents of each class.
    sizes : ndarray of shape (n_classes,)
        Number of documents of each class, or the sum of their weights.
    n_documents : int or float
        Number of all documents, or the sum of their weights.
    """

    total: NDArray[np.float64]
    by_class: Any
    sizes: NDArray[Any]
    n_documents: float

    def merge(self, other: Sums) -> Sums:
        """Return the sums over the documents of both."""
        return Sums(
            self.total + other.total,
            self.by_class + other.by_class,
            self.sizes + other.sizes,
            self.n_documents + other.n_documents,
        )

    def list_inside(self, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the features that class k has, and their sums over its documents."""
        row = self.by_class[k]
        if sparse.issparse(row):
            return row.indices, row.data
        features = np.flatnonzero(row)
        return features, row[features]

    def tally(self) -> Iterator[Tally]:
        """Yield the sums inside and outside each class."""
        for row, size in zip(self.by_class, self.sizes.tolist(), strict=True):
            inside = row.toarray().ravel() if sparse.issparse(row) else row
            yield Tally(inside, self.total - inside, size, self.n_documents - size)


class EventSums(NamedTuple):
    """Sums for both event models of naive Bayes; those of disjoint sets of documents add up.

    Attributes
    ----------
    presence : Sums
        Numbers of documents that have each feature, for the Bernoulli model.
    counts : Sums or None
        Sums of values, for the multinomial model; None if a value is not a whole number.
    """

    presence: Sums
    counts: Sums | None

    def merge(self, other: EventSums) -> EventSums:
        """Return the sums over the documents of both."""
        presence = self.presence.merge(other.presence)
        if self.counts is None or other.counts is None:
            return EventSums(presence, None)
        return EventSums(presence, self.counts.merge(other.counts))


def sum_values(
    X: sparse.csr_matrix, indicator: sparse.csc_matrix, weight: NDArray[np.float64] | None = None
) -> Sums:
    """Sum the values of each feature, weighted if there are weights, in O(nonzeros x labels)."""
    inside = indicator.astype(np.float64)
    if weight is None:
        sizes, n_documents = np.diff(indicator.indptr).astype(np.int64), X.shape[0]
        weight = np.ones(X.shape[0])
    else:
        sizes, n_documents = weight @ inside, weight.sum()
        inside = sparse.csc_matrix(inside.multiply(weight[:, None]))
    return Sums(weight @ X, sparse.csr_matrix(inside.T @ X), sizes, n_documents)


def sum_presence(
    X: sparse.csr_matrix, indicator: sparse.csc_matrix, weight: NDArray[np.float64] | None = None
) -> Sums:
    """Count the documents that have each feature, or add up their weights."""
    ones = np.ones(X.nnz)
    present = sparse.csr_matrix((ones, X.indices, X.indptr), X.shape)
    return sum_values(present, indicator, weight)


def bi_normal_separation(
    tpr: NDArray[np.float64], fpr: NDArray[np.float64], smallest: float
) -> NDArray[np.float64]:
    """Return |Φ⁻¹(tpr) - Φ⁻¹(fpr)|, rates clipped to [smallest, 1 - smallest] (Forman 2003)."""
    tpr, fpr = (np.clip(rate, smallest, 1 - smallest) for rate in (tpr, fpr))
    return np.asarray(np.abs(ndtri(tpr) - ndtri(fpr)))
