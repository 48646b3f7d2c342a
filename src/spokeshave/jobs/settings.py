"""The settings of a run, its budget, and the origin of its documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spokeshave.curves.cuts import PAPER_FRACTIONS


@dataclass(frozen=True)
class Settings:
    """The settings of a run.

    Attributes
    ----------
    methods : tuple of str
        Methods to trace the curve by; the cut is chosen on the curve of the first.
    by : str
        Criterion that ranks the features.
    cuts : sequence of float or int, or "log"
        The cuts.
    against : {"features", "sparsity"}
        Unit of the cuts: features, or nonzeros per document.
    C : float or "auto"
        Cost of a training error; "auto" chooses it by cross-validation.
    loss : {"hinge", "squared_hinge"}
        Loss of the SVM.
    measure, average : str
        Measure and average that the cut is chosen by.
    tolerance : float or None
        Accepted loss of quality against the best cut; None is one standard error.
    hold_out : float
        Share of the documents to hold out, if there are no test documents.
    weighting : {"binary", "counts", "tfidf"}
        Value of a word in a document.
    min_df : int
        Words in fewer documents than this are ignored.
    with_stability : bool
        Whether to compare masked and retrained models.
    n_jobs : int
        Number of threads.
    seed : int
        Random seed.
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
    """The limits of a run.

    Attributes
    ----------
    memory : int or str
        Memory limit of the whole process, in the form that `BudgetedSVC` accepts.
    nonzeros_per_document : float or None
        Mean number of features that a document keeps; None is as many as fit.
    folder : str, Path or None
        Folder of temporary files, from which a killed run resumes.
    """

    memory: int | str
    nonzeros_per_document: float | None = None
    folder: str | Path | None = None


@dataclass(frozen=True)
class Origin:
    """The origin of the documents: names, format, skipped rows, and the command.

    ``text_column`` is the column of the texts, which a model looks for in new documents.
    """

    source: str
    read: str = ""
    test_source: str | None = None
    n_skipped: int = 0
    command: str = ""
    text_column: str | None = None
