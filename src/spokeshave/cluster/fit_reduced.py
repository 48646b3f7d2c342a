"""The job if documents do not fit in one worker: select features on a sample, train on everything.

The stages of `spokeshave.budget.run`, distributed: features are ranked on a random sample of the
documents, all documents are reduced to the kept features, and the SVM is trained on all of them. If
they fit in one worker then, every worker trains some of the classes. Otherwise training goes in
rounds over all workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.estimator import BudgetedSVC, find_vectorizer, make_request, set_result
from spokeshave.budget.memory import MINIMUM, WEIGHT, AvailableMemory, Costs, find_reserve
from spokeshave.budget.plan import Plan
from spokeshave.budget.prior import PriorCounts, count_block, find_variance, merge_counts
from spokeshave.budget.request import Request
from spokeshave.budget.row_batches import Batch, Classes, join_batches, to_offsets
from spokeshave.budget.run import Reduced, Result
from spokeshave.budget.sample import KEY, FirstPass, Sample, draw_keys
from spokeshave.budget.select import Selection, find_idf, pose, select_features
from spokeshave.budget.shards import Block, make_block
from spokeshave.budget.working_set import Objective, Weights, train_here
from spokeshave.cluster.blocks import Range, plan_blocks
from spokeshave.cluster.client import Report, collect, list_workers, merge, submit, wait
from spokeshave.cluster.count import FREQUENCY, WORD, Counted, PrunedWords, Vocabulary, list_words
from spokeshave.cluster.parts import FilePart, Kind, Parts, Reading, Side, read_range
from spokeshave.cluster.spill import Spilled, join_arrays, spill, spilling
from spokeshave.cluster.working_set import Setting, build_rows, list_arrays, train_in_rounds
from spokeshave.corpus.documents import take_documents
from spokeshave.kernels.lanes import LANES
from spokeshave.svm.solver import Stop, warn_if_stopped_early
from spokeshave.utils.formatting import write_size
from spokeshave.utils.timing import Stopwatch

SPREAD = 8  # blocks per worker, at least; each fits in the memory of a worker
PIECES = 8  # pieces of a block that fills the memory of a worker; one is in use at a time


class Task(NamedTuple):
    """A run whose documents do not fit in one worker."""

    request: Request
    kind: Kind
    names: list[str]  # the classes
    memory: AvailableMemory  # of a worker

    @property
    def has_values(self) -> bool:
        """Whether features have values, or are only present or absent."""
        return self.request.has_values

    @property
    def costs(self) -> Costs:
        """Bytes of a cell, a row and a feature in a worker."""
        return Costs(len(self.names), 1, self.has_values, self.request.has_prior)

    def encode(self, documents: Any, known: Any, idf: NDArray[np.float32] | None) -> Batch:
        """Return documents as rows of the known features, or of all if ``known`` is None."""
        encoder: Any = self.request.encoder
        encoded = encoder.scan(documents) if known is None else encoder.find(documents, known)
        batch: Batch = encoded.encode(Classes(self.names, is_closed=True))
        return batch.weigh(idf)


class Size(NamedTuple):
    """Documents of a block, and their nonzeros."""

    n_documents: int
    n_nonzeros: int


def reduce_documents(
    client: Client,
    parts: list[tuple[Any, Future | None]],
    counts: list[CollectionCounts],
    task: Task,
    per_document: float,
    lookup: tuple[Future, Future | None],
    n_workers: int,
    folder: str,
) -> list[Future]:
    """Reduce all documents to the kept features, of which each has ``per_document``.

    ``lookup`` is the result of `index_features` and the inverse document frequencies, if any.
    """
    costs = task.costs
    n_fitting = task.memory.free / (costs.row + per_document * costs.cell)
    n_documents = sum(count.n_documents for count in counts)
    n_blocks = max(SPREAD * n_workers, int(n_documents / n_fitting) + 1)
    is_file = all(isinstance(item, FilePart) for item, _ in parts)
    in_piece = max(1, int(n_fitting / PIECES))
    blocks = []
    for ranges in plan_shards(counts, n_blocks, is_file=is_file):
        items, sides = zip(*(parts[at.part] for at in ranges), strict=True)
        given = list(items), list(sides), ranges, task, *lookup, in_piece, folder
        blocks.append(submit(client, reduce_ranges, *given))
    return blocks


def plan_shards(
    counts: list[CollectionCounts], n_blocks: int, *, is_file: bool
) -> list[list[Range]]:
    """Divide the documents of all parts into about ``n_blocks`` blocks of equal nonzeros.

    Small files share a block. Partitions of a Dask collection do not: they are in the memory of
    workers, and one worker would have to hold several.

    Examples
    --------
    >>> sizes = [(10, 50), (0, 0), (3, 12), (3, 13), (5, 25)]
    >>> shards = plan_shards([CollectionCounts(*size) for size in sizes], 4, is_file=True)
    >>> [[(at.part, at.first, at.last) for at in ranges] for ranges in shards]
    [[(0, 0, 5)], [(0, 5, 10)], [(2, 0, 3), (3, 0, 3)], [(4, 0, 5)]]
    """
    cells = max(1, -(-sum(count.n_nonzeros for count in counts) // n_blocks))
    ranges = plan_blocks(counts, cells)
    if not is_file:
        return [[at] for at in ranges]
    shares = [counts[at.part] for at in ranges]
    sizes = np.array(
        [
            count.n_nonzeros * (at.last - at.first) / count.n_documents
            for count, at in zip(shares, ranges, strict=True)
        ]
    )
    number = (np.cumsum(sizes) - sizes / 2) // cells
    return [[ranges[i] for i in np.flatnonzero(number == b)] for b in np.unique(number)]


def reduce_ranges(
    parts: list[Any],
    sides: list[Side | None],
    ranges: list[Range],
    task: Task,
    known: Any,
    idf: NDArray[np.float32] | None,
    in_piece: int,
    folder: str,
) -> Spilled:
    """Return documents reduced to the kept features, in pieces of at least ``in_piece``."""

    def make_pieces() -> Iterator[Block]:
        batches: list[Batch] = []
        for part, side, at in zip(parts, sides, ranges, strict=True):
            for documents in read_range(part, task.kind, side, at.first, at.last):
                batches.append(task.encode(documents, known, idf))
                if sum(batch.n_documents for batch in batches) >= in_piece:
                    yield make_block(join_batches(batches), task.request.norm)
                    batches.clear()
        if batches:
            yield make_block(join_batches(batches), task.request.norm)

    return spill(folder, make_pieces())


def measure_block(block: Spilled) -> Size:
    """Return the size of a block."""
    sizes = [(piece.n_documents, piece.rows.indices.size) for piece in block]
    return Size(*(sum(each) for each in zip(*sizes, strict=True)))


def join_blocks(blocks: list[Spilled]) -> Block:
    """Return the documents of all blocks, in memory."""
    lengths, *rows, n_codes, codes = join_arrays(
        blocks, lambda piece: (*list_arrays(piece.rows), np.diff(piece.code_ends), piece.codes)
    )
    return Block(build_rows(lengths, *rows), to_offsets(n_codes), codes)


AT_ONCE = 32  # classes of a round: each block is read once for all of them
HALF = 2  # of the free memory is for the weights of those classes


def train(
    client: Client,
    blocks: list[Future],
    sizes: list[Size],
    objective: Objective,
    task: Task,
    n_features: int,
    shelf: str,
    report: Report,
    say: Callable[[str], None],
) -> Weights:
    """Train on all documents: in each worker if they fit, and otherwise in rounds over all."""
    n_classes, free = len(objective.codes), task.memory.free
    n_documents, n_nonzeros = (sum(each) for each in zip(*sizes, strict=True))
    costs = Costs(n_classes, 1, task.has_values, task.request.has_prior)
    needed = n_nonzeros * costs.cell + n_documents * costs.row + n_features * costs.feature
    n_workers = sum(worker["nthreads"] for worker in list_workers(client).values())
    stop, seed = task.request.stop, task.request.seed
    variance = count_variance(client, blocks, objective, n_features)
    if needed <= free:
        return _train_in_each(
            client, blocks, objective, variance, stop, seed, n_features, n_workers, report
        )
    say("the documents do not fit in one worker: training goes in rounds over all")
    n_fitting = free // HALF // (WEIGHT * n_features * LANES) * LANES
    n_at_once = max(LANES, min(max(n_workers, AT_ONCE), n_fitting))
    setting = Setting(n_features, stop, seed, free, shelf, n_at_once)
    shares = [size.n_nonzeros for size in sizes]
    return train_in_rounds(client, blocks, shares, objective, setting, report, say, variance)


def count_variance(
    client: Client, blocks: list[Future], objective: Objective, n_features: int
) -> Future | None:
    """Return the prior variances of the weights, from all documents; they stay on a worker."""
    strength = objective.prior_strength
    if strength is None:
        return None
    counts = [submit(client, count_pieces, block, objective.codes, n_features) for block in blocks]
    return submit(client, find_variance, merge(client, merge_counts, counts), strength)


def count_pieces(block: Spilled, codes: NDArray[np.intp], n_features: int) -> PriorCounts:
    """Count the documents of each class that have each feature, in all pieces of a block."""
    return merge_counts([count_block(piece, codes, n_features) for piece in block])


def _train_in_each(
    client: Client,
    blocks: list[Future],
    objective: Objective,
    variance: Future | None,
    stop: Stop,
    seed: int,
    n_features: int,
    n_workers: int,
    report: Report,
) -> Weights:
    """Train some of the classes on each worker, on all documents."""
    n_classes = len(objective.codes)
    n_shares = min(n_workers, n_classes)
    whole = submit(client, join_blocks, blocks)
    shares = [np.arange(first, n_classes, n_shares) for first in range(n_shares)]
    tasks = [
        submit(client, train_share, whole, objective, variance, stop, seed, share, n_features)
        for share in shares
    ]
    coef = np.empty((n_classes, n_features))
    intercept, primal, gap = np.empty((3, n_classes))
    for share, found in zip(shares, collect(tasks, report), strict=True):
        coef[share], intercept[share], primal[share], gap[share] = found
    warn_if_stopped_early(gap / primal, stop, stacklevel=3)
    return Weights(coef, intercept, primal, gap, 0)


def train_share(
    block: Block,
    objective: Objective,
    variance: NDArray[np.float32] | None,
    stop: Stop,
    seed: int,
    classes: NDArray[np.intp],
    n_features: int,
) -> tuple[Any, ...]:
    """Train some classes; return their weights, intercepts, objectives and gaps."""
    objective = objective._replace(variance=variance)
    coef = np.zeros((classes.size, n_features))
    found = [
        train_here(objective, stop, seed, block, int(k), w)
        for k, w in zip(classes, coef, strict=True)
    ]
    intercept, primal, gap, _ = map(np.array, zip(*found, strict=True))
    return coef, intercept, primal, gap


OVER = "over the workers"
WORKER_MINIMUM = 2 * MINIMUM  # bytes for documents and weights


def find_worker_memory(limit: int, held: int) -> AvailableMemory:
    """Return the memory that a worker has for documents and weights."""
    taken = held + find_reserve(limit)
    if limit < taken + WORKER_MINIMUM:
        least = write_size(taken + WORKER_MINIMUM)
        raise ValueError(
            f"A worker must have {least} or more for each thread: {write_size(held)} are for what "
            f"it holds before it begins. Got {write_size(limit)} instead; start fewer workers, or "
            "fewer threads in each."
        )
    return AvailableMemory(limit, taken)


class Source(NamedTuple):
    """The documents, after the first pass."""

    parts: Parts
    sides: list[Future] | None  # the training documents of each part, if some are held out
    counted: Counted
    words: Vocabulary | None  # to choose from; None for vectors
    n_workers: int  # at the start: the division into blocks must not depend on deaths


def run_reduced(
    client: Client,
    source: Source,
    svc: BudgetedSVC,
    memory: AvailableMemory,
    watch: Stopwatch,
    say: Callable[[str], None],
) -> None:
    """Fit a `BudgetedSVC` to documents in parts."""
    kind, total, names = source.parts.kind, source.counted.total, source.counted.names
    norm = find_vectorizer(svc).norm if kind.is_text else "l2"
    task = Task(make_request(svc, kind, norm), kind, names, memory)
    with spilling(client) as folder:
        watch.begin("ranking")
        ranked = _rank(client, source, task, folder, watch.reach)
        say(ranked.plan.describe(OVER))
        say(ranked.selection.cut.describe(OVER))
        watch.begin("reducing")
        blocks = reduce_documents(
            client,
            source.parts.with_sides(source.sides),
            source.counted.parts,
            task,
            ranked.selection.cut.per_document,
            (submit(client, index_features, task, ranked.features), ranked.idf),
            source.n_workers,
            folder,
        )
        sizes = collect([submit(client, measure_block, block) for block in blocks], watch.reach)
        watch.begin("training")
        classes, codes = Classes(names).rank(kind.is_multilabel)
        objective = task.request.svm(classes, codes, ranked.counts)
        n_features = len(ranked.selection.features)
        weights = train(
            client, blocks, sizes, objective, task, n_features, folder, watch.reach, say
        )
        del blocks
    n_nonzeros = sum(size.n_nonzeros for size in sizes)
    result = Result(
        classes=classes,
        features=ranked.features.result(),
        idf=None if ranked.idf is None else ranked.idf.result(),
        weights=weights,
        checksum=total.fingerprint.number,
        counts=ranked.counts,
        plan=ranked.plan,
        cut=ranked.selection.cut,
        reduced=Reduced(total.n_documents, n_nonzeros, 4 * n_nonzeros),
    )
    set_result(svc, result, task.request)
    if not kind.is_text:
        svc.n_features_in_ = total.n_features


class Ranked(NamedTuple):
    """Results of ranking."""

    counts: CollectionCounts
    plan: Plan
    selection: Selection  # features by number
    features: Future  # the kept words, or numbers
    idf: Future | None


def _rank(client: Client, source: Source, task: Task, folder: str, report: Report) -> Ranked:
    """Choose the features to keep, on as many documents as fit in one worker."""
    total, idf = source.counted.total, None
    share = _find_share(total, task)
    vocabulary, n_words = _choose_words(client, source, task, share)
    counts = CollectionCounts(
        *(total.n_documents, total.n_nonzeros, total.n_features, total.class_counts),
        n_counted=n_words,
        label_type=total.label_type,
        fingerprint=total.fingerprint,
    )
    if task.kind.is_text and task.request.vectorizer.weighting == "tfidf":
        idf = submit(client, find_word_idf, vocabulary, total.n_documents)
    drawn = _draw(client, source, task, vocabulary, idf, share, folder)
    wait(drawn, report)
    plan, selection = submit(client, rank_sample, drawn, task, counts).result()
    features = submit(client, name_features, vocabulary, selection.features)
    if idf is not None:
        idf = submit(client, take_entries, idf, selection.features)
    return Ranked(counts, plan, selection, features, idf)


def _find_share(total: CollectionCounts, task: Task) -> float:
    """Return the share of the documents to rank features on: they take half the memory."""
    costs = task.costs
    size = total.n_nonzeros * costs.cell + total.n_documents * (costs.swept_row + KEY)
    return min(1.0, task.memory.free / 2 / max(size, 1))


def _choose_words(
    client: Client, source: Source, task: Task, share: float
) -> tuple[Future | None, int]:
    """Return the words that may be kept, on the workers, and the number of all words.

    Words in too few documents of the sample to be ranked are left out.
    """
    if source.words is None:
        frequency = source.counted.words[0].result()
        return None, int(np.count_nonzero(frequency))
    least = task.request.vectorizer.min_df
    fewest = float(least) if isinstance(least, int) else 1.0
    frequent = [
        submit(client, thin_words, bucket, fewest / share) for bucket in source.words.buckets
    ]
    found = submit(client, join_words, frequent)
    wait([found])
    source.words.buckets.clear()  # releases most words
    return found, source.words.n_words


def thin_words(bucket: PrunedWords, fewest: float) -> pl.DataFrame:
    """Return the words of a bucket that are in at least ``fewest`` documents."""
    return bucket.kept.filter(pl.col(FREQUENCY) >= fewest)


def join_words(buckets: list[pl.DataFrame]) -> pl.DataFrame:
    """Return the words of all buckets, most frequent first."""
    return pl.concat(buckets).sort(FREQUENCY, WORD, descending=[True, False])


def find_word_idf(vocabulary: pl.DataFrame, n_documents: int) -> NDArray[np.float32]:
    """Return the inverse document frequency of each word."""
    return find_idf(vocabulary[FREQUENCY].to_numpy(), n_documents)


def take_entries(array: NDArray[Any], entries: NDArray[np.intp]) -> NDArray[Any]:
    """Return some entries of an array."""
    return np.asarray(array[entries])


def name_features(vocabulary: pl.DataFrame | None, features: NDArray[np.intp]) -> Any:
    """Return the words of some features, or the features themselves if they are not words."""
    return features if vocabulary is None else list_words(vocabulary[WORD].gather(features))


def index_vocabulary(task: Task, vocabulary: pl.DataFrame) -> Any:
    """Return a lookup of the words of a vocabulary."""
    return index_features(task, list_words(vocabulary[WORD]))


def index_features(task: Task, features: Any) -> Any:
    """Return a lookup of features, which are words or numbers, to encode documents by."""
    return task.request.encoder.index(features)


class Drawn(NamedTuple):
    """Documents with small random keys, their keys, and which are to validate."""

    batch: Batch
    keys: NDArray[np.float64]
    is_validation: NDArray[np.bool_]


def _draw(
    client: Client,
    source: Source,
    task: Task,
    vocabulary: Future | None,
    idf: Future | None,
    share: float,
    folder: str,
) -> list[Future]:
    known = None if vocabulary is None else submit(client, index_vocabulary, task, vocabulary)
    first = np.cumsum([0, *(count.n_documents for count in source.counted.parts)]).tolist()
    items = source.parts.with_sides(source.sides)
    return [
        submit(client, draw_part, item, side, start, task, known, idf, share, folder)
        for (item, side), start in zip(items, first[:-1], strict=True)
    ]


def draw_part(
    part: Any,
    side: Side | None,
    first: int,
    task: Task,
    known: Any,
    idf: NDArray[np.float32] | None,
    share: float,
    folder: str,
) -> Spilled:
    """Return the documents of a part with keys below ``share``; only these are encoded."""
    drawn = []
    for batch in Reading(part, task.kind, side):
        n_rows = len(batch.labels or ())
        keys, is_validation = draw_keys(task.request.seed, first, n_rows)
        first += n_rows
        chosen = np.flatnonzero(keys < share)
        if chosen.size:
            rows = task.encode(take_documents(batch, chosen), known, idf)
            drawn.append(Drawn(rows, keys[chosen], is_validation[chosen]))
    if len(drawn) > 1:
        batches, keys, is_validation = zip(*drawn, strict=True)
        drawn = [Drawn(join_batches(batches), *map(np.concatenate, (keys, is_validation)))]
    return spill(folder, drawn)


def rank_sample(
    drawn: list[Spilled], task: Task, counts: CollectionCounts
) -> tuple[Plan, Selection]:
    """Rank features on the documents drawn, and choose how many to keep."""
    request, memory, classes = task.request, task.memory, Classes(task.names)
    sample = Sample(
        memory.free,
        seed=request.seed,
        has_values=task.has_values,
        terms=None,
        n_threads=1,
        has_prior=request.has_prior,
    )
    for part in drawn:
        for found in part:
            sample.add_drawn(found.batch, found.keys, found.is_validation, len(classes))
    sample.n_seen = counts.n_documents
    first = FirstPass(counts, classes, 0, sample)
    posed = pose(first, request, memory, n_threads=1)
    return posed.plan, select_features(first, request, posed, memory)
