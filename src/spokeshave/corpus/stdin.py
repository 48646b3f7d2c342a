"""Standard input and pipes: read as text, or kept in a temporary file to be read again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import IO, Any

from spokeshave.corpus.encoding import explain_encoding_error, find_codec
from spokeshave.corpus.files import (
    OPENERS,
    explain_damage,
    find_compression,
    limit_lines,
    list_line_ends,
    sniff_compression,
)
from spokeshave.corpus.sniff import ARCHIVE, sniff_format
from spokeshave.errors import CorpusError

STDIN = "-"
NAME = "standard input"

_ADVICE = "pipe a file into it or name a file"
_SUFFIXES = {"svmlight": ".svm", "reuters": ".sgm", ARCHIVE: ".tar"}


def is_piped(source: str | Path) -> bool:
    """Return whether a source is standard input or a pipe, which can be read once only."""
    return str(source) == STDIN or Path(source).is_fifo()


@contextmanager
def open_piped_text(encoding: str, newline: str = "") -> Iterator[TextIOWrapper]:
    """Open standard input like `open_text`, decompressed according to its first bytes.

    Standard input stays open.
    """
    codec = find_codec(encoding, NAME)
    with explain_damage(NAME), _open_piped() as pipe:
        lines = limit_lines(pipe, NAME, list_line_ends(newline))
        stream = TextIOWrapper(lines, encoding=codec, newline=newline)
        try:
            yield stream
        except UnicodeError:
            # The number of the line is unknown: a pipe cannot be read again.
            raise explain_encoding_error(NAME, encoding, None) from None
        finally:
            stream.detach()


@contextmanager
def spool_standard_input(format: str | None = None) -> Iterator[Path]:
    """Copy standard input to a temporary file, and name standard input in errors about the file.

    Parameters
    ----------
    format : str, optional
        Its format; by default found by its content.

    Yields
    ------
    path : Path
        A file with the suffixes of its format and compression, so that every reader accepts it.
        A zip of unknown format has the suffix ``.zip`` only.
    """
    if sys.stdin is None:
        raise ValueError(f"{NAME} is closed; {_ADVICE}")
    if sys.stdin.isatty():
        raise ValueError(f"{NAME} is a terminal; {_ADVICE}")
    with spool(sys.stdin.buffer, NAME, format) as path:
        yield path


@contextmanager
def spool_pipe(pipe: Path, format: str | None = None) -> Iterator[Path]:
    """Copy a named pipe to a temporary file, as `spool_standard_input` does."""
    with pipe.open("rb") as stream, spool(stream, str(pipe), format) as path:
        yield path


@contextmanager
def spool(stream: IO[bytes], name: str, format: str | None = None) -> Iterator[Path]:
    """Copy a stream to a temporary file, as `spool_standard_input` does.

    Examples
    --------
    >>> from io import BytesIO
    >>> with spool(BytesIO(b"wheat,corn 1:0.5 3:2"), "a pipe") as path:
    ...     path.name
    'input.svm'
    """
    # Most pipes are read without a copy, so this is imported only when it is needed.
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="spokeshave-") as folder:
        path = Path(folder, "input")
        _copy(stream, name, path)
        with rename_in_errors(Path(folder), name):
            yield _name_by_content(path, format)


@contextmanager
def rename_in_errors(folder: Path, name: str) -> Iterator[None]:
    """Replace the path of a file in a folder by a name in every CorpusError.

    Examples
    --------
    >>> with rename_in_errors(Path("temporary"), "a pipe"):
    ...     raise CorpusError("temporary/input.csv", "the label is missing", line=7)
    Traceback (most recent call last):
    ...
    spokeshave.errors.CorpusError: a pipe, line 7: the label is missing
    """
    try:
        yield
    except CorpusError as error:
        if not Path(error.path).is_relative_to(folder):
            raise
        file, *members = Path(error.path).relative_to(folder).parts
        problem = error.problem.replace(str(folder / file), name)
        where = ", ".join([name, "/".join(members)] if members else [name])
        raise type(error)(where, problem, error.line, error.parameters) from None


@contextmanager
def _open_piped() -> Iterator[Any]:
    if sys.stdin is None:
        raise ValueError(f"{NAME} is closed; {_ADVICE}")
    pipe: Any = BufferedReader(sys.stdin.buffer)
    try:
        opener = OPENERS.get(find_compression(pipe.peek()))
        yield import_module(opener).open(pipe) if opener else pipe
    finally:
        pipe.detach()


def _copy(stream: IO[bytes], name: str, path: Path) -> None:
    from shutil import copyfileobj

    try:
        with path.open("wb") as copy:
            copyfileobj(stream, copy)
    except OSError as error:
        problem = f"it cannot be copied to a temporary file ({error.strerror})"
        raise CorpusError(name, problem) from None
    if not path.stat().st_size:
        raise ValueError(f"{name} is empty; {_ADVICE}")


def _name_by_content(path: Path, format: str | None) -> Path:
    """Rename a file to have the suffixes of its format and compression."""
    compression = sniff_compression(path)
    path = path.rename(path.with_suffix(compression))
    return path.rename(path.with_suffix(_find_suffix(path, format) + compression))


def _find_suffix(path: Path, format: str | None) -> str:
    if format in (None, "folders", "reuters"):
        if path.suffix == ".zip":
            return ""
        format = sniff_format(path)
    return _SUFFIXES.get(str(format), f".{format}")
