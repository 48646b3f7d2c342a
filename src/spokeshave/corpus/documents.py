"""Documents with their labels, as the readers return them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

Label: TypeAlias = "str | tuple[str, ...]"
Labels: TypeAlias = "list[str] | list[tuple[str, ...]]"
Documents: TypeAlias = "Texts | Vectors | Split"


@dataclass(frozen=True)
class Texts:
    """Documents as raw text.

    Attributes
    ----------
    texts : list of str
        One text per document.
    labels : list of str, list of tuple of str, or None
        The class of each document, a tuple of classes in a multilabel source, or None if the
        source was read without labels.
    skipped : int
        Number of malformed rows that were skipped.

    Examples
    --------
    >>> len(Texts(["The screen is black", "Where is my parcel?"], ["display", "delivery"]))
    2
    """

    texts: list[str]
    labels: Labels | None
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class Vectors:
    """Documents as rows of numbers.

    Attributes
    ----------
    X : csr_matrix or ndarray of float64
        One row per document: a sparse matrix if the source is sparse, otherwise an array with NaN
        for missing values.
    labels : list of str or list of tuple of str
        The class of each document, or a tuple of classes in a multilabel source.
    feature_names : tuple of str or None
        The name of each column, or None if the source has no names.
    skipped : int
        Number of malformed rows that were skipped.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = Vectors(np.array([[5.1, 3.5]]), ["setosa"], ("sepal length", "sepal width"))
    >>> vectors.X.shape
    (1, 2)
    """

    X: Any
    labels: Labels
    feature_names: tuple[str, ...] | None
    skipped: int = 0


@dataclass(frozen=True)
class Split:
    """A collection that is divided into training and test documents.

    Attributes
    ----------
    train, test : Texts
        The two parts.

    Examples
    --------
    >>> split = Split(Texts(["buy wheat"], [("wheat",)]), Texts(["sell corn"], [("corn",)]))
    >>> len(split.train), len(split.test)
    (1, 1)
    """

    train: Texts
    test: Texts


def list_classes(label: Any) -> tuple[str, ...]:
    """Return the classes of a label: itself, or all of them if it is a tuple."""
    return label if isinstance(label, tuple) else (label,)


def take_documents(documents: Texts | Vectors, rows: Any) -> Texts | Vectors:
    """Return some of the documents, by number, with their labels.

    Examples
    --------
    >>> take_documents(Texts(["oak", "ash", "yew"], ["a", "b", "a"]), [2, 0]).texts
    ['yew', 'oak']
    """
    labels: Any = [(documents.labels or ())[i] for i in rows]
    if isinstance(documents, Texts):
        return replace(documents, texts=[documents.texts[i] for i in rows], labels=labels)
    return replace(documents, X=documents.X[rows], labels=labels)
