"""The first pass over the documents: counts of each part, which add up to those of all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import reduce
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.cluster.parts import Parts
from spokeshave.cluster.reading import Kind, Reading, Side
from spokeshave.cluster.workers import MERGING, Report, collect, merge, submit
from spokeshave.corpus.documents import Texts, list_classes
from spokeshave.corpus.fingerprint import Fingerprint, compute_fingerprint
from spokeshave.kernels.tokens import absorb, empty_words
from spokeshave.text.document_frequency import find_limits
from spokeshave.text.encoding import decode_words, make_alphabet
from spokeshave.text.preprocess import split_chunks
from spokeshave.text.vectorizer import (
    CHUNK,
    DocumentVectorizer,
    list_stop_words,
    scan_chunk,
    set_vocabulary,
)

WORD, FREQUENCY = "word", "frequency"
SPELT = 1 << 16  # words that are strings at a time
FEWEST_BUCKETS, MOST_BUCKETS = 8, 64  # of words


@dataclass(frozen=True, eq=False)
class Count:
    """Counts of a part of the documents, or of all.

    Attributes
    ----------
    n_documents, n_nonzeros : int
        Documents, and distinct features in each, added up.
    n_features : int
        One more than the largest number of a feature; 0 for texts, whose words have none.
    n_skipped : int
        Malformed rows that were left out.
    class_counts : Counter
        Documents of each class.
    fingerprint : Fingerprint
        Tells the documents from any others.
    """

    n_documents: int = 0
    n_nonzeros: int = 0
    n_features: int = 0
    n_skipped: int = 0
    class_counts: Counter[str] = field(default_factory=Counter)
    fingerprint: Fingerprint = field(default_factory=Fingerprint)

    def merge(self, other: Count) -> Count:
        """Return the counts of these documents and of others after them."""
        return Count(
            self.n_documents + other.n_documents,
            self.n_nonzeros + other.n_nonzeros,
            max(self.n_features, other.n_features),
            self.n_skipped + other.n_skipped,
            self.class_counts + other.class_counts,
            self.fingerprint.join(other.fingerprint),
        )


@dataclass(frozen=True, eq=False)
class Counted:
    """What the first pass has found.

    Attributes
    ----------
    parts : list of Count
        The counts of each part.
    total : Count
        Those of all.
    words : list of Future
        Words and how many documents they are in, in buckets by their hash, on the workers; of
        vectors, in how many documents each feature is. Emptied when they have been pruned.
    """

    parts: list[Count]
    total: Count
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

    Words are dealt to buckets by their hash, so that no worker has to hold all of them.
    """
    n_buckets = min(max(len(parts) // 2, FEWEST_BUCKETS), MOST_BUCKETS)
    pairs = [
        submit(client, count_part, item, parts.kind, side, strip_markup, n_buckets)
        for item, side in zip(parts.items, sides or [None] * len(parts), strict=True)
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
    del pairs  # those of a part are let go when they are added to others
    found: list[Count] = collect(counts, report)
    return Counted(found, reduce(Count.merge, found, Count()), buckets)


def count_part(
    part: Any, kind: Kind, side: Side | None, strip_markup: bool, n_buckets: int
) -> tuple[Count, list[Any]]:
    """Return the counts of a part, and the words in it, or how often each feature is, by bucket."""
    reading, total = Reading(part, kind, side), Count()
    tally: Any = _WordTally(strip_markup) if kind.is_text else _FeatureTally()
    for batch in reading:
        labels: Any = batch.labels
        n_nonzeros, n_features = tally.add(batch)
        classes = Counter(name for label in labels for name in list_classes(label))
        mark = compute_fingerprint(batch, labels)
        total = total.merge(Count(len(labels), n_nonzeros, n_features, 0, classes, mark))
    total = total.merge(Count(n_skipped=reading.n_skipped))
    return total, tally.deal(n_buckets)


class _WordTally:
    """Counts in how many documents each word is."""

    def __init__(self, strip_markup: bool) -> None:
        self._strip_markup = strip_markup
        self._words, self._frequency = empty_words(), np.zeros(0, np.int64)

    def add(self, batch: Texts) -> tuple[int, int]:
        """Count more documents; return how many distinct words they have in all."""
        n_nonzeros = 0
        for documents in split_chunks(batch.texts, CHUNK, "documents"):
            rows, words = scan_chunk(documents, self._strip_markup)
            numbers, self._words = absorb(self._words, words, make_alphabet())
            n_more = self._words.size[0] - self._frequency.size
            self._frequency = np.append(self._frequency, np.zeros(max(n_more, 0), np.int64))
            self._frequency[numbers] += np.bincount(rows.tokens, minlength=numbers.size)
            n_nonzeros += rows.tokens.size
        return n_nonzeros, 0

    def deal(self, n_buckets: int) -> list[pl.DataFrame]:
        """Return the words and their counts in buckets."""
        frames = [make_words([], np.empty(0, np.int64))]
        for first in range(0, self._frequency.size, SPELT):  # as objects they take twice as much
            numbers = np.arange(first, min(first + SPELT, self._frequency.size))
            frames.append(make_words(decode_words(self._words, numbers), self._frequency[numbers]))
        return deal_words(pl.concat(frames), n_buckets)


class _FeatureTally:
    """Counts in how many documents each feature is that has a number already."""

    def __init__(self) -> None:
        self._frequency = np.zeros(0, np.int64)

    def add(self, batch: Any) -> tuple[int, int]:
        """Count more documents; return their nonzeros, and one more than the largest number."""
        used = batch.X.indices[batch.X.data != 0]
        self._frequency = add_frequency(self._frequency, np.bincount(used))
        return used.size, batch.X.shape[1]

    def deal(self, n_buckets: int) -> list[NDArray[np.int64]]:
        """Return the counts, all in one bucket: they take eight bytes each."""
        return [self._frequency]


def add_frequency(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of two counts, of which one may know more features."""
    total = np.zeros(max(one.size, other.size), np.int64)
    total[: one.size] += one
    total[: other.size] += other
    return total


def make_words(words: list[str], frequency: NDArray[np.int64]) -> pl.DataFrame:
    """Return words and the number of documents that each is in."""
    schema = {WORD: pl.String, FREQUENCY: pl.Int64}
    return pl.DataFrame({WORD: words, FREQUENCY: frequency}, schema=schema)


def deal_words(words: pl.DataFrame, n_buckets: int) -> list[pl.DataFrame]:
    """Deal words to buckets by their hash, the same word to the same bucket in every part."""
    bucket = words[WORD].hash(seed=0) % n_buckets
    return [words.filter(bucket == b) for b in range(n_buckets)]


def take_bucket(counted: tuple[Count, list[Any]], bucket: int) -> Any:
    """Return the words of a part that are in a bucket."""
    return counted[1][bucket]


def merge_words(parts: list[Any]) -> Any:
    """Return the words of several parts, or how often features are in them, added up."""
    if isinstance(parts[0], np.ndarray):
        return reduce(add_frequency, parts)
    return pl.concat(parts).group_by(WORD).agg(pl.col(FREQUENCY).sum())


class PrunedWords(NamedTuple):
    """The words of a bucket that are kept, and how many are too rare, too frequent, and in all."""

    kept: pl.DataFrame
    n_rare: int
    n_frequent: int
    n_words: int


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words that are kept.

    Attributes
    ----------
    buckets : list of Future
        They and their counts, each a `PrunedWords`, on the workers.
    n_words, n_kept : int
        All words, and those that are kept.
    n_nonzeros : int
        In how many documents those are, added up.
    """

    buckets: list[Future]
    n_words: int
    n_kept: int
    n_nonzeros: int


def prune_vocabulary(client: Client, counted: Counted, recipe: DocumentVectorizer) -> Vocabulary:
    """Choose the words that are kept. All others are let go, and most words are of one document."""
    n = counted.total.n_documents
    buckets = [submit(client, prune_words, words, recipe, n) for words in counted.words]
    sizes = collect([submit(client, measure_words, bucket) for bucket in buckets])
    counted.words.clear()
    n_words, n_kept, n_nonzeros = (sum(each) for each in zip(*sizes, strict=True))
    check_words(n_words, n_kept, recipe)
    return Vocabulary(buckets, n_words, n_kept, n_nonzeros)


def prune_words(words: pl.DataFrame, recipe: DocumentVectorizer, n_documents: int) -> PrunedWords:
    """Leave out words of too few documents or too many, and stop words."""
    lowest, highest = find_limits(recipe.min_df, recipe.max_df, n_documents)
    frequency = pl.col(FREQUENCY)
    kept = words.filter(frequency.is_between(lowest, highest))
    stopped = list_stop_words(recipe)
    if stopped:
        kept = kept.filter(~pl.col(WORD).is_in(list(stopped)))
    return PrunedWords(
        kept,
        words.filter(frequency < lowest).height,
        words.filter(frequency > highest).height,
        words.height,
    )


def measure_words(bucket: PrunedWords) -> tuple[int, int, int]:
    """Return how many words there are, how many are kept, and the documents of those added up."""
    return bucket.n_words, bucket.kept.height, int(bucket.kept[FREQUENCY].sum())


def check_words(n_words: int, n_kept: int, recipe: DocumentVectorizer) -> None:
    """Raise where no word is left."""
    if not n_words:
        raise ValueError("The documents must hold words. Got none with a letter or digit.")
    if not n_kept:
        raise ValueError(
            f"No word is left: all {n_words} are stop words or outside min_df={recipe.min_df} and "
            f"max_df={recipe.max_df}. Lower min_df or raise max_df."
        )


def make_vectorizer(
    buckets: list[PrunedWords], recipe: DocumentVectorizer, n_documents: int
) -> DocumentVectorizer:
    """Return what makes rows of texts, with the vocabulary of all buckets."""
    words = pl.concat([bucket.kept for bucket in buckets]).sort(WORD)
    set_vocabulary(recipe, words[WORD].to_list(), words[FREQUENCY].to_numpy(), n_documents)
    recipe.n_rare_ = sum(bucket.n_rare for bucket in buckets)
    recipe.n_frequent_ = sum(bucket.n_frequent for bucket in buckets)
    return recipe
