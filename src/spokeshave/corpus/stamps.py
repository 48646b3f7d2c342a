"""The stamps of a source: which files it consists of, how large they are and from when."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from spokeshave.corpus.files import is_hidden

Stamp: TypeAlias = tuple[str, int, int]

_BYTES_AT_A_TIME = 2**20


def stamp_files(path: Path, name: str) -> list[Stamp]:
    """Return the name, size and time of change, in nanoseconds, of each file of a source.

    Parameters
    ----------
    path : Path
        A file, or a folder, whose hidden files have no stamps.
    name : str
        What to call it; files below a folder are called by it and their names below.

    Examples
    --------
    >>> [(name, size, changed)] = stamp_files(Path(__file__), "stamps.py")
    >>> name, size > 1_000, changed > 0
    ('stamps.py', True, True)
    """
    if not path.is_dir():
        return [_stamp(path, name)]
    below = ((file, file.relative_to(path).as_posix()) for file in path.rglob("*"))
    kept = ((file, place) for file, place in below if not is_hidden(place) and file.is_file())
    return sorted(_stamp(file, f"{name}/{place}") for file, place in kept)


def stamp_content(path: Path, name: str) -> list[Stamp]:
    """Return one stamp for what came through a pipe, with a checksum in place of the time.

    Examples
    --------
    >>> stamp_content(Path(__file__), "standard input")[0][0]
    'standard input'
    """
    from zlib import crc32

    checksum = 0
    with path.open("rb") as stream:
        while content := stream.read(_BYTES_AT_A_TIME):
            checksum = crc32(content, checksum)
    return [(name, path.stat().st_size, checksum)]


def _stamp(file: Path, name: str) -> Stamp:
    status = file.stat()
    return name, status.st_size, status.st_mtime_ns
