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
    class_weight : "balanced" or None
        Whether documents of rare classes cost more, in proportion.
    effort : {"quick", "normal", "thorough"}
        How much to search for the representation and the SVM, see `choose_representation`; "quick"
        leaves these settings as they are.
    fixed : tuple of str
        The settings that the search leaves alone.
    measure : str or None
        The measure that cuts are compared by; None for the macro-F1 of predicted labels, or the
        best F1 of each class if documents have several labels.
    average : str
        The average of the measure over classes.
    tolerance : float or None
        The accepted loss against the best cut; None for one standard error.
    hold_out : float
        The share of documents to hold out for testing, without test documents.
    n_folds : int
        Number of folds of the cross-validation.
    analyzer : {"word", "char", "char_wb", "word+char_wb"}
        Whether terms are words or characters.
    ngram_range : tuple of two int
        Smallest and largest number of words or characters of a term.
    weighting : {"binary", "counts", "tfidf", "sublinear", "auto"}
        Value of a term in a document; "sublinear" is tf-idf with the logarithm of counts. "auto"
        for "sublinear" with texts and "counts" with vectors, which leaves their values as they are.
    min_df, max_df : int or float
        Smallest and largest document frequency of a term.
    max_features : int or None
        The number of terms to keep, the most frequent ones.
    stop_words : "english" or None
        Words to ignore.
    strip_markup : bool
        Whether to remove tags and decode entities.
    shared_words : bool
        Whether all classes keep the same terms, instead of each its own.
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
    class_weight: str | None = None
    effort: str = "quick"
    fixed: tuple[str, ...] = ()
    measure: str | None = None
    average: str = "macro"
    tolerance: float | None = None
    hold_out: float = 0.0
    n_folds: int = 5
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    weighting: str = "auto"
    min_df: float = 2
    max_df: float = 1.0
    max_features: int | None = None
    stop_words: str | None = None
    strip_markup: bool = True
    shared_words: bool = False
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

    def find_weighting(self, *, is_text: bool) -> str:
        """Return the weighting of texts, or of vectors.

        Examples
        --------
        >>> Settings().find_weighting(is_text=True), Settings().find_weighting(is_text=False)
        ('sublinear', 'counts')
        """
        if self.weighting != "auto":
            return self.weighting
        return "sublinear" if is_text else "counts"


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
