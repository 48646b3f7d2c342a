"""The options of a run in a given memory, and the stream of documents that it reads twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.row_batches import TextEncoder, VectorEncoder
from spokeshave.budget.working_set import Objective
from spokeshave.svm.solver import Stop
from spokeshave.text.vectorizer import DocumentVectorizer, make_analysis


class BatchReader(Protocol):
    """Documents that can be read twice, in batches."""

    @property
    def is_text(self) -> bool: ...

    @property
    def is_multilabel(self) -> bool: ...

    @property
    def name(self) -> str: ...

    @property
    def stamps(self) -> list[Any]: ...

    @property
    def n_bytes(self) -> int: ...

    @property
    def position(self) -> int: ...

    def read_batches(self, batch_size: int = ...) -> Iterator[Any]: ...


@dataclass(frozen=True)
class Request:
    """Options of a run, as in `BudgetedSVC`."""

    memory: int  # bytes the process may hold
    is_text: bool  # otherwise vectors, which keep their values
    is_multilabel: bool
    # Returns the objective, given the classes, the codes to train, and the counts.
    svm: Callable[[Any, NDArray[np.intp], CollectionCounts], Objective]
    stop: Stop
    by: str
    nonzeros_per_document: float | None
    tolerance: float
    vectorizer: DocumentVectorizer  # of texts; it is not fitted
    norm: str | None  # that rows are divided by
    seed: int
    n_jobs: int | None
    class_names: Sequence[Any] = ()  # known in advance, even if no document is of them
    has_prior: bool = False  # of the weights, by Bi-Normal Separation
    n_given: int = 0  # bytes of documents that are in memory already

    @property
    def n_threads(self) -> int:
        """Number of threads."""
        return int(effective_n_jobs(self.n_jobs))

    @property
    def has_values(self) -> bool:
        """Whether features have values, or are only present or absent."""
        return not self.is_text or self.vectorizer.weighting != "binary"

    @property
    def has_ngrams(self) -> bool:
        """Whether features are n-grams of words or characters."""
        analysis = make_analysis(self.vectorizer)
        return self.is_text and not analysis.is_plain and not callable(analysis.analyzer)

    @property
    def encoder(self) -> TextEncoder | VectorEncoder:
        """The encoder of documents as rows."""
        if not self.is_text:
            return VectorEncoder()
        return TextEncoder(self.vectorizer)
