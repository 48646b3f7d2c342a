"""Resuming a killed run: a file of finished units, or a folder of finished stages.

Both record the fingerprint of their run, and refuse a run with another one. A unit or a stage is
on disk, whole, before the next begins, so a killed run loses only unfinished ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import psutil
from scipy import sparse

from spokeshave.utils.atomic import write_atomic
from spokeshave.utils.formatting import write_size

FORMAT, VERSION = "spokeshave checkpoint", 1
RUN, LOCK = "run.json", "lock.json"

Result = TypeVar("Result")
Unit = tuple[int, ...]
Fingerprint = dict[str, Any]


class Checkpoint:
    """JobResult units of one run in a file of JSON lines, read back if the run is started again.

    Parameters
    ----------
    path : str or Path
        The file, created if it is missing. The file of another run is refused, never overwritten.
    fingerprint : dict of str to JSON values
        The inputs of the run, by name: two runs with equal fingerprints have equal results.

    Attributes
    ----------
    done : dict of tuple of int to dict of str to float
        The results of the finished units.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Checkpoint(Path(folder, "run.jsonl"), {"seed": 0}) as checkpoint:
    ...         checkpoint.add((0, 3), {"auc": 0.9})
    ...     with Checkpoint(Path(folder, "run.jsonl"), {"seed": 0}) as checkpoint:
    ...         print(checkpoint.done)
    {(0, 3): {'auc': 0.9}}
    """

    def __init__(self, path: str | Path, fingerprint: Fingerprint) -> None:
        self._path = Path(path)
        header = {"format": FORMAT, "version": VERSION, "fingerprint": fingerprint}
        content = self._path.read_bytes() if self._path.exists() else b""
        self.done: dict[Unit, dict[str, float]] = {}
        # A run killed while it wrote the first line has left nothing: start anew.
        is_new = _encode(header).startswith(content)
        if not is_new:
            self._check_header(content, json.loads(_encode(fingerprint)))
        size = 0 if is_new else self._read_units(content)
        self._file = self._path.open("r+b" if self._path.exists() else "xb")
        self._file.truncate(size)
        self._file.seek(size)
        if is_new:
            self._write(header)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, unit: Unit, result: dict[str, float]) -> None:
        """Write a finished unit to disk."""
        known = {name: None if isnan(value) else value for name, value in result.items()}
        self._write({"unit": unit, **known})
        self.done[unit] = result

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(_encode(record))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _check_header(self, content: bytes, fingerprint: Fingerprint) -> None:
        header = _decode(content[: content.find(b"\n") + 1])
        if header is None or header.get("format") != FORMAT:
            raise ValueError(
                f"checkpoint must be a new file or the checkpoint of a run. Got {self._path}, "
                "which is neither: name another file."
            )
        if header.get("version") != VERSION:
            raise ValueError(
                f"checkpoint must be of version {VERSION}. Got {self._path} of version "
                f"{header.get('version')} instead: finish it with the release that started it, or "
                "name another file."
            )
        other = list_differences(header.get("fingerprint", {}), fingerprint)
        if other:
            raise ValueError(
                f"checkpoint must be of a run with the same arguments. Got {self._path}, of a run "
                f"with other {', '.join(other)}: repeat its arguments, name another file, or "
                "delete it."
            )

    def _read_units(self, content: bytes) -> int:
        """Read the finished units; return the offset after the last whole line."""
        lines = content.splitlines(keepends=True)
        size = len(lines[0])
        for number, line in enumerate(lines[1:], start=2):
            record = _decode(line)
            if record is None or "unit" not in record:
                if number < len(lines):
                    raise ValueError(
                        f"checkpoint must have a unit in each line. Got {self._path}, whose line "
                        f"{number} is damaged: delete that line."
                    )
                break
            unit = tuple(record.pop("unit"))
            self.done[unit] = {k: nan if v is None else v for k, v in record.items()}
            size += len(line)
        return size


def _encode(record: dict[str, Any]) -> bytes:
    # ASCII without a raw line break: a line is whole if and only if it ends in one.
    return json.dumps(record, allow_nan=False).encode("ascii") + b"\n"


def _decode(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line, or None if it holds none or is incomplete."""
    try:
        record = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


