"""Tasks run side by side, each result kept as soon as it is there."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from spokeshave.checkpoint import describe
from spokeshave.reproduction.paper import Task
from spokeshave.versions import list_versions
from spokeshave.whole_files import write_whole

Report = Callable[[str, float, float], Any]


class Done(NamedTuple):
    """The result of a task, and the seconds it took."""

    result: Any
    seconds: float


def run_tasks(
    tasks: Sequence[Task],
    data: Path,
    work: Path,
    *,
    n_jobs: int | None = None,
    report: Report = lambda name, done, total: None,
) -> dict[str, Done]:
    """Run tasks in processes and return their results by name.

    Parameters
    ----------
    tasks : sequence of Task
        Of different names.
    data, work : Path
        Folder of data, and a folder for results: a file for each task. What is there and was found
        by the same versions with the same arguments is taken up.
    n_jobs : int, optional
        Processes; -1 for all cores.
    report : callable
        Called with the name of a task that is done, the cost that is done and that of all tasks;
        with no name at the start.
    """
    work.mkdir(parents=True, exist_ok=True)
    total = sum(task.cost for task in tasks)
    done = {task.name: kept for task in tasks if (kept := _take_up(task, work)) is not None}
    spent = sum(task.cost for task in tasks if task.name in done)
    report("", spent, total)
    left = sorted((task for task in tasks if task.name not in done), key=lambda task: -task.cost)
    by_name = {task.name: task for task in left}
    for name, found in _run(left, data, n_jobs):
        _keep(by_name[name], found, work)
        done[name] = found
        spent += by_name[name].cost
        report(name, spent, total)
    return {task.name: done[task.name] for task in tasks}


def _run(tasks: Sequence[Task], data: Path, n_jobs: int | None) -> Iterator[tuple[str, Done]]:
    """Yield what tasks give as they end, those that measure time last and one by one."""
    together = [task for task in tasks if not task.is_alone]
    alone = [task for task in tasks if task.is_alone]
    workers = Parallel(
        n_jobs=n_jobs, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
    )
    outputs = workers(delayed(_run_one)(task, data) for task in together)
    try:
        yield from outputs
    except BaseException as error:
        outputs.throw(error)  # stops the workers
        raise
    for task in alone:
        yield _run_one(task, data)


def _run_one(task: Task, data: Path) -> tuple[str, Done]:
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # studies say how far they went
        result = task.run(data, **task.arguments)
    return task.name, Done(result, perf_counter() - start)


def _identify(task: Task) -> Any:
    """Return all that a result depends on, the data aside."""
    return {"run": describe(task.run), "arguments": task.arguments, "versions": list_versions()}


def _keep(task: Task, done: Done, work: Path) -> None:
    record = {"task": _identify(task), "seconds": done.seconds, "result": done.result}
    write_whole(work / f"{task.name}.json", json.dumps(record).encode())


def _take_up(task: Task, work: Path) -> Done | None:
    """Return what is kept of a task, None where nothing is or something else."""
    path = work / f"{task.name}.json"
    if not path.is_file():
        return None
    record = json.loads(path.read_bytes())
    if record["task"] != json.loads(json.dumps(_identify(task))):
        return None
    return Done(record["result"], record["seconds"])
