"""The exercise of a run in limited memory: it calls every kernel of the run on a few documents."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from spokeshave.budget.memory import AvailableMemory
from spokeshave.budget.prior import add_prior
from spokeshave.budget.request import Request
from spokeshave.budget.run import run
from spokeshave.budget.shards import list_shards
from spokeshave.budget.working_set import Objective, Setting, train_classes
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.svm.solver import Stop
from spokeshave.text.analyzers import Analysis
from spokeshave.text.term_index import hash_terms, make_index
from spokeshave.text.terms import KnownTerms, scan_terms
from spokeshave.text.vectorizer import DocumentVectorizer
from spokeshave.utils.checkpoint import WorkFolder
from spokeshave.utils.timing import Stopwatch

N_CLASSES = 8  # two blocks of four: enough for the sweeps over several classes at once
LITTLE, MUCH = 10_000_000, 1 << 30  # bytes: the sample is thinned; it has documents to validate on


def exercise(
    *, is_text: bool, has_values: bool, has_prior: bool = False, has_ngrams: bool = False
) -> None:
    """Run every kernel on a few documents; ``has_values`` is whether rows are not binary."""
    if has_ngrams:
        exercise_ngrams()
    pose = partial(_pose, strength=1.0 if has_prior else None)
    request = Request(
        memory=1 << 50,
        is_text=is_text,
        is_multilabel=False,
        svm=pose,
        stop=Stop(0.1, 20),
        by="normal",
        nonzeros_per_document=3.0,
        tolerance=0.0,
        vectorizer=DocumentVectorizer(weighting="counts" if has_values else "binary", min_df=1),
        norm="l2",
        seed=0,
        n_jobs=1,
        has_prior=has_prior,
    )
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for free in (LITTLE, MUCH):
            work, memory = WorkFolder(Path(folder, str(free)), {}), AvailableMemory(free, 0)
            found = run(_Few(is_text), request, work, Stopwatch(), lambda sentence: None, memory)
        shards = list_shards(Path(folder, str(MUCH), "reduced"), "l2", 20)
        n_features = len(found.features)
        objective = add_prior(pose(None, np.arange(N_CLASSES), None), shards, n_features)
        setting = Setting(
            *(shards, 1000, Path(folder, "training"), n_features, Stop(1e-9, 3), 0, 1),
            lambda share: None,
        )
        train_classes(objective, setting)


def exercise_ngrams() -> None:
    """Collect n-grams of each kind from a few texts, and find them again."""
    texts = ["the old oak", "the ash", "an old ash"]
    for analysis in (
        Analysis(ngram_range=(1, 2), stop_words=frozenset({"the"})),
        Analysis(analyzer="char", ngram_range=(2, 3)),
        Analysis(analyzer="char_wb", ngram_range=(2, 3)),
    ):
        (_, table), index = scan_terms(analysis, texts), make_index(analysis)
        hash_terms(table)
        numbers = index.number(table, np.arange(3))
        index.forget(np.ones(len(index), bool))
        _, names = index.arrange(numbers.astype(np.int64))
        KnownTerms(analysis, names).find(texts)


def _pose(names: Any, codes: Any, counts: Any, strength: float | None) -> Objective:
    return Objective(np.ones((len(codes), 2)), np.zeros((len(codes), 2)), 1.0, codes, strength)


class _Few:
    """A stream of a few documents of some classes."""

    name, n_bytes, position, is_multilabel = "documents", 1, 0, False
    stamps: ClassVar[list[Any]] = []

    def __init__(self, is_text: bool) -> None:
        self.is_text = is_text

    def read_batches(self, batch_size: int = 1) -> Iterator[Any]:
        """Yield the documents in batches of 15."""
        generator = np.random.default_rng(0)
        for first in range(0, 60, 15):
            labels = [str(i % N_CLASSES) for i in range(first, first + 15)]
            if self.is_text:
                yield Texts([f"x{label} y{i} oak" for i, label in enumerate(labels)], labels)
            else:
                X = sparse.csr_matrix(generator.integers(0, 3, (15, 20)), dtype=float)
                yield Vectors(X, labels, None)
