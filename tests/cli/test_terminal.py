"""What is shown on a terminal and what is not: progress, colours, width and encoding."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")
WIDTH = 72


@pytest.fixture(scope="module")
def on_terminal(spokeshave, environment):
    """Return a function that runs a command on a terminal and gives its code and what it drew."""

    def on_terminal(*arguments, folder=None, **more):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
        settings = {name: value for name, value in environment.items() if name != "COLUMNS"}
        with subprocess.Popen(
            [spokeshave, *map(str, arguments)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env=settings | {"TERM": "xterm-256color"} | more,
        ) as process:
            os.close(theirs)
            drawn = b"".join(iter(lambda: read(ours), b""))
        os.close(ours)
        return process.returncode, drawn.decode()

    return on_terminal


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.fixture(scope="module")
def drawn(on_terminal, in_ascii, trees):  # which goes on in the background meanwhile
    code, drawn = on_terminal("curve", trees.path, *trees.columns)
    assert code == 0, drawn
    return drawn


def test_progress_and_the_time_left_are_shown_and_cleared(drawn):
    assert "tracing the curve (mask)" in drawn
    assert re.search(r"left .*\d:\d\d:\d\d", drawn)
    progress, _, rest = drawn.rpartition("\x1b[2K")
    assert "making rows" in progress
    assert "left" not in rest
    assert "making rows" not in rest
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h") == 1  # the cursor is back


def test_the_curve_is_drawn_as_wide_as_the_terminal(drawn):
    lines = [ESCAPE.sub("", line) for line in drawn.rpartition("\x1b[2K")[2].splitlines()]
    rows = [line for line in lines if " ± 0." in line]
    assert len(rows) == 13
    assert WIDTH - 9 <= max(map(len, rows)) <= WIDTH
    assert any("█" in row for row in rows)
    assert "← chosen" in "".join(rows)


@pytest.mark.parametrize("has_colours", [True, False])
def test_an_error_on_a_terminal_is_one_line_after_the_progress(on_terminal, tmp_path, has_colours):
    (tmp_path / "trees.csv").write_text("leaf,kind\n")
    wish = {} if has_colours else {"NO_COLOR": "1"}
    code, drawn = on_terminal("fit", "trees.csv", folder=tmp_path, **wish)
    assert code == 2
    progress, _, last = drawn.rpartition("\x1b[2K")
    assert "reading" in progress
    assert bool(COLOUR.search(progress)) == has_colours
    assert last.splitlines() == ["spokeshave: trees.csv: there are no documents in it"]


def test_nothing_controls_a_pipe(fitted, fitted_tagged):
    for done in (fitted.done, fitted_tagged.done):
        assert "\x1b" not in done.out + done.err
        assert "\r" not in done.out + done.err


@pytest.fixture(scope="module")
def in_ascii(start, run, trees, tmp_path_factory):
    """Return what runs commands where there is only ASCII, after a fit of words that need more."""
    folder = tmp_path_factory.mktemp("ascii")
    content = trees.path.read_text().replace("ash", "größe").replace("oak", "Ελιά")
    (folder / "trees.csv").write_text(content, encoding="utf-8")
    options = {"folder": folder, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    quick = ("--effort", "quick")
    fit = start("fit", "trees.csv", *trees.columns, *quick, has_report=False, **options)
    return lambda *command: run(*command, **options) if command else fit.result()


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("inspect", "trees.model"),
        ("inspect", "trees.model", "--json"),
        ("rank", "--help"),
        ("rank", "größe"),
    ],
)
def test_where_there_is_only_ascii_all_is_ascii(in_ascii, command):
    in_ascii()
    done = in_ascii(*command)
    assert done.code == 2 * (command[-1:] == ("größe",)), done.err
    assert done.raw.isascii()
    assert done.err.isascii()
    assert "Traceback" not in done.err


def test_where_there_is_only_ascii_nothing_is_lost(in_ascii):
    lines = in_ascii().out.splitlines()
    assert any(" +- ." in line for line in lines)
    assert any("####" in line and "<- chosen" in line for line in lines)
    assert any(line.startswith("gr\\xf6\\xdfe ") for line in lines)
    found = json.loads(in_ascii("inspect", "trees.model", "--json").out)
    assert found["classes"] == ["größe", "yew", "Ελιά"]
    table = in_ascii("predict", "trees.model", "trees.csv")
    assert table.code == 0
    assert "Ελιά" in table.out  # a table is a file: it is in UTF-8 everywhere
