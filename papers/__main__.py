"""``python -m papers``: run the study of a paper on its data sets."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from time import perf_counter

import papers
from papers.reproduce import Outcome, judge, reproduce
from papers.running import Report
from papers.study import Paper

BAD_INPUT, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A character that the terminal cannot show must not end a run of hours.
        sys.stdout.reconfigure(errors="backslashreplace")
    options = make_parser().parse_args(arguments)
    try:
        run(options)
    except KeyboardInterrupt:
        print("papers: interrupted; finished tasks are saved", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError, ImportError) as error:
        print(f"papers: {error}", file=sys.stderr)
        return BAD_INPUT
    return 0


def make_parser() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = ArgumentParser(
        prog="python -m papers",
        description="Try the tables, figures and claims of a paper on its data sets. Tables are "
        "written as CSV and figures as PNG, and every claim gets a verdict.",
        epilog="Example: python -m papers kolcz2007 --data benchmark-data --only table1",
    )
    parser.add_argument("paper", help=f"one of {', '.join(papers.NAMES)}")
    parser.add_argument("--data", type=Path, help="data folder [default: $SPOKESHAVE_DATA]")
    parser.add_argument(
        "--quick", action="store_true", help="a small sample of every table and figure"
    )
    parser.add_argument("--only", help="names of tables and figures, as table1,figure1")
    parser.add_argument(
        "--out",
        "-o",
        type=Path,
        help="output folder, from which an interrupted run resumes "
        "[default: reproduced/PAPER or reproduced/PAPER-quick]",
    )
    parser.add_argument(
        "--judge",
        action="store_true",
        help="run nothing: judge the tables that are in the output folder, and write the verdicts",
    )
    parser.add_argument("--n-jobs", type=int, default=-1, help="processes [default: -1, all cores]")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.add_argument("--quiet", "-q", action="store_true", help="print no progress")
    return parser


def run(options: Namespace) -> None:
    """Run a study and print its verdicts."""
    paper, folder = papers.load_paper(options.paper), options.out
    if folder is None:
        folder = Path("reproduced", f"{paper.name}-quick" if options.quick else paper.name)
    outcome = judge(paper, folder) if options.judge else _reproduce(paper, folder, options)
    if options.json:
        print(json.dumps(_summarize(outcome), allow_nan=False))
        return
    for claim, verdict in outcome.judged:
        print(f"{claim.where}: {claim.says}\n  {verdict.word}: {verdict.figures}")
    print(f"\n{len(outcome.files)} files in {folder}, {_format_time(outcome.seconds)}")


def _reproduce(paper: Paper, folder: Path, options: Namespace) -> Outcome:
    return reproduce(
        paper,
        _find_data(options.data),
        folder,
        is_quick=options.quick,
        only=None if options.only is None else [name.strip() for name in options.only.split(",")],
        n_jobs=_check_jobs(options.n_jobs),
        report=_report_nothing if options.quiet else _make_report(),
    )


def _find_data(data: Path | None) -> Path:
    found = data or Path(os.environ.get("SPOKESHAVE_DATA", ""))
    if found == Path():
        raise ValueError("name the data folder: --data FOLDER, or SPOKESHAVE_DATA")
    if not found.is_dir():
        raise ValueError(f"{found}: this is not a folder; --data must name the data folder")
    return found


def _check_jobs(n_jobs: int) -> int:
    if n_jobs == 0:
        raise ValueError("--n-jobs must be a number of processes, or -1 for all cores. Got 0.")
    return n_jobs


def _report_nothing(name: str, done: float, total: float) -> None:
    pass


def _make_report() -> Report:
    """Return a function that prints progress: one line per task, or one line on a terminal."""
    start, before = perf_counter(), 0.0
    first, last = ("\r\033[K", "") if sys.stderr.isatty() else ("", "\n")

    def report(name: str, done: float, total: float) -> None:
        nonlocal before
        if name:
            left = (perf_counter() - start) * (total - done) / (done - before)
            line = f"{done / total:4.0%}  {name}, about {_format_time(left)} left"
        else:
            before = done
            line = "running" + (f"; {done / total:.0%} were done before" if done else "")
        end = "\n" if done == total else last
        print(f"{first}papers: {line}", end=end, file=sys.stderr, flush=True)

    return report


def _format_time(seconds: float) -> str:
    """Return a duration in a unit that suits it.

    Examples
    --------
    >>> _format_time(7260), _format_time(90), _format_time(5)
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


if __name__ == "__main__":
    sys.exit(main())
