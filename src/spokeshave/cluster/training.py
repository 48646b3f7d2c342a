"""Training on blocks of documents on the disks of the workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spokeshave.budget.memory import WEIGHT, Costs
from spokeshave.budget.rounds import Objective, Weights, train_here
from spokeshave.budget.shards import Block
from spokeshave.cluster.client import Report, collect, list_workers, submit
from spokeshave.cluster.rounds import Setting, train_in_rounds
from spokeshave.cluster.shards import Size, Task, join_blocks
from spokeshave.kernels.lanes import LANES
from spokeshave.svm.solver import Stop, warn_if_stopped_early

AT_ONCE = 32  # classes of a round: each block is read once for all of them
HALF = 2  # of the free memory is for the weights of those classes


def train(
    client: Client,
    blocks: list[Future],
    sizes: list[Size],
    objective: Objective,
    task: Task,
    n_features: int,
    shelf: str,
    report: Report,
    say: Callable[[str], None],
) -> Weights:
    """Train on all documents: in each worker if they fit, and otherwise in rounds over all."""
    n_classes, free = len(objective.codes), task.memory.free
    n_documents, n_nonzeros = (sum(each) for each in zip(*sizes, strict=True))
    costs = Costs(n_classes, 1, task.has_values)
    needed = n_nonzeros * costs.cell + n_documents * costs.row + n_features * costs.feature
    n_workers = sum(worker["nthreads"] for worker in list_workers(client).values())
    stop, seed = task.request.stop, task.request.seed
    if needed <= free:
        return _train_in_each(
            client, blocks, objective, stop, seed, n_features, min(n_workers, n_classes), report
        )
    say("the documents do not fit in one worker: training goes in rounds over all")
    n_fitting = free // HALF // (WEIGHT * n_features * LANES) * LANES
    n_at_once = max(LANES, min(max(n_workers, AT_ONCE), n_fitting))
    setting = Setting(n_features, stop, seed, free, shelf, n_at_once)
    shares = [size.n_nonzeros for size in sizes]
    return train_in_rounds(client, blocks, shares, objective, setting, report, say)


def _train_in_each(
    client: Client,
    blocks: list[Future],
    objective: Objective,
    stop: Stop,
    seed: int,
    n_features: int,
    n_shares: int,
    report: Report,
) -> Weights:
    """Train some of the classes on each worker, on all documents."""
    n_classes = len(objective.codes)
    whole = submit(client, join_blocks, blocks)
    shares = [np.arange(first, n_classes, n_shares) for first in range(n_shares)]
    tasks = [
        submit(client, train_share, whole, objective, stop, seed, share, n_features)
        for share in shares
    ]
    coef = np.empty((n_classes, n_features))
    intercept, primal, gap = np.empty((3, n_classes))
    for share, found in zip(shares, collect(tasks, report), strict=True):
        coef[share], intercept[share], primal[share], gap[share] = found
    warn_if_stopped_early(gap / primal, stop, stacklevel=3)
    return Weights(coef, intercept, primal, gap, 0)


def train_share(
    block: Block,
    objective: Objective,
    stop: Stop,
    seed: int,
    classes: NDArray[np.intp],
    n_features: int,
) -> tuple[Any, ...]:
    """Train some classes; return their weights, intercepts, objectives and gaps."""
    coef = np.zeros((classes.size, n_features))
    found = [
        train_here(objective, stop, seed, block, int(k), w)
        for k, w in zip(classes, coef, strict=True)
    ]
    intercept, primal, gap, _ = map(np.array, zip(*found, strict=True))
    return coef, intercept, primal, gap
