"""How every kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

# Threads run side by side without the interpreter's lock, and a kernel compiles once per machine.
# Sums may be reordered, but infinities and NaN keep their meaning.
compiled: Callable[..., Any] = numba.njit(
    nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"}
)
