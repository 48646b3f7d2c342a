"""What shapes are learned from, and how what they make of it is given back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.levels import Census
from spokeshave.shapes import LevelCounts, Places, count_documents


class Given(NamedTuple):
    """Documents as rows of stored cells, and the kind of sparse matrix they came as, if any."""

    rows: sparse.csr_matrix
    kind: type | None


class Study(NamedTuple):
    """What shapes are learned from: documents, their classes, levels, counts, and parts.

    ``part_of`` is the part of a cross-validation that each document is in.
    """

    given: Given
    indicator: sparse.csc_matrix
    census: Census
    counts: LevelCounts
    part_of: NDArray[np.intp]

    @property
    def places(self) -> Places:
        """Where the cells of the documents are: each at a level."""
        return Places(self.given.rows.indices, self.census.of_cell, None)

    def count_parts(self) -> Iterator[LevelCounts]:
        """Yield the counts of each part."""
        for part in range(self.part_of.max() + 1):
            documents = np.flatnonzero(self.part_of == part)
            yield count_documents(self.census, self.indicator, documents)


def restore(given: Given, images: NDArray[np.float64]) -> Any:
    """Return the images of cells (classes x cells) in the form that the documents came in."""
    rows, n_classes = given.rows, len(images)
    shape = rows.shape[0], rows.shape[1] * n_classes
    data = images.T.ravel().astype(rows.dtype, copy=False)
    if given.kind is None and rows.nnz == rows.shape[0] * rows.shape[1]:
        return data.reshape(shape)
    # Copies: whoever changes what comes out must not change what went in.
    indices, indptr = rows.indices.copy(), rows.indptr.copy()
    if n_classes > 1:
        indices = (indices[:, None].astype(np.int64) * n_classes + np.arange(n_classes)).ravel()
        indptr = indptr.astype(np.int64) * n_classes
    if given.kind is not None:
        return given.kind((data, indices, indptr), shape)
    return sparse.csr_matrix((data, indices, indptr), shape).toarray()


def deal(
    indicator: sparse.csc_matrix, n_parts: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Return the part of each document: those of a class evenly, as far as each has one class."""
    rows = indicator.tocsr()
    label = np.full(rows.shape[0], -1)
    has_label = np.diff(rows.indptr) > 0
    label[has_label] = rows.indices[rows.indptr[:-1][has_label]]
    shuffled = rng.permutation(label.size)
    part_of = np.empty(label.size, np.intp)
    part_of[shuffled[np.argsort(label[shuffled], kind="stable")]] = np.arange(label.size) % n_parts
    return part_of
