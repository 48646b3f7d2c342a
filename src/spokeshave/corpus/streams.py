"""Tables of texts read a few rows at a time, with all their cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from spokeshave.corpus.bad_rows import BadRows, name_unit
from spokeshave.corpus.batch_readers import PIPE, READERS, Input
from spokeshave.corpus.batches import Batch
from spokeshave.corpus.files import require_file
from spokeshave.corpus.rows import Table


@dataclass(frozen=True)
class Stream:
    """A table of texts that is read a few rows at a time, once; iterate over it for the batches.

    Attributes
    ----------
    name : str
        The name of the file, or 'standard input'.
    format : {'csv', 'tsv', 'jsonl', 'parquet', 'text'}
        Its format.
    has_header : bool
        Whether the columns have names; otherwise they are called by their positions from '0' up.
    columns : tuple of str
        The columns; in jsonl, where every row may bring others, those of the first batch.
    """

    name: str
    format: str
    has_header: bool
    columns: tuple[str, ...]
    _batches: Iterator[Batch]
    _bad_rows: BadRows

    def __iter__(self) -> Iterator[Batch]:
        return self._batches

    @property
    def skipped(self) -> int:
        """Count the malformed rows that were left out so far."""
        return self._bad_rows.skipped

    def refuse(self, problem: object, number: int) -> None:
        """Raise a problem with the row of that number."""
        BadRows(self.name, "raise", name_unit(self.format)).report(problem, number)


@contextmanager
def open_stream(
    source: str | Path,
    *,
    format: str,
    text: str | int = "text",
    has_header: bool = True,
    encoding: str = "utf-8",
    bad_rows: str = "raise",
    batch_size: int = 1_000,
) -> Iterator[Stream]:
    r"""Open a table of texts, to be read a few rows at a time and written with new columns.

    No more than about `batch_size` rows and 4 million characters are in memory, and of a parquet
    file about 10,000 rows, or one of its groups of rows. Blank lines are ignored, except in plain
    text, where each is a text without characters.

    Parameters
    ----------
    source : str or Path
        A file, plain or compressed as its name tells (.gz, .bz2, .xz, .zip), or '-' for standard
        input, plain or compressed as its first bytes tell (gzip, bz2, xz).
    format : {'csv', 'tsv', 'jsonl', 'parquet', 'text'}
        The format. Plain text holds one document on each line, which ends with a line feed or
        with a carriage return and a line feed; its one column is 'text'.
    text : str or int
        The column of texts: its name, or in csv and tsv its position from 0.
    has_header : bool
        Whether the first row of csv or tsv names the columns; otherwise their names are '0', '1'
        and so on.
    encoding : str
        The encoding of anything but parquet.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row, or one without a text, is an error, or is left out and counted.
    batch_size : int
        How many rows to read at a time.

    Yields
    ------
    stream : Stream
        The rows in batches, in their order; at least one batch, without rows where there are none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("id,body\n7,Black\n8,Late\n9,Lost\n")
    ...     with open_stream(path, format="csv", text="body", batch_size=2) as stream:
    ...         for batch in stream:
    ...             print(batch.take("id"), batch.texts)
    ['7', '8'] ['Black', 'Late']
    ['9'] ['Lost']
    """
    _check(format, text, batch_size)
    name = _name_source(source)
    troubles = BadRows(name, bad_rows, name_unit(format))
    table = Table(name, text, None, encoding, troubles)
    batches = READERS[format](Input(source, format, table, has_header, batch_size))
    try:
        first = next(batches)
        names = has_header or format not in ("csv", "tsv")
        yield Stream(name, format, names, first.columns, chain([first], batches), troubles)
    finally:
        batches.close()


def _check(format: object, text: object, batch_size: object) -> None:
    if format not in READERS:
        choices = ", ".join(map(repr, READERS))
        raise ValueError(f"format must be one of {choices}. Got {format!r} instead.")
    is_position = isinstance(text, int) and text >= 0 and format in ("csv", "tsv")
    if not is_position and not isinstance(text, str):
        raise ValueError(f"text must be the name of a column in {format}. Got {text!r} instead.")
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a positive integer. Got {batch_size!r} instead.")


def _name_source(source: str | Path) -> str:
    if str(source) == PIPE:
        from spokeshave.corpus.standard_input import NAME

        return NAME
    require_file(source)
    return str(source)
