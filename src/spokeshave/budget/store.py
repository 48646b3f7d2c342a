"""Sampled documents in memory: their rows, and the words that number their features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.budget.row_batches import Batch
from spokeshave.kernels.rows import DROPPED, count_features, drop_features, keep_rows
from spokeshave.kernels.tokens import Words, absorb, empty_words, join_tokens, scan
from spokeshave.text.alphabet import decode_words, make_alphabet, make_name_alphabet

PIECE = 1 << 20  # cells that are multiplied at a time
FEWEST_WORDS = 1 << 12  # capacity of the smallest word table


class Store:
    """Rows that grow at the end, with or without values.

    Address space is reserved for ``capacity`` cells, and memory is taken as it fills. Beyond the
    capacity arrays are copied.

    Examples
    --------
    >>> store = Store(100, has_values=False)
    >>> batch = Batch(np.array([0, 1, 3]), np.array([4, 0, 2]), None, np.arange(3), np.zeros(2))
    >>> store.add(batch, keys=np.array([0.4, 0.7]))
    >>> store.keep(np.array([False, True]))
    >>> len(store), store.indices.tolist()
    (1, [0, 2])
    """

    def __init__(self, capacity: int, *, has_values: bool) -> None:
        self._indptr, self._code_ends = Growing(np.uint64), Growing(np.uint64)
        self._indices, self._codes = Growing(np.uint32, capacity), Growing(np.int32)
        self._keys = Growing(np.float64)
        self._values = Growing(np.float32, capacity) if has_values else None
        for ends in (self._indptr, self._code_ends):
            ends.extend([0])

    def __len__(self) -> int:
        return self._indptr.size - 1

    @property
    def indptr(self) -> NDArray[np.uint64]:
        return self._indptr.filled

    @property
    def indices(self) -> NDArray[np.uint32]:
        return self._indices.filled

    @property
    def values(self) -> NDArray[np.float32] | None:
        return None if self._values is None else self._values.filled

    @property
    def n_nonzeros(self) -> int:
        """Number of cells."""
        return self._indices.size

    @property
    def keys(self) -> NDArray[np.float64]:
        """Random keys of the rows."""
        return self._keys.filled

    def add(self, batch: Batch, keys: NDArray[np.float64]) -> None:
        """Append rows."""
        self._keys.extend(keys)
        self._indptr.extend(batch.indptr[1:] + self.indptr[-1])
        self._indices.extend(batch.features)
        if self._values is not None:
            self._values.extend(batch.values)
        self._code_ends.extend(batch.code_ends[1:] + self._code_ends.filled[-1])
        self._codes.extend(batch.codes)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop all other rows, in place."""
        keys = self.keys[kept]
        self._keys.filled[: keys.size] = keys
        keep_rows(self._code_ends.filled, self._codes.filled, None, kept)
        n_rows = int(keep_rows(self.indptr, self.indices, self.values, kept))
        self._keys.shorten(n_rows)
        self._indptr.shorten(n_rows + 1)
        self._code_ends.shorten(n_rows + 1)
        self._codes.shorten(int(self._code_ends.filled[-1]))
        self._shorten_cells()

    def renumber(self, number: NDArray[np.uint32]) -> None:
        """Give every feature its new number, and drop features without one."""
        drop_features(self.indptr, self.indices, self.values, number)
        self._shorten_cells()

    def multiply(self, factors: NDArray[np.float32]) -> None:
        """Multiply the values of each feature by its factor."""
        assert self.values is not None
        for first in range(0, self.n_nonzeros, PIECE):
            piece = slice(first, first + PIECE)
            self.values[piece] *= factors[self.indices[piece]]

    def count(self, frequency: NDArray[np.int64]) -> None:
        """Add the number of rows with each feature to ``frequency``."""
        count_features(self.indices, frequency)

    def indicate(self, n_classes: int) -> sparse.csr_matrix:
        """Return the classes of each row as an indicator matrix."""
        ones = np.ones(self._codes.size, np.int8)
        shape = len(self), n_classes
        indptr = self._code_ends.filled.astype(np.int64)
        return sparse.csr_matrix((ones, self._codes.filled, indptr), shape=shape)

    def save(self, folder: Path, name: str) -> None:
        """Write all arrays to files in a folder."""
        for kind, array in self._arrays.items():
            with (folder / f"{name}.{kind}").open("xb") as file:
                file.write(array.filled.data)

    def load(self, folder: Path, name: str) -> None:
        """Read saved arrays into an empty store."""
        for kind, array in self._arrays.items():
            array.load(folder / f"{name}.{kind}")

    @property
    def _arrays(self) -> dict[str, Growing]:
        arrays = {"indptr": self._indptr, "indices": self._indices, "keys": self._keys}
        arrays |= {"code_ends": self._code_ends, "codes": self._codes}
        return arrays if self._values is None else {**arrays, "values": self._values}

    def _shorten_cells(self) -> None:
        n_cells = int(self.indptr[-1])
        self._indices.shorten(n_cells)
        if self._values is not None:
            self._values.shorten(n_cells)


