"""The scores of one class at every cut, by each method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.curves.cuts import accumulate, count_kept, count_within
from spokeshave.curves.fitted import FittedClasses
from spokeshave.curves.retraining import PATHS, Retrained, retrain
from spokeshave.kernels.cuts import (
    Columns,
    add_support_vectors,
    measure_cuts,
    renormalize,
    score_mask,
    score_weights,
    transpose,
)
from spokeshave.kernels.descent import Task
from spokeshave.kernels.lanes import LANES
from spokeshave.kernels.rows import Rows, make_rows


class ScoredDocuments(NamedTuple):
    """Documents to score, by row and by column."""

    rows: Rows
    columns: Columns


class Cut(NamedTuple):
    """The ranked features of a class, best first, and how many of them each cut keeps."""

    order: NDArray[np.uint32]
    ends: NDArray[np.intp]


class ScoreBuffers(NamedTuple):
    """Buffers that a thread reuses from class to class; allocating them anew would block others.

    Scores and squared lengths are (cuts x documents), weights (groups of lanes x features x
    lanes).
    """

    scores: NDArray[np.float64]
    squared_length: NDArray[np.float64]
    by_lane: NDArray[np.float64]


class Weights(NamedTuple):
    """Weights that differ from cut to cut (groups of lanes x features x lanes), and intercepts.

    ``optima`` (2 x cuts) are the primal objectives and the relative duality gaps, NaN if nothing
    was retrained.
    """

    by_lane: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    optima: NDArray[np.float64]


class ClassWeights(NamedTuple):
    """Weights and intercept of a class at one cut; objective and gap if it was retrained."""

    weights: NDArray[np.float64]
    intercept: float
    objective: float = np.nan
    relative_gap: float = np.nan


def lay_out_documents(X: sparse.csr_matrix) -> ScoredDocuments:
    """Return documents by row and by column."""
    rows = make_rows(X.indptr, X.indices, X.data, np.ones(X.shape[0]))
    return ScoredDocuments(rows, transpose(rows, X.shape[1]))


def renumber(documents: ScoredDocuments, number: NDArray[np.uint32]) -> ScoredDocuments:
    """Return documents whose rows have new feature numbers."""
    rows = documents.rows
    return documents._replace(rows=rows._replace(indices=number[rows.indices]))


def allocate_buffers(test: ScoredDocuments, n_cuts: int, n_features: int) -> ScoreBuffers:
    """Return buffers for a number of cuts and features."""
    scores, squared_length = np.empty((2, n_cuts, test.rows.scale.size))
    return ScoreBuffers(scores, squared_length, np.empty((-(-n_cuts // LANES), n_features, LANES)))


def find_cut(fitted: FittedClasses, k: int, cuts: NDArray[Any], against: str = "features") -> Cut:
    """Return the cuts of one class."""
    order = fitted.list_features(k)
    if against == "sparsity":
        nonzeros = accumulate(fitted.frequency, order, fitted.X.shape[0])
        return Cut(order, count_within(nonzeros, cuts))
    return Cut(order, count_kept(cuts, np.array([order.size]))[0])


def count_nonzeros(fitted: FittedClasses, cut: Cut) -> NDArray[np.float64]:
    """Return the mean nonzeros per training document at each cut."""
    return accumulate(fitted.frequency, cut.order, fitted.X.shape[0])[cut.ends]


def score_masked(
    test: ScoredDocuments,
    cut: Cut,
    coef: NDArray[np.float64],
    intercept: float,
    unit: bool,
    buffers: ScoreBuffers,
) -> None:
    """Write the scores of one weight vector with features masked at each cut."""
    if not unit:
        score_mask(test.columns, cut.order, cut.ends, coef, intercept, buffers.scores)
        return
    unscaled = test.columns._replace(scale=np.ones_like(test.columns.scale))
    score_mask(unscaled, cut.order, cut.ends, coef, 0.0, buffers.scores)
    _renormalize(test, cut, np.full(cut.ends.size, intercept), buffers)


def score_weighted(
    test: ScoredDocuments, cut: Cut, weights: Weights, unit: bool, buffers: ScoreBuffers
) -> None:
    """Write the scores of weights that differ from cut to cut; documents must be renumbered."""
    rows, intercepts = test.rows, weights.intercepts
    if unit:
        rows, intercepts = rows._replace(scale=np.ones_like(rows.scale)), np.zeros_like(intercepts)
    for group, V in enumerate(weights.by_lane):
        lanes = slice(group * LANES, (group + 1) * LANES)
        score_weights(rows, V, intercepts[lanes], buffers.scores[lanes])
    if unit:
        _renormalize(test, cut, weights.intercepts, buffers)


def _renormalize(
    test: ScoredDocuments, cut: Cut, intercepts: NDArray[np.float64], buffers: ScoreBuffers
) -> None:
    measure_cuts(test.columns, cut.order, cut.ends, buffers.squared_length)
    renormalize(buffers.scores, buffers.squared_length, test.columns.scale, intercepts)
    if test.columns.data is not None:
        # Documents left with one word are tied up to rounding: keep 40 bits of the score.
        bits = buffers.scores.view(np.int64)
        bits += 1 << 12
        bits &= ~((1 << 13) - 1)


def sum_support_vectors(
    fitted: FittedClasses, k: int, cut: Cut, unit: bool, by_lane: NDArray[np.float64]
) -> Weights:
    """Return the sv set: the sum of the support vectors, masked and re-normalised at each cut."""
    n_cuts, n_features = cut.ends.size, fitted.X.shape[1]
    assert fitted.dual is not None
    beta, variance = fitted.dual.beta[k], fitted.dual.problem.take_variance(k)
    bucket = np.full(n_features, n_cuts)
    kept = fitted.number[cut.order[: cut.ends[-1]]]
    bucket[kept] = np.repeat(np.arange(n_cuts), np.diff(cut.ends, prepend=0))
    for group, V in enumerate(by_lane):
        lane = np.clip(bucket - group * LANES, 0, LANES).astype(np.uint8)
        add_support_vectors(fitted.renumbered, beta.indices, beta.data, lane, unit, V)
        if variance is not None:
            V[fitted.number] *= variance[:, None]
    return Weights(by_lane, np.full(n_cuts, fitted.intercept[k]), np.full((2, n_cuts), np.nan))


def retrain_class(
    fitted: FittedClasses, k: int, cut: Cut, method: str, unit: bool, seed: int
) -> Iterator[Retrained]:
    """Yield the optimum at each cut, the largest cut first, with renumbered features."""
    dual = fitted.dual
    assert dual is not None
    y = (2 * fitted.indicator[:, [k]].toarray().ravel() - 1).astype(np.int8)
    task = Task(y, dual.problem.box[k], dual.problem.ridge[k])
    rows, variance = fitted.renumbered, dual.problem.take_variance(k)
    if variance is not None:
        rows = rows._replace(variance=variance[fitted.numbered])
    return retrain(
        rows,
        fitted.columns,
        task,
        dual.problem.bias,
        fitted.number[cut.order],
        cut.ends,
        dual.beta[k].toarray().ravel(),
        PATHS[method],
        unit,
        dual.stop,
        seed,
    )


def collect_weights(
    fitted: FittedClasses,
    solutions: Iterable[Retrained],
    ends: NDArray[np.intp],
    by_lane: NDArray[np.float64],
) -> tuple[Cut, Weights]:
    """Return the features and the weights at each cut, given solutions from the largest cut on."""
    by_lane[:] = 0
    order, intercepts = np.empty(ends[-1], np.uint32), np.empty(ends.size)
    optima = np.empty((2, ends.size))
    for c, found in zip(reversed(range(ends.size)), solutions, strict=True):
        order[: ends[c]] = found.features
        by_lane[c // LANES, found.features, c % LANES] = found.weights
        intercepts[c], optima[:, c] = found.intercept, (found.objective, found.relative_gap)
    return Cut(fitted.numbered[order].astype(np.uint32), ends), Weights(by_lane, intercepts, optima)


def fit_at_cut(
    fitted: FittedClasses, k: int, cut: Cut, method: str, unit: bool, seed: int
) -> ClassWeights:
    """Return the weights of one class at a single cut, by any method."""
    kept = cut.order[: cut.ends[0]]
    weights = np.zeros(fitted.X.shape[1])
    if method == "mask":
        weights[kept] = fitted.coef[k, kept]
        return ClassWeights(weights, float(fitted.intercept[k]))
    if method == "sv_set":
        by_lane = np.empty((1, weights.size, LANES))
        found = sum_support_vectors(fitted, k, cut, unit, by_lane)
        weights[kept] = by_lane[0, fitted.number[kept], 0]
        return ClassWeights(weights, float(found.intercepts[0]))
    (at,) = retrain_class(fitted, k, cut, method, unit, seed)
    weights[fitted.numbered[at.features]] = at.weights
    return ClassWeights(weights, at.intercept, at.objective, at.relative_gap)
