"""Solver of one-vs-rest linear SVMs: all classes of a problem, in blocks that run in threads."""

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
from spokeshave.kernels.free_intercept import polish_free
from spokeshave.kernels.lanes import LANES
from spokeshave.kernels.rows import Rows, center_rows, count_frequency, make_rows, set_prior

N_SWEEPS = 8  # shared passes of a block; 5 to 10 are equally fast on RCV1 and 20 Newsgroups
FULL_SHARE = 0.3  # of nonzeros in a dense table
LONGER = 1.0001  # squared lengths summed in float32, so that none is too small
FEWEST_TO_SWEEP = 4  # sixteen lanes cost about as much as four classes one by one


class Problem(NamedTuple):
    """A one-vs-rest problem, as stated in ``kernels.descent``.

    ``box`` and ``ridge`` are (classes x 2), for negative and positive documents of weight one.
    ``bias`` is the squared value of the constant feature: 0 without an intercept, infinite for an
    unregularised one. ``variance`` is that of the prior of the weights (classes x features), None
    if it is 1.
    """

    X: sparse.csr_matrix
    indicator: sparse.csc_matrix
    weight: NDArray[np.float64]
    box: NDArray[np.float64]
    ridge: NDArray[np.float64]
    bias: float
    variance: NDArray[np.float32] | None = None

    def take_variance(self, k: int) -> NDArray[np.float32] | None:
        """Return the prior variances of the weights of class k."""
        return None if self.variance is None else self.variance[k]


class Solution(NamedTuple):
    """The dual and primal solution, a row or an entry per class."""

    dual_coef: sparse.csr_matrix
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    objective: NDArray[np.float64]
    gap: NDArray[np.float64]
    n_passes: NDArray[np.int64]

    @property
    def relative_gap(self) -> NDArray[np.float64]:
        """The duality gap relative to the objective; none is left of an objective of zero."""
        empty = np.zeros_like(self.gap)
        return np.divide(self.gap, self.objective, out=empty, where=self.objective > 0)


