"""Tasks run side by side, each result kept as soon as it is there."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from spokeshave.reproduction.paper import Task
from spokeshave.utils.atomic import write_atomic
from spokeshave.utils.checkpoint import describe
from spokeshave.utils.versions import list_versions

Report = Callable[[str, float, float], Any]


class Done(NamedTuple):
    """The result of a task, and the seconds it took."""

    result: Any
    seconds: float


Outputs = Generator[tuple[str, Done], None, None]


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
        by the same function and versions with the same arguments is taken up.
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
    cost = {task.name: task.cost for task in left}
    with _stopping(_run(left, data, work, n_jobs)) as running:
        for name, found in running:
            done[name] = found
            spent += cost[name]
            report(name, spent, total)
    return {task.name: done[task.name] for task in tasks}


def _run(tasks: Sequence[Task], data: Path, work: Path, n_jobs: int | None) -> Outputs:
    """Yield what tasks give as they end, those that measure time last and one by one."""
    together = [task for task in tasks if not task.is_alone]
    alone = [task for task in tasks if task.is_alone]
    workers = Parallel(
        n_jobs=n_jobs, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
    )
    yield from workers(delayed(_run_one)(task, data, work) for task in together)
    for task in alone:
        yield _run_one(task, data, work)


@contextmanager
def _stopping(running: Outputs) -> Iterator[Outputs]:
    """End the processes where what is done with their results comes to grief."""
    try:
        yield running
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that tasks were given up
            running.close()


def _run_one(task: Task, data: Path, work: Path) -> tuple[str, Done]:
    """Run a task and keep its result, where it runs: what other tasks come to does not matter."""
    start = perf_counter()
    with _naming(task), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # studies say how far they went
        result = json.dumps(task.run(data, **task.arguments), allow_nan=False)
        # What is taken up from a file has no tuples either.
        done = Done(json.loads(result), perf_counter() - start)
        _keep(task, done, work)
    return task.name, done


@contextmanager
def _naming(task: Task) -> Iterator[None]:
    """Let errors say which task they come from; those of bad input stay such."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise ValueError(f"task {task.name} failed: {error}") from error
    except Exception as error:
        kind = type(error).__name__
        raise RuntimeError(f"task {task.name} failed: {kind}: {error}") from error


def _identify(task: Task) -> Any:
    """Return all that a result depends on, the data aside."""
    return {"run": describe(task.run), "arguments": task.arguments, "versions": list_versions()}


def _keep(task: Task, done: Done, work: Path) -> None:
    record = {"task": _identify(task), "seconds": done.seconds, "result": done.result}
    write_atomic(work / f"{task.name}.json", json.dumps(record).encode())


def _take_up(task: Task, work: Path) -> Done | None:
    """Return what is kept of a task, None where nothing is or something else."""
    path = work / f"{task.name}.json"
    if not path.is_file():
        return None
    try:
        record = json.loads(path.read_bytes())
        found, done = record["task"], Done(record["result"], float(record["seconds"]))
    except (ValueError, TypeError, LookupError):
        raise ValueError(
            f"{path}: this is not the result of a task, which a run keeps there; delete it"
        ) from None
    return done if found == json.loads(json.dumps(_identify(task))) else None
