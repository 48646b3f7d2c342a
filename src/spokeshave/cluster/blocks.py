"""Documents as rows, in blocks that lie on the workers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from spokeshave.budget.store import Batch, count_up
from spokeshave.cluster.counting import Count
from spokeshave.cluster.parts import Parts
from spokeshave.cluster.reading import Kind, Side, read_range
from spokeshave.cluster.workers import submit
from spokeshave.text.vectorizer import DocumentVectorizer, count_words, weight_counts

CELLS = 4_000_000  # nonzeros of a block, about


class Range(NamedTuple):
    """Documents of a part: those from the first number up to the last, which is not with them."""

    part: int
    first: int
    last: int


def plan_blocks(counts: list[Count], cells: int = CELLS) -> list[Range]:
    """Deal the documents of all parts to blocks of about as many nonzeros each.

    Examples
    --------
    >>> ranges = plan_blocks([Count(10, 50), Count(0, 0), Count(3, 12)], cells=30)
    >>> [(at.part, at.first, at.last) for at in ranges]
    [(0, 0, 5), (0, 5, 10), (2, 0, 3)]
    """
    ranges = []
    for number, count in enumerate(counts):
        n_blocks = min(-(-max(count.n_nonzeros, 1) // cells), count.n_documents)
        edges = np.linspace(0, count.n_documents, n_blocks + 1).astype(int).tolist()
        ranges += [Range(number, first, last) for first, last in pairwise(edges)]
    return ranges


def spread_rows(
    client: Client,
    parts: Parts,
    sides: list[Future] | None,
    ranges: list[Range],
    vectorizer: Future | None,
    names: list[str],
) -> list[Future]:
    """Make rows of all documents, a task for each block."""
    return [
        submit(
            client,
            make_block,
            parts.items[at.part],
            parts.kind,
            None if sides is None else sides[at.part],
            at,
            vectorizer,
            names,
        )
        for at in ranges
    ]


def make_block(
    part: Any,
    kind: Kind,
    side: Side | None,
    at: Range,
    vectorizer: DocumentVectorizer | None,
    names: list[str],
) -> Batch:
    """Return some documents of a part as rows; those of vectors have the values they had."""
    rows: list[Any] = []
    labels: list[Any] = []
    for batch in read_range(part, kind, side, at.first, at.last):
        labels += batch.labels or []
        documents: Any = batch
        rows.append(documents.X if vectorizer is None else count_words(vectorizer, documents.texts))
    width = max(X.shape[1] for X in rows)
    for X in rows:
        X.resize(X.shape[0], width)
    X = sparse.vstack(rows, format="csr")
    is_plain = vectorizer is not None and vectorizer.weighting == "binary"
    return Batch(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        None if is_plain else X.data,
        *encode(labels, names),
    )


def encode(labels: list[Any], names: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the numbers of the classes of each document, and where each begins and ends.

    Examples
    --------
    >>> encode([("oak", "ash"), (), ("oak",)], ["ash", "oak"])
    (array([0, 2, 2, 3]), array([0, 1, 1], dtype=int32))
    """
    number = {name: k for k, name in enumerate(names)}
    rows = [
        sorted({number[name] for name in (label if isinstance(label, tuple) else (label,))})
        for label in labels
    ]
    lengths = np.array([len(row) for row in rows], np.int64)
    return count_up(lengths), np.array([k for row in rows for k in row], np.int32)


def join_rows(
    blocks: list[Batch], vectorizer: DocumentVectorizer | None, n_features: int
) -> sparse.csr_matrix:
    """Return the documents of blocks as the matrix that they are on one machine."""
    ends = count_up(np.concatenate([np.diff(block.indptr) for block in blocks]))
    indices = np.concatenate([block.features for block in blocks])
    data = np.ones(indices.size)
    first = 0
    for block in blocks:
        if block.values is not None:
            data[first : first + block.values.size] = block.values
        first += block.features.size
    X = sparse.csr_matrix((data, indices, ends), shape=(ends.size - 1, n_features))
    return normalize(X, copy=False) if vectorizer is None else weight_counts(vectorizer, X)


def join_targets(blocks: list[Batch], names: list[str], *, is_multilabel: bool) -> Any:
    """Return the labels of the documents of blocks, or an indicator of them."""
    codes = np.concatenate([block.codes for block in blocks])
    if not is_multilabel:
        return np.array(names)[codes]
    lengths = np.concatenate([np.diff(block.code_ends) for block in blocks])
    shape = lengths.size, len(names)
    return sparse.csr_matrix((np.ones(codes.size, np.int8), codes, count_up(lengths)), shape=shape)
