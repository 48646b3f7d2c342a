"""Progress of a stream: batches pass unchanged, and the number of lines is about right."""

from __future__ import annotations

import gzip
from time import sleep

import pytest

from spokeshave.cli import progress
from spokeshave.cli.progress import HEAD, ProgressLines, Steps, estimate_lines, track
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


def test_short_work_writes_nothing_where_there_is_no_terminal(capsys):
    assert len(list(track(make_pairs(), "-", is_quiet=False))) == 3
    with Steps() as steps:
        steps.run("reading", sum, [1, 2])
    assert capsys.readouterr() == ("", "")


class Clock:
    """A clock that stands still until it is moved."""

    now = 1_000.0

    def __call__(self):
        return self.now


def test_long_work_has_a_line_for_each_stage_and_then_one_a_minute():
    clock, written = Clock(), []
    lines = ProgressLines(written.append, clock)
    for seconds in range(34 * 60):
        clock.now = 1_000.0 + seconds
        if seconds in (0, 2, 30, 95):
            lines.begin(f"stage {seconds}")
        lines.update(f"half of {seconds}" if seconds in (40, 500) else None)
    assert written[:5] == [
        "0:00:10 stage 2",
        "0:00:30 stage 30",
        "0:01:30 half of 40",
        "0:01:35 stage 95",
        "0:02:35 stage 95",
    ]
    assert written[9:11] == ["0:07:35 stage 95", "0:08:35 half of 500"]
    assert len(written) == 4 + (34 * 60 - 1 - 95) // 60


@pytest.mark.parametrize("is_quiet", [False, True])
def test_steps_write_lines_where_there_is_no_terminal_unless_quiet(is_quiet, capsys):
    clock = Clock()
    with Steps(is_quiet=is_quiet, clock=clock) as steps:
        steps.begin("reading")
        clock.now += 61
        steps.begin("ranking")
        clock.now += 59
        steps.reach(0.2)
        clock.now += 1
        steps.reach(0.25)
    expected = "" if is_quiet else "0:01:01 ranking\n0:02:01 ranking, 25%\n"
    assert capsys.readouterr() == ("", expected)


def test_a_step_that_says_nothing_has_lines_all_the_same(capsys, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Steps() as steps:
        steps.begin("reading")
        printed = ""
        for _ in range(100):
            sleep(0.05)
            printed += capsys.readouterr().err
            if printed.count("\n") > 2:
                break
    assert printed.count(" reading\n") > 2


@pytest.mark.parametrize("is_quiet", [False, True])
def test_rows_are_counted_once_a_minute_where_there_is_no_terminal(is_quiet, capsys, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "monotonic", clock)
    for _ in track(make_pairs(), "-", is_quiet=is_quiet):
        clock.now += 40
    assert capsys.readouterr().err == ("" if is_quiet else "0:00:40 3 rows\n")


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
