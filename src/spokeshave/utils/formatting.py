"""Numbers, shares and sizes as text, sizes read from text, and any text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

LABELS = {
    "auc": "AUC",
    "best_f1": "best F1",
    "f1": "F1",
    "accuracy": "accuracy",
    "precision_at_20": "precision@20",
}

# A terminal obeys control characters (C0, DEL, C1), and shows text in another order, or on another
# line, after the others. All are valid in JSON in this form.
_RANGES = ((0, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200E, 0x200F), (0x2028, 0x202E),
           (0x2066, 0x206F))  # fmt: skip
_SHORT = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
_CONTROLS = {
    code: _SHORT.get(code, f"\\u{code:04x}")
    for first, last in _RANGES
    for code in range(first, last + 1)
}
_CONTROLS_IN_LINES = {code: shown for code, shown in _CONTROLS.items() if code not in (0x09, 0x0A)}


def escape(text: str, *, keep_lines: bool = False) -> str:
    r"""Return text that a terminal shows as it is: control characters are escaped.

    Names and texts come from files, which may have been made to move the cursor, to change the
    title of the window, or to hide what follows. ``keep_lines`` leaves tabs and line ends.

    Examples
    --------
    >>> print(escape("\x1b[2Jash\noak \u202egnp"))
    \u001b[2Jash\noak \u202egnp
    """
    return text.translate(_CONTROLS_IN_LINES if keep_lines else _CONTROLS)


def name_measure(average: str, measure: str) -> str:
    """Return the name of the average of a measure.

    Examples
    --------
    >>> name_measure("macro", "label_f1"), name_measure("micro", "label_f1")
    ('macro-F1', 'accuracy')
    >>> name_measure("micro", "best_f1")
    'micro best F1'
    """
    if measure == "label_f1":
        return "accuracy" if average == "micro" else "macro-F1"
    return f"{average} {LABELS[measure]}"


def write_share(value: float) -> str:
    """Return a number between 0 and 1 as text, without the zero before the point.

    Examples
    --------
    >>> write_share(0.8714), write_share(1.0)
    ('.871', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def write_terms(names: Iterable[str]) -> str:
    """Return a list of terms as text; commas and quotes tell where a term with spaces ends.

    Examples
    --------
    >>> write_terms(["oak", "ash"]), write_terms(["oak", "oak tree", " el"])
    ('oak ash', 'oak, oak tree, " el"')
    """
    listed = list(names)
    if not any(" " in name for name in listed):
        return " ".join(listed)
    return ", ".join(name if name == name.strip() else f'"{name}"' for name in listed)


def write_size(n_bytes: int) -> str:
    """Return a number of bytes as text, in a suitable unit.

    Examples
    --------
    >>> write_size(512), write_size(190_200), write_size(2_340_000)
    ('512 bytes', '190 KB', '2.3 MB')
    >>> write_size(8_200_000_000)
    '8.2 GB'
    """
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    if n_bytes < 1_000_000:
        return f"{n_bytes / 1000:.0f} KB"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes < 1_000_000_000 else f"{n_bytes / 1e9:.1f} GB"


UNITS = {
    "": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate(("", "K", "M", "G", "T"))},
    **{f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", 1)},
}


def parse_size(size: Any, parameter: str = "memory") -> int:
    """Return the number of bytes in an amount of memory.

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
