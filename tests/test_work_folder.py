"""The folder a run works in: stages are there whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import numpy as np
import psutil
import pytest

from spokeshave.utils.checkpoint import WorkFolder

FINGERPRINT = {"seed": 0, "documents": [["a.csv", 10, 7]], "by": "normal", "tolerance": 0.005}
NOT_ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write"
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "work"


@pytest.fixture
def work(folder):
    return WorkFolder(folder, FINGERPRINT)


def leave_notes(work, stage):
    with work.enter(stage) as stage:
        (stage / "notes").write_text("oak")


def kill(work):
    """Leave everything as it is, as a run of a process that is gone does."""
    process = psutil.Process()
    gone = [process.pid, process.create_time() - 1000]  # another process had the number then
    (work.folder / "lock.json").write_text(json.dumps(gone))


def fail(work, stage, error):
    with work.enter(stage) as stage:
        (stage / "notes").write_text("oak")
        raise error


def test_a_stage_is_there_when_it_is_done_and_not_before(work):
    with work.enter("counts") as stage:
        (stage / "notes").write_text("oak")
        assert not work.has("counts")
    assert work.has("counts")
    assert (work.find("counts") / "notes").read_text() == "oak"
    assert not stage.exists()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_a_stage_that_fails_leaves_nothing(work, folder, error):
    before = sorted(folder.iterdir())
    with pytest.raises(error, match="no oak"):
        fail(work, "counts", error("no oak"))
    assert not work.has("counts")
    assert sorted(folder.iterdir()) == before
    leave_notes(work, "counts")
    assert work.has("counts")


def test_the_same_run_finds_what_is_finished_again(work, folder):
    leave_notes(work, "counts")
    work.release()
    again = WorkFolder(str(folder), {**FINGERPRINT, "documents": (("a.csv", 10, 7),)})
    assert again.has("counts")
    assert not again.has("ranking")


def test_what_a_killed_stage_has_left_is_removed(work, folder):
    leave_notes(work, "counts")
    (folder / "ranking.part").mkdir()
    (folder / "ranking.part" / "half").touch()
    kill(work)
    again = WorkFolder(folder, FINGERPRINT)
    assert not (folder / "ranking.part").exists()
    assert again.has("counts")
    leave_notes(again, "ranking")


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"seed": 1}, "seed"),
        ({"seed": 1, "by": "chi2"}, "seed, by"),
        ({"documents": [["a.csv", 10, 8]]}, "documents"),
        ({"more": 3}, "more"),
    ],
)
def test_another_run_is_refused_with_what_differs(work, folder, change, names):
    leave_notes(work, "counts")
    with pytest.raises(ValueError, match="has begun here") as caught:
        WorkFolder(folder, {**FINGERPRINT, **change})
    assert str(caught.value) == (
        f"{folder}: a run with other {names} has begun here; repeat its arguments, name another "
        "folder, or delete this one."
    )
    assert work.has("counts")


def test_a_run_that_does_not_say_what_it_depends_on_is_refused(work, folder):
    (folder / "run.json").write_bytes(b'{"seed": 0')
    with pytest.raises(ValueError, match="a run with other arguments has begun here"):
        WorkFolder(folder, FINGERPRINT)


def test_a_run_of_another_program_is_refused(folder):
    folder.mkdir()
    (folder / "run.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match=r"has begun here|that no run has left"):
        WorkFolder(folder, FINGERPRINT)


def test_a_folder_with_other_files_is_refused_and_left_alone(folder):
    folder.mkdir()
    (folder / "thesis.txt").write_text("oak")
    with pytest.raises(ValueError, match="there are files in it that no run has left") as caught:
        WorkFolder(folder, FINGERPRINT)
    assert str(folder) in str(caught.value)
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_file_called_part_is_no_stage(work, folder):
    (folder / "download.part").touch()
    kill(work)
    assert not WorkFolder(folder, FINGERPRINT).has("download")


def test_a_run_that_was_killed_as_it_began_begins_again(folder):
    folder.mkdir()
    (folder / ".run.json.abc123.part").touch()  # what whole_files.write_atomic has left
    WorkFolder(folder, FINGERPRINT)


def test_an_empty_folder_will_do(folder):
    folder.mkdir()
    leave_notes(WorkFolder(folder, FINGERPRINT), "counts")


def test_a_file_in_its_place_gets_one_sentence(folder):
    folder.write_text("oak")
    with pytest.raises(ValueError, match=r"work: this is a file; name a folder to work in$"):
        WorkFolder(folder, FINGERPRINT)
    assert folder.read_text() == "oak"


@pytest.mark.parametrize(
    ("above", "reason"), [("file", "Not a directory"), ("nothing", "No such file or directory")]
)
def test_a_folder_that_cannot_be_made_gets_one_sentence(tmp_path, above, reason):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=rf"work: it cannot be made \({reason}\)$"):
        WorkFolder(tmp_path / above / "work", FINGERPRINT)


@NOT_ROOT
def test_a_folder_that_may_not_be_written_to_gets_one_sentence(folder):
    folder.mkdir(mode=0o500)
    with pytest.raises(ValueError, match="it cannot be written"):
        WorkFolder(folder, FINGERPRINT)
    with pytest.raises(ValueError, match="it cannot be made"):
        WorkFolder(folder / "below", FINGERPRINT)


def test_trouble_with_the_disk_names_the_folder(work, folder):
    """Not where it names a file of its own."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left on device") as caught:
        fail(work, "counts", full)
    assert caught.value.filename == str(folder)
    with pytest.raises(FileNotFoundError) as caught, work.enter("counts") as stage:
        np.load(stage / "missing.npy")
    assert caught.value.filename.endswith("missing.npy")


