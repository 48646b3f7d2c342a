"""The rows of each format of table with all their cells, in batches.

Each reader yields at least one batch, without rows where there are none, and opens its source only
when it is asked for the first: what goes wrong between two batches is not taken for damage to it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.batches import Batch, CellBatch, FrameBatch, ObjectBatch
from spokeshave.corpus.files import open_text
from spokeshave.corpus.rows import (
    Table,
    check_text,
    find_column,
    pick,
    read_delimited,
    read_objects,
)
from spokeshave.errors import CorpusError

PIPE = "-"

Batches: TypeAlias = Generator[Batch, None, None]

_MOST_CHARACTERS = 4_000_000
_ROWS_PER_SLICE = 10_000

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class Input:
    """A source and how it is to be read; the path of its table is the name it is called by."""

    source: str | Path
    format: str
    table: Table
    has_header: bool
    batch_size: int

    def open(self) -> AbstractContextManager[TextIOWrapper]:
        """Open the source as text."""
        if str(self.source) == PIPE:
            from spokeshave.corpus.pipes import open_piped_text

            return open_piped_text(self.table.encoding)
        return open_text(self.source, self.table.encoding)


def batch_cells(input: Input) -> Batches:
    """Yield the rows of csv or tsv; without a header, columns are called by their positions."""
    with input.open() as stream:
        lines = _Lines(stream)
        has_header = input.has_header
        first, records = read_delimited(input.table, lines, input.format, has_header=has_header)
        if has_header and not first:
            raise CorpusError(input.table.path, "there is nothing in it, not even a header")
        columns = tuple(first if has_header else map(str, range(len(first))))
        place = find_column(input.table.path, input.table.text, columns) if columns else 0
        for group in _group(records, lines, input.batch_size):
            rows = [row for _, row in group]
            texts = [row[place] for row in rows]
            yield CellBatch(columns, [number for number, _ in group], texts, rows)


def batch_lines(input: Input) -> Batches:
    """Yield the lines of plain text as rows of one column."""
    with input.open() as stream:
        # A carriage return alone is part of a document.
        stream.reconfigure(newline="\n")
        lines = _Lines(stream)
        for group in _group(enumerate(lines, 1), lines, input.batch_size):
            texts = [_strip_end(line) for _, line in group]
            rows = [[text] for text in texts]
            yield CellBatch(("text",), [number for number, _ in group], texts, rows)


def batch_objects(input: Input) -> Batches:
    """Yield the objects of jsonl; the columns of a batch are the keys of all its rows."""
    with input.open() as stream:
        lines = _Lines(stream)
        records = _take_texts(read_objects(lines, input.table.bad_rows), input.table)
        for group in _group(records, lines, input.batch_size):
            objects = [record for _, record, _ in group]
            columns = tuple(dict.fromkeys(chain.from_iterable(objects)))
            texts = [text for _, _, text in group]
            yield ObjectBatch(columns, [number for number, _, _ in group], texts, objects)


def batch_frames(input: Input) -> Batches:
    """Yield the rows of parquet as polars frames."""
    from spokeshave.corpus.parquet import read_slices, scan

    with _find_parquet(input.source) as path, scan(path, str(input.table.path)) as table:
        columns = tuple(table.collect_schema().names())
        find_column(input.table.path, input.table.text, columns)
        start = 1
        for rows in read_slices(table, _ROWS_PER_SLICE):
            for frame in _split_frame(rows, input.batch_size):
                yield _check_frame(frame, range(start, start + frame.height), input.table)
                start += frame.height


READERS: dict[str, Callable[[Input], Batches]] = {
    "csv": batch_cells,
    "tsv": batch_cells,
    "jsonl": batch_objects,
    "parquet": batch_frames,
    "text": batch_lines,
}


class _Lines:
    """Lines, and how many characters were in those read so far."""

    def __init__(self, stream: Iterable[str]) -> None:
        self._stream = stream
        self.characters = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.characters += len(line)
            yield line


def _group(rows: Iterable[_Row], lines: _Lines, size: int) -> Iterator[list[_Row]]:
    """Yield lists of rows, each with few enough rows and characters; at least one list."""
    group: list[_Row] = []
    end = _MOST_CHARACTERS
    is_first = True
    for row in rows:
        group.append(row)
        if len(group) == size or lines.characters >= end:
            yield group
            group, end, is_first = [], lines.characters + _MOST_CHARACTERS, False
    if group or is_first:
        yield group


def _strip_end(line: str) -> str:
    return line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


def _take_texts(
    records: Iterable[tuple[int, dict[str, object]]], table: Table
) -> Iterator[tuple[int, dict[str, object], str]]:
    for number, record in records:
        try:
            text = check_text(pick(record, table.text))
        except MalformedRow as problem:
            table.bad_rows.report(problem, number)
        else:
            yield number, record, text


def _find_parquet(source: str | Path) -> AbstractContextManager[str | Path]:
    """Return the file to read; what comes on standard input must become one, to be read."""
    if str(source) == PIPE:
        from spokeshave.corpus.standard_input import spool_standard_input

        return spool_standard_input("parquet")
    return nullcontext(source)


def _split_frame(frame: Any, size: int) -> Iterable[Any]:
    if not frame.height:
        return [frame]
    fitting = _MOST_CHARACTERS * frame.height // max(frame.estimated_size(), 1)
    slices: Iterable[Any] = frame.iter_slices(max(1, min(size, fitting)))
    return slices


def _check_frame(frame: Any, numbers: range, table: Table) -> FrameBatch:
    kept: list[int] = []
    texts: list[str] = []
    for place, cell in enumerate(frame.get_column(table.text).to_list()):
        try:
            texts.append(check_text(cell))
        except MalformedRow as problem:
            table.bad_rows.report(problem, numbers[place])
        else:
            kept.append(place)
    rows = frame if len(kept) == frame.height else frame[kept]
    return FrameBatch(tuple(frame.columns), [numbers[place] for place in kept], texts, rows)
