"""The first pass on a cluster: counts of each part, which add up to those of all documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.budget.counts import CollectionCounts, count_classes
from spokeshave.budget.select import prune, require_words
from spokeshave.budget.store import WordIndex
from spokeshave.cluster.client import MERGING, Report, collect, merge, submit
from spokeshave.cluster.parts import Kind, Parts, Reading, Side
from spokeshave.corpus.documents import Texts, compute_fingerprint
from spokeshave.text.preprocess import split_chunks
from spokeshave.text.vectorizer import (
    CHUNK,
    DocumentVectorizer,
    find_limits,
    list_stop_words,
    scan_chunk,
    set_vocabulary,
)

WORD, FREQUENCY = "word", "frequency"
SPELT = 1 << 16  # words that are Python strings at a time
FEWEST_BUCKETS, MOST_BUCKETS = 8, 64  # of words


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of each part and of all, and document frequencies on the workers.

    ``words`` are tables of words and frequencies in buckets by hash; for vectors one array. Pruning
    empties the list.
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
    strip_markup: bool,
    report: Report | None = None,
) -> Counted:
    """Count every part on the workers, and add up.

    Words are divided into buckets by hash, so that no worker has to hold all of them.
    """
    n_buckets = min(max(len(parts) // 2, FEWEST_BUCKETS), MOST_BUCKETS)
    pairs = [
        submit(client, count_part, item, parts.kind, side, strip_markup, n_buckets)
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
    part: Any, kind: Kind, side: Side | None, strip_markup: bool, n_buckets: int
) -> tuple[CollectionCounts, list[Any]]:
    """Return the counts of a part, and its document frequencies by bucket."""
    reading, total = Reading(part, kind, side), CollectionCounts()
    tally: Any = _WordTally(strip_markup) if kind.is_text else _FeatureTally()
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
            )
        )
    total = total.merge(CollectionCounts(n_skipped=reading.n_skipped))
    return total, tally.divide(n_buckets)


class _WordTally:
    """Document frequencies of words."""

    def __init__(self, strip_markup: bool) -> None:
        self._strip_markup = strip_markup
        self._words, self._frequency = WordIndex(), np.zeros(0, np.int64)

    def add(self, batch: Texts) -> tuple[int, int]:
        """Count more documents; return their distinct words, added up, and 0."""
        n_nonzeros = 0
        for documents in split_chunks(batch.texts, CHUNK, "documents"):
            rows, words = scan_chunk(documents, self._strip_markup)
            numbers = self._words.absorb(words)
            n_more = len(self._words) - self._frequency.size
            self._frequency = np.append(self._frequency, np.zeros(max(n_more, 0), np.int64))
            self._frequency[numbers] += np.bincount(rows.tokens, minlength=numbers.size)
            n_nonzeros += rows.tokens.size
        return n_nonzeros, 0

    def divide(self, n_buckets: int) -> list[pl.DataFrame]:
        """Return the words and their frequencies in buckets."""
        frames = [make_words([], np.empty(0, np.int64))]
        for first in range(0, self._frequency.size, SPELT):  # Python strings take twice as much
            numbers = np.arange(first, min(first + SPELT, self._frequency.size))
            frames.append(make_words(self._words.decode(numbers), self._frequency[numbers]))
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


def make_words(words: list[str], frequency: NDArray[np.int64]) -> pl.DataFrame:
    """Return a table of words and their document frequencies."""
    schema = {WORD: pl.String, FREQUENCY: pl.Int64}
    return pl.DataFrame({WORD: words, FREQUENCY: frequency}, schema=schema)


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
    return pl.concat(parts).group_by(WORD).agg(pl.col(FREQUENCY).sum())


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
    sizes = collect([submit(client, measure_words, bucket) for bucket in buckets])
    counted.words.clear()
    n_words, n_kept, n_nonzeros = (sum(each) for each in zip(*sizes, strict=True))
    require_words(n_words, n_kept, vectorizer.min_df, vectorizer.max_df)
    return Vocabulary(buckets, n_words, n_kept, n_nonzeros)


def prune_words(
    words: pl.DataFrame, vectorizer: DocumentVectorizer, n_documents: int
) -> PrunedWords:
    """Leave out words of too few or too many documents, and stop words."""
    limits = find_limits(vectorizer.min_df, vectorizer.max_df, n_documents)
    is_stopped = words[WORD].is_in(list(list_stop_words(vectorizer))).to_numpy()
    pruned = prune(words[FREQUENCY].to_numpy(), *limits, is_stopped)
    return PrunedWords(words[pruned.features], pruned.n_rare, pruned.n_frequent, words.height)


def measure_words(bucket: PrunedWords) -> tuple[int, int, int]:
    """Return the number of words, of kept words, and the sum of the frequencies of these."""
    return bucket.n_words, bucket.kept.height, int(bucket.kept[FREQUENCY].sum())


def fit_vectorizer(
    buckets: list[PrunedWords], vectorizer: DocumentVectorizer, n_documents: int
) -> DocumentVectorizer:
    """Return a vectorizer with the vocabulary of all buckets."""
    words = pl.concat([bucket.kept for bucket in buckets]).sort(WORD)
    set_vocabulary(vectorizer, words[WORD].to_list(), words[FREQUENCY].to_numpy(), n_documents)
    vectorizer.n_rare_ = sum(bucket.n_rare for bucket in buckets)
    vectorizer.n_frequent_ = sum(bucket.n_frequent for bucket in buckets)
    return vectorizer
