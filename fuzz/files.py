"""Inputs that are files: written to a folder, and read there."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

MAX_SECONDS = 5  # of a processor, for one input


def try_file(
    write: Callable[[Path, int, int], Path],
    read: Callable[[Path, int, int], None],
    seed: int,
    number: int,
) -> list[str]:
    """Write an input and read it; return what went wrong.

    ``read`` lets pass every exception that should not occur.
    """
    with TemporaryDirectory() as folder:
        path = write(Path(folder), seed, number)
        before = process_time()
        try:
            read(path, seed, number)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}, line {place.lineno}"
            return [f"{type(error).__name__}: {str(error)[:200]} ({where})"]
        seconds = process_time() - before
    return [f"it takes {seconds:.0f} s"] if seconds > MAX_SECONDS else []


def save_file(
    write: Callable[[Path, int, int], Path], seed: int, number: int, folder: Path
) -> None:
    """Write an input to a folder of its own."""
    folder.mkdir(exist_ok=True)
    write(folder, seed, number)
