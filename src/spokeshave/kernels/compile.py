"""Kernels compiled by numba and cached on disk; those of a job are compiled before it begins.

A job names its kernels by an exercise: a function of a module that runs all of them on a few
documents. Compiling takes more memory than a small budget or a small worker has, so the exercise
first runs in a process of its own. A marker file beside the cached kernels records that it is done.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba

Exercise = Callable[..., None]


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel with numba and cache it on disk.

    The kernel releases the interpreter lock. Sums may be reordered, but infinities and NaN keep
    their meaning: a division by zero gives infinity, as in numpy.
    """
    kernel = numba.njit(
        function,
        nogil=True,
        cache=True,
        error_model="numpy",
        fastmath={"reassoc", "contract", "nsz"},
    )
    _forget_stale(kernel.stats.cache_path)
    return kernel


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
        program = (
            f"from {exercise.__module__} import {exercise.__name__} as exercise; "
            f"exercise(**{options!r})"
        )
        # In a session of its own, so that an interrupt of the terminal reaches this process only.
        subprocess.run([sys.executable, "-c", program], check=True, start_new_session=True)
        marker = find_marker(exercise, **options)
        if marker.parent.is_dir():
            marker.touch()
    exercise(**options)


def is_compiled(exercise: Exercise, **options: bool) -> bool:
    """Return whether the kernels of a job were compiled after the last change of a kernel."""
    marker = find_marker(exercise, **options)
    return marker.exists() and marker.stat().st_mtime >= find_newest_source()


def find_marker(exercise: Exercise, **options: bool) -> Path:
    """Return the marker file of an exercise, in numba's cache, for this version of Python."""
    name = [exercise.__module__, *(f"{key}={value:d}" for key, value in sorted(options.items()))]
    file = f"{'-'.join(name)}.{sys.implementation.cache_tag}.ready"
    return Path(_do_nothing.stats.cache_path) / file


@compiled
def _do_nothing():
    """Tell the cache folder, which all kernels share."""
