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
from spokeshave.budget.lexicon import make_words
from spokeshave.budget.plan import Plan, make_plan
from spokeshave.budget.reducing import Reduced
from spokeshave.budget.room import LEAST, Room, find_spare
from spokeshave.budget.run import Result
from spokeshave.budget.sample import Sample, draw_lots
from spokeshave.budget.selecting import Selection, select_features
from spokeshave.budget.store import Batch
from spokeshave.budget.survey import Survey
from spokeshave.budget.surveying import Surveyed
from spokeshave.cluster.counting import FREQUENCY, WORD, Count, Counted, PrunedWords, Vocabulary
from spokeshave.cluster.parts import Parts
from spokeshave.cluster.reading import Reading, Side, take
from spokeshave.cluster.shards import (
    join_batches,
    make_known,
    measure_block,
    reduce_documents,
    weigh,
)
from spokeshave.cluster.shelf import shelving
from spokeshave.cluster.task import Task
from spokeshave.cluster.training import train
from spokeshave.cluster.workers import collect, submit, wait
from spokeshave.figures import write_size
from spokeshave.stopwatch import Stopwatch

OVER = "over the workers"
HELD_TWICE = 2  # what is put together from blocks is there twice meanwhile


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
    share = _find_share(total, task)
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
    known = submit(client, make_known, kept, selection.features)
    parts, per_document = source.list_parts(), selection.cut.per_document
    classes, codes = Classes(names).rank(kind.is_multilabel)
    objective = task.request.svm(classes, codes, survey)
    n_features = len(selection.features)
    with shelving(client) as shelf:
        blocks = reduce_documents(
            *(client, parts, counted.parts, task, per_document, (known, idf)),
            *(source.n_workers, shelf),
        )
        sizes = collect([submit(client, measure_block, block) for block in blocks], watch.reach)
        watch.begin("training")
        weights = train(client, blocks, sizes, objective, task, n_features, shelf, watch.reach, say)
        del blocks
    n_nonzeros = sum(size.n_nonzeros for size in sizes)
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


def _find_share(total: Count, task: Task) -> float:
    """Return the share of the documents that features are ranked on: half the room is for them."""
    costs = task.costs
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
