"""Atomic writes: a file is replaced whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


@contextmanager
def open_atomic(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes; it replaces ``path`` when the block ends without an error.

    Until then, and if writing fails, an existing file stays as it is.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with open_atomic(Path(folder, "words.txt")) as stream:
    ...         _ = stream.write(b"oak")
    ...     Path(folder, "words.txt").read_bytes()
    b'oak'
    """
    path = Path(path).resolve()  # a symbolic link stays, and its target is replaced
    if path.is_dir():
        raise ValueError(f"{path}: this is a folder; name a file to write")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: this is not a regular file; name a file to write")
    try:
        temporary = NamedTemporaryFile(  # noqa: SIM115
            dir=path.parent, prefix=f".{path.name[:50]}.", suffix=".part", delete=False
        )
    except OSError as error:
        raise ValueError(f"{path}: it cannot be written ({error.strerror})") from None
    try:
        with temporary as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary.name).chmod(_usual_mode(path))
        Path(temporary.name).replace(path)
    except BaseException:
        Path(temporary.name).unlink(missing_ok=True)
        raise


def write_atomic(path: str | Path, content: bytes) -> None:
    """Write the content of a file atomically."""
    with open_atomic(path) as stream:
        stream.write(content)


def _usual_mode(path: Path) -> int:
    """Return the permissions of the file, or the default ones of a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
