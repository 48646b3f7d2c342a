"""What is asked of a run, and where its documents come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spokeshave.curves.cuts import PAPER_FRACTIONS


@dataclass(frozen=True)
class Settings:
    """What is asked of a run.

    Attributes
    ----------
    methods : tuple of str
        How features are cut; the choice is made from the curve of the first.
    by : str
        What they are ranked by.
    cuts : sequence of float or int, or "log"
        The cuts.
    against : {"features", "sparsity"}
        What they are numbers of.
    C : float or "auto"
        The cost of a training error, or that it be chosen by cross-validation.
    loss : {"hinge", "squared_hinge"}
        What an error costs.
    measure, average : str
        What the choice looks at.
    tolerance : float or None
        How much less than the best will do; one standard error where it is None.
    hold_out : float
        The share of documents to test on, where there are no test documents.
    weighting : {"binary", "counts", "tfidf"}
        The value of a word in a document.
    min_df : int
        Fewest documents that a word may be in.
    with_stability : bool
        Whether to compare masked and retrained models.
    n_jobs : int
        Threads.
    seed : int
        Seed of everything.
    """

    methods: tuple[str, ...] = ("mask",)
    by: str = "normal"
    cuts: Any = PAPER_FRACTIONS
    against: str = "features"
    C: float | str = 1.0
    loss: str = "hinge"
    measure: str = "best_f1"
    average: str = "macro"
    tolerance: float | None = None
    hold_out: float = 0.0
    weighting: str = "binary"
    min_df: int = 2
    with_stability: bool = False
    n_jobs: int = -1
    seed: int = 0


@dataclass(frozen=True)
class Budget:
    """What a run may take.

    Attributes
    ----------
    memory : int or str
        Memory of the whole process, as `BudgetedSVC` takes it.
    nonzeros_per_document : float or None
        The sparsity asked for; as many as fit where it is None.
    folder : str, Path or None
        Where temporary files go, for a run that was killed to go on from.
    """

    memory: int | str
    nonzeros_per_document: float | None = None
    folder: str | Path | None = None


@dataclass(frozen=True)
class Origin:
    """Where documents come from: names, how they were read, rows left out, and the command.

    ``text_column`` is the name of the column of texts, for a model to look for it again.
    """

    source: str
    read: str = ""
    test_source: str | None = None
    n_skipped: int = 0
    command: str = ""
    text_column: str | None = None
