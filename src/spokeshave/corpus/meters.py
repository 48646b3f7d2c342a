"""How far the reading of files has come, in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


class Meter:
    """Tells how much of some files has been read, without counting it row by row.

    The files are measured one after the other. Of the one that is being read, either the open
    file tells how far it is, so that a compressed one is measured in compressed bytes, or its
    reader says what share is done.

    Examples
    --------
    >>> meter = Meter()
    >>> with meter.measure(1_000):
    ...     meter.note(3, 4)
    ...     meter.position
    750
    >>> meter.position
    1000
    """

    def __init__(self) -> None:
        self._before = self._size = 0
        self._share = 0.0
        self._file: IO[bytes] | None = None

    @property
    def position(self) -> int:
        """Return how many bytes have been read, about."""
        if self._file is not None:
            # A file that is closed told its last position before.
            with suppress(ValueError):
                self._share = self._file.tell() / max(self._size, 1)
        return self._before + round(self._size * min(self._share, 1))

    @contextmanager
    def measure(self, size: int) -> Iterator[None]:
        """Measure what is read meanwhile as a file or folder of that many bytes."""
        self._size, self._share, self._file = size, 0.0, None
        yield
        self._before, self._size, self._file = self._before + size, 0, None

    def watch(self, file: IO[bytes]) -> None:
        """Let an open file tell how far it has been read."""
        self._file = file

    def note(self, done: int, total: int) -> None:
        """Note how many of all rows or members have been read."""
        self._share = done / max(total, 1)
