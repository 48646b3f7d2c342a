"""What is asked of a run: the documents, what is to become of them, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from spokeshave.budget.rounds import Objective
from spokeshave.budget.survey import Survey
from spokeshave.svm.solver import Stop


class Feed(Protocol):
    """Documents that can be read twice, a few at a time."""

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
    """What is asked of a run.

    Attributes
    ----------
    memory : int
        Bytes the process may hold.
    svm : callable
        Gives the objective, from the classes, whether they exclude each other, and their counts.
    stop : Stop
        When training stops.
    by : str
        What features are ranked by.
    nonzeros_per_document : float or None
        The sparsity that is asked for; None for what fits.
    tolerance : float
        How much less than the best macro-averaged F1 fewer features may give, where more do not
        fit.
    weighting, norm, min_df, max_df, stop_words, strip_markup
        As in `DocumentVectorizer`; vectors have values of their own.
    seed : int
        Seed of everything.
    n_jobs : int or None
        Threads.
    class_names : sequence
        Classes there are even if no document is of them.
    """

    memory: int
    svm: Callable[[Any, NDArray[np.intp], Survey], Objective]
    stop: Stop
    by: str
    nonzeros_per_document: float | None
    tolerance: float
    weighting: str
    norm: str | None
    min_df: float
    max_df: float
    stop_words: frozenset[str]
    strip_markup: bool
    seed: int
    n_jobs: int | None
    class_names: Sequence[Any] = ()

    @property
    def n_threads(self) -> int:
        """How many threads there are."""
        return int(effective_n_jobs(self.n_jobs))

    def has_values(self, feed: Feed) -> bool:
        """Whether the features of documents have values, or are only there or not."""
        return not feed.is_text or self.weighting != "binary"


class Reporter:
    """Is told of the plan, and how far a stage has come; this one listens and does nothing."""

    def say(self, sentence: str) -> None:
        """Take note of what is going to happen."""

    def begin(self, stage: str) -> None:
        """Take note that a stage begins."""

    def reach(self, share: float) -> None:
        """Take note of the share of the stage that is done."""
