"""Training on documents that are not all in memory.

Dual coordinate descent on the documents of one block while the dual of all others rests, block
after block (Yu, Hsieh, Chang and Lin, "Large linear classification when data cannot fit in
memory", KDD 2010), comes to a stand when blocks have many words in common: after a hundred rounds
over eight blocks of 20 Newsgroups the gap is still four per cent of the objective. So the block to
descend on is chosen anew in each round, from all documents: a pass over the disk, range by range,
scores every document, measures the gap, and gathers those that do not rest at a bound, or as many
of them as there is memory for, drawn at random. Few documents do not rest once the weights are
about right, so a few rounds will do.

The dual of each class is in a file, and any state of it is a feasible point: a run that was killed
goes on from there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from spokeshave.budget.costs import CELL, GATHERED
from spokeshave.budget.shards import Block, Shard
from spokeshave.budget.store import count_up
from spokeshave.kernels.descent import Task, add_up, advance, judge, polish, score
from spokeshave.kernels.rows import Rows, gather_rows
from spokeshave.svm.solver import Stop

PIECE = 1 << 17  # entries of a dual that are written at a time
PASSES = 100  # over the documents in memory that still move, at most, in a round


class Objective(NamedTuple):
    """What is to be solved: costs of errors for each class, (negative, positive), and the bias.

    ``kernels.descent`` states the problem. ``codes`` tell which class each row of weights is for.
    """

    box: NDArray[np.float64]
    ridge: NDArray[np.float64]
    bias: float
    codes: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Weights:
    """A row or an entry per class; ``n_rounds`` are passes over the disk, 0 for none."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    objective: NDArray[np.float64]
    gap: NDArray[np.float64]
    n_rounds: int


@dataclass(frozen=True)
class Setting:
    """How training is done.

    Attributes
    ----------
    shards : sequence of Shard
        The documents; where there is one range only, it stays in memory.
    room : int
        Bytes for documents that are gathered from several.
    folder : Path
        Where duals and finished classes are kept.
    n_features : int
        How many features there are.
    stop : Stop
        When to stop: at a relative duality gap, or after so many rounds.
    seed, n_jobs : int
        Seed, and threads.
    report : callable
        Told what share of the classes is done.
    """

    shards: Sequence[Shard]
    room: int
    folder: Path
    n_features: int
    stop: Stop
    seed: int
    n_jobs: int | None
    report: Callable[[float], None]


class Found(NamedTuple):
    """One class: its intercept, objective, gap, and passes over the disk."""

    intercept: float
    objective: float
    gap: float
    n_rounds: int


def train_classes(objective: Objective, setting: Setting) -> Weights:
    """Train every class on all documents.

    Where there is one range of documents, each class is trained in it and its dual is not kept.
    """
    coef = np.zeros((len(objective.codes), setting.n_features))
    found: list[Found] = []
    for answer in _train_each(objective, setting, coef):
        found.append(answer)
        setting.report(len(found) / len(coef))
    intercept, primal, gap, n_rounds = map(np.array, zip(*found, strict=True))
    warn_if_stopped_early(gap, primal, setting.stop)
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
) -> Found:
    """Train one class on documents that are all in memory."""
    task = pose(objective, block, k)
    beta, margins = np.zeros((2, block.n_documents))
    b, _, primal, gap = polish(
        *(block.rows, task, objective.bias, beta, w, 0.0, margins),
        *(stop.tol, stop.max_passes, seed + k),
    )
    return Found(b, primal, gap, 0)


def pose(objective: Objective, block: Block, k: int) -> Task:
    """Return the problem of one class."""
    return Task(block.find_class(int(objective.codes[k])), objective.box[k], objective.ridge[k])


