"""Retraining of one class at every cut, from the largest cut to the smallest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.cuts import Columns, gather_features
from spokeshave.kernels.descent import Task, rebuild, score
from spokeshave.kernels.rows import Rows, rescale, set_prior, shorten_rows
from spokeshave.svm.solver import Stop, limit_bias, solve_class


class Retrained(NamedTuple):
    """The optimum at a cut: kept features, their weights, y times alpha, objective and gap.

    The first of the features are those of the next smaller cut.
    """

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
    columns: Columns,
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

    ``rows`` and ``columns`` are the same documents. ``order`` holds the features of the class, best
    first, and ``beta`` is the dual to start from. If ``unit``, documents are scaled to length one
    at each cut. A prior of the ``rows`` stays the same for the features that are kept.
    """
    beta, margins = beta.copy(), np.empty(beta.size)
    w = np.empty(columns.indptr.size - 1)
    kept, lengths = take_ranked(rows, columns, order, ends)
    for c in reversed(range(ends.size)):
        features = order[: ends[c]]
        shorten_rows(*kept[:3], lengths[c])
        rescale(kept.indptr, kept.data, unit, kept.scale, kept.squared_length)
        kept = set_prior(kept, rows.variance)
        if not path.warm:
            beta[:] = 0
        b = rebuild(kept, limit_bias(bias), beta, w)
        score(kept, w, b, margins)
        b, _, objective, gap = solve_class(kept, task, bias, beta, w, b, margins, stop, seed)
        if path.rerank:
            features = features[np.argsort(-np.abs(w[features]), kind="stable")]
            kept, lengths = take_ranked(rows, columns, features, ends[:c])
            order = features
        yield Retrained(features, w[features], b, beta.copy(), objective, gap)


def take_ranked(
    rows: Rows, columns: Columns, order: NDArray[np.uint32], ends: NDArray[np.intp]
) -> tuple[Rows, NDArray[np.uint32]]:
    """Return a copy of the rows to shorten, and their length at each cut (cuts x documents).

    The features of a row follow ``order``, so each cut keeps its first ones.
    """
    indptr, indices = rows.indptr.copy(), np.empty_like(rows.indices)
    data = None if rows.data is None else np.empty_like(rows.data)
    lengths = np.empty((ends.size, rows.scale.size), np.uint32)
    gather_features(columns, order, ends, indptr, indices, data, lengths)
    scale, squared_length = rows.scale.copy(), np.empty_like(rows.squared_length)
    return Rows(indptr, indices, data, scale, squared_length, rows.weight), lengths
