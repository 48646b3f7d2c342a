"""The first pass on a cluster: counts of each part, which add up to those of all documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from distributed import Client, Future
from distributed.protocol.pickle import dumps
from numpy.typing import NDArray

from spokeshave.budget.counts import CollectionCounts, count_classes
from spokeshave.budget.select import prune, require_words
from spokeshave.cluster.client import MERGING, Report, collect, merge, submit
from spokeshave.cluster.parts import Kind, Parts, Reading, Side
from spokeshave.corpus.documents import Texts, compute_fingerprint
from spokeshave.text.preprocess import split_chunks
from spokeshave.text.term_index import make_index
from spokeshave.text.terms import scan_terms
from spokeshave.text.vectorizer import (
    CHUNK,
    DocumentVectorizer,
    find_limits,
    find_most_frequent,
    list_stop_words,
    make_analysis,
    set_vocabulary,
)

WORD, FREQUENCY, TOTAL = "word", "frequency", "total"  # TOTAL if the vocabulary is limited by it
SPELT = 1 << 16  # words that are Python strings at a time
FEWEST_BUCKETS, MOST_BUCKETS = 8, 64  # of words


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of each part and of all, and document frequencies on the workers.

    ``words`` are tables of words, or other terms, and frequencies in buckets by hash; for vectors
    one array. Pruning empties the list.
    """

    parts: list[CollectionCounts]
    total: CollectionCounts
    words: list[Future]

    @property
    def names(self) -> list[str]:
        """The classes, in the order of their columns."""
        return sorted(self.total.class_counts)


