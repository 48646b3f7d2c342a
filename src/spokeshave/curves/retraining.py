"""Retraining of one class at every cut, from the largest cut to the smallest."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.cuts import Columns, gather_features
from spokeshave.kernels.descent import Task, rebuild, score
from spokeshave.kernels.rows import Rows, rescale, set_prior, shorten_rows
from spokeshave.svm.solver import Stop, limit_bias, solve_class

DECIDED_SHARE = 0.1  # of what the features improve the objective by: the largest gap
FINEST_SHARE = 1e-6  # of the tolerance: the smallest improvement that is looked for
LEAST = 1e-12  # of the objective: the smallest that can be computed


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
        return self.gap / self.objective if self.gap else 0.0


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
    at each cut. A prior of the ``rows`` stays the same for the features that are kept. A cut with
    the features of the cut before has its solution.

    A gap that is small beside the objective may be large beside the little that the few features
    left improve it by: scores would then follow the errors of the solver. So it has to be small
    beside that as well, and features that improve nothing get a weight of zero.
    """
    ignored = ignore_features(task, rows.weight, bias)
    beta, margins = beta.copy(), np.empty(beta.size)
    w = np.empty(columns.indptr.size - 1)
    kept, lengths = take_ranked(rows, columns, order, ends)
    found: Retrained | None = None
    for c in reversed(range(ends.size)):
        if found is not None and found.features.size == ends[c]:
            yield found
            continue
        features = order[: ends[c]]
        shorten_rows(*kept[:3], lengths[c])
        rescale(kept.indptr, kept.data, unit, kept.scale, kept.squared_length)
        kept = set_prior(kept, rows.variance)
        if not path.warm:
            beta[:] = 0
        b = rebuild(kept, limit_bias(bias), beta, w)
        score(kept, w, b, margins)
        b, objective, gap = _solve(kept, task, bias, beta, w, b, margins, stop, seed, ignored)
        if path.rerank:
            features = features[np.argsort(-np.abs(w[features]), kind="stable")]
            kept, lengths = take_ranked(rows, columns, features, ends[:c])
            order = features
        found = Retrained(features, w[features], b, beta.copy(), objective, gap)
        yield found


class Ignored(NamedTuple):
    """The optimum of a class without any feature: an intercept, and the objective."""

    intercept: float
    objective: float


def ignore_features(task: Task, weight: NDArray[np.float64], bias: float) -> Ignored:
    """Return the optimum of a class that has no features.

    Examples
    --------
    >>> task = Task(np.array([1, -1, -1], np.int8), np.ones(2), np.zeros(2))
    >>> ignore_features(task, np.ones(3), 1.0)
    Ignored(intercept=-1.0, objective=2.5)
    """
    total = np.array([weight[task.y < 0].sum(), weight[task.y > 0].sum()])
    if task.ridge.any():  # the squared hinge: cost (1 - b)^2 + cost (1 + b)^2 and the penalty
        negative, positive = total / (2 * task.ridge)
        pull = 1 / bias if bias > 0 else np.inf
        b = 2 * (positive - negative) / (pull + 2 * (negative + positive))
        loss = positive * (1 - b) ** 2 + negative * (1 + b) ** 2
    else:
        negative, positive = total * task.box
        # Beyond -1 and 1 nothing is gained. An infinite bias times zero would be no number.
        b = float(np.clip(min(bias, 1e300) * (positive - negative), -1, 1))
        loss = positive * (1 - b) + negative * (1 + b)
    penalty = b * b / (2 * bias) if bias > 0 and isfinite(bias) else 0.0
    return Ignored(float(b), float(loss + penalty))


def _solve(
    rows: Rows,
    task: Task,
    bias: float,
    beta: NDArray[np.float64],
    w: NDArray[np.float64],
    b: float,
    margins: NDArray[np.float64],
    stop: Stop,
    seed: int,
    ignored: Ignored,
) -> tuple[float, float, float]:
    """Solve one class with `solve_class`, until it is known what the features improve.

    Changes ``beta``, ``w`` and ``margins`` in place; returns the intercept, the objective and the
    gap. If the objective without any feature is not larger, the weights are zero.
    """
    tol, left = stop.tol, stop.max_passes
    finest = max(FINEST_SHARE * tol, min(tol, LEAST))
    while True:
        problem = rows, task, bias, beta, w, b, margins
        b, passes, objective, gap = solve_class(*problem, Stop(tol, left), seed)
        left -= passes
        bound = objective - gap  # of the optimum, from below
        enough = max(DECIDED_SHARE * (ignored.objective - bound), finest * objective)
        if gap <= enough or left <= 0:
            break
        tol = min(tol / 10, enough / objective)
    if ignored.objective <= (1 + finest) * objective:
        w[:] = 0
        return ignored.intercept, ignored.objective, max(ignored.objective - bound, 0.0)
    return b, objective, gap


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
