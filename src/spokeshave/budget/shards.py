"""Rows on disk: one file of cells, mapped into memory range by range."""

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

from spokeshave.budget.row_batches import Batch, to_offsets
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
    """Documents to train on: rows, and the codes of their classes, row by row."""

    rows: Rows
    code_ends: NDArray[np.int64]
    codes: NDArray[np.int32]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.rows.scale.size

    def find_class(self, code: int) -> NDArray[np.int8]:
        """Return 1 for each document of a class, and -1 for the others."""
        y = np.full(self.n_documents, -1, np.int8)
        y[np.searchsorted(self.code_ends, np.flatnonzero(self.codes == code), "right") - 1] = 1
        return y


class ShardWriter:
    """Writes documents to an empty folder, with or without values."""

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
        """Write the offsets where ranges may begin, and flush all files to disk."""
        np.array(self._marks, np.int64).tofile(self._folder / MARKS)
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())


@dataclass(frozen=True)
class Shard:
    """A range of the documents that a `ShardWriter` has written.

    ``norm`` is what rows are scaled to; the others are the first and last index of each.
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
        """Number of cells."""
        return self.cells[1] - self.cells[0]

    @contextmanager
    def open(self) -> Iterator[Block]:
        """Map the documents into memory while they are needed."""
        indptr = np.zeros(len(self) + 1, np.uint64)
        np.cumsum(self._map("lengths", self.documents), dtype=np.uint64, out=indptr[1:])
        values = self._map("values", self.cells) if (self.folder / "values").exists() else None
        yield Block(
            make_rows(indptr, self._map("features", self.cells), values, self.norm),
            to_offsets(self._map("n_codes", self.documents)),
            self._map("codes", self.codes),
        )

    def _map(self, kind: str, bounds: tuple[int, int]) -> NDArray[Any]:
        dtype, (first, last) = np.dtype(_KINDS[kind]), bounds
        if first == last:
            return np.empty(0, dtype)
        # Writable (copy on write), as kernels are compiled for writable arrays only.
        mapped = np.memmap(
            self.folder / kind, dtype, "c", offset=first * dtype.itemsize, shape=last - first
        )
        return np.asarray(mapped)


def make_block(batch: Batch, norm: str | None) -> Block:
    """Return a batch in memory as documents to train on."""
    indptr, features = batch.indptr.astype(np.uint64), batch.features.astype(np.uint32, copy=False)
    rows = make_rows(indptr, features, batch.values, norm)
    return Block(rows, batch.code_ends, batch.codes)


def make_rows(
    indptr: NDArray[np.uint64],
    features: NDArray[np.uint32],
    values: NDArray[np.float32] | None,
    norm: str | None,
) -> Rows:
    """Return rows as the solver reads them, with the scale that gives them norm one."""
    n = len(indptr) - 1
    scale, squared_length = np.ones(n), np.empty(n)
    if norm == "l1":
        ends = indptr.astype(np.int64)
        sums = np.diff(ends).astype(np.float64)
        if values is not None:
            sums = np.diff(np.concatenate([[0], np.cumsum(np.abs(values), dtype=float)])[ends])
        scale[:] = 1 / np.where(sums > 0, sums, 1)
    rescale(indptr, values, norm == "l2", scale, squared_length)
    return Rows(indptr, features, values, scale, squared_length, np.ones(n))


def list_shards(folder: Path, norm: str | None, most: int) -> list[Shard]:
    """Return all documents in a folder, in ranges of at most ``most`` cells and rows.

    A batch that was written at once is not divided.
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
