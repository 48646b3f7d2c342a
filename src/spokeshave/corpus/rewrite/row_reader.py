"""Tables of texts read in batches of rows with all their cells, to be written again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from spokeshave.corpus import limits
from spokeshave.corpus.encoding import UTF_8
from spokeshave.corpus.files import require_file
from spokeshave.corpus.formats.tables import (
    LabelParser,
    Table,
    check_text,
    find_column,
    select_documents,
    split_rows,
)
from spokeshave.corpus.options import (
    TABLES,
    BadRows,
    Column,
    MalformedRow,
    check_batch_size,
    name_unit,
    quote,
    quote_all,
)
from spokeshave.corpus.stdin import NAME, STDIN, spool_standard_input
from spokeshave.errors import CorpusError

FORMATS = (*TABLES, "text")

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class RowBatch(ABC):
    """Some rows of a table.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns, in order.
    numbers : sequence of int
        The position of each row in its source: the number of its line, or of the row in parquet.
    texts : list of str
        The text of each row.
    """

    columns: tuple[str, ...]
    numbers: Sequence[int]
    texts: list[str]

    def __len__(self) -> int:
        return len(self.numbers)

    @abstractmethod
    def list_rows(self) -> Sequence[Sequence[Any]]:
        """Return the cells of each row in the order of the columns, None for a missing cell."""

    def list_objects(self) -> list[dict[str, Any]]:
        """Return the cells of each row by the names of their columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.list_rows()]

    def get_cells(self, column: str) -> list[Any]:
        """Return the cells of one column."""
        if column not in self.columns:
            raise ValueError(
                f"column must be one of {quote_all(self.columns)}. Got {quote(column)} instead."
            )
        position = self.columns.index(column)
        return [row[position] for row in self.list_rows()]

    def locate(self, column: str) -> int | None:
        """Return the line of the first row with a column, None if the header names it."""
        return None


@dataclass(frozen=True)
class CellBatch(RowBatch):
    """Rows of strings, one for each column."""

    rows: list[list[str]]

    def list_rows(self) -> list[list[str]]:
        """Return the rows."""
        return self.rows


@dataclass(frozen=True)
class ObjectBatch(RowBatch):
    """Rows that are JSON objects; the columns are the keys of all of them."""

    objects: list[dict[str, Any]]

    def list_rows(self) -> list[list[Any]]:
        """Return the value of each key in each object."""
        return [[row.get(column) for column in self.columns] for row in self.objects]

    def list_objects(self) -> list[dict[str, Any]]:
        """Return the objects."""
        return self.objects

    def locate(self, column: str) -> int | None:
        """Return the line of the first object with a key."""
        rows = zip(self.numbers, self.objects, strict=True)
        return next((number for number, row in rows if column in row), None)


@dataclass(frozen=True, eq=False)
class FrameBatch(RowBatch):
    """Rows of a polars frame, whose columns have types."""

    frame: Any

    def list_rows(self) -> list[tuple[Any, ...]]:
        """Return the rows as Python values."""
        rows: list[tuple[Any, ...]] = self.frame.rows()
        return rows


Batches: TypeAlias = Generator[RowBatch, None, None]


@dataclass(frozen=True)
class RowReader:
    """The rows of a table, which are read once; iterate over it for the batches.

    Attributes
    ----------
    name : str
        The name of the file, or 'standard input'.
    format : {'csv', 'tsv', 'jsonl', 'parquet', 'text'}
        Its format.
    has_header : bool
        Whether the columns have names; otherwise they are called '0', '1' and so on.
    columns : tuple of str
        The columns. In jsonl, where every row may have other keys, those of the first batch.
    """

    name: str
    format: str
    has_header: bool
    columns: tuple[str, ...]
    _batches: Iterator[RowBatch]
    _count_skipped: Callable[[], int]

    def __iter__(self) -> Iterator[RowBatch]:
        return self._batches

    @property
    def skipped(self) -> int:
        """Return the number of malformed rows skipped so far."""
        return self._count_skipped()

    def refuse(self, problem: object, number: int) -> None:
        """Raise a problem with the row at this position."""
        BadRows(self.name, "raise", name_unit(self.format)).report(problem, number)


