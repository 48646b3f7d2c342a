"""What one pass over a collection tells of it: counts that add up over its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALL = 1 << 16  # a number that is counted up to without a thought
N_SMALLEST = 4096  # hashes kept: the number of distinct words is then known to within 2%

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT = np.uint64(31)


@dataclass(frozen=True, eq=False)
class Survey:
    """Counts of a collection, or of a part of one.

    Attributes
    ----------
    n_documents, n_nonzeros : int
        Documents, and distinct words in each, added up.
    n_features : int
        One more than the largest number of a feature; 0 for texts, whose words have none.
    class_counts : dict of str to int
        Documents of each class.
    smallest : ndarray of uint64
        The smallest hashes of its distinct words, in order, at most ``N_SMALLEST``.
    n_counted : int or None
        How many distinct words there are, where all have been counted.

    Examples
    --------
    >>> one = survey_rows(np.array([3, 5, 8]), n_rows=2, labels=["ash", "oak"])
    >>> other = survey_rows(np.array([5]), n_rows=1, labels=["oak"])
    >>> both = one.merge(other)
    >>> both.n_documents, both.class_counts["oak"], both.n_words
    (3, 2, 3)
    """

    n_documents: int = 0
    n_nonzeros: int = 0
    n_features: int = 0
    class_counts: Counter[str] = field(default_factory=Counter)
    smallest: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    n_counted: int | None = None

    @property
    def n_words(self) -> int:
        """How many distinct words there are: an estimate, where they are many.

        Bar-Yossef et al. (2002): among uniform hashes, the k-th smallest tells how many there are.
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

    def merge(self, other: Survey) -> Survey:
        """Return the counts of two parts together."""
        return Survey(
            self.n_documents + other.n_documents,
            self.n_nonzeros + other.n_nonzeros,
            max(self.n_features, other.n_features),
            self.class_counts + other.class_counts,
            _find_smallest(np.concatenate([self.smallest, other.smallest])),
        )


def survey_rows(
    features: NDArray[Any],
    n_rows: int,
    labels: Sequence[Any],
    *,
    words: NDArray[np.uint64] | None = None,
) -> Survey:
    """Return the counts of some rows of features, and their labels.

    ``words`` are numbers that stand for the distinct words, where features are numbered anew in
    every batch.
    """
    distinct = list_distinct(features).astype(np.uint64) if words is None else words
    return Survey(
        n_rows,
        features.size,
        int(features.max(initial=-1)) + 1 if words is None else 0,
        Counter(name for label in labels for name in as_tuple(label)),
        _find_smallest(mix(distinct)),
    )


def _find_smallest(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the smallest hashes, each once, in order."""
    hashes = np.sort(hashes)
    is_new = np.append(True, hashes[1:] != hashes[:-1])[: hashes.size]
    return np.asarray(hashes[is_new][:N_SMALLEST])


def list_distinct(numbers: NDArray[Any]) -> NDArray[np.intp]:
    """Return the distinct ones of many numbers, in order, without sorting them if they are small.

    Examples
    --------
    >>> list_distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    if int(numbers.max(initial=0)) <= SMALL + 4 * numbers.size:
        return np.flatnonzero(np.bincount(numbers))
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])], np.intp)


def as_tuple(label: Any) -> tuple[Any, ...]:
    """Return the classes of a document that has one label, or several."""
    return tuple(dict.fromkeys(label)) if isinstance(label, tuple) else (label,)


def mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers spread evenly over 64 bits, equal ones alike (splitmix64).

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
    """Return a number from 0 to 1 for each document, the same whatever part it is drawn in.

    Examples
    --------
    >>> bool((draw(0, 2, 3) == draw(0, 0, 5)[2:]).all())
    True
    """
    numbers = np.arange(first, first + n, dtype=np.uint64) + mix(np.array([seed], np.uint64))
    return np.asarray(mix(numbers) / 2.0**64)
