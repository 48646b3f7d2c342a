"""Rows on the disk: one file of cells, of which ranges are mapped into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.budget.store import Batch, count_up
from spokeshave.kernels.rows import Rows, rescale

BUFFER = 1 << 20
MARKS = "marks"
_KINDS = {
    "lengths": np.uint32,
    "features": np.uint32,
    "values": np.float32,
    "n_codes": np.uint32,
    "codes": np.int32,
}


class Block(NamedTuple):
    """Documents to train on: rows, and the codes of their classes, those of each row in a row."""

    rows: Rows
    code_ends: NDArray[np.int64]
    codes: NDArray[np.int32]

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return self.rows.scale.size

    def find_class(self, code: int) -> NDArray[np.int8]:
        """Return 1 for each document of a class, and -1 for all others."""
        y = np.full(self.n_documents, -1, np.int8)
        y[np.searchsorted(self.code_ends, np.flatnonzero(self.codes == code), "right") - 1] = 1
        return y


class ShardWriter:
    """Writes documents one after the other.

    Parameters
    ----------
    folder : Path
        An empty folder.
    has_values : bool
        Whether cells have values.
    """

    def __init__(self, folder: Path, *, has_values: bool) -> None:
        self.n_documents = self.n_nonzeros = self.n_codes = 0
        self._folder, self._marks = folder, [(0, 0, 0)]
        with ExitStack() as stack:
            self._files: dict[str, IO[bytes]] = {
                kind: stack.enter_context((folder / kind).open("xb", BUFFER))
                for kind in _KINDS
                if has_values or kind != "values"
            }
            self._stack = stack.pop_all()

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, batch: Batch) -> None:
        """Write some documents."""
        parts = {
            "lengths": np.diff(batch.indptr),
            "features": batch.features,
            "values": batch.values,
            "n_codes": np.diff(batch.code_ends),
            "codes": batch.codes,
        }
        for kind, file in self._files.items():
            file.write(np.ascontiguousarray(parts[kind], _KINDS[kind]).data)
        self.n_documents += batch.n_documents
        self.n_nonzeros += len(batch.features)
        self.n_codes += len(batch.codes)
        self._marks.append((self.n_documents, self.n_nonzeros, self.n_codes))

    def finish(self) -> None:
        """See to it that all is on the disk, with marks of where ranges may begin."""
        np.array(self._marks, np.int64).tofile(self._folder / MARKS)
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())


@dataclass(frozen=True)
class Shard:
    """A range of the documents in a folder, and where their cells and labels begin and end.

    Attributes
    ----------
    folder : Path
        Where a `ShardWriter` has written them.
    norm : {"l2", "l1"} or None
        The length that documents are brought to.
    documents, cells, codes : tuple of int
        Where each begins and ends.
    """

    folder: Path
    norm: str | None
    documents: tuple[int, int]
    cells: tuple[int, int]
    codes: tuple[int, int]

    def __len__(self) -> int:
        return self.documents[1] - self.documents[0]

    @property
    def n_nonzeros(self) -> int:
        """How many cells there are."""
        return self.cells[1] - self.cells[0]

    @contextmanager
    def open(self) -> Iterator[Block]:
        """Map the documents into memory for as long as they are needed."""
        n = len(self)
        indptr = np.zeros(n + 1, np.uint64)
        np.cumsum(self._map("lengths", self.documents), dtype=np.uint64, out=indptr[1:])
        values = self._map("values", self.cells) if (self.folder / "values").exists() else None
        scale, squared_length = np.ones(n), np.empty(n)
        set_lengths(indptr, values, self.norm, scale, squared_length)
        features = self._map("features", self.cells)
        yield Block(
            Rows(indptr, features, values, scale, squared_length, np.ones(n)),
            count_up(self._map("n_codes", self.documents)),
            self._map("codes", self.codes),
        )

    def _map(self, kind: str, bounds: tuple[int, int]) -> NDArray[Any]:
        dtype, (first, last) = np.dtype(_KINDS[kind]), bounds
        if first == last:
            return np.empty(0, dtype)
        # As if it could be written to: kernels are compiled once for all arrays that can.
        mapped = np.memmap(
            self.folder / kind, dtype, "c", offset=first * dtype.itemsize, shape=last - first
        )
        return np.asarray(mapped)


def set_lengths(
    indptr: NDArray[np.uint64],
    values: NDArray[np.float32] | None,
    norm: str | None,
    scale: NDArray[np.float64],
    squared_length: NDArray[np.float64],
) -> None:
    """Write the scale that brings each row to length one, as ``norm`` says, and what it comes to.

    Rows have a scale of one before.
    """
    if norm == "l1":
        ends = indptr.astype(np.int64)
        sums = np.diff(ends).astype(np.float64)
        if values is not None:
            sums = np.diff(np.concatenate([[0], np.cumsum(np.abs(values), dtype=float)])[ends])
        scale[:] = 1 / np.where(sums > 0, sums, 1)
    rescale(indptr, values, norm == "l2", scale, squared_length)


def list_shards(folder: Path, norm: str | None, most: int) -> list[Shard]:
    """Return all documents in a folder, in ranges of no more than so many cells and rows.

    What was written at once is not divided.
    """
    marks = np.fromfile(folder / MARKS, np.int64).reshape(-1, 3)
    sizes = marks[:, 0] + marks[:, 1]
    bounds = [0]
    while bounds[-1] < len(marks) - 1:
        end = int(np.searchsorted(sizes, sizes[bounds[-1]] + most, side="right")) - 1
        bounds.append(max(end, bounds[-1] + 1))
    ranges = [zip(marks[first], marks[last], strict=True) for first, last in pairwise(bounds)]
    return [
        Shard(folder, norm, *((int(begin), int(end)) for begin, end in kinds)) for kinds in ranges
    ]
