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

    def run(
        self, name: str, function: Callable[..., Result], *arguments: Any, **options: Any
    ) -> Result:
        """Run one step and return what the function returns."""
        start = perf_counter()
        result = function(*arguments, **options)
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
        return result
