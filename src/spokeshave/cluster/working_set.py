"""Training on documents that no worker can hold.

The rounds of `spokeshave.budget.working_set`, over the disks of many workers. In each round a task
per block scores its documents, adds its terms of the gap, and sends the documents whose dual
is not optimal at a bound to one worker, up to a few times its memory. That worker keeps them on its
disk and runs coordinate descent on the documents of some blocks at a time. So there is one problem,
not one per block whose steps have to be averaged, as in CoCoA (Jaggi et al., 2014). Few documents
are left once the weights are about right, so a few rounds suffice.

Every result of a round is a Dask result on the disk of a worker. If a worker is lost, its results
are computed again from the steps that led to them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.budget.row_batches import to_offsets
from spokeshave.budget.working_set import (
    Objective,
    Picked,
    Weights,
    find_target,
    inspect,
    is_finished,
    measure_gathered,
    pick,
)
from spokeshave.budget.working_set import descend as descend_on
from spokeshave.cluster.client import MERGING, Report, stay_with, submit
from spokeshave.cluster.spill import Spilled, SpillWriter, join_arrays, making_file, spill
from spokeshave.kernels.descent import score, score_lanes
from spokeshave.kernels.lanes import LANES
from spokeshave.kernels.rows import Rows
from spokeshave.svm.solver import Stop, warn_if_stopped_early

OVERFILL = 4  # documents are gathered for so many times the memory of a worker
TURNS = 3  # over the gathered documents, if they do not fit in memory


class Normal(NamedTuple):
    """The weights and the intercept of a class."""

    w: NDArray[np.float64]
    b: float


class Kept(NamedTuple):
    """State of a class in a piece: support vectors, their duals, and the picked documents."""

    support: NDArray[np.intp]
    beta: NDArray[np.float64]
    picked: NDArray[np.intp]


class BlockInspection(NamedTuple):
    """Results of a task for some classes in a block."""

    terms: list[tuple[float, float]]  # of the objective and of the gap, for each class
    kept: Spilled  # for the next round: for each piece, a Kept of each class
    picked: dict[int, Spilled]  # violating documents: for each class, a Picked of each piece


class Setting(NamedTuple):
    """Options of training."""

    n_features: int
    stop: Stop
    seed: int
    capacity: int  # bytes for documents to descend on
    folder: str  # name of the spill folder
    n_at_once: int  # classes trained side by side


def train_in_rounds(
    client: Client,
    blocks: list[Future],
    sizes: list[int],
    objective: Objective,
    setting: Setting,
    report: Report,
    say: Callable[[str], None],
    variance: Future | None = None,
) -> Weights:
    """Train every class on blocks of documents, given their nonzeros; some classes at a time.

    The gap is measured over all documents in each round, reported, and used to stop. ``variance``
    (classes x features) is that of the prior of the weights.
    """
    n_classes = len(objective.codes)
    coef, intercept = np.zeros((n_classes, setting.n_features)), np.zeros(n_classes)
    primal, gap = np.zeros((2, n_classes))
    most = 0
    for first in range(0, n_classes, setting.n_at_once):
        group = list(range(first, min(first + setting.n_at_once, n_classes)))
        found, n_rounds = _train_group(
            client, blocks, sizes, objective, setting, group, report, say, variance
        )
        for k, (normal, primal[k], gap[k]) in found.items():
            coef[k], intercept[k] = normal
        most = max(most, n_rounds)
    warn_if_stopped_early(gap / primal, setting.stop, stacklevel=3)
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
    variance: Future | None,
) -> tuple[dict[int, tuple[Normal, float, float]], int]:
    """Train some classes side by side; return each with its objective and gap, and the rounds.

    A task inspects a block for all of them, since it may have to be read from disk.
    """
    stop = setting.stop
    shares = share_capacity(setting.capacity, sizes)
    steps = {k: submit(client, begin, setting) for k in group}
    kept: list[Any] = [None] * len(blocks)
    done: dict[int, tuple[Normal, float, float]] = {}
    for n_rounds in range(1, stop.max_passes + 2):
        seen = list(steps)
        inspected = _inspect_all(client, blocks, kept, steps, shares, objective, setting, n_rounds)
        # Results are taken apart at once and released, to save disk space.
        terms = [submit(client, itemgetter(0), each, priority=MERGING) for each in inspected]
        kept = [submit(client, itemgetter(1), each, priority=MERGING) for each in inspected]
        picked = {
            k: [submit(client, take_picked, each, k, priority=MERGING) for each in inspected]
            for k in seen
        }
        del inspected
        measured = dict(zip(seen, submit(client, add_terms, terms).result(), strict=True))
        for k, (primal, gap) in measured.items():
            if is_finished(primal, gap, n_rounds, stop):
                done[k] = (submit(client, read_normal, steps.pop(k)).result(), primal, gap)
        n_done, n_classes = group[0] + len(done), len(objective.codes)
        widest = max(gap / primal for primal, gap in measured.values())
        say(f"round {n_rounds}: gap at most {widest:.2g}, {n_done} of {n_classes} classes done")
        report(n_done / n_classes)
        if not steps:
            return done, n_rounds
        for k, step in steps.items():
            target = find_target(measured[k][0], stop)
            steps[k] = submit(
                client, descend, picked[k], step, objective, k, target, setting, n_rounds, variance
            )
        del picked, step
    raise AssertionError("every class is done after the last round")


def _inspect_all(
    client: Client,
    blocks: list[Future],
    kept: list[Any],
    steps: dict[int, Future],
    shares: list[int],
    objective: Objective,
    setting: Setting,
    n_rounds: int,
) -> list[Future]:
    """Inspect every block, after a step for each class."""
    normals = [submit(client, take_normal, step, setting.folder) for step in steps.values()]
    inspected = []
    # Moving a block takes longer than waiting for the worker that has it.
    given = zip(blocks, kept, shares, stay_with(client, blocks), strict=True)
    for p, (block, before, share, there) in enumerate(given):
        change = None
        if before is not None:
            duals = list(steps.values()), p, setting.folder
            change = submit(client, take_duals, *duals, priority=MERGING)
        documents, how = (block, before, change), setting._replace(capacity=share)
        at = n_rounds, p
        inspected.append(
            submit(
                client, inspect_block, *documents, normals, objective, list(steps), how, at, **there
            )
        )
    return inspected


def share_capacity(capacity: int, sizes: list[int]) -> list[int]:
    """Return the bytes to gather from each block; the share of one block has to fit by itself.

    Examples
    --------
    >>> share_capacity(1000, [200, 800, 7000])
    [100, 400, 1000]
    """
    return [min(capacity, OVERFILL * capacity * size // max(sum(sizes), 1)) for size in sizes]


def begin(setting: Setting) -> Spilled:
    """Return the weights before any step."""
    return spill(setting.folder, [Normal(np.zeros(setting.n_features), 0.0)])


def read_normal(step: Spilled) -> Normal:
    """Return the weights after a step."""
    normal: Normal = step.read(0)
    return normal


def take_normal(step: Spilled, folder: str) -> Spilled:
    """Return the weights after a step without the duals: they go to all workers."""
    return spill(folder, [read_normal(step)])


def take_duals(steps: list[Spilled], number: int, folder: str) -> Spilled:
    """Return the duals of the documents of one block after steps of several classes."""
    return spill(folder, [step.read(1 + number) for step in steps])


def take_picked(found: BlockInspection, k: int) -> Spilled:
    """Return the violating documents of a class."""
    return found.picked[k]


def add_terms(terms: list[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    """Return the objective and the gap of each class over all blocks."""
    return [(float(primal), float(gap)) for primal, gap in np.sum(terms, axis=0)]


def inspect_block(
    block: Spilled,
    before: Spilled | None,
    change: Spilled | None,
    normals: list[Spilled],
    objective: Objective,
    classes: list[int],
    setting: Setting,
    at: tuple[int, int],
) -> BlockInspection:
    """Score the documents of a block for some classes, and pick the violating ones.

    ``before`` is the state kept by the last round, if any, and ``change`` the new duals of the
    documents that it picked. ``at`` is the round and the number of the block. The capacity in the
    setting is that of the block.
    """
    n_rounds, number = at
    lanes = stack_normals(normals, setting.n_features)
    moved = None if change is None else list(change)
    terms = np.zeros((len(classes), 2))
    n_cells = sum(piece.rows.indices.size for piece in block)
    with ExitStack() as stack:
        keeper, *pickers = (
            SpillWriter(stack.enter_context(making_file(setting.folder))) for _ in [None, *classes]
        )
        n_moved = [0] * len(classes)
        for p, piece in enumerate(block):
            kept, last = {}, None if before is None else before.read(p)
            capacity = setting.capacity * piece.rows.indices.size // max(n_cells, 1)
            scores = score_piece(piece.rows, lanes)
            for j, (k, margins, picker) in enumerate(zip(classes, scores, pickers, strict=False)):
                dual = np.zeros(piece.n_documents)
                if last is not None and moved is not None:
                    write_dual(dual, last[k], moved[j][n_moved[j] :])
                    n_moved[j] += last[k].picked.size
                random = np.random.default_rng((setting.seed, k, n_rounds, number, p))
                found = inspect(piece, objective, k, dual, margins, capacity, random)
                terms[j] += found.primal, found.gap
                support = np.flatnonzero(dual)
                kept[k] = Kept(support, dual[support], found.chosen)
                picker.add(pick(piece.rows, found.y, dual, margins, found.chosen))
            keeper.add(kept)
    picked = {k: picker.finish() for k, picker in zip(classes, pickers, strict=True)}
    return BlockInspection(
        [(primal, gap) for primal, gap in terms.tolist()], keeper.finish(), picked
    )


def stack_normals(normals: list[Spilled], n_features: int) -> list[tuple[Any, Any]]:
    """Return the weights of classes in lanes (features x lanes), and their intercepts."""
    lanes = []
    for first in range(0, len(normals), LANES):
        W, b = np.zeros((n_features, LANES)), np.zeros(LANES)
        for lane, normal in enumerate(normals[first : first + LANES]):
            W[:, lane], b[lane] = read_normal(normal)
        lanes.append((W, b))
    return lanes


def score_piece(rows: Rows, lanes: list[tuple[Any, Any]]) -> NDArray[np.float64]:
    """Return the scores of documents, a row per class, and rows of unused lanes."""
    scores = np.empty((len(lanes), LANES, rows.scale.size))
    for (W, b), found in zip(lanes, scores, strict=True):
        score_lanes(rows, W, b, found)
    return scores.reshape(-1, rows.scale.size)


def write_dual(dual: NDArray[np.float64], kept: Kept, moved: NDArray[np.float64]) -> None:
    """Write the dual of a piece after a step, which has changed that of the picked documents."""
    dual[kept.support] = kept.beta
    dual[kept.picked] = moved[: kept.picked.size]


def descend(
    picked: list[Spilled],
    step: Spilled,
    objective: Objective,
    k: int,
    target: float,
    setting: Setting,
    n_rounds: int,
    variance: NDArray[np.float32] | None = None,
) -> Spilled:
    """Descend on documents of all blocks; return the weights, then the duals of each block.

    If they do not fit in memory, those of some blocks are used at a time. Blocks are grouped anew
    in each round, as descent on fixed groups stalls.
    """
    w, b = read_normal(step)
    w, objective = w.copy(), objective._replace(variance=variance)
    random = np.random.default_rng((setting.seed, k, n_rounds))
    sizes = [sum(int(measure_gathered(piece.rows).sum()) for piece in each) for each in picked]
    groups = group_blocks(sizes, setting.capacity, random)
    duals: dict[int, NDArray[np.float64]] = {}
    for turn in range(TURNS if len(groups) > 1 else 1):
        for group in groups:
            documents = join_picked([picked[p] for p in group])
            if turn:
                documents = documents._replace(beta=np.concatenate([duals[p] for p in group]))
            if duals:  # the weights have changed since the margins were computed
                score(documents.rows, w, b, documents.margins)
            b = descend_on(documents, objective, k, w, b, target, setting.seed + n_rounds)
            ends = np.cumsum([sum(piece.y.size for piece in picked[p]) for p in group])
            duals.update(zip(group, np.split(documents.beta, ends[:-1]), strict=True))
    return spill(setting.folder, [Normal(w, b), *(duals[p] for p in range(len(picked)))])


def group_blocks(sizes: list[int], capacity: int, random: np.random.Generator) -> list[list[int]]:
    """Group blocks at random so that each group fits, or is a single block.

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
            left = capacity
        groups[-1].append(p)
        left -= sizes[p]
    return groups


def join_picked(picked: list[Spilled]) -> Picked:
    """Return the picked documents of all blocks."""
    lengths, *rows, y, beta, margins = join_arrays(
        picked, lambda piece: (*list_arrays(piece.rows), piece.y, piece.beta, piece.margins)
    )
    return Picked(build_rows(lengths, *rows), y, beta, margins)


def list_arrays(rows: Rows) -> tuple[Any, ...]:
    """Return the lengths of rows and their other arrays, which can be concatenated."""
    return (np.diff(rows.indptr.astype(np.int64)), *rows[1:])


def build_rows(lengths: NDArray[np.int64], *arrays: Any) -> Rows:
    """Return rows of the arrays that `list_arrays` lists."""
    return Rows(to_offsets(lengths).astype(np.uint64), *arrays)
