"""The settings of a run, its memory budget, and the origin of its documents."""

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
        The methods of the curves; the cut is chosen from the curve of the first.
    by : str
        The ranking criterion.
    cuts : sequence of float or int, or "log"
        The cuts.
    against : {"features", "sparsity"}
        The unit of the cuts.
    C : float or "auto"
        The cost of a training error, or "auto" to choose it by cross-validation.
    loss : {"hinge", "squared_hinge"}
        The loss of the SVM.
    prior : "bns", "auto" or None
        The prior of the weights; "auto" for "bns" with texts and none with vectors, as Bi-Normal
        Separation is of features that most documents lack.
    prior_strength : float
        The strength of the prior.
    measure : str or None
        The measure that cuts are compared by; None for the macro-F1 of predicted labels, or the
        best F1 of each class if documents have several labels.
    average : str
        The average of the measure over classes.
    tolerance : float or None
        The accepted loss against the best cut; None for one standard error.
    hold_out : float
        The share of documents to hold out for testing, without test documents.
    weighting : {"binary", "counts", "tfidf"}
        Value of a word in a document.
    min_df : int
        Minimum document frequency of a word.
    with_stability : bool
        Whether to compare masked and retrained models.
    n_jobs : int
        Number of threads.
    seed : int
        Seed of every random choice.
    """

    methods: tuple[str, ...] = ("mask",)
    by: str = "normal"
    cuts: Any = PAPER_FRACTIONS
    against: str = "features"
    C: float | str = 1.0
    loss: str = "squared_hinge"
    prior: str | None = "auto"
    prior_strength: float = 0.5
    measure: str | None = None
    average: str = "macro"
    tolerance: float | None = None
    hold_out: float = 0.0
    weighting: str = "tfidf"
    min_df: int = 2
    with_stability: bool = False
    n_jobs: int = -1
    seed: int = 0

    def find_prior(self, *, is_text: bool) -> str | None:
        """Return the prior for texts, or for vectors.

        Examples
        --------
        >>> Settings().find_prior(is_text=True), Settings().find_prior(is_text=False)
        ('bns', None)
        """
        if self.prior != "auto":
            return self.prior
        return "bns" if is_text else None


@dataclass(frozen=True)
class Budget:
    """The memory budget of a run.

    Attributes
    ----------
    memory : int or str
        Memory of the whole process, as in `BudgetedSVC`.
    nonzeros_per_document : float or None
        The target sparsity; None for as many nonzeros as fit.
    folder : str, Path or None
        Folder of temporary files, from which a killed run can resume.
    """

    memory: int | str
    nonzeros_per_document: float | None = None
    folder: str | Path | None = None


@dataclass(frozen=True)
class Origin:
    """The origin of documents: source, reader, test source, skipped rows, and the command.

    ``text_column`` is the name of the column of texts, which a model looks for in new tables.
    """

    source: str
    read: str = ""
    test_source: str | None = None
    n_skipped: int = 0
    command: str = ""
    text_column: str | None = None
