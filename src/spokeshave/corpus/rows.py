"""The rows of each format of table, as the two cells that hold text and label.

The readers yield ``(number, text, label)`` for every row that has both cells, whatever is in them,
and report the others. None holds more than a few thousand rows in memory.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus.bad_rows import BadRows, MalformedRow
from spokeshave.corpus.files import open_text
from spokeshave.corpus.wording import quote, quote_all
from spokeshave.errors import CorpusError

Row: TypeAlias = tuple[int, object, object]

# No document is longer: a field that is has lost its closing quote and would swallow the file.
_LONGEST_FIELD = 2**27

_ROWS_PER_SLICE = 10_000


@dataclass(frozen=True)
class Table:
    """A file of rows, the columns wanted of it, and what becomes of malformed rows.

    Columns are named, or counted from 0 where a csv or tsv file has no header; `label` is None
    where no labels are wanted.
    """

    path: str | Path
    text: str | int
    label: str | int | None
    encoding: str
    bad_rows: BadRows


def read_csv_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of comma-separated values; a field in double quotes may hold anything."""
    return _read_delimited_rows(table, delimiter=",", strict=True)


def read_tsv_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of tab-separated values; quotes are characters like any other."""
    return _read_delimited_rows(table, delimiter="\t", quoting=csv.QUOTE_NONE)


def read_jsonl_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of a file with one JSON object on each line."""
    with open_text(table.path, table.encoding) as stream:
        for number, line in enumerate(stream, 1):
            if line.isspace():
                continue
            try:
                record = _parse_object(line)
                row = number, _pick(record, table.text), _pick(record, table.label)
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


def _read_delimited_rows(table: Table, **dialect: Any) -> Iterator[Row]:
    csv.field_size_limit(max(_LONGEST_FIELD, csv.field_size_limit()))
    with open_text(table.path, table.encoding) as stream:
        reader = csv.reader(stream, **dialect)
        first, records = _read_first(reader, table)
        if not first:
            return
        text = _find_column(table.path, table.text, first)
        label = None if table.label is None else _find_column(table.path, table.label, first)
        for number, record in records:
            if len(record) != len(first):
                problem = f"the number of fields is {len(record)} here and {len(first)} above"
                table.bad_rows.report(problem, number)
            else:
                yield number, record[text], None if label is None else record[label]


def _read_first(reader: Any, table: Table) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the row that says which columns there are, and an iterator over the rows of data."""
    records = _read_records(reader, table.bad_rows)
    if isinstance(table.text, str):
        # A header cannot be skipped.
        _, header = next(_read_records(reader, BadRows(table.path, "raise")), (1, []))
        return header, records
    for first in records:
        return first[1], chain([first], records)
    return [], records


def _read_records(reader: Any, bad_rows: BadRows) -> Iterator[tuple[int, list[str]]]:
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


def _find_column(path: str | Path, column: str | int, first: Sequence[str]) -> int:
    """Find a column by its name in the first row, or by its position."""
    if isinstance(column, int):
        if column < len(first):
            return column
        raise CorpusError(path, f"there is no column {column}; the last is {len(first) - 1}")
    if first.count(column) == 1:
        return first.index(column)
    number = "more than one" if column in first else "no"
    problem = f"there is {number} column {quote(column)}; the columns are {quote_all(first)}"
    raise CorpusError(path, problem)


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


def _pick(record: dict[Any, object], column: str | int | None) -> object:
    if column is None:
        return None
    if column not in record:
        raise MalformedRow(f"there is no '{column}'; the keys are {quote_all(list(record))}")
    return record[column]


def _read_parquet_cells(table: Table) -> Iterator[tuple[object, object]]:
    import polars

    try:
        lazy = polars.scan_parquet(table.path, glob=False)
        columns = [str(column) for column in (table.text, table.label) if column is not None]
        for column in columns:
            _find_column(table.path, column, lazy.collect_schema().names())
        height = lazy.select(polars.len()).collect().item()
        for start in range(0, height, _ROWS_PER_SLICE):
            rows = lazy.select(set(columns)).slice(start, _ROWS_PER_SLICE).collect()
            texts, *labels = [rows.get_column(column).to_list() for column in columns]
            yield from zip(texts, labels[0] if labels else repeat(None), strict=False)
    except polars.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise CorpusError(table.path, f"it cannot be read as parquet ({reason})") from None
