"""Documents as rows in memory of a given size, which are dropped in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.kernels.rows import DROPPED, count_features, drop_features, keep_rows

PIECE = 1 << 20  # cells that are multiplied at a time


class Batch(NamedTuple):
    """Some documents as rows of features, with the codes of their classes.

    ``values`` is None where all are one. Row i has ``codes[code_ends[i] : code_ends[i + 1]]``.
    """

    indptr: NDArray[Any]
    features: NDArray[Any]
    values: NDArray[Any] | None
    code_ends: NDArray[Any]
    codes: NDArray[np.int32]

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return len(self.indptr) - 1

    def take(self, chosen: NDArray[np.bool_]) -> Batch:
        """Return the rows that are chosen."""
        lengths, n_codes = np.diff(self.indptr), np.diff(self.code_ends)
        cells, labels = np.repeat(chosen, lengths), np.repeat(chosen, n_codes)
        return Batch(
            count_up(lengths[chosen]),
            self.features[cells],
            None if self.values is None else self.values[cells],
            count_up(n_codes[chosen]),
            self.codes[labels],
        )


class Store:
    """Rows that are added at the end; memory is taken as it is filled.

    Parameters
    ----------
    capacity : int
        The most cells there will be, about: room for them is reserved, and taken when it is
        filled. Beyond it there are copies.
    has_values : bool
        Whether rows have values, or ones only.

    Examples
    --------
    >>> store = Store(100, has_values=False)
    >>> store.add(Batch(np.array([0, 1, 3]), np.array([4, 0, 2]), None, np.arange(3), np.zeros(2)))
    >>> store.keep(np.array([False, True]))
    >>> len(store), store.indices.tolist()
    (1, [0, 2])
    """

    def __init__(self, capacity: int, *, has_values: bool) -> None:
        self._indptr, self._code_ends = _Growing(np.uint64), _Growing(np.uint64)
        self._indices, self._codes = _Growing(np.uint32, capacity), _Growing(np.int32)
        self._values = _Growing(np.float32, capacity) if has_values else None
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
        """How many cells there are."""
        return self._indices.size

    def add(self, batch: Batch) -> None:
        """Add rows at the end."""
        self._indptr.extend(batch.indptr[1:] + self.indptr[-1])
        self._indices.extend(batch.features)
        if self._values is not None:
            self._values.extend(batch.values)
        self._code_ends.extend(batch.code_ends[1:] + self._code_ends.filled[-1])
        self._codes.extend(batch.codes)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the rows that are not kept."""
        keep_rows(self._code_ends.filled, self._codes.filled, None, kept)
        n_rows = int(keep_rows(self.indptr, self.indices, self.values, kept))
        self._indptr.shorten(n_rows + 1)
        self._code_ends.shorten(n_rows + 1)
        self._codes.shorten(int(self._code_ends.filled[-1]))
        self._shorten_cells()

    def renumber(self, number: NDArray[np.uint32]) -> None:
        """Give every feature its new number; those without one are dropped."""
        drop_features(self.indptr, self.indices, self.values, number)
        self._shorten_cells()

    def multiply(self, factors: NDArray[np.float32]) -> None:
        """Multiply the values of each feature by a factor of its own."""
        assert self.values is not None
        for first in range(0, self.n_nonzeros, PIECE):
            piece = slice(first, first + PIECE)
            self.values[piece] *= factors[self.indices[piece]]

    def count(self, frequency: NDArray[np.int64]) -> None:
        """Add to ``frequency`` how many rows have each feature."""
        count_features(self.indices, frequency)

    def indicate(self, n_classes: int) -> sparse.csr_matrix:
        """Return the classes of each row as an indicator."""
        ones = np.ones(self._codes.size, np.int8)
        shape = len(self), n_classes
        indptr = self._code_ends.filled.astype(np.int64)
        return sparse.csr_matrix((ones, self._codes.filled, indptr), shape=shape)

    def save(self, folder: Path, name: str) -> None:
        """Write everything to files of a folder."""
        for kind, array in self._arrays.items():
            with (folder / f"{name}.{kind}").open("xb") as file:
                file.write(array.filled.data)

    def load(self, folder: Path, name: str) -> None:
        """Read what was saved; there must be nothing here yet."""
        for kind, array in self._arrays.items():
            array.load(folder / f"{name}.{kind}")

    @property
    def _arrays(self) -> dict[str, _Growing]:
        arrays = {"indptr": self._indptr, "indices": self._indices}
        arrays |= {"code_ends": self._code_ends, "codes": self._codes}
        return arrays if self._values is None else {**arrays, "values": self._values}

    def _shorten_cells(self) -> None:
        n_cells = int(self.indptr[-1])
        self._indices.shorten(n_cells)
        if self._values is not None:
            self._values.shorten(n_cells)


class _Growing:
    """An array with room for more, of which ``size`` entries are filled."""

    def __init__(self, dtype: Any, capacity: int = 1024) -> None:
        self._array = np.empty(capacity, dtype)
        self.size = 0

    @property
    def filled(self) -> NDArray[Any]:
        return self._array[: self.size]

    def extend(self, more: Any) -> None:
        size = self.size + len(more)
        if size > self._array.size:
            larger = np.empty(max(size, 2 * self._array.size), self._array.dtype)
            larger[: self.size] = self.filled
            self._array = larger
        self._array[self.size : size] = more
        self.size = size

    def shorten(self, size: int) -> None:
        self.size = size

    def load(self, path: Path) -> None:
        self.size = path.stat().st_size // self._array.itemsize
        if self.size > self._array.size:
            self._array = np.empty(self.size, self._array.dtype)
        with path.open("rb") as file:
            file.readinto(self.filled.data)


def count_up(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return where rows of the given lengths begin and end.

    Examples
    --------
    >>> count_up(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends


def number_features(features: NDArray[Any], n_features: int) -> NDArray[np.uint32]:
    """Return a new number for each of so many features, in the order of those given.

    Examples
    --------
    >>> number_features(np.array([2, 0]), 3)[[2, 0]]
    array([0, 1], dtype=uint32)
    """
    number = np.full(n_features, DROPPED)
    number[features] = np.arange(len(features), dtype=np.uint32)
    return number