def _train_in_rounds(
    objective: Objective, setting: Setting, k: int, w: NDArray[np.float64]
) -> Found:
    """Train one class on documents that are on the disk."""
    done = setting.folder / f"{k}.npz"
    if done.exists():
        with np.load(done) as kept:
            w[:] = kept["w"]
            return Found(*kept["found"].tolist())
    dual = Dual(setting.folder / f"{k}.dual", sum(map(len, setting.shards)))
    b = _recall(objective, setting, dual, w)
    random = np.random.default_rng([setting.seed, k])
    n_rounds = 0
    while True:
        n_rounds += 1
        primal, gap, gathered = _go_round(objective, setting, k, dual, w, b, random)
        if gap <= setting.stop.tol * primal or n_rounds > setting.stop.max_passes:
            break
        target = 0.5 * setting.stop.tol * primal
        b = gathered.descend(objective, k, w, b, target, setting.seed + n_rounds)
        gathered.write(dual)
        del gathered  # before the next round gathers others
    found = Found(float(b), primal, gap, n_rounds)
    part = done.with_suffix(".part.npz")
    np.savez(part, w=w, found=np.array(found))
    part.replace(done)
    dual.path.unlink()
    return found


class Dual:
    """The dual of one class in a file: y times alpha of every document."""

    def __init__(self, path: Path, n_documents: int) -> None:
        self.path = path
        self.is_new = not path.exists()
        if self.is_new:
            part = path.with_suffix(".part")
            with part.open("wb") as file:
                # Written, not left as a hole: where the disk is full, writing to a map of a hole
                # would end the process.
                for first in range(0, n_documents, PIECE):
                    file.write(bytes(8 * min(PIECE, n_documents - first)))
            part.replace(path)

    def map(self, bounds: tuple[int, int]) -> NDArray[np.float64]:
        """Map a range of it into memory: what is written there is in the file."""
        first, last = bounds
        mapped: Any = np.memmap(self.path, np.float64, "r+", offset=8 * first, shape=last - first)
        return np.asarray(mapped)


def _recall(objective: Objective, setting: Setting, dual: Dual, w: NDArray[np.float64]) -> float:
    """Write the weights that a dual stands for, where a run before has left one."""
    b = 0.0
    if not dual.is_new:
        for shard in setting.shards:
            with shard.open() as block:
                b += add_up(block.rows, objective.bias, dual.map(shard.documents), w)
    return b


def _go_round(
    objective: Objective,
    setting: Setting,
    k: int,
    dual: Dual,
    w: NDArray[np.float64],
    b: float,
    random: np.random.Generator,
) -> tuple[float, float, Gathered]:
    """Return the objective, the gap, and documents that do not rest, of all on the disk."""
    primal = gap = 0.0
    room = setting.room // min(effective_n_jobs(setting.n_jobs), len(objective.codes))
    left = sum(shard.n_nonzeros + len(shard) for shard in setting.shards)
    gathered = Gathered(room)
    for shard in setting.shards:
        size = shard.n_nonzeros + len(shard)
        with shard.open() as block:
            task = pose(objective, block, k)
            margins, violation = np.empty((2, len(shard)))
            score(block.rows, w, b, margins)
            beta = dual.map(shard.documents)
            primal_here, gap_here = judge(block.rows, task, beta, margins, violation)
            share = (room - gathered.n_bytes) * size // max(left, 1)
            chosen = choose_restless(block.rows, violation, share, random)
            gathered.add(block.rows, task.y, beta, margins, chosen, shard.documents)
        primal, gap, left = primal + primal_here, gap + gap_here, left - size
    return primal, gap, gathered


def choose_restless(
    rows: Rows, violation: NDArray[np.float64], room: int, random: np.random.Generator
) -> NDArray[np.intp]:
    """Return documents that do not rest, as many of them as there is room for."""
    restless = np.flatnonzero(violation >= 0)
    sizes = measure_gathered(rows)[restless]
    if sizes.sum() <= room:
        return restless
    order = random.permutation(restless.size)
    n_chosen = int(np.searchsorted(np.cumsum(sizes[order]), room))
    return np.sort(restless[order[: max(n_chosen, 1)]])


def measure_gathered(rows: Rows) -> NDArray[np.int64]:
    """Return what each document takes where it is gathered, in bytes."""
    cell = CELL if rows.data is None else CELL + rows.data.itemsize
    ends = rows.indptr.astype(np.int64)
    return (ends[1:] - ends[:-1]) * cell + GATHERED


