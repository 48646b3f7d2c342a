"""The job in a given memory: from files to a model trained on all of them, and its record."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from spokeshave.budget.counts import draw
from spokeshave.budget.estimator import TOLERANCE, BudgetedSVC, fit_stream
from spokeshave.budget.memory import AvailableMemory, find_available, give_back
from spokeshave.budget.request import BatchReader
from spokeshave.corpus.documents import (
    Fingerprint,
    Texts,
    Vectors,
    compute_fingerprint,
    describe_rare,
    take_documents,
)
from spokeshave.corpus.options import describe_skipped
from spokeshave.corpus.stream import DocumentStream, open_stream
from spokeshave.errors import ParameterError
from spokeshave.jobs.dataset import DatasetInfo, count_unknown, describe_unknown
from spokeshave.jobs.fit import (
    CHOOSING,
    JobResult,
    apply_representation,
    make_svm,
    make_vectorizer,
    search_representation,
)
from spokeshave.jobs.record import EvaluationRecord, ModelRecord, RunRecord, WordsRecord
from spokeshave.jobs.settings import Budget, Origin, Settings
from spokeshave.jobs.summary import (
    compare_batches,
    describe_making,
    describe_provenance,
    describe_settings,
    group_weights,
    list_strongest,
    make_record,
    predict_batch,
    summarize_evaluation,
    summarize_trials,
)
from spokeshave.jobs.text_sample import limit_characters, sample_texts
from spokeshave.model.export import require_names
from spokeshave.model.file import pack_model, unpack_model
from spokeshave.model.inputs import TextInput
from spokeshave.model.model import Model
from spokeshave.selection.representation import Representation
from spokeshave.svm.estimator import make_svc
from spokeshave.text.vectorizer import DocumentVectorizer, check_vectorizer
from spokeshave.utils.formatting import parse_size, write_share, write_size
from spokeshave.utils.timing import Stopwatch

HOLD_OUT_SEED = 2  # added to the seed: samples use the seed itself and the next


@dataclass(frozen=True)
class Files:
    """Files to train on and to judge by, and how they are read: see `open_stream`."""

    paths: str | Path | Sequence[str | Path]
    test: str | Path | None = None
    options: dict[str, Any] = field(default_factory=dict)


def list_budget_steps(settings: Settings, *, has_test: bool) -> dict[str, float]:
    """Return the steps of the job, each with a guess of its share of the time."""
    steps = {CHOOSING: 10.0} if settings.effort != "quick" else {}
    steps |= {"counting": 5.0, "ranking": 3.0, "reducing": 4.0, "training": 5.0}
    return {**steps, "judging it": 1.0} if has_test or settings.hold_out else steps


def run_budgeted(
    files: Files,
    budget: Budget,
    *,
    settings: Settings | None = None,
    vectorizer: DocumentVectorizer | None = None,
    command: str = "",
    stopwatch: Stopwatch | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> JobResult:
    """Train on files in a given memory, and evaluate on test documents if there are any.

    Parameters
    ----------
    files : Files
        The documents.
    budget : Budget
        The memory, and the sparsity if one is asked for.
    settings : Settings, optional
        Options of the job; those of curves and cuts are ignored.
    vectorizer : DocumentVectorizer, optional
        Turns texts into rows; by default as the settings say.
    command : str
        The command, for the record.
    stopwatch : Stopwatch, optional
        Times the steps, and receives their progress.
    say : callable
        Called with the plan and the guesses made, sentence by sentence.

    Returns
    -------
    result : JobResult
    """
    settings, watch = settings or Settings(), stopwatch or Stopwatch()
    with (
        open_stream(files.paths, **files.options) as supply,
        _open_test(files, supply, settings) as (test, name),
    ):
        refuse_weighting(settings, is_text=supply.is_text)
        if test is not None:
            _check_test(test, supply, settings)
        for guess in supply.guesses:
            say(f"{supply.name}: {guess}")
        stream: BatchReader = supply
        if isinstance(test, HoldOutStream):
            stream = HoldOutStream(supply, settings.hold_out, settings.seed, is_test=False)
        chosen = memory = None
        if settings.effort != "quick" and vectorizer is None:
            watch.begin(CHOOSING)
            memory = find_available(parse_size(budget.memory))  # before a sample is read
            chosen = _search_sample(stream, memory, settings)
            settings = apply_representation(settings, chosen)
        recipe = make_recipe(settings, vectorizer)
        svc = make_budgeted(budget, settings, recipe, is_text=supply.is_text)
        fit_stream(svc, stream, watch, say, memory)
        watch.end()
        for flaw in describe_rare(svc.counts_.class_counts):
            say(f"{supply.name}: {flaw}")
        if supply.skipped:
            say(describe_skipped(supply.skipped, supply.problems, supply.name))
        column = supply.text if isinstance(supply.text, str) else None
        origin = Origin(supply.name, supply.read, name, supply.skipped, command, column)
        give_back()
        fingerprint = stream.fingerprint if isinstance(stream, HoldOutStream) else None
        content = pack_budgeted(svc, origin, fingerprint)
        model = unpack_model(content)  # the model evaluated is the one in the file
        judgement = None
        if test is not None:
            watch.begin("judging it")
            judgement = evaluate_stream(model, test, name, say)
            watch.end()
    record = account_for_budget(
        *(svc, model, judgement, origin, settings, watch, len(content)),
        chosen=chosen,
        fingerprint=fingerprint,
    )
    return JobResult(model, content, record)


def _search_sample(
    stream: BatchReader, memory: AvailableMemory, settings: Settings
) -> Representation:
    """Choose the representation on a sample that fits, in a process that gives its memory back."""
    n_characters = limit_characters(memory.free, is_text=stream.is_text)
    sample = sample_texts(stream.read_batches(), n_characters, settings.seed)
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(search_representation, sample.to_documents(), settings).result()


def refuse_weighting(settings: Settings, *, is_text: bool) -> None:
    """Raise if vectors that are not read whole are to be weighted."""
    if not is_text and (found := settings.find_weighting(is_text=False)) != "counts":
        raise ParameterError(
            "weighting",
            f"must be counts for vectors that are not read whole. Got {found!r} instead.",
        )


def make_recipe(settings: Settings, vectorizer: DocumentVectorizer | None) -> DocumentVectorizer:
    """Return the vectorizer of texts, not fitted: as given, or as the settings say.

    This is where jobs in a budget and on a cluster get it from.
    """
    given = make_vectorizer(settings) if vectorizer is None else vectorizer
    recipe: DocumentVectorizer = clone(given).set_params(n_jobs=None)  # a worker has one thread
    check_vectorizer(recipe)
    require_names(recipe)
    return recipe


def make_budgeted(
    budget: Budget, settings: Settings, recipe: DocumentVectorizer, *, is_text: bool
) -> BudgetedSVC:
    """Return the estimator for a budget."""
    return BudgetedSVC(
        budget.memory,
        estimator=make_svm(settings, is_text=is_text),
        vectorizer=recipe,
        nonzeros_per_document=budget.nonzeros_per_document,
        by=settings.by,
        tolerance=TOLERANCE if settings.tolerance is None else settings.tolerance,
        folder=budget.folder,
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
    )


class HoldOutStream:
    """A random share of the documents of a stream, held out to test on, or all others."""

    def __init__(self, supply: DocumentStream, share: float, seed: int, *, is_test: bool) -> None:
        self._supply, self._share, self._seed, self._is_test = supply, share, seed, is_test
        self.is_text, self.is_multilabel = supply.is_text, supply.is_multilabel
        self.name, self.n_bytes, self.n_features = supply.name, supply.n_bytes, supply.n_features
        self._fingerprint: Fingerprint | None = None

    @property
    def stamps(self) -> list[Any]:
        """Fingerprint of the documents."""
        return [*self._supply.stamps, ("held out", self._share, self._seed)]

    @property
    def position(self) -> int:
        """About how many bytes have been read in this pass."""
        return self._supply.position

    def read_batches(self, batch_size: int = 1_000) -> Iterator[Texts | Vectors]:
        """Yield the documents of this share."""
        n_seen, mark = 0, Fingerprint()
        for batch in self._supply.read_batches(batch_size):
            n_rows = len(batch.labels or ())
            if self._fingerprint is None and not self._is_test:
                mark = mark.join(compute_fingerprint(batch, batch.labels or []))
            is_held = draw(self._seed + HOLD_OUT_SEED, n_seen, n_rows) < self._share
            n_seen += n_rows
            chosen = np.flatnonzero(is_held == self._is_test)
            if chosen.size:
                yield take_documents(batch, chosen)
        if self._fingerprint is None and not self._is_test:
            self._fingerprint = mark

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The fingerprint of all documents, also of the others; a run that is resumed reads them.

        That of documents to test on is not taken.
        """
        if self._fingerprint is None and not self._is_test:
            deque(self.read_batches(), maxlen=0)
        return self._fingerprint


