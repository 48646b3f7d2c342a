"""Files written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


@contextmanager
def replace_whole(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file to write bytes to; it takes its name when all is written, and not before.

    What had the name before stays as it was until then, and for good where writing fails.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replace_whole(Path(folder, "words.txt")) as stream:
    ...         _ = stream.write(b"oak")
    ...     Path(folder, "words.txt").read_bytes()
    b'oak'
    """
    path = Path(path).resolve()  # what a link leads to is written, and the link stays
    if path.is_dir():
        raise ValueError(f"{path}: this is a folder; name a file to write")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: this is not a file, which alone can be written whole")
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


def write_whole(path: str | Path, content: bytes) -> None:
    """Write the whole content of a file, or nothing."""
    with replace_whole(path) as stream:
        stream.write(content)


def _usual_mode(path: Path) -> int:
    """Return the permissions the file has, or those that a new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
