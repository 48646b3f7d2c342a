"""Training on documents that do not fit in memory.

Dual coordinate descent on one block of documents at a time while the dual of the others is fixed
(Yu, Hsieh, Chang and Lin, "Large linear classification when data cannot fit in memory", KDD 2010)
stalls if blocks share many words: after a hundred rounds over eight blocks of 20 Newsgroups the gap
is still four per cent of the objective. So each round chooses a new block from all documents. A
pass over the disk, range by range, scores every document, measures the gap, and gathers the
documents whose dual is not optimal at a bound, or a random sample of them that fits in memory. Few
documents are left once the weights are about right, so a few rounds suffice.

The dual of each class is in a file. The weights after a round, and the duals that it changed, are
written before that file is changed: a killed run continues after the last whole round, and ends
with the same weights. `spokeshave.cluster.working_set` distributes the same steps over workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from spokeshave.budget.memory import CELL, GATHERED
from spokeshave.budget.row_batches import to_offsets
from spokeshave.budget.shards import Block, Shard
from spokeshave.budget.store import Growing
from spokeshave.kernels.descent import Task, advance, judge, polish, score
from spokeshave.kernels.rows import Rows, gather_rows, set_prior
from spokeshave.svm.solver import Stop, warn_if_stopped_early

PIECE = 1 << 17  # entries of a dual written at a time
SWEEPS = 100  # most sweeps over the gathered documents in a round


class Objective(NamedTuple):
    """The problem of ``kernels.descent`` per class: costs of errors (negative, positive), bias.

    ``codes`` are the class codes of the rows of weights. With a ``prior_strength`` the weights have
    a prior by Bi-Normal Separation. Its ``variance`` (classes x features) is set when the features
    are known.
    """

    box: NDArray[np.float64]
    ridge: NDArray[np.float64]
    bias: float
    codes: NDArray[np.intp]
    prior_strength: float | None = None
    variance: NDArray[np.float32] | None = None

    def add_prior(self, k: int, rows: Rows) -> Rows:
        """Return rows with the prior of the weights of one class."""
        return rows if self.variance is None else set_prior(rows, self.variance[k])

    def pose(self, k: int, y: NDArray[np.int8]) -> Task:
        """Return the problem of one class, given its targets."""
        return Task(y, self.box[k], self.ridge[k])


@dataclass(frozen=True, eq=False)
class Weights:
    """A row or an entry per class; ``n_rounds`` counts passes over the disk, 0 for none."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    objective: NDArray[np.float64]
    gap: NDArray[np.float64]
    n_rounds: int


@dataclass(frozen=True)
class Setting:
    """Options of training."""

    shards: Sequence[Shard]  # a single one stays in memory
    capacity: int  # bytes for documents that a class gathers from several shards
    folder: Path  # of duals and finished classes
    n_features: int
    stop: Stop
    seed: int
    n_jobs: int | None
    report: Callable[[float], None]  # called with the share of the classes that is done


class ClassResult(NamedTuple):
    """Intercept, objective, gap, and passes over the disk of one class."""

    intercept: float
    objective: float
    gap: float
    n_rounds: int


def train_classes(objective: Objective, setting: Setting) -> Weights:
    """Train every class on all documents.

    If there is one range of documents, each class is trained on it and its dual is not kept.
    """
    coef = np.zeros((len(objective.codes), setting.n_features))
    results: list[ClassResult] = []
    for result in _train_each(objective, setting, coef):
        results.append(result)
        setting.report(len(results) / len(coef))
    intercept, primal, gap, n_rounds = map(np.array, zip(*results, strict=True))
    warn_if_stopped_early(gap / primal, setting.stop, stacklevel=3)
    return Weights(coef, intercept, primal, gap, int(n_rounds.max()))


def _train_each(objective: Objective, setting: Setting, coef: NDArray[np.float64]) -> Any:
    parallel = Parallel(
        n_jobs=setting.n_jobs, require="sharedmem", return_as="generator", batch_size=1
    )
    classes = range(len(coef))
    if len(setting.shards) == 1:
        with setting.shards[0].open() as block:
            yield from parallel(
                delayed(train_here)(objective, setting.stop, setting.seed, block, k, coef[k])
                for k in classes
            )
    else:
        setting.folder.mkdir(exist_ok=True)
        yield from parallel(
            delayed(_train_in_rounds)(objective, setting, k, coef[k]) for k in classes
        )


def train_here(
    objective: Objective, stop: Stop, seed: int, block: Block, k: int, w: NDArray[np.float64]
) -> ClassResult:
    """Train one class on documents that are all in memory."""
    task = objective.pose(k, block.find_class(int(objective.codes[k])))
    beta, margins = np.zeros((2, block.n_documents))
    b, _, primal, gap = polish(
        *(objective.add_prior(k, block.rows), task, objective.bias, beta, w, 0.0, margins),
        *(False, stop.tol, stop.max_passes, seed + k),
    )
    return ClassResult(b, primal, gap, 0)


