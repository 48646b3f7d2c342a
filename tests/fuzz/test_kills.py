"""A few of the kills of ``fuzz.kills``, which spreads more of them over all stages."""

from __future__ import annotations

from fuzz.kills import run


def test_killed_predictions_leave_whole_files_and_can_be_repeated():
    assert run(3, 0, turns=("predict", "compressed", "parquet")) == []
