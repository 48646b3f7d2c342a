"""The limits of document frequency, `min_df` and `max_df`: counts, or shares of the documents."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np


def check_limits(min_df: Any, max_df: Any) -> None:
    """Raise if a limit is neither a count of documents nor a share of them."""
    for name, limit in (("min_df", min_df), ("max_df", max_df)):
        is_count = isinstance(limit, Integral) and int(limit) >= 1
        is_share = isinstance(limit, float | np.floating) and 0 <= limit <= 1
        if not is_count and not is_share:
            raise ValueError(
                f"{name} must be a whole number of documents, at least 1, or a share between "
                f"0.0 and 1.0. Got {limit!r} instead."
            )


def find_limits(min_df: Any, max_df: Any, n_documents: int) -> tuple[float, float]:
    """Return the smallest and largest number of documents a feature may be in.

    Examples
    --------
    >>> find_limits(2, 0.5, n_documents=10)
    (2.0, 5.0)
    """
    lowest, highest = (
        float(limit if isinstance(limit, Integral) else limit * n_documents)
        for limit in (min_df, max_df)
    )
    if highest < lowest:
        raise ValueError(
            f"max_df must allow at least min_df={min_df} of the {n_documents} documents. "
            f"Got max_df={max_df} instead."
        )
    return lowest, highest
