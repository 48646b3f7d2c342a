"""Rank features on nested random subsets of the documents."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from spokeshave.ranking.criteria import Ranking, check_criterion, rank_features
from spokeshave.utils.validation import binarize, check_documents

HALVES = (1, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
MAX_DENOMINATOR = 1000  # of a share in the name of a ranking


def rank_subsets(
    X: Any,
    y: Any,
    shares: Iterable[float] = HALVES,
    by: str = "normal",
    *,
    estimator: Any = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> dict[str, Ranking]:
    """Rank the features on random subsets of the documents, each nested in the next larger one.

    If not all documents fit into memory, features are ranked on some of them. Features too rare to
    occur in the subset are not ranked.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Documents.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Labels, or a column of zeros and ones per class. In a subset without documents of a class,
        all scores of the class are zero.
    shares : iterable of float, default=(1, 1/2, 1/4, 1/8, 1/16)
        Sizes of the subsets, as shares of the documents.
    by : str, default="normal"
        The criterion, as in `rank_features`.
    estimator : estimator, optional
        As in `rank_features`, but unfitted. It must accept an indicator matrix as y, as
        `DualLinearSVC` does.
    random_state : int, RandomState instance or None, default=None
        Seed of the subsets and of each ranking.
    n_jobs : int, optional
        Number of threads; -1 for all cores.

    Returns
    -------
    rankings : dict of str to Ranking
        Named by criterion and share, such as ``"normal 1/2"``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from spokeshave import rank_subsets
    >>> X, y = load_digits(return_X_y=True)
    >>> rankings = rank_subsets(X, y, (1, 1 / 4), by="chi2", random_state=0)
    >>> list(rankings)
    ['chi2 1', 'chi2 1/4']
    >>> [int(ranking.n_ranked.max()) for ranking in rankings.values()]
    [61, 59]
    """
    check_criterion(by)
    X, y = check_documents(X, y)
    sizes = {_name(by, share): _count(share, X.shape[0]) for share in shares}
    classes, indicator = binarize(y)
    names = classes[-indicator.shape[1] :]
    rows = sparse.csr_matrix(indicator)
    order = check_random_state(random_state).permutation(X.shape[0])
    options = {"estimator": estimator, "random_state": random_state, "n_jobs": n_jobs}
    rankings = {}
    for name, size in sizes.items():
        documents = np.sort(order[:size])
        # An indicator keeps the classes that have none of these documents.
        found = rank_features(X[documents], rows[documents], by, **options)
        rankings[name] = Ranking(found.scores, names, by)
    return rankings


def _name(by: str, share: Any) -> str:
    if not isinstance(share, Real) or not 0 < float(share) <= 1:
        raise ValueError(f"shares must be greater than 0 and at most 1. Got {share!r} instead.")
    return f"{by} {Fraction(float(share)).limit_denominator(MAX_DENOMINATOR)}"


def _count(share: float, n_documents: int) -> int:
    size = round(share * n_documents)
    if size < 1:
        raise ValueError(
            f"shares must leave at least one of the {n_documents} documents. Got {share!r} instead."
        )
    return size
