"""Amounts of memory in words."""

from __future__ import annotations

import re
from typing import Any

UNITS = {
    "": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate(("", "K", "M", "G", "T"))},
    **{f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", 1)},
}


def parse_size(size: Any, parameter: str = "memory") -> int:
    """Return an amount of memory as a number of bytes.

    Examples
    --------
    >>> parse_size("512MB"), parse_size("1.5 GiB"), parse_size(1000)
    (512000000, 1610612736, 1000)
    """
    if hasattr(size, "__index__") and int(size) > 0 and size is not True:
        return int(size)
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(size), re.IGNORECASE)
    if isinstance(size, str) and found and found[2].upper() in UNITS:
        n_bytes = float(found[1]) * UNITS[found[2].upper()]
        if 1 <= n_bytes < float("inf"):
            return int(n_bytes)
    raise ValueError(
        f"{parameter} must be a number of bytes, or text such as '512MB', '2GB' or '1.5GiB'. "
        f"Got {size!r} instead."
    )
