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

from spokeshave.budget.workplace import Workplace

FINGERPRINT = {"seed": 0, "documents": [["a.csv", 10, 7]], "by": "normal", "tolerance": 0.005}
NOT_ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write"
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "work"


@pytest.fixture
def workplace(folder):
    return Workplace(folder, FINGERPRINT)


def leave_notes(workplace, stage):
    with workplace.enter(stage) as place:
        (place / "notes").write_text("oak")


def kill(workplace):
    """Leave everything as it is, as a run of a process that is gone does."""
    process = psutil.Process()
    gone = [process.pid, process.create_time() - 1000]  # another process had the number then
    (workplace.folder / "lock.json").write_text(json.dumps(gone))


def fail(workplace, stage, error):
    with workplace.enter(stage) as place:
        (place / "notes").write_text("oak")
        raise error


def test_a_stage_is_there_when_it_is_done_and_not_before(workplace):
    with workplace.enter("survey") as place:
        (place / "notes").write_text("oak")
        assert not workplace.has("survey")
    assert workplace.has("survey")
    assert (workplace.find("survey") / "notes").read_text() == "oak"
    assert not place.exists()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_a_stage_that_fails_leaves_nothing(workplace, folder, error):
    before = sorted(folder.iterdir())
    with pytest.raises(error, match="no oak"):
        fail(workplace, "survey", error("no oak"))
    assert not workplace.has("survey")
    assert sorted(folder.iterdir()) == before
    leave_notes(workplace, "survey")
    assert workplace.has("survey")


def test_the_same_run_finds_what_is_finished_again(workplace, folder):
    leave_notes(workplace, "survey")
    workplace.leave()
    again = Workplace(str(folder), {**FINGERPRINT, "documents": (("a.csv", 10, 7),)})
    assert again.has("survey")
    assert not again.has("ranking")


def test_what_a_killed_stage_has_left_is_removed(workplace, folder):
    leave_notes(workplace, "survey")
    (folder / "ranking.part").mkdir()
    (folder / "ranking.part" / "half").touch()
    kill(workplace)
    again = Workplace(folder, FINGERPRINT)
    assert not (folder / "ranking.part").exists()
    assert again.has("survey")
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
def test_another_run_is_refused_with_what_differs(workplace, folder, change, names):
    leave_notes(workplace, "survey")
    with pytest.raises(ValueError, match="has begun here") as caught:
        Workplace(folder, {**FINGERPRINT, **change})
    assert str(caught.value) == (
        f"{folder}: a run with other {names} has begun here; repeat its arguments, name another "
        "folder, or delete this one."
    )
    assert workplace.has("survey")


def test_a_run_that_does_not_say_what_it_depends_on_is_refused(workplace, folder):
    (folder / "run.json").write_bytes(b'{"seed": 0')
    with pytest.raises(ValueError, match="a run with other arguments has begun here"):
        Workplace(folder, FINGERPRINT)


def test_a_run_of_another_program_is_refused(folder):
    folder.mkdir()
    (folder / "run.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match=r"has begun here|that no run has left"):
        Workplace(folder, FINGERPRINT)


def test_a_folder_with_other_files_is_refused_and_left_alone(folder):
    folder.mkdir()
    (folder / "thesis.txt").write_text("oak")
    with pytest.raises(ValueError, match="there are files in it that no run has left") as caught:
        Workplace(folder, FINGERPRINT)
    assert str(folder) in str(caught.value)
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_file_called_part_is_no_stage(workplace, folder):
    (folder / "download.part").touch()
    kill(workplace)
    assert not Workplace(folder, FINGERPRINT).has("download")


def test_a_run_that_was_killed_as_it_began_begins_again(folder):
    folder.mkdir()
    (folder / ".run.json.abc123.part").touch()  # what whole_files.write_atomic has left
    Workplace(folder, FINGERPRINT)


def test_an_empty_folder_will_do(folder):
    folder.mkdir()
    leave_notes(Workplace(folder, FINGERPRINT), "survey")


def test_a_file_in_its_place_gets_one_sentence(folder):
    folder.write_text("oak")
    with pytest.raises(ValueError, match=r"work: this is a file; name a folder to work in$"):
        Workplace(folder, FINGERPRINT)
    assert folder.read_text() == "oak"


@pytest.mark.parametrize(
    ("above", "reason"), [("file", "Not a directory"), ("nothing", "No such file or directory")]
)
def test_a_folder_that_cannot_be_made_gets_one_sentence(tmp_path, above, reason):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=rf"work: it cannot be made \({reason}\)$"):
        Workplace(tmp_path / above / "work", FINGERPRINT)


