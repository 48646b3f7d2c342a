"""Documents with their labels, as the readers return them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

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


_PRIME = 2**127 - 1
_BASE = 0x5E2D58D8B3BCDF1ABADEC7829054F90D


class Fingerprint(NamedTuple):
    """The number of documents, and a number that identifies them.

    The number is a polynomial of the digests of the documents, modulo a prime. The number of two
    parts together follows from those of each.

    Examples
    --------
    >>> whole = compute_fingerprint(Texts(["ash", "oak"], ["a", "b"]), ["a", "b"])
    >>> one = compute_fingerprint(Texts(["ash"], ["a"]), ["a"])
    >>> other = compute_fingerprint(Texts(["oak"], ["b"]), ["b"])
    >>> one.join(other) == whole
    True
    """

    n_documents: int = 0
    number: int = 0

    def join(self, other: Fingerprint) -> Fingerprint:
        """Return the fingerprint of these documents followed by others."""
        shifted = self.number * pow(_BASE, other.n_documents, _PRIME)
        total = self.n_documents + other.n_documents
        return Fingerprint(total, (shifted + other.number) % _PRIME)

    def __str__(self) -> str:
        return f"{self.number:032x}"


def compute_fingerprint(documents: Texts | Vectors, labels: Sequence[Any]) -> Fingerprint:
    """Return the fingerprint of documents and their labels."""
    contents = (
        (text.encode("utf-8", "surrogatepass") for text in documents.texts)
        if isinstance(documents, Texts)
        else _list_rows(documents.X)
    )
    number = 0
    for content, label in zip(contents, labels, strict=True):
        found = blake2b(content, digest_size=16)
        found.update(b"\0" + "\1".join(list_classes(label)).encode("utf-8", "surrogatepass"))
        number = (number * _BASE + int.from_bytes(found.digest())) % _PRIME
    return Fingerprint(len(labels), number)


def join_fingerprints(parts: Iterable[Fingerprint]) -> Fingerprint:
    """Return the fingerprint of all parts, in their order."""
    return reduce(Fingerprint.join, parts, Fingerprint())


def _list_rows(X: Any) -> Iterable[bytes]:
    import numpy as np  # texts are read without arrays
    from scipy import sparse

    if not sparse.issparse(X):
        return (row.tobytes() for row in np.ascontiguousarray(X, np.float64))
    indices, data = X.indices.astype(np.int64), X.data.astype(np.float64)
    ends = X.indptr.tolist()
    return (
        indices[start:stop].tobytes() + data[start:stop].tobytes() for start, stop in pairwise(ends)
    )
