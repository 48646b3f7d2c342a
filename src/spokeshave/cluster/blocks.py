"""Documents as rows, in blocks that stay on the workers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize

from spokeshave.budget.counts import CollectionCounts
from spokeshave.budget.row_batches import Batch, Classes, join_batches, to_offsets
from spokeshave.cluster.client import submit
from spokeshave.cluster.count import (
    count_parts,
    fit_vectorizer,
    prune_vocabulary,
    require_portable,
)
from spokeshave.cluster.parts import Kind, Parts, Side, open_parts, read_range
from spokeshave.text.vectorizer import (
    DocumentVectorizer,
    check_vectorizer,
    count_words,
)
from spokeshave.text.weighting import weight_counts

CELLS = 4_000_000  # nonzeros of a block, about


class Range(NamedTuple):
    """Documents ``first`` to ``last - 1`` of a part."""

    part: int
    first: int
    last: int


def plan_blocks(counts: list[CollectionCounts], cells: int = CELLS) -> list[Range]:
    """Divide the documents of all parts into blocks of about as many nonzeros each.

    Examples
    --------
    >>> counts = [CollectionCounts(10, 50), CollectionCounts(0, 0), CollectionCounts(3, 12)]
    >>> [(at.part, at.first, at.last) for at in plan_blocks(counts, cells=30)]
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
    """Encode all documents as rows, a task for each block."""
    items = parts.with_sides(sides)
    return [
        submit(client, encode_range, *items[at.part], parts.kind, at, vectorizer, names)
        for at in ranges
    ]


def encode_range(
    part: Any,
    side: Side | None,
    kind: Kind,
    at: Range,
    vectorizer: DocumentVectorizer | None,
    names: list[str],
) -> Batch:
    """Return some documents of a part as rows; vectors keep their values."""
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
    is_binary = vectorizer is not None and vectorizer.weighting == "binary"
    return Batch(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        None if is_binary else X.data,
        *Classes(names, is_closed=True).encode(labels),
    )


def join_rows(
    blocks: list[Batch], vectorizer: DocumentVectorizer | None, n_features: int
) -> sparse.csr_matrix:
    """Return the documents of blocks as the matrix of one machine."""
    rows = join_batches(blocks)
    data = np.ones(rows.features.size)
    if rows.values is not None:
        data[:] = rows.values
    shape = rows.n_documents, n_features
    X = sparse.csr_matrix((data, rows.features, rows.indptr), shape=shape)
    return normalize(X, copy=False) if vectorizer is None else weight_counts(vectorizer, X)


def join_targets(blocks: list[Batch], names: list[str], *, is_multilabel: bool) -> Any:
    """Return the labels of the documents of blocks, or their indicator matrix."""
    codes = np.concatenate([block.codes for block in blocks])
    if not is_multilabel:
        return np.array(names)[codes]
    lengths = np.concatenate([np.diff(block.code_ends) for block in blocks])
    ones, shape = np.ones(codes.size, np.int8), (lengths.size, len(names))
    y = sparse.csr_matrix((ones, codes, to_offsets(lengths)), shape=shape)
    y.sort_indices()
    return y


@dataclass(frozen=True, eq=False)
class Spread:
    """Documents as rows, in blocks on the workers, in order.

    Attributes
    ----------
    blocks : list of Future
        The blocks, each a `Block` of rows and targets.
    vectorizer : Future or None
        The vectorizer of texts; None for vectors.
    names : list of str
        The classes.
    is_multilabel : bool
        Whether a document may have several classes.
    n_documents, n_features : int
        Numbers of documents and features.
    """

    blocks: list[Future]
    vectorizer: Future | None
    names: list[str]
    is_multilabel: bool
    n_documents: int
    n_features: int


def list_classes(spread: Spread) -> NDArray[Any]:
    """Return the classes as a fit on one machine has them; there must be two."""
    if spread.is_multilabel:
        return np.arange(len(spread.names))
    if len(spread.names) < 2:
        raise ValueError(
            f"The documents must be of at least two classes. Got {spread.names[0]!r} only."
        )
    return np.array(spread.names)


class Block(NamedTuple):
    """Documents: rows, and an indicator with a column per class, one for two classes."""

    X: sparse.csr_matrix
    indicator: sparse.csc_matrix


def spread_documents(
    client: Client,
    parts: Any,
    *,
    vectorizer: DocumentVectorizer | None = None,
    like: Spread | None = None,
    **options: Any,
) -> Spread:
    """Read documents on the workers and encode them as rows, which stay there.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    parts : str, Path, sequence of them, or Dask collection
        The documents, as in `fit_on_cluster`.
    vectorizer : DocumentVectorizer, optional
        Turns texts into rows; it is cloned.
    like : Spread, optional
        Documents whose vocabulary and classes are used, as for test documents.
    **options
        Options to read files, including ``text`` and ``label``, as in `fit_on_cluster`.

    Returns
    -------
    spread : Spread
    """
    found = open_parts(client, parts, **options)
    recipe = clone(DocumentVectorizer() if vectorizer is None else vectorizer)
    check_vectorizer(recipe)
    require_portable(recipe)
    known = None if like is None else like.vectorizer
    counted = count_parts(client, found, None, vectorizer=recipe if known is None else known)
    total = counted.total
    if like is not None:
        names, fitted, n_features = like.names, like.vectorizer, like.n_features
    elif found.kind.is_text:
        words = prune_vocabulary(client, counted, recipe)
        names, n_features = counted.names, words.n_kept
        fitted = submit(client, fit_vectorizer, words.buckets, recipe, total.n_documents)
    else:
        names, fitted, n_features = counted.names, None, total.n_features
    is_multilabel = found.kind.is_multilabel
    batches = spread_rows(client, found, None, plan_blocks(counted.parts), fitted, names)
    blocks = [
        submit(client, make_block, batch, fitted, names, is_multilabel, n_features)
        for batch in batches
    ]
    return Spread(blocks, fitted, names, is_multilabel, total.n_documents, n_features)


def make_block(
    batch: Batch,
    vectorizer: DocumentVectorizer | None,
    names: list[str],
    is_multilabel: bool,
    n_features: int,
) -> Block:
    """Return rows as they are on one machine, and an indicator with a column per class."""
    X = join_rows([batch], vectorizer, n_features)
    ones = join_targets([batch], names, is_multilabel=True)
    is_binary = not is_multilabel and len(names) == 2
    return Block(X, sparse.csc_matrix(ones[:, 1:] if is_binary else ones))
