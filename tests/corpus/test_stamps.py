"""Stamps tell files apart that have changed."""

from __future__ import annotations

import os

from spokeshave.corpus.stamps import stamp_content, stamp_files


def test_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("abc")
    os.utime(path, ns=(0, 7))
    assert stamp_files(path, "y") == [("y", 3, 7)]


def test_folder(tmp_path):
    for name in ("b/2", "a/1", "a/c/3", ".git/config", "a/.DS_Store", "__MACOSX/x"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, ns=(0, 7))
    expected = [("x/a/1", 3, 7), ("x/a/c/3", 5, 7), ("x/b/2", 3, 7)]
    assert stamp_files(tmp_path, "x") == expected
    (tmp_path / "a" / "1").unlink()
    assert stamp_files(tmp_path, "x") == expected[1:]


def test_what_came_through_a_pipe_is_known_by_its_content(tmp_path):
    stamps = set()
    for content, time in (("abc", 1), ("abc", 2), ("abd", 3)):
        path = tmp_path / "x"
        path.write_text(content)
        os.utime(path, ns=(0, time))
        [stamp] = stamp_content(path, "standard input")
        assert stamp[:2] == ("standard input", 3)
        stamps.add(stamp)
    assert len(stamps) == 2
