"""The decorator that compiles every kernel, and the check for stale compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba


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
