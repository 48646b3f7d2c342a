"""Sources are found, named and looked at before anything is read from them."""

from __future__ import annotations

import os

import pytest

from spokeshave.corpus.open import (
    SourceFile,
    list_content_states,
    list_file_states,
    make_options,
    name_source,
    open_source,
)
from spokeshave.corpus.options import FORMATS, SourceOptions
from spokeshave.corpus.stdin import is_piped
from spokeshave.corpus.stream import READERS
from spokeshave.errors import CorpusError


def test_every_format_has_a_reader():
    assert list(READERS) == list(FORMATS)


def test_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    sources = ["-", tmp_path / "pipe", tmp_path / "file", tmp_path, tmp_path / "nothing"]
    assert list(map(is_piped, sources)) == [True, True, False, False, False]


def test_files_are_read_where_they_are(tmp_path):
    with open_source(str(tmp_path / "x.csv"), None) as path:
        assert path == tmp_path / "x.csv"
    assert name_source(tmp_path / "x.csv") == "x.csv"


@pytest.mark.parametrize(
    ("name", "format", "said"),
    [("x", None, "the format is csv by its content"), ("x", "csv", ""), ("x.csv", None, "")],
)
def test_format_that_only_the_content_tells(tmp_path, name, format, said):
    path = tmp_path / name
    path.write_text("text,label\na,b\n")
    options = make_options(path, format, text="text")
    assert options == SourceOptions(path, "csv", text="text")
    assert SourceFile(path, options).explain_format(format) == said


def test_errors_name_the_source(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    file = SourceFile(tmp_path / "pipe", SourceOptions(tmp_path / "copy" / "input.csv", "csv"))
    with pytest.raises(CorpusError) as caught, file.explain_errors():
        raise CorpusError(tmp_path / "copy" / "input.csv", "the label is missing", 7)
    assert str(caught.value) == f"{tmp_path / 'pipe'}, line 7: the label is missing"
    with pytest.raises(CorpusError) as caught, file.explain_errors():
        raise EOFError
    assert str(caught.value).startswith(f"{tmp_path / 'pipe'}: the compressed file is cut short")


def test_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("abc")
    os.utime(path, ns=(0, 7))
    assert list_file_states(path, "y") == [("y", 3, 7)]


def test_folder(tmp_path):
    for name in ("b/2", "a/1", "a/c/3", ".git/config", "a/.DS_Store", "__MACOSX/x"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, ns=(0, 7))
    expected = [("x/a/1", 3, 7), ("x/a/c/3", 5, 7), ("x/b/2", 3, 7)]
    assert list_file_states(tmp_path, "x") == expected
    (tmp_path / "a" / "1").unlink()
    assert list_file_states(tmp_path, "x") == expected[1:]


def test_what_came_through_a_pipe_is_known_by_its_content(tmp_path):
    states = set()
    for content, time in (("abc", 1), ("abc", 2), ("abd", 3)):
        path = tmp_path / "x"
        path.write_text(content)
        os.utime(path, ns=(0, time))
        [state] = list_content_states(path, "standard input")
        assert state[:2] == ("standard input", 3)
        states.add(state)
    assert len(states) == 2
