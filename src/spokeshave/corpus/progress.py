"""The progress of reading files, in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


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
