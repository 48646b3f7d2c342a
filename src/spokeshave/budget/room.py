"""The room that a budget leaves for documents and weights."""

from __future__ import annotations

from dataclasses import dataclass

from spokeshave.budget.memory import measure_resident
from spokeshave.utils.formatting import write_size

SPARE = 48_000_000  # bytes kept free for reading, and for what a stage forgets to give back
PART = 16  # of the budget, kept free where that is more
COARSE = 4_000_000  # bytes that what a process holds is rounded up to
STEP = 1_000_000  # bytes that a floor is rounded up to
LEAST = 16_000_000  # bytes for documents and weights, without which nothing can be done


@dataclass(frozen=True)
class Room:
    """What there is of memory, in bytes.

    Attributes
    ----------
    memory : int
        The budget.
    taken : int
        What the process holds before it begins, and keeps free for reading.
    """

    memory: int
    taken: int

    @property
    def free(self) -> int:
        """What is left for documents and weights."""
        return self.memory - self.taken


def find_spare(memory: int) -> int:
    """Return how much of a budget is not planned with: reading and rounding take their share.

    Examples
    --------
    >>> find_spare(512_000_000), find_spare(8_000_000_000)
    (48000000, 500000000)
    """
    return max(SPARE, memory // PART)


def find_room(memory: int) -> Room:
    """Return what there is of memory, or raise where it is too little for anything."""
    # Rounded, for two runs to have the same room though they hold a few pages more or less.
    spare = find_spare(memory)
    taken = -(-measure_resident() // COARSE) * COARSE + spare
    if memory < taken + LEAST:
        held = taken - spare + LEAST
        floor = max(held + SPARE, -(-held * PART // (PART - 1)))  # which has to spare its part too
        step = STEP if floor < 1_000_000_000 else 100 * STEP  # as it is written
        floor = -(-floor // step) * step
        raise ValueError(
            f"memory must be at least {write_size(floor)}: the process holds "
            f"{write_size(taken - spare)} before it begins. Got {write_size(memory)} instead."
        )
    return Room(memory, taken)
