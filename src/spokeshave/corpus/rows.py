"""The rows of each format of table, as the two cells that hold text and label.

The readers yield ``(number, text, label)`` for every row that has both cells, whatever is in them,
and report the others. None holds more than a few thousand rows in memory.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus.bad_rows import BadRows, MalformedRow
from spokeshave.corpus.files import open_text
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.wording import quote, quote_all
from spokeshave.errors import CorpusError

Row: TypeAlias = tuple[int, object, object]
Records: TypeAlias = Iterator[tuple[int, list[str]]]

# No document is longer: a field that is has lost its closing quote and would swallow the file.
_LONGEST_FIELD = 2**27

_ROWS_PER_SLICE = 10_000

_DIALECTS: dict[str, dict[str, Any]] = {
    "csv": {"delimiter": ",", "strict": True},
    "tsv": {"delimiter": "\t", "quoting": csv.QUOTE_NONE},
}


@dataclass(frozen=True)
class Table:
    """A file of rows, the columns wanted of it, and what becomes of malformed rows.

    Columns are named, or counted from 0 where a csv or tsv file has no header; `label` is None
    where no labels are wanted. The meter, if there is one, is told how far the file is read.
    """

    path: str | Path
    text: str | int
    label: str | int | None
    encoding: str
    bad_rows: BadRows
    meter: Meter | None = None


def read_csv_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of comma-separated values; a field in double quotes may hold anything."""
    return _read_delimited_rows(table, "csv")


def read_tsv_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of tab-separated values; quotes are characters like any other."""
    return _read_delimited_rows(table, "tsv")


def read_jsonl_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of a file with one JSON object on each line."""
    with open_text(table.path, table.encoding, meter=table.meter) as stream:
        for number, record in read_objects(stream, table.bad_rows):
            try:
                row = number, pick(record, table.text), pick(record, table.label)
            except MalformedRow as problem:
                table.bad_rows.report(problem, number)
            else:
                yield row


def read_parquet_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of a parquet file, which is always in UTF-8."""
    for number, (text, label) in enumerate(_read_parquet_cells(table), 1):
        yield number, text, label


ROW_READERS: dict[str, Callable[[Table], Iterator[Row]]] = {
    "csv": read_csv_rows,
    "tsv": read_tsv_rows,
    "jsonl": read_jsonl_rows,
    "parquet": read_parquet_rows,
}


def read_delimited(
    table: Table, lines: Iterable[str], format: str, *, has_header: bool
) -> tuple[list[str], Records]:
    """Split lines into fields; return the row that says which columns there are, and the records.

    The records are the rows of data with as many fields as there are columns, each with the line
    on which it starts.

    Examples
    --------
    >>> table = Table("tickets.csv", "body", None, "utf-8", BadRows("tickets.csv", "raise"))
    >>> header, records = read_delimited(table, ["id,body", '7,"a,b"'], "csv", has_header=True)
    >>> header, list(records)
    (['id', 'body'], [(2, ['7', 'a,b'])])
    """
    first, records = _read_first(split_fields(lines, format), table, has_header)
    return first, _keep_full(records, len(first), table.bad_rows)


def split_fields(lines: Iterable[str], format: str) -> Any:
    """Return the rows of csv or tsv, as the standard library splits them.

    Examples
    --------
    >>> list(split_fields(['7,"a,b"'], "csv"))
    [['7', 'a,b']]
    """
    csv.field_size_limit(max(_LONGEST_FIELD, csv.field_size_limit()))
    return csv.reader(lines, **_DIALECTS[format])


def read_objects(
    lines: Iterable[str], bad_rows: BadRows
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the JSON object on each line that is not blank, with the number of the line.

    Examples
    --------
    >>> list(read_objects(['{"id": 7}', " ", '{"id": 8}'], BadRows("tickets.jsonl", "raise")))
    [(1, {'id': 7}), (3, {'id': 8})]
    """
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            record = _parse_object(line)
        except MalformedRow as problem:
            bad_rows.report(problem, number)
        else:
            yield number, record


