"""Documents with the features that are kept, in blocks on the disks of the workers.

A block is a result of Dask: some documents, in pieces that a worker has room for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.budget.lexicon import make_words
from spokeshave.budget.shards import Block, set_lengths
from spokeshave.budget.store import Batch, count_up, number_features
from spokeshave.cluster.blocks import Range, plan_blocks
from spokeshave.cluster.counting import Count
from spokeshave.cluster.reading import FilePart, Side, read_range
from spokeshave.cluster.rounds import list_arrays, make_rows
from spokeshave.cluster.shelf import Shelved, join_arrays, shelve
from spokeshave.cluster.task import Task
from spokeshave.cluster.workers import submit
from spokeshave.kernels.rows import Rows

SPREAD = 8  # blocks for each worker, or more: each takes about what a worker has room for at most
PIECES_IN_ROOM = 8  # of which one is worked on


class Size(NamedTuple):
    """Documents of a block, and their nonzeros."""

    n_documents: int
    n_nonzeros: int


def reduce_documents(
    client: Client,
    parts: list[tuple[Any, Future | None]],
    counts: list[Count],
    task: Task,
    per_document: float,
    found_by: tuple[Future, Future | None],
    n_workers: int,
    shelf: str,
) -> list[Future]:
    """Represent all documents with the features that are kept, of which each has so many.

    These are found by what `make_known` returns, and weighted where there is an inverse document
    frequency beside it.
    """
    costs = task.costs
    n_fitting = task.room.free / (costs.row + per_document * costs.cell)
    n_documents = sum(count.n_documents for count in counts)
    n_blocks = max(SPREAD * n_workers, int(n_documents / n_fitting) + 1)
    is_file = all(isinstance(item, FilePart) for item, _ in parts)
    in_piece = max(1, int(n_fitting / PIECES_IN_ROOM))
    blocks = []
    for ranges in plan_shards(counts, n_blocks, is_file=is_file):
        items, sides = zip(*(parts[at.part] for at in ranges), strict=True)
        given = list(items), list(sides), ranges, task, *found_by, in_piece, shelf
        blocks.append(submit(client, reduce_ranges, *given))
    return blocks


def plan_shards(counts: list[Count], n_blocks: int, *, is_file: bool) -> list[list[Range]]:
    """Deal the documents of all parts to so many blocks, about, of as many nonzeros each.

    Small parts share a block where they are files. Others are in the memory of workers, and one
    block would have to hold several.

    Examples
    --------
    >>> counts = [Count(10, 50), Count(0, 0), Count(3, 12), Count(3, 13), Count(5, 25)]
    >>> shards = plan_shards(counts, 4, is_file=True)
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


def make_known(words: list[str] | None, features: NDArray[np.intp]) -> Any:
    """Return what finds the features that are kept: a vocabulary, or a new number for each."""
    if words is not None:
        return make_words(words)
    return number_features(features, int(features.max(initial=-1)) + 1)


def reduce_ranges(
    parts: list[Any],
    sides: list[Side | None],
    ranges: list[Range],
    task: Task,
    known: Any,
    idf: NDArray[np.float32] | None,
    in_piece: int,
    shelf: str,
) -> Shelved:
    """Return documents with the features that are kept, as they are trained on.

    They are in pieces of so many, or a few more: what is read at once is not divided.
    """

    def make_pieces() -> Iterator[Block]:
        batches: list[Batch] = []
        for part, side, at in zip(parts, sides, ranges, strict=True):
            for documents in read_range(part, task.kind, side, at.first, at.last):
                found = intake.find(documents, known)
                batches.append(weigh(task.encode(found, documents.labels or []), idf))
                if sum(batch.n_documents for batch in batches) >= in_piece:
                    yield make_block(join_batches(batches, task.has_values), task.request.norm)
                    batches.clear()
        if batches:
            yield make_block(join_batches(batches, task.has_values), task.request.norm)

    intake: Any = task.intake
    return shelve(shelf, make_pieces())


def weigh(batch: Batch, idf: NDArray[np.float32] | None) -> Batch:
    """Return rows with values times the inverse document frequency, where there is one."""
    if idf is None or batch.values is None:
        return batch
    return batch._replace(values=batch.values * idf[batch.features])


def join_batches(batches: list[Batch], has_values: bool) -> Batch:
    """Return the rows of batches, one after the other."""
    lengths = [np.diff(batch.indptr) for batch in batches]
    n_codes = [np.diff(batch.code_ends) for batch in batches]
    values: Any = [batch.values for batch in batches]
    return Batch(
        count_up(np.concatenate([np.empty(0, np.int64), *lengths])),
        np.concatenate([np.empty(0, np.uint32), *(batch.features for batch in batches)]).astype(
            np.uint32, copy=False
        ),
        np.concatenate([np.empty(0, np.float32), *values]) if has_values else None,
        count_up(np.concatenate([np.empty(0, np.int64), *n_codes])),
        np.concatenate([np.empty(0, np.int32), *(batch.codes for batch in batches)]),
    )


def make_block(batch: Batch, norm: str | None) -> Block:
    """Return documents as the solver reads them, brought to length one as ``norm`` says."""
    n, indptr = batch.n_documents, batch.indptr.astype(np.uint64)
    scale, squares = np.ones(n), np.empty(n)
    set_lengths(indptr, batch.values, norm, scale, squares)
    rows = Rows(indptr, batch.features, batch.values, scale, squares, np.ones(n))
    return Block(rows, batch.code_ends, batch.codes)


def measure_block(block: Shelved) -> Size:
    """Return how much is in a block."""
    sizes = [(piece.n_documents, piece.rows.indices.size) for piece in block]
    return Size(*(sum(each) for each in zip(*sizes, strict=True)))


def join_blocks(blocks: list[Shelved]) -> Block:
    """Return the documents of all blocks, in memory."""
    lengths, *rows, n_codes, codes = join_arrays(
        blocks, lambda piece: (*list_arrays(piece.rows), np.diff(piece.code_ends), piece.codes)
    )
    return Block(make_rows(lengths, *rows), count_up(n_codes), codes)
