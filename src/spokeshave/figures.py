"""How measures and numbers are written for people."""

from __future__ import annotations

LABELS = {
    "auc": "AUC",
    "best_f1": "best F1",
    "f1": "F1",
    "accuracy": "accuracy",
    "precision_at_20": "precision@20",
}


def name_measure(average: str, measure: str) -> str:
    """Name the average of a measure.

    Examples
    --------
    >>> name_measure("macro", "f1"), name_measure("micro", "best_f1")
    ('macro-F1', 'micro best F1')
    """
    return f"{average}{'-' if measure == 'f1' else ' '}{LABELS[measure]}"


def write_share(value: float) -> str:
    """Write a number between 0 and 1 without the zero before the point.

    Examples
    --------
    >>> write_share(0.8714), write_share(1.0)
    ('.871', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def write_size(n_bytes: int) -> str:
    """Write a number of bytes in the unit that suits it.

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
