"""Folders, tar archives and zip archives of documents, read without unpacking them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from posixpath import normpath
from stat import S_ISLNK
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from spokeshave.corpus import limits
from spokeshave.corpus.files import (
    Progress,
    explain_damage,
    explain_decoding,
    is_hidden,
    open_decompressed,
    open_zip,
    open_zipped,
    read_document,
    sniff_compression,
)
from spokeshave.errors import CorpusError

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo
    from zipfile import ZipInfo

Wanted: TypeAlias = Callable[[str], bool]
Members: TypeAlias = Generator[tuple[str, bytes], None, None]


def read_members(path: str | Path, wanted: Wanted) -> Members:
    """Read the files of a folder or archive, ordered by folder, then by name.

    Links in archives, hidden files, and names that lead out of the archive are ignored.

    Parameters
    ----------
    path : str or Path
        A folder, a zip, or a tar, plain or compressed.
    wanted : callable
        Returns whether to read the file of a name, relative to the folder or archive.

    Yields
    ------
    name : str
        The name, with forward slashes.
    content : bytes
        All of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> here = Path(__file__).parent
    >>> [name for name, content in read_members(here, lambda name: name == "archives.py")]
    ['archives.py']
    """
    members = stream_members(path, wanted)
    if not _is_tar(Path(path)):
        yield from members
        return
    # A compressed tar can only be read from front to back, so its members are kept and sorted.
    contents = dict(members)
    for name in sorted(contents, key=split_name):
        yield name, contents[name]


def stream_members(path: str | Path, wanted: Wanted, progress: Progress | None = None) -> Members:
    """Read the files of a folder or archive like `read_members`, one in memory at a time.

    The files of a tar come in the order of the archive, and a file that is in it twice comes twice.
    """
    if not Path(path).exists():
        raise CorpusError(path, "there is no such file or folder")
    with explain_damage(path):
        yield from _choose_reader(Path(path))(Path(path), wanted, progress or Progress())


def split_name(name: str) -> list[str]:
    """Split the name of a member into its folders and its file."""
    return name.split("/")


def _choose_reader(path: Path) -> Callable[[Path, Wanted, Progress], Members]:
    if path.is_dir():
        return _read_folder
    return _read_tar if _is_tar(path) else _read_zip


def _is_tar(path: Path) -> bool:
    return not path.is_dir() and path.suffix.lower() != ".zip"


def _read_folder(folder: Path, wanted: Wanted, progress: Progress) -> Members:
    files = (file for file in folder.rglob("*") if file.is_file())
    names = (file.relative_to(folder).as_posix() for file in files)
    chosen = sorted(filter(wanted, filter(_is_plain, names)), key=split_name)
    for position, name in enumerate(chosen):
        progress.update(position, len(chosen))
        with (folder / name).open("rb") as stream:
            content = read_document(stream, folder / name)
        yield name, content


def _read_zip(path: Path, wanted: Wanted, progress: Progress) -> Members:
    with path.open("rb") as file, open_zip(file, path) as archive:
        files = {normpath(info.filename): info for info in archive.infolist() if _is_file(info)}
        chosen = sorted(filter(wanted, filter(_is_plain, files)), key=split_name)
        for position, name in enumerate(chosen):
            progress.update(position, len(chosen))
            with open_zipped(archive, files[name], path) as stream, explain_decoding(path):
                content = read_document(stream, path / name)
            yield name, content


def _read_tar(path: Path, wanted: Wanted, progress: Progress) -> Members:
    with path.open("rb") as file:
        progress.watch(file)
        with open_decompressed(file, sniff_compression(path)) as stream:
            with _explain_tar(path):
                archive = _open_tar(stream)
            yield from _read_tar_members(archive, path, wanted)


def _read_tar_members(archive: TarFile, path: Path, wanted: Wanted) -> Members:
    while True:
        with _explain_tar(path):
            member = archive.next()
        if member is None:
            return
        name = normpath(member.name)
        if member.isfile() and _is_plain(name) and wanted(name):
            with _explain_tar(path):
                content = _read_tar_member(archive, member, path / name)
            yield name, content
        # The archive would keep a record of every member read.
        archive.members.clear()  # type: ignore[attr-defined]


def _read_tar_member(archive: TarFile, member: TarInfo, path: Path) -> bytes:
    with archive.extractfile(member) as stream:  # type: ignore[union-attr]
        return read_document(stream, path)


_RECORD = 10_240  # bytes of a tar that belong together; headers have less, unless they lie


class _LimitedReads:
    """A stream that reads no more at once than a record or a document may have.

    Headers of a tar may claim any length, and the archive reads each of them at once.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.seek, self.tell = stream.seek, stream.tell
        self._read = stream.read

    def read(self, size: int) -> bytes:
        """Read some bytes; fewer than asked for if these are too many."""
        return self._read(min(size, limits.MAX_DOCUMENT_LENGTH + _RECORD))


def _open_tar(stream: IO[bytes]) -> TarFile:
    import tarfile

    limited: Any = _LimitedReads(stream)
    return tarfile.open(fileobj=limited, mode="r:")


@contextmanager
def _explain_tar(path: Path) -> Iterator[None]:
    from tarfile import TarError

    problem = "this is neither a folder nor a zip or tar, or it is damaged"
    with explain_decoding(path):
        try:
            yield
        except TarError:
            raise CorpusError(path, problem) from None


def _is_file(info: ZipInfo) -> bool:
    return info.filename[-1:] not in ("", "/") and not S_ISLNK(info.external_attr >> 16)


def _is_plain(name: str) -> bool:
    # The first part of an absolute name is empty.
    leads_out = split_name(name)[0] in ("", "..")
    return not leads_out and not is_hidden(name)
