"""The words of a sample, each with a number of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.store import number_features
from spokeshave.kernels.tokens import Words, absorb, empty_words, join_tokens, scan
from spokeshave.text.encoding import decode_words, make_alphabet

FEWEST = 1 << 12  # words that there is room for in any case


class Lexicon:
    """Words that are numbered as they come, and can be forgotten.

    Examples
    --------
    >>> lexicon = Lexicon()
    >>> lexicon.number(make_words(["oak", "ash", "yew"]), np.array([2, 0])).tolist()
    [0, 1]
    >>> lexicon.spell(np.array([1, 0]))
    ['oak', 'yew']
    """

    def __init__(self) -> None:
        self._words = empty_words()

    def __len__(self) -> int:
        return int(self._words.size[0])

    @property
    def n_bytes(self) -> int:
        """How much memory the words take, and half as much again while there are more and more.

        It depends on the words alone, and not on how they came: letters, where each ends, and a
        hash table of four places for each, which grows by doubling.
        """
        n_letters = int(self._words.ends[len(self)])
        capacity = max(FEWEST, 1 << (len(self) - 1).bit_length())
        return int(1.5 * (2 * n_letters + capacity * (8 + 4 * (8 + 4))))

    def number(self, words: Words, tokens: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers here of some words of another vocabulary, new ones where needed."""
        letters = join_tokens(words, tokens)
        ids, self._words = absorb(self._words, _read_words(letters), make_alphabet())
        return np.asarray(ids)

    def forget(self, used: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """Forget the words that are not used; return the new number of each word."""
        kept = np.flatnonzero(used)
        self._words = _read_words(join_tokens(self._words, kept))
        return number_features(kept, used.size)

    def close(self) -> None:
        """Give up the table that words are found by: no more of them will be numbered."""
        keys, slots = self._words.keys[:0], self._words.slots[:0]
        self._words = self._words._replace(keys=keys.copy(), slots=slots.copy())

    def spell(self, numbers: NDArray[Any]) -> list[str]:
        """Return the words of some numbers."""
        return decode_words(self._words, numbers)

    def save(self, path: Path) -> None:
        """Write the words to a file, in the order of their numbers."""
        path.write_bytes(join_tokens(self._words, np.arange(len(self))).tobytes())

    def load(self, path: Path) -> None:
        """Read what was saved."""
        self._words = _read_words(np.fromfile(path, np.uint8))


def make_words(names: list[str]) -> Words:
    """Return a vocabulary of words, numbered in the order given."""
    joined = "".join(f"{name}\n" for name in names).encode("utf-8")
    return _read_words(np.frombuffer(joined, np.uint8))


def _read_words(letters: NDArray[np.uint8]) -> Words:
    ends = np.array([letters.size])
    words: Words = scan(letters, ends, make_alphabet(), empty_words())[-1]
    return words
