"""Opening files, plain or compressed, in some encoding, with errors that name the file.

The modules for compression are imported when they are first needed.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from posixpath import normpath
from typing import IO, TYPE_CHECKING

from spokeshave.corpus.encoding import explain_encoding_error, find_codec
from spokeshave.errors import CorpusError

if TYPE_CHECKING:
    from zipfile import ZipInfo


class Progress:
    """Track how many bytes of some files have been read, without counting row by row.

    The files are read one after the other. The position in the current file is that of the open
    file, so that a compressed file is measured in compressed bytes, or a share that its reader
    reports.

    Examples
    --------
    >>> progress = Progress()
    >>> with progress.measure(1_000):
    ...     progress.update(3, 4)
    ...     progress.position
    750
    >>> progress.position
    1000
    """

    def __init__(self) -> None:
        self._before = self._size = 0
        self._share = 0.0
        self._file: IO[bytes] | None = None

    @property
    def position(self) -> int:
        """Return the approximate number of bytes read."""
        if self._file is not None:
            # A closed file has reported its last position before.
            with suppress(ValueError):
                self._share = self._file.tell() / max(self._size, 1)
        return self._before + round(self._size * min(self._share, 1))

    @contextmanager
    def measure(self, size: int) -> Iterator[None]:
        """Attribute the reading in the context to a file or folder of this many bytes."""
        self._size, self._share, self._file = size, 0.0, None
        yield
        self._before, self._size, self._file = self._before + size, 0, None

    def watch(self, file: IO[bytes]) -> None:
        """Take the position in the current file from an open file."""
        self._file = file

    def update(self, done: int, total: int) -> None:
        """Set the number of rows or members of the current file that have been read."""
        self._share = done / max(total, 1)


_OPENERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


@contextmanager
def open_binary(
    path: str | Path, *, member_suffix: str = "", progress: Progress | None = None
) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed according to its suffix.

    Parameters
    ----------
    path : str or Path
        A plain file, a ``.gz``, ``.bz2`` or ``.xz``, or a ``.zip`` that contains one file; hidden
        files in it are ignored.
    member_suffix : str
        The suffix of the one file to read from a ``.zip``.
    progress : Progress, optional
        Tracks the position in the file.

    Examples
    --------
    >>> with open_binary(__file__) as stream:
    ...     stream.readline()[:3]
    b'\"\"\"'
    """
    require_file(path)
    with explain_damage(path), Path(path).open("rb") as file:
        if progress:
            progress.watch(file)
        with _decompress(file, Path(path), member_suffix) as stream:
            yield stream


@contextmanager
def open_text(
    path: str | Path, encoding: str, *, member_suffix: str = "", progress: Progress | None = None
) -> Iterator[TextIOWrapper]:
    """Open a file like `open_binary`, as text with its own line ends and no byte-order mark."""
    codec = find_codec(encoding, path)
    with open_binary(path, member_suffix=member_suffix, progress=progress) as stream:
        try:
            yield TextIOWrapper(stream, encoding=codec, newline="")
        except UnicodeError:
            line = _find_undecodable_line(path, codec, member_suffix)
            raise explain_encoding_error(path, encoding, line) from None


def strip_compression(path: str | Path) -> Path:
    """Remove the suffix of a compression from a name."""
    path = Path(path)
    return path.with_suffix("") if path.suffix.lower() in (*_OPENERS, ".zip") else path


def require_file(path: str | Path) -> None:
    """Raise if there is no file to open."""
    if Path(path).is_dir():
        raise CorpusError(path, "this is a folder; name a file in it")
    if not Path(path).exists():
        raise CorpusError(path, "there is no such file")


def require_seekable(path: str | Path) -> None:
    """Raise for a pipe, whose beginning would be lost by looking at it."""
    if Path(path).is_fifo():
        raise CorpusError(path, "it is a pipe; pass - and pipe it into standard input")


def is_hidden(name: str) -> bool:
    """Return whether a file is hidden, or one that macOS adds to archives.

    Examples
    --------
    >>> is_hidden("data/.DS_Store"), is_hidden("__MACOSX/tickets.csv"), is_hidden("./tickets.csv")
    (True, True, False)
    """
    parts = [part for part in normpath(name).split("/") if part not in (".", "..")]
    return any(part.startswith((".", "__MACOSX")) for part in parts)


def require_unlocked(member: ZipInfo, path: str | Path) -> None:
    """Raise if a member of a zip is encrypted."""
    if member.flag_bits & 1:
        raise CorpusError(path, "it is locked with a password; unpack it")


@contextmanager
def explain_damage(path: str | Path) -> Iterator[None]:
    """Turn errors of reading a file into a CorpusError that names the file."""
    try:
        yield
    except EOFError:
        problem = "the compressed file is cut short; fetch or write it again"
        raise CorpusError(path, problem) from None
    except PermissionError:
        raise CorpusError(path, "reading it is not permitted; change its permissions") from None
    except Exception as error:
        if not _is_damage(error):
            raise
        problem = f"the file is damaged or not what its name says ({error})"
        raise CorpusError(path, problem) from None


def _is_damage(error: Exception) -> bool:
    from lzma import LZMAError
    from zipfile import BadZipFile
    from zlib import error as ZlibError

    return isinstance(error, OSError | ZlibError | LZMAError | BadZipFile)


def _decompress(
    file: IO[bytes], path: Path, member_suffix: str
) -> AbstractContextManager[IO[bytes]]:
    compression = path.suffix.lower()
    if compression == ".zip":
        return _open_zipped(file, path, member_suffix)
    if compression not in _OPENERS:
        return nullcontext(file)
    opened: AbstractContextManager[IO[bytes]]
    opened = import_module(_OPENERS[compression]).open(file, "rb")
    return opened


@contextmanager
def _open_zipped(file: IO[bytes], path: Path, suffix: str) -> Iterator[IO[bytes]]:
    from zipfile import ZipFile

    with ZipFile(file) as archive:
        names = [name for name in archive.namelist() if not is_hidden(name)]
        files = [name for name in names if name.lower().endswith(suffix) and name[-1] != "/"]
        if len(files) != 1:
            kind = f"{suffix} file" if suffix else "file"
            raise CorpusError(path, f"it must hold one {kind} and holds {len(files)}; unpack it")
        require_unlocked(archive.getinfo(files[0]), path)
        with archive.open(files[0]) as stream:
            yield stream


def _find_undecodable_line(path: str | Path, codec: str, member_suffix: str) -> int:
    """Read a file again, up to the first line that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(codec)()
    line = 1
    with open_binary(path, member_suffix=member_suffix) as stream:
        for content in stream:
            try:
                line += decoder.decode(content).count("\n")
            except UnicodeError:
                break
    return line
