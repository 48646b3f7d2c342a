"""`fit_on_cluster`: the whole job on documents in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, cast

from distributed import Client, Future

from spokeshave.budget.memory import AvailableMemory
from spokeshave.budget.warmup import exercise
from spokeshave.cluster.blocks import plan_blocks, spread_rows
from spokeshave.cluster.client import (
    collect,
    describe_workers,
    find_held,
    list_workers,
    measure_memory,
    merge,
    send,
    submit,
)
from spokeshave.cluster.count import (
    Counted,
    Vocabulary,
    count_parts,
    fit_vectorizer,
    prune_vocabulary,
)
from spokeshave.cluster.evaluate import (
    EvaluationParts,
    HeldOut,
    check_parts,
    evaluate_parts,
    hold_out,
)
from spokeshave.cluster.executor import DaskExecutor, join_dataset, measure_whole
from spokeshave.cluster.fit_reduced import OVER, Source, find_worker_memory, run_reduced
from spokeshave.cluster.parts import Kind, Parts, Reading, Side, open_parts
from spokeshave.corpus.documents import describe_rare
from spokeshave.jobs.budget import (
    account_for_budget,
    make_budgeted,
    make_recipe,
    pack_budgeted,
    refuse_weighting,
)
from spokeshave.jobs.dataset import DatasetInfo, check_kinds, describe_unknown, list_names
from spokeshave.jobs.fit import (
    CHOOSING,
    JobResult,
    apply_representation,
    run_steps,
    search_representation,
)
from spokeshave.jobs.record import EvaluationRecord
from spokeshave.jobs.settings import Budget, Origin, Settings
from spokeshave.jobs.summary import summarize_evaluation
from spokeshave.jobs.text_sample import OF_PROCESS, TextSample, limit_characters, sample_texts
from spokeshave.kernels.compile import is_compiled, warm_up
from spokeshave.model.file import unpack_model
from spokeshave.selection.representation import Representation
from spokeshave.text.vectorizer import DocumentVectorizer, make_analysis
from spokeshave.utils.formatting import parse_size, write_size
from spokeshave.utils.timing import Stopwatch

PARTS_APART = 1 << 32  # between the seeds of samples of parts
COMPILING = "kernels are compiled first, once on each host"


def warm_up_workers(client: Client, kind: dict[str, bool], say: Callable[[str], None]) -> None:
    """Compile and load the kernels of a run on all workers; ``kind`` has options of `exercise`."""
    by_host: dict[str, list[str]] = {}
    for address, worker in list_workers(client).items():
        by_host.setdefault(worker["host"], []).append(address)
    first = [addresses[0] for addresses in by_host.values()]
    others = [address for addresses in by_host.values() for address in addresses[1:]]

    def ask(function: Callable[[dict[str, bool]], Any], addresses: list[str]) -> list[Any]:
        how = {"allow_other_workers": True}  # a worker may die before it answers
        return collect([submit(client, function, kind, workers=[a], **how) for a in addresses])

    if not all(ask(are_compiled, first)):
        say(COMPILING)
    ask(load_kernels, first)
    ask(load_kernels, others)


def are_compiled(kind: dict[str, bool]) -> bool:
    """Return whether the kernels of a run are compiled on the host of this worker."""
    return is_compiled(exercise, **kind)


def load_kernels(kind: dict[str, bool]) -> None:
    """Load the kernels of a run in this worker, and compile them first if necessary."""
    warm_up(exercise, **kind)


def fit_on_cluster(
    client: Client,
    parts: Any,
    *,
    text: Any = None,
    label: Any = None,
    test: Any = None,
    settings: Settings | None = None,
    vectorizer: DocumentVectorizer | None = None,
    memory: int | str | None = None,
    nonzeros_per_document: float | None = None,
    command: str = "",
    stopwatch: Stopwatch | None = None,
    say: Callable[[str], None] = lambda sentence: None,
    **options: Any,
) -> JobResult:
    """Run the whole job on a Dask cluster.

    If all documents fit in one worker, it runs the steps of `run_job`, with the same result to the
    last digit. If they do not, it does what `BudgetedSVC` does: features are ranked on a sample of
    the documents that fits, and the model is trained on all documents with the features kept.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    parts : str, Path, sequence of them, or Dask collection
        The documents: files that every worker can open, by path or address, with ``*`` for any
        letters; a Dask data frame; a bag of pairs of a text and a label, or of mappings; or delayed
        pairs of sparse rows and labels. The workers read them, and they never come to the client.
    text, label : str or int, optional
        Columns, or keys, of texts and labels; columns of files are guessed by default.
    test : like ``parts``, optional
        Test documents.
    settings : Settings, optional
        The settings of the run. Curves and cuts are ignored if documents do not fit in one worker.
    vectorizer : DocumentVectorizer, optional
        Turns texts into rows; by default as the settings say.
    memory : int or str, optional
        The memory of a task, as "2GB"; by default that of a thread of the smallest worker.
    nonzeros_per_document : float, optional
        The target sparsity if documents do not fit in one worker; as many as fit by default.
    command : str
        The command, for the record.
    stopwatch : Stopwatch, optional
        Times the steps and shows progress.
    say : callable
        Called with sentences on guessed columns and on the plan.
    **options
        Options of the readers, as in `spokeshave.corpus.open_stream`.

    Returns
    -------
    result : JobResult
        The model, its bytes, and the record of the run.
    """
    settings, watch = settings or Settings(), stopwatch or Stopwatch()
    columns = {"text": text, "label": label}
    limit = measure_memory(client) if memory is None else parse_size(memory)
    n_workers = len(list_workers(client))
    watch.begin("counting")
    train = open_parts(client, parts, **columns, **options)
    for guess in train.guesses:
        say(f"{train.name}: {guess}")
    refuse_weighting(settings, is_text=train.kind.is_text)
    given_test = None if test is None else open_parts(client, test, **columns, **options)
    held_out = None
    if given_test is None and settings.hold_out:
        held_out = hold_out(client, train, settings.hold_out, settings.seed)
    sides = None if held_out is None else held_out.train
    chosen = None
    if settings.effort != "quick" and vectorizer is None:
        watch.begin(CHOOSING)
        chosen = _search_sample(client, train, sides, settings, limit)
        settings = apply_representation(settings, chosen)
        watch.begin("counting")
    recipe = make_recipe(settings, vectorizer)
    kind = {"is_text": train.kind.is_text, "has_values": _have_values(train, recipe)}
    if train.kind.is_text and not make_analysis(recipe).is_plain:
        kind["has_ngrams"] = True
    if settings.find_prior(is_text=train.kind.is_text) is not None:
        kind["has_prior"] = True
    warm_up_workers(client, kind, say)
    held = find_held(client)  # counting may leave more or less of its memory with the process
    counted = _count(client, train, held_out, recipe, watch)
    if given_test is not None:
        check_kinds(train.kind, given_test.kind)
        if unknown := check_parts(client, given_test, counted.names):
            say(describe_unknown(unknown))
    for flaw in describe_rare(counted.total.class_counts):
        say(f"{train.name}: {flaw}")
    if counted.total.n_skipped:
        say(f"{counted.total.n_skipped:,} malformed rows were left out of {train.name}")
    origin = Origin(
        source=train.name,
        read=train.read,
        test_source=_name_test(given_test, held_out),
        n_skipped=counted.total.n_skipped,
        command=command,
        text_column=train.kind.text if isinstance(train.kind.text, str) else None,
    )
    tested = None if given_test is None else EvaluationParts(given_test, None)
    if held_out is not None:
        tested = EvaluationParts(train, held_out.test)
    job = _Job(
        *(client, n_workers, train, sides, tested, counted),
        *(settings, recipe, origin, watch, chosen),
    )
    columns_found = job.find_columns()
    say(f"{describe_workers(client)}; {columns_found}")
    if nonzeros_per_document is None and columns_found.n_bytes + held <= limit:
        return job.run_whole(columns_found)
    say(f"that is too much for the {write_size(limit)} of a worker: features are dropped")
    available = find_worker_memory(limit, held)
    budget = Budget(limit, nonzeros_per_document)
    return job.run_reduced(columns_found.words, budget, available, say)


def _search_sample(
    client: Client, parts: Parts, sides: list[Future] | None, settings: Settings, limit: int
) -> Representation:
    """Choose the representation on one worker, on a sample of all parts that fits there."""
    free = limit - find_held(client)
    n_characters = limit_characters(free + OF_PROCESS, is_text=parts.kind.is_text)
    samples = [
        submit(client, sample_part, item, parts.kind, side, n_characters, settings.seed, number)
        for number, (item, side) in enumerate(parts.with_sides(sides))
    ]
    of_all = merge(client, partial(merge_samples, n_characters), samples)
    alone = replace(settings, n_jobs=1)  # a task has one thread
    (found,) = collect([submit(client, search_sample, of_all, alone)])
    return cast("Representation", found)


def sample_part(
    part: Any, kind: Kind, side: Side | None, n_characters: int, seed: int, number: int
) -> TextSample:
    """Return the sample of a part."""
    return sample_texts(Reading(part, kind, side), n_characters, seed + PARTS_APART * number)


def merge_samples(n_characters: int, samples: list[TextSample]) -> TextSample:
    """Return the sample of several parts."""
    return reduce(lambda one, other: one.merge(other, n_characters), samples, TextSample())


def search_sample(sample: TextSample, settings: Settings) -> Representation:
    """Choose the representation on a sample."""
    return search_representation(sample.to_documents(), settings)


def _have_values(parts: Parts, recipe: DocumentVectorizer) -> bool:
    """Return whether features have values, or are only present or absent."""
    return not parts.kind.is_text or recipe.weighting != "binary"


def _count(
    client: Client,
    parts: Parts,
    held_out: HeldOut | None,
    recipe: DocumentVectorizer,
    watch: Stopwatch,
) -> Counted:
    counted = count_parts(
        client,
        parts,
        None if held_out is None else held_out.train,
        vectorizer=recipe,
        report=watch.reach,
    )
    names = [(name,) if parts.kind.is_multilabel else name for name in counted.names]
    list_names(names)  # raises if there are too few
    if held_out is None:
        return counted
    total = replace(counted.total, fingerprint=held_out.fingerprint)
    return replace(counted, total=total)


def _name_test(given_test: Parts | None, held_out: HeldOut | None) -> str | None:
    if given_test is not None:
        return given_test.name
    return None if held_out is None else "held-out documents"


@dataclass(frozen=True, eq=False)
class Columns:
    """The features of the rows, the facts about the dataset, and the memory of a task."""

    words: Vocabulary | None
    info: DatasetInfo
    n_nonzeros: int
    n_bytes: int

    def __str__(self) -> str:
        info = self.info
        return (
            f"{info.n_documents:,} documents, {info.n_features:,} features, "
            f"{self.n_nonzeros / info.n_documents:.0f} per document: a matrix of "
            f"{write_size(12 * self.n_nonzeros)}, {write_size(self.n_bytes)} to train on it whole"
        )


@dataclass(frozen=True, eq=False)
class _Job:
    """A job on a cluster, after the first pass over its documents."""

    client: Client
    n_workers: int
    train: Parts
    sides: list[Future] | None  # the training documents of each part, if some are held out
    test: EvaluationParts | None
    counted: Counted
    settings: Settings
    recipe: DocumentVectorizer  # of texts, not fitted
    origin: Origin
    watch: Stopwatch
    chosen: Representation | None  # with its trials, if it was searched

    def find_columns(self) -> Columns:
        """Prune the vocabulary, which stays on the workers."""
        total, names = self.counted.total, self.counted.names
        n_features, n_nonzeros, words = total.n_features, total.n_nonzeros, None
        if self.train.kind.is_text:
            words = prune_vocabulary(self.client, self.counted, self.recipe)
            n_features, n_nonzeros = words.n_kept, words.n_nonzeros
        info = DatasetInfo(
            names=names,
            counts=[total.class_counts[name] for name in names],
            n_documents=total.n_documents,
            n_features=n_features,
            is_multilabel=self.train.kind.is_multilabel,
            fingerprint=str(total.fingerprint),
            is_text=self.train.kind.is_text,
            is_weighted=self.train.kind.is_text,
            label_type=total.label_type,
        )
        has_values = _have_values(self.train, self.recipe)
        n_bytes = measure_whole(info, n_nonzeros, has_values=has_values)
        return Columns(words, info, n_nonzeros, n_bytes)

    def run_whole(self, columns: Columns) -> JobResult:
        """Run the steps of one machine, with the whole dataset on each worker."""
        client, info, vectorizer = self.client, columns.info, None
        if columns.words is not None:
            buckets, n = columns.words.buckets, info.n_documents
            vectorizer = submit(client, fit_vectorizer, buckets, self.recipe, n)
        self.watch.begin("making rows")
        ranges = plan_blocks(self.counted.parts)
        blocks = spread_rows(client, self.train, self.sides, ranges, vectorizer, info.names)
        dataset = submit(client, join_dataset, blocks, vectorizer, info)
        collect([submit(client, len, block) for block in blocks], self.watch.reach)
        executor = DaskExecutor(client, dataset, info, self.test, vectorizer)
        return run_steps(executor, self.settings, self.origin, self.watch, self.chosen)

    def run_reduced(
        self,
        words: Vocabulary | None,
        budget: Budget,
        memory: AvailableMemory,
        say: Callable[[str], None],
    ) -> JobResult:
        """Rank features on a sample that fits in a worker, and train on all documents."""
        if self.settings.C == "auto":
            raise ValueError(
                "C must be a number if documents do not fit in one worker. Got 'auto' instead."
            )
        svc = make_budgeted(budget, self.settings, self.recipe, is_text=self.train.kind.is_text)
        source = Source(self.train, self.sides, self.counted, words, self.n_workers)
        run_reduced(self.client, source, svc, memory, self.watch, say)
        shipped = pack_budgeted(svc, self.origin)
        model = unpack_model(shipped)
        record = account_for_budget(
            svc,
            model,
            self._evaluate(shipped),
            self.origin,
            self.settings,
            self.watch,
            len(shipped),
            where=OVER,
            chosen=self.chosen,
        )
        return JobResult(model, shipped, record)

    def _evaluate(self, content: bytes) -> EvaluationRecord | None:
        """Evaluate a model file on the test documents, if there are any."""
        self.watch.end()
        if self.test is None:
            return None
        self.watch.begin("judging it")
        names, on = self.counted.names, self.origin.test_source or ""
        sent = send(self.client, bytes, content)
        (found,) = evaluate_parts(self.client, self.test, sent, None, None, names, self.watch.reach)
        self.watch.end()
        is_multilabel = self.train.kind.is_multilabel
        return summarize_evaluation(found, names, on, is_multilabel=is_multilabel)
