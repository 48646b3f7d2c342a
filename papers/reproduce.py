"""Run a study: tasks, tables, verdicts and figures."""

from __future__ import annotations

import json
import platform
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from io import BytesIO
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import polars as pl
from joblib import cpu_count, effective_n_jobs

from papers.markdown import fill_block, write_blocks, write_verdicts
from papers.running import Done, Report, run_tasks
from papers.study import Paper, Part, Setting, Task
from papers.verdicts import Judged, MissingTableError, StoredTables, Tables, judge_claims
from spokeshave.model.file import list_versions
from spokeshave.utils.atomic import write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    tables : dict of str to DataFrame
        The tables of this run, and those that earlier runs left in the folder.
    judged : list of Judged
        Every claim with its verdict.
    files : list of Path
        The files that were written.
    seconds : float
        Duration of this run, without the tasks whose results were reused.
    """

    tables: Tables
    judged: list[Judged]
    files: list[Path]
    seconds: float


def reproduce(
    paper: Paper,
    data: Path,
    out: Path,
    *,
    is_quick: bool = False,
    only: Iterable[str] | None = None,
    n_jobs: int | None = None,
    report: Report = lambda name, done, total: None,
) -> Outcome:
    """Run a study, or some parts of it, and write its tables, figures and verdicts.

    Parameters
    ----------
    paper : Paper
        The study.
    data : Path
        Data folder.
    out : Path
        Output folder: ``results``, ``figures``, ``verdict.md``, and ``work``, from which an
        interrupted run resumes. If it holds a ``README.md``, its blocks are filled. Quick and full
        runs need separate folders.
    is_quick : bool, default=False
        Whether to run a small sample of the tasks.
    only : iterable of str, optional
        Names of parts; all by default.
    n_jobs : int, optional
        Number of processes; -1 for all cores.
    report : callable
        As in `run_tasks`.
    """
    start = perf_counter()
    parts = paper.choose_parts(only)
    setting = Setting(_check_data(paper, data), is_quick)
    _check_out(paper, out, is_quick=is_quick)
    if any(part.draw for part in parts):
        _check_matplotlib()
    tasks = {part.name: list(part.list_tasks(setting)) for part in parts}
    results, figures = out / "results", out / "figures"
    for folder in (results, figures):
        folder.mkdir(parents=True, exist_ok=True)
    done = run_tasks(
        _list_distinct(tasks), setting.data, out / "work", n_jobs=n_jobs, report=report
    )
    files = []
    for part in parts:
        found = {task.name: done[task.name].result for task in tasks[part.name]}
        for name, table in part.tabulate(found).items():
            files.append(_write(results / f"{name}.csv", table.write_csv().encode()))
    seconds = perf_counter() - start
    run = _describe_run(setting, tasks, done, seconds, n_jobs)
    files.append(_write(results / "run.json", _merge(results / "run.json", run)))
    tables = read_tables(results)
    judged = judge_claims(paper.claims, tables)
    files += _write_pages(paper, judged, tables, out)
    files += [
        _write(figures / f"{name}.png", _render(figure))
        for part in parts
        for name, figure in _draw(part, tables).items()
    ]
    return Outcome(tables, judged, files, seconds)


def judge(paper: Paper, out: Path) -> Outcome:
    """Judge the claims from the tables that earlier runs left in a folder, and write the pages.

    Nothing is run and no figure is drawn. Parameters as in `reproduce`.
    """
    start = perf_counter()
    tables = read_tables(out / "results")
    if not tables:
        raise ValueError(f"{out}: there are no tables in its folder results; run the study first")
    judged = judge_claims(paper.claims, tables)
    files = _write_pages(paper, judged, tables, out)
    return Outcome(tables, judged, files, perf_counter() - start)


def read_tables(results: Path) -> dict[str, pl.DataFrame]:
    """Return all tables stored in a folder, by name."""
    return {
        path.stem: pl.read_csv(path, infer_schema_length=None)
        for path in sorted(results.glob("*.csv"))
    }


def _check_data(paper: Paper, data: Path) -> Path:
    missing = [name for name in paper.needs if not (data / name).exists()]
    if missing:
        raise ValueError(
            f"{data}: {missing[0]} is not there; {paper.name} needs {', '.join(paper.needs)} "
            "(docs/data.md)"
        )
    return data


def _check_out(paper: Paper, out: Path, *, is_quick: bool) -> None:
    """Raise before hours of work if the output folder cannot take the results."""
    if (out / "README.md").is_file():
        _fill_readme(out / "README.md", dict.fromkeys(("verdicts", *paper.blocks), ""))
    runs = _read_runs(out / "results" / "run.json")
    if any(run.get("quick") is not is_quick for run in runs.values()):
        found, wanted = ("full", "quick") if is_quick else ("quick", "full")
        raise ValueError(
            f"{out}: there are results of a {found} run; name another folder for a {wanted} one"
        )


def _check_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise ImportError("Figures need matplotlib: pip install 'spokeshave[plot]'")


def _list_distinct(tasks: dict[str, list[Task]]) -> list[Task]:
    """Return the tasks of all parts, without repetition."""
    distinct: dict[str, Task] = {}
    for task in chain.from_iterable(tasks.values()):
        same = distinct.setdefault(task.name, task)
        if (same.run, same.arguments) != (task.run, task.arguments):
            raise ValueError(f"two tasks have the name {task.name} and are not the same")
    return list(distinct.values())


def _describe_run(
    setting: Setting,
    tasks: dict[str, list[Task]],
    done: dict[str, Done],
    seconds: float,
    n_jobs: int | None,
) -> dict[str, Any]:
    """Return the date, versions, machine and running times of each part."""
    common = {
        "date": datetime.now(UTC).date().isoformat(),
        "quick": setting.is_quick,
        "processes": effective_n_jobs(n_jobs),
        "cores": cpu_count(),
        "machine": platform.machine(),
        "versions": list_versions(),
    }
    return {
        name: {
            **common,
            "seconds_of_run": round(seconds, 1),
            "tasks": len(listed),
            "seconds_of_tasks": _add_up(listed, done),
        }
        for name, listed in tasks.items()
    }


def _add_up(tasks: list[Task], done: dict[str, Done]) -> dict[str, float]:
    """Return the seconds of the tasks, summed by function."""
    seconds: dict[str, float] = defaultdict(float)
    for task in tasks:
        seconds[task.run.__name__] += done[task.name].seconds
    return {name: round(value, 1) for name, value in seconds.items()}


def _merge(path: Path, run: dict[str, Any]) -> bytes:
    """Return the record in a file, updated with the parts of this run."""
    return (json.dumps(_read_runs(path) | run, indent=1, sort_keys=True) + "\n").encode()


def _read_runs(path: Path) -> dict[str, Any]:
    """Return the stored record of each part."""
    if not path.is_file():
        return {}
    try:
        runs: dict[str, Any] = json.loads(path.read_bytes())
        is_record = all(isinstance(run, dict) for run in runs.values())
    except (ValueError, AttributeError):
        is_record = False
    if not is_record:
        raise ValueError(f"{path}: this is not the record of a run, which is kept there; delete it")
    return runs


def _draw(part: Part, tables: Tables) -> dict[str, Figure]:
    if part.draw is None:
        return {}
    try:
        return dict(part.draw(StoredTables(tables)))
    except MissingTableError as error:
        raise ValueError(
            f"{part.name} is drawn from the table {error} as well, whose part was not run"
        ) from None


def _render(figure: Figure) -> bytes:
    stream = BytesIO()
    # Without a version in the metadata, equal figures are equal files.
    figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
    return stream.getvalue()


def _write_pages(paper: Paper, judged: list[Judged], tables: Tables, out: Path) -> list[Path]:
    """Write verdict.md, and fill the blocks of README.md if there is one."""
    verdicts = write_verdicts(judged)
    files = [_write(out / "verdict.md", f"# {paper.title}\n\n{verdicts}\n".encode())]
    readme = out / "README.md"
    if readme.is_file():
        texts = {"verdicts": verdicts, **write_blocks(paper.blocks, tables)}
        files.append(_write(readme, _fill_readme(readme, texts)))
    return files


def _fill_readme(path: Path, texts: Mapping[str, str]) -> bytes:
    page = path.read_text(encoding="utf-8")
    try:
        for name, text in texts.items():
            page = fill_block(page, name, text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return page.encode()


def _write(path: Path, content: bytes) -> Path:
    write_atomic(path, content)
    return path
