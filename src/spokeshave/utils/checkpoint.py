"""The checkpoint of a long run: a file of JSON lines, one per finished unit of work.

The first line identifies the run. Every line is flushed to the disk at once, so a run that is
killed loses only its unfinished units.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

FORMAT, VERSION = "spokeshave checkpoint", 1

Unit = tuple[int, ...]
Fingerprint = dict[str, Any]


class Checkpoint:
    """The finished units of one run, read back when the run is started again.

    Parameters
    ----------
    path : str or Path
        The file. It is created if it does not exist. A file of another run is an error and is
        never overwritten.
    fingerprint : dict of str to JSON values
        Everything the run depends on: two runs with equal fingerprints have equal results.

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
        # A run killed while writing its first line leaves a prefix of it, which counts as new.
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
        """Write a finished unit to the disk."""
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
        found = header.get("fingerprint", {})
        names = {**fingerprint, **found}
        other = [name for name in names if found.get(name) != fingerprint.get(name)]
        if other:
            raise ValueError(
                f"checkpoint must be of a run with the same arguments. Got {self._path}, of a run "
                f"with other {', '.join(other)}: repeat its arguments, name another file, or "
                "delete it."
            )

    def _read_units(self, content: bytes) -> int:
        """Read the finished units; return the end of the last complete line."""
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
    # JSON in ASCII has no raw line break, so a line is complete if and only if it ends in one.
    return json.dumps(record, allow_nan=False).encode("ascii") + b"\n"


def _decode(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line, or None if it is incomplete or not a JSON object."""
    try:
        record = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def digest(array: Any) -> str:
    """Return a fingerprint of the shape, dtype and bytes of a dense or sparse array."""
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
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))  # addresses differ between processes
