"""Standard input and other pipes, kept in a file for as long as they are needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from spokeshave.corpus.contents import ARCHIVE, sniff_compression, sniff_format
from spokeshave.errors import CorpusError

NAME = "standard input"

_ADVICE = "pipe a file into it or name a file"
_ENDS = {"svmlight": ".svm", "reuters": ".sgm", ARCHIVE: ".tar"}


@contextmanager
def spool_standard_input(format: str | None = None) -> Iterator[Path]:
    """Keep what comes on standard input in a temporary file, which is removed in the end.

    An error that names the file is raised again with the name of standard input.

    Parameters
    ----------
    format : str, optional
        The format it is in; told by its content where it is not given.

    Yields
    ------
    path : Path
        A file whose name ends as its format and its compression ask, so that every reader takes
        it. A zip whose format is not given ends in ``.zip`` alone.

    Examples
    --------
    >>> from io import BytesIO, TextIOWrapper
    >>> standard_input, sys.stdin = sys.stdin, TextIOWrapper(BytesIO(b"text,label"))
    >>> with spool_standard_input() as path:
    ...     path.name, path.read_text()
    ('input.csv', 'text,label')
    >>> sys.stdin = standard_input
    """
    if sys.stdin is None:
        raise ValueError(f"{NAME} is closed; {_ADVICE}")
    if sys.stdin.isatty():
        raise ValueError(f"{NAME} is a terminal; {_ADVICE}")
    with spool(sys.stdin.buffer, NAME, format) as path:
        yield path


@contextmanager
def spool_pipe(pipe: Path, format: str | None = None) -> Iterator[Path]:
    """Keep what comes through a named pipe in a temporary file, as `spool_standard_input` does."""
    with pipe.open("rb") as stream, spool(stream, str(pipe), format) as path:
        yield path


@contextmanager
def spool(stream: IO[bytes], name: str, format: str | None = None) -> Iterator[Path]:
    """Keep what a stream holds in a temporary file, as `spool_standard_input` does.

    Examples
    --------
    >>> from io import BytesIO
    >>> with spool(BytesIO(b"wheat,corn 1:0.5 3:2"), "a pipe") as path:
    ...     path.name
    'input.svm'
    """
    # Most pipes are read as they come, and only their name is asked for here.
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="spokeshave-") as folder:
        path = Path(folder, "input")
        _copy(stream, name, path)
        with call_by_name(Path(folder), name):
            yield _name_by_content(path, format)


@contextmanager
def call_by_name(folder: Path, name: str) -> Iterator[None]:
    """Raise errors that name a file in a folder again, with a name for the file.

    Examples
    --------
    >>> with call_by_name(Path("temporary"), "a pipe"):
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
    """Rename a file so that its name tells what is in it."""
    compression = sniff_compression(path)
    path = path.rename(path.with_suffix(compression))
    return path.rename(path.with_suffix(_find_end(path, format) + compression))


def _find_end(path: Path, format: str | None) -> str:
    if format in (None, "folders", "reuters"):
        if path.suffix == ".zip":
            return ""
        format = sniff_format(path)
    return _ENDS.get(str(format), f".{format}")
