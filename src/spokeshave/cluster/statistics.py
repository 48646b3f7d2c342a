"""Rankings, sparsity and shapes from counts of each block, which add up over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from distributed import Client, Future
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from spokeshave.cluster.blocks import Block, Spread, list_classes
from spokeshave.cluster.client import merge, submit
from spokeshave.curves.cuts import check_cuts
from spokeshave.curves.sparsity import SparsityCurve, check_rankings, trace_sparsity
from spokeshave.ranking.criteria import COUNTED, Ranking, check_sign, score_sums, sum_for
from spokeshave.ranking.pruning import count_documents
from spokeshave.shaping.feature_shaper import FeatureShaper
from spokeshave.shaping.levels import ValueCounts, find_levels
from spokeshave.shaping.local_probability import LocalProbabilityShaper
from spokeshave.utils.sums import EventSums, Sums
from spokeshave.utils.validation import tidy

FEATURE, VALUE, SET, COUNT = "feature", "value", "set", "count"
EVERYONE = 0  # the set of all documents; the set of class k is k + 1

Shaper: TypeAlias = LocalProbabilityShaper | FeatureShaper


def rank_on_cluster(client: Client, spread: Spread, by: str) -> Ranking:
    """Rank the features of each class against the rest, on documents that are on the workers.

    The scores are those of `rank_features` with all documents on one machine: equal to the last
    digit, except by "chi2" of values that are not whole numbers, which are equal up to rounding:
    sums of such values depend on their order.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    spread : Spread
        The documents.
    by : {"information_gain", "odds_ratio", "bns", "hellinger", "chi2", "naive_bayes"}
        The criterion, as in `rank_features`. Other criteria need more than counts.

    Returns
    -------
    ranking : Ranking
        A row of scores per class; one row for two classes, for the second of them.
    """
    if by not in COUNTED:
        names = ", ".join(map(repr, COUNTED))
        raise ValueError(f"by must be one of {names} on a cluster. Got {by!r} instead.")
    classes = list_classes(spread)
    sums = merge(client, merge_all, [submit(client, sum_block, each, by) for each in spread.blocks])
    scores = submit(client, score_sums, by, sums).result()
    return Ranking(scores, classes[-len(scores) :], by)


def sparsity_on_cluster(
    client: Client,
    spread: Spread,
    ranking: Ranking | Mapping[str, Ranking],
    *,
    cuts: Any = "log",
) -> SparsityCurve:
    """Count the nonzeros and the bytes left at every cut, of documents on the workers.

    The curve is that of `sparsity_curve` with all documents on one machine, to the last digit.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    spread : Spread
        The documents.
    ranking : Ranking, or mapping of str to Ranking
        The order of the features of each class; or several, of the same classes, by name.
    cuts : sequence of float or int, or "log", default="log"
        Fractions of the features with a nonzero score, counts, or powers of two.

    Returns
    -------
    curve : SparsityCurve
    """
    rankings = check_rankings(ranking, spread.n_features)
    found_cuts = check_cuts(cuts, spread.n_features)
    frequency = count_presence(client, spread).result().frequency
    return trace_sparsity(rankings, found_cuts, frequency, spread.n_documents)


def sum_block(block: Block, by: str) -> Sums | EventSums:
    """Return the sums of each feature over the documents of a block, as a criterion needs them."""
    X = tidy(block.X)
    check_sign(X, by)
    return sum_for(by, X, block.indicator)


class Presence(NamedTuple):
    """Documents with each feature, and documents of each class; both add up."""

    frequency: NDArray[np.intp]
    sizes: NDArray[np.intp]

    def merge(self, other: Presence) -> Presence:
        """Return the counts of these documents and others."""
        return Presence(self.frequency + other.frequency, self.sizes + other.sizes)


def count_presence(client: Client, spread: Spread) -> Future:
    """Count the documents of each feature and of each class; the `Presence` stays on a worker."""
    return merge(client, merge_all, [submit(client, count_block, each) for each in spread.blocks])


def count_block(block: Block) -> Presence:
    """Count the documents of each feature and of each class in a block."""
    sizes = np.diff(block.indicator.indptr).astype(np.intp)
    return Presence(count_documents(tidy(block.X)), sizes)


def merge_all(counts: list[Any]) -> Any:
    """Return the counts of several blocks, added up."""
    return reduce(type(counts[0]).merge, counts)


def shape_on_cluster(client: Client, spread: Spread, shaper: Shaper | None = None) -> Shaper:
    """Learn the shape of each feature from documents on the workers.

    The result equals that of the shaper's ``fit`` on one machine, to the last digit. Only a table
    of the frequencies of each value of each feature comes to the client. It is small for word
    counts, but larger than the documents if no two values are equal.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    spread : Spread
        The documents.
    shaper : LocalProbabilityShaper or FeatureShaper, optional
        The shaper, which is cloned. By default a ``LocalProbabilityShaper()``. It must need counts
        only: no cross-validation; a `FeatureShaper` must shape by local probability, and scale by
        its separation or not at all.

    Returns
    -------
    shaper : LocalProbabilityShaper or FeatureShaper
        The fitted shaper.
    """
    shaper = check_shaper(shaper)
    classes = list_classes(spread)
    tallies = [submit(client, tally_block, block) for block in spread.blocks]
    tally = merge(client, merge_tallies, tallies).result()
    return shaper._fit_counts(sort_tally(tally, spread.n_features), classes)


def check_shaper(shaper: Shaper | None) -> Shaper:
    """Return a shaper to fit, or raise if counts are not enough for it."""
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
    """Counts for shapes, of all documents and of each class; they add up."""

    table: pl.DataFrame  # number of documents with each value of each feature, by set
    totals: NDArray[np.int64]  # number of documents in each set


def tally_block(block: Block) -> Tally:
    """Count the values of the documents of a block."""
    return tally_values(block.X, block.indicator)


def tally_values(X: sparse.csr_matrix, indicator: sparse.csc_matrix) -> Tally:
    """Count the nonzero values of all documents and of each class.

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
    # Sparse, as most values in a block are of documents of few classes.
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
    """Return the sum of several tallies."""
    tables = pl.concat([tally.table for tally in tallies])
    merged = tables.group_by(FEATURE, VALUE, SET).agg(pl.col(COUNT).sum())
    return Tally(merged, np.sum([tally.totals for tally in tallies], axis=0))


def sort_tally(tally: Tally, n_features: int) -> ValueCounts:
    """Return the counts sorted by feature and value."""
    table = tally.table.sort(FEATURE, VALUE, SET)
    features, values, sets, counts = (column.to_numpy() for column in table.iter_columns())
    is_new = sets == EVERYONE  # the row of all documents comes first
    pair_of = np.cumsum(is_new) - 1
    shape = tally.totals.size, int(is_new.sum())
    matrix = sparse.csr_matrix((counts, (sets, pair_of)), shape)
    return ValueCounts(features[is_new], values[is_new], matrix, tally.totals, n_features)