@NOT_ROOT
def test_a_folder_that_may_not_be_written_to_gets_one_sentence(folder):
    folder.mkdir(mode=0o500)
    with pytest.raises(ValueError, match="it cannot be written"):
        Workplace(folder, FINGERPRINT)
    with pytest.raises(ValueError, match="it cannot be made"):
        Workplace(folder / "below", FINGERPRINT)


def test_trouble_with_the_disk_names_the_folder(workplace, folder):
    """Not where it names a file of its own."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left on device") as caught:
        fail(workplace, "survey", full)
    assert caught.value.filename == str(folder)
    with pytest.raises(FileNotFoundError) as caught, workplace.enter("survey") as place:
        np.load(place / "missing.npy")
    assert caught.value.filename.endswith("missing.npy")


def test_everything_is_removed_in_the_end(workplace, folder):
    leave_notes(workplace, "survey")
    workplace.clear()
    assert not folder.exists()
    workplace.clear()


def test_too_little_on_the_disk_is_said_before_anything_is_written(workplace, folder):
    workplace.require(1)
    with pytest.raises(ValueError, match=r"are going to be written there, and .* are free; name"):
        workplace.require(1 << 60)


def test_a_folder_is_for_one_run_at_a_time(workplace, folder):
    leave_notes(workplace, "survey")
    with pytest.raises(ValueError, match="another run is at work here; name another folder, or"):
        Workplace(folder, FINGERPRINT)
    assert workplace.has("survey")
    workplace.leave()
    assert Workplace(folder, FINGERPRINT).has("survey")


def test_a_run_that_was_killed_keeps_nobody_out(workplace, folder):
    leave_notes(workplace, "survey")
    kill(workplace)
    assert Workplace(folder, FINGERPRINT).has("survey")


def test_a_process_that_is_gone_keeps_nobody_out(workplace, folder):
    process = subprocess.Popen([sys.executable, "-c", ""])
    begun = psutil.Process(process.pid).create_time()
    process.wait()
    (folder / "lock.json").write_text(json.dumps([process.pid, begun]))
    Workplace(folder, FINGERPRINT)


def test_a_folder_that_is_left_with_nothing_finished_is_removed(workplace, folder):
    assert workplace.is_empty
    workplace.leave()
    assert not folder.exists()
    workplace.leave()


def test_a_folder_that_is_left_keeps_what_is_finished(workplace, folder):
    leave_notes(workplace, "survey")
    assert not workplace.is_empty
    workplace.leave()
    assert sorted(path.name for path in folder.iterdir()) == ["run.json", "survey"]


def test_what_is_remembered_first_is_what_a_later_run_is_told(workplace, folder):
    assert workplace.remember("seed", 7) == 7
    assert workplace.remember("seed", 8) == 7
    kill(workplace)
    assert Workplace(folder, FINGERPRINT).remember("seed", 9) == 7


def test_trouble_that_names_neither_file_nor_number_names_the_folder(workplace, folder):
    """As numpy's does, where a disk is full."""
    with pytest.raises(OSError, match="4 requested and 0 written") as caught:
        fail(workplace, "survey", OSError("4 requested and 0 written"))
    assert str(caught.value).startswith(f"{folder}: it cannot be written to")
