"""Training on documents that no worker can hold.

As in `spokeshave.budget.rounds`, from block to block of documents instead of over a disk: in each
round every block scores its documents, adds its terms of the duality gap, and sends those that do
not rest at a bound, or as many of them as there is room for, to a worker that descends on them. So
the descent is on one problem, and not on many whose steps have to be averaged, as in CoCoA (Jaggi
et al., 2014); few documents do not rest once the weights are about right, so few rounds will do.

The dual of a block is a result like any other: one that is lost with a worker is made again from
the steps that led to it.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.budget.rounds import (
    PASSES,
    Objective,
    Weights,
    choose_restless,
    pose,
    warn_if_stopped_early,
)
from spokeshave.budget.shards import Block
from spokeshave.budget.store import count_up
from spokeshave.cluster.workers import Report, collect, submit
from spokeshave.kernels.descent import Task, advance, judge, score
from spokeshave.kernels.rows import Rows
from spokeshave.kernels.thinning import gather_rows
from spokeshave.solver import Stop


class Normal(NamedTuple):
    """The weights and the intercept of a class."""

    w: NDArray[np.float64]
    b: float


class Look(NamedTuple):
    """A class in a block: its terms of the objective and of the gap, and what does not rest."""

    primal: float
    gap: float
    picked: Picked


class Picked(NamedTuple):
    """Documents of a block that do not rest, by number, with what it takes to descend on them."""

    documents: NDArray[np.intp]
    rows: Rows
    y: NDArray[np.int8]
    beta: NDArray[np.float64]
    margins: NDArray[np.float64]


class Setting(NamedTuple):
    """How training is done: features, when to stop, the seed, and bytes to gather documents in."""

    n_features: int
    stop: Stop
    seed: int
    room: int


def train_in_rounds(
    client: Client,
    blocks: list[Future],
    sizes: list[int],
    objective: Objective,
    setting: Setting,
    n_at_once: int,
    report: Report,
) -> Weights:
    """Train every class on blocks of documents, whose nonzeros are given; some classes at a time.

    The gap is measured over all documents in each round, and is what training stops by.
    """
    n_classes = len(objective.codes)
    coef, intercept = np.zeros((n_classes, setting.n_features)), np.zeros(n_classes)
    primal, gap = np.zeros((2, n_classes))
    most = 0
    for first in range(0, n_classes, n_at_once):
        group = list(range(first, min(first + n_at_once, n_classes)))
        found, n_rounds = _train_group(client, blocks, sizes, objective, setting, group)
        for k, (normal, primal[k], gap[k]) in found.items():
            coef[k], intercept[k] = normal
        most = max(most, n_rounds)
        report((group[-1] + 1) / n_classes)
    warn_if_stopped_early(gap, primal, setting.stop)
    return Weights(coef, intercept, primal, gap, most)


def _train_group(
    client: Client,
    blocks: list[Future],
    sizes: list[int],
    objective: Objective,
    setting: Setting,
    group: list[int],
) -> tuple[dict[int, tuple[Normal, float, float]], int]:
    """Train some classes side by side; return each with its objective and gap, and the rounds."""
    stop, total = setting.stop, sum(sizes)
    shares = [setting.room * size // max(total, 1) for size in sizes]
    normals = {k: submit(client, begin, setting.n_features) for k in group}
    duals: dict[int, list[Any]] = {k: [None] * len(blocks) for k in group}
    done: dict[int, tuple[Normal, float, float]] = {}
    for n_rounds in range(1, stop.max_passes + 2):
        looks = {
            k: [
                submit(
                    client,
                    look,
                    block,
                    dual,
                    normals[k],
                    objective,
                    k,
                    share,
                    (setting.seed, k, n_rounds, p),
                )
                for p, (block, dual, share) in enumerate(zip(blocks, duals[k], shares, strict=True))
            ]
            for k in normals
        }
        terms = {
            k: submit(
                client, add_terms, [submit(client, itemgetter(slice(2)), each) for each in of]
            )
            for k, of in looks.items()
        }
        measured = dict(zip(terms, collect(list(terms.values())), strict=True))
        for k, (primal, gap) in measured.items():
            if gap <= stop.tol * primal or n_rounds > stop.max_passes:
                done[k] = (normals.pop(k).result(), primal, gap)
                del duals[k]
        if not normals:
            return done, n_rounds
        for k in normals:
            picked = [submit(client, itemgetter(2), each) for each in looks[k]]
            target = 0.5 * stop.tol * measured[k][0]
            step = submit(
                client, descend, picked, normals[k], objective, k, target, setting.seed + n_rounds
            )
            normals[k] = submit(client, itemgetter(0), step)
            moved = submit(client, itemgetter(1), step)
            duals[k] = [
                submit(client, write_dual, block, dual, chosen, moved, p)
                for p, (block, dual, chosen) in enumerate(
                    zip(blocks, duals[k], picked, strict=True)
                )
            ]
    raise AssertionError("the last round is the last")


def begin(n_features: int) -> Normal:
    """Return the weights before any step."""
    return Normal(np.zeros(n_features), 0.0)


def look(
    block: Block,
    dual: NDArray[np.float64] | None,
    normal: Normal,
    objective: Objective,
    k: int,
    room: int,
    seed: tuple[int, ...],
) -> Look:
    """Score the documents of a block, and pick those that do not rest."""
    n, task = block.n_documents, pose(objective, block, k)
    beta = np.zeros(n) if dual is None else dual
    margins, violation = np.empty((2, n))
    score(block.rows, normal.w, normal.b, margins)
    primal, gap = judge(block.rows, task, beta, margins, violation)
    chosen = choose_restless(block.rows, violation, room, np.random.default_rng(seed))
    return Look(primal, gap, pick(block.rows, task.y, beta, margins, chosen))


def pick(
    rows: Rows,
    y: NDArray[np.int8],
    beta: NDArray[np.float64],
    margins: NDArray[np.float64],
    chosen: NDArray[np.intp],
) -> Picked:
    """Copy some documents of a block."""
    ends = count_up(np.diff(rows.indptr.astype(np.int64))[chosen])
    features = np.empty(ends[-1], np.uint32)
    values = None if rows.data is None else np.empty(ends[-1], rows.data.dtype)
    gather_rows(rows.indptr, rows.indices, rows.data, chosen, features, values)
    scale, squares, weight = (
        each[chosen] for each in (rows.scale, rows.squared_length, rows.weight)
    )
    copied = Rows(ends.astype(np.uint64), features, values, scale, squares, weight)
    return Picked(chosen, copied, y[chosen], beta[chosen], margins[chosen])


def add_terms(terms: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the objective and the gap over all blocks."""
    primal, gap = np.sum(terms, axis=0)
    return float(primal), float(gap)


