"""A digest of labelled documents, in order, that can be computed in parts and joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from spokeshave.corpus.documents import Texts, Vectors, list_classes

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
    if not sparse.issparse(X):
        return (row.tobytes() for row in np.ascontiguousarray(X, np.float64))
    indices, data = X.indices.astype(np.int64), X.data.astype(np.float64)
    ends = X.indptr.tolist()
    return (
        indices[start:stop].tobytes() + data[start:stop].tobytes() for start, stop in pairwise(ends)
    )
