"""Opening files, plain or compressed, in some encoding, with errors that name the file.

The modules for compression are imported when they are first needed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from posixpath import normpath
from typing import IO, TYPE_CHECKING, Any

from spokeshave.corpus import limits
from spokeshave.corpus.encoding import explain_encoding_error, find_codec
from spokeshave.errors import CorpusError

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo


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


OPENERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}

# Patterns are compiled when they are first used: most names tell the compression.
_COMPRESSIONS = {
    ".gz": rb"\x1f\x8b",
    ".bz2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    ".xz": rb"\xfd7zXZ\0",
    ".zip": rb"PK(\x03\x04|\x05\x06)",
}


@contextmanager
def open_binary(
    path: str | Path,
    *,
    member_suffix: str = "",
    progress: Progress | None = None,
    line_ends: tuple[bytes, ...] = (b"\n",),
) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed according to its suffix.

    Reading raises where a line is longer than a document may be: it would have to be held whole.

    Parameters
    ----------
    path : str or Path
        A plain file, a ``.gz``, ``.bz2`` or ``.xz``, or a ``.zip`` that contains one file; hidden
        files in it are ignored.
    member_suffix : str
        The suffix of the one file to read from a ``.zip``.
    progress : Progress, optional
        Tracks the position in the file.
    line_ends : tuple of bytes
        The bytes that end a line.

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
            yield limit_lines(stream, path, line_ends)


@contextmanager
def open_text(
    path: str | Path,
    encoding: str,
    *,
    member_suffix: str = "",
    progress: Progress | None = None,
    newline: str = "",
) -> Iterator[TextIOWrapper]:
    """Open a file like `open_binary`, as text with its own line ends and no byte-order mark."""
    codec, ends = find_codec(encoding, path), list_line_ends(newline)
    with open_binary(
        path, member_suffix=member_suffix, progress=progress, line_ends=ends
    ) as stream:
        try:
            yield TextIOWrapper(stream, encoding=codec, newline=newline)
        except UnicodeError:
            line = _find_undecodable_line(path, codec, member_suffix)
            raise explain_encoding_error(path, encoding, line) from None


class _LimitedLines(RawIOBase):
    """The bytes of a stream; reading raises at a line that is too long, or a damaged stream."""

    def __init__(self, stream: Any, path: str | Path, line_ends: tuple[bytes, ...]) -> None:
        self._stream, self._path, self._line_ends = stream, path, line_ends
        self._n_lines = self._length = 0
        self._is_numbered = True  # lines are counted by line feeds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:  # a context costs too much for some thousand bytes
            content: bytes = self._stream.read1(len(buffer))
        except Exception as error:
            raise _explain(self._path, error) from None
        buffer[: len(content)] = content
        self._add(content)
        return len(content)

    def _add(self, content: bytes) -> None:
        last = max(map(content.rfind, self._line_ends))
        self._length = self._length + len(content) if last < 0 else len(content) - last - 1
        n_lines = content.count(b"\n")
        self._n_lines += n_lines
        self._is_numbered &= last < 0 or n_lines > 0
        if self._length > limits.MAX_DOCUMENT_LENGTH:
            problem = f"the line {_describe_excess()}; write one document on each line"
            line = self._n_lines + 1 if self._is_numbered else None
            raise CorpusError(self._path, problem, line)


def limit_lines(
    stream: IO[bytes], path: str | Path, line_ends: tuple[bytes, ...] = (b"\n",)
) -> BufferedReader:
    """Return a stream of the same bytes that raises at a line longer than a document may be."""
    return BufferedReader(_LimitedLines(stream, path, line_ends), limits.BUFFER_BYTES)


def list_line_ends(newline: str) -> tuple[bytes, ...]:
    """Return the bytes that end the lines of a `TextIOWrapper` with this option."""
    return (newline.encode(),) if newline else (b"\n", b"\r")


def read_document(stream: IO[bytes], path: str | Path) -> bytes:
    """Return the rest of a stream that is one document; raise if it is too long for one."""
    content = stream.read(limits.MAX_DOCUMENT_LENGTH + 1)
    if len(content) > limits.MAX_DOCUMENT_LENGTH:
        raise CorpusError(path, f"the file {_describe_excess()}; split it, or take it out")
    return content


def _describe_excess() -> str:
    return f"is longer than a document may be, {limits.MAX_DOCUMENT_LENGTH:,} bytes"


def strip_compression(path: str | Path) -> Path:
    """Remove the suffix of a compression from a name."""
    path = Path(path)
    return path.with_suffix("") if path.suffix.lower() in (*OPENERS, ".zip") else path


def sniff_compression(path: str | Path) -> str:
    """Return the suffix of the compression of a file by its first bytes, '' if there is none."""
    require_seekable(path)
    with Path(path).open("rb") as stream:
        return find_compression(stream.read(limits.MAGIC_BYTES))


def find_compression(head: bytes) -> str:
    """Return the suffix of the compression of content by its first bytes, '' if there is none."""
    return next((end for end, magic in _COMPRESSIONS.items() if re.match(magic, head)), "")


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


def open_zip(file: IO[bytes], path: str | Path) -> ZipFile:
    """Open a zip archive."""
    from zipfile import ZipFile

    with explain_decoding(path):
        return ZipFile(file)


def open_zipped(archive: ZipFile, member: ZipInfo, path: str | Path) -> IO[bytes]:
    """Open a member of a zip; raise if it is encrypted or packed by an uncommon method."""
    from zipfile import ZIP_DEFLATED, ZIP_STORED

    if member.flag_bits & 1:
        raise CorpusError(path, "it is locked with a password; unpack it")
    # Python's decoders of the other methods unpack any amount at once.
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise CorpusError(path, "it is packed neither by deflate nor plainly; unpack it")
    with explain_decoding(path):
        return archive.open(member)


@contextmanager
def explain_damage(path: str | Path) -> Iterator[None]:
    """Turn errors of reading a file into a CorpusError that names the file."""
    try:
        yield
    except (OSError, EOFError) as error:
        raise _explain(path, error) from None


@contextmanager
def explain_decoding(path: str | Path) -> Iterator[None]:
    """Turn all errors of a decoder, which may raise any on damaged bytes, into a CorpusError.

    Nothing but calls of the decoder belongs into the context.
    """
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:
        raise _explain(path, error) from None


def _explain(path: str | Path, error: Exception) -> CorpusError:
    if isinstance(error, EOFError):
        return CorpusError(path, "the compressed file is cut short; fetch or write it again")
    if isinstance(error, PermissionError):
        return CorpusError(path, "reading it is not permitted; change its permissions")
    reason = str(error) or type(error).__name__
    return CorpusError(path, f"the file is damaged or not what its name says ({reason})")


def _decompress(
    file: IO[bytes], path: Path, member_suffix: str
) -> AbstractContextManager[IO[bytes]]:
    compression = path.suffix.lower()
    if compression == ".zip":
        return _open_zipped(file, path, member_suffix)
    return open_decompressed(file, compression)


def open_decompressed(file: IO[bytes], compression: str) -> AbstractContextManager[IO[bytes]]:
    """Open the content of a file, compressed as its suffix says, if it does."""
    if compression not in OPENERS:
        return nullcontext(file)
    opened: AbstractContextManager[IO[bytes]]
    opened = import_module(OPENERS[compression]).open(file, "rb")
    return opened


@contextmanager
def _open_zipped(file: IO[bytes], path: Path, suffix: str) -> Iterator[IO[bytes]]:
    with open_zip(file, path) as archive:
        names = [name for name in archive.namelist() if not is_hidden(name)]
        named = [name for name in names if name and not name.endswith("/")]
        files = [name for name in named if name.lower().endswith(suffix)]
        if len(files) != 1:
            kind = f"{suffix} file" if suffix else "file"
            raise CorpusError(path, f"it must hold one {kind} and holds {len(files)}; unpack it")
        with open_zipped(archive, archive.getinfo(files[0]), path) as stream:
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
