"""Tables of labelled texts: csv, tsv, jsonl and parquet, read in batches."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus.bad_rows import BadRows, MalformedRow, name_unit
from spokeshave.corpus.documents import Label, Texts
from spokeshave.corpus.files import require_file, strip_compression
from spokeshave.corpus.labels import LabelParser
from spokeshave.corpus.rows import ROW_READERS, Table, check_text
from spokeshave.errors import CorpusError

Document: TypeAlias = tuple[str, "Label | None"]


def read_texts(
    path: str | Path,
    *,
    text: str | int = "text",
    label: str | int | None = "label",
    label_separator: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    bad_rows: str = "raise",
    batch_size: int = 10_000,
) -> Iterator[Texts]:
    r"""Read a table of texts in batches, so that it may be larger than memory.

    Blank lines are ignored. In csv, a field in double quotes may hold commas and line ends; in
    tsv, quotes are ordinary characters.

    Parameters
    ----------
    path : str or Path
        A csv, tsv or jsonl file, plain or compressed (.gz, .bz2, .xz, .zip), or a parquet file.
    text : str or int
        The column of texts: its name, or its position from 0 where a csv or tsv file has no
        header.
    label : str, int or None
        The column of labels, likewise; None reads no labels.
    label_separator : str or None
        What stands between the labels of a document that may have several: each label is then a
        tuple, empty for an empty cell. A list in jsonl or parquet is a tuple without it.
    format : {'csv', 'tsv', 'jsonl', 'parquet'}, optional
        The format, where the file's name does not tell.
    encoding : str
        The encoding of a csv, tsv or jsonl file.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is left out and counted.
    batch_size : int
        How many documents to hold at a time.

    Yields
    ------
    batch : Texts
        Up to `batch_size` documents, and how many rows were skipped since the batch before.

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
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a positive integer. Got {batch_size!r} instead.")
    parser = LabelParser(label_separator)
    format = _check_format(format, path)
    _check_columns(text, label, format)
    table = Table(path, text, label, encoding, BadRows(path, bad_rows, name_unit(format)))
    return _read_batches(table, read_documents(table, format, parser), batch_size)


def load_texts(
    path: str | Path,
    *,
    text: str | int = "text",
    label: str | int | None = "label",
    label_separator: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    bad_rows: str = "raise",
) -> Texts:
    """Read a whole table of texts into memory.

    The parameters are those of `read_texts`.

    Returns
    -------
    texts : Texts
        All documents, and how many rows were skipped.

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
    batches = list(
        read_texts(
            path,
            text=text,
            label=label,
            label_separator=label_separator,
            format=format,
            encoding=encoding,
            bad_rows=bad_rows,
        )
    )
    texts = [text for batch in batches for text in batch.texts]
    labels: Any = [label for batch in batches for label in batch.labels or ()]
    skipped = sum(batch.skipped for batch in batches)
    return Texts(texts, None if label is None else labels, skipped)


def read_documents(
    table: Table, format: str, parser: LabelParser
) -> Generator[Document, None, None]:
    r"""Read a table one document at a time, with None for a label that is not wanted.

    Parameters
    ----------
    table : Table
        The file, its columns, and what becomes of malformed rows.
    format : {'csv', 'tsv', 'jsonl', 'parquet'}
        Its format.
    parser : LabelParser
        What turns cells into labels, of the kind of those it has turned before.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("queue,body\ndisplay,Black\nparcel,Late\n")
    ...     table = Table(path, "body", "queue", "utf-8", BadRows(path, "raise"))
    ...     list(read_documents(table, "csv", LabelParser(None)))
    [('Black', 'display'), ('Late', 'parcel')]
    """
    for number, text, label in ROW_READERS[format](table):
        try:
            document = check_text(text), None if table.label is None else parser.parse(label)
        except MalformedRow as problem:
            table.bad_rows.report(problem, number)
        else:
            yield document


def _check_format(format: str | None, path: str | Path) -> str:
    choices = ", ".join(map(repr, ROW_READERS))
    found = format or strip_compression(path).suffix.lower().removeprefix(".")
    if found in ROW_READERS:
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


def _read_batches(table: Table, documents: Iterator[Document], batch_size: int) -> Iterator[Texts]:
    first = list(islice(documents, 1))
    table.bad_rows.require_documents(len(first))
    documents = chain(first, documents)
    counted = 0
    # Rows skipped after the last document are told by a batch without documents.
    while (batch := list(islice(documents, batch_size))) or table.bad_rows.skipped > counted:
        texts = [text for text, _ in batch]
        labels: Any = None if table.label is None else [label for _, label in batch]
        skipped, counted = table.bad_rows.skipped - counted, table.bad_rows.skipped
        yield Texts(texts, labels, skipped)
