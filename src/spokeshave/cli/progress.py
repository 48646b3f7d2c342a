"""Progress of a job or of a stream of rows: a bar, or lines where there is no terminal."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
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
PATIENCE = 10.0  # seconds of work before the first line
INTERVAL = 60.0  # seconds without a line before the next one

Documents = TypeVar("Documents")


class ProgressLines:
    """Lines about long work, for a log: each begins with the time since the start.

    Work of a few seconds has none. After that each stage has one as it begins, and so has every
    minute without another.

    Parameters
    ----------
    write : callable
        Called with each line.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> times = iter([0, 0, 5, 90])
    >>> lines = ProgressLines(print, lambda: next(times))
    >>> lines.begin("reading")
    >>> lines.begin("ranking")
    >>> lines.update("ranking, 40%")
    0:01:30 ranking, 40%
    """

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = monotonic
    ) -> None:
        self._write, self._clock, self._lock = write, clock, Lock()
        self._start = clock()
        self._due = self._start + PATIENCE
        self._text = ""

    def begin(self, stage: str) -> None:
        """Begin a stage."""
        with self._lock:
            self._text, now = stage, self._clock()
            if now >= self._start + PATIENCE:
                self._print(now)

    def update(self, text: str | None = None) -> None:
        """Change what the next line says, and print it if it is time."""
        with self._lock:
            self._text, now = text or self._text, self._clock()
            if self._text and now >= self._due:
                self._print(now)

    @property
    def seconds_left(self) -> float:
        """Seconds until the next line is due."""
        return max(self._due - self._clock(), 0.0) if self._text else PATIENCE

    def _print(self, now: float) -> None:
        self._due = now + INTERVAL
        self._write(f"{timedelta(seconds=int(now - self._start))} {self._text}")


class Steps(Stopwatch):
    """Runs and times the steps of a job, with a progress bar and the time left.

    The bar is drawn on standard error. If that is no terminal, long work prints lines instead.

    Parameters
    ----------
    is_quiet : bool, default=False
        Whether to show no progress at all.
    clock : callable
        Returns the time in seconds, for the lines.

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

    def __init__(self, *, is_quiet: bool = False, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._progress = _make_bar("{task.description}", is_quiet=is_quiet)
        self._task = self._progress.add_task("", total=None)
        has_lines = self._progress.disable and not is_quiet and sys.stderr is not None
        self._lines = ProgressLines(_print_error, clock) if has_lines else None
        self._is_over = Event()
        self._shares: dict[str, float] = {}
        self._alternative: Mapping[str, float] = {}
        self._done = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        if self._lines is not None:
            Thread(target=self._tick, args=(self._lines,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._progress.stop()

    def _tick(self, lines: ProgressLines) -> None:
        """Print the lines that are due while a step is silent."""
        while not self._is_over.wait(max(lines.seconds_left, 0.1)):
            lines.update()

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
        if self._lines is not None:
            self._lines.begin(name)

    def reach(self, share: float) -> None:
        """Show how much of the current step is done."""
        weight = self._shares.get(self._current or "", 0.0)
        self._progress.update(self._task, completed=self._done + min(share, 1.0) * weight)
        if self._lines is not None:
            self._lines.update(f"{self._current}, {min(share, 1.0):.0%}")

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
    """Yield batches of rows unchanged, with a bar or with lines on standard error."""
    if is_quiet or sys.stderr is None:
        yield from pairs
        return
    if not sys.stderr.isatty():  # without a bar, rich need not be imported
        lines = ProgressLines(_print_error, monotonic)
        for batch, documents in pairs:
            yield batch, documents
            if len(batch):
                lines.update(f"{batch.numbers[-1]:,} rows")
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


def _print_error(line: str) -> None:
    with suppress(OSError, ValueError):  # it may be closed
        print(line, file=sys.stderr, flush=True)


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
