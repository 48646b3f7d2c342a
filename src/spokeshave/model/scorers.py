"""Scorers of a saved model: the score of each class from rows of features, without scikit-learn.

A score is the intercept plus the contributions of the features of a document.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spokeshave.model.inputs import Rows, measure_rows

N_BINS = 2  # the bins of a feature, zero and missing, as in kernels.shaping, which needs numba

Located: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64]]"  # of `find_levels`


@dataclass(frozen=True, eq=False)
class SparseScorer:
    """Sparse weights: each class has weights only for the features it keeps.

    Attributes
    ----------
    starts : ndarray of shape (n_features + 1,)
        Start of the weights of each feature.
    classes, weights : ndarray of shape (n_weights,)
        The class of each weight, and the weight.
    intercept : ndarray of shape (n_classes,)
        Intercepts.
    unit : bool
        Whether a document is scaled to length one over the features of each class.

    Examples
    --------
    >>> scorer = SparseScorer(
    ...     np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([2.0, 1.0, -1.0]), np.zeros(2), True
    ... )
    >>> scorer.score(Rows(np.array([0, 2]), np.array([0, 1]), None)).round(2)
    array([[ 2.12, -1.  ]])
    """

    starts: NDArray[np.int64]
    classes: NDArray[Any]
    weights: NDArray[np.float32]
    intercept: NDArray[np.float64]
    unit: bool

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return len(self.weights)

    def list_weights(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the features of class k and their weights."""
        order, ends = self._by_class
        places = order[ends[k] : ends[k + 1]]
        return np.searchsorted(self.starts, places, "right") - 1, self.weights[places]

    @cached_property
    def _by_class(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The places of the weights, class by class, and where those of each class begin."""
        counts = np.bincount(self.classes, minlength=len(self.intercept))
        return np.argsort(self.classes, kind="stable"), np.concatenate([[0], np.cumsum(counts)])

    def score(self, rows: Rows) -> NDArray[np.float64]:
        """Return the score of each document for each class."""
        scores, squares = self._add_up(rows)
        if squares is not None:
            scores /= np.sqrt(np.where(squares > 0, squares, 1))
        return scores + self.intercept

    def contribute(self, rows: Rows, k: int) -> NDArray[np.float64]:
        """Return the contribution of each cell of the rows to the score of class k."""
        n_cells = len(rows.features)
        values = np.ones(n_cells) if rows.values is None else rows.values
        cells, weights = self._find_weights(rows.features)
        is_of_class = self.classes[weights] == k
        cells, weights = cells[is_of_class], weights[is_of_class]
        contribution: NDArray[np.float64] = np.asarray(
            np.bincount(cells, values[cells] * self.weights[weights], n_cells), float
        )
        if self.unit:
            n_documents = len(rows.indptr) - 1
            documents = np.repeat(np.arange(n_documents), np.diff(rows.indptr))
            squares = np.bincount(documents[cells], values[cells] ** 2, n_documents)
            contribution = contribution / np.sqrt(np.where(squares > 0, squares, 1))[documents]
        return np.asarray(contribution)

    def _add_up(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return sums of weights (documents x classes) and, if ``unit``, of squared values."""
        shape = len(rows.indptr) - 1, len(self.intercept)
        if sys.modules.get("numba") is None:
            return self._add_up_slowly(rows, shape)

        from spokeshave.kernels.rows import add_weights

        scores = np.zeros(shape)
        squares = np.zeros(shape) if self.unit else None
        add_weights(*rows, self.starts, self.classes, self.weights, scores, squares)
        return scores, squares

    def _add_up_slowly(
        self, rows: Rows, shape: tuple[int, int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Do the same as ``kernels.rows.add_weights`` in numpy."""
        cells, weights = self._find_weights(rows.features)
        documents = np.repeat(np.arange(shape[0]), np.diff(rows.indptr))
        target = documents[cells] * shape[1] + self.classes[weights]
        values = np.ones(len(cells)) if rows.values is None else rows.values[cells]

        def gather(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
            sums = np.bincount(target, amounts, minlength=shape[0] * shape[1])
            return np.asarray(sums, float).reshape(shape)

        scores = gather(values * self.weights[weights])
        return scores, gather(values * values) if self.unit else None

    def _find_weights(self, features: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the places of all weights of the features, and before that the cell of each."""
        counts = np.diff(self.starts)[features]
        ends = np.cumsum(counts)
        first = np.repeat(self.starts[features] - (ends - counts), counts)
        return np.repeat(np.arange(len(features)), counts), first + np.arange(len(first))


class ShapeTable(NamedTuple):
    """The probability of each class at each level of each feature: the part of `Shapes` to score.

    ``starts`` is the start of the levels of each feature, the bins first; ``probability`` is
    (classes x levels); ``prior`` is the probability of each class at an unknown value.
    """

    starts: NDArray[np.int64]
    levels: NDArray[np.float64]
    probability: NDArray[np.float32]
    prior: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ShapedScorer:
    """Weights of features that are shaped and scaled for each class, as by `ShapedSVC`.

    Attributes
    ----------
    table : ShapeTable or None
        The probabilities that replace values, or None to keep the values.
    is_binary, is_log : bool
        Whether values above zero become one, and whether probabilities become log odds.
    base, factor, weights : ndarray of shape (n_classes, n_features)
        Subtracted from a value, then multiplied with it, and the weight of the result.
    norm : {"l2", "l1", "max"} or None
        The norm by which documents are normalised before they are weighted.
    intercept : ndarray of shape (n_classes,)
        Intercepts.
    """

    table: ShapeTable | None
    is_binary: bool
    is_log: bool
    base: NDArray[np.float32]
    factor: NDArray[np.float32]
    weights: NDArray[np.float32]
    norm: str | None
    intercept: NDArray[np.float64]

    @property
    def n_weights(self) -> int:
        """Number of nonzero weights."""
        return int(np.count_nonzero(self.weights))

    def list_weights(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the features of class k and their weights."""
        return np.arange(self.weights.shape[1]), self.weights[k]

    def score(self, rows: Rows) -> NDArray[np.float64]:
        """Return the score of each document for each class."""
        n_documents = len(rows.indptr) - 1
        documents = np.repeat(np.arange(n_documents), np.diff(rows.indptr))
        scores = np.empty((n_documents, len(self.intercept)))
        values, levels = self._locate(rows)
        for k, intercept in enumerate(self.intercept):
            contribution = self._weigh(rows, k, values, levels)
            scores[:, k] = np.bincount(documents, contribution, minlength=n_documents)
            scores[:, k] += intercept
        return scores

    def contribute(self, rows: Rows, k: int) -> NDArray[np.float64]:
        """Return the contribution of each cell of the rows to the score of class k."""
        return self._weigh(rows, k, *self._locate(rows))

    def _locate(self, rows: Rows) -> tuple[NDArray[np.float64], Located | None]:
        """Return the value of each cell, and where it is among the levels of its feature."""
        values = np.ones(len(rows.features)) if rows.values is None else rows.values
        if self.is_binary:
            values = (values > 0).astype(float)
        if self.table is None:
            return values, None
        return values, find_levels(self.table, rows.features, values)

    def _weigh(
        self, rows: Rows, k: int, values: NDArray[np.float64], levels: Located | None
    ) -> NDArray[np.float64]:
        """Return the contribution of each cell to the score of class k."""
        features = rows.features
        image = values if levels is None else self._interpolate(k, *levels)
        image = (image - self.base[k, features]) * self.factor[k, features]
        if self.norm is not None:
            length = measure_rows(rows.indptr, image, self.norm)
            image /= np.repeat(length, np.diff(rows.indptr))
        return np.asarray(image * self.weights[k, features])

    def _interpolate(
        self, k: int, left: NDArray[np.int64], share: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the probabilities or log odds of class k at the positions of `find_levels`."""
        assert self.table is not None
        probability = self.table.probability[k].astype(float)
        right = np.minimum(left + 1, len(probability) - 1)
        found = probability[left] + share * (probability[right] - probability[left])
        found = np.where(left < 0, self.table.prior[k], found)
        return np.asarray(np.log(found / (1 - found)) if self.is_log else found)


def find_levels(
    table: ShapeTable, features: NDArray[Any], values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the level at or just below each value, and the weight of the next level.

    A value beyond the known ones is clamped to the nearest, a missing one has its bin, and a value
    of a feature without levels has level -1. Equals ``kernels.shaping.look_up``, without numba.

    Examples
    --------
    >>> table = ShapeTable(
    ...     np.array([0, 4]), np.array([0, 0, 1.0, 3.0]), np.zeros((1, 4)), None
    ... )
    >>> find_levels(table, np.array([0, 0]), np.array([1.5, 9.0]))
    (array([2, 3]), array([0.25, 0.  ]))
    """
    first, end = table.starts[features] + N_BINS, table.starts[1:][features]
    low, high = first.copy(), end.copy()
    while (low < high).any():  # bisection for the first level above each value, all at once
        middle = (low + high) // 2
        is_open = low < high
        is_above = is_open & ~(table.levels[np.where(is_open, middle, 0)] <= values)
        low = np.where(is_open & ~is_above, middle + 1, low)
        high = np.where(is_above, middle, high)
    left = np.maximum(low - 1, first)
    is_missing, has_none = np.isnan(values), first == end
    left = np.where(has_none, 0, left)
    below = table.levels[left]
    above = table.levels[np.where(low < end, low, left)]
    is_between = (first < low) & (low < end) & (below != values) & ~has_none & ~is_missing
    share = np.zeros(len(values))
    share[is_between] = ((values - below) / np.where(is_between, above - below, 1))[is_between]
    left = np.where(has_none, -1, left)
    return np.where(is_missing, first - 1, left), share
