"""Kernels compiled by numba and cached on disk; those of a job are compiled before it begins.

A job names its kernels by an exercise: a function of a module that runs all of them on a few
documents. Compiling takes more memory than a small budget or a small worker has, so the exercise
first runs in a process of its own. A marker file beside the cached kernels records that it is done.

If the cache cannot be written, as in a container whose disk is read-only or full, a temporary one
takes its place until the process ends; a warning says so.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache

Exercise = Callable[..., None]

PROBE = 32_000_000  # bytes that must be free before kernels are compiled: more than they take
CACHE = "NUMBA_CACHE_DIR"
_UNREADABLE = (OSError, EOFError, pickle.UnpicklingError)  # a cached kernel that was cut short
_kernels: list[Any] = []
_temporary: list[str | None] = []  # the temporary cache, if there is one; None if it failed


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel with numba and cache it on disk.

    The kernel releases the interpreter lock. Sums may be reordered, but infinities and NaN keep
    their meaning: a division by zero gives infinity, as in numpy.
    """
    kernel = numba.njit(
        function, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"}
    )
    _kernels.append(kernel)
    _open_cache(kernel)
    return kernel


class KernelCache(FunctionCache):
    """The cache of a kernel on disk; what cannot be read or written there does not end a run."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled kernel, or None if it has to be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except _UNREADABLE:
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled kernel here, or in the temporary cache."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            if use_temporary_cache(self.cache_path, error.strerror or "it cannot be written"):
                with suppress(RuntimeError):
                    KernelCache(self._py_func).save_overload(sig, data)


def _open_cache(kernel: Any) -> None:
    """Give a kernel its cache on disk: the usual one, else a temporary one, else none."""
    try:
        kernel._cache = KernelCache(kernel.py_func)
    except RuntimeError:  # numba has found no folder that it can write
        kernel._cache = NullCache()
        if not _temporary:
            use_temporary_cache("the package or in the home folder", "they cannot be written")
    else:
        _forget_stale(kernel.stats.cache_path)


def use_temporary_cache(place: str, reason: str) -> bool:
    """Keep kernels in a temporary folder from now on; return whether this has changed anything.

    Processes that are started later use it as well. It is removed when this process ends.
    """
    if _temporary:
        return False
    _temporary.append(_make_temporary())
    warnings.warn(
        f"compiled kernels cannot be kept in {place} ({reason}), so they are compiled again in "
        f"each run; set {CACHE} to a folder that can be written",
        stacklevel=2,
    )
    for kernel in _kernels:
        with suppress(RuntimeError):  # there is no temporary folder either
            kernel._cache = KernelCache(kernel.py_func)
    return True


def _make_temporary() -> str | None:
    try:
        folder = tempfile.mkdtemp(prefix="spokeshave-kernels-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    config: Any = numba.config
    os.environ[CACHE] = config.CACHE_DIR = folder
    return folder


@lru_cache
def _forget_stale(folder: str) -> None:
    """Remove cached kernels that are older than the newest kernel source.

    numba checks the file of a kernel, but not the files of the kernels that it calls.
    """
    newest = find_newest_source()
    for index in Path(folder).glob("*.nbi"):
        with suppress(OSError):  # another process may have removed it
            if index.stat().st_mtime < newest:
                index.unlink()


def find_newest_source() -> float:
    """Return when a source of a kernel changed last.

    This is the time of the file's status: the content of an installed file may be older.
    """
    return max(path.stat().st_ctime for path in Path(__file__).parent.glob("*.py"))


@lru_cache
def warm_up(exercise: Exercise, **options: bool) -> None:
    """Compile the kernels of a job in another process if necessary, and load them in this one."""
    if not is_compiled(exercise, **options):
        _require_space()
        if find_marker(exercise, **options) is not None:
            _compile_apart(exercise, options)
    exercise(**options)


def _require_space() -> None:
    """Use the temporary cache if the usual one cannot hold the kernels, as on a full disk."""
    path = _do_nothing.stats.cache_path
    if path is None:
        return
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(bytes(PROBE))
            probe.flush()
    except OSError as error:
        use_temporary_cache(path, error.strerror or "it cannot be written")


def _compile_apart(exercise: Exercise, options: dict[str, bool]) -> None:
    program = (
        "import warnings; warnings.simplefilter('ignore'); "
        f"from {exercise.__module__} import {exercise.__name__} as exercise; "
        f"from {__name__} import mark_compiled; "
        f"exercise(**{options!r}); mark_compiled(exercise, **{options!r})"
    )
    # In a session of its own, so that an interrupt of the terminal reaches this process only.
    subprocess.run([sys.executable, "-c", program], check=True, start_new_session=True)


def mark_compiled(exercise: Exercise, **options: bool) -> None:
    """Record that the kernels of a job are in the cache of this process."""
    marker = find_marker(exercise, **options)
    if marker is not None and marker.parent.is_dir():
        with suppress(OSError):
            marker.touch()


def is_compiled(exercise: Exercise, **options: bool) -> bool:
    """Return whether the kernels of a job were compiled after the last change of a kernel."""
    marker = find_marker(exercise, **options)
    if marker is None or not marker.exists():
        return False
    return marker.stat().st_mtime >= find_newest_source()


def find_marker(exercise: Exercise, **options: bool) -> Path | None:
    """Return the marker file of an exercise, in numba's cache, for this version of Python."""
    if _do_nothing.stats.cache_path is None:
        return None
    name = [exercise.__module__, *(f"{key}={value:d}" for key, value in sorted(options.items()))]
    file = f"{'-'.join(name)}.{sys.implementation.cache_tag}.ready"
    return Path(_do_nothing.stats.cache_path) / file


@compiled
def _do_nothing():
    """Tell the cache folder, which all kernels share."""
