"""Parquet files are written some rows at a time."""

from __future__ import annotations

import polars
import pytest

from spokeshave.corpus import limits
from spokeshave.corpus.rewrite.parquet_writer import Parts


@pytest.mark.parametrize("limit", ["ROWS_PER_PART", "BYTES_PER_PART"])
def test_parts_make_the_whole_in_order(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(limits, limit, 10)
    frame = polars.DataFrame({"id": range(100), "text": [str(number) * 9 for number in range(100)]})
    parts = Parts(tmp_path)
    for piece in frame.iter_slices(7):
        parts.add(piece)
    assert len(list(tmp_path.iterdir())) > 5
    assert polars.read_parquet(parts.join()).equals(frame)
    assert [path.name for path in tmp_path.iterdir()] == ["whole.parquet"]


def test_parts_without_rows(tmp_path):
    frame = polars.DataFrame(schema={"id": polars.Int8})
    parts = Parts(tmp_path)
    parts.add(frame)
    assert polars.read_parquet(parts.join()).equals(frame)


def test_parts_that_cannot_be_written(tmp_path):
    parts = Parts(tmp_path / "missing")
    parts.add(polars.DataFrame({"id": [1]}))
    with pytest.raises(OSError, match=r"^(the parquet file cannot be written|No such file)"):
        parts.join()
