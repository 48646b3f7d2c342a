"""The job where the documents do not fit in one worker: select on what fits, train on everything.

What `BudgetedSVC` does on one machine: features are ranked on a random subset of the documents,
all documents are represented with those that are kept, and the SVM is trained on that: by every
worker for some of the classes where it fits in one, and otherwise in rounds over all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.budget.classes import Classes
from spokeshave.budget.costs import Costs
from spokeshave.budget.estimator import BudgetedSVC
from spokeshave.budget.intake import TextIntake, VectorIntake, make_intake
from spokeshave.budget.lexicon import make_words
from spokeshave.budget.plan import Plan, make_plan
from spokeshave.budget.reducing import Reduced
from spokeshave.budget.request import Request
from spokeshave.budget.room import LEAST, Room, find_spare
from spokeshave.budget.rounds import Objective, Weights, train_here, warn_if_stopped_early
from spokeshave.budget.run import Result
from spokeshave.budget.sample import Sample, draw_lots
from spokeshave.budget.selecting import Selection, select_features
from spokeshave.budget.shards import Block, set_lengths
from spokeshave.budget.store import Batch, count_up, number_features
from spokeshave.budget.survey import Survey
from spokeshave.budget.surveying import Surveyed
from spokeshave.cluster.blocks import Range, encode, plan_blocks
from spokeshave.cluster.counting import FREQUENCY, WORD, Count, Counted, PrunedWords, Vocabulary
from spokeshave.cluster.parts import Parts
from spokeshave.cluster.reading import Kind, Reading, Side, read_range, take
from spokeshave.cluster.rounds import Setting, stack_rows, train_in_rounds
from spokeshave.cluster.workers import collect, list_workers, submit, wait
from spokeshave.figures import write_size
from spokeshave.kernels.rows import Rows
from spokeshave.solver import Stop
from spokeshave.stopwatch import Stopwatch

OVER = "over the workers"
AT_ONCE = 32  # classes that go in rounds side by side: a block may have to be read for each round
SPREAD = 8  # blocks that documents are reduced in, for each worker
BLOCKS_IN_ROOM = 4  # of which one is worked on, and others are on their way
HELD_TWICE = 2  # what is put together from blocks is there twice meanwhile


class Task(NamedTuple):
    """What is asked of a run, and what workers have for it.

    Attributes
    ----------
    request : Request
        What is asked for.
    kind : Kind
        How parts are understood.
    names : list of str
        The classes.
    room : Room
        The memory of a worker.
    """

    request: Request
    kind: Kind
    names: list[str]
    room: Room

    @property
    def has_values(self) -> bool:
        """Whether features have values, or are only there or not."""
        return self.request.has_values(self.kind)  # type: ignore[arg-type]

    @property
    def intake(self) -> TextIntake | VectorIntake:
        """What turns documents into rows."""
        return make_intake(self.kind, self.request)  # type: ignore[arg-type]

    def encode(self, found: Any, labels: list[Any]) -> Batch:
        """Return rows with the numbers of their classes."""
        return Batch(found.indptr, found.features, found.values, *encode(labels, self.names))


def find_worker_room(memory: int, resident: int) -> Room:
    """Return what a worker has for documents and weights, of which half is kept for copies."""
    taken = resident + find_spare(memory)
    if memory < taken + HELD_TWICE * LEAST:
        least = write_size(taken + HELD_TWICE * LEAST)
        raise ValueError(
            f"A worker must have {least} or more for each thread: it holds {write_size(resident)} "
            f"before it begins. Got {write_size(memory)} instead; start fewer workers, or fewer "
            "threads in each."
        )
    return Room(memory, memory - (memory - taken) // HELD_TWICE)


class Source(NamedTuple):
    """The documents.

    Attributes
    ----------
    parts : Parts
        Where they are.
    sides : list of Future or None
        Which of each part are meant, where some are held out.
    counted : Counted
        What the first pass has found.
    words : Vocabulary or None
        The words to choose from; None for vectors.
    n_workers : int
        Workers that there were at first: how documents are dealt out is not to depend on deaths.
    """

    parts: Parts
    sides: list[Future] | None
    counted: Counted
    words: Vocabulary | None
    n_workers: int

    def list_parts(self) -> list[tuple[Any, Future | None]]:
        """Return the parts, and which documents of each are meant."""
        return list(zip(self.parts.items, self.sides or [None] * len(self.parts), strict=True))


def run_reduced(
    client: Client,
    source: Source,
    svc: BudgetedSVC,
    room: Room,
    watch: Stopwatch,
    say: Callable[[str], None],
) -> None:
    """Fit a `BudgetedSVC` to documents that lie in parts."""
    kind, counted = source.parts.kind, source.counted
    total, names = counted.total, counted.names
    norm = svc.check_vectorizer().norm if kind.is_text else "l2"
    task = Task(svc.make_request(kind, norm), kind, names, room)
    watch.begin("ranking")
    share = _find_share(total, task, len(names))
    vocabulary, n_words = _choose_words(client, source, task, share)
    survey = Survey(
        total.n_documents,
        total.n_nonzeros,
        total.n_features,
        total.class_counts,
        n_counted=n_words,
    )
    idf = None
    if kind.is_text and task.request.weighting == "tfidf":
        idf = submit(client, find_idf, vocabulary, total.n_documents)
    drawn = _draw(client, source, task, vocabulary, idf, share)
    wait(drawn, watch.reach)
    plan, selection = submit(client, rank_sample, drawn, task, survey).result()
    del drawn
    say(plan.describe(OVER))
    say(selection.cut.describe(OVER))
    watch.begin("reducing")
    kept = submit(client, name_features, vocabulary, selection.features)
    if idf is not None:
        idf = submit(client, take_entries, idf, selection.features)
    blocks = _reduce(client, source, task, selection, kept, idf)
    sizes = collect([submit(client, measure_block, block) for block in blocks], watch.reach)
    watch.begin("training")
    classes, codes = Classes(names).rank(kind.is_multilabel)
    objective = task.request.svm(classes, codes, survey)
    weights = _train(client, blocks, sizes, objective, task, len(selection.features), watch, say)
    n_nonzeros = sum(sizes)
    reduced = Reduced(total.n_documents, n_nonzeros, 4 * n_nonzeros)
    features = kept.result() if kind.is_text else selection.features
    svc.take(
        Result(
            classes=classes,
            features=features,
            idf=None if idf is None else idf.result(),
            weights=weights,
            checksum=total.fingerprint.number,
            survey=survey,
            plan=plan,
            cut=selection.cut,
            reduced=reduced,
        ),
        kind,
        norm,
    )
    if not kind.is_text:
        svc.n_features_in_ = total.n_features


def _find_share(total: Count, task: Task, n_classes: int) -> float:
    """Return the share of the documents that features are ranked on: half the room is for them."""
    costs = Costs(n_classes, 1, task.has_values)
    row = costs.swept_row + 12 * HELD_TWICE
    size = total.n_nonzeros * costs.cell + total.n_documents * row
    return min(1.0, task.room.free / 2 / max(size, 1))


def _choose_words(
    client: Client, source: Source, task: Task, share: float
) -> tuple[Future | None, int]:
    """Return the words that may be kept, on the workers, and how many there are before.

    What is in too few documents of the subset to be ranked is left out.
    """
    if source.words is None:
        frequency = source.counted.words[0].result()
        return None, int(np.count_nonzero(frequency))
    least = task.request.min_df
    fewest = float(least) if isinstance(least, int) else 1.0
    frequent = [
        submit(client, thin_words, bucket, fewest / share) for bucket in source.words.buckets
    ]
    found = submit(client, join_words, frequent)
    wait([found])
    source.words.buckets.clear()  # most words are let go
    return found, source.words.n_words


def thin_words(bucket: PrunedWords, fewest: float) -> pl.DataFrame:
    """Return the words of a bucket that are in so many documents or more."""
    return bucket.kept.filter(pl.col(FREQUENCY) >= fewest)


def join_words(buckets: list[pl.DataFrame]) -> pl.DataFrame:
    """Return the words of all buckets, the most frequent first."""
    return pl.concat(buckets).sort(FREQUENCY, WORD, descending=[True, False])


def find_idf(vocabulary: pl.DataFrame, n_documents: int) -> NDArray[np.float32]:
    """Return the inverse document frequency of each word."""
    frequency = vocabulary[FREQUENCY].to_numpy()
    return np.asarray(np.log((1 + n_documents) / (1.0 + frequency)) + 1, np.float32)


def take_entries(array: NDArray[Any], entries: NDArray[np.intp]) -> NDArray[Any]:
    """Return some entries of an array."""
    return np.asarray(array[entries])


def name_features(vocabulary: pl.DataFrame | None, features: NDArray[np.intp]) -> list[str] | None:
    """Return the words of some features, where they are words."""
    return None if vocabulary is None else vocabulary[WORD].gather(features).to_list()


class Drawn(NamedTuple):
    """Documents that have low lots, their lots, and which of them are to judge by."""

    batch: Batch
    lots: NDArray[np.float64]
    judges: NDArray[np.bool_]


def _draw(
    client: Client,
    source: Source,
    task: Task,
    vocabulary: Future | None,
    idf: Future | None,
    share: float,
) -> list[Future]:
    known = None if vocabulary is None else submit(client, make_table, vocabulary)
    first = np.cumsum([0, *(count.n_documents for count in source.counted.parts)]).tolist()
    return [
        submit(client, draw_part, item, side, start, task, known, idf, share)
        for (item, side), start in zip(source.list_parts(), first[:-1], strict=True)
    ]


def make_table(vocabulary: pl.DataFrame) -> Any:
    """Return what finds the words of a vocabulary."""
    return make_words(vocabulary[WORD].to_list())


def draw_part(
    part: Any,
    side: Side | None,
    first: int,
    task: Task,
    known: Any,
    idf: NDArray[np.float32] | None,
    share: float,
) -> Drawn:
    """Return the documents of a part that have low lots; no others are made rows of."""
    batches, lots, judges = [], [], []
    intake: Any = task.intake
    for batch in Reading(part, task.kind, side):
        n_rows = len(batch.labels or ())
        numbers, is_judge = draw_lots(task.request.seed, first, n_rows)
        first += n_rows
        chosen = np.flatnonzero(numbers < share)
        if chosen.size:
            documents = take(batch, chosen)
            found = intake.scan(documents) if known is None else intake.find(documents, known)
            rows = task.encode(found, documents.labels or [])
            batches.append(weigh(rows, idf))
            lots.append(numbers[chosen])
            judges.append(is_judge[chosen])
    return Drawn(
        join_batches(batches, task.has_values),
        np.concatenate([np.empty(0), *lots]),
        np.concatenate([np.empty(0, bool), *judges]),
    )


def weigh(batch: Batch, idf: NDArray[np.float32] | None) -> Batch:
    """Return rows with values times the inverse document frequency, where there is one."""
    if idf is None or batch.values is None:
        return batch
    return batch._replace(values=batch.values * idf[batch.features])


def join_batches(batches: list[Batch], has_values: bool) -> Batch:
    """Return the rows of batches, one after the other."""
    lengths = [np.diff(batch.indptr) for batch in batches]
    n_codes = [np.diff(batch.code_ends) for batch in batches]
    values: Any = [batch.values for batch in batches]
    return Batch(
        count_up(np.concatenate([np.empty(0, np.int64), *lengths])),
        np.concatenate([np.empty(0, np.uint32), *(batch.features for batch in batches)]).astype(
            np.uint32, copy=False
        ),
        np.concatenate([np.empty(0, np.float32), *values]) if has_values else None,
        count_up(np.concatenate([np.empty(0, np.int64), *n_codes])),
        np.concatenate([np.empty(0, np.int32), *(batch.codes for batch in batches)]),
    )


def rank_sample(drawn: list[Drawn], task: Task, survey: Survey) -> tuple[Plan, Selection]:
    """Rank features on the documents drawn, and choose how many are kept."""
    request, room, classes = task.request, task.room, Classes(task.names)
    sample = Sample(
        room.free,
        seed=request.seed,
        has_values=task.has_values,
        lexicon=None,
        n_threads=1,
    )
    for part in drawn:
        if part.batch.n_documents:
            sample.add_drawn(*part, len(classes))
    sample.n_seen = survey.n_documents
    names, codes = classes.rank(task.kind.is_multilabel)
    objective = request.svm(names, codes, survey)
    costs = Costs(len(codes), 1, task.has_values)
    plan = make_plan(survey, sample, room, costs)
    surveyed = Surveyed(survey, classes, 0, sample)
    return plan, select_features(surveyed, request, plan, objective, room, costs)


def _reduce(
    client: Client,
    source: Source,
    task: Task,
    selection: Selection,
    kept: Future,
    idf: Future | None,
) -> list[Future]:
    """Represent all documents with the features that are kept, in blocks on the workers."""
    known = submit(client, make_known, kept, selection.features)
    n_blocks = SPREAD * source.n_workers
    cells = _measure_blocks(source.counted.total, task, selection, n_blocks)
    parts = source.list_parts()
    return [
        submit(client, reduce_range, *parts[at.part], at, task, known, idf)
        for at in plan_blocks(source.counted.parts, cells)
    ]


def _measure_blocks(total: Count, task: Task, selection: Selection, n_blocks: int) -> int:
    """Return how many nonzeros, before the cut, become a block that a worker has room for.

    There are so many blocks or more.
    """
    costs = Costs(len(task.names), 1, task.has_values)
    document = costs.row + selection.cut.per_document * costs.cell
    n_fitting = int(task.room.free / BLOCKS_IN_ROOM / document)
    n_documents = max(1, min(n_fitting, total.n_documents // n_blocks))
    return max(1, n_documents * total.n_nonzeros // total.n_documents)


def make_known(words: list[str] | None, features: NDArray[np.intp]) -> Any:
    """Return what finds the features that are kept: a vocabulary, or a new number for each."""
    if words is not None:
        return make_words(words)
    return number_features(features, int(features.max(initial=-1)) + 1)


def reduce_range(
    part: Any,
    side: Side | None,
    at: Range,
    task: Task,
    known: Any,
    idf: NDArray[np.float32] | None,
) -> Block:
    """Return documents with the features that are kept, as they are trained on."""
    intake: Any = task.intake
    batches = []
    for batch in read_range(part, task.kind, side, at.first, at.last):
        rows = task.encode(intake.find(batch, known), batch.labels or [])
        batches.append(weigh(rows, idf))
    return make_block(join_batches(batches, task.has_values), task.request.norm)


def make_block(batch: Batch, norm: str | None) -> Block:
    """Return documents as the solver reads them, brought to length one as ``norm`` says."""
    n, indptr = batch.n_documents, batch.indptr.astype(np.uint64)
    scale, squares = np.ones(n), np.empty(n)
    set_lengths(indptr, batch.values, norm, scale, squares)
    rows = Rows(indptr, batch.features, batch.values, scale, squares, np.ones(n))
    return Block(rows, batch.code_ends, batch.codes)


def measure_block(block: Block) -> int:
    """Return the nonzeros of a block."""
    return int(block.rows.indices.size)


def _train(
    client: Client,
    blocks: list[Future],
    sizes: list[int],
    objective: Objective,
    task: Task,
    n_features: int,
    watch: Stopwatch,
    say: Callable[[str], None],
) -> Weights:
    """Train on all documents: in each worker where they fit, and otherwise in rounds over all."""
    n_classes, stop, seed = len(objective.codes), task.request.stop, task.request.seed
    costs = Costs(n_classes, 1, task.has_values)
    n_documents = sum(collect([submit(client, _count_documents, block) for block in blocks]))
    needed = sum(sizes) * costs.cell + n_documents * costs.row + n_features * costs.feature
    n_workers = sum(worker["nthreads"] for worker in list_workers(client).values())
    if needed > task.room.free:
        say("the documents do not fit in one worker: training goes in rounds over all")
        setting = Setting(n_features, stop, seed, task.room.free)
        n_at_once = max(n_workers, AT_ONCE)
        return train_in_rounds(client, blocks, sizes, objective, setting, n_at_once, watch.reach)
    whole = submit(client, join_blocks, blocks)
    shares = [np.arange(first, n_classes, n_workers) for first in range(min(n_workers, n_classes))]
    tasks = [
        submit(client, train_share, whole, objective, stop, seed, share, n_features)
        for share in shares
    ]
    coef = np.empty((n_classes, n_features))
    intercept, primal, gap = np.empty((3, n_classes))
    for share, found in zip(shares, collect(tasks, watch.reach), strict=True):
        coef[share], intercept[share], primal[share], gap[share] = found
    warn_if_stopped_early(gap, primal, stop)
    return Weights(coef, intercept, primal, gap, 0)


def _count_documents(block: Block) -> int:
    return block.n_documents


def join_blocks(blocks: list[Block]) -> Block:
    """Return the documents of all blocks."""
    n_codes = np.concatenate([np.diff(block.code_ends) for block in blocks])
    return Block(
        stack_rows([block.rows for block in blocks]),
        count_up(n_codes),
        np.concatenate([block.codes for block in blocks]),
    )


def train_share(
    block: Block,
    objective: Objective,
    stop: Stop,
    seed: int,
    classes: NDArray[np.intp],
    n_features: int,
) -> tuple[Any, ...]:
    """Train some classes; return their weights, intercepts, objectives and gaps."""
    coef = np.zeros((classes.size, n_features))
    found = [
        train_here(objective, stop, seed, block, int(k), w)
        for k, w in zip(classes, coef, strict=True)
    ]
    intercept, primal, gap, _ = map(np.array, zip(*found, strict=True))
    return coef, intercept, primal, gap