@contextmanager
def _open_test(
    files: Files, supply: DocumentStream, settings: Settings
) -> Iterator[tuple[BatchReader | None, str | None]]:
    """Give the test documents and their name, if there are any."""
    if files.test is not None:
        with open_stream(files.test, **files.options) as test:
            yield test, test.name
    elif supply.has_test:
        with open_stream(files.paths, **files.options, part="test") as test:
            yield test, f"the test part of {supply.name}"
    elif settings.hold_out:
        yield (
            HoldOutStream(supply, settings.hold_out, settings.seed, is_test=True),
            "held-out documents",
        )
    else:
        yield None, None


def _check_test(test: BatchReader, supply: DocumentStream, settings: Settings) -> None:
    """Raise before anything is done if the test documents cannot be used."""
    if test.is_text != supply.is_text or test.is_multilabel != supply.is_multilabel:
        raise ValueError(
            f"{test.name}: the test documents must be of the kind of those in {supply.name}: texts "
            "or vectors, with one label each or several."
        )
    if isinstance(test, HoldOutStream):
        if next(test.read_batches(), None) is None:
            raise ParameterError(
                "hold_out",
                "must be large enough to hold out a document. "
                f"Got {settings.hold_out:g}, which holds out none.",
            )
        return
    for _ in test.read_batches():  # find malformed rows now, not after training
        pass


