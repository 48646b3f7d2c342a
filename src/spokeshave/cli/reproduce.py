"""``spokeshave reproduce``: a paper's tables and figures next to what this code gives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from spokeshave.cli import options
from spokeshave.cli.printer import Printer
from spokeshave.cli.settings import check_jobs

if TYPE_CHECKING:
    from spokeshave.reproduction import Outcome

PAPERS = ("kolcz2007", "malik", "forman2009")
Report = Callable[[str, float, float], None]


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            help="The paper: " + ", ".join(PAPERS) + ".",
            autocompletion=lambda: list(PAPERS),
            show_default=False,
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(envvar="SPOKESHAVE_DATA", help="Folder of the data sets.", show_default=False),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small part of every table and figure, in a minute.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option(help="Some tables and figures, with commas, as table1,figure1."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder to write to; a run that was cut off goes on from there. "
            "[default: reproduced/PAPER, or reproduced/PAPER-quick]",
            show_default=False,
        ),
    ] = None,
    n_jobs: Annotated[
        int, typer.Option(help="Processes; -1 for all cores.", rich_help_panel=options.JOB)
    ] = -1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Try the tables, figures and claims of a paper on its data sets.

    Tables are written as CSV, figures as PNG, and every claim gets a verdict.

    Example: spokeshave reproduce kolcz2007 --data benchmark-data --only table1
    """
    printer = Printer(as_json, quiet)
    if data is None:
        raise ValueError(
            "say where the data sets are: --data FOLDER, or SPOKESHAVE_DATA in the environment"
        )
    if not data.is_dir():
        raise ValueError(f"{data}: this is not a folder; --data must name the folder of data sets")
    jobs = check_jobs(n_jobs)
    parts = None if only is None else [name.strip() for name in only.split(",")]
    folder = out or Path("reproduced", f"{paper}-quick" if quick else paper)

    from spokeshave.papers import load_paper

    study = load_paper(paper)
    study.choose_parts(parts)  # a misspelt one is told of before anything slow
    from spokeshave.reproduction import reproduce as run_study

    with _reporting(is_quiet=quiet) as report:
        outcome = run_study(
            study, data, folder, is_quick=quick, only=parts, n_jobs=jobs, report=report
        )
    if as_json:
        printer.emit(_summarize(outcome))
    else:
        _show(outcome, folder, printer)


@contextmanager
def _reporting(*, is_quiet: bool) -> Iterator[Report]:
    """Give what to call when a task is done: a bar on a terminal, else a line for each task."""
    if is_quiet:
        yield lambda name, done, total: None
        return
    if not sys.stderr.isatty():
        yield _make_log()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, speed_estimate_period=3600) as bar:
        task = bar.add_task("starting")

        def report(name: str, done: float, total: float) -> None:
            bar.update(task, description=name or "starting", completed=done, total=total)

        yield report


def _make_log() -> Report:
    start, before = perf_counter(), 0.0

    def report(name: str, done: float, total: float) -> None:
        nonlocal before
        if not name:
            before = done
            kept = f"; {done / total:.0%} were done before" if done else ""
            print(f"spokeshave: running{kept}", file=sys.stderr)
            return
        left = (perf_counter() - start) * (total - done) / (done - before)
        print(
            f"spokeshave: {done / total:4.0%}  {name}, about {_word_time(left)} left",
            file=sys.stderr,
        )

    return report


def _word_time(seconds: float) -> str:
    """Return a span of time as people say it.

    Examples
    --------
    >>> _word_time(7260), _word_time(90), _word_time(5)
    ('2.0 h', '2 min', '5 s')
    """
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _summarize(outcome: Outcome) -> dict[str, object]:
    return {
        "claims": [
            {
                "where": claim.where,
                "says": claim.says,
                "verdict": verdict.word,
                "figures": verdict.figures,
            }
            for claim, verdict in outcome.judged
        ],
        "files": [str(path) for path in outcome.files],
        "seconds": outcome.seconds,
    }


def _show(outcome: Outcome, folder: Path, printer: Printer) -> None:
    for claim, verdict in outcome.judged:
        printer.say(f"{claim.where}: {claim.says}")
        printer.say(f"  {verdict.word}: {verdict.figures}", style="bold")
    printer.say()
    printer.say(f"{len(outcome.files)} files in {folder}, {_word_time(outcome.seconds)}")
