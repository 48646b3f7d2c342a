"""The steps of a long run, and how long each of them took."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")


class Stopwatch:
    """Runs the steps of a job and records the seconds that each took.

    Subclasses override `begin`, `reach` and `end` to show progress.

    Examples
    --------
    >>> stopwatch = Stopwatch()
    >>> stopwatch.run("adding", sum, [1, 2])
    3
    >>> list(stopwatch.seconds)
    ['adding']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._current: str | None = None
        self._start = 0.0

    def run(
        self, name: str, function: Callable[..., Result], *arguments: Any, **options: Any
    ) -> Result:
        """Run a function as one step and return its result."""
        self.begin(name)
        try:
            result = function(*arguments, **options)
        except BaseException:
            self._current = None  # a failed step is not recorded
            raise
        self.end()
        return result

    def begin(self, name: str) -> None:
        """Begin a step, and end the one before."""
        self.end()
        self._current, self._start = name, perf_counter()

    def reach(self, share: float) -> None:
        """Report the share of the current step that is done."""

    def end(self) -> None:
        """End the current step."""
        if self._current is not None:
            passed = perf_counter() - self._start
            self.seconds[self._current] = self.seconds.get(self._current, 0.0) + passed
            self._current = None
