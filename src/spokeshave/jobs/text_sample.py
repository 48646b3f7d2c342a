"""A random sample of texts that takes limited memory, on which a representation is chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.counts import draw
from spokeshave.corpus.documents import Texts
from spokeshave.errors import ParameterError
from spokeshave.utils.formatting import write_size

PER_CHARACTER = 500  # bytes that a search takes for a character of its texts, about
OF_PROCESS = 350_000_000  # bytes of a process before it searches
FEWEST_CHARACTERS = 100_000


@dataclass(frozen=True, eq=False)
class TextSample:
    """The texts whose keys, which are random, are below a limit; their labels, and the keys."""

    keys: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    texts: list[str] = field(default_factory=list)
    labels: list[Any] = field(default_factory=list)
    limit: float = 1.0

    def merge(self, other: TextSample, n_characters: int) -> TextSample:
        """Return the sample of both, of at most so many characters."""
        keys = np.concatenate([self.keys, other.keys])
        texts, labels = [*self.texts, *other.texts], [*self.labels, *other.labels]
        limit, order = min(self.limit, other.limit), np.argsort(keys, kind="stable")
        sizes = np.cumsum([len(texts[i]) for i in order])
        n_kept = int(np.searchsorted(sizes, n_characters, side="right"))
        if n_kept < order.size:
            limit = min(limit, float(keys[order[n_kept]]))
        kept = order[keys[order] < limit]
        return TextSample(keys[kept], [texts[i] for i in kept], [labels[i] for i in kept], limit)

    def to_documents(self) -> Texts:
        """Return the texts with their labels."""
        return Texts(self.texts, self.labels)


def sample_texts(batches: Iterable[Any], n_characters: int, seed: int) -> TextSample:
    """Return a random sample of the texts of all batches, of at most so many characters.

    Examples
    --------
    >>> batches = [Texts(["grey ash", "an oak"], ["ash", "oak"]), Texts(["an ash"], ["ash"])]
    >>> len(sample_texts(batches, 100, 0).texts), len(sample_texts(batches, 15, 0).texts)
    (3, 2)
    """
    sample, n_seen = TextSample(), 0
    for batch in batches:
        keys = draw(seed, n_seen, len(batch.texts))
        n_seen += len(batch.texts)
        sample = sample.merge(TextSample(keys, batch.texts, batch.labels), n_characters)
    return sample


def limit_characters(free: int, *, is_text: bool) -> int:
    """Return the characters of texts that a search can have in so much memory, or raise.

    Examples
    --------
    >>> limit_characters(2_350_000_000, is_text=True)
    4000000
    """
    if not is_text:
        raise ParameterError("effort", "must be quick for vectors that are not read whole.")
    n_characters = (free - OF_PROCESS) // PER_CHARACTER
    if n_characters < FEWEST_CHARACTERS:
        needed = write_size(OF_PROCESS + PER_CHARACTER * FEWEST_CHARACTERS)
        raise ParameterError(
            "effort",
            f"must be quick in so little memory: a search needs {needed} beside the rest. "
            f"Got {write_size(max(free, 0))}.",
        )
    return n_characters
