"""All classes of a one-vs-rest problem, solved in blocks that run side by side."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isfinite, prod
from mmap import mmap
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from spokeshave.kernels.descent import Task, polish, rebuild, score, sweep
from spokeshave.kernels.lanes import LANES
from spokeshave.kernels.rows import Rows, make_rows

N_SWEEPS = 8  # passes before the classes part ways; 5 to 10 are equally fast on RCV1 and 20 News
LARGEST_BIAS = 100.0
MOVE_SHARE = 10  # times the tolerance: an intercept that moves by less, in scores, is at rest
FEWEST_TO_SWEEP = 4  # sixteen lanes cost about as much as four classes one by one


class Problem(NamedTuple):
    """A one-vs-rest problem: documents, an indicator of the classes, and what errors cost.

    ``box`` and ``ridge`` are (classes x 2), for negative and positive documents of weight one, and
    ``bias`` is the squared value of the constant feature, 0 for no intercept and infinite for one
    that costs nothing: ``kernels.descent`` states the problem.
    """

    X: sparse.csr_matrix
    indicator: sparse.csc_matrix
    weight: NDArray[np.float64]
    box: NDArray[np.float64]
    ridge: NDArray[np.float64]
    bias: float


class Solution(NamedTuple):
    """The dual and the primal, a row or an entry per class."""

    dual_coef: sparse.csr_matrix
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    objective: NDArray[np.float64]
    gap: NDArray[np.float64]
    n_passes: NDArray[np.int64]


class Stop(NamedTuple):
    """When to stop: at a relative duality gap, or after so many passes."""

    tol: float
    max_passes: int


def solve(
    problem: Problem,
    stop: Stop,
    *,
    seed: int,
    start: sparse.csr_matrix | None = None,
    n_jobs: int | None = None,
    blocks: Sequence[int] | None = None,
) -> Solution:
    """Solve every class of a problem.

    ``start`` is a dual to start from (classes x documents), clipped into the box. Blocks and
    seeds do not depend on ``n_jobs``, so neither does the result. Of some ``blocks`` only, which
    `deal_blocks` numbers, the solution has the rows of their classes, to the last digit what they
    are of all. Documents without a weight have no part in how classes are dealt.
    """
    used = np.flatnonzero(problem.weight)
    if used.size == problem.weight.size:
        return _solve_used(problem, stop, seed, start, n_jobs, blocks)
    start = None if start is None else start[:, used]
    solution = _solve_used(take_documents(problem, used), stop, seed, start, n_jobs, blocks)
    dual = solution.dual_coef
    shape = dual.shape[0], problem.weight.size
    spread = sparse.csr_matrix((dual.data, used[dual.indices], dual.indptr), shape=shape)
    return solution._replace(dual_coef=spread)


def take_documents(problem: Problem, documents: NDArray[np.intp]) -> Problem:
    """Return the same problem on some of its documents."""
    X, indicator, weight = problem[:3]
    return problem._replace(
        X=X[documents], indicator=indicator[documents], weight=weight[documents]
    )


def take_classes(problem: Problem, classes: NDArray[np.intp]) -> Problem:
    """Return the same problem for some of its classes."""
    box, ridge = problem.box[classes], problem.ridge[classes]
    return problem._replace(indicator=problem.indicator[:, classes], box=box, ridge=ridge)


def _solve_used(
    problem: Problem,
    stop: Stop,
    seed: int,
    start: sparse.csr_matrix | None,
    n_jobs: int | None,
    blocks: Sequence[int] | None,
) -> Solution:
    """Solve a problem in which every document has a weight."""
    X = problem.X
    rank = rank_by_frequency(X)
    rows = make_rows(X.indptr, rank[X.indices], X.data, problem.weight)
    return solve_rows(
        rows, rank, problem, stop, seed=seed, start=start, n_jobs=n_jobs, blocks=blocks
    )


def solve_rows(
    rows: Rows,
    rank: NDArray[np.uint32],
    problem: Problem,
    stop: Stop,
    *,
    seed: int,
    start: sparse.csr_matrix | None = None,
    n_jobs: int | None = None,
    keep_dual: bool = True,
    blocks: Sequence[int] | None = None,
) -> Solution:
    """Solve a problem whose documents are given as rows, feature j under the number ``rank[j]``.

    The documents of the problem itself are not looked at. Without ``keep_dual`` the dual returned
    is empty: of many classes it takes more memory than the documents.
    """
    dealt = dict(enumerate(deal_blocks(problem.indicator)))
    if blocks is not None:
        dealt = {number: dealt[number] for number in blocks}
    classes = np.sort(np.concatenate(list(dealt.values())))
    n_classes, row = classes.size, np.empty(problem.indicator.shape[1], np.intp)
    row[classes] = np.arange(n_classes)
    coef = np.empty((n_classes, rank.size))
    # Weights are written where they are to stay: they are most of what a fit holds.
    solved = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator", batch_size=1)(
        delayed(_solve_block)(
            rows,
            _take_block(problem, start, block, row),
            problem.bias,
            rank,
            stop,
            seed + number,
            coef,
            keep_dual,
        )
        for number, block in dealt.items()
    )
    intercept, objective, gap = np.empty((3, n_classes))
    n_passes = np.empty(n_classes, np.int64)
    dual = [sparse.csr_matrix((0, 0))] * n_classes
    for block, answers in zip(dealt.values(), solved, strict=True):
        for k, answer in zip(row[block], answers, strict=True):
            dual[k], intercept[k], n_passes[k], objective[k], gap[k] = answer
    return Solution(sparse.vstack(dual, format="csr"), coef, intercept, objective, gap, n_passes)


def rank_by_frequency(X: sparse.csr_matrix) -> NDArray[np.uint32]:
    """Return each feature's place by document frequency: frequent weights then share the cache."""
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    rank = np.empty(X.shape[1], np.uint32)
    rank[np.argsort(-frequency, kind="stable")] = np.arange(X.shape[1], dtype=np.uint32)
    return rank


