"""The steps of a long run, and what each of them took."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")


class Stopwatch:
    """Runs the steps of a job and keeps what each took.

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
        """Run one step and return what the function returns."""
        self.begin(name)
        try:
            result = function(*arguments, **options)
        except BaseException:
            self._current = None  # a step that fails has no time
            raise
        self.end()
        return result

    def begin(self, name: str) -> None:
        """Begin a step that is not one function, and end the one before."""
        self.end()
        self._current, self._start = name, perf_counter()

    def reach(self, share: float) -> None:
        """Take note of the share of the step that is done."""

    def end(self) -> None:
        """End the step that was begun last."""
        if self._current is not None:
            passed = perf_counter() - self._start
            self.seconds[self._current] = self.seconds.get(self._current, 0.0) + passed
            self._current = None
