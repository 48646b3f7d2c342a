"""Counts of a collection, which add up over its batches and parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.row_batches import as_tuple
from spokeshave.corpus.documents import Fingerprint, join_label_types

SMALL = 1 << 16  # numbers up to this are counted rather than sorted
N_SMALLEST = 4096  # hashes kept: they give the number of distinct words to within 2%

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT = np.uint64(31)


@dataclass(frozen=True, eq=False)
class CollectionCounts:
    """Counts of a collection, or of a part of one.

    Examples
    --------
    >>> one = count_rows(np.array([3, 5, 8]), n_rows=2, labels=["ash", "oak"])
    >>> other = count_rows(np.array([5]), n_rows=1, labels=["oak"])
    >>> both = one.merge(other)
    >>> both.n_documents, both.class_counts["oak"], both.n_words
    (3, 2, 3)
    """

    n_documents: int = 0
    n_nonzeros: int = 0
    n_features: int = 0  # one more than the largest feature number; 0 for texts
    class_counts: Counter[Any] = field(default_factory=Counter)  # documents of each class
    # The smallest hashes of the distinct words, sorted, at most N_SMALLEST.
    smallest: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    n_counted: int | None = None  # distinct words, if all have been counted
    n_skipped: int = 0  # malformed rows
    fingerprint: Fingerprint = field(default_factory=Fingerprint)  # of the documents, if taken
    label_type: str | None = None  # of the labels in the source, as of `Texts`

    @property
    def n_words(self) -> int:
        """Number of distinct words; an estimate if there are many.

        Bar-Yossef et al. (2002): the k-th smallest of uniform hashes tells how many there are.
        """
        if self.n_counted is not None:
            return self.n_counted
        if self.smallest.size < N_SMALLEST:
            return int(self.smallest.size)
        return round((N_SMALLEST - 1) / (float(self.smallest[-1]) / 2**64))

    @property
    def per_document(self) -> float:
        """Mean number of nonzeros per document."""
        return self.n_nonzeros / max(self.n_documents, 1)

    def merge(self, other: CollectionCounts) -> CollectionCounts:
        """Return the counts of these documents followed by others."""
        return CollectionCounts(
            self.n_documents + other.n_documents,
            self.n_nonzeros + other.n_nonzeros,
            max(self.n_features, other.n_features),
            self.class_counts + other.class_counts,
            _find_smallest(np.concatenate([self.smallest, other.smallest])),
            None,
            self.n_skipped + other.n_skipped,
            self.fingerprint.join(other.fingerprint),
            join_label_types(self.label_type, other.label_type),
        )


def count_rows(
    features: NDArray[Any],
    n_rows: int,
    labels: Sequence[Any],
    *,
    hashes: NDArray[np.uint64] | None = None,
    label_type: str | None = None,
) -> CollectionCounts:
    """Return the counts of some rows of features, and of their labels.

    ``hashes`` are those of the distinct words, if each batch numbers its words anew.
    """
    distinct = list_distinct(features).astype(np.uint64) if hashes is None else hashes
    return CollectionCounts(
        n_rows,
        features.size,
        int(features.max(initial=-1)) + 1 if hashes is None else 0,
        count_classes(labels),
        _find_smallest(mix(distinct)),
        label_type=label_type,
    )


def count_classes(labels: Sequence[Any]) -> Counter[Any]:
    """Return the number of documents of each class."""
    return Counter(name for label in labels for name in as_tuple(label))


def _find_smallest(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the smallest hashes, distinct and sorted."""
    hashes = np.sort(hashes)
    is_new = np.append(True, hashes[1:] != hashes[:-1])[: hashes.size]
    return np.asarray(hashes[is_new][:N_SMALLEST])


def list_distinct(numbers: NDArray[Any]) -> NDArray[np.intp]:
    """Return the distinct numbers, sorted; small ones are counted, which is faster.

    Examples
    --------
    >>> list_distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    if int(numbers.max(initial=0)) <= SMALL + 4 * numbers.size:
        return np.flatnonzero(np.bincount(numbers))
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])], np.intp)


def mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a uniform 64-bit hash of each number (splitmix64).

    Examples
    --------
    >>> mix(np.array([1], np.uint64))
    array([10451216379200822465], dtype=uint64)
    """
    mixed = numbers + _GOLDEN
    for shift, factor in _MIXERS:
        mixed = (mixed ^ mixed >> shift) * factor
    return np.asarray(mixed ^ mixed >> _LAST_SHIFT)


def draw(seed: int, first: int, n: int) -> NDArray[np.float64]:
    """Return a random number in [0, 1) for each document, which depends on its index alone.

    Examples
    --------
    >>> bool((draw(0, 2, 3) == draw(0, 0, 5)[2:]).all())
    True
    """
    numbers = np.arange(first, first + n, dtype=np.uint64) + mix(np.array([seed], np.uint64))
    return np.asarray(mix(numbers) / 2.0**64)
