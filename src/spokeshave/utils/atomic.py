"""Atomic writes: a file is replaced whole or not at all, and several files as a set.

A file is written beside its target under another name, which ends in ``.part``, and renamed. The
process that writes it holds a lock on it, which the system releases when the process ends, however
it ends: whoever writes to the same target later removes what killed processes have left.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import IO, Any

# On Windows nothing is locked, and nothing of killed processes removed.
fcntl: Any = import_module("fcntl") if os.name == "posix" else None
PART = ".part"
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


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
    with _writing(path) as part:
        yield part.stream
        part.finish()
        part.rename()


def write_atomic(path: str | Path, content: bytes) -> None:
    """Write the content of a file atomically."""
    with open_atomic(path) as stream:
        stream.write(content)


def write_set(contents: Mapping[Path, bytes | None]) -> None:
    """Write several files, all of them or none; None removes a file.

    All are on disk before the first gets its name, and signals wait while they get their names. If
    the process is killed in that moment, or the machine stops, the first ones may be new and the
    last ones old.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_set({Path(folder, "words.html"): b"<p>oak", Path(folder, "words.txt"): b"oak"})
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['words.html', 'words.txt']
    """
    with ExitStack() as stack:
        parts = {path: stack.enter_context(_writing(path)) for path in contents}
        for path, content in contents.items():
            if content is not None:
                parts[path].stream.write(content)
                parts[path].finish()
        with deferring_signals():
            for path, content in contents.items():
                parts[path].remove() if content is None else parts[path].rename()


@contextmanager
def making_folder(parent: Path | None, prefix: str) -> Iterator[Path]:
    """Make a temporary folder, and remove it at the end; ``parent`` is that of the system if None.

    What killed processes have left in a given parent, under the same prefix, is removed first.
    """
    if parent is not None:
        remove_abandoned(parent, prefix)
    folder = Path(mkdtemp(dir=parent, prefix=prefix))
    try:
        with locking(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def locking(folder: Path) -> Iterator[None]:
    """Keep `remove_abandoned` of other processes from a folder, if this one can lock it."""
    with ExitStack() as stack:
        if fcntl is not None:
            with suppress(OSError):  # it is not here, or its file system has no locks
                number = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, number)
                fcntl.flock(number, fcntl.LOCK_SH)
        yield


def remove_abandoned(parent: Path, prefix: str, suffix: str = "") -> None:
    """Remove temporary files and folders that killed processes have left, which nobody locks."""
    pattern = re.compile(re.escape(prefix) + "[a-z0-9_]{8}" + re.escape(suffix))  # as tempfile does
    with suppress(OSError):
        for name in filter(pattern.fullmatch, os.listdir(parent)):
            _remove_unlocked(parent / name)


def _remove_unlocked(path: Path) -> None:
    if fcntl is None:
        return
    with suppress(OSError):
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if it is in use
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        finally:
            os.close(number)


@contextmanager
def deferring_signals() -> Iterator[None]:
    """Let signals that end a process wait until the block has ended."""
    waiting: list[int] = []

    def wait(number: int, frame: Any) -> None:
        waiting.append(number)

    known = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    try:
        before = {
            number: signal.signal(number, wait)
            for number in known
            if signal.getsignal(number) not in (signal.SIG_IGN, None)
        }
    except ValueError:  # only the main thread gets signals
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(waiting):
            signal.raise_signal(number)


class _Part:
    """A file that is being written beside its target."""

    def __init__(self, target: Path, stream: IO[bytes]) -> None:
        self.target, self.stream, self.path = target, stream, Path(stream.name)

    def finish(self) -> None:
        """Bring all that was written to the disk."""
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.path.chmod(_usual_mode(self.target))
        if fcntl is None:
            self.stream.close()  # an open file cannot be renamed

    def rename(self) -> None:
        """Give the file its name."""
        self.path.replace(self.target)

    def remove(self) -> None:
        """Remove the file that has the name now."""
        self.target.unlink(missing_ok=True)


@contextmanager
def _writing(path: str | Path) -> Iterator[_Part]:
    """Give a new file beside a target, which is removed at the end unless it was renamed."""
    target = Path(path).resolve()  # a symbolic link stays, and its target is replaced
    if target.is_dir():
        raise ValueError(f"{target}: this is a folder; name a file to write")
    if target.exists() and not target.is_file():
        raise ValueError(f"{target}: this is not a regular file; name a file to write")
    prefix = f".{target.name[:50]}.spokeshave-"
    remove_abandoned(target.parent, prefix, PART)
    try:
        stream = _open_part(target.parent, prefix)
    except OSError as error:
        raise ValueError(f"{target}: it cannot be written ({error.strerror})") from None
    try:
        with stream:
            yield _Part(target, stream)
    finally:
        Path(stream.name).unlink(missing_ok=True)


def _open_part(folder: Path, prefix: str) -> Any:
    """Open a new file and lock it."""
    while True:
        stream = NamedTemporaryFile(  # noqa: SIM115
            dir=folder, prefix=prefix, suffix=PART, delete=False
        )
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(stream.fileno(), fcntl.LOCK_SH)
        if fcntl is None or os.fstat(stream.fileno()).st_nlink:
            return stream
        stream.close()  # another process has removed it before it was locked


def _usual_mode(path: Path) -> int:
    """Return the permissions of the file, or the default ones of a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