def evaluate_stream(
    model: Model,
    stream: BatchReader,
    name: str | None,
    say: Callable[[str], None] = lambda sentence: None,
) -> EvaluationRecord:
    """Evaluate a model on documents that are read in batches.

    ``say`` is called with the labels that the model does not know.
    """
    names = [str(label) for label in model.classes_.tolist()]
    unknown: Counter[str] = Counter()

    def read_batches() -> Iterator[Texts | Vectors]:
        for batch in stream.read_batches():
            unknown.update(count_unknown(batch.labels or [], names))
            yield batch

    (found,) = compare_batches(read_batches(), names, [partial(predict_batch, model)])
    if unknown:
        say(describe_unknown(unknown))
    on = name or "test documents"
    return summarize_evaluation(found, names, on, is_multilabel=model.multilabel_)


def pack_budgeted(
    svc: BudgetedSVC, origin: Origin, fingerprint: Fingerprint | None = None
) -> bytes:
    """Return the bytes of the model file.

    ``fingerprint`` is that of all documents, if some were held out.
    """
    info = _summarize_dataset(svc, fingerprint)
    provenance = describe_provenance(info, origin, svc.random_state)
    model = svc.to_model(provenance=provenance)
    return pack_model(model, "byte" if isinstance(model.input, TextInput) else "single")