class Stop(NamedTuple):
    """The stopping rule: a relative duality gap, and the largest number of passes."""

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

    ``start`` is a dual to start from (classes x documents), clipped to the box. With ``blocks``
    (numbers into `make_blocks`) only their classes are solved, with exactly the same result as
    among all classes. Blocks and seeds do not depend on ``n_jobs``, so the solution does not
    either. Documents of weight zero are ignored, also by `make_blocks`.
    """
    n_documents, used = problem.weight.size, np.flatnonzero(problem.weight)
    if used.size < n_documents:
        problem = take_documents(problem, used)
        start = None if start is None else start[:, used]
    X, rank = problem.X, rank_by_frequency(problem.X)
    rows = make_rows(X.indptr, rank[X.indices], X.data, problem.weight)
    solution = solve_rows(
        rows, rank, problem, stop, seed=seed, start=start, n_jobs=n_jobs, blocks=blocks
    )
    if used.size == n_documents:
        return solution
    dual = solution.dual_coef
    shape = dual.shape[0], n_documents
    dual = sparse.csr_matrix((dual.data, used[dual.indices], dual.indptr), shape=shape)
    return solution._replace(dual_coef=dual)


def take_documents(problem: Problem, documents: NDArray[np.intp]) -> Problem:
    """Return the same problem on some of its documents."""
    X, indicator, weight = problem[:3]
    return problem._replace(
        X=X[documents], indicator=indicator[documents], weight=weight[documents]
    )


def take_classes(problem: Problem, classes: NDArray[np.intp]) -> Problem:
    """Return the same problem for some of its classes."""
    return problem._replace(
        indicator=problem.indicator[:, classes],
        box=problem.box[classes],
        ridge=problem.ridge[classes],
        variance=None if problem.variance is None else problem.variance[classes],
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
    """Solve a problem whose documents are given as ``rows``, with feature j numbered ``rank[j]``.

    ``problem.X`` is ignored. Without ``keep_dual`` the returned dual is empty: with many classes
    the dual takes more memory than the documents.
    """
    chosen = dict(enumerate(make_blocks(problem.indicator)))
    if blocks is not None:
        chosen = {number: chosen[number] for number in blocks}
    classes = np.sort(np.concatenate(list(chosen.values())))
    n_classes, row = classes.size, np.empty(problem.indicator.shape[1], np.intp)
    row[classes] = np.arange(n_classes)
    coef = np.empty((n_classes, rank.size))
    # Blocks write into ``coef`` directly: it is most of the memory of a fit.
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
        for number, block in chosen.items()
    )
    intercept, objective, gap = np.empty((3, n_classes))
    n_passes = np.empty(n_classes, np.int64)
    dual = [sparse.csr_matrix((0, 0))] * n_classes
    for block, answers in zip(chosen.values(), solved, strict=True):
        for k, answer in zip(row[block], answers, strict=True):
            dual[k], intercept[k], n_passes[k], objective[k], gap[k] = answer
    return Solution(sparse.vstack(dual, format="csr"), coef, intercept, objective, gap, n_passes)


def rank_by_frequency(X: sparse.csr_matrix) -> NDArray[np.uint32]:
    """Return the rank of each feature by document frequency.

    Features renumbered by rank put the weights of frequent ones next to each other in the cache.
    """
    frequency = count_frequency(X.indices, X.shape[1])
    rank = np.empty(X.shape[1], np.uint32)
    rank[np.argsort(-frequency, kind="stable")] = np.arange(X.shape[1], dtype=np.uint32)
    return rank


def make_blocks(indicator: sparse.csc_matrix) -> list[NDArray[np.intp]]:
    """Return blocks of classes of about equal size and frequency, an even number of them."""
    n_blocks = count_blocks(indicator.shape[1])
    by_size = np.argsort(-np.diff(indicator.indptr), kind="stable")
    return [by_size[first::n_blocks] for first in range(n_blocks)]


def count_blocks(n_classes: int) -> int:
    """Return the number of blocks for ``n_classes`` classes.

    Examples
    --------
    >>> count_blocks(1), count_blocks(20), count_blocks(100)
    (1, 2, 8)
    """
    return min(n_classes, 2 * -(-n_classes // (2 * LANES)))


class _Block(NamedTuple):
    """Some classes: their numbers and rows of the solution, signs (documents x classes), costs.

    ``beta`` is a dual to start from, and ``variance`` that of the prior of all classes.
    """

    classes: NDArray[np.intp]
    rows: NDArray[np.intp]
    y: NDArray[np.int8]
    box: NDArray[np.float64]
    ridge: NDArray[np.float64]
    beta: NDArray[np.float64] | None
    variance: NDArray[np.float32] | None


def _take_block(
    problem: Problem,
    start: sparse.csr_matrix | None,
    block: NDArray[np.intp],
    row: NDArray[np.intp],
) -> _Block:
    y = 2 * problem.indicator[:, block].toarray() - 1
    box, ridge = problem.box[block], problem.ridge[block]
    beta = None
    if start is not None:
        upper = np.where(y > 0, box[:, 1], box[:, 0]) * problem.weight[:, None]
        beta = np.clip(start[block].toarray().T * y, 0, upper) * y
    return _Block(block, row[block], y, box, ridge, beta, problem.variance)


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
        beta, margins, priors = _sweep_block(rows, block, limit_bias(bias), rank, seed)
    else:
        priors = [set_prior(rows, of_class) for of_class in _rank_prior(block, rank, None)]
    answers = []
    w = np.empty(rank.size)
    margins_k = np.empty(n_documents)
    for k, documents in enumerate(priors):
        task = Task(np.ascontiguousarray(block.y[:, k]), block.box[k], block.ridge[k])
        beta_k = np.zeros(n_documents) if beta is None else beta[:, k].astype(np.float64)
        b = rebuild(documents, limit_bias(bias), beta_k, w)
        if margins is None:
            score(documents, w, b, margins_k)
        else:
            margins_k[:] = margins[:, k]
        left = stop.max_passes - n_sweeps
        b, passes, objective, gap = solve_class(
            *(documents, task, bias, beta_k, w, b, margins_k, Stop(stop.tol, left), seed),
            is_stale=n_sweeps > 0,
        )
        rebuild(
            documents, limit_bias(bias), beta_k, w
        )  # without it, unused features keep rounding dust
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
    of_class = ""
    if names is not None:
        worst = np.asarray(names)[int(gaps.argmax())]
        # numpy would show its own types: the class is named as the user wrote it.
        of_class = f" for class {worst.item() if isinstance(worst, np.generic) else worst!r}"
    warnings.warn(
        f"{'Retraining stopped' if retraining else 'Stopped'} after max_iter={stop.max_passes} "
        f"passes with a relative duality gap of "
        f"{gaps.max():.2g}{of_class}, above tol={stop.tol:g}. Raise max_iter or tol, or scale the "
        "features.",
        ConvergenceWarning,
        stacklevel=stacklevel + 1,
    )


def limit_bias(bias: float) -> float:
    """Return a finite bias to start with; the bias of a free intercept is infinite."""
    return bias if isfinite(bias) else 1.0


def solve_class(
    rows: Rows,
    task: Task,
    bias: float,
    beta: NDArray[np.float64],
    w: NDArray[np.float64],
    b: float,
    margins: NDArray[np.float64],
    stop: Stop,
    seed: int,
    is_stale: bool = False,
) -> tuple[float, int, float, float]:
    """Solve one class, whatever the bias: an infinite one is that of a free intercept.

    With ``is_stale``, ``margins`` are scores of other weights. Changes ``beta``, ``w`` and
    ``margins`` in place; returns the intercept, the number of passes, the primal objective and the
    duality gap.
    """
    if isfinite(bias):
        solved: tuple[float, int, float, float] = polish(
            *(rows, task, bias, beta, w, b, margins, is_stale, stop.tol, stop.max_passes, seed)
        )
        return solved
    centred, mean = _center(rows, w.size)
    b += float(w @ mean)
    b, passes, objective, gap = polish_free(
        *(centred, task, beta, w, b, margins, is_stale, stop.tol, stop.max_passes, seed)
    )
    rebuild(rows, 0.0, beta, w)
    return b - float(w @ mean), passes, objective, gap


def _center(rows: Rows, n_features: int) -> tuple[Rows, NDArray[np.float64]]:
    """Return the rows less their mean, and the mean, if that halves their squared lengths.

    With a free intercept the optimum is the same, as beta sums to zero, and descent is faster.
    """
    nonzeros = int(rows.indptr[-1] - rows.indptr[0])
    if nonzeros >= FULL_SHARE * rows.scale.size * n_features:
        centred, mean = center_rows(rows, n_features)
        if centred.squared_length.sum() < 0.5 * rows.squared_length.sum():
            return centred, mean
    return rows, np.zeros(n_features)


def _sweep_block(
    rows: Rows, block: _Block, bias: float, rank: NDArray[np.uint32], seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], list[Rows]]:
    """Return the dual and the scores (documents x lanes) after the shared sweeps, and the priors.

    The priors are the rows with the prior of each class.
    """
    n_documents, n_classes = block.y.shape
    spare = ((0, 0), (0, LANES - n_classes))
    beta, margins = _map_zeros((2, n_documents, LANES))
    has_prior = block.variance is not None
    W = _map_zeros((rank.size, 2 * LANES if has_prior else LANES))
    squared_length = _map_zeros((n_documents, LANES)) if has_prior else None
    variance = _rank_prior(block, rank, W)
    sweep(
        rows,
        np.pad(block.y, spare, constant_values=-1),
        np.pad(block.box.T, spare).astype(np.float32),
        np.pad(block.ridge.T, spare).astype(np.float32),
        bias,
        beta,
        W,
        np.zeros(LANES, np.float32),
        margins,
        N_SWEEPS,
        seed,
        squared_length,
    )
    if squared_length is None:
        return beta, margins, [rows] * n_classes
    lengths = np.multiply(LONGER, squared_length.T, dtype=np.float64, order="C")  # a row is read
    priors = [
        rows._replace(squared_length=length, variance=of_class)
        for length, of_class in zip(lengths, variance, strict=False)
    ]
    return beta, margins, priors


def _rank_prior(
    block: _Block, rank: NDArray[np.uint32], W: NDArray[np.float32] | None
) -> list[NDArray[np.float32] | None]:
    """Return the prior of each class by rank of the feature, and put it beside the weights W."""
    if block.variance is None:
        return [None] * block.classes.size
    order = np.empty(rank.size, np.intp)
    order[rank] = np.arange(rank.size)
    ranked = np.empty((block.classes.size, rank.size), np.float32)
    for k, of_class in zip(block.classes, ranked, strict=True):
        np.take(block.variance[k], order, out=of_class, mode="clip")  # "raise" would copy it
    if W is not None:
        W[:, LANES : LANES + len(ranked)] = ranked.T
    return list(ranked)


def _map_zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return zeros in a memory map, which is returned to the system when they are freed.

    On the heap, fragmentation would make each thread keep a few times as much. In a private map,
    a page that is read before it is written costs two faults.
    """
    memory = mmap(-1, max(1, 4 * prod(shape)))
    return np.ndarray(shape, np.float32, memory)
