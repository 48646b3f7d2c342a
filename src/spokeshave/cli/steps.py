"""The steps of a command: a progress bar while they run, and what each one took."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from spokeshave.utils.timing import Stopwatch


class Steps(Stopwatch):
    """Runs functions one after the other and times them, with a bar and the time left.

    The bar is drawn on standard error, and only on a terminal.

    Parameters
    ----------
    is_quiet : bool, default=False
        Whether there is no bar at all.

    Attributes
    ----------
    seconds : dict of str to float
        What each step took, in the order they ran.

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
        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=is_quiet or not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None)
        self._shares: dict[str, float] = {}
        self._other_way: Mapping[str, float] = {}
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
        self, shares: Mapping[str, float], other_way: Mapping[str, float] | None = None
    ) -> None:
        """Tell which steps are to come, and what share of the time each is likely to take.

        Where the first step of the other way begins, its steps come instead of the rest.
        """
        self._shares.update(shares)
        self._other_way = other_way or {}
        self._progress.update(self._task, total=self._done + sum(shares.values()))

    def begin(self, name: str) -> None:
        """Begin a step, and end the one before."""
        super().begin(name)
        if name == next(iter(self._other_way), None):
            self.plan(self._other_way)
        self._progress.update(self._task, description=name)

    def reach(self, share: float) -> None:
        """Take note of the share of the step that is done."""
        weight = self._shares.get(self._current or "", 0.0)
        self._progress.update(self._task, completed=self._done + min(share, 1.0) * weight)

    def end(self) -> None:
        """End the step that was begun last."""
        self._done += self._shares.get(self._current or "", 0.0)
        super().end()
        self._progress.update(self._task, completed=self._done)


def prepare_job(steps: Steps, shares: Mapping[str, float]) -> None:
    """Plan the steps of a job; where kernels are not compiled yet, that comes first."""
    from spokeshave.cli.kernels import COMPILING, describe_preparation, prepare_kernels

    if (preparation := describe_preparation()) == COMPILING:
        steps.plan({preparation: 40.0, **shares})
        steps.run(preparation, prepare_kernels)
    else:
        steps.plan(shares)
