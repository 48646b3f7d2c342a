"""From documents in parts to a model and the record of the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from distributed import Client, Future

from spokeshave.budget.memory import AvailableMemory
from spokeshave.cluster.blocks import plan_blocks, spread_rows
from spokeshave.cluster.client import (
    collect,
    describe_workers,
    list_workers,
    measure_memory,
    measure_resident,
    send,
    submit,
)
from spokeshave.cluster.count import (
    Counted,
    Vocabulary,
    count_parts,
    make_vectorizer,
    prune_vocabulary,
)
from spokeshave.cluster.fit_reduced import OVER, Source, find_worker_memory, run_reduced
from spokeshave.cluster.holding import Divided, divide
from spokeshave.cluster.judging import check_parts, judge_parts
from spokeshave.cluster.kernels import prepare_workers
from spokeshave.cluster.parts import Parts, open_parts
from spokeshave.cluster.whole import Facts, gather_collection, measure_whole, run_whole
from spokeshave.corpus.vectorizer import DocumentVectorizer
from spokeshave.jobs.budget import account_for_budget, make_budgeted, pack_budgeted
from spokeshave.jobs.dataset import list_names
from spokeshave.jobs.fit import Finished
from spokeshave.jobs.record import JudgementRecord
from spokeshave.jobs.settings import Budget, Origin, Settings
from spokeshave.jobs.summary import describe_making, judge_agreement
from spokeshave.model.file import unpack_model
from spokeshave.utils.formatting import parse_size, write_size
from spokeshave.utils.timing import Stopwatch


def fit_on_cluster(
    client: Client,
    parts: Any,
    *,
    text: Any = None,
    label: Any = None,
    test: Any = None,
    settings: Settings | None = None,
    memory: int | str | None = None,
    nonzeros_per_document: float | None = None,
    command: str = "",
    stopwatch: Stopwatch | None = None,
    say: Callable[[str], None] = lambda sentence: None,
    **options: Any,
) -> Finished:
    """Run the whole job on a Dask cluster.

    Where all documents fit in one worker it is what `run_job` does on one machine, with the same
    result to the last digit. Where they do not, it is what `BudgetedSVC` does: features are ranked
    on as many documents as fit, and the model is trained on all documents with those that are kept.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    parts : str, Path, sequence of them, or Dask collection
        The documents: files that every worker can open, by path or address, with ``*`` for any
        letters; a Dask data frame; a bag of pairs of a text and a label, or of mappings; or delayed
        pairs of sparse rows and labels. The workers read them, and they never come to the client.
    text, label : str or int, optional
        Columns, or keys, of texts and labels; what is not told of files is guessed.
    test : like ``parts``, optional
        Documents to judge by.
    settings : Settings, optional
        What is asked for. Curves and cuts play no part where documents do not fit in one worker.
    memory : int or str, optional
        What a task may take, as "2GB"; by default what the smallest worker has for a thread.
    nonzeros_per_document : float, optional
        The sparsity to cut to, where documents do not fit in one worker; as many as fit by default.
    command : str
        The command, for the record.
    stopwatch : Stopwatch, optional
        What times the steps, so that progress can be shown.
    say : callable
        Is told what was guessed, and what is going to happen.
    **options
        How files are read, as in `spokeshave.corpus.open_supply`.

    Returns
    -------
    finished : Finished
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
    judges = None if test is None else open_parts(client, test, **columns, **options)
    is_text, has_values = train.kind.is_text, _have_values(train, settings)
    prepare_workers(client, is_text=is_text, has_values=has_values, say=say)
    divided = None
    if judges is None and settings.hold_out:
        divided = divide(client, train, settings.hold_out, settings.seed)
    counted = _count(client, train, divided, watch)
    if judges is not None:
        _check_judges(client, judges, train, counted.names)
    if counted.total.n_skipped:
        say(f"{counted.total.n_skipped:,} malformed rows were left out of {train.name}")
    origin = Origin(
        source=train.name,
        read=train.read,
        test_source=_name_test(judges, divided),
        n_skipped=counted.total.n_skipped,
        command=command,
        text_column=train.kind.text if isinstance(train.kind.text, str) else None,
    )
    job = _Job(client, n_workers, train, judges, divided, counted, settings, origin, watch)
    columns_found = job.find_columns()
    say(f"{describe_workers(client)}; {columns_found}")
    resident = measure_resident(client)
    if nonzeros_per_document is None and columns_found.n_bytes + resident <= limit:
        return job.run_whole(columns_found)
    say(f"that is too much for {write_size(limit)} in a worker: features have to go")
    memory_left = find_worker_memory(limit, resident)
    return job.run_reduced(
        columns_found.words, Budget(limit, nonzeros_per_document), memory_left, say
    )


def _have_values(parts: Parts, settings: Settings) -> bool:
    """Tell whether features have values, or are only there or not."""
    return not parts.kind.is_text or settings.weighting != "binary"


def _count(client: Client, parts: Parts, divided: Divided | None, watch: Stopwatch) -> Counted:
    counted = count_parts(
        client,
        parts,
        None if divided is None else divided.train,
        strip_markup=True,
        report=watch.reach,
    )
    names = [(name,) if parts.kind.is_multilabel else name for name in counted.names]
    list_names(names)  # raises where there are too few
    if divided is None:
        return counted
    total = replace(counted.total, fingerprint=divided.fingerprint)
    return replace(counted, total=total)


