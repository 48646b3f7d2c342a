"""Retraining of one class at every cut, from the largest cut to the smallest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.descent import Task, rebuild, score
from spokeshave.kernels.rows import DROPPED, Rows, drop_features, rescale, set_prior, take_features
from spokeshave.svm.solver import Stop, limit_bias, solve_class


class Retrained(NamedTuple):
    """The optimum at a cut: kept features, their weights, y times alpha, objective and gap."""

    features: NDArray[np.uint32]
    weights: NDArray[np.float64]
    intercept: float
    beta: NDArray[np.float64]
    objective: float
    gap: float

    @property
    def relative_gap(self) -> float:
        """The duality gap relative to the objective."""
        return self.gap / self.objective


class Path(NamedTuple):
    """How retraining proceeds from cut to cut.

    ``warm`` starts from the dual of the cut before, and ``rerank`` ranks the features anew by the
    weights of that cut.
    """

    warm: bool
    rerank: bool


PATHS = {
    "exact": Path(warm=False, rerank=False),
    "warm": Path(warm=True, rerank=False),
    "rfe": Path(warm=True, rerank=True),
}


def retrain(
    rows: Rows,
    n_features: int,
    task: Task,
    bias: float,
    order: NDArray[np.uint32],
    ends: NDArray[np.intp],
    beta: NDArray[np.float64],
    path: Path,
    unit: bool,
    stop: Stop,
    seed: int,
) -> Iterator[Retrained]:
    """Yield the optimum at each cut, the largest cut first.

    ``order`` holds the features of the class, best first, and ``beta`` is the dual to start from.
    If ``unit``, documents are scaled to length one at each cut. A prior of the ``rows`` stays the
    same for the features that are kept.
    """
    features = np.arange(n_features, dtype=np.uint32)
    rank = np.full(n_features, n_features)
    rank[order] = np.arange(order.size)
    beta, margins, variance = beta.copy(), np.empty(beta.size), rows.variance
    for step, end in enumerate(ends[::-1]):
        kept = rank[features] < end
        rows, features = _keep(rows, kept, unit, in_place=step > 0), features[kept]
        if variance is not None:
            rows = set_prior(rows, variance[features])
        weights = np.zeros(features.size)
        if not path.warm:
            beta[:] = 0
        b = rebuild(rows, limit_bias(bias), beta, weights)
        score(rows, weights, b, margins)
        b, _, objective, gap = solve_class(rows, task, bias, beta, weights, b, margins, stop, seed)
        yield Retrained(features, weights, b, beta.copy(), objective, gap)
        if path.rerank:
            rank[features[np.argsort(-np.abs(weights), kind="stable")]] = np.arange(features.size)


def _keep(rows: Rows, kept: NDArray[np.bool_], unit: bool, *, in_place: bool) -> Rows:
    """Return the rows without all other features, in the same arrays or in a copy."""
    number = np.full(kept.size, DROPPED)
    number[kept] = np.arange(np.count_nonzero(kept), dtype=np.uint32)
    if in_place:
        drop_features(*rows[:3], number, *rows[:3])
    else:
        rows = take_features(rows, number)
    rescale(rows.indptr, rows.data, unit, rows.scale, rows.squared_length)
    return rows