def descend(
    picked: list[Picked], normal: Normal, objective: Objective, k: int, target: float, seed: int
) -> tuple[Normal, list[NDArray[np.float64]]]:
    """Descend on the documents of all blocks; return the weights, and the duals of each block."""
    rows, w = join_picked(picked), normal.w.copy()
    beta, margins, y = (
        np.concatenate([getattr(each, name) for each in picked])
        for name in ("beta", "margins", "y")
    )
    task = Task(y, objective.box[k], objective.ridge[k])
    b = advance(rows, task, objective.bias, beta, w, normal.b, margins, target, PASSES, seed)
    return Normal(w, b), np.split(beta, np.cumsum([each.y.size for each in picked])[:-1])


def join_picked(picked: list[Picked]) -> Rows:
    """Return the rows of all blocks, one after the other."""
    parts: Any = [each.rows for each in picked]
    lengths = np.concatenate([np.diff(rows.indptr.astype(np.int64)) for rows in parts])
    return Rows(
        count_up(lengths).astype(np.uint64),
        np.concatenate([rows.indices for rows in parts]),
        None if parts[0].data is None else np.concatenate([rows.data for rows in parts]),
        *(np.concatenate([rows[at] for rows in parts]) for at in (3, 4, 5)),
    )


def write_dual(
    block: Block,
    dual: NDArray[np.float64] | None,
    picked: Picked,
    moved: list[NDArray[np.float64]],
    number: int,
) -> NDArray[np.float64]:
    """Return the dual of a block after a step."""
    beta = np.zeros(block.n_documents) if dual is None else dual.copy()
    beta[picked.documents] = moved[number]
    return beta
