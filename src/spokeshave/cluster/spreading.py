"""Documents as rows that are spread over the workers, to be counted and scored where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from spokeshave.budget.store import Batch
from spokeshave.cluster.blocks import join_rows, join_targets, plan_blocks, spread_rows
from spokeshave.cluster.counting import count_parts, make_vectorizer, prune_vocabulary
from spokeshave.cluster.parts import open_parts
from spokeshave.cluster.workers import submit
from spokeshave.text.vectorizer import DocumentVectorizer, check_vectorizer


@dataclass(frozen=True, eq=False)
class Spread:
    """Documents as rows, in blocks that lie on the workers, in order.

    Attributes
    ----------
    blocks : list of Future
        The blocks, each a `Block` of rows and targets.
    vectorizer : Future or None
        What made rows of texts; None where they were rows before.
    names : list of str
        The classes.
    is_multilabel : bool
        Whether a document may be of several.
    n_documents, n_features : int
        How many there are.
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
    """Some documents: rows, and an indicator with a column per class, one for two classes."""

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
    """Read documents on the workers and make rows of them, which stay there.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    parts : str, Path, sequence of them, or Dask collection
        The documents, as `fit_on_cluster` takes them.
    vectorizer : DocumentVectorizer, optional
        How texts become rows; it is not changed. The default one if it is None.
    like : Spread, optional
        Documents whose words and classes these are to have, as those to test on have to.
    **options
        How files are read, ``text`` and ``label`` among them, as in `fit_on_cluster`.

    Returns
    -------
    spread : Spread
    """
    found = open_parts(client, parts, **options)
    recipe = clone(DocumentVectorizer() if vectorizer is None else vectorizer)
    check_vectorizer(recipe)
    counted = count_parts(client, found, None, strip_markup=recipe.strip_markup)
    total = counted.total
    if like is not None:
        names, maker, n_features = like.names, like.vectorizer, like.n_features
    elif found.kind.is_text:
        words = prune_vocabulary(client, counted, recipe)
        names, n_features = counted.names, words.n_kept
        maker = submit(client, make_vectorizer, words.buckets, recipe, total.n_documents)
    else:
        names, maker, n_features = counted.names, None, total.n_features
    is_multilabel = found.kind.is_multilabel
    batches = spread_rows(client, found, None, plan_blocks(counted.parts), maker, names)
    blocks = [
        submit(client, make_block, batch, maker, names, is_multilabel, n_features)
        for batch in batches
    ]
    return Spread(blocks, maker, names, is_multilabel, total.n_documents, n_features)


def make_block(
    batch: Batch,
    vectorizer: DocumentVectorizer | None,
    names: list[str],
    is_multilabel: bool,
    n_features: int,
) -> Block:
    """Return rows as they are on one machine, with a column of the indicator per class."""
    X = join_rows([batch], vectorizer, n_features)
    ones = join_targets([batch], names, is_multilabel=True)
    is_binary = not is_multilabel and len(names) == 2
    return Block(X, sparse.csc_matrix(ones[:, 1:] if is_binary else ones))