class Gathered:
    """Documents gathered from many ranges, to descend on.

    Parameters
    ----------
    room : int
        Bytes that all of them take, at most.
    """

    def __init__(self, room: int) -> None:
        self.n_bytes = 0
        self.beta = np.empty(0)
        self._ranges: list[tuple[tuple[int, int], NDArray[np.intp]]] = []
        self._parts: list[dict[str, NDArray[Any]]] = []
        # Memory for cells is taken as it is filled. Were they joined in the end, they would be
        # there twice.
        self._features = np.empty(room // CELL + 1, np.uint32)
        self._values: NDArray[Any] | None = None
        self._n_cells = 0

    def add(
        self,
        rows: Rows,
        y: NDArray[np.int8],
        beta: NDArray[np.float64],
        margins: NDArray[np.float64],
        chosen: NDArray[np.intp],
        documents: tuple[int, int],
    ) -> None:
        """Copy the chosen documents of a range."""
        lengths = np.diff(rows.indptr.astype(np.int64))[chosen]
        self._gather(rows, chosen, int(lengths.sum()))
        self.n_bytes += GATHERED * len(chosen)
        self._ranges.append((documents, chosen))
        self._parts.append(
            {
                "lengths": lengths,
                "scale": rows.scale[chosen],
                "squared_length": rows.squared_length[chosen],
                "weight": rows.weight[chosen],
                "y": y[chosen],
                "beta": beta[chosen],
                "margins": margins[chosen],
            }
        )

    def descend(
        self,
        objective: Objective,
        k: int,
        w: NDArray[np.float64],
        b: float,
        target: float,
        seed: int,
    ) -> float:
        """Descend on the documents; return the intercept, and leave their dual in ``beta``."""
        n_cells = self._n_cells
        rows = Rows(
            count_up(self._join("lengths")).astype(np.uint64),
            self._features[:n_cells],
            None if self._values is None else self._values[:n_cells],
            self._join("scale"),
            self._join("squared_length"),
            self._join("weight"),
        )
        self.beta = self._join("beta")
        task = Task(self._join("y"), objective.box[k], objective.ridge[k])
        found: float = advance(
            *(rows, task, objective.bias, self.beta, w, b, self._join("margins")),
            *(target, PASSES, seed),
        )
        return found

    def write(self, dual: Dual) -> None:
        """Write the dual of the documents to where it came from."""
        first = 0
        for documents, chosen in self._ranges:
            last = first + len(chosen)
            if len(chosen):
                dual.map(documents)[chosen] = self.beta[first:last]
            first = last

    def _gather(self, rows: Rows, chosen: NDArray[np.intp], n_cells: int) -> None:
        if rows.data is not None and self._values is None:
            self._features = self._features[: len(self._features) // 2 + 1]
            self._values = np.empty(len(self._features), rows.data.dtype)
        last = self._n_cells + n_cells
        if last > len(self._features):  # one document may be too large for the room
            self._features = np.append(self._features, np.empty(n_cells, np.uint32))
            if self._values is not None:
                self._values = np.append(self._values, np.empty(n_cells, self._values.dtype))
        cells = slice(self._n_cells, last)
        values = None if self._values is None else self._values[cells]
        gather_rows(rows.indptr, rows.indices, rows.data, chosen, self._features[cells], values)
        self._n_cells = last
        self.n_bytes += n_cells * (CELL if values is None else CELL + values.itemsize)

    def _join(self, name: str) -> NDArray[Any]:
        """Return one array of all parts, which lose theirs."""
        return np.concatenate([part.pop(name) for part in self._parts])


def warn_if_stopped_early(
    gap: NDArray[np.float64], primal: NDArray[np.float64], stop: Stop
) -> None:
    """Warn where the gap is not as small as it should be."""
    worst = float((gap / primal).max())
    if worst > stop.tol:
        warnings.warn(
            f"Stopped after max_iter={stop.max_passes} passes with a relative duality gap of "
            f"{worst:.2g}, above tol={stop.tol:g}. Raise max_iter or tol, or scale the features.",
            ConvergenceWarning,
            stacklevel=4,
        )
