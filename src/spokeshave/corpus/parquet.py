"""Parquet files, read and written some thousand rows at a time.

This loads polars: import it where a parquet file is met, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep

import polars

from spokeshave.corpus.meters import Meter
from spokeshave.errors import CorpusError

_MOST_ROWS = 20_000
_MOST_BYTES = 2**25


@contextmanager
def scan(path: str | Path, name: str | None = None) -> Iterator[polars.LazyFrame]:
    """Open a parquet file, whose troubles are raised with the name it is to be called by.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.parquet")
    ...     polars.DataFrame({"body": ["Late"]}).write_parquet(path)
    ...     with scan(path) as table:
    ...         table.collect_schema().names()
    ['body']
    """
    try:
        with interrupt_once():
            yield polars.scan_parquet(path, glob=False)
    except polars.exceptions.PolarsError as error:
        problem = f"it cannot be read as parquet ({_shorten(error)})"
        raise CorpusError(name or path, problem) from None


def read_slices(
    table: polars.LazyFrame, size: int, meter: Meter | None = None
) -> Iterator[polars.DataFrame]:
    """Yield the rows of a table, so many at a time; no rows, once, where it has none.

    A meter is told how many of the rows were read before.

    Examples
    --------
    >>> table = polars.LazyFrame({"id": [1, 2, 3]})
    >>> [part.height for part in read_slices(table, 2)]
    [2, 1]
    """
    height = table.select(polars.len()).collect().item()
    for start in range(0, max(height, 1), size):
        if meter:
            meter.note(start, height)
        yield table.slice(start, size).collect()


class Parts:
    """A table that comes in small frames, kept in a folder until it is whole.

    polars writes a parquet file from frames that are all in memory, or from files: so the frames
    are written to files of a moderate size, and the table from these.

    Parameters
    ----------
    folder : Path
        An empty folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     parts = Parts(Path(folder))
    ...     for id in range(3):
    ...         parts.add(polars.DataFrame({"id": [id]}))
    ...     polars.read_parquet(parts.join()).height
    3
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._frames: list[polars.DataFrame] = []
        self._paths: list[Path] = []
        self._rows = self._rows_in_memory = self._bytes_in_memory = 0

    def add(self, frame: polars.DataFrame) -> None:
        """Append rows to the table."""
        self._frames.append(frame)
        self._rows += frame.height
        self._rows_in_memory += frame.height
        self._bytes_in_memory += int(frame.estimated_size())
        if self._rows_in_memory >= _MOST_ROWS or self._bytes_in_memory >= _MOST_BYTES:
            self._empty_memory()

    def join(self) -> Path:
        """Write the whole table to one file, in groups of rows as large as the parts were."""
        if self._frames or not self._paths:
            self._empty_memory()
        whole = self._folder / "whole.parquet"
        rows_per_group = max(self._rows // len(self._paths), 1)
        with _explain_writing():
            table = polars.scan_parquet(self._paths, glob=False)
            table.sink_parquet(whole, row_group_size=rows_per_group)
        for path in self._paths:
            path.unlink()
        return whole

    def _empty_memory(self) -> None:
        path = self._folder / f"{len(self._paths)}.parquet"
        with _explain_writing():
            polars.concat(self._frames or [polars.DataFrame()]).write_parquet(path)
        self._paths.append(path)
        self._frames = []
        self._rows_in_memory = self._bytes_in_memory = 0


@contextmanager
def interrupt_once() -> Iterator[None]:
    """Let one interrupt of the user's raise one KeyboardInterrupt.

    polars raises one, and leaves that of Python pending: it would break off the cleaning up.
    """
    try:
        yield
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            sleep(0)
        raise


@contextmanager
def _explain_writing() -> Iterator[None]:
    try:
        with interrupt_once():
            yield
    except polars.exceptions.PolarsError as error:
        raise OSError(f"the parquet file cannot be written ({_shorten(error)})") from None


def _shorten(error: Exception) -> str:
    return str(error).partition("\n")[0]
