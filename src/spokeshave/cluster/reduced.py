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
from spokeshave.cluster.reading import Reading, Side
from spokeshave.cluster.shards import (
    join_batches,
    make_known,
    measure_block,
    reduce_documents,
    weigh,
)
from spokeshave.cluster.shelf import Shelved, shelve, shelving
from spokeshave.cluster.task import Task
from spokeshave.cluster.training import train
from spokeshave.cluster.workers import Report, collect, submit, wait
from spokeshave.corpus.documents import take_documents
from spokeshave.utils.formatting import write_size
from spokeshave.utils.timing import Stopwatch

OVER = "over the workers"
LOT = 8  # bytes of a lot that was drawn
AT_LEAST = 2 * LEAST  # bytes for documents and weights


def find_worker_room(memory: int, resident: int) -> Room:
    """Return what a worker has for documents and weights."""
    taken = resident + find_spare(memory)
    if memory < taken + AT_LEAST:
        least = write_size(taken + AT_LEAST)
        raise ValueError(
            f"A worker must have {least} or more for each thread: it holds {write_size(resident)} "
            f"before it begins. Got {write_size(memory)} instead; start fewer workers, or fewer "
            "threads in each."
        )
    return Room(memory, taken)


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
    kind, total, names = source.parts.kind, source.counted.total, source.counted.names
    norm = svc.check_vectorizer().norm if kind.is_text else "l2"
    task = Task(svc.make_request(kind, norm), kind, names, room)
    with shelving(client) as shelf:
        watch.begin("ranking")
        ranked = _rank(client, source, task, shelf, watch.reach)
        say(ranked.plan.describe(OVER))
        say(ranked.selection.cut.describe(OVER))
        watch.begin("reducing")
        known = submit(client, make_known, ranked.words, ranked.selection.features)
        per_document, parts = ranked.selection.cut.per_document, source.list_parts()
        blocks = reduce_documents(
            *(client, parts, source.counted.parts, task, per_document, (known, ranked.idf)),
            *(source.n_workers, shelf),
        )
        sizes = collect([submit(client, measure_block, block) for block in blocks], watch.reach)
        watch.begin("training")
        classes, codes = Classes(names).rank(kind.is_multilabel)
        objective = task.request.svm(classes, codes, ranked.survey)
        n_features = len(ranked.selection.features)
        weights = train(client, blocks, sizes, objective, task, n_features, shelf, watch.reach, say)
        del blocks
    n_nonzeros = sum(size.n_nonzeros for size in sizes)
    svc.take(
        Result(
            classes=classes,
            features=ranked.words.result() if kind.is_text else ranked.selection.features,
            idf=None if ranked.idf is None else ranked.idf.result(),
            weights=weights,
            checksum=total.fingerprint.number,
            survey=ranked.survey,
            plan=ranked.plan,
            cut=ranked.selection.cut,
            reduced=Reduced(total.n_documents, n_nonzeros, 4 * n_nonzeros),
        ),
        kind,
        norm,
    )
    if not kind.is_text:
        svc.n_features_in_ = total.n_features


class Ranked(NamedTuple):
    """What is known before documents are represented with the features that are kept.

    Attributes
    ----------
    survey : Survey
        What there is.
    plan : Plan
        What is going to happen.
    selection : Selection
        The features that are kept.
    words : Future
        Their words, where they have any, and None otherwise.
    idf : Future or None
        Their inverse document frequency, where rows are weighted by it.
    """

    survey: Survey
    plan: Plan
    selection: Selection
    words: Future
    idf: Future | None


def _rank(client: Client, source: Source, task: Task, shelf: str, report: Report) -> Ranked:
    """Choose the features that are kept, on as many documents as there is room for."""
    total, idf = source.counted.total, None
    share = _find_share(total, task)
    vocabulary, n_words = _choose_words(client, source, task, share)
    survey = Survey(
        total.n_documents,
        total.n_nonzeros,
        total.n_features,
        total.class_counts,
        n_counted=n_words,
    )
    if task.kind.is_text and task.request.weighting == "tfidf":
        idf = submit(client, find_idf, vocabulary, total.n_documents)
    drawn = _draw(client, source, task, vocabulary, idf, share, shelf)
    wait(drawn, report)
    plan, selection = submit(client, rank_sample, drawn, task, survey).result()
    words = submit(client, name_features, vocabulary, selection.features)
    if idf is not None:
        idf = submit(client, take_entries, idf, selection.features)
    return Ranked(survey, plan, selection, words, idf)


def _find_share(total: Count, task: Task) -> float:
    """Return the share of the documents that features are ranked on: half the room is for them."""
    costs = task.costs
    size = total.n_nonzeros * costs.cell + total.n_documents * (costs.swept_row + LOT)
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
    shelf: str,
) -> list[Future]:
    known = None if vocabulary is None else submit(client, make_table, vocabulary)
    first = np.cumsum([0, *(count.n_documents for count in source.counted.parts)]).tolist()
    return [
        submit(client, draw_part, item, side, start, task, known, idf, share, shelf)
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
    shelf: str,
) -> Shelved:
    """Return the documents of a part that have low lots; no others are made rows of."""
    batches, lots, judges = [], [], []
    intake: Any = task.intake
    for batch in Reading(part, task.kind, side):
        n_rows = len(batch.labels or ())
        numbers, is_judge = draw_lots(task.request.seed, first, n_rows)
        first += n_rows
        chosen = np.flatnonzero(numbers < share)
        if chosen.size:
            documents = take_documents(batch, chosen)
            found = intake.scan(documents) if known is None else intake.find(documents, known)
            rows = task.encode(found, documents.labels or [])
            batches.append(weigh(rows, idf))
            lots.append(numbers[chosen])
            judges.append(is_judge[chosen])
    drawn = Drawn(
        join_batches(batches, task.has_values),
        np.concatenate([np.empty(0), *lots]),
        np.concatenate([np.empty(0, bool), *judges]),
    )
    return shelve(shelf, [drawn])


def rank_sample(drawn: list[Shelved], task: Task, survey: Survey) -> tuple[Plan, Selection]:
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
        found: Drawn = part.read(0)
        if found.batch.n_documents:
            sample.add_drawn(*found, len(classes))
    sample.n_seen = survey.n_documents
    names, codes = classes.rank(task.kind.is_multilabel)
    objective = request.svm(names, codes, survey)
    costs = Costs(len(codes), 1, task.has_values)
    plan = make_plan(survey, sample, room, costs)
    surveyed = Surveyed(survey, classes, 0, sample)
    return plan, select_features(surveyed, request, plan, objective, room, costs)
