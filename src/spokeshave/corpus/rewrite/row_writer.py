"""Tables written in batches: the rows of another table, with new columns."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from spokeshave.corpus.files import strip_compression
from spokeshave.corpus.options import TABLES, quote
from spokeshave.corpus.rewrite.line_writer import Added, DelimitedWriter, ObjectWriter, Writer
from spokeshave.corpus.rewrite.row_reader import RowBatch, RowReader
from spokeshave.corpus.sniff import name_format
from spokeshave.errors import CorpusError
from spokeshave.utils.atomic import open_atomic
from spokeshave.utils.formatting import escape


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
        yield _open_standard_output(format)
        return
    path = Path(str(target))
    _check_end(path, format)
    with _open_file(path) as stream, _compress(stream, path.suffix.lower()) as output:
        yield output


def _open_standard_output(format: str) -> Any:
    if sys.stdout is None:
        raise ValueError("standard output is closed; name a file to write")
    if not sys.stdout.isatty():
        return sys.stdout.buffer
    if format == "parquet":
        raise ValueError("parquet is not for a terminal; name a file to write")
    return EscapingOutput(sys.stdout.buffer)


class EscapingOutput:
    r"""A terminal that shows the lines of a table; control characters in them are escaped.

    A pipe or a file gets every cell as it is.

    Examples
    --------
    >>> from io import BytesIO
    >>> terminal = BytesIO()
    >>> _ = EscapingOutput(terminal).write(b"\x1b[2Jash,oak\n")
    >>> terminal.getvalue()
    b'\\u001b[2Jash,oak\n'
    """

    def __init__(self, terminal: IO[bytes]) -> None:
        self._terminal = terminal

    def write(self, lines: bytes) -> int:
        """Write whole lines in UTF-8."""
        return self._terminal.write(escape(lines.decode(), keep_lines=True).encode())

    def flush(self) -> None:
        """Show what was written."""
        self._terminal.flush()


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
