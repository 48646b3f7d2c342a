"""Batches of documents as sparse rows: texts and vectors encoded, labels as class codes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spokeshave.corpus.documents import Fingerprint, Texts, Vectors
from spokeshave.kernels.rows import DROPPED
from spokeshave.text.alphabet import encode_bytes
from spokeshave.text.analyzers import Analysis
from spokeshave.text.term_index import TermTable, hash_terms
from spokeshave.text.terms import KnownTerms, TokenRows, scan_terms
from spokeshave.text.vectorizer import DocumentVectorizer, make_analysis
from spokeshave.text.weighting import dampen
from spokeshave.utils.validation import check_magnitude

Item = TypeVar("Item")
Result = TypeVar("Result")


def to_offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return where rows of the given lengths begin and end.

    Examples
    --------
    >>> to_offsets(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends


def as_tuple(label: Any) -> tuple[Any, ...]:
    """Return the distinct classes of a document that has one label or a tuple of them."""
    return tuple(dict.fromkeys(label)) if isinstance(label, tuple) else (label,)


class Batch(NamedTuple):
    """Documents as sparse rows, with the codes of their classes.

    ``values`` is None if all are one. Row i has ``codes[code_ends[i] : code_ends[i + 1]]``.
    """

    indptr: NDArray[Any]
    features: NDArray[Any]
    values: NDArray[Any] | None
    code_ends: NDArray[Any]
    codes: NDArray[np.int32]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.indptr) - 1

    def take(self, chosen: NDArray[np.bool_]) -> Batch:
        """Return the chosen rows."""
        lengths, n_codes = np.diff(self.indptr), np.diff(self.code_ends)
        cells, labels = np.repeat(chosen, lengths), np.repeat(chosen, n_codes)
        return Batch(
            to_offsets(lengths[chosen]),
            self.features[cells],
            None if self.values is None else self.values[cells],
            to_offsets(n_codes[chosen]),
            self.codes[labels],
        )

    def weigh(self, idf: NDArray[np.float32] | None) -> Batch:
        """Return the rows with each value multiplied by the idf of its feature, if there is one."""
        if idf is None or self.values is None:
            return self
        return self._replace(values=self.values * idf[self.features])


def join_batches(batches: Sequence[Batch]) -> Batch:
    """Return the rows of one batch or several as one."""
    values: Any = [batch.values for batch in batches]
    return Batch(
        to_offsets(np.concatenate([np.diff(batch.indptr) for batch in batches])),
        np.concatenate([batch.features for batch in batches]),
        None if values[0] is None else np.concatenate(values),
        to_offsets(np.concatenate([np.diff(batch.code_ends) for batch in batches])),
        np.concatenate([batch.codes for batch in batches]),
    )


class Classes:
    """Class names and their codes, numbered in order of appearance.

    If ``is_closed``, a class not among ``names`` is an error.

    Examples
    --------
    >>> classes = Classes()
    >>> ends, codes = classes.encode([("oak", "ash"), (), ("ash",)])
    >>> ends.tolist(), codes.tolist(), classes.names
    ([0, 2, 2, 3], [0, 1, 1], ['oak', 'ash'])
    """

    def __init__(self, names: Iterable[Any] = (), *, is_closed: bool = False) -> None:
        self._codes = {name: code for code, name in enumerate(names)}
        self._is_closed = is_closed

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def names(self) -> list[Any]:
        """The classes in the order of their codes."""
        return list(self._codes)

    def encode(self, labels: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the offsets of each document's codes, and the codes."""
        sets = [as_tuple(label) for label in labels]
        n_known = len(self)
        codes = [self._codes.setdefault(name, len(self._codes)) for names in sets for name in names]
        if self._is_closed and len(self) > n_known:
            raise ValueError(
                f"Documents must be of one of {n_known} known classes. "
                f"Got {self.names[n_known]!r} instead."
            )
        return to_offsets(np.array([len(names) for names in sets], int)), np.array(codes, np.int32)

    def rank(self, is_multilabel: bool) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the sorted classes, and the code of each one trained against the rest.

        Of two mutually exclusive classes only the second is trained.
        """
        names = np.array(self.names)
        order = np.argsort(names, kind="stable")
        is_binary = not is_multilabel and len(names) == 2
        return names[order], order[1:] if is_binary else order


class EncodedBatch(NamedTuple):
    """Documents as sparse rows, with their labels and a checksum of both.

    ``terms`` numbers the features if they are terms of texts, anew in every batch. ``label_type``
    is as of `Texts`, and ``fingerprint`` that of the documents, if it was taken.
    """

    indptr: NDArray[Any]
    features: NDArray[Any]
    values: NDArray[np.float32] | None
    labels: list[Any]
    checksum: int
    terms: TermTable | None = None
    label_type: str | None = None
    fingerprint: Fingerprint = Fingerprint()

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.indptr) - 1

    def hash_terms(self) -> NDArray[np.uint64] | None:
        """Return a hash of each distinct term, the same in every batch."""
        if self.terms is None:
            return None
        hashes = hash_terms(self.terms)
        return hashes[np.bincount(self.features, minlength=hashes.size) > 0]

    def encode(self, classes: Classes) -> Batch:
        """Return the rows with the codes of their classes."""
        return Batch(self.indptr, self.features, self.values, *classes.encode(self.labels))


class TextEncoder:
    """Encodes texts as rows: with values of terms, or without if a vectorizer gives them none."""

    def __init__(self, vectorizer: DocumentVectorizer) -> None:
        self.vectorizer, self.has_values = vectorizer, vectorizer.weighting != "binary"

    @property
    def analysis(self) -> Analysis:
        """How a text becomes terms."""
        return make_analysis(self.vectorizer)

    def scan(self, batch: Texts) -> EncodedBatch:
        """Return rows of all terms, numbered within this batch, with their counts."""
        rows, table = scan_terms(self.analysis, batch.texts)
        return self._encode(batch, rows, self._value(rows.counts), table)

    def find(self, batch: Texts, known: KnownTerms) -> EncodedBatch:
        """Return rows of the known terms, by their numbers in that vocabulary.

        Values are those of the vectorizer, but for inverse document frequencies and the norm.
        """
        rows = known.find(batch.texts)
        values = self._value(rows.counts)
        if values is not None and self.vectorizer.sublinear_tf:
            dampen(values)
        return self._encode(batch, rows, values)

    def index(self, terms: Sequence[str]) -> KnownTerms:
        """Return a lookup of terms, numbered in the given order."""
        return KnownTerms(self.analysis, terms)

    def _encode(
        self,
        batch: Texts,
        rows: TokenRows,
        values: NDArray[np.float32] | None,
        table: TermTable | None = None,
    ) -> EncodedBatch:
        text, ends = encode_bytes(batch.texts)
        labels = list(batch.labels or ())
        checksum = crc32(ends.tobytes(), crc32(repr(labels).encode("utf-8", "surrogatepass")))
        checksum = crc32(text.data, checksum)
        found = rows.indptr, rows.tokens, values, labels, checksum, table
        return EncodedBatch(*found, batch.label_type)

    def _value(self, counts: NDArray[np.int32]) -> NDArray[np.float32] | None:
        return counts.astype(np.float32) if self.has_values else None


class VectorEncoder:
    """Encodes sparse vectors as rows, which keep their values."""

    has_values = True

    def scan(self, batch: Vectors) -> EncodedBatch:
        """Return rows of all features."""
        X, labels = batch.X, list(batch.labels)
        check_magnitude(X)
        values = X.data.astype(np.float32)
        checksum = crc32(repr(labels).encode("utf-8", "surrogatepass"))
        for part in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data):
            checksum = crc32(np.ascontiguousarray(part).data, checksum)
        return EncodedBatch(
            X.indptr, X.indices, values, labels, checksum, label_type=batch.label_type
        )

    def index(self, features: NDArray[Any]) -> NDArray[np.uint32]:
        """Return a lookup of features: the new number of each."""
        return number_features(features, int(features.max(initial=-1)) + 1)

    def find(self, batch: Vectors, known: NDArray[np.uint32]) -> EncodedBatch:
        """Return rows of the known features, renumbered."""
        found = self.scan(batch)
        number = np.full(max(len(known), batch.X.shape[1]), DROPPED)
        number[: len(known)] = known
        features = number[found.features]
        is_kept = features != DROPPED
        ends = np.concatenate([[0], np.cumsum(is_kept)])[found.indptr]
        assert found.values is not None
        return found._replace(indptr=ends, features=features[is_kept], values=found.values[is_kept])


def number_features(features: NDArray[Any], n_features: int) -> NDArray[np.uint32]:
    """Return the position of each of ``n_features`` features in ``features``, or `DROPPED`.

    Examples
    --------
    >>> number_features(np.array([2, 0]), 3)[[2, 0]]
    array([0, 1], dtype=uint32)
    """
    number = np.full(n_features, DROPPED)
    number[features] = np.arange(len(features), dtype=np.uint32)
    return number


def chain_checksums(checksum: int, other: int) -> int:
    """Return the checksum of a batch appended to what came before."""
    return (checksum * 1_000_003 + other) % (1 << 61)


def map_ahead(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_threads: int,
    is_short: Callable[[], bool] = lambda: False,
) -> Iterator[Result]:
    """Yield the function of each item in order, computed a few items ahead in threads.

    At most ``n_threads + 1`` results are in memory, however slowly they are consumed, and only one
    while ``is_short`` says that memory is short.

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
                while waiting and (len(waiting) > n_threads or is_short()):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
