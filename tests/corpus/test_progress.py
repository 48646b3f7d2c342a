"""How far reading has come."""

from __future__ import annotations

import gzip

import pytest

from spokeshave.corpus.files import open_binary
from spokeshave.corpus.progress import Progress


def test_files_one_after_the_other():
    progress = Progress()
    assert progress.position == 0
    with progress.measure(100):
        assert progress.position == 0
        progress.update(1, 2)
        assert progress.position == 50
    with progress.measure(300):
        assert progress.position == 100
        progress.update(2, 3)
        assert progress.position == 300
    assert progress.position == 400


def test_nothing_to_read():
    progress = Progress()
    with progress.measure(0):
        progress.update(0, 0)
        assert progress.position == 0
    assert progress.position == 0


def test_what_is_broken_off_stays_where_it_was(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 100_000)
    progress = Progress()
    with pytest.raises(KeyError), progress.measure(100_000):  # noqa: PT012
        with open_binary(path, progress=progress) as stream:
            stream.read(30_000)
            assert 30_000 <= progress.position < 60_000
            position = progress.position
        raise KeyError
    assert progress.position == position


def test_compressed_files_are_measured_as_they_are(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"x" * 1_000_000))
    progress = Progress()
    with progress.measure(path.stat().st_size), open_binary(path, progress=progress) as stream:
        stream.read()
        assert progress.position == path.stat().st_size
