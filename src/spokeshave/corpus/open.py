"""Sources as the user names them: the files behind them, their names, sizes and changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus.files import (
    explain_damage,
    is_hidden,
    sniff_compression,
    strip_compression,
)
from spokeshave.corpus.limits import CHUNK_BYTES
from spokeshave.corpus.options import SourceOptions
from spokeshave.corpus.sniff import (
    ARCHIVE,
    guess_format,
    name_format,
    require_unpacked,
)
from spokeshave.corpus.stdin import (
    NAME,
    STDIN,
    is_piped,
    rename_in_errors,
    spool_pipe,
    spool_standard_input,
)
from spokeshave.errors import CorpusError

FileState: TypeAlias = tuple[str, int, int]


def open_source(source: str | Path, format: str | None) -> AbstractContextManager[Path]:
    """Return the file or folder of a source; a pipe is copied to a temporary file."""
    if str(source) == STDIN:
        return spool_standard_input(format)
    # A pipe can be read once only, and its format is guessed from its beginning.
    if is_piped(source):
        return spool_pipe(Path(source), format)
    return nullcontext(Path(source))


def name_source(source: str | Path) -> str:
    """Return the name of a source in messages."""
    if str(source) == STDIN:
        return NAME
    return Path(source).name or Path(source).resolve().name


def make_options(path: Path, format: str | None, **options: Any) -> SourceOptions:
    """Return the options for a file or folder, with its format guessed if it is None."""
    _require_readable(path, format)
    return SourceOptions(path, format or guess_format(path), **options)


class SourceFile:
    """A source and the file or folder it is read from.

    Parameters
    ----------
    source : str or Path
        The source, as the user named it.
    options : SourceOptions
        Its path, a temporary file if the source is a pipe, and how to read it.

    Attributes
    ----------
    options : SourceOptions
        The options.
    name : str
        The name of the source in messages.
    """

    def __init__(self, source: str | Path, options: SourceOptions) -> None:
        self.options, self.name = options, name_source(source)
        self._full_name = NAME if self.name == NAME else str(source)
        self._is_piped = is_piped(source)

    @cached_property
    def size(self) -> int:
        """Return the size of all files, in bytes."""
        return sum(size for _, size, _ in list_file_states(self.options.path, self.name))

    def list_states(self) -> list[FileState]:
        """Return the current state of each file."""
        list_states = list_content_states if self._is_piped else list_file_states
        return list_states(self.options.path, self.name)

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Name the source in errors of reading it."""
        path = self.options.path
        rename = rename_in_errors(path.parent, self._full_name) if self._is_piped else nullcontext()
        with rename, explain_damage(path):
            yield

    def explain_format(self, format: str | None) -> str:
        """Explain a format that follows neither from the options nor from the name."""
        path, name = self.options.path, self._full_name
        is_told = bool(format or path.is_dir() or name_format(name))
        return "" if is_told else f"the format is {self.options.format} by its content"


def list_file_states(path: Path, name: str) -> list[FileState]:
    """Return the name, size and modification time in nanoseconds of each file of a source.

    Files in a folder are named below `name`; hidden files are ignored.
    """
    if not path.is_dir():
        return [_find_state(path, name)]
    below = ((file, file.relative_to(path).as_posix()) for file in path.rglob("*"))
    kept = ((file, inner) for file, inner in below if not is_hidden(inner) and file.is_file())
    return sorted(_find_state(file, f"{name}/{inner}") for file, inner in kept)


def list_content_states(path: Path, name: str) -> list[FileState]:
    """Return the name, size and checksum of the content of a pipe."""
    from zlib import crc32

    checksum = 0
    with path.open("rb") as stream:
        while content := stream.read(CHUNK_BYTES):
            checksum = crc32(content, checksum)
    return [(name, path.stat().st_size, checksum)]


def _find_state(file: Path, name: str) -> FileState:
    status = file.stat()
    return name, status.st_size, status.st_mtime_ns


def _require_readable(path: Path, format: str | None) -> None:
    """Raise for a spreadsheet, and for a compressed file without the suffix of its compression."""
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise CorpusError(path, "this is a spreadsheet; save it as csv")
    if not path.is_file():
        return
    if (format or name_format(path)) == "parquet":
        require_unpacked(path)
    is_told = strip_compression(path) != path or name_format(path) == ARCHIVE
    if not is_told and (compression := sniff_compression(path)):
        raise CorpusError(path, f"it is compressed; give it a name that ends in '{compression}'")
