"""Where a table is written to: a file or standard output, its format and its compression."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any

from spokeshave.corpus.files import strip_compression
from spokeshave.corpus.formats import name_format
from spokeshave.utils.atomic import open_atomic

FORMATS = ("csv", "tsv", "jsonl", "parquet")


def is_piped(target: str | Path | None) -> bool:
    """Return whether a target is standard output, or a pipe or device: nothing to be replaced.

    Examples
    --------
    >>> is_piped("-"), is_piped(None), is_piped("/dev/null"), is_piped("queues.csv")
    (True, True, True, False)
    """
    if _is_standard_output(target):
        return True
    path = Path(str(target))
    return path.exists() and not path.is_file() and not path.is_dir()


def choose_format(target: str | Path | None, format: str | None, source_format: str) -> str:
    """Choose the format of a table: the one asked for, the one its name tells, or its source's.

    Plain text has no room for new columns, and becomes csv.

    Examples
    --------
    >>> choose_format("queues.jsonl.gz", None, "csv"), choose_format("-", None, "text")
    ('jsonl', 'csv')
    """
    if format is not None and format not in FORMATS:
        choices = ", ".join(map(repr, FORMATS))
        raise ValueError(f"format must be one of {choices}. Got {format!r} instead.")
    chosen = format or name_format(str(target)) or source_format
    if chosen not in (*FORMATS, "text"):
        problem = f"{chosen} cannot be written; let the name end in .csv, .tsv, .jsonl or .parquet"
        raise ValueError(f"{target}: {problem}")
    return "csv" if chosen == "text" else chosen


@contextmanager
def open_target(target: str | Path | None, format: str) -> Iterator[IO[bytes]]:
    """Open a target for writing bytes, which the end of its name may ask to be compressed.

    A file takes its name when all is written, and not before; a link to one stays a link.
    Standard output is left open.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "queues.csv.gz")
    ...     with open_target(path, "csv") as output:
    ...         _ = output.write(b"id,queue")
    ...     gzip.decompress(path.read_bytes())
    b'id,queue'
    """
    if _is_standard_output(target):
        yield sys.stdout.buffer
        return
    path = Path(str(target))
    _check_end(path, format)
    with _open_file(path) as stream, _compress(stream, path.suffix.lower()) as output:
        yield output


def _is_standard_output(target: str | Path | None) -> bool:
    return target is None or str(target) == "-"


def _open_file(path: Path) -> AbstractContextManager[IO[bytes]]:
    if is_piped(path):
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
        # Without a name and a time, so that the same rows make the same file.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as output:
            yield output
    elif end in (".bz2", ".xz"):
        with (bz2 if end == ".bz2" else lzma).open(stream, "wb") as output:
            yield output
    else:
        yield stream