def _check_judges(client: Client, judges: Parts, train: Parts, names: list[str]) -> None:
    """Raise where the documents to judge by cannot be used, before anything is done."""
    if judges.kind.is_text != train.kind.is_text:
        raise ValueError("The test documents must be of the kind of the training documents.")
    if judges.kind.is_multilabel != train.kind.is_multilabel:
        raise ValueError(
            "The test documents must have one label each, or several each, as those to train on."
        )
    check_parts(client, judges, names)


def _name_test(judges: Parts | None, divided: Divided | None) -> str | None:
    if judges is not None:
        return judges.name
    return None if divided is None else "held-out documents"


@dataclass(frozen=True, eq=False)
class Columns:
    """The features that rows have, what is known of the documents, and what a task takes."""

    words: Vocabulary | None
    facts: Facts
    n_nonzeros: int
    n_bytes: int

    def __str__(self) -> str:
        facts = self.facts
        return (
            f"{facts.n_documents:,} documents, {facts.n_features:,} features, "
            f"{self.n_nonzeros / facts.n_documents:.0f} of them in a document: a matrix of "
            f"{write_size(12 * self.n_nonzeros)}, {write_size(self.n_bytes)} to train on it whole"
        )


@dataclass(frozen=True, eq=False)
class _Job:
    """A job on a cluster, after the first pass over its documents."""

    client: Client
    n_workers: int
    train: Parts
    judges: Parts | None
    divided: Divided | None
    counted: Counted
    settings: Settings
    origin: Origin
    watch: Stopwatch

    @property
    def sides(self) -> list[Future] | None:
        """The documents of each part to train on, where some are held out."""
        return None if self.divided is None else self.divided.train

    @property
    def recipe(self) -> DocumentVectorizer:
        """How texts become rows."""
        return DocumentVectorizer(weighting=self.settings.weighting, min_df=self.settings.min_df)

    def find_columns(self) -> Columns:
        """Choose the vocabulary, which stays on the workers."""
        total, names = self.counted.total, self.counted.names
        n_features, n_nonzeros, words = total.n_features, total.n_nonzeros, None
        if self.train.kind.is_text:
            words = prune_vocabulary(self.client, self.counted, self.recipe)
            n_features, n_nonzeros = words.n_kept, words.n_nonzeros
        facts = Facts(
            names=names,
            counts=[total.class_counts[name] for name in names],
            n_documents=total.n_documents,
            n_features=n_features,
            is_multilabel=self.train.kind.is_multilabel,
            fingerprint=str(total.fingerprint),
        )
        has_values = _have_values(self.train, self.settings)
        n_bytes = measure_whole(facts, n_nonzeros, has_values=has_values)
        return Columns(words, facts, n_nonzeros, n_bytes)

    def run_whole(self, columns: Columns) -> Finished:
        """Do what one machine does, each worker with all documents."""
        client, facts, vectorizer = self.client, columns.facts, None
        if columns.words is not None:
            buckets, n = columns.words.buckets, facts.n_documents
            vectorizer = submit(client, make_vectorizer, buckets, self.recipe, n)
        self.watch.begin("making rows")
        ranges = plan_blocks(self.counted.parts)
        blocks = spread_rows(client, self.train, self.sides, ranges, vectorizer, facts.names)
        collection = submit(client, gather_collection, blocks, vectorizer, facts)
        collect([submit(client, len, block) for block in blocks], self.watch.reach)
        answer = run_whole(client, collection, facts, self.settings, self.origin, self.watch)
        content, record, full = (
            submit(client, getattr, answer, name) for name in ("content", "record", "full")
        )
        found, shipped = record.result(), content.result()
        judgements = self._judge(content, full, vectorizer)
        if judgements:
            data = replace(found.data, n_test=judgements[0].n_documents)
            found = replace(
                found,
                data=replace(data, test_source=self.origin.test_source),
                model=replace(found.model, judgement=judgements[0]),
                full_model=replace(found.full_model, judgement=judgements[1]),
            )
        making = describe_making(self.origin, self.settings, self.watch)
        return Finished(unpack_model(shipped), shipped, replace(found, making=making))

    def run_reduced(
        self,
        words: Vocabulary | None,
        budget: Budget,
        memory: AvailableMemory,
        say: Callable[[str], None],
    ) -> Finished:
        """Rank features on what fits in a worker, and train on everything."""
        if self.settings.C == "auto":
            raise ValueError(
                "C must be a number where documents do not fit in one worker. Got 'auto' instead."
            )
        svc = make_budgeted(budget, self.settings)
        source = Source(self.train, self.sides, self.counted, words, self.n_workers)
        run_reduced(self.client, source, svc, memory, self.watch, say)
        shipped = pack_budgeted(svc, self.origin)
        judgements = self._judge(send(self.client, bytes, shipped), None, None)
        model = unpack_model(shipped)
        record = account_for_budget(
            svc,
            model,
            judgements[0] if judgements else None,
            self.origin,
            self.settings,
            self.watch,
            len(shipped),
            where=OVER,
        )
        return Finished(model, shipped, record)

    def _judge(
        self, content: Future, full: Future | None, vectorizer: Future | None
    ) -> list[JudgementRecord]:
        """Judge the models, where there is something to judge by."""
        self.watch.end()
        on, names = self.origin.test_source, self.counted.names
        if on is None:
            return []
        self.watch.begin("judging it")
        sides = None if self.divided is None else self.divided.test
        parts = self.judges or self.train
        found = judge_parts(
            self.client, parts, sides, content, full, vectorizer, names, self.watch.reach
        )
        self.watch.end()
        is_multilabel = self.train.kind.is_multilabel
        return [judge_agreement(each, names, on, is_multilabel=is_multilabel) for each in found]
