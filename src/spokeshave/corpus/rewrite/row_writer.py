"""Tables written in batches: the rows of another table, with new columns."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias

from spokeshave.corpus.bad_rows import MalformedRow, quote
from spokeshave.corpus.files import strip_compression
from spokeshave.corpus.options import TABLES
from spokeshave.corpus.rewrite.row_reader import RowBatch, RowReader, list_values
from spokeshave.corpus.sniff import name_format
from spokeshave.errors import CorpusError
from spokeshave.utils.atomic import open_atomic

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


class RowWriter:
    """Write a table in batches.

    Attributes
    ----------
    n_rows : int
        The number of rows written so far.
    """

    def __init__(
        self, writer: Writer, reader: RowReader, prefix: str, pipe: IO[bytes] | None
    ) -> None:
        self._writer, self._reader, self._prefix, self._pipe = writer, reader, prefix, pipe
        self._names: tuple[str, ...] | None = None
        self.n_rows = 0

    def write(self, batch: RowBatch, added: Added) -> None:
        """Write the rows of a batch.

        Parameters
        ----------
        batch : RowBatch
            Rows of the reader.
        added : dict of list or of array
            The values of each new column by its name, to which the prefix is added; the same names
            for every batch. An array of numbers has a type even if there are no rows.
        """
        new = {f"{self._prefix}{name}": values for name, values in added.items()}
        self._check_names(batch, new)
        self._check_values(batch, new)
        self._writer.write(batch, new)
        if self._pipe is not None:
            self._pipe.flush()
        self.n_rows += len(batch)

    def _check_names(self, batch: RowBatch, new: Added) -> None:
        for name in new:
            if name in batch.columns:
                problem = f"there is a column {quote(name)} already; pass another prefix"
                raise CorpusError(self._reader.name, problem, batch.locate(name))

    def _check_values(self, batch: RowBatch, new: Added) -> None:
        self._names = self._names or tuple(new)
        if tuple(new) != self._names:
            raise ValueError(f"added must hold {list(self._names)}. Got {list(new)} instead.")
        for name, values in new.items():
            if len(values) != len(batch):
                raise ValueError(
                    f"added must hold {len(batch)} values of {quote(name)}, one for each row. "
                    f"Got {len(values)} instead."
                )


@contextmanager
def open_row_writer(
    target: str | Path | None, reader: RowReader, *, format: str | None = None, prefix: str = ""
) -> Iterator[RowWriter]:
    r"""Open a table to write the rows of a reader to, followed by new columns.

    A file is written atomically: the previous file of its name is kept until all rows are written.
    Standard output gets the rows of each batch at once, except in parquet. The encoding is UTF-8.

    In csv and tsv, a missing value is an empty cell, and values that are not strings are written as
    JSON. There is a header unless the source is csv or tsv without one. A tab or a line end in tsv
    is an error. In csv, tsv and parquet the first batch determines the columns: a row of jsonl with
    another key is an error, and missing keys are empty cells.

    In parquet, the columns of a parquet file keep their types, and those of csv, tsv and text are
    strings. The first batch determines the types of the columns of jsonl; objects are strings of
    JSON. In jsonl, numbers that are not finite are null, and dates and times are ISO strings.

    Parameters
    ----------
    target : str, Path or None
        A file, which is compressed if its name ends in .gz, .bz2 or .xz; '-' or None is standard
        output.
    reader : RowReader
        The source of the rows.
    format : {'csv', 'tsv', 'jsonl', 'parquet'}, optional
        The format; by default inferred from the name of the file, else that of the reader, and
        csv for plain text.
    prefix : str
        The prefix of the names of the new columns.

    Yields
    ------
    writer : RowWriter
        Writes the batches.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from spokeshave.corpus.rewrite.row_reader import open_row_reader
    >>> with TemporaryDirectory() as folder:
    ...     source, target = Path(folder, "tickets.csv"), Path(folder, "queues.jsonl")
    ...     _ = source.write_text("id,body\n7,Black\n8,Late\n")
    ...     with (
    ...         open_row_reader(source, format="csv", text="body") as reader,
    ...         open_row_writer(target, reader, prefix="predicted_") as writer,
    ...     ):
    ...         for batch in reader:
    ...             writer.write(batch, {"length": [len(text) for text in batch.texts]})
    ...     print(target.read_text(), end="")
    {"id": "7", "body": "Black", "predicted_length": 5}
    {"id": "8", "body": "Late", "predicted_length": 4}
    """
    format = choose_format(target, format, reader.format)
    with (
        open_target(target, format) as output,
        _open_writer(format, output, reader, target) as writer,
    ):
        yield RowWriter(writer, reader, prefix, output if is_pipe(target) else None)


def _open_writer(
    format: str, output: IO[bytes], reader: RowReader, target: str | Path | None
) -> AbstractContextManager[Writer]:
    if format == "parquet":
        from spokeshave.corpus.rewrite.parquet_writer import open_parquet_writer

        folder = None if is_pipe(target) else Path(str(target)).parent
        return open_parquet_writer(output, reader, folder)
    if format == "jsonl":
        return nullcontext(ObjectWriter(output, reader))
    return nullcontext(DelimitedWriter(output, reader, format))


def is_pipe(target: str | Path | None) -> bool:
    """Return whether a target is standard output, a pipe or a device, which cannot be replaced."""
    if _is_standard_output(target):
        return True
    path = Path(str(target))
    return path.exists() and not path.is_file() and not path.is_dir()


def choose_format(target: str | Path | None, format: str | None, source_format: str) -> str:
    """Return the format of a table: the given one, that of its name, or that of its source.

    Plain text, which has no columns, becomes csv.
    """
    if format is not None and format not in TABLES:
        choices = ", ".join(map(repr, TABLES))
        raise ValueError(f"format must be one of {choices}. Got {format!r} instead.")
    chosen = format or name_format(str(target)) or source_format
    if chosen not in (*TABLES, "text"):
        problem = f"{chosen} cannot be written; let the name end in .csv, .tsv, .jsonl or .parquet"
        raise ValueError(f"{target}: {problem}")
    return "csv" if chosen == "text" else chosen


@contextmanager
def open_target(target: str | Path | None, format: str) -> Iterator[IO[bytes]]:
    """Open a target for writing bytes, compressed according to its suffix.

    A file is replaced when all is written; a link to a file stays a link. Standard output stays
    open.
    """
    if _is_standard_output(target):
        yield sys.stdout.buffer
        return
    path = Path(str(target))
    _check_end(path, format)
    with _open_file(path) as stream, _compress(stream, path.suffix.lower()) as output:
        yield output


def _is_standard_output(target: str | Path | None) -> bool:
    return target is None or str(target) == "-"


def _open_file(path: Path) -> AbstractContextManager[IO[bytes]]:
    if is_pipe(path):
        return path.open("wb")
    return open_atomic(path.resolve() if path.is_symlink() else path)


def _check_end(path: Path, format: str) -> None:
    end = path.suffix if strip_compression(path) != path else ""
    if end.lower() == ".zip":
        raise ValueError(f"{path}: a zip cannot be written; let the name end in .gz, .bz2 or .xz")
    if end and format == "parquet":
        problem = f"parquet is compressed by itself; take the {end} off the name"
        raise ValueError(f"{path}: {problem}")


@contextmanager
def _compress(stream: IO[bytes], end: str) -> Iterator[Any]:
    if end == ".gz":
        # Without name and time, so that equal rows give equal files.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as output:
            yield output
    elif end in (".bz2", ".xz"):
        with (bz2 if end == ".bz2" else lzma).open(stream, "wb") as output:
            yield output
    else:
        yield stream
