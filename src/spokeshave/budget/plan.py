"""The plan of a run, made after the first pass, and the cut, made after ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.memory import DUAL, AvailableMemory, Costs
from spokeshave.budget.sample import Sample
from spokeshave.utils.formatting import write_size

PACKED = 24  # bytes of a weight: trained, in the model, in the file, and read back from it
WORD = 100  # bytes of a term in a vocabulary: its letters, or its place in a trie, and its slots


@dataclass(frozen=True)
class Plan:
    """What the first pass says about the run."""

    n_documents: int
    n_words: int  # an estimate
    n_nonzeros: int
    matrix_bytes: int  # of the whole matrix, as `DocumentVectorizer` makes it
    memory: int  # the budget
    free: int  # the part of it left for documents and weights
    n_sampled: int  # documents that features are ranked on
    fits_at: float  # nonzeros per document with which everything fits in memory; 0 if it never does
    fits_whole: bool  # whether everything fits with all its words

    @property
    def per_document(self) -> float:
        """Mean number of nonzeros per document."""
        return self.n_nonzeros / max(self.n_documents, 1)

    def __str__(self) -> str:
        return self.describe()

    def describe(self, elsewhere: str = "over the disk") -> str:
        """Describe the plan; ``elsewhere`` says where training goes if memory is too small."""
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


def make_plan(
    counts: CollectionCounts, sample: Sample, memory: AvailableMemory, costs: Costs
) -> Plan:
    """Return the plan for a collection that has been counted.

    The kept features are not known yet. The plan assumes the most frequent ones, which is an upper
    bound on nonzeros per document.
    """
    rates = np.sort(sample.count())[::-1] / max(len(sample), 1)
    per_document = np.cumsum(rates[rates > 0])
    n_fitting = count_fitting(per_document, counts.n_documents, memory, costs)
    return Plan(
        n_documents=counts.n_documents,
        n_words=counts.n_words,
        n_nonzeros=counts.n_nonzeros,
        matrix_bytes=12 * counts.n_nonzeros + 8 * counts.n_documents,
        memory=memory.budget,
        free=memory.free,
        n_sampled=len(sample),
        fits_at=float(per_document[n_fitting - 1]) if n_fitting else 0.0,
        fits_whole=sample.is_whole and n_fitting == per_document.size,
    )


@dataclass(frozen=True)
class Cut:
    """How many features are kept, and what follows from that."""

    n_features: int  # kept, of the ranked ones
    n_ranked: int  # features of the sample with a weight, after pruning
    n_rare: int  # pruned for being in too few documents of the sample
    n_frequent: int  # pruned for being in too many
    per_document: float  # expected mean nonzeros per document
    needed: int  # to do as well as all in validation, if fewer fit; 0 if not measured
    n_bytes: int  # expected of the documents on disk
    in_memory: bool  # whether the documents are expected to fit

    def __str__(self) -> str:
        return self.describe()

    def describe(self, elsewhere: str = "over the disk") -> str:
        """Describe the cut; ``elsewhere`` says where training goes if memory is too small."""
        where = "in memory" if self.in_memory else f"{elsewhere}, in rounds"
        pruned = self.n_rare + self.n_frequent
        return (
            f"{self.n_features:,} of {self.n_ranked:,} words are kept ({pruned:,} were pruned "
            f"before), {self.per_document:.1f} in a document: {write_size(self.n_bytes)}, "
            f"to be trained on {where}"
        )


def measure_disk(cut: Cut, n_documents: int, costs: Costs) -> int:
    """Return the bytes that will be on disk: documents, and duals if training is in rounds."""
    return cut.n_bytes + (0 if cut.in_memory else costs.n_busy * DUAL * n_documents)


def count_fitting(
    per_document: NDArray[np.float64], n_documents: int, memory: AvailableMemory, costs: Costs
) -> int:
    """Return the number of top-ranked features with which all documents fit in memory.

    ``per_document`` holds the expected mean nonzeros per document of the first feature, of the
    first two, and so on.

    Examples
    --------
    >>> per_document = np.array([1.0, 1.5, 1.6])
    >>> count_fitting(per_document, 1000, AvailableMemory(190_000, 100_000), Costs(1, 1, False))
    3
    """
    n_kept = np.arange(1, len(per_document) + 1)
    size = n_documents * (costs.row + per_document * costs.cell) + n_kept * (costs.feature + WORD)
    n_fitting = int(np.searchsorted(size, memory.free, side="right"))
    return min(n_fitting, _count_packable(memory, costs))


def count_affordable(n_ranked: int, memory: AvailableMemory, costs: Costs) -> int:
    """Return the most features that can be kept if documents are on disk.

    Weights and words take at most half the memory; the other half is for documents.
    """
    most = min(memory.free // (2 * (costs.feature + WORD)), _count_packable(memory, costs))
    return max(1, min(n_ranked, most))


def _count_packable(memory: AvailableMemory, costs: Costs) -> int:
    """Return the most features with which a model file can be made in memory."""
    return max(0, memory.free) // measure_packed(1, costs.n_rows)


def measure_packed(n_features: int, n_weights: int) -> int:
    """Return the bytes that a model and its file take."""
    return PACKED * n_weights + 2 * WORD * n_features
