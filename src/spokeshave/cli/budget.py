"""``spokeshave fit --memory``: the job in a given memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spokeshave.cli.printer import Printer
from spokeshave.cli.reading import Reading, naming_options

if TYPE_CHECKING:
    from spokeshave.jobs.fit import JobResult
    from spokeshave.jobs.settings import Budget, Settings

REPORT = 160_000_000  # bytes that making a report takes
USUAL = {"method": "mask", "cuts": "paper", "measure": "best_f1", "stability": False}


def check_alone(*, C: str, **others: Any) -> None:
    """Raise where an option is given that has no part in a run with a budget."""
    for name, value in others.items():
        if value != USUAL[name]:
            raise ValueError(f"--{name} has no part in a run with --memory. Leave it out.")
    if C == "auto":
        raise ValueError("--C must be a number in a run with --memory. Got 'auto' instead.")


def make_budget(memory: str, nonzeros: float | None, work: str | None, prefix: Path) -> Budget:
    """Return what a run may take, as options give it."""
    from spokeshave.jobs.settings import Budget
    from spokeshave.utils.formatting import parse_size

    if nonzeros is not None and not 0 < nonzeros < float("inf"):
        raise ValueError(f"--nonzeros must be a positive number. Got {nonzeros:g} instead.")
    folder = Path(work) if work else prefix.with_name(prefix.name + ".work")
    if not folder.parent.is_dir():
        raise ValueError(f"{folder.parent}: there is no such folder to work in; make it first")
    return Budget(parse_size(memory, "--memory"), nonzeros, folder)


def run_budget(
    reading: Reading, settings: Settings, budget: Budget, prefix: Path, printer: Printer
) -> tuple[JobResult, dict[str, Path]]:
    """Train in a given memory, and write what that leaves."""
    from spokeshave.budget.memory import give_back, measure_resident
    from spokeshave.cli.fit import describe_command, write_results
    from spokeshave.cli.steps import Steps
    from spokeshave.jobs.budget import Files, list_budget_steps, run_budgeted
    from spokeshave.utils.formatting import parse_size

    files = Files(reading.source, reading.test, reading.list_options())
    with printer.noting_warnings(), Steps(is_quiet=printer.is_quiet) as steps:
        shares = list_budget_steps(settings, has_test=reading.test is not None)
        steps.plan({**shares, "writing": 0.5})
        with naming_options():
            finished = run_budgeted(
                files,
                budget,
                settings=settings,
                command=describe_command(),
                stopwatch=steps,
                say=printer.note,
            )
        give_back()
        has_room = parse_size(budget.memory) - measure_resident() > REPORT
        written = steps.run("writing", write_results, finished, prefix, printer, has_room=has_room)
    return finished, written
