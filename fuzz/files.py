"""Inputs that are files: written to a folder, and read there."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

MAX_SECONDS = 5  # of a processor, for one input


class Files(NamedTuple):
    """Files that follow from a seed and a number, with what `fuzz.batches` asks of a module.

    Attributes
    ----------
    write : callable
        Writes a file to a folder, given the two numbers, and returns its path.
    read : callable
        Reads the file at a path, and lets pass every exception that should not occur.
    """

    write: Callable[[Path, int, int], Path]
    read: Callable[[Path, int, int], None]

    def make_input(self, number: int, seed: int) -> tuple[int, int]:
        """Return the two numbers that a file follows from."""
        return seed, number

    def try_input(self, given: tuple[int, int], say: Callable[[str], None]) -> list[str]:
        """Write a file and read it; return what went wrong."""
        say("reading")
        with TemporaryDirectory() as folder:
            path = self.write(Path(folder), *given)
            before = process_time()
            try:
                self.read(path, *given)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{Path(place.filename).name}, line {place.lineno}"
                return [f"{type(error).__name__}: {str(error)[:200]} ({where})"]
            seconds = process_time() - before
        return [f"it takes {seconds:.0f} s"] if seconds > MAX_SECONDS else []

    def save_input(self, given: tuple[int, int], path: Path) -> None:
        """Write a file to a folder of its own."""
        path.mkdir(exist_ok=True)
        self.write(path, *given)

    def warm_up(self) -> None:
        """Compile nothing: reading needs no kernel."""
