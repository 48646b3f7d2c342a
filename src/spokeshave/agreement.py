"""How far predictions agree with the truth: counts that add up over parts of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class Agreement(NamedTuple):
    """Counts of documents; those of classes are arrays with an entry per class.

    Attributes
    ----------
    n_documents, n_right : int
        Documents, and those whose label, or every label, is right.
    right, true, predicted : ndarray of int, of shape (n_classes,)
        Documents that are of a class and predicted to be, that are of it, that are predicted to be.

    Examples
    --------
    >>> found = compare(np.array(["ash", "oak"]), np.array(["oak", "oak"]), ["ash", "oak"])
    >>> found.n_right, found.f1.round(2)
    (1, array([0.  , 0.67]))
    """

    n_documents: int
    n_right: int
    right: NDArray[np.int64]
    true: NDArray[np.int64]
    predicted: NDArray[np.int64]

    @property
    def accuracy(self) -> float:
        """The share of the documents that are right."""
        return self.n_right / self.n_documents

    @property
    def f1(self) -> NDArray[np.float64]:
        """F1 of each class, 0 for one that is neither there nor predicted."""
        return np.asarray(2 * self.right / np.maximum(self.true + self.predicted, 1))

    @property
    def micro_f1(self) -> float:
        """F1 of all decisions together."""
        total = self.true.sum() + self.predicted.sum()
        return float(2 * self.right.sum() / max(total, 1))

    def merge(self, other: Agreement) -> Agreement:
        """Return the counts of two parts together."""
        pairs: Any = zip(self, other, strict=True)
        return Agreement(*(a + b for a, b in pairs))


def compare(y: Any, predicted: Any, names: Sequence[str]) -> Agreement:
    """Compare predictions with labels, or an indicator of labels with another.

    A label that is none of the names is wrong whatever is predicted.
    """
    if y.ndim == 2:
        truth, found = (
            (table.toarray() if sparse.issparse(table) else np.asarray(table)) != 0
            for table in (y, predicted)
        )
        tables = truth & found, truth, found
        counts = (table.sum(axis=0, dtype=np.int64) for table in tables)
        return Agreement(len(truth), int((truth == found).all(axis=1).sum()), *counts)
    number = {name: k for k, name in enumerate(names)}
    true, guessed = (
        np.array([number.get(label, -1) for label in labels.tolist()], np.int64)
        for labels in (np.asarray(y), np.asarray(predicted))
    )
    right = true[(true == guessed) & (true >= 0)]
    counts = (np.bincount(of[of >= 0], minlength=len(names)) for of in (right, true, guessed))
    return Agreement(true.size, right.size, *counts)