@contextmanager
def open_row_reader(
    source: str | Path,
    *,
    format: str,
    text: Column = "text",
    has_header: bool = True,
    encoding: str = UTF_8,
    bad_rows: str = "raise",
    batch_size: int = limits.BATCH_SIZE,
) -> Iterator[RowReader]:
    r"""Open a table of texts, to be read in batches and written with new columns.

    Memory holds about `batch_size` rows and 4 million characters; of a parquet file about 10,000
    rows, or one row group. Blank lines are ignored, except in plain text, where each is an empty
    document.

    Parameters
    ----------
    source : str or Path
        A file, plain or compressed by its suffix (.gz, .bz2, .xz, .zip), or '-' for standard
        input, plain or compressed by its first bytes (gzip, bz2, xz).
    format : {'csv', 'tsv', 'jsonl', 'parquet', 'text'}
        The format. Plain text has one document on each line, which ends with a line feed or with
        a carriage return and a line feed; its only column is 'text'.
    text : str or int
        The column of texts: its name, or in csv and tsv its position from 0.
    has_header : bool
        Whether the first row of csv or tsv names the columns; otherwise their names are '0', '1'
        and so on.
    encoding : str
        The encoding of any format but parquet.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row, or one without a text, is an error, or is skipped and counted.
    batch_size : int
        The number of rows to read at a time.

    Yields
    ------
    reader : RowReader
        The rows in batches, in order; at least one batch, which is empty if there are no rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("id,body\n7,Black\n8,Late\n9,Lost\n")
    ...     with open_row_reader(path, format="csv", text="body", batch_size=2) as reader:
    ...         for batch in reader:
    ...             print(batch.get_cells("id"), batch.texts)
    ['7', '8'] ['Black', 'Late']
    ['9'] ['Lost']
    """
    _check(format, text, batch_size)
    if str(source) != STDIN:
        require_file(source)
    name = NAME if str(source) == STDIN else str(source)
    problems = BadRows(name, bad_rows, name_unit(format))
    table = Table(source, name, format, text, None, encoding, problems, has_header)
    # The source is opened by the generator: an error between two batches is no damage to it.
    batches = (_batch_frames if format == "parquet" else _batch_lines)(table, batch_size)
    try:
        first = next(batches)
        is_named = has_header or format not in ("csv", "tsv")
        rows = chain([first], batches)
        yield RowReader(name, format, is_named, first.columns, rows, lambda: problems.skipped)
    finally:
        batches.close()


def list_values(values: Any) -> list[Any]:
    """Return the values of a list or a numpy array as a list of Python objects."""
    listed: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return listed


def _check(format: object, text: object, batch_size: object) -> None:
    if format not in FORMATS:
        choices = ", ".join(map(repr, FORMATS))
        raise ValueError(f"format must be one of {choices}. Got {format!r} instead.")
    is_position = isinstance(text, int) and text >= 0 and format in ("csv", "tsv")
    if not is_position and not isinstance(text, str):
        raise ValueError(f"text must be the name of a column in {format}. Got {text!r} instead.")
    check_batch_size(batch_size)


class _CountedLines:
    """Lines, and the number of characters in the lines read so far."""

    def __init__(self, stream: Iterable[str]) -> None:
        self._stream = stream
        self.n_characters = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.n_characters += len(line)
            yield line


def _batch_lines(table: Table, batch_size: int) -> Batches:
    """Yield the rows of csv, tsv, jsonl or plain text."""
    with table.open() as stream:
        lines = _CountedLines(stream)
        rows = split_rows(table, lines)
        if table.format in ("csv", "tsv") and table.has_header and not rows.columns:
            raise CorpusError(table.name, "there is nothing in it, not even a header")
        selected = select_documents(table, rows, LabelParser(None))
        for group in _group(selected, lines, batch_size):
            numbers = [number for number, _, _, _ in group]
            records = [record for _, record, _, _ in group]
            texts = [text for _, _, text, _ in group]
            if table.format == "jsonl":
                columns = tuple(dict.fromkeys(chain.from_iterable(records)))
                yield ObjectBatch(columns, numbers, texts, records)
            else:
                yield CellBatch(rows.columns, numbers, texts, records)


def _group(rows: Iterable[_Row], lines: _CountedLines, size: int) -> Iterator[list[_Row]]:
    """Yield lists of rows of limited length and number of characters; at least one list."""
    group: list[_Row] = []
    end = limits.MAX_ROW_CHARACTERS
    is_first = True
    for row in rows:
        group.append(row)
        if len(group) == size or lines.n_characters >= end:
            yield group
            group, end, is_first = [], lines.n_characters + limits.MAX_ROW_CHARACTERS, False
    if group or is_first:
        yield group


def _batch_frames(table: Table, batch_size: int) -> Batches:
    """Yield the rows of parquet as polars frames, which keep the types of the columns."""
    from spokeshave.corpus.formats.parquet import read_slices, scan

    with _find_parquet(table.source) as path, scan(path, table.name) as lazy:
        columns = tuple(lazy.collect_schema().names())
        find_column(table.name, table.text, columns)
        start = 1
        for rows in read_slices(lazy, limits.ROWS_PER_SLICE):
            for frame in _split_frame(rows, batch_size):
                yield _check_frame(frame, range(start, start + frame.height), table)
                start += frame.height


def _find_parquet(source: str | Path) -> AbstractContextManager[str | Path]:
    """Return the file to read; standard input is copied to one."""
    return spool_standard_input("parquet") if str(source) == STDIN else nullcontext(source)


def _split_frame(frame: Any, size: int) -> Iterable[Any]:
    if not frame.height:
        return [frame]
    fitting = limits.MAX_ROW_CHARACTERS * frame.height // max(frame.estimated_size(), 1)
    slices: Iterable[Any] = frame.iter_slices(max(1, min(size, fitting)))
    return slices


def _check_frame(frame: Any, numbers: range, table: Table) -> FrameBatch:
    kept: list[int] = []
    texts: list[str] = []
    for position, cell in enumerate(frame.get_column(table.text).to_list()):
        try:
            texts.append(check_text(cell))
        except MalformedRow as problem:
            table.bad_rows.report(problem, numbers[position])
        else:
            kept.append(position)
    rows = frame if len(kept) == frame.height else frame[kept]
    return FrameBatch(tuple(frame.columns), [numbers[position] for position in kept], texts, rows)
