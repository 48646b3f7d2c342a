"""Random order, the same in every thread."""

from __future__ import annotations

import numpy as np

from spokeshave.kernels.compiled import compiled


@compiled
def seeded(seed):
    """Return the state of a generator of our own: numba's differs from thread to thread."""
    return np.array([np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)])


@compiled
def shuffle(items, m, state):
    """Shuffle the first m items in place (Fisher and Yates, xorshift64)."""
    x = state[0]
    for s in range(m - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        t = (x >> np.uint64(32)) * np.uint64(s + 1) >> np.uint64(32)
        items[s], items[t] = items[t], items[s]
    state[0] = x
