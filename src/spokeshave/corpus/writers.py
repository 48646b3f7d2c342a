"""Batches of rows, with new columns for them, written as lines of csv, tsv or jsonl."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any, Protocol, TypeAlias

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.batches import Batch, list_values
from spokeshave.corpus.json_text import to_cell, to_json
from spokeshave.corpus.streams import Stream
from spokeshave.corpus.wording import quote
from spokeshave.errors import CorpusError

Added: TypeAlias = Mapping[str, Any]

_QUOTED_IN_CSV = re.compile(r'[",\r\n]')
_UNFIT_FOR_TSV = re.compile(r"[\t\r\n]")


class Writer(Protocol):
    """What writes batches, each with the values of the new columns by their names."""

    def write(self, batch: Batch, added: Added) -> None:
        """Write the rows of a batch."""


class FixedColumns:
    """The columns of a table whose rows all have the same, which the first batch settles.

    Examples
    --------
    >>> from spokeshave.corpus.batches import ObjectBatch
    >>> columns = FixedColumns("tickets.jsonl")
    >>> _ = columns.align(ObjectBatch(("id", "body"), [1], ["Late"], [{"id": 7, "body": "Late"}]))
    >>> columns.align(ObjectBatch(("body",), [2], ["Lost"], [{"body": "Lost"}])).list_rows()
    [[None, 'Lost']]
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.columns: tuple[str, ...] | None = None

    def align(self, batch: Batch) -> Batch:
        """Return a batch with these columns, and raise where it has others besides."""
        if self.columns is None:
            self.columns = batch.columns
        known = set(self.columns)
        new = [column for column in batch.columns if column not in known]
        if new:
            problem = f"the key {quote(new[0])} is not in the first rows, which settle the columns"
            raise CorpusError(self._name, f"{problem}; write jsonl instead", batch.locate(new[0]))
        return replace(batch, columns=self.columns)


class DelimitedWriter:
    """Writes csv or tsv, with a header where the source has one.

    Parameters
    ----------
    output : binary file
        What is written to, in UTF-8.
    stream : Stream
        Where the rows come from.
    join : callable
        Makes a line of cells: `join_csv` or `join_tsv`.
    """

    def __init__(
        self, output: IO[bytes], stream: Stream, join: Callable[[Sequence[str]], str]
    ) -> None:
        self._output, self._stream, self._join = output, stream, join
        self._fixed = FixedColumns(stream.name)

    def write(self, batch: Batch, added: Added) -> None:
        """Write the rows of a batch, and the header before the first."""
        if self._fixed.columns is None and self._stream.has_header:
            self._write_lines([1], [[*batch.columns, *added]])
        batch = self._fixed.align(batch)
        rows = zip(batch.list_rows(), _list_added(batch, added), strict=True)
        self._write_lines(batch.numbers, ([*old, *new] for old, new in rows))

    def _write_lines(self, numbers: Sequence[int], rows: Iterable[Sequence[Any]]) -> None:
        lines = _spell(rows, numbers, self._spell_row, self._stream)
        self._output.write("".join(lines).encode())

    def _spell_row(self, row: Sequence[Any]) -> str:
        return self._join([to_cell(value) for value in row])


class ObjectWriter:
    """Writes jsonl.

    Parameters
    ----------
    output : binary file
        What is written to, in UTF-8.
    stream : Stream
        Where the rows come from.
    """

    def __init__(self, output: IO[bytes], stream: Stream) -> None:
        self._output, self._stream = output, stream

    def write(self, batch: Batch, added: Added) -> None:
        """Write the rows of a batch."""
        require_distinct(batch.columns, self._stream.name)
        new = (dict(zip(added, row, strict=True)) for row in _list_added(batch, added))
        rows = zip(batch.list_objects(), new, strict=True)
        objects = ({**old, **new} for old, new in rows)
        lines = _spell(objects, batch.numbers, to_json, self._stream)
        self._output.write("".join(lines).encode())


def join_csv(cells: Sequence[str]) -> str:
    r"""Make a line of csv; what holds a comma, a quote or a line end is quoted.

    Examples
    --------
    >>> join_csv(["7", "Late, again", ""])
    '7,"Late, again",'
    """
    # A row that is one empty cell would be a blank line.
    return ",".join(map(_quote_cell, cells)) or '""'


def join_tsv(cells: Sequence[str]) -> str:
    r"""Make a line of tsv, which has no quotes and so cannot hold every text.

    Examples
    --------
    >>> join_tsv(["7", 'Late, "again"', ""])
    '7\tLate, "again"\t'
    """
    if any(map(_UNFIT_FOR_TSV.search, cells)):
        problem = "there is a tab or a line end in a cell, which tsv cannot hold"
        raise MalformedRow(f"{problem}; write csv or jsonl instead")
    return "\t".join(cells)


def require_distinct(columns: Sequence[str], name: str) -> None:
    """Raise where two columns have the same name, as only csv and tsv allow."""
    repeated = [column for column, count in Counter(columns).items() if count > 1]
    if repeated:
        problem = f"there is more than one column {quote(repeated[0])}; write csv or tsv instead"
        raise CorpusError(name, problem)


def _quote_cell(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _QUOTED_IN_CSV.search(cell) else cell


def _list_added(batch: Batch, added: Added) -> Iterable[tuple[Any, ...]]:
    """List the new cells of each row."""
    return zip(*map(list_values, added.values()), strict=True) if added else [()] * len(batch)


def _spell(
    rows: Iterable[Any], numbers: Sequence[int], spell: Callable[[Any], str], stream: Stream
) -> Iterator[str]:
    for number, row in zip(numbers, rows, strict=True):
        try:
            yield f"{spell(row)}\n"
        except MalformedRow as problem:
            stream.refuse(problem, number)
