"""The ranker: features ordered by an SVM on a subset of the documents, and how many are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.budget.rounds import Objective
from spokeshave.budget.sample import Sample
from spokeshave.budget.shards import set_lengths
from spokeshave.budget.store import Store, number_features
from spokeshave.kernels.descent import score
from spokeshave.kernels.ranking import order_nonzero
from spokeshave.kernels.rows import Rows
from spokeshave.metrics import count_order, mean_known, measure
from spokeshave.ranking.criteria import rank_features
from spokeshave.svm.solver import Problem, Solution, Stop, solve_rows
from spokeshave.utils.validation import list_documents

MOST_JUDGES = 20_000
FEWEST_NONZEROS = 2.0  # per document, to be worth halving


@dataclass(frozen=True, eq=False)
class Remaining:
    """The features that are not too rare or too frequent, the most frequent first.

    Attributes
    ----------
    features : ndarray
        Their numbers in the sample.
    frequency : ndarray
        How many documents of the sample have each.
    n_rare, n_frequent : int
        How many were pruned.
    """

    features: NDArray[np.intp]
    frequency: NDArray[np.int64]
    n_rare: int
    n_frequent: int


def prune(
    frequency: NDArray[np.int64], lowest: float, highest: float, is_stopped: NDArray[np.bool_]
) -> Remaining:
    """Leave out features of too few documents or too many, and stop words.

    Examples
    --------
    >>> prune(np.array([1, 5, 2, 9]), 2, 8, np.zeros(4, bool)).features
    array([1, 2])
    """
    is_rare, is_frequent = (frequency > 0) & (frequency < lowest), frequency > highest
    kept = np.flatnonzero((frequency > 0) & ~is_rare & ~is_frequent & ~is_stopped)
    kept = kept[np.argsort(-frequency[kept], kind="stable")]
    return Remaining(kept, frequency[kept], int(is_rare.sum()), int(is_frequent.sum()))


@dataclass(frozen=True)
class Ranker:
    """How features are ranked, and how it is judged how many are needed.

    Attributes
    ----------
    by : str
        The criterion, as in `rank_features`.
    objective : Objective
        The SVM.
    stop : Stop
        When it stops.
    norm : {"l2", "l1"} or None
        The length that documents are brought to.
    tolerance : float
        How much less than the best macro-averaged F1 will do.
    n_classes : int
        How many classes there are.
    seed, n_jobs : int
        Seed, and threads.
    """

    by: str
    objective: Objective
    stop: Stop
    norm: str | None
    tolerance: float
    n_classes: int
    seed: int
    n_jobs: int | None

    def rank(self, sample: Sample, n_features: int) -> tuple[NDArray[np.uint32], float]:
        """Return the features from best to worst, and the macro-averaged F1 with all of them."""
        solution = self._train(sample, n_features)
        order = order_nonzero(self._score(sample, solution, n_features))
        return order, self._judge(sample, solution)

    def find_needed(
        self,
        sample: Sample,
        order: NDArray[np.uint32],
        per_document: NDArray[np.float64],
        value: float,
        fewest: int,
    ) -> int:
        """Return how many features do as well as all, ``fewest`` at least.

        The SVM is trained again on half as many nonzeros per document, and on half as many again,
        until it is not as good as the best. The features of the sample get new numbers.

        Parameters
        ----------
        sample : Sample
            The documents, as they were ranked on.
        order, value
            What ranking them has found.
        per_document : ndarray of shape (n_ranked + 1,)
            Nonzeros per document that 0, 1, 2 and so on of the features leave.
        fewest : int
            The number below which it does not matter.
        """
        n_kept, best = order.size, value
        sample.renumber(number_features(order, sample.n_features))
        while (n_fewer := _halve(per_document, n_kept, fewest)) < n_kept:
            sample.renumber(number_features(np.arange(n_fewer), sample.n_features))
            value = self._judge(sample, self._train(sample, n_fewer))
            best = max(best, value)
            if not value >= best - self.tolerance:
                break
            n_kept = n_fewer
        return n_kept

    def _train(self, sample: Sample, n_features: int) -> Solution:
        rows = make_rows(sample.train, self.norm)
        empty = sparse.csr_matrix((rows.scale.size, n_features))
        box, ridge, bias, _ = self.objective
        problem = Problem(empty, self._indicate(sample.train), rows.weight, box, ridge, bias)
        rank = np.arange(n_features, dtype=np.uint32)
        return solve_rows(
            rows, rank, problem, self.stop, seed=self.seed, n_jobs=self.n_jobs, keep_dual=False
        )

    def _score(self, sample: Sample, solution: Solution, n_features: int) -> NDArray[np.float64]:
        """Return the largest score of each feature in any class."""
        if self.by != "normal":
            X = to_matrix(make_rows(sample.train, self.norm), n_features)
            y = self._indicate(sample.train).tocsr()
            ranking = rank_features(X, y, self.by, random_state=self.seed, n_jobs=self.n_jobs)
            return np.asarray(ranking.aggregate("max").scores[0])
        scores = np.zeros(n_features)
        for weights in solution.coef:  # one by one: all of them at once would be there twice
            np.maximum(scores, np.abs(weights), out=scores)
        return scores

    def _judge(self, sample: Sample, solution: Solution) -> float:
        """Return the macro-averaged best F1 of an SVM on documents it was not trained on."""
        rows, indicator = make_rows(sample.judges, self.norm), self._indicate(sample.judges)
        margins = np.empty(rows.scale.size)
        values = np.empty(len(solution.coef))
        for k, weights in enumerate(solution.coef):
            score(rows, weights, solution.intercept[k], margins)
            counts, _ = count_order(margins[None, :], list_documents(indicator, k))
            values[k] = measure("best_f1", counts)[0]
        return float(mean_known(values, 0))

    def _indicate(self, store: Store) -> sparse.csc_matrix:
        return store.indicate(self.n_classes).tocsc()[:, self.objective.codes]


def _halve(per_document: NDArray[np.float64], n_kept: int, fewest: int) -> int:
    """Return how many features leave half as many nonzeros, but one to a document at least.

    Examples
    --------
    >>> _halve(np.array([0.0, 2.0, 3.0, 4.0]), 3, fewest=0), _halve(np.array([0.0, 1.5]), 1, 0)
    (1, 1)
    """
    if per_document[n_kept] < FEWEST_NONZEROS:
        return n_kept
    n_half = int(np.searchsorted(per_document, per_document[n_kept] / 2))
    return min(n_kept, max(n_half, fewest, 1))


def make_rows(store: Store, norm: str | None) -> Rows:
    """Return the documents of a store as the solver reads them."""
    values = store.values
    scale, squared_length = np.ones(len(store)), np.empty(len(store))
    set_lengths(store.indptr, values, norm, scale, squared_length)
    return Rows(store.indptr, store.indices, values, scale, squared_length, np.ones(len(store)))


def to_matrix(rows: Rows, n_features: int) -> sparse.csr_matrix:
    """Return rows as a matrix, for criteria that take one."""
    lengths: Any = np.diff(rows.indptr.astype(np.int64))
    data: Any = np.repeat(rows.scale.astype(np.float32), lengths)
    if rows.data is not None:
        data *= rows.data
    shape = lengths.size, n_features
    indptr = rows.indptr.astype(np.int64)
    X = sparse.csr_matrix((data, rows.indices.astype(np.int32), indptr), shape=shape)
    X.sort_indices()
    return X
