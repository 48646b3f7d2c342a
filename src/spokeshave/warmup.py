"""Warm-up: have the kernels of a job compiled before it is timed or its memory is measured.

A job describes its kernels by an exercise: a function of a module that runs all of them on a few
documents. Compiling takes more memory than a small budget or a small worker has, so the exercise
first runs in a process of its own. numba caches the compiled kernels, and a marker file beside them
records that the exercise is done.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from spokeshave.kernels.compile import find_newest_source
from spokeshave.kernels.descent import polish

Exercise = Callable[..., None]


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
    folder = Path(polish.stats.cache_path)
    return folder / f"{'-'.join(name)}.{sys.implementation.cache_tag}.ready"
