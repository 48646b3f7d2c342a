"""Training on documents that no worker can hold.

As in `spokeshave.budget.rounds`, over the disks of many workers instead of one: in each round every
block scores its documents, adds its terms of the duality gap, and sends those that do not rest at a
bound to a worker that descends on them, or as many of them as a few times what it has room for: it
has them on its disk, and takes those of some blocks at a time. So the descent is on one problem,
and not on many whose steps have to be averaged, as in CoCoA (Jaggi et al., 2014); few documents do
not rest once the weights are about right, so few rounds will do.

All that a round leaves is a result like any other, on the disk of a worker: what is lost with one
is made again from the steps that led to it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
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
    measure_gathered,
    pose,
    warn_if_stopped_early,
)
from spokeshave.budget.store import count_up
from spokeshave.cluster.shelf import ShelfWriter, Shelved, join_arrays, making_file, shelve
from spokeshave.cluster.workers import MERGING, Report, stay_with, submit
from spokeshave.kernels.descent import Task, advance, judge, score, score_lanes
from spokeshave.kernels.lanes import LANES
from spokeshave.kernels.rows import Rows, gather_rows
from spokeshave.svm.solver import Stop

ROOMS = 4  # documents are gathered for so many times the room of a worker
TURNS = 3  # at the documents that were gathered, where they take more room than there is


class Normal(NamedTuple):
    """The weights and the intercept of a class."""

    w: NDArray[np.float64]
    b: float


class Picked(NamedTuple):
    """Documents that do not rest, with what it takes to descend on them."""

    rows: Rows
    y: NDArray[np.int8]
    beta: NDArray[np.float64]
    margins: NDArray[np.float64]


class Kept(NamedTuple):
    """What a piece of a block keeps of a class from one round to the next.

    Attributes
    ----------
    support : array of int
        Documents whose dual is not zero: few have one.
    beta : array of float
        Their dual.
    picked : array of int
        Documents that were picked.
    """

    support: NDArray[np.intp]
    beta: NDArray[np.float64]
    picked: NDArray[np.intp]


class Look(NamedTuple):
    """Classes in a block.

    Attributes
    ----------
    terms : list of tuple of float
        Terms of the objective and of the gap.
    kept : Shelved
        What to keep: for each piece of the block, a `Kept` of each class.
    picked : dict of int to Shelved
        Who is restless: for each class, a `Picked` of each piece.
    """

    terms: list[tuple[float, float]]
    kept: Shelved
    picked: dict[int, Shelved]


class Setting(NamedTuple):
    """How training is done.

    Attributes
    ----------
    n_features : int
        How many features there are.
    stop : Stop
        When to stop.
    seed : int
        The seed.
    room : int
        Bytes for documents to descend on.
    shelf : str
        Where results are put.
    n_at_once : int
        Classes that are trained side by side.
    """

    n_features: int
    stop: Stop
    seed: int
    room: int
    shelf: str
    n_at_once: int


def train_in_rounds(
    client: Client,
    blocks: list[Future],
    sizes: list[int],
    objective: Objective,
    setting: Setting,
    report: Report,
    say: Callable[[str], None],
) -> Weights:
    """Train every class on blocks of documents, whose nonzeros are given; some classes at a time.

    The gap is measured over all documents in each round, told, and what training stops by.
    """
    n_classes = len(objective.codes)
    coef, intercept = np.zeros((n_classes, setting.n_features)), np.zeros(n_classes)
    primal, gap = np.zeros((2, n_classes))
    most = 0
    for first in range(0, n_classes, setting.n_at_once):
        group = list(range(first, min(first + setting.n_at_once, n_classes)))
        found, n_rounds = _train_group(
            client, blocks, sizes, objective, setting, group, report, say
        )
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
    say: Callable[[str], None],
) -> tuple[dict[int, tuple[Normal, float, float]], int]:
    """Train some classes side by side; return each with its objective and gap, and the rounds.

    A task looks at a block for all of them: it may have to be read from a disk.
    """
    stop = setting.stop
    shares = share_room(setting.room, sizes)
    steps = {k: submit(client, begin, setting) for k in group}
    kept: list[Any] = [None] * len(blocks)
    done: dict[int, tuple[Normal, float, float]] = {}
    for n_rounds in range(1, stop.max_passes + 2):
        seen = list(steps)
        looks = _look_at_all(client, blocks, kept, steps, shares, objective, setting, n_rounds)
        # What a look has found is taken apart at once, and let go: disks have ends as well.
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
                done[k] = (submit(client, read_normal, steps.pop(k)).result(), primal, gap)
        n_done, n_classes = group[0] + len(done), len(objective.codes)
        widest = max(gap / primal for primal, gap in measured.values())
        say(f"round {n_rounds}: gap at most {widest:.2g}, {n_done} of {n_classes} classes done")
        report(n_done / n_classes)
        if not steps:
            return done, n_rounds
        for k, step in steps.items():
            target = 0.5 * stop.tol * measured[k][0]
            steps[k] = submit(
                client, descend, picked[k], step, objective, k, target, setting, n_rounds
            )
        del picked, step
    raise AssertionError("the last round is the last")


def _look_at_all(
    client: Client,
    blocks: list[Future],
    kept: list[Any],
    steps: dict[int, Future],
    shares: list[int],
    objective: Objective,
    setting: Setting,
    n_rounds: int,
) -> list[Future]:
    """Have every block looked at, after a step for each class."""
    normals = [submit(client, take_normal, step, setting.shelf) for step in steps.values()]
    looks = []
    # To move a block takes longer than to wait for the worker that has it.
    given = zip(blocks, kept, shares, stay_with(client, blocks), strict=True)
    for p, (block, before, share, there) in enumerate(given):
        change = None
        if before is not None:
            duals = list(steps.values()), p, setting.shelf
            change = submit(client, take_duals, *duals, priority=MERGING)
        documents, how = (block, before, change), setting._replace(room=share)
        at = n_rounds, p
        looks.append(
            submit(client, look, *documents, normals, objective, list(steps), how, at, **there)
        )
    return looks


def share_room(room: int, sizes: list[int]) -> list[int]:
    """Return what is gathered from each block, in bytes: that of one has to fit by itself.

    Examples
    --------
    >>> share_room(1000, [200, 800, 7000])
    [100, 400, 1000]
    """
    return [min(room, ROOMS * room * size // max(sum(sizes), 1)) for size in sizes]


def begin(setting: Setting) -> Shelved:
    """Return the weights before any step."""
    return shelve(setting.shelf, [Normal(np.zeros(setting.n_features), 0.0)])


def read_normal(step: Shelved) -> Normal:
    """Return the weights after a step."""
    normal: Normal = step.read(0)
    return normal


def take_normal(step: Shelved, shelf: str) -> Shelved:
    """Return the weights after a step by themselves, which go to all workers."""
    return shelve(shelf, [read_normal(step)])


def take_duals(steps: list[Shelved], number: int, shelf: str) -> Shelved:
    """Return what steps have made of the documents of a block, of which no other needs to know."""
    return shelve(shelf, [step.read(1 + number) for step in steps])


def take_picked(found: Look, k: int) -> Shelved:
    """Return the documents that do not rest in a class."""
    return found.picked[k]


def add_terms(terms: list[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    """Return the objective and the gap of each class over all blocks."""
    return [(float(primal), float(gap)) for primal, gap in np.sum(terms, axis=0)]


def look(
    block: Shelved,
    before: Shelved | None,
    change: Shelved | None,
    normals: list[Shelved],
    objective: Objective,
    classes: list[int],
    setting: Setting,
    at: tuple[int, int],
) -> Look:
    """Score the documents of a block for some classes, and pick those that do not rest.

    ``before`` is what was kept by the last look, if any, and ``change`` what has become of the
    documents that it picked; ``at`` is the round and the number of the block. The room in the
    setting is that of the block.
    """
    n_rounds, number = at
    lanes = stack_normals(normals, setting.n_features)
    moved = None if change is None else list(change)
    terms = np.zeros((len(classes), 2))
    n_cells = sum(piece.rows.indices.size for piece in block)
    with ExitStack() as stack:
        keeper, *pickers = (
            ShelfWriter(stack.enter_context(making_file(setting.shelf))) for _ in [None, *classes]
        )
        n_moved = [0] * len(classes)
        for p, piece in enumerate(block):
            kept, last = {}, None if before is None else before.read(p)
            room = setting.room * piece.rows.indices.size // max(n_cells, 1)
            scores = score_piece(piece.rows, lanes)
            for j, (k, margins, picker) in enumerate(zip(classes, scores, pickers, strict=False)):
                dual, violation = np.zeros((2, piece.n_documents))
                if last is not None and moved is not None:
                    write_dual(dual, last[k], moved[j][n_moved[j] :])
                    n_moved[j] += last[k].picked.size
                task = pose(objective, piece, k)
                terms[j] += judge(piece.rows, task, dual, margins, violation)
                random = np.random.default_rng((setting.seed, k, n_rounds, number, p))
                chosen = choose_restless(piece.rows, violation, room, random)
                support = np.flatnonzero(dual)
                kept[k] = Kept(support, dual[support], chosen)
                picker.add(pick(piece.rows, task.y, dual, margins, chosen))
            keeper.add(kept)
    picked = {k: picker.finish() for k, picker in zip(classes, pickers, strict=True)}
    return Look([(primal, gap) for primal, gap in terms.tolist()], keeper.finish(), picked)


def stack_normals(normals: list[Shelved], n_features: int) -> list[tuple[Any, Any]]:
    """Return the weights of classes side by side, for each feature, and their intercepts."""
    lanes = []
    for first in range(0, len(normals), LANES):
        W, b = np.zeros((n_features, LANES)), np.zeros(LANES)
        for lane, normal in enumerate(normals[first : first + LANES]):
            W[:, lane], b[lane] = read_normal(normal)
        lanes.append((W, b))
    return lanes


def score_piece(rows: Rows, lanes: list[tuple[Any, Any]]) -> NDArray[np.float64]:
    """Return the scores of documents, a row for each class, and for lanes that have none."""
    scores = np.empty((len(lanes), LANES, rows.scale.size))
    for (W, b), found in zip(lanes, scores, strict=True):
        score_lanes(rows, W, b, found)
    return scores.reshape(-1, rows.scale.size)


def write_dual(dual: NDArray[np.float64], kept: Kept, moved: NDArray[np.float64]) -> None:
    """Write the dual of a piece after a step, which has moved that of the documents picked."""
    dual[kept.support] = kept.beta
    dual[kept.picked] = moved[: kept.picked.size]


def pick(
    rows: Rows,
    y: NDArray[np.int8],
    beta: NDArray[np.float64],
    margins: NDArray[np.float64],
    chosen: NDArray[np.intp],
) -> Picked:
    """Copy some documents of a piece."""
    ends = count_up(np.diff(rows.indptr.astype(np.int64))[chosen])
    features = np.empty(ends[-1], np.uint32)
    values = None if rows.data is None else np.empty(ends[-1], rows.data.dtype)
    gather_rows(rows.indptr, rows.indices, rows.data, chosen, features, values)
    scale, squares, weight = (
        each[chosen] for each in (rows.scale, rows.squared_length, rows.weight)
    )
    copied = Rows(ends.astype(np.uint64), features, values, scale, squares, weight)
    return Picked(copied, y[chosen], beta[chosen], margins[chosen])


def descend(
    picked: list[Shelved],
    step: Shelved,
    objective: Objective,
    k: int,
    target: float,
    setting: Setting,
    n_rounds: int,
) -> Shelved:
    """Descend on documents of all blocks; return the weights, then the duals of each block.

    Where there is no room for all, those of some blocks are taken at a time, dealt out anew in each
    round: blocks that stay together come to a stand.
    """
    w, b = read_normal(step)
    w = w.copy()
    random = np.random.default_rng((setting.seed, k, n_rounds))
    sizes = [sum(int(measure_gathered(piece.rows).sum()) for piece in each) for each in picked]
    groups = group_blocks(sizes, setting.room, random)
    duals: dict[int, NDArray[np.float64]] = {}
    for turn in range(TURNS if len(groups) > 1 else 1):
        for group in groups:
            rows, y, beta, margins = join_picked([picked[p] for p in group])
            if turn:
                beta = np.concatenate([duals[p] for p in group])
            if duals:  # the weights are no longer those of the scores
                score(rows, w, b, margins)
            task = Task(y, objective.box[k], objective.ridge[k])
            seed = setting.seed + n_rounds
            b = advance(rows, task, objective.bias, beta, w, b, margins, target, PASSES, seed)
            ends = np.cumsum([sum(piece.y.size for piece in picked[p]) for p in group])
            duals.update(zip(group, np.split(beta, ends[:-1]), strict=True))
    return shelve(setting.shelf, [Normal(w, b), *(duals[p] for p in range(len(picked)))])


def group_blocks(sizes: list[int], room: int, random: np.random.Generator) -> list[list[int]]:
    """Deal out blocks at random to groups that there is room for, or that are one block.

    Examples
    --------
    >>> group_blocks([3, 3, 3, 3, 9], 6, np.random.default_rng(0))
    [[2], [4], [3, 0], [1]]
    """
    groups: list[list[int]] = []
    left = 0
    for p in random.permutation(len(sizes)).tolist():
        if not groups or sizes[p] > left:
            groups.append([])
            left = room
        groups[-1].append(p)
        left -= sizes[p]
    return groups


def join_picked(picked: list[Shelved]) -> Picked:
    """Return the documents of all blocks that were picked."""
    lengths, *rows, y, beta, margins = join_arrays(
        picked, lambda piece: (*list_arrays(piece.rows), piece.y, piece.beta, piece.margins)
    )
    return Picked(make_rows(lengths, *rows), y, beta, margins)


def list_arrays(rows: Rows) -> tuple[Any, ...]:
    """Return the lengths of rows, and all that they have, as can be put end to end."""
    return (np.diff(rows.indptr.astype(np.int64)), *rows[1:])


def make_rows(lengths: NDArray[np.int64], *arrays: Any) -> Rows:
    """Return rows of lengths, and of all that they have."""
    return Rows(count_up(lengths).astype(np.uint64), *arrays)
