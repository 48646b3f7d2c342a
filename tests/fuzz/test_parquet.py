"""A few damaged parquet files; ``make fuzz`` reads many."""

from __future__ import annotations

from fuzz import parquet


def test_damaged_files_are_read_or_refused():
    assert parquet.run(100, seed=1) == []
