"""One class retrained at every cut, from the most features to the fewest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from spokeshave.kernels.descent import Task, rebuild, score
from spokeshave.kernels.rows import DROPPED, Rows, drop_features, rescale
from spokeshave.svm.solver import Stop, limit_bias, solve_class


class Retrained(NamedTuple):
    """The optimum at a cut: the features kept and their weights, y times alpha, how near."""

    features: NDArray[np.uint32]
    weights: NDArray[np.float64]
    intercept: float
    beta: NDArray[np.float64]
    objective: float
    gap: float

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return self.gap / self.objective


class Path(NamedTuple):
    """How to go from cut to cut.

    ``warm`` starts from the dual of the cut before, and ``rerank`` orders the features anew by the
    weights found there.
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
    """Yield the optimum at each cut, the last cut, which keeps most, first.

    ``order`` holds the features of the class, best first, and ``beta`` is a dual to start from.
    Documents are scaled to length one at each cut if ``unit``. The rows are changed: they must be
    a copy.
    """
    features = np.arange(n_features, dtype=np.uint32)
    place = np.full(n_features, n_features)
    place[order] = np.arange(order.size)
    beta, margins = beta.copy(), np.empty(beta.size)
    for end in ends[::-1]:
        features = _keep(rows, features, place[features] < end, unit)
        weights = np.zeros(features.size)
        if not path.warm:
            beta[:] = 0
        b = rebuild(rows, limit_bias(bias), beta, weights)
        score(rows, weights, b, margins)
        b, _, objective, gap = solve_class(rows, task, bias, beta, weights, b, margins, stop, seed)
        yield Retrained(features, weights, b, beta.copy(), objective, gap)
        if path.rerank:
            place[features[np.argsort(-np.abs(weights), kind="stable")]] = np.arange(features.size)


def warn_if_stopped_early(relative_gap: float, stop: Stop, stacklevel: int) -> None:
    """Warn where training ran out of passes, given the worst gap it was left with."""
    if relative_gap > stop.tol:
        warnings.warn(
            f"Training stopped after max_iter={stop.max_passes} passes with a relative duality "
            f"gap of {relative_gap:.2g}, above tol={stop.tol:g}. Raise max_iter or tol, or "
            "scale the features.",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )


def _keep(
    rows: Rows, features: NDArray[np.uint32], kept: NDArray[np.bool_], unit: bool
) -> NDArray[np.uint32]:
    """Drop all other features from the rows, in place; return those that are left."""
    number = np.full(kept.size, DROPPED)
    number[kept] = np.arange(np.count_nonzero(kept), dtype=np.uint32)
    drop_features(rows.indptr, rows.indices, rows.data, number)
    rescale(rows.indptr, rows.data, unit, rows.scale, rows.squared_length)
    return features[kept]