def test_everything_is_removed_in_the_end(work, folder):
    leave_notes(work, "counts")
    work.clear()
    assert not folder.exists()
    work.clear()


def test_too_little_on_the_disk_is_said_before_anything_is_written(work, folder):
    work.require_space(1)
    with pytest.raises(ValueError, match=r"are going to be written there, and .* are free; name"):
        work.require_space(1 << 60)


def test_a_folder_is_for_one_run_at_a_time(work, folder):
    leave_notes(work, "counts")
    with pytest.raises(ValueError, match="another run is at work here; name another folder, or"):
        WorkFolder(folder, FINGERPRINT)
    assert work.has("counts")
    work.release()
    assert WorkFolder(folder, FINGERPRINT).has("counts")


def test_a_run_that_was_killed_keeps_nobody_out(work, folder):
    leave_notes(work, "counts")
    kill(work)
    assert WorkFolder(folder, FINGERPRINT).has("counts")


def test_a_process_that_is_gone_keeps_nobody_out(work, folder):
    process = subprocess.Popen([sys.executable, "-c", ""])
    begun = psutil.Process(process.pid).create_time()
    process.wait()
    (folder / "lock.json").write_text(json.dumps([process.pid, begun]))
    WorkFolder(folder, FINGERPRINT)


def test_a_folder_that_is_left_with_nothing_finished_is_removed(work, folder):
    assert work.is_empty
    work.release()
    assert not folder.exists()
    work.release()


def test_a_folder_that_is_left_keeps_what_is_finished(work, folder):
    leave_notes(work, "counts")
    assert not work.is_empty
    work.release()
    assert sorted(path.name for path in folder.iterdir()) == ["counts", "run.json"]


def test_what_is_remembered_first_is_what_a_later_run_is_told(work, folder):
    assert work.remember("seed", 7) == 7
    assert work.remember("seed", 8) == 7
    kill(work)
    assert WorkFolder(folder, FINGERPRINT).remember("seed", 9) == 7


def test_trouble_that_names_neither_file_nor_number_names_the_folder(work, folder):
    """As numpy's does, where a disk is full."""
    with pytest.raises(OSError, match="4 requested and 0 written") as caught:
        fail(work, "counts", OSError("4 requested and 0 written"))
    assert str(caught.value).startswith(f"{folder}: it cannot be written to")