def count_parts(
    client: Client,
    parts: Parts,
    sides: list[Future] | None,
    *,
    vectorizer: DocumentVectorizer | Future,
    report: Report | None = None,
) -> Counted:
    """Count every part on the workers, and add up.

    The vectorizer says what the terms of texts are; it may be fitted or not. Terms are divided
    into buckets by hash, so that no worker has to hold all of them.
    """
    n_buckets = min(max(len(parts) // 2, FEWEST_BUCKETS), MOST_BUCKETS)
    pairs = [
        submit(client, count_part, item, parts.kind, side, vectorizer, n_buckets)
        for item, side in parts.with_sides(sides)
    ]
    counts = [submit(client, itemgetter(0), pair, priority=MERGING) for pair in pairs]
    buckets = [
        merge(
            client,
            merge_words,
            [submit(client, take_bucket, pair, b, priority=MERGING) for pair in pairs],
        )
        for b in range(n_buckets if parts.kind.is_text else 1)
    ]
    del pairs  # the counts of a part are released once they are merged
    found: list[CollectionCounts] = collect(counts, report)
    return Counted(found, reduce(CollectionCounts.merge, found, CollectionCounts()), buckets)


def count_part(
    part: Any, kind: Kind, side: Side | None, vectorizer: DocumentVectorizer, n_buckets: int
) -> tuple[CollectionCounts, list[Any]]:
    """Return the counts of a part, and its document frequencies by bucket."""
    reading, total = Reading(part, kind, side), CollectionCounts()
    tally: Any = _TermTally(vectorizer) if kind.is_text else _FeatureTally()
    for batch in reading:
        labels: Any = batch.labels
        n_nonzeros, n_features = tally.add(batch)
        total = total.merge(
            CollectionCounts(
                len(labels),
                n_nonzeros,
                n_features,
                count_classes(labels),
                fingerprint=compute_fingerprint(batch, labels),
                label_type=batch.label_type,
            )
        )
    total = total.merge(CollectionCounts(n_skipped=reading.n_skipped))
    return total, tally.divide(n_buckets)


class _TermTally:
    """Document frequencies of the terms of texts, and how often they occur if that is needed."""

    def __init__(self, vectorizer: DocumentVectorizer) -> None:
        self._analysis = make_analysis(vectorizer)
        self._index, self._frequency = make_index(self._analysis), np.zeros(0, np.int64)
        is_limited = vectorizer.max_features is not None and vectorizer.weighting != "binary"
        self._totals = np.zeros(0, np.int64) if is_limited else None

    def add(self, batch: Texts) -> tuple[int, int]:
        """Count more documents; return their distinct terms, added up, and 0."""
        n_nonzeros, size = 0, CHUNK // self._analysis.n_per_word
        for documents in split_chunks(batch.texts, size, "documents"):
            rows, table = scan_terms(self._analysis, documents)
            ids = self._index.absorb(table)
            n_more = np.zeros(len(self._index) - self._frequency.size, np.int64)
            self._frequency = np.append(self._frequency, n_more)
            self._frequency[ids] += np.bincount(rows.tokens, minlength=ids.size)
            if self._totals is not None:
                self._totals = np.append(self._totals, n_more)
                found = np.bincount(rows.tokens, rows.counts, minlength=ids.size)
                self._totals[ids] += found.astype(np.int64)
            n_nonzeros += rows.tokens.size
        return n_nonzeros, 0

    def divide(self, n_buckets: int) -> list[pl.DataFrame]:
        """Return the terms and their frequencies in buckets."""
        is_term = np.flatnonzero(self._frequency)  # what n-grams begin with may be too short
        frames = []
        for first in range(0, max(is_term.size, 1), SPELT):  # Python strings take twice as much
            ids = is_term[first : first + SPELT]
            totals = None if self._totals is None else self._totals[ids]
            frames.append(make_words(self._index.decode(ids), self._frequency[ids], totals))
        return divide_words(pl.concat(frames), n_buckets)


class _FeatureTally:
    """Document frequencies of features that have numbers."""

    def __init__(self) -> None:
        self._frequency = np.zeros(0, np.int64)

    def add(self, batch: Any) -> tuple[int, int]:
        """Count more documents; return their nonzeros, and one more than the largest number."""
        used = batch.X.indices[batch.X.data != 0]
        self._frequency = add_frequency(self._frequency, np.bincount(used))
        return used.size, batch.X.shape[1]

    def divide(self, n_buckets: int) -> list[NDArray[np.int64]]:
        """Return the frequencies in one bucket: they take eight bytes each."""
        return [self._frequency]


def add_frequency(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of two arrays of frequencies, of which one may be longer."""
    total = np.zeros(max(one.size, other.size), np.int64)
    total[: one.size] += one
    total[: other.size] += other
    return total


def make_words(
    words: list[str], frequency: NDArray[np.int64], totals: NDArray[np.int64] | None = None
) -> pl.DataFrame:
    """Return a table of words and their document frequencies, and totals if there are any.

    Words are UTF-8, in which lone surrogates are possible; their order is that of strings.
    """
    columns: dict[str, Any] = {WORD: [_encode(word) for word in words], FREQUENCY: frequency}
    schema: dict[str, Any] = {WORD: pl.Binary, FREQUENCY: pl.Int64}
    if totals is not None:
        columns[TOTAL], schema[TOTAL] = totals, pl.Int64
    return pl.DataFrame(columns, schema=schema)


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def list_words(words: pl.Series) -> list[str]:
    """Return a column of words as strings."""
    return [word.decode("utf-8", "surrogatepass") for word in words]


def divide_words(words: pl.DataFrame, n_buckets: int) -> list[pl.DataFrame]:
    """Divide words into buckets by hash: a word is in the same bucket in every part."""
    bucket = words[WORD].hash(seed=0) % n_buckets
    return [words.filter(bucket == b) for b in range(n_buckets)]


def take_bucket(counted: tuple[CollectionCounts, list[Any]], bucket: int) -> Any:
    """Return one bucket of the words of a part."""
    return counted[1][bucket]


def merge_words(parts: list[Any]) -> Any:
    """Return the words of several parts, or the array of frequencies, added up."""
    if isinstance(parts[0], np.ndarray):
        return reduce(add_frequency, parts)
    return pl.concat(parts).group_by(WORD).agg(pl.exclude(WORD).sum())


def require_portable(vectorizer: DocumentVectorizer) -> None:
    """Raise if a vectorizer has a function that cannot be sent to the workers."""
    try:
        dumps(vectorizer)
    except Exception as error:
        raise ValueError(
            "vectorizer must have functions that can be pickled, to be sent to the workers. "
            f"Got one that cannot: {error}"
        ) from error


class PrunedWords(NamedTuple):
    """The kept words of a bucket, and how many were too rare, too frequent, and in all."""

    kept: pl.DataFrame
    n_rare: int
    n_frequent: int
    n_words: int


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The kept words."""

    buckets: list[Future]  # each a PrunedWords
    n_words: int  # before pruning
    n_kept: int
    n_nonzeros: int  # sum of the document frequencies of the kept words


def prune_vocabulary(
    client: Client, counted: Counted, vectorizer: DocumentVectorizer
) -> Vocabulary:
    """Choose the words to keep, and release the others: most words are in one document."""
    n = counted.total.n_documents
    buckets = [submit(client, prune_words, words, vectorizer, n) for words in counted.words]
    if vectorizer.max_features is not None:
        buckets = [submit(client, limit_words, buckets, vectorizer)]
    sizes = collect([submit(client, measure_words, bucket) for bucket in buckets])
    counted.words.clear()
    n_words, n_kept, n_nonzeros = (sum(each) for each in zip(*sizes, strict=True))
    require_words(n_words, n_kept, vectorizer)
    return Vocabulary(buckets, n_words, n_kept, n_nonzeros)


def prune_words(
    words: pl.DataFrame, vectorizer: DocumentVectorizer, n_documents: int
) -> PrunedWords:
    """Leave out words of too few or too many documents, and stop words."""
    limits = find_limits(vectorizer.min_df, vectorizer.max_df, n_documents)
    is_stopped = np.zeros(words.height, bool)
    if make_analysis(vectorizer).has_single_words:  # n-grams are made without them
        stop_words = [_encode(word) for word in list_stop_words(vectorizer)]
        is_stopped = words[WORD].is_in(stop_words).to_numpy()
    pruned = prune(words[FREQUENCY].to_numpy(), *limits, is_stopped)
    return PrunedWords(words[pruned.features], pruned.n_rare, pruned.n_frequent, words.height)


def limit_words(buckets: list[PrunedWords], vectorizer: DocumentVectorizer) -> PrunedWords:
    """Return the words that ``max_features`` keeps, of all buckets, in one."""
    kept = pl.concat([bucket.kept for bucket in buckets]).sort(WORD)
    if kept.height > (vectorizer.max_features or kept.height):
        totals = kept[TOTAL if TOTAL in kept.columns else FREQUENCY].to_numpy()
        kept = kept[find_most_frequent(vectorizer, totals)]
    sizes = (sum(each) for each in zip(*(bucket[1:] for bucket in buckets), strict=True))
    return PrunedWords(kept, *sizes)


def measure_words(bucket: PrunedWords) -> tuple[int, int, int]:
    """Return the number of words, of kept words, and the sum of the frequencies of these."""
    return bucket.n_words, bucket.kept.height, int(bucket.kept[FREQUENCY].sum())


def fit_vectorizer(
    buckets: list[PrunedWords], vectorizer: DocumentVectorizer, n_documents: int
) -> DocumentVectorizer:
    """Return a vectorizer with the vocabulary of all buckets."""
    words = pl.concat([bucket.kept for bucket in buckets]).sort(WORD)
    set_vocabulary(vectorizer, list_words(words[WORD]), words[FREQUENCY].to_numpy(), n_documents)
    vectorizer.n_rare_ = sum(bucket.n_rare for bucket in buckets)
    vectorizer.n_frequent_ = sum(bucket.n_frequent for bucket in buckets)
    return vectorizer