def deal_blocks(indicator: sparse.csc_matrix) -> list[NDArray[np.intp]]:
    """Deal the classes, frequent ones first, to an even number of blocks of like size."""
    n_blocks = count_blocks(indicator.shape[1])
    by_size = np.argsort(-np.diff(indicator.indptr), kind="stable")
    return [by_size[first::n_blocks] for first in range(n_blocks)]


def count_blocks(n_classes: int) -> int:
    """Return how many blocks so many classes are dealt to.

    Examples
    --------
    >>> count_blocks(1), count_blocks(20), count_blocks(100)
    (1, 2, 8)
    """
    return min(n_classes, 2 * -(-n_classes // (2 * LANES)))


class _Block(NamedTuple):
    """Some of the classes: rows of the solution, signs (documents x classes), costs, a start."""

    rows: NDArray[np.intp]
    y: NDArray[np.int8]
    box: NDArray[np.float64]
    ridge: NDArray[np.float64]
    beta: NDArray[np.float64] | None


def _take_block(
    problem: Problem,
    start: sparse.csr_matrix | None,
    block: NDArray[np.intp],
    row: NDArray[np.intp],
) -> _Block:
    y = 2 * problem.indicator[:, block].toarray() - 1
    box, ridge = problem.box[block], problem.ridge[block]
    if start is None:
        return _Block(row[block], y, box, ridge, None)
    upper = np.where(y > 0, box[:, 1], box[:, 0]) * problem.weight[:, None]
    return _Block(row[block], y, box, ridge, np.clip(start[block].toarray().T * y, 0, upper) * y)


def _solve_block(
    rows: Rows,
    block: _Block,
    bias: float,
    rank: NDArray[np.uint32],
    stop: Stop,
    seed: int,
    coef: NDArray[np.float64],
    keep_dual: bool,
) -> list[tuple[sparse.csr_matrix, float, int, float, float]]:
    """Return dual, intercept, passes, objective and gap of each class; write its weights."""
    n_documents, n_classes = block.y.shape
    beta: NDArray[Any] | None = block.beta
    margins, n_sweeps = None, 0
    if beta is None and n_classes >= FEWEST_TO_SWEEP and stop.max_passes > N_SWEEPS:
        n_sweeps = N_SWEEPS
        beta, margins = _sweep_block(rows, block, limit_bias(bias), rank.size, seed)
    answers = []
    w = np.empty(rank.size)
    margins_k = np.empty(n_documents)
    for k in range(n_classes):
        task = Task(np.ascontiguousarray(block.y[:, k]), block.box[k], block.ridge[k])
        beta_k = np.zeros(n_documents) if beta is None else beta[:, k].astype(np.float64)
        b = rebuild(rows, limit_bias(bias), beta_k, w)
        if margins is None:
            score(rows, w, b, margins_k)
        else:
            margins_k[:] = margins[:, k]
        left = stop.max_passes - n_sweeps
        b, passes, objective, gap = settle(
            rows, task, bias, beta_k, w, b, margins_k, Stop(stop.tol, left), seed
        )
        coef[block.rows[k]] = w[rank]
        dual = sparse.csr_matrix(beta_k[None, :] if keep_dual else (1, n_documents))
        answers.append((dual, b, passes + n_sweeps, objective, gap))
    return answers


def warn_if_stopped_early(
    relative_gap: Any,
    stop: Stop,
    *,
    names: Any = None,
    retraining: bool = False,
    stacklevel: int,
) -> None:
    """Warn if any class reached ``max_iter`` before its relative duality gap fell to ``tol``.

    With ``names``, one for each gap, the warning names the worst class.
    """
    gaps = np.nan_to_num(np.atleast_1d(relative_gap))
    if not gaps.size or gaps.max() <= stop.tol:
        return
    of_class = "" if names is None else f" for class {names[int(gaps.argmax())]!r}"
    warnings.warn(
        f"{'Retraining stopped' if retraining else 'Stopped'} after max_iter={stop.max_passes} "
        f"passes with a relative duality gap of "
        f"{gaps.max():.2g}{of_class}, above tol={stop.tol:g}. Raise max_iter or tol, or scale the "
        "features.",
        ConvergenceWarning,
        stacklevel=stacklevel + 1,
    )


def limit_bias(bias: float) -> float:
    """Return the bias to start with: that of a free intercept would be infinite."""
    return bias if isfinite(bias) else 1.0


def settle(
    rows: Rows,
    task: Task,
    bias: float,
    beta: NDArray[np.float64],
    w: NDArray[np.float64],
    b: float,
    margins: NDArray[np.float64],
    stop: Stop,
    seed: int,
) -> tuple[float, int, float, float]:
    """Descend on one class to the end, as ``kernels.descent.polish`` does, whatever the bias.

    An intercept that costs nothing is found by proximal steps: it is charged for its distance to
    where it was, and moves there, until it moves no more. The sum of ``beta``, which a free
    intercept makes zero, is what it moves by.
    """
    is_free, passes, pull = not isfinite(bias), 0, 0.0
    if is_free:  # small costs leave the intercept little to move by
        bias = float(np.clip(1 / task.box.max(), 1, LARGEST_BIAS))
        pull = bias * beta.sum()
    while True:
        margins += pull
        left = stop.max_passes - passes
        b, used, objective, gap = polish(
            rows, task, bias, beta, w, b + pull, margins, stop.tol, left, seed
        )
        passes += used
        pull = bias * beta.sum() if is_free else 0.0
        if abs(pull) <= MOVE_SHARE * stop.tol or passes >= stop.max_passes:
            return b, passes, objective, gap


def _sweep_block(
    rows: Rows, block: _Block, bias: float, n_features: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the dual and the scores (documents x lanes) after the sweeps that classes share."""
    n_documents, n_classes = block.y.shape
    spare = ((0, 0), (0, LANES - n_classes))
    beta, margins = _map_zeros((2, n_documents, LANES))
    sweep(
        rows,
        np.pad(block.y, spare, constant_values=-1),
        np.pad(block.box.T, spare).astype(np.float32),
        np.pad(block.ridge.T, spare).astype(np.float32),
        bias,
        beta,
        _map_zeros((n_features, LANES)),
        np.zeros(LANES, np.float32),
        margins,
        N_SWEEPS,
        seed,
    )
    return beta, margins


def _map_zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return zeros in memory of their own, which goes back to the system when they are done.

    From the common heap each thread would keep a few times as much, for want of a hole that fits.
    """
    memory = mmap(-1, max(1, 4 * prod(shape)))
    return np.ndarray(shape, np.float32, memory)
