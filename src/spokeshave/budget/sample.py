"""The first pass: counts of all documents, and the largest random sample of them that fits."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.counts import CollectionCounts, count_rows, draw, list_distinct
from spokeshave.budget.memory import (
    PLANNED_THREADS,
    AvailableMemory,
    Costs,
    is_short,
    measure_installed,
    measure_resident,
)
from spokeshave.budget.request import BatchReader, Request
from spokeshave.budget.row_batches import (
    Batch,
    Classes,
    EncodedBatch,
    chain_checksums,
    map_ahead,
)
from spokeshave.budget.store import Store
from spokeshave.corpus.documents import Fingerprint, Texts, Vectors, compute_fingerprint
from spokeshave.text.term_index import TermIndex, TermTable, make_index
from spokeshave.text.vectorizer import make_analysis
from spokeshave.utils.formatting import write_size

BATCH = 250  # documents read at a time, if a text has a term for each word
FEWEST = 10  # documents read at a time, however many terms they have
MATRIX_SHARE = 0.4  # of the memory is for the sample if a criterion needs a matrix and copies of it
VALIDATION = 0.1  # share of the sample that the ranker is validated on
PARTS = ("train", "validation")
KEY = 8  # bytes
COLUMN = 9  # bytes of a possible feature number: whether it is used, and its frequency
THINNING = 0.85  # share of the documents that stay if there are too many
USEFUL = 0.6  # about this share of the words is in two documents; the others get no weight


def draw_keys(seed: int, first: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the random keys of documents ``first`` to ``first + n``, and which are to validate."""
    return draw(seed, first, n), draw(seed + 1, first, n) < VALIDATION


