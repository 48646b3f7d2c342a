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
from spokeshave.cluster.workers import MERGING, Report, submit
from spokeshave.kernels.descent import Task, advance, judge, score
from spokeshave.kernels.rows import Rows
from spokeshave.kernels.thinning import gather_rows
from spokeshave.solver import Stop


class Normal(NamedTuple):
    """The weights and the intercept of a class."""

    w: NDArray[np.float64]
    b: float


class Picked(NamedTuple):
    """Documents of a block that do not rest, with what it takes to descend on them."""

    rows: Rows
    y: NDArray[np.int8]
    beta: NDArray[np.float64]
    margins: NDArray[np.float64]


class Step(NamedTuple):
    """A class after a descent: its normal, and the duals of the documents descended on, by block.

    Before the first there are none.
    """

    normal: Normal
    moved: list[NDArray[np.float64]] | None


class Kept(NamedTuple):
    """What a block keeps of a class from one round to the next: its dual, and what was picked."""

    dual: NDArray[np.float64]
    documents: NDArray[np.intp]


class Look(NamedTuple):
    """Classes in a block: terms of the objective and of the gap, what to keep, who is restless."""

    terms: list[tuple[float, float]]
    kept: dict[int, Kept]
    picked: dict[int, Picked]


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
        found, n_rounds = _train_group(client, blocks, sizes, objective, setting, group, report)
        for k, (normal, primal[k], gap[k]) in found.items():
            coef[k], intercept[k] = normal
        most = max(most, n_rounds)
    warn_if_stopped_early(gap, primal, setting.stop)
    return Weights(coef, intercept, primal, gap, most)


def _train_group(
    client: Client,
    blocks: list[Future],
    sizes: list[int],
    objective: Objective,
    setting: Setting,
    group: list[int],
    report: Report,
) -> tuple[dict[int, tuple[Normal, float, float]], int]:
    """Train some classes side by side; return each with its objective and gap, and the rounds.

    A task looks at a block for all of them: it may have to be read from a disk.
    """
    stop, total = setting.stop, sum(sizes)
    shares = [setting.room * size // max(total, 1) for size in sizes]
    steps = {k: submit(client, begin, setting.n_features) for k in group}
    kept: list[Any] = [None] * len(blocks)
    done: dict[int, tuple[Normal, float, float]] = {}
    for n_rounds in range(1, stop.max_passes + 2):
        seen = list(steps)
        looks = [
            submit(
                client,
                look,
                block,
                before,
                list(steps.values()),
                objective,
                seen,
                share,
                (setting.seed, n_rounds, p),
            )
            for p, (block, before, share) in enumerate(zip(blocks, kept, shares, strict=True))
        ]
        # What a look has found is taken apart at once, and let go: there may be no room to hold it.
        terms = [submit(client, itemgetter(0), each, priority=MERGING) for each in looks]
        kept = [submit(client, itemgetter(1), each, priority=MERGING) for each in looks]
        picked = {
            k: [submit(client, take_picked, each, k, priority=MERGING) for each in looks]
            for k in seen
        }
        del looks
        measured = dict(zip(seen, submit(client, add_terms, terms).result(), strict=True))
        for k, (primal, gap) in measured.items():
            if gap <= stop.tol * primal or n_rounds > stop.max_passes:
                normal = submit(client, itemgetter(0), steps.pop(k))
                done[k] = (normal.result(), primal, gap)
        report((group[0] + len(done)) / len(objective.codes))
        if not steps:
            return done, n_rounds
        for k, step in steps.items():
            target = 0.5 * stop.tol * measured[k][0]
            seed = setting.seed + n_rounds
            steps[k] = submit(client, descend, picked[k], step, objective, k, target, seed)
        del picked, step
    raise AssertionError("the last round is the last")


def begin(n_features: int) -> Step:
    """Return the weights before any step."""
    return Step(Normal(np.zeros(n_features), 0.0), None)


def look(
    block: Block,
    before: dict[int, Kept] | None,
    steps: list[Step],
    objective: Objective,
    classes: list[int],
    room: int,
    at: tuple[int, int, int],
) -> Look:
    """Score the documents of a block for some classes, and pick those that do not rest.

    ``at`` is the seed, the round and the number of the block.
    """
    seed, n_rounds, number = at
    found = Look([], {}, {})
    for k, step in zip(classes, steps, strict=True):
        n, task = block.n_documents, pose(objective, block, k)
        dual = np.zeros(n) if before is None else write_dual(before[k], step, number)
        margins, violation = np.empty((2, n))
        score(block.rows, step.normal.w, step.normal.b, margins)
        found.terms.append(judge(block.rows, task, dual, margins, violation))
        random = np.random.default_rng((seed, k, n_rounds, number))
        chosen = choose_restless(block.rows, violation, room, random)
        found.kept[k] = Kept(dual, chosen)
        found.picked[k] = pick(block.rows, task.y, dual, margins, chosen)
    return found


def write_dual(kept: Kept, step: Step, number: int) -> NDArray[np.float64]:
    """Return the dual of a block after a step."""
    dual = kept.dual.copy()
    if step.moved is not None:
        dual[kept.documents] = step.moved[number]
    return dual


def take_picked(found: Look, k: int) -> Picked:
    """Return the documents that do not rest in a class."""
    return found.picked[k]


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
    return Picked(copied, y[chosen], beta[chosen], margins[chosen])


def add_terms(terms: list[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    """Return the objective and the gap of each class over all blocks."""
    return [(float(primal), float(gap)) for primal, gap in np.sum(terms, axis=0)]


def descend(
    picked: list[Picked], step: Step, objective: Objective, k: int, target: float, seed: int
) -> Step:
    """Descend on the documents of all blocks; return the weights, and the duals of each block."""
    (w, b), rows = step.normal, stack_rows([each.rows for each in picked])
    w = w.copy()
    beta, margins, y = (
        np.concatenate([getattr(each, name) for each in picked])
        for name in ("beta", "margins", "y")
    )
    task = Task(y, objective.box[k], objective.ridge[k])
    b = advance(rows, task, objective.bias, beta, w, b, margins, target, PASSES, seed)
    ends = np.cumsum([each.y.size for each in picked])[:-1]
    return Step(Normal(w, b), np.split(beta, ends))


def stack_rows(parts: list[Rows]) -> Rows:
    """Return the rows of several, one after the other."""
    lengths = [np.diff(rows.indptr.astype(np.int64)) for rows in parts]
    values: Any = [rows.data for rows in parts]
    return Rows(
        count_up(np.concatenate(lengths)).astype(np.uint64),
        np.concatenate([rows.indices for rows in parts]),
        None if values[0] is None else np.concatenate(values),
        *(
            np.concatenate([getattr(rows, name) for rows in parts])
            for name in ("scale", "squared_length", "weight")
        ),
    )
