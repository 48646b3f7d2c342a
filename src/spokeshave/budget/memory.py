"""Memory that the process holds."""

from __future__ import annotations

import ctypes
import sys

import psutil


def measure_resident() -> int:
    """Return how many bytes of memory the process holds: those that a budget counts."""
    return int(psutil.Process().memory_info().rss)


def measure_installed() -> int:
    """Return how many bytes of memory the machine has."""
    return int(psutil.virtual_memory().total)


def give_back() -> None:
    """Return memory that is freed but still held to the system, where the system has a way."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
        if trim is not None:
            trim(0)