def _train_in_rounds(
    objective: Objective, setting: Setting, k: int, w: NDArray[np.float64]
) -> ClassResult:
    """Train one class on documents that are on disk."""
    done = setting.folder / f"{k}.npz"
    if done.exists():
        with np.load(done) as saved:
            w[:] = saved["w"]
            return ClassResult(*saved["result"].tolist())
    dual = Dual(setting.folder / f"{k}.dual", sum(map(len, setting.shards)))
    last = setting.folder / f"{k}.round.npz"
    b, n_rounds = _resume_round(last, dual, w)
    while True:
        n_rounds += 1
        random = np.random.default_rng([setting.seed, k, n_rounds])
        primal, gap, gathered = _go_round(objective, setting, k, dual, w, b, random)
        if is_finished(primal, gap, n_rounds, setting.stop):
            break
        picked = gathered.join()
        b = descend(picked, objective, k, w, b, find_target(primal, setting.stop),
                    setting.seed + n_rounds)  # fmt: skip
        documents = gathered.list_documents()
        _save(last, w=w, b=b, n_rounds=n_rounds, documents=documents, beta=picked.beta)
        dual.write(documents, picked.beta)
        del gathered, picked, documents  # before the next round gathers others
    result = ClassResult(float(b), primal, gap, n_rounds)
    _save(done, w=w, result=np.array(result))
    dual.path.unlink()
    last.unlink(missing_ok=True)
    return result


def _resume_round(path: Path, dual: Dual, w: NDArray[np.float64]) -> tuple[float, int]:
    """Restore the weights and the dual after the last whole round; return intercept and round."""
    if not path.exists():
        return 0.0, 0
    with np.load(path) as saved:
        w[:] = saved["w"]
        dual.write(saved["documents"], saved["beta"])  # which may have been interrupted
        return float(saved["b"]), int(saved["n_rounds"])


def _save(path: Path, **arrays: Any) -> None:
    part = path.with_suffix(".part.npz")
    np.savez(part, **arrays)
    part.replace(path)


def is_finished(primal: float, gap: float, n_rounds: int, stop: Stop) -> bool:
    """Return whether training stops after a round."""
    return gap <= stop.tol * primal or n_rounds > stop.max_passes


def find_target(primal: float, stop: Stop) -> float:
    """Return the gap on the gathered documents that a round descends to."""
    return 0.5 * stop.tol * primal


class Dual:
    """The dual of one class in a file: y times alpha of every document."""

    def __init__(self, path: Path, n_documents: int) -> None:
        self.path = path
        if not path.exists():
            part = path.with_suffix(".part")
            with part.open("wb") as file:
                # Written out, not a sparse file: on a full disk, writing to a mapped hole would
                # end the process.
                for first in range(0, n_documents, PIECE):
                    file.write(bytes(8 * min(PIECE, n_documents - first)))
            part.replace(path)

    def map(self, bounds: tuple[int, int]) -> NDArray[np.float64]:
        """Map a range of it into memory, to read and write."""
        first, last = bounds
        mapped: Any = np.memmap(self.path, np.float64, "r+", offset=8 * first, shape=last - first)
        return np.asarray(mapped)

    def write(self, documents: NDArray[np.intp], beta: NDArray[np.float64]) -> None:
        """Write the dual of some documents, which ascend."""
        done = 0
        while done < documents.size:
            first = int(documents[done])
            stop = int(np.searchsorted(documents, first + PIECE))
            piece = slice(done, stop)
            self.map((first, int(documents[stop - 1]) + 1))[documents[piece] - first] = beta[piece]
            done = stop


def _go_round(
    objective: Objective,
    setting: Setting,
    k: int,
    dual: Dual,
    w: NDArray[np.float64],
    b: float,
    random: np.random.Generator,
) -> tuple[float, float, Gathered]:
    """Return the objective, the gap, and the violating documents gathered from the disk."""
    primal = gap = 0.0
    capacity = setting.capacity
    left = sum(shard.n_nonzeros + len(shard) for shard in setting.shards)
    gathered = Gathered(capacity)
    for shard in setting.shards:
        size = shard.n_nonzeros + len(shard)
        with shard.open() as block:
            margins, beta = np.empty(len(shard)), dual.map(shard.documents)
            score(block.rows, w, b, margins)
            share = (capacity - gathered.n_bytes) * size // max(left, 1)
            found = inspect(block, objective, k, beta, margins, share, random)
            gathered.add(block.rows, found, beta, margins, shard.documents)
        primal, gap, left = primal + found.primal, gap + found.gap, left - size
    return primal, gap, gathered


class Inspection(NamedTuple):
    """Terms of objective and gap of some documents, their targets, and those to descend on."""

    primal: float
    gap: float
    y: NDArray[np.int8]
    chosen: NDArray[np.intp]


def inspect(
    block: Block,
    objective: Objective,
    k: int,
    beta: NDArray[np.float64],
    margins: NDArray[np.float64],
    capacity: int,
    random: np.random.Generator,
) -> Inspection:
    """Measure the gap of a block for one class, and choose violating documents to gather."""
    task = objective.pose(k, block.find_class(int(objective.codes[k])))
    violation = np.empty(block.n_documents)
    primal, gap = judge(block.rows.weight, task, beta, margins, violation)
    return Inspection(
        primal, gap, task.y, choose_violating(block.rows, violation, capacity, random)
    )


