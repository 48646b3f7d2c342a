"""Folders, tar archives and zip archives of documents, read without unpacking anything."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from posixpath import normpath
from stat import S_ISLNK
from typing import TYPE_CHECKING, TypeAlias

from spokeshave.corpus.files import explain_damage, is_hidden, require_unlocked
from spokeshave.corpus.meters import Meter
from spokeshave.errors import CorpusError

if TYPE_CHECKING:
    from zipfile import ZipInfo

Wanted: TypeAlias = Callable[[str], bool]
Members: TypeAlias = Generator[tuple[str, bytes], None, None]


def read_members(path: str | Path, wanted: Wanted) -> Members:
    """Read the files of a folder or archive, ordered by folder, then by name.

    Links in archives, hidden files, and names that lead out of the archive are left out.

    Parameters
    ----------
    path : str or Path
        A folder, a zip, or a tar, the last plain or compressed.
    wanted : callable
        Says of a name, relative to the folder or archive, whether to read that file.

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
    # A compressed tar can only be read from front to back, so what is wanted is kept and sorted.
    contents = dict(members)
    for name in sorted(contents, key=_parts):
        yield name, contents[name]


def stream_members(path: str | Path, wanted: Wanted, meter: Meter | None = None) -> Members:
    """Read the files of a folder or archive as `read_members` does, one in memory at a time.

    Those of a tar come in the order they have there; one that was put into it twice comes twice.
    A meter is told how far the folder or archive has been read.

    Examples
    --------
    >>> from pathlib import Path
    >>> here = Path(__file__).parent
    >>> [name for name, content in stream_members(here, lambda name: name == "archives.py")]
    ['archives.py']
    """
    if not Path(path).exists():
        raise CorpusError(path, "there is no such file or folder")
    with explain_damage(path):
        yield from _choose_reader(Path(path))(Path(path), wanted, meter or Meter())


def _choose_reader(path: Path) -> Callable[[Path, Wanted, Meter], Members]:
    if path.is_dir():
        return _read_folder
    return _read_tar if _is_tar(path) else _read_zip


def _is_tar(path: Path) -> bool:
    return not path.is_dir() and path.suffix.lower() != ".zip"


def _read_folder(folder: Path, wanted: Wanted, meter: Meter) -> Members:
    files = (file for file in folder.rglob("*") if file.is_file())
    names = (file.relative_to(folder).as_posix() for file in files)
    chosen = sorted(filter(wanted, filter(_is_plain, names)), key=_parts)
    for place, name in enumerate(chosen):
        meter.note(place, len(chosen))
        yield name, (folder / name).read_bytes()


def _read_zip(path: Path, wanted: Wanted, meter: Meter) -> Members:
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        files = {normpath(info.filename): info for info in archive.infolist() if _is_file(info)}
        chosen = sorted(filter(wanted, filter(_is_plain, files)), key=_parts)
        for place, name in enumerate(chosen):
            meter.note(place, len(chosen))
            require_unlocked(files[name], path)
            yield name, archive.read(files[name])


def _read_tar(path: Path, wanted: Wanted, meter: Meter) -> Members:
    import tarfile

    try:
        with path.open("rb") as file, tarfile.open(fileobj=file) as archive:
            meter.watch(file)
            while member := archive.next():
                name = normpath(member.name)
                if member.isfile() and _is_plain(name) and wanted(name):
                    yield name, archive.extractfile(member).read()  # type: ignore[union-attr]
                # An archive remembers every member that it has come to.
                archive.members.clear()  # type: ignore[attr-defined]
    except tarfile.TarError:
        raise CorpusError(
            path, "this is neither a folder nor a zip or tar, or it is damaged"
        ) from None


def _is_file(info: ZipInfo) -> bool:
    return not info.is_dir() and not S_ISLNK(info.external_attr >> 16)


def _is_plain(name: str) -> bool:
    # The first part of an absolute name is empty.
    leads_out = _parts(name)[0] in ("", "..")
    return not leads_out and not is_hidden(name)


def _parts(name: str) -> list[str]:
    return name.split("/")
