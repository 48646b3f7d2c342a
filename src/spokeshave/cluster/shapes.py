"""The shapes of features, learned where documents are: counts of each block add up to all."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from distributed import Client
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from spokeshave.cluster.spreading import Block, Spread, list_classes
from spokeshave.cluster.workers import merge, submit
from spokeshave.shaping.feature_shaper import FeatureShaper
from spokeshave.shaping.levels import ValueCounts, find_levels
from spokeshave.shaping.local_probability import LocalProbabilityShaper
from spokeshave.utils.validation import tidy

FEATURE, VALUE, SET, COUNT = "feature", "value", "set", "count"
EVERYONE = 0  # the set of all documents; that of class k is k + 1

Shaper: TypeAlias = LocalProbabilityShaper | FeatureShaper


def shape_on_cluster(client: Client, spread: Spread, shaper: Shaper | None = None) -> Shaper:
    """Learn the shape of each feature from documents that are spread over workers.

    It is what the shaper's ``fit`` learns from the documents on one machine, to the last digit. Of
    the documents only a table of how many have each value of each feature comes to the client: a
    small one for counts of words, and one larger than the documents where no two values are equal.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    spread : Spread
        The documents.
    shaper : LocalProbabilityShaper or FeatureShaper, optional
        What to learn; it is not changed. By default a ``LocalProbabilityShaper()``. It must need no
        more than counts: no cross-validation, and of a `FeatureShaper` local probability, and its
        separation if anything.

    Returns
    -------
    shaper : LocalProbabilityShaper or FeatureShaper
        A fitted one.
    """
    shaper = check_shaper(shaper)
    classes = list_classes(spread)
    tallies = [submit(client, tally_block, block) for block in spread.blocks]
    tally = merge(client, merge_tallies, tallies).result()
    return shaper._fit_counts(sort_tally(tally, spread.n_features), classes)


def check_shaper(shaper: Shaper | None) -> Shaper:
    """Return a shaper to fit; raise where counts of documents are not enough for it."""
    shaper = LocalProbabilityShaper() if shaper is None else shaper
    if not isinstance(shaper, Shaper):
        raise ValueError(
            "shaper must be a LocalProbabilityShaper or a FeatureShaper. "
            f"Got {type(shaper).__name__} instead."
        )
    shaper._check_counts()
    fresh: Shaper = clone(shaper)
    return fresh


class Tally(NamedTuple):
    """What shapes need to know of some documents: the tallies of several sets of them add up.

    Attributes
    ----------
    table : DataFrame
        How many documents have each value of each feature: all of them, and those of each class,
        where there are any.
    totals : ndarray of shape (1 + n_classes,)
        Documents: all, and those of each class.
    """

    table: pl.DataFrame
    totals: NDArray[np.int64]


def tally_block(block: Block) -> Tally:
    """Count the values of the documents of a block."""
    return tally_values(block.X, block.indicator)


def tally_values(X: sparse.csr_matrix, indicator: sparse.csc_matrix) -> Tally:
    """Count the values of documents, all and of each class, zeros left out.

    Examples
    --------
    >>> X = sparse.csr_matrix([[2.0, 0.0], [0.0, 0.0], [2.0, 1.0]])
    >>> tally = tally_values(X, sparse.csc_matrix([[1], [1], [0]]))
    >>> tally.totals, sorted(tally.table.rows())
    (array([3, 2]), [(0, 2.0, 0, 2), (0, 2.0, 1, 1), (1, 1.0, 0, 1)])
    """
    rows = tidy(X)
    levels, of_cell, _ = find_levels(rows)
    shape = rows.shape[0], levels.values.size
    cells = sparse.csr_matrix(
        (np.ones(rows.nnz, np.int64), of_cell.astype(int), rows.indptr), shape
    )
    everyone = np.ones((rows.shape[0], 1), np.int64)
    sets = sparse.hstack([everyone, indicator], format="csc", dtype=np.int64).T
    # Sparse: in a block most values are of documents of few classes.
    counts = (sets @ cells).tocoo()
    feature_of = np.repeat(np.arange(rows.shape[1]), np.diff(levels.starts))
    columns = {
        FEATURE: feature_of[counts.col].astype(np.int32),
        VALUE: levels.values[counts.col],
        SET: counts.row.astype(np.int32),
        COUNT: counts.data,
    }
    return Tally(pl.DataFrame(columns), np.diff(sets.indptr).astype(np.int64))


def merge_tallies(tallies: list[Tally]) -> Tally:
    """Return the tally of the documents of several."""
    tables = pl.concat([tally.table for tally in tallies])
    merged = tables.group_by(FEATURE, VALUE, SET).agg(pl.col(COUNT).sum())
    return Tally(merged, np.sum([tally.totals for tally in tallies], axis=0))


def sort_tally(tally: Tally, n_features: int) -> ValueCounts:
    """Return the counts in the order of features and values."""
    table = tally.table.sort(FEATURE, VALUE, SET)
    features, values, sets, counts = (column.to_numpy() for column in table.iter_columns())
    is_new = sets == EVERYONE  # every value has a row of all documents, before those of classes
    pair_of = np.cumsum(is_new) - 1
    shape = tally.totals.size, int(is_new.sum())
    matrix = sparse.csr_matrix((counts, (sets, pair_of)), shape)
    return ValueCounts(features[is_new], values[is_new], matrix, tally.totals, n_features)
