"""Documents reduced to the kept features, in blocks on the disks of the workers.

A block is a result of Dask: documents in pieces that fit in the memory of a worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.memory import AvailableMemory, Costs
from spokeshave.budget.request import Request
from spokeshave.budget.row_batches import Batch, Classes, join_batches, to_offsets
from spokeshave.budget.shards import Block, make_block
from spokeshave.cluster.blocks import Range, plan_blocks
from spokeshave.cluster.client import submit
from spokeshave.cluster.parts import FilePart, Kind, Side, read_range
from spokeshave.cluster.rounds import build_rows, list_arrays
from spokeshave.cluster.spill import Spilled, join_arrays, spill

SPREAD = 8  # blocks per worker, at least; each fits in the memory of a worker
PIECES = 8  # pieces of a block that fills the memory of a worker; one is in use at a time


class Task(NamedTuple):
    """A run whose documents do not fit in one worker."""

    request: Request
    kind: Kind
    names: list[str]  # the classes
    memory: AvailableMemory  # of a worker

    @property
    def has_values(self) -> bool:
        """Whether features have values, or are only present or absent."""
        return self.request.has_values

    @property
    def costs(self) -> Costs:
        """Bytes of a cell, a row and a feature in a worker."""
        return Costs(len(self.names), 1, self.has_values)

    def encode(self, documents: Any, known: Any, idf: NDArray[np.float32] | None) -> Batch:
        """Return documents as rows of the known features, or of all if ``known`` is None."""
        encoder: Any = self.request.encoder
        encoded = encoder.scan(documents) if known is None else encoder.find(documents, known)
        batch: Batch = encoded.encode(Classes(self.names, is_closed=True))
        return batch.weigh(idf)


class Size(NamedTuple):
    """Documents of a block, and their nonzeros."""

    n_documents: int
    n_nonzeros: int


def reduce_documents(
    client: Client,
    parts: list[tuple[Any, Future | None]],
    counts: list[CollectionCounts],
    task: Task,
    per_document: float,
    lookup: tuple[Future, Future | None],
    n_workers: int,
    folder: str,
) -> list[Future]:
    """Reduce all documents to the kept features, of which each has ``per_document``.

    ``lookup`` is the result of `make_lookup` and the inverse document frequencies, if any.
    """
    costs = task.costs
    n_fitting = task.memory.free / (costs.row + per_document * costs.cell)
    n_documents = sum(count.n_documents for count in counts)
    n_blocks = max(SPREAD * n_workers, int(n_documents / n_fitting) + 1)
    is_file = all(isinstance(item, FilePart) for item, _ in parts)
    in_piece = max(1, int(n_fitting / PIECES))
    blocks = []
    for ranges in plan_shards(counts, n_blocks, is_file=is_file):
        items, sides = zip(*(parts[at.part] for at in ranges), strict=True)
        given = list(items), list(sides), ranges, task, *lookup, in_piece, folder
        blocks.append(submit(client, reduce_ranges, *given))
    return blocks


def plan_shards(
    counts: list[CollectionCounts], n_blocks: int, *, is_file: bool
) -> list[list[Range]]:
    """Divide the documents of all parts into about ``n_blocks`` blocks of equal nonzeros.

    Small files share a block. Partitions of a Dask collection do not: they are in the memory of
    workers, and one worker would have to hold several.

    Examples
    --------
    >>> sizes = [(10, 50), (0, 0), (3, 12), (3, 13), (5, 25)]
    >>> shards = plan_shards([CollectionCounts(*size) for size in sizes], 4, is_file=True)
    >>> [[(at.part, at.first, at.last) for at in ranges] for ranges in shards]
    [[(0, 0, 5)], [(0, 5, 10)], [(2, 0, 3), (3, 0, 3)], [(4, 0, 5)]]
    """
    cells = max(1, -(-sum(count.n_nonzeros for count in counts) // n_blocks))
    ranges = plan_blocks(counts, cells)
    if not is_file:
        return [[at] for at in ranges]
    shares = [counts[at.part] for at in ranges]
    sizes = np.array(
        [
            count.n_nonzeros * (at.last - at.first) / count.n_documents
            for count, at in zip(shares, ranges, strict=True)
        ]
    )
    number = (np.cumsum(sizes) - sizes / 2) // cells
    return [[ranges[i] for i in np.flatnonzero(number == b)] for b in np.unique(number)]


def reduce_ranges(
    parts: list[Any],
    sides: list[Side | None],
    ranges: list[Range],
    task: Task,
    known: Any,
    idf: NDArray[np.float32] | None,
    in_piece: int,
    folder: str,
) -> Spilled:
    """Return documents reduced to the kept features, in pieces of at least ``in_piece``."""

    def make_pieces() -> Iterator[Block]:
        batches: list[Batch] = []
        for part, side, at in zip(parts, sides, ranges, strict=True):
            for documents in read_range(part, task.kind, side, at.first, at.last):
                batches.append(task.encode(documents, known, idf))
                if sum(batch.n_documents for batch in batches) >= in_piece:
                    yield make_block(join_batches(batches), task.request.norm)
                    batches.clear()
        if batches:
            yield make_block(join_batches(batches), task.request.norm)

    return spill(folder, make_pieces())


def measure_block(block: Spilled) -> Size:
    """Return the size of a block."""
    sizes = [(piece.n_documents, piece.rows.indices.size) for piece in block]
    return Size(*(sum(each) for each in zip(*sizes, strict=True)))


def join_blocks(blocks: list[Spilled]) -> Block:
    """Return the documents of all blocks, in memory."""
    lengths, *rows, n_codes, codes = join_arrays(
        blocks, lambda piece: (*list_arrays(piece.rows), np.diff(piece.code_ends), piece.codes)
    )
    return Block(build_rows(lengths, *rows), to_offsets(n_codes), codes)
