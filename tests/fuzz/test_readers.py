"""A few damaged files of documents; ``make fuzz`` reads many."""

from __future__ import annotations

from fuzz import readers


def test_damaged_files_are_read_or_refused():
    assert readers.run(150, seed=1) == []