def _summarize_dataset(svc: BudgetedSVC, fingerprint: Fingerprint | None) -> DatasetInfo:
    """Return the facts about the documents of a fitted model.

    ``fingerprint`` is that of all documents, if some were held out.
    """
    counts, names = svc.counts_, [str(label) for label in svc.classes_.tolist()]
    return DatasetInfo(
        names=names,
        counts=[counts.class_counts[name] for name in names],
        n_documents=counts.n_documents,
        n_features=counts.n_words,
        is_multilabel=svc.multilabel_,
        fingerprint=str(fingerprint or counts.fingerprint),
        label_type=counts.label_type,
    )


def account_for_budget(
    svc: BudgetedSVC,
    model: Model,
    judgement: EvaluationRecord | None,
    origin: Origin,
    settings: Settings,
    watch: Stopwatch,
    n_bytes: int,
    where: str = "over the disk",
    chosen: Representation | None = None,
    fingerprint: Fingerprint | None = None,
) -> RunRecord:
    """Return the record of a run; ``where`` is the place of documents trained on in rounds.

    ``chosen`` is the representation, with its trials, if it was searched. ``fingerprint`` is that
    of all documents, if some were held out.
    """
    unit = "words" if svc.is_text_ else "features"
    return make_record(
        _summarize_dataset(svc, fingerprint),
        origin,
        describe_making(origin, settings, watch),
        headline=_write_headline(svc, unit, judgement, n_bytes),
        settings=_describe(svc, settings, where),
        unit=unit,
        per_document=svc.counts_.per_document,
        n_test=None if judgement is None else judgement.n_documents,
        words=_list_words(svc, model),
        trials=[] if chosen is None else summarize_trials(chosen),
        model=ModelRecord(
            made_by="trained on everything",
            n_features=len(svc.features_),
            n_weights=svc.coef_.size,
            per_document=svc.reduced_.per_document,
            n_bytes=n_bytes,
            judgement=judgement,
        ),
    )


def _describe(svc: BudgetedSVC, settings: Settings, where: str) -> dict[str, str]:
    estimator = make_svc(svc.estimator, None, None)
    found = describe_settings(settings, estimator, is_text=svc.is_text_)
    gap = float((svc.duality_gap_ / svc.objective_).max())
    how = f"{where}, {svc.n_rounds_} rounds at most" if svc.n_rounds_ else "in memory"
    return {
        **found,
        "method": "select on what fits, train on everything",
        "memory": write_size(parse_size(svc.memory)),
        "ranked on": f"{svc.plan_.n_sampled:,} documents",
        "trained": f"{how}, relative duality gap {gap:.1e}",
    }


def _write_headline(
    svc: BudgetedSVC, unit: str, judgement: EvaluationRecord | None, n_bytes: int
) -> str:
    counts, kept = svc.counts_, len(svc.features_)
    quality = "" if judgement is None else f": macro-F1 {write_share(judgement.macro_f1)}"
    return (
        f"{kept:,} of {counts.n_words:,} {unit} ({kept / max(counts.n_words, 1):.1%}), "
        f"{svc.reduced_.per_document:.0f} of {counts.per_document:.0f} in a document, trained on "
        f"all {counts.n_documents:,}{quality}; model {write_size(n_bytes)}"
    )


def _list_words(svc: BudgetedSVC, model: Model) -> list[WordsRecord]:
    """Return the words of largest weight for each class, in the model file."""
    names = np.array(model.feature_names_, object)
    row_names = [str(label) for label in model.classes_[-len(svc.coef_) :].tolist()]
    words = []
    for name, (features, weights) in zip(row_names, group_weights(model), strict=True):
        rank = np.empty(len(weights), np.intp)
        rank[np.argsort(-np.abs(weights), kind="stable")] = np.arange(len(weights))
        words.append(WordsRecord(name, *list_strongest(weights, names[features], rank), edges=[]))
    return words
