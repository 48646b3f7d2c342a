"""Run tasks in parallel and save each result as soon as it is finished."""

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

from papers.study import Task
from spokeshave.model.file import list_versions
from spokeshave.utils.atomic import write_atomic

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
        Their names must differ.
    data, work : Path
        Data folder, and a folder for the results, one file per task. A saved result of the same
        function, arguments and versions is reused.
    n_jobs : int, optional
        Number of processes; -1 for all cores.
    report : callable
        Called after each task with its name, the cost done so far and the total cost; and once at
        the start, with an empty name.
    """
    work.mkdir(parents=True, exist_ok=True)
    total = sum(task.cost for task in tasks)
    done = {task.name: saved for task in tasks if (saved := _load(task, work)) is not None}
    spent = sum(task.cost for task in tasks if task.name in done)
    report("", spent, total)
    left = sorted((task for task in tasks if task.name not in done), key=lambda task: -task.cost)
    cost = {task.name: task.cost for task in left}
    running = _run(left, data, work, n_jobs)
    try:
        for name, found in running:
            done[name] = found
            spent += cost[name]
            report(name, spent, total)
    finally:  # stop the processes where a task or a report raises
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # joblib warns of the tasks it gives up
            running.close()
    return {task.name: done[task.name] for task in tasks}


def _run(
    tasks: Sequence[Task], data: Path, work: Path, n_jobs: int | None
) -> Generator[tuple[str, Done], None, None]:
    """Yield results as tasks finish; tasks that measure time run last, one at a time."""
    workers = Parallel(
        n_jobs=n_jobs, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
    )
    yield from workers(delayed(_run_one)(task, data, work) for task in tasks if not task.is_alone)
    yield from (_run_one(task, data, work) for task in tasks if task.is_alone)


def _run_one(task: Task, data: Path, work: Path) -> tuple[str, Done]:
    """Run a task and save its result in the worker, so that it survives errors elsewhere."""
    start = perf_counter()
    with _naming(task), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the studies report the gap
        result = json.dumps(task.run(data, **task.arguments), allow_nan=False)
        # A reused result has lists in place of tuples: so has this one.
        done = Done(json.loads(result), perf_counter() - start)
        _save(task, done, work)
    return task.name, done


@contextmanager
def _naming(task: Task) -> Iterator[None]:
    """Add the name of the task to errors; errors of bad input remain ValueError."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise ValueError(f"task {task.name} failed: {error}") from error
    except Exception as error:
        kind = type(error).__name__
        raise RuntimeError(f"task {task.name} failed: {kind}: {error}") from error


def _identify(task: Task) -> dict[str, Any]:
    """Return everything that a result depends on, except for the data."""
    run = f"{task.run.__module__}.{task.run.__qualname__}"
    return {"run": run, "arguments": task.arguments, "versions": list_versions()}


def _save(task: Task, done: Done, work: Path) -> None:
    record = {"task": _identify(task), "seconds": done.seconds, "result": done.result}
    write_atomic(work / f"{task.name}.json", json.dumps(record).encode())


def _load(task: Task, work: Path) -> Done | None:
    """Return the saved result of a task, or None if there is none of this very task."""
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
