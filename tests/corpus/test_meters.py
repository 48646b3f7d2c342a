"""How far reading has come."""

from __future__ import annotations

import gzip

import pytest

from spokeshave.corpus.files import open_binary
from spokeshave.corpus.meters import Meter


def test_files_one_after_the_other():
    meter = Meter()
    assert meter.position == 0
    with meter.measure(100):
        assert meter.position == 0
        meter.note(1, 2)
        assert meter.position == 50
    with meter.measure(300):
        assert meter.position == 100
        meter.note(2, 3)
        assert meter.position == 300
    assert meter.position == 400


def test_nothing_to_read():
    meter = Meter()
    with meter.measure(0):
        meter.note(0, 0)
        assert meter.position == 0
    assert meter.position == 0


def test_what_is_broken_off_stays_where_it_was(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 100_000)
    meter = Meter()
    with pytest.raises(KeyError), meter.measure(100_000):  # noqa: PT012
        with open_binary(path, meter=meter) as stream:
            stream.read(30_000)
            assert 30_000 <= meter.position < 60_000
            position = meter.position
        raise KeyError
    assert meter.position == position


def test_compressed_files_are_measured_as_they_are(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"x" * 1_000_000))
    meter = Meter()
    with meter.measure(path.stat().st_size), open_binary(path, meter=meter) as stream:
        stream.read()
        assert meter.position == path.stat().st_size
