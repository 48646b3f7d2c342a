"""Progress on a terminal: the steps of a job, or the rows of a stream."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from spokeshave.utils.formatting import escape
from spokeshave.utils.timing import Stopwatch

if TYPE_CHECKING:
    from rich.progress import Progress

    from spokeshave.corpus.rewrite.row_reader import RowBatch

COMPILING = "compiling kernels (first run only)"
PLAIN = (".csv", ".tsv", ".jsonl", ".txt", ".text")
HEAD = 1 << 20  # bytes to estimate the length of a line from

Documents = TypeVar("Documents")


class Steps(Stopwatch):
    """Runs and times the steps of a job, with a progress bar and the time left.

    The bar is drawn on standard error, and only on a terminal.

    Parameters
    ----------
    is_quiet : bool, default=False
        Whether to draw no bar at all.

    Attributes
    ----------
    seconds : dict of str to float
        Duration of each step, in the sequence they ran.

    Examples
    --------
    >>> with Steps() as steps:
    ...     steps.plan({"adding": 1.0})
    ...     steps.run("adding", sum, [1, 2])
    3
    >>> list(steps.seconds)
    ['adding']
    """

    def __init__(self, *, is_quiet: bool = False) -> None:
        super().__init__()
        self._progress = _make_bar("{task.description}", is_quiet=is_quiet)
        self._task = self._progress.add_task("", total=None)
        self._shares: dict[str, float] = {}
        self._alternative: Mapping[str, float] = {}
        self._done = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def plan(
        self, shares: Mapping[str, float], alternative: Mapping[str, float] | None = None
    ) -> None:
        """Announce the steps to come, each with its likely share of the time.

        If the first step of the alternative begins, its steps replace the rest of the plan.
        """
        self._shares.update(shares)
        self._alternative = alternative or {}
        self._progress.update(self._task, total=self._done + sum(shares.values()))

    def begin(self, name: str) -> None:
        """Begin a step, and end the one before."""
        super().begin(name)
        if name == next(iter(self._alternative), None):
            self.plan(self._alternative)
        self._progress.update(self._task, description=escape(name))

    def reach(self, share: float) -> None:
        """Show how much of the current step is done."""
        weight = self._shares.get(self._current or "", 0.0)
        self._progress.update(self._task, completed=self._done + min(share, 1.0) * weight)

    def end(self) -> None:
        """End the current step."""
        self._done += self._shares.get(self._current or "", 0.0)
        super().end()
        self._progress.update(self._task, completed=self._done)


def plan_job(steps: Steps, shares: Mapping[str, float]) -> None:
    """Plan the steps of a job, and compile the kernels first if that was not done before."""
    from spokeshave.kernels.compile import is_compiled, warm_up

    if is_compiled(exercise):
        steps.plan(shares)
    else:
        steps.plan({COMPILING: 40.0, **shares})
        steps.run(COMPILING, warm_up, exercise)


def exercise() -> None:
    """Run the whole job on a few texts, and with it every kernel that it calls."""
    from spokeshave.corpus import Texts
    from spokeshave.jobs.fit import run_job
    from spokeshave.jobs.settings import Settings

    # Three documents of each class, but two of the last: the arrays of folds differ in layout.
    texts = [f"{letter} {letter}{letter} x" for letter in "abcdefgh"] * 4 + ["i ii x"] * 3
    settings = Settings(hold_out=0.3, with_stability=True, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some classes have fewer documents than folds
        run_job(Texts(texts, texts), settings=settings)


def track(
    pairs: Iterator[tuple[RowBatch, Documents]], source: str, *, is_quiet: bool
) -> Iterator[tuple[RowBatch, Documents]]:
    """Yield batches of rows unchanged, with a bar on standard error if it is a terminal."""
    if is_quiet or not sys.stderr.isatty():  # without a bar, rich need not be imported
        yield from pairs
        return
    with _make_bar("{task.completed:,.0f} rows") as progress:
        task = progress.add_task("", total=estimate_lines(source))
        for batch, documents in pairs:
            yield batch, documents
            if len(batch):
                progress.update(task, completed=batch.numbers[-1])


def estimate_lines(source: str) -> float | None:
    """Return about how many lines a plain file has, or None if that is unknown.

    Examples
    --------
    >>> estimate_lines("-") is None
    True
    """
    path = Path(source)
    if path.suffix.lower() not in PLAIN or not path.is_file():
        return None
    with path.open("rb") as stream:
        head = stream.read(HEAD)
    n_lines = head.count(b"\n")
    return path.stat().st_size / len(head) * n_lines if n_lines else None


def _make_bar(text: str, *, is_quiet: bool = False) -> Progress:
    """Return a bar beside a text, with the time elapsed and the time left."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    columns: Any = (
        progress.SpinnerColumn(),
        progress.TextColumn(text, markup=False),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
    )
    is_hidden = is_quiet or not console.is_terminal
    return progress.Progress(*columns, console=console, transient=True, disable=is_hidden)
