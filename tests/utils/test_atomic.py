"""Atomic writes leave the old or the new file, whatever goes wrong."""

from __future__ import annotations

import os
import stat

import pytest

from spokeshave.utils.atomic import open_atomic, write_atomic


@pytest.fixture
def usual_mask():
    """Set a mask that takes writing from others, and put the old one back."""
    before = os.umask(0o027)
    yield
    os.umask(before)


def read_mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("content", [b"", b"oak", bytes(range(256)) * 5_000])
def test_a_file_holds_what_was_written(tmp_path, content):
    write_atomic(tmp_path / "trees", content)
    assert (tmp_path / "trees").read_bytes() == content
    assert os.listdir(tmp_path) == ["trees"]


def test_the_name_may_be_a_string(tmp_path):
    write_atomic(str(tmp_path / "trees"), b"oak")
    assert (tmp_path / "trees").read_bytes() == b"oak"


def test_the_old_content_stays_until_all_is_written(tmp_path):
    path = tmp_path / "trees"
    path.write_bytes(b"ash")
    with open_atomic(path) as stream:
        stream.write(b"oak")
        stream.flush()
        assert path.read_bytes() == b"ash"
    assert path.read_bytes() == b"oak"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("old", [b"ash", None])
def test_what_fails_in_the_middle_leaves_nothing_behind(tmp_path, old, error):
    path = tmp_path / "trees"
    if old is not None:
        path.write_bytes(old)

    def write_and_fail():
        with open_atomic(path) as stream:
            stream.write(b"oak")
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert [found.read_bytes() for found in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_failure_at_the_very_end_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "trees").write_bytes(b"ash")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomic(tmp_path / "trees", b"oak")
    assert os.listdir(tmp_path) == ["trees"]
    assert (tmp_path / "trees").read_bytes() == b"ash"


def test_a_folder_is_not_written_over(tmp_path):
    (tmp_path / "trees").mkdir()
    with pytest.raises(ValueError, match=r"trees: this is a folder; name a file to write"):
        write_atomic(tmp_path / "trees", b"oak")
    assert os.listdir(tmp_path) == ["trees"]


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"trees: it cannot be written \(No such file or dir"):
        write_atomic(tmp_path / "forest" / "trees", b"oak")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_a_file_gets_a_sentence(tmp_path):
    (tmp_path / "forest").write_bytes(b"ash")
    with pytest.raises(ValueError, match=r"trees: it cannot be written \(Not a directory\)"):
        write_atomic(tmp_path / "forest" / "trees", b"oak")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_may_not_be_written_to_gets_a_sentence(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match=r"trees: it cannot be written \(Permission denied\)"):
        write_atomic(tmp_path / "trees", b"oak")
    tmp_path.chmod(0o700)
    assert not list(tmp_path.iterdir())


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path, usual_mask):
    write_atomic(tmp_path / "trees", b"oak")
    (tmp_path / "other").write_bytes(b"oak")
    assert read_mode(tmp_path / "trees") == read_mode(tmp_path / "other") == 0o640
    assert os.umask(0o027) == 0o027  # as it was


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o755])
def test_a_file_keeps_the_permissions_that_it_has(tmp_path, usual_mask, mode):
    path = tmp_path / "trees"
    path.write_bytes(b"ash")
    path.chmod(mode)
    write_atomic(path, b"oak")
    assert read_mode(path) == mode
    assert path.read_bytes() == b"oak"
