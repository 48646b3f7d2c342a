"""The steps of a command: a progress bar while they run, and what each one took."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from types import TracebackType
from typing import Any, Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Result = TypeVar("Result")


class Steps:
    """Runs functions one after the other and times them.

    The bar is drawn on standard error, and only on a terminal.

    Parameters
    ----------
    n_steps : int
        How many there will be.

    Attributes
    ----------
    seconds : dict of str to float
        What each step took, in the order they ran.

    Examples
    --------
    >>> with Steps(1) as steps:
    ...     steps.run("adding", sum, [1, 2])
    3
    >>> list(steps.seconds)
    ['adding']
    """

    def __init__(self, n_steps: int) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=n_steps)
        self.seconds: dict[str, float] = {}

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

    def run(
        self, name: str, function: Callable[..., Result], *arguments: Any, **options: Any
    ) -> Result:
        """Run one step and return what the function returns."""
        self._progress.update(self._task, description=name)
        start = perf_counter()
        result = function(*arguments, **options)
        self.seconds[name] = perf_counter() - start
        self._progress.advance(self._task)
        return result
