"""Parquet files, read some thousand rows at a time.

This imports polars: import it when a parquet file is read, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep

import polars

from spokeshave.corpus.files import Progress
from spokeshave.corpus.formats.parquet_footer import UnsoundParquet, require_sound
from spokeshave.errors import CorpusError

# polars gives up some damaged pages with a panic, which is a BaseException and tells of its code.
_ERRORS = UnsoundParquet, polars.exceptions.PolarsError, polars.exceptions.PanicException


@contextmanager
def scan(path: str | Path, name: str | None = None) -> Iterator[polars.LazyFrame]:
    """Open a parquet file; errors call it by its name or else by its path."""
    try:
        require_sound(path)
        with interrupt_once():
            yield polars.scan_parquet(path, glob=False)
    except _ERRORS as error:
        is_panic = isinstance(error, polars.exceptions.PanicException)
        reason = "its pages are damaged" if is_panic else shorten(error)
        problem = f"it cannot be read as parquet ({reason}); fetch or write it again"
        raise CorpusError(name or path, problem) from None


def read_slices(
    table: polars.LazyFrame, size: int, progress: Progress | None = None
) -> Iterator[polars.DataFrame]:
    """Yield the rows of a table, `size` at a time; one empty frame if it has no rows."""
    height = table.select(polars.len()).collect().item()
    for start in range(0, max(height, 1), size):
        if progress:
            progress.update(start, height)
        yield table.slice(start, size).collect()


@contextmanager
def interrupt_once() -> Iterator[None]:
    """Raise one KeyboardInterrupt for one interrupt by the user.

    polars raises one and leaves Python's pending, which would interrupt the cleaning up.
    """
    try:
        yield
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            sleep(0)
        raise


def shorten(error: BaseException) -> str:
    """Return the first line of an error."""
    return str(error).partition("\n")[0]