class Sample:
    """A random sample of documents: those with the smallest random keys.

    It does not depend on how the stream is divided into batches. A tenth of it, ``validation``, is
    set apart. Documents with keys below ``highest`` are kept, which is their expected share.

    ``limit`` is in bytes, and includes the memory to train a ranker with ``n_threads``, and with a
    prior of the weights if it has one. ``terms`` numbers the terms of texts; it is None if features
    have numbers already.
    """

    def __init__(
        self,
        limit: int,
        *,
        seed: int,
        has_values: bool,
        terms: TermIndex | None,
        n_threads: int,
        has_prior: bool = False,
    ) -> None:
        self.limit, self.seed, self.has_prior = limit, seed, has_prior
        self.has_values, self.terms, self.n_threads = has_values, terms, n_threads
        most = min(limit, measure_installed() // 2)  # the budget may exceed what is installed
        capacity = max(most // (8 if has_values else 4), 1024)
        self.train = Store(capacity, has_values=has_values)
        self.validation = Store(max(int(capacity * 2 * VALIDATION), 1024), has_values=has_values)
        self.highest = 1.0
        self.n_seen = 0
        self._is_used = np.zeros(0, bool)  # by feature number, if features are not terms

    def __len__(self) -> int:
        return len(self.train) + len(self.validation)

    @property
    def _stores(self) -> tuple[Store, Store]:
        return self.train, self.validation

    @property
    def is_whole(self) -> bool:
        """Whether every document seen is in it."""
        return len(self) == self.n_seen

    @property
    def n_nonzeros(self) -> int:
        """Number of cells."""
        return self.train.n_nonzeros + self.validation.n_nonzeros

    @property
    def n_features(self) -> int:
        """Number of features that have a number."""
        return self._is_used.size if self.terms is None else len(self.terms)

    def estimate(self, n_classes: int) -> int:
        """Return the bytes of the sample, including the memory to train a ranker on it."""
        return self._measure(self._find_costs(n_classes))

    def count_threads(self, n_classes: int, n_threads: int) -> int:
        """Return how many of some threads may train a ranker in the memory there is."""
        return self._find_costs(n_classes).count_threads(n_threads, self.limit, self._measure)

    def _find_costs(self, n_classes: int) -> Costs:
        return Costs(n_classes, self.n_threads, self.has_values, self.has_prior)

    def _measure(self, costs: Costs) -> int:
        if self.terms is None:
            n_features, numbers = float(self._is_used.sum()), COLUMN * self.n_features
        else:
            n_features, numbers = USEFUL * len(self.terms), self.terms.n_bytes
        return int(
            self.n_nonzeros * costs.cell
            + len(self) * costs.swept_row
            + n_features * costs.swept_feature
            + numbers
            + KEY * len(self)
        )

    def add(self, batch: Batch, n_classes: int, terms: TermTable | None = None) -> None:
        """Draw keys for more documents, and keep those with small ones."""
        self.add_drawn(
            batch, *draw_keys(self.seed, self.n_seen, batch.n_documents), n_classes, terms
        )
        self.n_seen += batch.n_documents

    def add_drawn(
        self,
        batch: Batch,
        keys: NDArray[np.float64],
        is_validation: NDArray[np.bool_],
        n_classes: int,
        terms: TermTable | None = None,
    ) -> None:
        """Keep the documents with small keys, given the keys and which are to validate."""
        is_low = keys < self.highest
        for store, chosen in zip(self._stores, (~is_validation, is_validation), strict=True):
            if (chosen := chosen & is_low).any():
                store.add(self._number(batch.take(chosen), terms), keys[chosen])
        while self.estimate(n_classes) > self.limit and len(self) > 1:
            self.thin()

    def thin(self, share: float = THINNING) -> None:
        """Keep fewer documents, and forget terms of the others alone."""
        lowest = min(store.keys.min(initial=1.0) for store in self._stores)
        self.highest = max(share * self.highest, np.nextafter(lowest, 1))
        for store in self._stores:
            store.keep(store.keys < self.highest)
        is_used = self.count() > 0
        if self.terms is None:
            self._is_used = is_used[: is_used.size - int(is_used[::-1].argmax())]
        else:
            self.renumber(self.terms.forget(is_used).view(np.uint32))  # -1 is `DROPPED`

    def close(self) -> None:
        """Free memory that is only needed to add documents."""
        if self.terms is not None:
            self.terms.close()

    def thin_validation(self, n_documents: int) -> None:
        """Keep at most ``n_documents`` of the validation documents."""
        keys = self.validation.keys
        if keys.size > n_documents:
            self.validation.keep(keys < np.partition(keys, n_documents)[n_documents])

    def count(self) -> NDArray[np.int64]:
        """Return the document frequency of each feature in the sample."""
        frequency = np.zeros(self.n_features, np.int64)
        for store in self._stores:
            store.count(frequency)
        return frequency

    def renumber(self, number: NDArray[np.uint32]) -> None:
        """Give every feature its new number, and drop features without one."""
        for store in self._stores:
            store.renumber(number)

    def multiply(self, factors: NDArray[np.float32]) -> None:
        """Multiply the values of each feature by its factor."""
        for store in self._stores:
            store.multiply(factors)

    def dampen(self) -> None:
        """Replace counts by 1 + ln(count)."""
        for store in self._stores:
            store.dampen()

    def add_up(self) -> NDArray[np.float64]:
        """Return the sum of the values of each feature in the sample."""
        totals = np.zeros(self.n_features)
        for store in self._stores:
            store.add_up(totals)
        return totals

    def save(self, folder: Path) -> None:
        """Write the sample to a folder."""
        for name, store in zip(PARTS, self._stores, strict=True):
            store.save(folder, name)
        if self.terms is not None:
            self.terms.save(folder / "terms")
        state = {"highest": self.highest, "n_seen": self.n_seen, "n_columns": self._is_used.size}
        (folder / "sample.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Read a saved sample into an empty one."""
        for name, store in zip(PARTS, self._stores, strict=True):
            store.load(folder, name)
        if self.terms is not None:
            self.terms.load(folder / "terms")
        state = json.loads((folder / "sample.json").read_bytes())
        self.highest, self.n_seen = state["highest"], state["n_seen"]
        self._is_used = np.zeros(state["n_columns"], bool)
        self._is_used = self.count() > 0

    def _number(self, batch: Batch, terms: TermTable | None) -> Batch:
        """Return rows with the feature numbers of the sample."""
        if self.terms is None or terms is None:
            used = list_distinct(batch.features)
            n_more = int(used.max(initial=-1)) + 1 - self._is_used.size
            self._is_used = np.append(self._is_used, np.zeros(max(n_more, 0), bool))
            self._is_used[used] = True
            return batch
        tokens = list_distinct(batch.features)
        number = np.empty(int(tokens.max(initial=-1)) + 1, np.int32)
        number[tokens] = self.terms.number(terms, tokens)
        return batch._replace(features=number[batch.features])


@dataclass(frozen=True, eq=False)
class FirstPass:
    """Results of the first pass; ``checksum`` identifies the documents."""

    counts: CollectionCounts
    classes: Classes
    checksum: int
    sample: Sample


def run_first_pass(
    stream: BatchReader,
    request: Request,
    memory: AvailableMemory,
    report: Callable[[float], None],
) -> FirstPass:
    """Count all documents, and keep the largest random sample that fits."""
    counts, classes, checksum = CollectionCounts(), Classes(request.class_names), 0
    sample, encoder = make_sample(request, memory), request.encoder
    batches = stream.read_batches(find_batch_size(request))
    is_full, held = partial(is_short, request.memory), 0
    for encoded in map_ahead(partial(_scan, encoder), batches, request.n_threads, is_full):
        n_documents, hashes = encoded.n_documents, encoded.hash_terms()
        counted = count_rows(
            encoded.features,
            n_documents,
            encoded.labels,
            hashes=hashes,
            label_type=encoded.label_type,
        )
        counts = counts.merge(replace(counted, fingerprint=encoded.fingerprint))
        checksum = chain_checksums(checksum, encoded.checksum)
        sample.add(encoded.encode(classes), len(classes), encoded.terms)
        _require_columns(counts.n_features, memory)
        held = max(held, measure_resident())
        report(stream.position / max(stream.n_bytes, 1))
    _require_classes(classes, request)
    if held > request.memory:
        warnings.warn(
            f"The process held {write_size(held)} while it read, more than the budget of "
            f"{write_size(request.memory)}: documents, or the row groups of a parquet file, are "
            "larger than was planned for.",
            stacklevel=2,
        )
    return FirstPass(counts, classes, checksum, sample)


def _scan(encoder: Any, batch: Texts | Vectors) -> EncodedBatch:
    """Return the rows of documents, with their fingerprint."""
    encoded: EncodedBatch = encoder.scan(batch)
    return encoded._replace(fingerprint=compute_fingerprint(batch, encoded.labels))


def find_batch_size(request: Request) -> int:
    """Return how many documents to read at a time: fewer, the more terms they have."""
    if not request.is_text:
        return BATCH
    return max(FEWEST, BATCH // make_analysis(request.vectorizer).n_per_word)


def make_sample(request: Request, memory: AvailableMemory) -> Sample:
    """Return an empty sample."""
    return Sample(
        memory.free if request.by == "normal" else int(MATRIX_SHARE * memory.free),
        seed=request.seed,
        has_values=request.has_values,
        terms=make_index(make_analysis(request.vectorizer)) if request.is_text else None,
        n_threads=PLANNED_THREADS,
        has_prior=request.has_prior,
    )


def _require_columns(n_features: int, memory: AvailableMemory) -> None:
    """Raise if feature numbers are so large that counting them takes the memory."""
    most = memory.free // (2 * COLUMN)
    if n_features > most:
        raise ValueError(
            f"memory must be enough for features with numbers up to {n_features:,}. Got "
            f"{write_size(memory.budget)}, which is for {most:,}: give more, or number them anew."
        )


def _require_classes(classes: Classes, request: Request) -> None:
    """Raise if there are too few classes."""
    if len(classes) < (1 if request.is_multilabel else 2):
        names = classes.names
        found = f"all are of class {names[0]!r}" if names else "none has a label"
        raise ValueError(f"The documents must be of two classes or more; {found}.")


def save_first_pass(folder: Path, first: FirstPass) -> None:
    """Write the results to a folder."""
    counts = first.counts
    state = {
        "n_documents": counts.n_documents,
        "n_nonzeros": counts.n_nonzeros,
        "n_features": counts.n_features,
        "classes": [[name, counts.class_counts[name]] for name in first.classes.names],
        "label_type": counts.label_type,
        "checksum": first.checksum,
        "fingerprint": list(counts.fingerprint),
    }
    np.save(folder / "smallest.npy", counts.smallest)
    first.sample.save(folder)
    (folder / "counts.json").write_text(json.dumps(state))


def load_first_pass(folder: Path, sample: Sample) -> FirstPass:
    """Read the results of an earlier run; ``sample`` must be empty."""
    state = json.loads((folder / "counts.json").read_bytes())
    class_counts = Counter(dict(map(tuple, state.pop("classes"))))
    checksum, fingerprint = state.pop("checksum"), Fingerprint(*state.pop("fingerprint"))
    smallest = np.load(folder / "smallest.npy")
    sample.load(folder)
    counts = CollectionCounts(
        **state, class_counts=class_counts, smallest=smallest, fingerprint=fingerprint
    )
    return FirstPass(counts, Classes(class_counts), checksum, sample)
