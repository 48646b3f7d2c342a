"""A sample of a table: its first rows, and the names of its columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spokeshave.corpus.column_names import PREFERENCES, Column, find_preferred, show_column
from spokeshave.corpus.files import explain_damage, open_text, require_file, require_lasting
from spokeshave.corpus.rows import split_fields
from spokeshave.corpus.wording import quote_all
from spokeshave.errors import CorpusError, NoDocumentsError

_LONGEST_NAME = 60
_MOST_ROWS = 100


@dataclass(frozen=True)
class Sample:
    """The first rows of a table.

    Attributes
    ----------
    path : str or Path
        The table.
    names : list of str or None
        The names of its columns; None where there is no header.
    rows : list of list
        The cells of the first rows that have one for each column.

    Examples
    --------
    >>> sample = Sample("tickets.csv", ["id", "body"], [["7", "Late"]])
    >>> sample.locate("body"), sample.spell(1), sample.describe()
    (1, 'body', "the columns are 'id', 'body'")
    """

    path: str | Path
    names: list[str] | None
    rows: list[list[Any]]

    @property
    def width(self) -> int:
        """Count the columns."""
        return len(self.rows[0] if self.names is None else self.names)

    def spell(self, place: int) -> Column:
        """Return the name of a column, or its position where there are no names."""
        return place if self.names is None else self.names[place]

    def locate(self, column: Column) -> int:
        """Return the position of a column; a number may be its name all the same."""
        if self.names and str(column) in self.names:
            return self.names.index(str(column))
        if isinstance(column, int) and 0 <= column < self.width:
            return column
        raise CorpusError(self.path, f"there is no {show_column(column)}; {self.describe()}")

    def describe(self) -> str:
        """Say which columns there are."""
        if self.names is None:
            return f"there is no header, and the columns are 0 to {self.width - 1}"
        return f"the columns are {quote_all(self.names)}"


def read_sample(
    path: str | Path,
    format: str,
    encoding: str = "utf-8",
    known: Collection[Column | None] = (),
) -> Sample:
    r"""Read the first rows of a table, which must not be a pipe.

    Parameters
    ----------
    path : str or Path
        The table.
    format : {'csv', 'tsv', 'jsonl', 'parquet'}
        Its format.
    encoding : str
        Its encoding.
    known : collection of str, int or None
        The columns that were told, by whose kind a header may be known.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("queue,body\ndisplay,Black\nparcel,Late\n")
    ...     sample = read_sample(path, "csv")
    >>> sample.names, sample.rows
    (['queue', 'body'], [['display', 'Black'], ['parcel', 'Late']])
    """
    require_file(path)
    require_lasting(path)
    if format == "parquet":
        return _sample_parquet(path)
    if format == "jsonl":
        return _sample_jsonl(path, encoding)
    first, *records = _read_records(path, format, encoding)
    rows = [record for record in records if len(record) == len(first)]
    if not _is_header(first, rows, known):
        return Sample(path, None, [first, *rows])
    _require_rows(path, records)
    return Sample(path, first, rows)


def _read_records(path: str | Path, format: str, encoding: str) -> list[list[str]]:
    """Read the first rows, up to one that cannot be split into fields."""
    records: list[list[str]] = []
    with open_text(path, encoding) as stream:
        rows = filter(None, split_fields(stream, format))
        try:
            for record in islice(rows, 1 + _MOST_ROWS):
                records.append(record)
        except csv.Error as error:
            problem = f"the row cannot be split into fields ({error}); check its quotes"
            if not records:
                raise CorpusError(path, problem, line=1) from None
    _require_rows(path, records)
    return records


def _is_header(first: list[str], rows: list[list[str]], known: Collection[Column | None]) -> bool:
    is_named = all(find_preferred(first, names) for names in PREFERENCES.values())
    if is_named or any(isinstance(column, str) for column in known):
        return True
    repeated = [cell for place, cell in enumerate(first) if any(row[place] == cell for row in rows)]
    unique = [cell for cell in first if cell not in repeated]
    if any(find_preferred(unique, names) for names in PREFERENCES.values()):
        return True
    if any(map(str.strip, repeated)) or max(map(len, first)) > _LONGEST_NAME:
        return False
    # Positions are for files without a header, so it takes more to think that there is one.
    return not any(isinstance(column, int) for column in known)


def _sample_jsonl(path: str | Path, encoding: str) -> Sample:
    with open_text(path, encoding) as stream:
        records = list(islice(filter(None, map(_parse_object, stream)), _MOST_ROWS))
    if not records:
        raise CorpusError(path, "there is no JSON object on any line; write one on each line")
    names = list(dict.fromkeys(chain.from_iterable(records)))
    return Sample(path, names, [[record.get(name) for name in names] for record in records])


def _parse_object(line: str) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        record = json.loads(line)
        return record if isinstance(record, dict) else None
    return None


def _sample_parquet(path: str | Path) -> Sample:
    from spokeshave.corpus.parquet import scan

    with explain_damage(path), scan(path) as table:
        rows = table.head(_MOST_ROWS).collect()
    return Sample(path, rows.columns, list(map(list, rows.rows())))


def _require_rows(path: str | Path, rows: Sequence[object]) -> None:
    if not rows:
        raise NoDocumentsError(path, "there are no documents in it")