def find_column(path: str | Path, column: str | int, first: Sequence[str]) -> int:
    """Find a column by its name in the first row, or by its position.

    Examples
    --------
    >>> find_column("tickets.csv", "body", ["id", "body"])
    1
    """
    if isinstance(column, int):
        if column < len(first):
            return column
        raise CorpusError(path, f"there is no column {column}; the last is {len(first) - 1}")
    if first.count(column) == 1:
        return first.index(column)
    number = "more than one" if column in first else "no"
    problem = f"there is {number} column {quote(column)}; the columns are {quote_all(first)}"
    raise CorpusError(path, problem)


def pick(record: dict[str, object], column: str | int | None) -> object:
    """Return what an object holds under a key, None where nothing is wanted.

    Examples
    --------
    >>> pick({"id": 7, "body": "Late"}, "body")
    'Late'
    """
    if column is None:
        return None
    if column not in record:
        raise MalformedRow(f"there is no '{column}'; the keys are {quote_all(list(record))}")
    return record[str(column)]


def check_text(cell: object) -> str:
    """Return a cell that is a text, and raise where it is none.

    Examples
    --------
    >>> check_text("Late")
    'Late'
    """
    if cell is None:
        raise MalformedRow("the text is missing")
    if not isinstance(cell, str):
        raise MalformedRow(f"the text is not a string but of type {type(cell).__name__}")
    return cell


def _read_delimited_rows(table: Table, format: str) -> Iterator[Row]:
    has_header = isinstance(table.text, str)
    with open_text(table.path, table.encoding, meter=table.meter) as stream:
        first, records = read_delimited(table, stream, format, has_header=has_header)
        if not first:
            return
        text = find_column(table.path, table.text, first)
        label = None if table.label is None else find_column(table.path, table.label, first)
        for number, record in records:
            yield number, record[text], None if label is None else record[label]


def _read_first(reader: Any, table: Table, has_header: bool) -> tuple[list[str], Records]:
    """Return the row that says which columns there are, and an iterator over the rows of data."""
    records = _read_records(reader, table.bad_rows)
    if has_header:
        # A header cannot be skipped.
        _, header = next(_read_records(reader, BadRows(table.path, "raise")), (1, []))
        return header, records
    for first in records:
        return first[1], chain([first], records)
    return [], records


def _read_records(reader: Any, bad_rows: BadRows) -> Records:
    """Yield the fields of each row that is not blank, with the line on which it starts."""
    while True:
        number = reader.line_num + 1
        try:
            record = next(reader, None)
        except csv.Error as error:
            problem = f"the row cannot be split into fields ({error}); check its quotes"
            bad_rows.report(problem, number)
            continue
        if record is None:
            return
        if record:
            yield number, record


def _keep_full(records: Records, width: int, bad_rows: BadRows) -> Records:
    """Yield the records that have a field for each column, and report the others."""
    for number, record in records:
        if len(record) != width:
            problem = f"the number of fields is {len(record)} here and {width} above"
            bad_rows.report(problem, number)
        else:
            yield number, record


def _parse_object(line: str) -> dict[str, object]:
    try:
        record = json.loads(line.rstrip("\r\n"))
        # JSON can spell half a surrogate pair, which no encoding can write out again.
        if "\\ud" in line or "\\uD" in line:
            json.dumps(record, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        problem = f"the line is not valid JSON ({error.msg} at character {error.colno})"
        raise MalformedRow(problem) from None
    except (ValueError, RecursionError):
        raise MalformedRow("the line is not valid JSON") from None
    if not isinstance(record, dict):
        raise MalformedRow("the line is not a JSON object")
    return record


def _read_parquet_cells(table: Table) -> Iterator[tuple[object, object]]:
    from spokeshave.corpus.parquet import read_slices, scan

    with scan(table.path) as lazy:
        columns = [str(column) for column in (table.text, table.label) if column is not None]
        for column in columns:
            find_column(table.path, column, lazy.collect_schema().names())
        for rows in read_slices(lazy.select(set(columns)), _ROWS_PER_SLICE, table.meter):
            texts, *labels = [rows.get_column(column).to_list() for column in columns]
            yield from zip(texts, labels[0] if labels else repeat(None), strict=False)
