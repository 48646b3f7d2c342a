"""Documents as they come in: batches of texts or vectors turned into rows, in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.classes import Classes
from spokeshave.budget.request import Feed, Request
from spokeshave.budget.store import Batch
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.kernels.rows import DROPPED
from spokeshave.kernels.tokens import Words, empty_words, find_known, scan
from spokeshave.text.encoding import encode_documents, make_alphabet

Item = TypeVar("Item")
Result = TypeVar("Result")


class Incoming(NamedTuple):
    """Some documents as rows of features, with their labels and a checksum of all that.

    ``words`` is the vocabulary that the features are of, where it is that of the batch.
    """

    indptr: NDArray[Any]
    features: NDArray[Any]
    values: NDArray[np.float32] | None
    labels: list[Any]
    checksum: int
    words: Words | None = None

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return len(self.indptr) - 1

    def list_words(self) -> NDArray[np.uint64] | None:
        """Return a number for each word of the batch, the same in every batch."""
        if self.words is None:
            return None
        return np.asarray(self.words.keys[self.words.slots >= 0])

    def encode(self, classes: Classes) -> Batch:
        """Return the documents with the codes of their classes."""
        ends, codes = classes.encode(self.labels)
        return Batch(self.indptr, self.features, self.values, ends, codes)


class TextIntake:
    """Turns texts into rows.

    Parameters
    ----------
    strip_markup : bool
        Whether to remove tags first.
    has_values : bool
        Whether words are counted, or only there or not.
    """

    def __init__(self, *, strip_markup: bool, has_values: bool) -> None:
        self.strip_markup, self.has_values = strip_markup, has_values

    def scan(self, batch: Texts) -> Incoming:
        """Return rows of all words, numbered for this batch."""
        text, ends, labels, checksum = self._encode(batch)
        indptr, tokens, counts, words = scan(text, ends, make_alphabet(), empty_words())
        return Incoming(indptr, tokens, self._value(counts), labels, checksum, words)

    def find(self, batch: Texts, known: Words) -> Incoming:
        """Return rows of the words that are known, with their numbers there."""
        text, ends, labels, checksum = self._encode(batch)
        indptr, tokens, counts = find_known(text, ends, make_alphabet(), known)
        return Incoming(indptr, tokens, self._value(counts), labels, checksum)

    def _encode(self, batch: Texts) -> tuple[Any, Any, list[Any], int]:
        text, ends = encode_documents(batch.texts, without_markup=self.strip_markup)
        labels = list(batch.labels or ())
        checksum = crc32(ends.tobytes(), crc32(repr(labels).encode("utf-8", "surrogatepass")))
        return text, ends, labels, crc32(text.data, checksum)

    def _value(self, counts: NDArray[np.int32]) -> NDArray[np.float32] | None:
        return counts.astype(np.float32) if self.has_values else None


class VectorIntake:
    """Turns sparse vectors into rows, which have their values."""

    has_values = True

    def scan(self, batch: Vectors) -> Incoming:
        """Return rows of all features."""
        X, labels = batch.X, list(batch.labels)
        values = X.data.astype(np.float32)
        checksum = crc32(repr(labels).encode("utf-8", "surrogatepass"))
        for part in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data):
            checksum = crc32(np.ascontiguousarray(part).data, checksum)
        return Incoming(X.indptr, X.indices, values, labels, checksum)

    def find(self, batch: Vectors, known: NDArray[np.uint32]) -> Incoming:
        """Return rows of the features that are known, with their new numbers."""
        found = self.scan(batch)
        number = np.full(max(len(known), batch.X.shape[1]), DROPPED)
        number[: len(known)] = known
        features = number[found.features]
        is_kept = features != DROPPED
        ends = np.concatenate([[0], np.cumsum(is_kept)])[found.indptr]
        assert found.values is not None
        return found._replace(indptr=ends, features=features[is_kept], values=found.values[is_kept])


def make_intake(feed: Feed, request: Request) -> TextIntake | VectorIntake:
    """Return what turns the documents of a feed into rows."""
    if not feed.is_text:
        return VectorIntake()
    return TextIntake(strip_markup=request.strip_markup, has_values=request.has_values(feed))


def chain(checksum: int, other: int) -> int:
    """Return the checksum of what comes after what there was."""
    return (checksum * 1_000_003 + other) % (1 << 61)


def map_ahead(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Yield what a function makes of each item, in order, a few items ahead in threads.

    However slow the results are taken, no more than a few are in memory.

    Examples
    --------
    >>> list(map_ahead(len, ["ash", "maple"], n_threads=2))
    [3, 5]
    """
    with ThreadPoolExecutor(n_threads) as threads:
        waiting: deque[Any] = deque()
        try:
            for item in items:
                waiting.append(threads.submit(function, item))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