class WorkFolder:
    """A folder with a subfolder for each finished stage of a run.

    Parameters
    ----------
    folder : str or Path
        The folder, created if it is missing. It is refused if it has the run of another
        fingerprint, or other files.
    fingerprint : dict of str to JSON values
        The inputs of the run, by name.
    stages : sequence of str, optional
        Names of all stages. A run killed while it removed the folder may have left some.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     work = WorkFolder(Path(folder, "work"), {"seed": 0})
    ...     with work.enter("counts") as stage:
    ...         _ = (stage / "counts.txt").write_text("7")
    ...     work.has("counts"), work.has("training")
    (True, False)
    """

    def __init__(
        self, folder: str | Path, fingerprint: Fingerprint, stages: Sequence[str] = ()
    ) -> None:
        self.folder = Path(folder)
        expected = json.loads(json.dumps(fingerprint))
        self._make()
        run = self.folder / RUN
        for part in self.folder.glob(f".{RUN}.*.part"):  # of a run killed while it began
            part.unlink()
        if not run.exists():
            self._refuse_others(stages)
            write_atomic(run, json.dumps(expected, indent=1).encode())
        elif other := self._compare(run, expected):
            raise ValueError(
                f"{self.folder}: a run with other {', '.join(other)} has begun here; repeat its "
                "arguments, name another folder, or delete this one."
            )
        self._lock()
        for part in self.folder.glob("*.part"):
            if part.is_dir():
                shutil.rmtree(part)

    @property
    def is_empty(self) -> bool:
        """Whether no stage is finished."""
        return not any(path.is_dir() for path in self.folder.iterdir())

    def remember(self, name: str, value: Any) -> Any:
        """Return the value stored under a name by an earlier run, or store this one."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            write_atomic(path, json.dumps(value).encode())
        return json.loads(path.read_bytes())

    def has(self, stage: str) -> bool:
        """Return whether a stage is finished."""
        return self.find(stage).is_dir()

    def find(self, stage: str) -> Path:
        """Return the folder of a stage."""
        return self.folder / stage

    @contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Add the folder to errors of the disk: those of numpy and of buffers lack the path."""
        try:
            yield
        except OSError as error:
            if error.filename is not None:
                raise
            if error.errno is None:  # numpy states the number of items written instead
                raise OSError(f"{self.folder}: it cannot be written to ({error})") from None
            raise OSError(error.errno, error.strerror, str(self.folder)) from None

    @contextmanager
    def enter(self, stage: str) -> Iterator[Path]:
        """Give a folder to write a stage to; it gets the stage's name at the end.

        It is removed if the stage fails.
        """
        part = self.folder / f"{stage}.part"
        try:
            with self.naming_errors():
                part.mkdir()
                yield part
                part.rename(self.find(stage))
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise

    def resume(
        self,
        stage: str,
        compute: Callable[[], Result],
        save: Callable[[Path, Result], None],
        load: Callable[[Path], Result],
    ) -> Result:
        """Load the result of a finished stage, or compute and save it."""
        if self.has(stage):
            return load(self.find(stage))
        result = compute()
        with self.enter(stage) as folder:
            save(folder, result)
        return result

    def require_space(self, n_bytes: int) -> None:
        """Raise if the disk has less free space than will be written."""
        free = shutil.disk_usage(self.folder).free
        if free < n_bytes:
            raise ValueError(
                f"{self.folder}: {write_size(n_bytes)} are going to be written there, and "
                f"{write_size(free)} are free; name another folder or free more."
            )

    def clear(self) -> None:
        """Remove the folder; a run killed meanwhile leaves remains that the next one removes."""
        with suppress(OSError):
            (self.folder / RUN).unlink()  # first, as the other files are not whole from now on
        shutil.rmtree(self.folder, ignore_errors=True)

    def release(self) -> None:
        """Allow another run to resume from here, or remove the folder if no stage is finished."""
        if not self.folder.is_dir():
            return
        if self.is_empty:
            self.clear()
        else:
            (self.folder / LOCK).unlink(missing_ok=True)

    def _lock(self) -> None:
        """Keep other runs out. The lock of a killed run does not count."""
        lock, me = self.folder / LOCK, psutil.Process()
        if lock.exists() and _is_running(*json.loads(lock.read_bytes())):
            raise ValueError(
                f"{self.folder}: another run is at work here; name another folder, or wait for it."
            )
        write_atomic(lock, json.dumps([me.pid, me.create_time()]).encode())

    def _make(self) -> None:
        try:
            self.folder.mkdir(exist_ok=True)
        except FileExistsError:
            raise ValueError(f"{self.folder}: this is a file; name a folder to work in") from None
        except OSError as error:
            raise ValueError(f"{self.folder}: it cannot be made ({error.strerror})") from None

    def _refuse_others(self, stages: Sequence[str]) -> None:
        """Raise if there are files of other programs; remove the remains of a run."""
        found, remains = list(self.folder.iterdir()), (*stages, LOCK, "seed.json")
        if any(path.name not in remains and path.suffix != ".part" for path in found):
            raise ValueError(
                f"{self.folder}: there are files in it that no run has left; name a new folder"
            )
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _compare(self, run: Path, expected: Fingerprint) -> list[str]:
        try:
            found = json.loads(run.read_bytes())
        except ValueError:
            found = None
        return list_differences(found, expected) if isinstance(found, dict) else ["arguments"]


def _is_running(pid: int, created: float) -> bool:
    """Return whether a process is running, and is not another one with the same pid."""
    try:
        return bool(abs(psutil.Process(pid).create_time() - created) < 2)  # clocks are adjusted
    except psutil.Error:
        return False


def list_differences(found: Fingerprint, expected: Fingerprint) -> list[str]:
    """Return the names of inputs that differ between two fingerprints."""
    return [name for name in {**expected, **found} if found.get(name) != expected.get(name)]


def digest(array: Any) -> str:
    """Return a hash of the shape, dtype and bytes of an array, dense or sparse."""
    if sparse.issparse(array):
        rows = array.tocsr()
        parts = [np.asarray(rows.shape), rows.indptr, rows.indices, rows.data]
    else:
        parts = [np.asarray(array)]
    found = hashlib.sha256()
    for part in parts:
        found.update(f"{part.shape}{part.dtype.str}".encode())
        found.update(np.ascontiguousarray(part).data)
    return found.hexdigest()[:32]


def describe(value: Any) -> Any:
    """Return a JSON value that identifies an estimator or parameter, the same in every process.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> describe([LinearSVC, 0.5, np.mean])
    ['sklearn.svm._classes.LinearSVC', 0.5, 'numpy.mean']
    """
    if isinstance(value, bool | int | float | str | None):
        return value if not isinstance(value, float) or isfinite(value) else repr(value)
    if isinstance(value, dict):
        return {str(key): describe(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [describe(part) for part in value]
    if isinstance(value, np.random.RandomState):
        return describe(value.get_state())
    if sparse.issparse(value) or (isinstance(value, np.ndarray) and value.dtype.kind != "O"):
        return digest(value)
    if hasattr(value, "get_params") and not isinstance(value, type):
        return [describe(type(value)), describe(value.get_params(deep=False))]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))  # an address is of one process only
