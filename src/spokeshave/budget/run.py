"""A run in a given memory: count and sample, rank, reduce, train; finished stages are resumed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.memory import (
    MINIMUM,
    PLANNED_THREADS,
    AvailableMemory,
    Costs,
    find_available,
    find_reserve,
    give_back,
    is_short,
)
from spokeshave.budget.plan import WORD, Cut, Plan, measure_disk
from spokeshave.budget.prior import add_prior
from spokeshave.budget.request import BatchReader, Request
from spokeshave.budget.row_batches import Classes, chain_checksums, map_ahead
from spokeshave.budget.sample import (
    find_batch_size,
    load_first_pass,
    make_sample,
    run_first_pass,
    save_first_pass,
)
from spokeshave.budget.select import (
    Selection,
    load_selection,
    pose,
    save_selection,
    select_features,
)
from spokeshave.budget.shards import ShardWriter, list_shards
from spokeshave.budget.working_set import Objective, Setting, Weights, train_classes
from spokeshave.errors import CorpusError
from spokeshave.utils.checkpoint import WorkFolder
from spokeshave.utils.timing import Stopwatch

SHARD_PART = 8  # ranges read from disk take one part in so many of the memory
SIZES = "sizes.json"
STAGES = ("first_pass", "selection", "reduced", "training")  # folders


@dataclass(frozen=True)
class Reduced:
    """Size of all documents with the kept features."""

    n_documents: int
    n_nonzeros: int
    n_bytes: int

    @property
    def per_document(self) -> float:
        """Mean nonzeros per document."""
        return self.n_nonzeros / max(self.n_documents, 1)


@dataclass(frozen=True, eq=False)
class Result:
    """A trained model, and the results of the stages that led to it."""

    classes: NDArray[Any]  # sorted
    features: Any  # the kept words, or feature numbers
    idf: NDArray[np.float32] | None
    weights: Weights
    checksum: int  # identifies the documents
    counts: CollectionCounts
    plan: Plan
    cut: Cut
    reduced: Reduced


def run(
    stream: BatchReader,
    request: Request,
    work: WorkFolder,
    watch: Stopwatch,
    say: Callable[[str], None],
    memory: AvailableMemory | None = None,
) -> Result:
    """Count documents, rank features on a sample, reduce all documents, and train.

    Stages that an earlier run has finished in the same folder are read from there. ``memory`` is
    what the budget leaves, by default.
    """
    memory = memory or find_available(request.memory, request.n_given)
    watch.begin("counting")
    stamps = stream.stamps
    first = work.resume(
        "first_pass",
        partial(run_first_pass, stream, request, memory, watch.reach),
        save_first_pass,
        lambda folder: load_first_pass(folder, make_sample(request, memory)),
    )
    counts, classes, checksum = first.counts, first.classes, first.checksum
    posed = pose(first, request, memory, PLANNED_THREADS)
    say(str(posed.plan))
    watch.begin("ranking")
    selection = work.resume(
        "selection",
        partial(select_features, first, request, posed, memory),
        save_selection,
        load_selection,
    )
    say(str(selection.cut))
    del first
    give_back()
    watch.begin("reducing")
    if _has_changed(stream, stamps):
        work.clear()
        raise _make_change_error(stream)
    if not work.has("reduced"):
        work.require_space(measure_disk(selection.cut, counts.n_documents, posed.costs))
        _reduce(stream, request, work, selection, classes, counts.n_documents, checksum, watch)
    watch.begin("training")
    n_features = len(selection.features)
    weights = _train(request, work, memory, n_features, posed.objective, posed.costs, watch)
    return Result(
        classes=posed.names,
        features=selection.features,
        idf=selection.idf,
        weights=weights,
        checksum=checksum,
        counts=counts,
        plan=posed.plan,
        cut=selection.cut,
        reduced=_load_reduced(work.find("reduced")),
    )


def _has_changed(stream: BatchReader, stamps: list[Any]) -> bool:
    try:
        return stream.stamps != stamps
    except (OSError, CorpusError):  # it is gone
        return True


def _make_change_error(stream: BatchReader) -> CorpusError:
    problem = "it has changed since it was first read; run again when it is whole"
    return CorpusError(stream.name, problem)


def _reduce(
    stream: BatchReader,
    request: Request,
    work: WorkFolder,
    selection: Selection,
    classes: Classes,
    n_documents: int,
    checksum: int,
    watch: Stopwatch,
) -> None:
    """Write all documents with the kept features; raise if they are not those counted before."""
    try:
        with work.enter("reduced") as folder:
            found = reduce_stream(
                stream, request, selection, classes, n_documents, folder, watch.reach
            )
            if found != checksum:
                raise _make_change_error(stream)
    except CorpusError:
        work.clear()  # earlier stages are of other documents
        raise


def reduce_stream(
    stream: BatchReader,
    request: Request,
    selection: Selection,
    classes: Classes,
    n_documents: int,
    folder: Path,
    report: Callable[[float], None],
) -> int:
    """Write all documents with the kept features to a folder; return their checksum."""
    encoder: Any = request.encoder
    known, checksum = encoder.index(selection.features), 0

    def find(batch: Any) -> Any:
        return encoder.find(batch, known)

    with ShardWriter(folder, has_values=request.has_values) as writer:
        batches = stream.read_batches(find_batch_size(request))
        is_full = partial(is_short, request.memory)
        for encoded in map_ahead(find, batches, request.n_threads, is_full):
            checksum = chain_checksums(checksum, encoded.checksum)
            writer.add(encoded.encode(classes).weigh(selection.idf))
            report(writer.n_documents / n_documents)
        writer.finish()
    n_bytes = sum(path.stat().st_size for path in folder.iterdir())
    reduced = Reduced(writer.n_documents, writer.n_nonzeros, n_bytes)
    (folder / SIZES).write_text(json.dumps(asdict(reduced)))
    return checksum


def _load_reduced(folder: Path) -> Reduced:
    return Reduced(**json.loads((folder / SIZES).read_bytes()))


def find_room(memory: AvailableMemory, n_features: int) -> int:
    """Return the bytes for documents and weights while the model is trained.

    A third of the reserve is for documents that have more of the features than the sample said.
    """
    return memory.free + find_reserve(memory.budget) // 3 - n_features * WORD


def _train(
    request: Request,
    work: WorkFolder,
    memory: AvailableMemory,
    n_features: int,
    objective: Objective,
    costs: Costs,
    watch: Stopwatch,
) -> Weights:
    """Train on all documents: in memory if they fit, else in rounds over the disk."""
    give_back()
    folder = work.find("reduced")
    reduced = _load_reduced(folder)

    def measure(costs: Costs) -> int:
        documents = reduced.n_nonzeros * costs.cell + reduced.n_documents * costs.row
        return documents + n_features * costs.feature

    room = find_room(memory, n_features)
    n_threads = costs.count_threads(request.n_threads, room, measure)
    free = max(room - n_features * costs.feature, MINIMUM // 2)
    n_bytes = measure(costs) - n_features * costs.feature
    most_cells, capacity = reduced.n_nonzeros + reduced.n_documents, 0
    if n_bytes > free:
        share = free // SHARD_PART
        capacity = (free - share) // costs.n_busy
        most_cells = max(1, most_cells * share // (n_bytes * costs.n_busy))
    shards = list_shards(folder, request.norm, most_cells)
    setting = Setting(
        shards=shards,
        capacity=capacity,
        folder=work.find("training"),
        n_features=n_features,
        stop=request.stop,
        seed=request.seed,
        n_jobs=n_threads,
        report=watch.reach,
    )
    with work.naming_errors():
        return train_classes(add_prior(objective, shards, n_features), setting)
