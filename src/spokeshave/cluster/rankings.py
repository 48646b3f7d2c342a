"""What can be told from counts alone, which every block makes and which add up over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.cluster.spreading import Block, Spread, list_classes
from spokeshave.cluster.workers import merge, submit
from spokeshave.curves.cuts import check_cuts
from spokeshave.curves.sparsity import SparsityCurve, check_rankings, trace_sparsity
from spokeshave.ranking.criteria import COUNTED, Ranking, Sums, check_sign, score_sums, sum_for
from spokeshave.ranking.pruning import count_documents
from spokeshave.utils.validation import tidy


def rank_on_cluster(client: Client, spread: Spread, by: str) -> Ranking:
    """Rank the features of each class against the rest, by documents that lie on the workers.

    The scores are those of `rank_features` with all documents on one machine: the same to the last
    digit where presence is counted, or values are whole numbers, and otherwise but for rounding,
    since sums of values depend on where they begin.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    spread : Spread
        The documents.
    by : {"information_gain", "odds_ratio", "bns", "hellinger", "chi2", "naive_bayes"}
        The criterion, as in `rank_features`. Others take more than counts.

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
    """Count the nonzeros and the bytes that are left at every cut, of documents on the workers.

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


def sum_block(block: Block, by: str) -> Sums:
    """Return what the documents of a block have of each feature, as a criterion counts it."""
    X = tidy(block.X)
    check_sign(X, by)
    return sum_for(by, X, block.indicator)


class Presence(NamedTuple):
    """In how many documents each feature is, and how many are of each class; both add up."""

    frequency: NDArray[np.intp]
    sizes: NDArray[np.intp]

    def merge(self, other: Presence) -> Presence:
        """Return the counts of these documents and of others."""
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
