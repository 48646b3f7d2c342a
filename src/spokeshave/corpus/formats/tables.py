"""Tables of labelled texts: csv, tsv, jsonl and parquet."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spokeshave.corpus import limits
from spokeshave.corpus.documents import Texts, TypedLabel, name_labels
from spokeshave.corpus.encoding import UTF_8
from spokeshave.corpus.files import Progress, open_text, require_file, strip_compression
from spokeshave.corpus.formats.columns import (
    explain_fields,
    guess_columns,
    is_unclosed,
    split_fields,
)
from spokeshave.corpus.options import (
    TABLES,
    BadRows,
    Column,
    MalformedRow,
    SourceOptions,
    check_batch_size,
    mark_guess,
    name_unit,
    quote,
    quote_all,
    show_column,
)
from spokeshave.corpus.reader import Reader, Text
from spokeshave.corpus.stdin import STDIN, open_piped_text
from spokeshave.errors import CorpusError

Records: TypeAlias = Iterator[tuple[int, Any]]
Selected: TypeAlias = tuple[int, Any, str, "TypedLabel | None"]


def read_texts(
    path: str | Path,
    *,
    text: Column = "text",
    label: Column | None = "label",
    label_separator: str | None = None,
    format: str | None = None,
    encoding: str = UTF_8,
    bad_rows: str = "raise",
    batch_size: int = limits.TABLE_BATCH_SIZE,
) -> Iterator[Texts]:
    r"""Read a table of texts in batches, so that it may be larger than memory.

    Blank lines are ignored. In csv, a field in double quotes may contain commas and line ends. In
    tsv, quotes are ordinary characters.

    Parameters
    ----------
    path : str or Path
        A csv, tsv or jsonl file, plain or compressed (.gz, .bz2, .xz, .zip), or a parquet file.
    text : str or int
        The column of texts: its name, or its position from 0 in a csv or tsv file without a header.
    label : str, int or None
        The column of labels, in the same way; None reads no labels.
    label_separator : str or None
        The separator of labels in the cells of a multilabel table. Each label is then a tuple,
        empty for an empty cell. A list in jsonl or parquet is a tuple without it.
    format : {'csv', 'tsv', 'jsonl', 'parquet'}, optional
        The format; by default inferred from the name of the file.
    encoding : str
        The encoding of a csv, tsv or jsonl file.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is skipped and counted.
    batch_size : int
        The number of documents to hold at a time.

    Yields
    ------
    batch : Texts
        Up to `batch_size` documents, and the number of rows skipped since the previous batch.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("queue,body\ndisplay,Black\nparcel,Late\nparcel,Lost\n")
    ...     for batch in read_texts(path, text="body", label="queue", batch_size=2):
    ...         print(batch.texts, batch.labels)
    ['Black', 'Late'] ['display', 'parcel']
    ['Lost'] ['parcel']
    """
    require_file(path)
    check_batch_size(batch_size)
    parser = LabelParser(label_separator)
    format = _check_format(format, path)
    _check_columns(text, label, format)
    problems = BadRows(path, bad_rows, name_unit(format))
    table = Table(path, str(path), format, text, label, encoding, problems)
    return _read_batches(table, read_documents(table, parser), batch_size)


def load_texts(
    path: str | Path,
    *,
    text: Column = "text",
    label: Column | None = "label",
    label_separator: str | None = None,
    format: str | None = None,
    encoding: str = UTF_8,
    bad_rows: str = "raise",
) -> Texts:
    """Read a whole table of texts into memory.

    The parameters are those of `read_texts`.

    Returns
    -------
    texts : Texts
        All documents, and the number of rows skipped.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.jsonl")
    ...     _ = path.write_text('{"text": "Black", "label": ["display", "urgent"]}')
    ...     load_texts(path).labels
    [('display', 'urgent')]
    """
    [texts] = read_texts(
        path,
        text=text,
        label=label,
        label_separator=label_separator,
        format=format,
        encoding=encoding,
        bad_rows=bad_rows,
        batch_size=sys.maxsize,
    )
    return texts


class TableReader(Reader):
    r"""Read the texts of tables, whose columns are guessed from the first.

    The first document decides whether the tables are multilabel.
    """

    def __init__(self, sources: Sequence[SourceOptions], *, in_memory: bool = False) -> None:
        super().__init__(sources, in_memory=in_memory)
        options = self.options
        self.encoding = options.encoding or UTF_8
        columns = guess_columns(
            options.path, options.format, self.encoding, text=options.text, label=options.label
        )
        self.text, self.label = columns.text, columns.label
        self.guesses = [columns.reason]
        self.description = [
            options.format if columns.has_header else f"{options.format} without a header",
            f"text from {show_column(columns.text)}{mark_guess(options.text is None)}",
            f"label from {show_column(columns.label)}{mark_guess(options.label is None)}",
        ]
        self._label_kind: type | None = None
        first, *_ = [self.read_first(source, is_required=source is options) for source in sources]
        self.is_multilabel = isinstance(first[1], tuple)
        self._label_kind = _find_kind(first[1])

    def read(
        self, path: Path, part: str, bad_rows: BadRows, progress: Progress
    ) -> Generator[Text, None, None]:
        """Yield the text and the label of each row."""
        require_file(path)
        text: Any = self.text
        parser = LabelParser(self.options.label_separator, self._label_kind)
        return read_documents(
            Table(
                path,
                str(path),
                self.options.format,
                text,
                self.label,
                self.encoding,
                bad_rows,
                has_header=isinstance(text, str),
                progress=progress,
            ),
            parser,
        )


class LabelParser:
    """Turn cells into labels, all single or all tuples.

    Strings, whole numbers and truth values are single labels and keep their type, a list of them
    is a tuple.

    Parameters
    ----------
    separator : str or None
        The separator of labels in a cell; None if a cell has one label.
    kind : {str, tuple}, optional
        Whether all labels are single or tuples; by default as the first.

    Examples
    --------
    >>> LabelParser("|").parse("wheat|corn")
    ('wheat', 'corn')
    >>> LabelParser(None).parse(7)
    7
    """

    def __init__(self, separator: str | None, kind: type | None = None) -> None:
        if separator == "":
            raise ValueError("label_separator must be a character or more. Got '' instead.")
        self._separator, self._kind = separator, kind

    def parse(self, cell: object) -> TypedLabel:
        """Turn one cell into a label."""
        label = self._split(cell) if self._separator else _parse_cell(cell)
        self._kind = self._kind or _find_kind(label)
        if _find_kind(label) is not self._kind:
            raise MalformedRow("lists and single labels are mixed; give every row a list")
        return label

    def _split(self, cell: object) -> TypedLabel:
        if _is_blank(cell):
            return ()
        if isinstance(cell, str):
            return tuple(map(_parse_label, cell.split(self._separator)))
        return tuple(map(_parse_label, cell if isinstance(cell, list) else [cell]))


@dataclass(frozen=True)
class Table:
    """A file of rows, the columns to read, and the handling of malformed rows.

    Columns are names, or positions from 0 in a csv or tsv file without a header. The label is None
    if no labels are read. Errors call the source, which may be '-', by the name.
    """

    source: str | Path
    name: str
    format: str
    text: Column
    label: Column | None
    encoding: str
    bad_rows: BadRows
    has_header: bool | None = None
    progress: Progress | None = None

    def open(self) -> AbstractContextManager[TextIOWrapper]:
        """Open the source as text."""
        # In plain text a carriage return alone is part of a document.
        newline = "\n" if self.format == "text" else ""
        if str(self.source) == STDIN:
            return open_piped_text(self.encoding, newline)
        return open_text(self.source, self.encoding, progress=self.progress, newline=newline)


class Rows(NamedTuple):
    """The rows of a table.

    Attributes
    ----------
    columns : tuple of str
        The columns: names, positions if there is no header, none in jsonl.
    records : iterator of tuple
        The position of each row in its file, and its cells.
    find : callable
        Takes a column and returns a function that takes the cells of a row and returns the cell
        in that column.
    """

    columns: tuple[str, ...]
    records: Records
    find: Callable[[Column], Callable[[Any], object]]


def split_rows(table: Table, lines: Iterable[str]) -> Rows:
    """Split the lines of a csv, tsv, jsonl or text file into rows."""
    if table.format == "jsonl":
        return Rows((), _parse_objects(lines, table.bad_rows), lambda name: partial(_pick, name))
    if table.format == "text":
        numbered = ((number, [_strip_end(line)]) for number, line in enumerate(lines, 1))
        return Rows(("text",), numbered, lambda name: itemgetter(0))
    has_header = isinstance(table.text, str) if table.has_header is None else table.has_header
    reader = split_fields(lines, table.format)
    first, records = _read_first(reader, table, has_header)
    columns = tuple(first if has_header else map(str, range(len(first))))
    return Rows(columns, _keep_full(records, len(first), table.bad_rows), _find_in(table, columns))


def select_documents(table: Table, rows: Rows, parser: LabelParser) -> Iterator[Selected]:
    """Yield the position, the cells, the text and the label of each row that is well-formed."""
    get_text = rows.find(table.text)
    get_label = None if table.label is None else rows.find(table.label)
    for number, record in rows.records:
        try:
            text, cell = get_text(record), None if get_label is None else get_label(record)
            text = check_text(text)
            label = None if get_label is None else parser.parse(cell)
        except MalformedRow as problem:
            table.bad_rows.report(problem, number)
        else:
            yield number, record, text, label


def read_documents(table: Table, parser: LabelParser) -> Generator[Text, None, None]:
    """Yield the text of each row and its label, None if no labels are read."""
    with _open_rows(table) as rows:
        for _, _, text, label in select_documents(table, rows, parser):
            yield text, label


def find_column(path: str | Path, column: Column, columns: Sequence[str]) -> int:
    """Return the position of a column that is given by name or position."""
    if isinstance(column, int):
        if column < len(columns):
            return column
        raise CorpusError(path, f"there is no column {column}; the last is {len(columns) - 1}")
    if columns.count(column) == 1:
        return columns.index(column)
    number = "more than one" if column in columns else "no"
    problem = f"there is {number} column {quote(column)}; the columns are {quote_all(columns)}"
    raise CorpusError(path, problem)


def check_text(cell: object) -> str:
    """Return a cell that is a text, and raise if it is not."""
    if cell is None:
        raise MalformedRow("the text is missing")
    if not isinstance(cell, str):
        raise MalformedRow(f"the text is not a string but of type {type(cell).__name__}")
    return cell


@contextmanager
def _open_rows(table: Table) -> Iterator[Rows]:
    if table.format != "parquet":
        with table.open() as lines:
            yield split_rows(table, lines)
        return
    from spokeshave.corpus.formats.parquet import read_slices, scan

    with scan(table.source) as frame:
        names = frame.collect_schema().names()
        wanted = [str(column) for column in (table.text, table.label) if column is not None]
        for column in wanted:
            find_column(table.source, column, names)
        columns = tuple(dict.fromkeys(wanted))
        slices = read_slices(frame.select(columns), limits.ROWS_PER_SLICE, table.progress)
        records = enumerate(chain.from_iterable(rows.rows() for rows in slices), 1)
        yield Rows(columns, records, _find_in(table, columns))


def _find_in(table: Table, columns: Sequence[str]) -> Callable[[Column], Callable[[Any], object]]:
    # A file without rows has no columns to find.
    return lambda name: itemgetter(find_column(table.name, name, columns) if columns else 0)


def _pick(column: Column, record: dict[str, object]) -> object:
    if column not in record:
        raise MalformedRow(f"there is no '{column}'; the keys are {quote_all(list(record))}")
    return record[str(column)]


def _strip_end(line: str) -> str:
    return line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


def _read_first(reader: Any, table: Table, has_header: bool) -> tuple[list[str], Records]:
    """Return the row that determines the columns, and an iterator over the rows of data."""
    records = _read_records(reader, table.bad_rows)
    if has_header:
        # A header cannot be skipped.
        header_rows = _read_records(reader, BadRows(table.name, "raise", can_skip=False))
        _, header = next(header_rows, (1, []))
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
            if is_unclosed(error):
                bad_rows.fail(explain_fields(error), number)
            bad_rows.report(explain_fields(error), number, reader.line_num + 1 - number)
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


def _parse_objects(lines: Iterable[str], bad_rows: BadRows) -> Records:
    """Yield the JSON object on each line that is not blank, with the number of the line."""
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            record = _parse_object(line)
        except MalformedRow as problem:
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


def _find_kind(label: object) -> type:
    return tuple if isinstance(label, tuple) else str


def _parse_cell(cell: object) -> TypedLabel:
    return tuple(map(_parse_label, cell)) if isinstance(cell, list) else _parse_label(cell)


def _parse_label(cell: object) -> str | int:
    if _is_blank(cell):
        raise MalformedRow("the label is missing")
    if not isinstance(cell, str | int):
        problem = f"the label is of type {type(cell).__name__}, not a string or a whole number"
        raise MalformedRow(problem)
    return cell


def _is_blank(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _check_format(format: str | None, path: str | Path) -> str:
    choices = ", ".join(map(repr, TABLES))
    found = format or strip_compression(path).suffix.lower().removeprefix(".")
    if found in TABLES:
        return found
    if format is None:
        raise CorpusError(
            path, f"the name does not tell the format; pass as format one of {choices}"
        )
    raise ValueError(f"format must be one of {choices}. Got {format!r} instead.")


def _check_columns(text: object, label: object, format: str) -> None:
    columns = [text] if label is None else [text, label]
    if all(isinstance(column, str) for column in columns):
        return
    if format not in ("csv", "tsv"):
        raise ValueError(f"text and label must be names in {format}. Got {columns} instead.")
    if not all(isinstance(column, int) and column >= 0 for column in columns):
        problem = "text and label must both be names or both be positions from 0."
        raise ValueError(f"{problem} Got {columns} instead.")


def _read_batches(table: Table, documents: Iterator[Text], batch_size: int) -> Iterator[Texts]:
    first = list(islice(documents, 1))
    table.bad_rows.require_documents(len(first))
    documents = chain(first, documents)
    n_counted = 0
    # Rows skipped after the last document are counted by a batch without documents.
    while (batch := list(islice(documents, batch_size))) or table.bad_rows.skipped > n_counted:
        texts = [text for text, _ in batch]
        labels: Any = [label for _, label in batch]
        labels, label_type = (None, None) if table.label is None else name_labels(labels)
        n_skipped, n_counted = table.bad_rows.skipped - n_counted, table.bad_rows.skipped
        yield Texts(texts, labels, n_skipped, label_type)
