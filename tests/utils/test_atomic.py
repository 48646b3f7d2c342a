"""Atomic writes leave the old or the new file, whatever goes wrong."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from spokeshave.utils.atomic import making_folder, open_atomic, write_atomic, write_set


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


# Several files.


def write_trees(folder, names, content=b"oak"):
    write_set({folder / name: content for name in names})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_all_files_of_a_set_have_their_names(tmp_path, monkeypatch, number):
    replace, came = Path.replace, []

    def replace_and_signal(*arguments):
        signal.raise_signal(number)
        assert came == []
        return replace(*arguments)

    def interrupt(number, frame):
        came.append(number)
        raise KeyboardInterrupt

    write_trees(tmp_path, "abc", b"ash")
    monkeypatch.setattr(Path, "replace", replace_and_signal)
    before = signal.signal(number, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            write_trees(tmp_path, "abc")
    finally:
        signal.signal(number, before)
    assert came == [number]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict.fromkeys(
        "abc", b"oak"
    )


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_set_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch, error):
    fsync, left = os.fsync, [None, None]

    def fail(number):
        if not left:
            raise error
        left.pop()
        fsync(number)

    write_trees(tmp_path, "ab", b"ash")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(error)):
        write_trees(tmp_path, "abc")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict.fromkeys(
        "ab", b"ash"
    )


def test_a_file_of_a_set_may_be_removed(tmp_path):
    write_trees(tmp_path, "ab")
    write_set({tmp_path / "a": None, tmp_path / "b": b"ash", tmp_path / "c": None})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"b": b"ash"}


# What killed processes leave.

KILLED = """
import os, signal, sys
from pathlib import Path
from spokeshave.utils.atomic import making_folder, open_atomic
with making_folder(Path(sys.argv[1]), ".trees-") as folder, open_atomic(sys.argv[2]) as stream:
    (folder / "oak").touch()
    stream.write(b"oak")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(tmp_path):
    """Return the path of a file after a process was killed that wrote it."""
    path = tmp_path / "trees [1].csv"
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, path])
    assert done.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2
    return path


def test_the_next_write_removes_what_a_killed_one_has_left(killed):
    write_atomic(killed.with_name("other"), b"oak")
    assert len(os.listdir(killed.parent)) == 3
    write_atomic(killed, b"oak")
    with making_folder(killed.parent, ".trees-"):
        pass
    assert sorted(os.listdir(killed.parent)) == ["other", killed.name]


def test_what_another_process_is_writing_stays(tmp_path):
    path = tmp_path / "trees"
    with open_atomic(path) as stream, making_folder(tmp_path, ".trees-") as folder:
        stream.write(b"oak")
        write_atomic(path, b"ash")
        with making_folder(tmp_path, ".trees-") as other:
            assert other != folder
        assert folder.is_dir()
    assert path.read_bytes() == b"oak"
    assert os.listdir(tmp_path) == ["trees"]


@pytest.mark.parametrize(
    "name", [".trees.part", ".trees.download.part", ".trees.spokeshave-x.part"]
)
def test_files_of_others_stay(tmp_path, name):
    (tmp_path / name).touch()
    write_atomic(tmp_path / "trees", b"oak")
    assert (tmp_path / name).exists()


def test_a_pipe_or_a_link_with_such_a_name_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".trees.spokeshave-abcdefgh.part")
    (tmp_path / "oak").touch()
    (tmp_path / ".trees.spokeshave-ijklmnop.part").symlink_to("oak")
    write_atomic(tmp_path / "trees", b"oak")
    assert (tmp_path / "oak").exists()


def test_a_part_that_was_removed_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    import fcntl

    flock, parts = fcntl.flock, []

    def remove_first(number, how):
        if not parts:
            parts.extend(tmp_path.iterdir())
            parts[0].unlink()
        flock(number, how)

    monkeypatch.setattr(fcntl, "flock", remove_first)
    write_atomic(tmp_path / "trees", b"oak")
    assert len(parts) == 1
    assert (tmp_path / "trees").read_bytes() == b"oak"
