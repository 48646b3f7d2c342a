"""Batches of rows with new columns, written as lines of csv, tsv or jsonl."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import IO, Any, Protocol, TypeAlias

from spokeshave.corpus.options import MalformedRow, quote
from spokeshave.corpus.rewrite.row_reader import RowBatch, RowReader, list_values
from spokeshave.errors import CorpusError

Added: TypeAlias = Mapping[str, Any]

_QUOTED_IN_CSV = re.compile(r'[",\r\n]')
_FORBIDDEN_IN_TSV = re.compile(r"[\t\r\n]")


class Writer(Protocol):
    """Writes batches with the values of new columns by their names."""

    def write(self, batch: RowBatch, added: Added) -> None:
        """Write the rows of a batch."""


class FixedColumns:
    """The columns of a table that the first batch determines for all rows."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.columns: tuple[str, ...] | None = None

    def align(self, batch: RowBatch) -> RowBatch:
        """Return a batch with these columns, and raise if it has others."""
        if self.columns is None:
            self.columns = batch.columns
        known = set(self.columns)
        new = [column for column in batch.columns if column not in known]
        if new:
            problem = f"the key {quote(new[0])} is not in the first rows, which settle the columns"
            raise CorpusError(self._name, f"{problem}; write jsonl instead", batch.locate(new[0]))
        return replace(batch, columns=self.columns)


class DelimitedWriter:
    """Write csv or tsv in UTF-8, with a header if the source has one."""

    def __init__(self, output: IO[bytes], reader: RowReader, format: str) -> None:
        self._output, self._reader = output, reader
        self._join = join_csv if format == "csv" else join_tsv
        self._fixed = FixedColumns(reader.name)

    def write(self, batch: RowBatch, added: Added) -> None:
        """Write the rows of a batch, and the header before the first."""
        if self._fixed.columns is None and self._reader.has_header:
            self._write_lines([1], [[*batch.columns, *added]])
        batch = self._fixed.align(batch)
        rows = zip(batch.list_rows(), _list_added(batch, added), strict=True)
        self._write_lines(batch.numbers, ([*old, *new] for old, new in rows))

    def _write_lines(self, numbers: Sequence[int], rows: Iterable[Sequence[Any]]) -> None:
        lines = _format_rows(rows, numbers, self._format_row, self._reader)
        self._output.write("".join(lines).encode())

    def _format_row(self, row: Sequence[Any]) -> str:
        return self._join([to_cell(value) for value in row])


class ObjectWriter:
    """Write jsonl in UTF-8."""

    def __init__(self, output: IO[bytes], reader: RowReader) -> None:
        self._output, self._reader = output, reader

    def write(self, batch: RowBatch, added: Added) -> None:
        """Write the rows of a batch."""
        require_distinct(batch.columns, self._reader.name)
        new = (dict(zip(added, row, strict=True)) for row in _list_added(batch, added))
        rows = zip(batch.list_objects(), new, strict=True)
        objects = ({**old, **new} for old, new in rows)
        lines = _format_rows(objects, batch.numbers, to_json, self._reader)
        self._output.write("".join(lines).encode())


def join_csv(cells: Sequence[str]) -> str:
    """Join cells to a line of csv; cells with a comma, a quote or a line end are quoted."""
    # A row that is one empty cell would be a blank line.
    return ",".join(map(_quote_cell, cells)) or '""'


def join_tsv(cells: Sequence[str]) -> str:
    r"""Join cells to a line of tsv, which has no quotes and cannot hold every text."""
    if any(map(_FORBIDDEN_IN_TSV.search, cells)):
        problem = "there is a tab or a line end in a cell, which tsv cannot hold"
        raise MalformedRow(f"{problem}; write csv or jsonl instead")
    return "\t".join(cells)


def require_distinct(columns: Sequence[str], name: str) -> None:
    """Raise if two columns have the same name, which only csv and tsv allow."""
    repeated = [column for column, count in Counter(columns).items() if count > 1]
    if repeated:
        problem = f"there is more than one column {quote(repeated[0])}; write csv or tsv instead"
        raise CorpusError(name, problem)


def to_json(value: Any) -> str:
    """Return a value as JSON; numbers that are not finite are null.

    A date or time is an ISO string, a duration its seconds, a decimal number a string.

    Examples
    --------
    >>> to_json({"tags": ["café", None], "due": date(2024, 2, 29), "score": float("nan")})
    '{"tags": ["café", null], "due": "2024-02-29", "score": null}'
    """
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(_drop_infinite(value))


def to_cell(value: Any) -> str:
    """Return a value as a cell: empty for None, a string as it is, lists and objects as JSON.

    Examples
    --------
    >>> [to_cell(value) for value in (None, "Late", 0.5, True, ["a", "b"])]
    ['', 'Late', '0.5', 'true', '["a", "b"]']
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, date | time | timedelta | Decimal):
        return str(_simplify(value))
    return to_json(value)


def _quote_cell(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _QUOTED_IN_CSV.search(cell) else cell


def _list_added(batch: RowBatch, added: Added) -> Iterable[tuple[Any, ...]]:
    """Return the new cells of each row."""
    return zip(*map(list_values, added.values()), strict=True) if added else [()] * len(batch)


def _format_rows(
    rows: Iterable[Any], numbers: Sequence[int], format_row: Callable[[Any], str], reader: RowReader
) -> Iterator[str]:
    for number, row in zip(numbers, rows, strict=True):
        try:
            yield f"{format_row(row)}\n"
        except MalformedRow as problem:
            reader.refuse(problem, number)


def _simplify(value: Any) -> Any:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return str(value)
    problem = f"a value of type {type(value).__name__} cannot be written as text"
    raise MalformedRow(f"{problem}; write parquet instead")


def _drop_infinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_infinite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_drop_infinite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_simplify)