def choose_violating(
    rows: Rows, violation: NDArray[np.float64], capacity: int, random: np.random.Generator
) -> NDArray[np.intp]:
    """Return the documents not optimal at a bound, or a random sample of them that fits."""
    violating = np.flatnonzero(violation >= 0)
    sizes = measure_gathered(rows)[violating]
    if sizes.sum() <= capacity:
        return violating
    order = random.permutation(violating.size)
    n_chosen = int(np.searchsorted(np.cumsum(sizes[order]), capacity))
    return np.sort(violating[order[: max(n_chosen, 1)]])


def measure_gathered(rows: Rows) -> NDArray[np.int64]:
    """Return the bytes that each document takes if it is gathered."""
    cell = CELL if rows.data is None else CELL + rows.data.itemsize
    ends = rows.indptr.astype(np.int64)
    return (ends[1:] - ends[:-1]) * cell + GATHERED


class Picked(NamedTuple):
    """Documents to descend on, with their targets, duals and margins."""

    rows: Rows
    y: NDArray[np.int8]
    beta: NDArray[np.float64]
    margins: NDArray[np.float64]


def pick(
    rows: Rows,
    y: NDArray[np.int8],
    beta: NDArray[np.float64],
    margins: NDArray[np.float64],
    chosen: NDArray[np.intp],
    cells: tuple[NDArray[np.uint32], NDArray[Any] | None] | None = None,
) -> Picked:
    """Copy some documents; their features and values go to ``cells`` if it is given."""
    ends = to_offsets(np.diff(rows.indptr.astype(np.int64))[chosen])
    if cells is None:
        values = None if rows.data is None else np.empty(ends[-1], rows.data.dtype)
        cells = np.empty(ends[-1], np.uint32), values
    gather_rows(rows.indptr, rows.indices, rows.data, chosen, *cells)
    scale, squared_length, weight = (
        each[chosen] for each in (rows.scale, rows.squared_length, rows.weight)
    )
    copied = Rows(ends.astype(np.uint64), *cells, scale, squared_length, weight)
    return Picked(copied, y[chosen], beta[chosen], margins[chosen])


def descend(
    picked: Picked,
    objective: Objective,
    k: int,
    w: NDArray[np.float64],
    b: float,
    target: float,
    seed: int,
) -> float:
    """Run coordinate descent on documents, changing ``w`` and their duals; return the intercept."""
    task = objective.pose(k, picked.y)
    intercept: float = advance(
        *(objective.add_prior(k, picked.rows), task, objective.bias),
        *(picked.beta, w, b, picked.margins),
        *(target, SWEEPS, seed),
    )
    return intercept


class Gathered:
    """Documents gathered from many ranges, which take at most ``capacity`` bytes."""

    def __init__(self, capacity: int) -> None:
        self.n_bytes = 0
        self._ranges: list[tuple[tuple[int, int], NDArray[np.intp]]] = []
        self._parts: list[Picked] = []
        self._n_cells = capacity // CELL + 1
        # One array that is filled in place: joining arrays would hold cells twice.
        self._cells: tuple[Growing, Growing | None] | None = None

    def add(
        self,
        rows: Rows,
        found: Inspection,
        beta: NDArray[np.float64],
        margins: NDArray[np.float64],
        documents: tuple[int, int],
    ) -> None:
        """Copy the chosen documents of a range."""
        chosen, data = found.chosen, rows.data
        n_cells = int(np.diff(rows.indptr.astype(np.int64))[chosen].sum())
        if self._cells is None:
            n = self._n_cells if data is None else self._n_cells // 2 + 1
            values = None if data is None else Growing(data.dtype, n)
            self._cells = Growing(np.uint32, n), values
        cells: Any = [each and each.reserve(n_cells) for each in self._cells]
        cell = CELL if data is None else CELL + data.itemsize
        self._ranges.append((documents, chosen))
        self._parts.append(pick(rows, found.y, beta, margins, chosen, cells))
        self.n_bytes += GATHERED * len(chosen) + n_cells * cell

    def join(self) -> Picked:
        """Return all documents together; this empties the parts."""
        assert self._cells is not None
        lengths = np.concatenate([np.diff(part.rows.indptr) for part in self._parts])
        cells: Any = [each and each.filled for each in self._cells]
        scales = (
            np.concatenate([getattr(part.rows, name) for part in self._parts])
            for name in ("scale", "squared_length", "weight")
        )
        rows = Rows(to_offsets(lengths.astype(np.int64)).astype(np.uint64), *cells, *scales)
        joined = Picked(rows, *map(np.concatenate, zip(*(p[1:] for p in self._parts), strict=True)))
        self._parts.clear()
        return joined

    def list_documents(self) -> NDArray[np.intp]:
        """Return the numbers of the documents, ascending."""
        return np.concatenate([first + chosen for (first, _), chosen in self._ranges])
