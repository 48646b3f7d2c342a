"""The job in a given memory: from files to a model trained on all of them, and its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from spokeshave.budget.counts import draw
from spokeshave.budget.estimator import TOLERANCE, BudgetedSVC, fit_stream
from spokeshave.budget.memory import give_back
from spokeshave.budget.request import DocumentStream
from spokeshave.budget.row_batches import take_documents
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.corpus.supply import Supply, open_supply
from spokeshave.corpus.vectorizer import DocumentVectorizer
from spokeshave.jobs.dataset import make_targets
from spokeshave.jobs.fit import Finished
from spokeshave.jobs.record import (
    ClassRecord,
    Data,
    JudgementRecord,
    ModelRecord,
    RunRecord,
    WordsRecord,
)
from spokeshave.jobs.settings import Budget, Origin, Settings
from spokeshave.jobs.summary import (
    describe_making,
    describe_settings,
    judge_agreement,
    list_strongest,
)
from spokeshave.metrics import Agreement, compare
from spokeshave.model.file import pack_model, unpack_model
from spokeshave.model.model import Model
from spokeshave.svm.estimator import DualLinearSVC, make_svc
from spokeshave.utils.formatting import parse_size, write_share, write_size
from spokeshave.utils.timing import Stopwatch
from spokeshave.utils.versions import list_versions

HOLD_OUT_SEED = 2  # added to the seed: samples use the seed itself and the next


@dataclass(frozen=True)
class Files:
    """Files to train and to test on, and options of `open_supply` to read them."""

    paths: str | Path | Sequence[str | Path]
    test: str | Path | None = None
    options: dict[str, Any] = field(default_factory=dict)


def list_budget_steps(settings: Settings, *, has_test: bool) -> dict[str, float]:
    """Return the steps of the job, each with a guess of its share of the time."""
    steps = {"counting": 5.0, "ranking": 3.0, "reducing": 4.0, "training": 5.0}
    return {**steps, "judging it": 1.0} if has_test or settings.hold_out else steps


def run_budgeted(
    files: Files,
    budget: Budget,
    *,
    settings: Settings | None = None,
    command: str = "",
    stopwatch: Stopwatch | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> Finished:
    """Train on files in a given memory, and evaluate on test documents if there are any.

    Parameters
    ----------
    files : Files
        The documents.
    budget : Budget
        The memory, and the sparsity if one is asked for.
    settings : Settings, optional
        Options of the job; those of curves and cuts are ignored.
    command : str
        The command, for the record.
    stopwatch : Stopwatch, optional
        Times the steps, and receives their progress.
    say : callable
        Called with the plan and the guesses made, sentence by sentence.

    Returns
    -------
    finished : Finished
    """
    settings, watch = settings or Settings(), stopwatch or Stopwatch()
    with (
        open_supply(files.paths, **files.options) as supply,
        _open_test(files, supply, settings) as (test, name),
    ):
        if test is not None:
            _check_test(test, supply, settings)
        for guess in supply.guesses:
            say(f"{supply.name}: {guess}")
        stream: DocumentStream = supply
        if isinstance(test, HoldOutStream):
            stream = HoldOutStream(supply, settings.hold_out, settings.seed, is_test=False)
        svc = make_budgeted(budget, settings)
        fit_stream(svc, stream, watch, say)
        watch.end()
        if supply.skipped:
            say(f"{supply.skipped:,} malformed rows were left out of {supply.name}")
        column = supply.text if isinstance(supply.text, str) else None
        origin = Origin(supply.name, supply.read, name, supply.skipped, command, column)
        give_back()
        content = pack_budgeted(svc, origin)
        model = unpack_model(content)  # the model evaluated is the one in the file
        judgement = None
        if test is not None:
            watch.begin("judging it")
            judgement = judge_stream(model, test, name)
            watch.end()
    record = account_for_budget(svc, model, judgement, origin, settings, watch, len(content))
    return Finished(model, content, record)


def make_budgeted(budget: Budget, settings: Settings) -> BudgetedSVC:
    """Return the estimator for a budget."""
    return BudgetedSVC(
        budget.memory,
        estimator=DualLinearSVC(C=float(settings.C), loss=settings.loss),
        vectorizer=DocumentVectorizer(weighting=settings.weighting, min_df=settings.min_df),
        nonzeros_per_document=budget.nonzeros_per_document,
        by=settings.by,
        tolerance=TOLERANCE if settings.tolerance is None else settings.tolerance,
        folder=budget.folder,
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
    )


class HoldOutStream:
    """A random share of the documents of a stream, held out to test on, or all others."""

    def __init__(self, supply: Supply, share: float, seed: int, *, is_test: bool) -> None:
        self._supply, self._share, self._seed, self._is_test = supply, share, seed, is_test
        self.is_text, self.is_multilabel = supply.is_text, supply.is_multilabel
        self.name, self.n_bytes, self.n_features = supply.name, supply.n_bytes, supply.n_features

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
        n_seen = 0
        for batch in self._supply.read_batches(batch_size):
            n_rows = len(batch.labels or ())
            is_held = draw(self._seed + HOLD_OUT_SEED, n_seen, n_rows) < self._share
            n_seen += n_rows
            chosen = np.flatnonzero(is_held == self._is_test)
            if chosen.size:
                yield take_documents(batch, chosen)


@contextmanager
def _open_test(
    files: Files, supply: Supply, settings: Settings
) -> Iterator[tuple[DocumentStream | None, str | None]]:
    """Give the test documents and their name, if there are any."""
    if files.test is not None:
        with open_supply(files.test, **files.options) as test:
            yield test, test.name
    elif supply.has_test:
        with open_supply(files.paths, **files.options, part="test") as test:
            yield test, f"the test part of {supply.name}"
    elif settings.hold_out:
        held_out = HoldOutStream(supply, settings.hold_out, settings.seed, is_test=True)
        yield held_out, "held-out documents"
    else:
        yield None, None


def _check_test(test: DocumentStream, supply: Supply, settings: Settings) -> None:
    """Raise before anything is done if the test documents cannot be used."""
    if test.is_text != supply.is_text or test.is_multilabel != supply.is_multilabel:
        raise ValueError(
            f"{test.name}: the test documents must be of the kind of those in {supply.name}: texts "
            "or vectors, with one label each or several."
        )
    if isinstance(test, HoldOutStream):
        if next(test.read_batches(), None) is None:
            raise ValueError(
                f"hold_out must hold out a document at least. Got {settings.hold_out:g}; raise it."
            )
        return
    for _ in test.read_batches():  # find malformed rows now, not after training
        pass


def judge_stream(model: Model, stream: DocumentStream, name: str | None) -> JudgementRecord:
    """Evaluate a model on documents that are read in batches."""
    names: list[str] = model.classes_.tolist()
    batches = (compare_batch(model, batch, names) for batch in stream.read_batches())
    found, is_multilabel = reduce(Agreement.merge, batches), stream.is_multilabel
    return judge_agreement(found, names, name or "test documents", is_multilabel=is_multilabel)


def compare_batch(model: Model, batch: Any, names: list[str]) -> Agreement:
    """Compare the predictions for a batch of documents with its labels."""
    if isinstance(batch, Texts):
        documents = batch.texts
    else:  # a batch may lack the last columns
        documents = batch.X
        documents.resize((batch.X.shape[0], model.input.n_features))  # type: ignore[union-attr]
    return compare(make_targets(batch.labels or (), names), model.predict(documents), names)


def pack_budgeted(svc: BudgetedSVC, origin: Origin) -> bytes:
    """Return the bytes of the model file."""
    provenance = {
        "source": origin.source,
        "text_column": origin.text_column,
        "fingerprint": f"{svc.checksum_:016x}",
        "n_documents": svc.counts_.n_documents,
        "command": origin.command,
        "seed": svc.random_state,
        "versions": list_versions(),
    }
    return pack_model(svc.to_model(provenance=provenance))


def account_for_budget(
    svc: BudgetedSVC,
    model: Model,
    judgement: JudgementRecord | None,
    origin: Origin,
    settings: Settings,
    watch: Stopwatch,
    n_bytes: int,
    where: str = "over the disk",
) -> RunRecord:
    """Return the record of a run; ``where`` says where documents are if trained on in rounds."""
    counts, names = svc.counts_, model.classes_.tolist()
    unit = "words" if svc.is_text_ else "features"
    sizes = [counts.class_counts[name] for name in names]
    return RunRecord(
        title=origin.source,
        headline=_write_headline(svc, unit, judgement, n_bytes),
        making=describe_making(origin, settings, watch),
        data=Data(
            source=origin.source,
            read=origin.read,
            fingerprint=f"{svc.checksum_:016x}",
            kind="multilabel" if svc.multilabel_ else "labels",
            unit=unit,
            n_documents=counts.n_documents,
            n_features=counts.n_words,
            per_document=counts.per_document,
            n_skipped=origin.n_skipped,
            test_source=origin.test_source,
            n_test=None if judgement is None else judgement.n_documents,
        ),
        settings=_describe(svc, settings, where),
        classes=[ClassRecord(*pair) for pair in zip(names, sizes, strict=True)],
        curves=[],
        cuts=None,
        choice=None,
        words=_list_words(svc, model),
        model=ModelRecord(
            made_by="trained on everything",
            n_features=len(svc.features_),
            n_weights=svc.coef_.size,
            per_document=svc.reduced_.per_document,
            n_bytes=n_bytes,
            judgement=judgement,
        ),
        full_model=None,
        shapes=[],
        stability=None,
    )


def _describe(svc: BudgetedSVC, settings: Settings, where: str) -> dict[str, str]:
    found = describe_settings(settings, make_svc(svc.estimator, None, None))
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
    svc: BudgetedSVC, unit: str, judgement: JudgementRecord | None, n_bytes: int
) -> str:
    counts, kept = svc.counts_, len(svc.features_)
    quality = "" if judgement is None else f": macro-F1 {write_share(judgement.macro_f1)}"
    return (
        f"{kept:,} of {counts.n_words:,} {unit} ({kept / max(counts.n_words, 1):.1%}), "
        f"{svc.reduced_.per_document:.0f} of {counts.per_document:.0f} in a document, trained on "
        f"all {counts.n_documents:,}{quality}; model {write_size(n_bytes)}"
    )


def _list_words(svc: BudgetedSVC, model: Model) -> list[WordsRecord]:
    """Return the strongest words of each class."""
    names = np.array(model.feature_names_, object)
    row_names = model.classes_[-len(svc.coef_) :].tolist()
    return [
        WordsRecord(name, *list_strongest(weights, names), edges=[])
        for name, weights in zip(row_names, svc.coef_, strict=True)
    ]
