"""Batches of rows, with new columns for them, written as parquet.

This loads polars: import it where a parquet file is met, and not before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import IO, Any

import polars

from spokeshave.corpus.batches import Batch, FrameBatch
from spokeshave.corpus.parquet import Parts
from spokeshave.corpus.parquet_types import ColumnTypes
from spokeshave.corpus.streams import Stream
from spokeshave.corpus.writers import Added, FixedColumns, require_distinct


@contextmanager
def open_parquet_writer(
    output: IO[bytes], stream: Stream, folder: Path | None
) -> Iterator[ParquetWriter]:
    """Open a writer of parquet; the file is written in the end, from parts kept until then.

    Parameters
    ----------
    output : binary file
        What is written to.
    stream : Stream
        Where the rows come from.
    folder : Path or None
        Where the parts are kept; None is where temporary files are.
    """
    with TemporaryDirectory(dir=folder, prefix=".spokeshave-") as place:
        parts = Parts(Path(place))
        yield ParquetWriter(parts, stream)
        with parts.join().open("rb") as whole:
            copyfileobj(whole, output)


class ParquetWriter:
    """Writes parquet; the columns of a parquet file keep their types.

    Parameters
    ----------
    parts : Parts
        What is written to.
    stream : Stream
        Where the rows come from.
    """

    def __init__(self, parts: Parts, stream: Stream) -> None:
        self._parts, self._stream = parts, stream
        self._fixed = FixedColumns(stream.name)
        self._types = ColumnTypes(stream.refuse)

    def write(self, batch: Batch, added: Added) -> None:
        """Write the rows of a batch."""
        batch = self._fixed.align(batch)
        old = batch.frame if isinstance(batch, FrameBatch) else self._make_frame(batch)
        self._parts.add(old.hstack(self._make_columns(batch, added.items())))

    def _make_frame(self, batch: Batch) -> polars.DataFrame:
        require_distinct(batch.columns, self._stream.name)
        cells = zip(*batch.list_rows(), strict=True) if len(batch) else [()] * len(batch.columns)
        columns = zip(batch.columns, cells, strict=True)
        return polars.DataFrame(self._make_columns(batch, columns))

    def _make_columns(
        self, batch: Batch, columns: Iterable[tuple[str, Any]]
    ) -> list[polars.Series]:
        return [self._types.make_series(name, values, batch.numbers) for name, values in columns]
