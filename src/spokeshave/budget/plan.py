"""What a run is going to do, found out before it does it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.costs import DUAL, Costs
from spokeshave.budget.room import Room
from spokeshave.budget.sample import Sample
from spokeshave.budget.survey import Survey
from spokeshave.utils.formatting import write_size

PACKED = 24  # bytes of a weight, of it in a model, of that in a file, and of what is read from it
WORD = 100  # bytes of a word in a vocabulary, its letters and its place in a hash table


@dataclass(frozen=True)
class Plan:
    """What the survey says is going to happen.

    Attributes
    ----------
    n_documents, n_words, n_nonzeros : int
        Of the whole collection; the words are an estimate.
    matrix_bytes : int
        What the whole matrix would take, as `DocumentVectorizer` makes it.
    memory, free : int
        The budget, and what is left of it for documents and weights.
    n_sampled : int
        Documents in the subset that features are ranked on.
    fits_at : float
        The mean number of nonzeros per document at which the whole collection fits in memory, 0
        where it never does.
    fits_whole : bool
        Whether it does so with all its words.
    """

    n_documents: int
    n_words: int
    n_nonzeros: int
    matrix_bytes: int
    memory: int
    free: int
    n_sampled: int
    fits_at: float
    fits_whole: bool

    @property
    def per_document(self) -> float:
        """Mean number of nonzeros per document."""
        return self.n_nonzeros / max(self.n_documents, 1)

    def __str__(self) -> str:
        return self.describe()

    def describe(self, elsewhere: str = "over the disk") -> str:
        """Say what is going to happen; ``elsewhere`` is what training goes over without memory."""
        size = self.matrix_bytes / self.memory
        lines = [
            f"{self.n_documents:,} documents, about {self.n_words:,} words, "
            f"{self.per_document:.0f} of them in a document: a matrix of "
            f"{write_size(self.matrix_bytes)}, {size:.2g} times the budget of "
            f"{write_size(self.memory)}",
        ]
        if self.fits_whole:
            lines.append("it fits in memory in a smaller form: no feature has to go")
        else:
            lines.append(f"features are ranked on {self.n_sampled:,} documents drawn at random")
            lines.append(
                f"everything fits in memory at {self.fits_at:.0f} nonzeros per document or so"
                if self.fits_at >= 1
                else f"everything does not fit in memory: training goes {elsewhere}"
            )
        return "; ".join(lines)


def make_plan(survey: Survey, sample: Sample, room: Room, costs: Costs) -> Plan:
    """Return the plan for a collection that has been surveyed.

    Which features will be kept is not known yet. If it were the most frequent ones, documents
    would have this many of them at most.
    """
    rates = np.sort(sample.count())[::-1] / max(len(sample), 1)
    per_document = np.cumsum(rates[rates > 0])
    n_fitting = count_fitting(per_document, survey.n_documents, room, costs)
    return Plan(
        n_documents=survey.n_documents,
        n_words=survey.n_words,
        n_nonzeros=survey.n_nonzeros,
        matrix_bytes=12 * survey.n_nonzeros + 8 * survey.n_documents,
        memory=room.memory,
        free=room.free,
        n_sampled=len(sample),
        fits_at=float(per_document[n_fitting - 1]) if n_fitting else 0.0,
        fits_whole=sample.is_whole and n_fitting == per_document.size,
    )


@dataclass(frozen=True)
class Cut:
    """How many features are kept, and what follows from it.

    Attributes
    ----------
    n_features : int
        Features kept, of those that are ranked.
    n_ranked : int
        Features with a weight, among those of the subset that are not pruned.
    n_rare, n_frequent : int
        Features of the subset that were pruned first: of too few documents, and of too many.
    per_document : float
        Mean nonzeros per document that are expected.
    needed : int
        Features that do as well as all, judged on documents of the subset that nothing was trained
        on, where fewer would fit; 0 where that was not asked.
    n_bytes : int
        What the documents are expected to take on the disk.
    in_memory : bool
        Whether they are expected to fit in memory.
    """

    n_features: int
    n_ranked: int
    n_rare: int
    n_frequent: int
    per_document: float
    needed: int
    n_bytes: int
    in_memory: bool

    def __str__(self) -> str:
        return self.describe()

    def describe(self, elsewhere: str = "over the disk") -> str:
        """Say how much is kept; ``elsewhere`` is what training goes over without memory."""
        where = "in memory" if self.in_memory else f"{elsewhere}, in rounds"
        pruned = self.n_rare + self.n_frequent
        return (
            f"{self.n_features:,} of {self.n_ranked:,} words are kept ({pruned:,} were pruned "
            f"before), {self.per_document:.1f} in a document: {write_size(self.n_bytes)}, "
            f"to be trained on {where}"
        )


def measure_disk(cut: Cut, n_documents: int, costs: Costs) -> int:
    """Return how many bytes are going to be on the disk: documents, and duals in rounds."""
    return cut.n_bytes + (0 if cut.in_memory else costs.n_busy * DUAL * n_documents)


def count_fitting(
    per_document: NDArray[np.float64], n_documents: int, room: Room, costs: Costs
) -> int:
    """Return how many of the ranked features let all documents fit in memory.

    ``per_document`` are the mean nonzeros per document that are expected of the first feature, of
    the first two, and so on.

    Examples
    --------
    >>> per_document = np.array([1.0, 1.5, 1.6])
    >>> count_fitting(per_document, 1000, Room(190_000, 100_000), Costs(1, 1, False))
    3
    """
    n_kept = np.arange(1, len(per_document) + 1)
    size = n_documents * (costs.row + per_document * costs.cell) + n_kept * (costs.feature + WORD)
    n_fitting = int(np.searchsorted(size, room.free, side="right"))
    return min(n_fitting, _count_packable(room, costs))


def count_bearable(n_ranked: int, room: Room, costs: Costs) -> int:
    """Return how many features there may be where documents are on the disk.

    Their weights and words take half the memory at most: the other is for documents.
    """
    most = min(room.free // (2 * (costs.feature + WORD)), _count_packable(room, costs))
    return max(1, min(n_ranked, most))


def _count_packable(room: Room, costs: Costs) -> int:
    """Return how many features a model may have to be put into the form of a file."""
    return max(0, room.free) // (PACKED * costs.n_rows + 2 * WORD)
