"""The largest random subset of a stream of documents that fits in a given memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.costs import Costs
from spokeshave.budget.lexicon import Lexicon
from spokeshave.budget.memory import measure_installed
from spokeshave.budget.store import Batch, Store
from spokeshave.budget.survey import draw, list_distinct
from spokeshave.kernels.tokens import Words

JUDGES = 0.1  # share of the documents that the ranker is judged by
PARTS = ("train", "judges")
COLUMN = 9  # bytes of a number that a feature may have: whether it is used, and how often
THINNING = 0.85  # of the documents stay when there are too many
USEFUL = 0.6  # of the words are in two documents, about; the others get no weight


def draw_lots(seed: int, first: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the lots of documents, and which of them are to judge by, given the first's number."""
    return draw(seed, first, n), draw(seed + 1, first, n) < JUDGES


class Sample:
    """A random subset of documents: each has a lot, and those with the lowest lots are kept.

    The subset does not depend on how the stream is divided. A tenth of it is kept apart to judge
    by.

    Parameters
    ----------
    limit : int
        Bytes that the subset may take, with all that training a ranker on it needs.
    seed : int
        Seed of the lots.
    has_values : bool
        Whether features have values, or are only there or not.
    lexicon : Lexicon or None
        What numbers words; None where features have numbers already.
    n_threads : int
        How many classes will be trained at a time.

    Attributes
    ----------
    train, judges : Store
        The documents.
    highest : float
        The highest lot that is kept: the share of all documents that the subset is.
    """

    def __init__(
        self,
        limit: int,
        *,
        seed: int,
        has_values: bool,
        lexicon: Lexicon | None,
        n_threads: int,
    ) -> None:
        self.limit, self.seed = limit, seed
        self.has_values, self.lexicon, self.n_threads = has_values, lexicon, n_threads
        most = min(limit, measure_installed() // 2)  # more may be allowed than there is
        capacity = max(most // (8 if has_values else 4), 1024)
        self.train = Store(capacity, has_values=has_values)
        self.judges = Store(max(int(capacity * 2 * JUDGES), 1024), has_values=has_values)
        self._lots: list[list[NDArray[np.float64]]] = [[], []]
        self.highest = 1.0
        self.n_seen = 0
        self._is_used = np.zeros(0, bool)  # of the features that have numbers of their own

    def __len__(self) -> int:
        return len(self.train) + len(self.judges)

    @property
    def is_whole(self) -> bool:
        """Whether every document that came is in it."""
        return len(self) == self.n_seen

    @property
    def n_nonzeros(self) -> int:
        """How many cells there are in all."""
        return self.train.n_nonzeros + self.judges.n_nonzeros

    @property
    def n_features(self) -> int:
        """How many features have a number."""
        return self._is_used.size if self.lexicon is None else len(self.lexicon)

    def estimate(self, n_classes: int) -> int:
        """Return how many bytes the subset takes, with all that training a ranker on it needs."""
        costs = Costs(n_classes, self.n_threads, self.has_values)
        n_features = (
            int(self._is_used.sum()) if self.lexicon is None else USEFUL * len(self.lexicon)
        )
        words = 0 if self.lexicon is None else self.lexicon.n_bytes
        lots = 8 * len(self)
        columns = 0 if self.lexicon is not None else COLUMN * self.n_features
        return int(
            self.n_nonzeros * costs.cell
            + len(self) * costs.swept_row
            + n_features * costs.swept_feature
            + words
            + columns
            + lots
        )

    def add(self, batch: Batch, n_classes: int, words: Words | None = None) -> None:
        """Draw lots for more documents, and keep those with low ones."""
        self.add_drawn(
            batch, *draw_lots(self.seed, self.n_seen, batch.n_documents), n_classes, words
        )
        self.n_seen += batch.n_documents

    def add_drawn(
        self,
        batch: Batch,
        lots: NDArray[np.float64],
        judges: NDArray[np.bool_],
        n_classes: int,
        words: Words | None = None,
    ) -> None:
        """Keep those of some documents that have low lots; ``judges`` are to judge by."""
        is_low = lots < self.highest
        for store, kept, chosen in (
            (self.train, self._lots[0], is_low & ~judges),
            (self.judges, self._lots[1], is_low & judges),
        ):
            if chosen.any():
                store.add(self._number(batch.take(chosen), words))
                kept.append(lots[chosen])
        while self.estimate(n_classes) > self.limit and len(self) > 1:
            self.thin()

    def thin(self, share: float = THINNING) -> None:
        """Keep fewer documents, and forget the words that only the others have."""
        lowest = min(lots.min(initial=1.0) for part in self._lots for lots in part)
        self.highest = max(share * self.highest, np.nextafter(lowest, 1))
        for number, store in enumerate((self.train, self.judges)):
            lots = np.concatenate([np.empty(0), *self._lots[number]])
            is_low = lots < self.highest
            store.keep(is_low)
            self._lots[number] = [lots[is_low]]
        is_used = self.count() > 0
        if self.lexicon is None:
            self._is_used = is_used[: is_used.size - int(is_used[::-1].argmax())]
        else:
            self.renumber(self.lexicon.forget(is_used))

    def close(self) -> None:
        """Give up what only more documents would need."""
        if self.lexicon is not None:
            self.lexicon.close()

    def stop_growing(self, n_classes: int) -> None:
        """Make what there is the limit: memory is short before it was expected to be."""
        self.limit = min(self.limit, self.estimate(n_classes))

    def thin_judges(self, n_documents: int) -> None:
        """Keep so many of the documents to judge by, at most."""
        lots = np.concatenate([np.empty(0), *self._lots[1]])
        if lots.size > n_documents:
            is_low = lots < np.partition(lots, n_documents)[n_documents]
            self.judges.keep(is_low)
            self._lots[1] = [lots[is_low]]

    def count(self) -> NDArray[np.int64]:
        """Return in how many documents of the subset each feature is."""
        frequency = np.zeros(self.n_features, np.int64)
        self.train.count(frequency)
        self.judges.count(frequency)
        return frequency

    def renumber(self, number: NDArray[np.uint32]) -> None:
        """Give every feature its new number; those without one are dropped."""
        self.train.renumber(number)
        self.judges.renumber(number)

    def multiply(self, factors: NDArray[np.float32]) -> None:
        """Multiply the values of each feature by a factor of its own."""
        self.train.multiply(factors)
        self.judges.multiply(factors)

    def save(self, folder: Path) -> None:
        """Write everything to a folder."""
        for name, store, lots in zip(PARTS, (self.train, self.judges), self._lots, strict=True):
            store.save(folder, name)
            np.concatenate([np.empty(0), *lots]).tofile(folder / f"{name}.lots")
        if self.lexicon is not None:
            self.lexicon.save(folder / "lexicon")
        state = {"highest": self.highest, "n_seen": self.n_seen, "n_columns": self._is_used.size}
        (folder / "sample.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Read what was saved in a folder; there must be nothing here yet."""
        for name, store, lots in zip(PARTS, (self.train, self.judges), self._lots, strict=True):
            store.load(folder, name)
            lots[:] = [np.fromfile(folder / f"{name}.lots")]
        if self.lexicon is not None:
            self.lexicon.load(folder / "lexicon")
        state = json.loads((folder / "sample.json").read_bytes())
        self.highest, self.n_seen = state["highest"], state["n_seen"]
        self._is_used = np.zeros(state["n_columns"], bool)
        self._is_used = self.count() > 0

    def _number(self, batch: Batch, words: Words | None) -> Batch:
        """Return rows with the numbers that features have here."""
        if self.lexicon is None or words is None:
            used = list_distinct(batch.features)
            n_more = int(used.max(initial=-1)) + 1 - self._is_used.size
            self._is_used = np.append(self._is_used, np.zeros(max(n_more, 0), bool))
            self._is_used[used] = True
            return batch
        tokens = list_distinct(batch.features)
        number = np.empty(int(tokens.max(initial=-1)) + 1, np.int32)
        number[tokens] = self.lexicon.number(words, tokens)
        return batch._replace(features=number[batch.features])
