"""Files of documents, plain or compressed, opened so that every trouble names the file.

What reads a compression is loaded when it is first met.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from posixpath import normpath
from typing import IO, TYPE_CHECKING

from spokeshave.errors import CorpusError, EncodingError

if TYPE_CHECKING:
    from zipfile import ZipInfo

    from spokeshave.corpus.meters import Meter

_OPENERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


@contextmanager
def open_binary(
    path: str | Path, *, member_suffix: str = "", meter: Meter | None = None
) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed as the end of its name says.

    Parameters
    ----------
    path : str or Path
        A plain file, a ``.gz``, ``.bz2`` or ``.xz``, or a ``.zip`` that holds one file, hidden
        ones not counted.
    member_suffix : str
        The end of the name of the one file wanted from a ``.zip``.
    meter : Meter, optional
        What is to watch how far the file has been read.

    Examples
    --------
    >>> with open_binary(__file__) as stream:
    ...     stream.readline()[:3]
    b'\"\"\"'
    """
    require_file(path)
    with explain_damage(path), Path(path).open("rb") as file:
        if meter:
            meter.watch(file)
        with _decompress(file, Path(path), member_suffix) as stream:
            yield stream


@contextmanager
def open_text(
    path: str | Path, encoding: str, *, member_suffix: str = "", meter: Meter | None = None
) -> Iterator[TextIOWrapper]:
    r"""Open a file for reading text, as `open_binary` does, with its line ends left as they are.

    A byte-order mark is no part of the text.

    Examples
    --------
    >>> with open_text(__file__, "utf-8") as stream:
    ...     stream.readline()[-1]
    '\n'
    """
    codec = find_codec(encoding, path)
    with open_binary(path, member_suffix=member_suffix, meter=meter) as stream:
        try:
            yield TextIOWrapper(stream, encoding=codec, newline="")
        except UnicodeError:
            line = _find_undecodable_line(path, codec, member_suffix)
            raise undecodable(path, encoding, line) from None


def decode(content: bytes, encoding: str, path: str | Path) -> str:
    r"""Turn the whole content of a file into text.

    Examples
    --------
    >>> decode(b"na\xefve", "latin-1", "essay.txt")
    'naïve'
    """
    try:
        return content.decode(find_codec(encoding, path))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise undecodable(path, encoding, line) from None


def strip_compression(path: str | Path) -> Path:
    """Take the end that tells of compression off a name.

    Examples
    --------
    >>> strip_compression("tickets.csv.gz").name
    'tickets.csv'
    """
    path = Path(path)
    return path.with_suffix("") if path.suffix.lower() in (*_OPENERS, ".zip") else path


def find_codec(encoding: str, path: str | Path) -> str:
    """Name the codec for an encoding; the one for UTF-8 takes a byte-order mark off.

    Examples
    --------
    >>> find_codec("UTF8", "tickets.csv"), find_codec("latin-1", "tickets.csv")
    ('utf-8-sig', 'iso8859-1')
    """
    try:
        # Encoding a character also refuses codecs that are not for text, such as hex.
        " ".encode(encoding)
    except LookupError:
        problem = f"the encoding '{encoding}' is unknown; pass one that Python knows"
        raise CorpusError(path, problem) from None
    name = codecs.lookup(encoding).name
    return "utf-8-sig" if name == "utf-8" else name


def undecodable(path: str | Path, encoding: str, line: int) -> EncodingError:
    """Return the error of a file that is not in the encoding it was read with."""
    problem = f"the text is not {encoding}; pass the right one, for example encoding='latin-1'"
    return EncodingError(path, problem, line)


def require_file(path: str | Path) -> None:
    """Raise where there is no file to open."""
    if Path(path).is_dir():
        raise CorpusError(path, "this is a folder; name a file in it")
    if not Path(path).exists():
        raise CorpusError(path, "there is no such file")


def require_lasting(path: str | Path) -> None:
    """Raise for a pipe: what is looked at before it is read is gone then."""
    if Path(path).is_fifo():
        raise CorpusError(path, "it is a pipe; pass - and pipe it into standard input")


def is_hidden(name: str) -> bool:
    """Tell whether a file is one that archives hold beside what was put into them.

    Examples
    --------
    >>> is_hidden("data/.DS_Store"), is_hidden("__MACOSX/tickets.csv"), is_hidden("./tickets.csv")
    (True, True, False)
    """
    parts = [part for part in normpath(name).split("/") if part not in (".", "..")]
    return any(part.startswith((".", "__MACOSX")) for part in parts)


def require_unlocked(member: ZipInfo, path: str | Path) -> None:
    """Raise where a password is needed to read from a zip."""
    if member.flag_bits & 1:
        raise CorpusError(path, "it is locked with a password; unpack it")


@contextmanager
def explain_damage(path: str | Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into an error that names the file."""
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
