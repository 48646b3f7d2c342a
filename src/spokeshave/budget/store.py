"""Rows of sampled documents in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.budget.row_batches import Batch
from spokeshave.kernels.rows import count_features, drop_features, keep_rows
from spokeshave.text.weighting import dampen

PIECE = 1 << 20  # cells that are multiplied at a time


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
        arrays = self.indptr, self.indices, self.values
        drop_features(*arrays, number, *arrays)
        self._shorten_cells()

    def multiply(self, factors: NDArray[np.float32]) -> None:
        """Multiply the values of each feature by its factor."""
        assert self.values is not None
        for first in range(0, self.n_nonzeros, PIECE):
            piece = slice(first, first + PIECE)
            self.values[piece] *= factors[self.indices[piece]]

    def dampen(self) -> None:
        """Replace counts by 1 + ln(count)."""
        assert self.values is not None
        for first in range(0, self.n_nonzeros, PIECE):
            dampen(self.values[first : first + PIECE])

    def count(self, frequency: NDArray[np.int64]) -> None:
        """Add the number of rows with each feature to ``frequency``."""
        count_features(self.indices, frequency)

    def add_up(self, totals: NDArray[np.float64]) -> None:
        """Add the sum of the values of each feature to ``totals``."""
        assert self.values is not None
        for first in range(0, self.n_nonzeros, PIECE):
            piece = slice(first, first + PIECE)
            np.add.at(totals, self.indices[piece], self.values[piece].astype(float))

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
