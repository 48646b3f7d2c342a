"""Tables written a few rows at a time: the rows of another table, with new columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO

from spokeshave.corpus.batches import Batch
from spokeshave.corpus.streams import Stream
from spokeshave.corpus.targets import choose_format, is_piped, open_target
from spokeshave.corpus.wording import quote
from spokeshave.corpus.writers import (
    Added,
    DelimitedWriter,
    ObjectWriter,
    Writer,
    join_csv,
    join_tsv,
)
from spokeshave.errors import CorpusError


class Sink:
    """A table that is written a few rows at a time.

    Attributes
    ----------
    rows : int
        How many rows were written so far.
    """

    def __init__(self, writer: Writer, stream: Stream, prefix: str, pipe: IO[bytes] | None) -> None:
        self._writer, self._stream, self._prefix, self._pipe = writer, stream, prefix, pipe
        self._names: tuple[str, ...] | None = None
        self.rows = 0

    def write(self, batch: Batch, added: Added) -> None:
        """Write the rows of a batch.

        Parameters
        ----------
        batch : Batch
            Rows of the stream.
        added : dict of list or of array
            The values of each new column by its name, which gets the prefix; the same names every
            time. An array of numbers tells its type even where there are no rows.
        """
        new = {f"{self._prefix}{name}": values for name, values in added.items()}
        self._check_names(batch, new)
        self._check_values(batch, new)
        self._writer.write(batch, new)
        if self._pipe is not None:
            self._pipe.flush()
        self.rows += len(batch)

    def _check_names(self, batch: Batch, new: Added) -> None:
        for name in new:
            if name in batch.columns:
                problem = f"there is a column {quote(name)} already; pass another prefix"
                raise CorpusError(self._stream.name, problem, batch.locate(name))

    def _check_values(self, batch: Batch, new: Added) -> None:
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
def open_sink(
    target: str | Path | None, stream: Stream, *, format: str | None = None, prefix: str = ""
) -> Iterator[Sink]:
    r"""Open a table to write the rows of a stream to, with new columns after theirs.

    A file is written whole or not at all: what had its name before is kept until everything is
    written. Standard output gets the rows of each batch at once, except in parquet. All is in
    UTF-8.

    In csv and tsv, a missing value is an empty cell, and what is not a string is written as JSON
    spells it. They have a header unless the source is csv or tsv without one. A tab or a line end
    cannot be written as tsv, and is an error. In csv, tsv and parquet the first batch settles the
    columns: a row of jsonl that has another is an error, and one that lacks some has them empty.

    In parquet, the columns of a parquet file keep their types, and those of csv, tsv and text are
    strings. In those of jsonl, the first batch settles the type; an object is a string of JSON. In
    jsonl, a number that is not finite is null, and dates and times are strings in ISO format.

    Parameters
    ----------
    target : str, Path or None
        A file, which is compressed where its name ends in .gz, .bz2 or .xz; '-' or None is standard
        output.
    stream : Stream
        Where the rows come from.
    format : {'csv', 'tsv', 'jsonl', 'parquet'}, optional
        The format. By default the one that the name of the file tells, otherwise that of the
        stream, and csv for plain text.
    prefix : str
        What the names of the new columns begin with.

    Yields
    ------
    sink : Sink
        What to write each batch to.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from spokeshave.corpus.streams import open_stream
    >>> with TemporaryDirectory() as folder:
    ...     source, target = Path(folder, "tickets.csv"), Path(folder, "queues.jsonl")
    ...     _ = source.write_text("id,body\n7,Black\n8,Late\n")
    ...     with (
    ...         open_stream(source, format="csv", text="body") as stream,
    ...         open_sink(target, stream, prefix="predicted_") as sink,
    ...     ):
    ...         for batch in stream:
    ...             sink.write(batch, {"length": [len(text) for text in batch.texts]})
    ...     print(target.read_text(), end="")
    {"id": "7", "body": "Black", "predicted_length": 5}
    {"id": "8", "body": "Late", "predicted_length": 4}
    """
    format = choose_format(target, format, stream.format)
    with (
        open_target(target, format) as output,
        _open_writer(format, output, stream, target) as writer,
    ):
        yield Sink(writer, stream, prefix, output if is_piped(target) else None)


def _open_writer(
    format: str, output: IO[bytes], stream: Stream, target: str | Path | None
) -> AbstractContextManager[Writer]:
    if format == "parquet":
        from spokeshave.corpus.parquet_writer import open_parquet_writer

        folder = None if is_piped(target) else Path(str(target)).parent
        return open_parquet_writer(output, stream, folder)
    if format == "jsonl":
        return nullcontext(ObjectWriter(output, stream))
    join = join_csv if format == "csv" else join_tsv
    return nullcontext(DelimitedWriter(output, stream, join))
