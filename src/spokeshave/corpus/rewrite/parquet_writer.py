"""Batches of rows with new columns, written as parquet.

This imports polars: import it when a parquet file is written, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, TypeAlias

import polars
from polars.datatypes import DataType, DataTypeClass

from spokeshave.corpus import limits
from spokeshave.corpus.formats.parquet import interrupt_once, shorten
from spokeshave.corpus.options import MalformedRow, quote
from spokeshave.corpus.rewrite.line_writer import Added, FixedColumns, require_distinct, to_json
from spokeshave.corpus.rewrite.row_reader import FrameBatch, RowBatch, RowReader, list_values
from spokeshave.utils.atomic import making_folder

Type: TypeAlias = DataType | DataTypeClass

_PLAIN: dict[type, Type] = {
    type(None): polars.Null,
    bool: polars.Boolean,
    int: polars.Int64,
    float: polars.Float64,
    str: polars.String,
}
_KINDS_OF_ARRAY: dict[str, Type] = {
    "b": polars.Boolean,
    "i": polars.Int64,
    "u": polars.Int64,
    "f": polars.Float64,
}
_NUMBERS = {polars.Int64, polars.Float64}
_STRINGS = {str, type(None)}


@contextmanager
def open_parquet_writer(
    output: IO[bytes], reader: RowReader, folder: Path | None
) -> Iterator[ParquetWriter]:
    """Open a writer of parquet, which keeps parts in the folder until the end."""
    with making_folder(folder, ".spokeshave-") as temporary:
        parts = Parts(temporary)
        yield ParquetWriter(parts, reader)
        with parts.join().open("rb") as whole:
            copyfileobj(whole, output)


class ParquetWriter:
    """Write parquet; the columns of a parquet file keep their types."""

    def __init__(self, parts: Parts, reader: RowReader) -> None:
        self._parts, self._reader = parts, reader
        self._fixed = FixedColumns(reader.name)
        self._types = ColumnTypes(reader.refuse)

    def write(self, batch: RowBatch, added: Added) -> None:
        """Write the rows of a batch."""
        batch = self._fixed.align(batch)
        old = batch.frame if isinstance(batch, FrameBatch) else self._make_frame(batch)
        self._parts.add(old.hstack(self._make_columns(batch, added.items())))

    def _make_frame(self, batch: RowBatch) -> polars.DataFrame:
        require_distinct(batch.columns, self._reader.name)
        cells = zip(*batch.list_rows(), strict=True) if len(batch) else [()] * len(batch.columns)
        columns = zip(batch.columns, cells, strict=True)
        return polars.DataFrame(self._make_columns(batch, columns))

    def _make_columns(
        self, batch: RowBatch, columns: Iterable[tuple[str, Any]]
    ) -> list[polars.Series]:
        return [self._types.make_series(name, values, batch.numbers) for name, values in columns]


class ColumnTypes:
    """The types of columns, each determined by the first values written to it.

    Whole numbers are Int64; if some are not whole, all are Float64. Lists remain lists, and an
    object becomes a string of JSON. If every value is missing, the type is String.

    Parameters
    ----------
    refuse : callable
        Takes a problem and the position of a row, and raises them.
    """

    def __init__(self, refuse: Callable[[str, int], None]) -> None:
        self._refuse = refuse
        self._types: dict[str, Type] = {}

    def make_series(self, name: str, values: Any, numbers: Sequence[int]) -> polars.Series:
        """Turn the values of some rows, a list or a numpy array, into a column."""
        cells = [_flatten(value) for value in list_values(values)]
        if name not in self._types:
            found = self._join_types(name, cells, numbers, _name_kind(values), _unite)
            self._types[name] = _settle(found)
        elif self._types[name] != polars.String or not _STRINGS.issuperset(map(type, cells)):
            self._join_types(name, cells, numbers, self._types[name], _require)
        return polars.Series(name, cells, dtype=self._types[name])

    def _join_types(
        self,
        name: str,
        cells: Iterable[Any],
        numbers: Sequence[int],
        known: Type,
        join: Callable[[Type, Type], Type],
    ) -> Type:
        for number, cell in zip(numbers, cells, strict=True):
            try:
                known = join(known, _find_type(cell))
            except MalformedRow as problem:
                self._refuse(f"column {quote(name)}: {problem}; write jsonl instead", number)
        return known


class Parts:
    """A table in small frames, which are kept in files until all are there.

    polars writes a parquet file from frames in memory, or from files. So the frames are written to
    files of moderate size, and the table is written from these.

    Parameters
    ----------
    folder : Path
        An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._frames: list[polars.DataFrame] = []
        self._paths: list[Path] = []
        self._n_rows = self._n_rows_held = self._n_bytes_held = 0

    def add(self, frame: polars.DataFrame) -> None:
        """Append rows to the table."""
        self._frames.append(frame)
        self._n_rows += frame.height
        self._n_rows_held += frame.height
        self._n_bytes_held += int(frame.estimated_size())
        if self._n_rows_held >= limits.ROWS_PER_PART or self._n_bytes_held >= limits.BYTES_PER_PART:
            self._write_part()

    def join(self) -> Path:
        """Write the whole table to one file, with row groups as large as the parts."""
        if self._frames or not self._paths:
            self._write_part()
        whole = self._folder / "whole.parquet"
        rows_per_group = max(self._n_rows // len(self._paths), 1)
        with _explain_errors():
            table = polars.scan_parquet(self._paths, glob=False)
            table.sink_parquet(whole, row_group_size=rows_per_group)
        for path in self._paths:
            path.unlink()
        return whole

    def _write_part(self) -> None:
        path = self._folder / f"{len(self._paths)}.parquet"
        with _explain_errors():
            polars.concat(self._frames or [polars.DataFrame()]).write_parquet(path)
        self._paths.append(path)
        self._frames = []
        self._n_rows_held = self._n_bytes_held = 0


@contextmanager
def _explain_errors() -> Iterator[None]:
    try:
        with interrupt_once():
            yield
    except polars.exceptions.PolarsError as error:
        raise OSError(f"the parquet file cannot be written ({shorten(error)})") from None


def _flatten(value: Any) -> Any:
    """Turn the objects in a value into strings of JSON."""
    if isinstance(value, dict):
        return to_json(value)
    return [_flatten(item) for item in value] if isinstance(value, list | tuple) else value


def _name_kind(values: Any) -> Type:
    """Return the type of an array, which it has even if it is empty."""
    return _KINDS_OF_ARRAY.get(values.dtype.kind if hasattr(values, "dtype") else "", polars.Null)


def _find_type(value: Any) -> Type:
    if isinstance(value, list):
        unknown: Type = polars.Null
        return polars.List(reduce(_unite, map(_find_type, value), unknown))
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise MalformedRow("the number has more than 64 bits")
    found = next((type for kind, type in _PLAIN.items() if isinstance(value, kind)), None)
    if found is None:
        raise MalformedRow(f"the value is of type {type(value).__name__}")
    return found


def _unite(known: Type, found: Type) -> Type:
    """Return the type that can hold the values of both."""
    if known == found or found == polars.Null:
        return known
    if known == polars.Null:
        return found
    if known in _NUMBERS and found in _NUMBERS:
        return polars.Float64
    if isinstance(known, polars.List) and isinstance(found, polars.List):
        return polars.List(_unite(known.inner, found.inner))
    raise MalformedRow(f"the type is {found} here and {known} above")


def _require(known: Type, found: Type) -> Type:
    """Return the known type, and raise if it cannot hold the other."""
    if _unite(known, found) != known:
        raise MalformedRow(f"the type is {found} here and {known} above")
    return known


def _settle(type: Type) -> Type:
    """Replace the unknown types in a type by strings."""
    if isinstance(type, polars.List):
        return polars.List(_settle(type.inner))
    return polars.String if type == polars.Null else type
