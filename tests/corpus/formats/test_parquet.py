"""Parquet files are read some rows at a time."""

from __future__ import annotations

import os
import signal
from threading import Timer

import polars
import pytest

from spokeshave.corpus.formats.parquet import interrupt_once, read_slices, scan
from spokeshave.errors import CorpusError


@pytest.mark.parametrize("height", [0, 1, 4, 5])
def test_slices_make_the_whole(height):
    frame = polars.DataFrame({"id": range(height)}, schema={"id": polars.Int8})
    slices = list(read_slices(frame.lazy(), 2))
    assert polars.concat(slices).equals(frame)
    assert len(slices) == max(1, (height + 1) // 2)


def test_damage_is_told_with_a_name(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    for name, told in ((None, path), ("standard input", "standard input")):
        with pytest.raises(CorpusError) as error, scan(path, name) as table:
            table.collect()
        assert str(error.value).startswith(f"{told}: it cannot be read as parquet (")


def test_a_panic_is_damage(tmp_path):
    path = tmp_path / "x.parquet"
    polars.DataFrame({"text": ["a"]}).write_parquet(path)
    with pytest.raises(CorpusError) as error, scan(path):
        raise polars.exceptions.PanicException("offset + length <= self.length")
    problem = "it cannot be read as parquet (its pages are damaged)"
    assert error.value.problem == f"{problem}; fetch or write it again"


def test_an_interrupt_comes_once():
    numbers = polars.LazyFrame().select(polars.int_range(2 * 10**7).hash().alias("x"))

    def work_until_interrupted():
        with interrupt_once():
            while True:
                numbers.select(polars.col("x").sort().sum()).collect()

    timer = Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work_until_interrupted()
    timer.join()
    # A second one would be raised by the next call, here.
    assert sum(map(abs, range(1000))) == 499_500
