"""Progress of a stream: batches pass unchanged, and the number of lines is about right."""

from __future__ import annotations

import gzip

import pytest

from spokeshave.cli.progress import HEAD, estimate_lines, track
from spokeshave.corpus.rewrite.row_reader import CellBatch


def make_pairs():
    for first in (2, 4):
        numbers = [first, first + 1]
        batch = CellBatch(("text",), numbers, ["ash", "oak"], [["ash"], ["oak"]])
        yield batch, batch.texts
    yield CellBatch(("text",), [], [], []), []


class Terminal:
    """Standard error that is a terminal, and remembers what was written."""

    encoding = "utf-8"

    def __init__(self):
        self.written = []

    def isatty(self):
        return True

    def write(self, text):
        self.written.append(text)

    def flush(self):
        pass


@pytest.mark.parametrize("is_quiet", [False, True])
def test_batches_pass_as_they_are(is_quiet, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    passed = list(track(make_pairs(), "-", is_quiet=is_quiet))
    assert [documents for _, documents in passed] == [["ash", "oak"], ["ash", "oak"], []]
    assert ("rows" in "".join(terminal.written)) is not is_quiet


def test_nothing_is_written_where_there_is_no_terminal(capsys):
    assert len(list(track(make_pairs(), "-", is_quiet=False))) == 3
    assert capsys.readouterr() == ("", "")


def test_lines_of_equal_length_are_counted(tmp_path):
    path = tmp_path / "words.csv"
    n_lines = HEAD // 16 * 3  # the head does not reach the end
    path.write_bytes(b"fifteen letters\n" * n_lines)
    assert estimate_lines(str(path)) == n_lines


@pytest.mark.parametrize(
    ("name", "content"),
    [("words.csv.gz", gzip.compress(b"ash\noak\n")), ("words.csv", b""), ("words.csv", b"ash")],
)
def test_what_cannot_be_told_is_not_told(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    assert estimate_lines(str(tmp_path / name)) is None
    assert estimate_lines(str(tmp_path / "nowhere.csv")) is None