class Growing:
    """An array with spare capacity, of which ``size`` entries are filled."""

    def __init__(self, dtype: Any, capacity: int = 1024) -> None:
        self._array = np.empty(capacity, dtype)  # memory is taken as it is filled
        self.size = 0

    @property
    def filled(self) -> NDArray[Any]:
        return self._array[: self.size]

    def extend(self, more: Any) -> None:
        self.reserve(len(more))[:] = more

    def reserve(self, n: int) -> NDArray[Any]:
        """Return ``n`` more entries, to be filled."""
        size = self.size + n
        if size > self._array.size:
            larger = np.empty(max(size, 2 * self._array.size), self._array.dtype)
            larger[: self.size] = self.filled
            self._array = larger
        self.size = size
        return self._array[size - n : size]

    def shorten(self, size: int) -> None:
        self.size = size

    def load(self, path: Path) -> None:
        self.size = path.stat().st_size // self._array.itemsize
        if self.size > self._array.size:
            self._array = np.empty(self.size, self._array.dtype)
        with path.open("rb") as file:
            file.readinto(self.filled.data)


def number_features(features: NDArray[Any], n_features: int) -> NDArray[np.uint32]:
    """Return the position of each of ``n_features`` features in ``features``, or `DROPPED`.

    Examples
    --------
    >>> number_features(np.array([2, 0]), 3)[[2, 0]]
    array([0, 1], dtype=uint32)
    """
    number = np.full(n_features, DROPPED)
    number[features] = np.arange(len(features), dtype=np.uint32)
    return number


class WordIndex:
    """Words numbered in order of appearance, which can be forgotten.

    Examples
    --------
    >>> index = WordIndex()
    >>> index.number(index_words(["oak", "ash", "yew"]), np.array([2, 0])).tolist()
    [0, 1]
    >>> index.decode(np.array([1, 0]))
    ['oak', 'yew']
    """

    def __init__(self) -> None:
        self._words = empty_words()

    def __len__(self) -> int:
        return int(self._words.size[0])

    @property
    def n_bytes(self) -> int:
        """Bytes of the words, and half as much again for growth.

        Depends on the words alone and not on their order: letters, where each word ends, and a
        hash table of four slots for each, which grows by doubling.
        """
        n_letters = int(self._words.ends[len(self)])
        capacity = max(FEWEST_WORDS, 1 << (len(self) - 1).bit_length())
        return int(1.5 * (2 * n_letters + capacity * (8 + 4 * (8 + 4))))

    def absorb(self, words: Words) -> NDArray[np.int32]:
        """Return the numbers of all words of another vocabulary, adding the new ones."""
        ids, self._words = absorb(self._words, words, make_alphabet())
        return np.asarray(ids)

    def number(self, words: Words, tokens: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers of some words of another vocabulary, adding the new ones."""
        return self.absorb(_read_words(join_tokens(words, tokens)))

    def forget(self, used: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """Forget the unused words; return the new number of each word."""
        kept = np.flatnonzero(used)
        self._words = _read_words(join_tokens(self._words, kept))
        return number_features(kept, used.size)

    def close(self) -> None:
        """Free the hash table: no more words will be numbered."""
        keys, slots = self._words.keys[:0], self._words.slots[:0]
        self._words = self._words._replace(keys=keys.copy(), slots=slots.copy())

    def decode(self, numbers: NDArray[Any]) -> list[str]:
        """Return the words of some numbers."""
        return decode_words(self._words, numbers)

    def save(self, path: Path) -> None:
        """Write the words to a file, in the order of their numbers."""
        path.write_bytes(join_tokens(self._words, np.arange(len(self))).tobytes())

    def load(self, path: Path) -> None:
        """Read the words of a saved index."""
        self._words = _read_words(np.fromfile(path, np.uint8))


def index_words(names: list[str]) -> Words:
    """Return a vocabulary of words, numbered in the given order."""
    joined = "".join(f"{name}\n" for name in names).encode("utf-8")
    return _read_words(np.frombuffer(joined, np.uint8))


def _read_words(letters: NDArray[np.uint8]) -> Words:
    letters = letters.view()
    letters.flags.writeable = False  # as texts are, so that one compiled kernel does for both
    ends = np.array([letters.size])
    words: Words = scan(letters, ends, make_name_alphabet(), empty_words())[-1]
    return words


def make_lookup(features: Any) -> Any:
    """Return a lookup of the kept features: a vocabulary of words, or a new number for each."""
    if isinstance(features, list):
        return index_words(features)
    return number_features(features, int(features.max(initial=-1)) + 1)
