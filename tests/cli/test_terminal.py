"""What is shown on a terminal and what is not: progress, colours, width and encoding."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unicodedata
from random import Random

import pytest

from made_models import make_model, weigh
from spokeshave import save_model
from spokeshave.model.inputs import TextInput
from spokeshave.text.analyzers import Analysis

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


# What others have put into files must not reach a terminal as it is.
EVIL = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\u202e\u2028[red]:heart:"
SHOWN = r"\u001b]0;title\u0007\u001b[2J\u009b31m\u007f\u202e\u2028[red]:heart:"


def find_controls(text):
    """Return the characters of a text that control a terminal, other than line ends."""
    kinds = ("Cc", "Cf", "Zl", "Zp")
    return {each for each in text.replace("\n", "") if unicodedata.category(each) in kinds}


@pytest.fixture(scope="module")
def evil_model(tmp_path_factory):
    """Return the file of a model whose names were made to do harm."""
    path = tmp_path_factory.mktemp("evil") / f"{EVIL}.model"
    analysis = Analysis(analyzer="char", ngram_range=(1, 99))
    words = TextInput(("oak", f"ash\n{EVIL}", f"\r{EVIL}"), "counts", None, False, None, analysis)
    model = make_model([f"oak {EVIL}", f"ash {EVIL}", "yew\nnote: all is well"], words, weigh)
    model.provenance.update({"source": f"{EVIL}\n{EVIL}", "versions": {EVIL: EVIL}})
    save_model(model, path)
    return path


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--json",),
        ("--explain", "oak"),
        ("--explain", "oak", "--json"),
        ("--class", f"oak {EVIL}"),
        ("--class", EVIL),
        ("--class", EVIL, "--explain", "oak"),
        (f"--{EVIL}",),
        (EVIL,),
    ],
    ids=lambda options: " ".join(options).replace(EVIL, "EVIL"),
)
def test_a_model_from_somebody_else_controls_no_terminal(call, evil_model, options):
    done = call("inspect", evil_model, *options)
    shown = done.out + done.err
    assert find_controls(shown) == set()
    assert r"\u001b" in shown or "x1b" in shown  # of a value in an error
    if "--json" in options:
        found = json.loads(done.out)
        assert EVIL in (found["label"] if "--explain" in options else found["classes"][0])
    elif not options:
        assert {SHOWN in line for line in shown.splitlines() if "red" in line} == {True}
        assert not any(line.startswith("note") for line in shown.splitlines())


def test_a_missing_file_controls_no_terminal(call):
    for verb in ("fit", "inspect", "rank", "report"):
        done = call(verb, f"{EVIL}\n.csv")
        assert done.code == 2
        assert SHOWN in done.err
        assert find_controls(done.err) == set()
        assert len(done.err.splitlines()) == 1


@pytest.fixture(scope="module")
def evil_table(tmp_path_factory):
    """Return a table whose columns, classes, texts and name were made to do harm."""
    rng = Random(0)
    path = tmp_path_factory.mktemp("evil") / f"{EVIL}.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([f"text {EVIL}", f"label\n{EVIL}"])
        for number in range(60):
            name = ("ash", "oak")[number % 2]
            words = [name, *rng.choices(["tree", "leaf", "root"], k=3), EVIL]
            writer.writerow([" ".join(words), f"{name} {EVIL}\n"])
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "--effort", "quick", "--analyzer", "char", "--ngrams", "1-2"),
        ("rank", "--analyzer", "char", "--ngrams", "1-2"),
        ("rank", "--json"),
        ("rank", "--class", "none"),
        ("curve",),
        ("curve", "--json"),
    ],
    ids=" ".join,
)
def test_a_table_from_somebody_else_controls_no_terminal(call, evil_table, tmp_path, command):
    verb, *options = command
    done = call(verb, evil_table, *options, folder=tmp_path, has_report=False)
    assert done.code == (2 if "none" in command else 0), done.err
    assert find_controls(done.out + done.err) == set()
    assert any(SHOWN in each for each in (done.out, done.err))


def test_attributes_of_somebody_else_control_no_terminal(call, tmp_path):
    lines = ["@relation plants", f"@attribute 'height {EVIL}' numeric"]
    lines += [f"@attribute soil {{'clay {EVIL}',sand}}", f"@attribute kind {{'ash {EVIL}',oak}}"]
    rows = [f"{number},'clay {EVIL}','ash {EVIL}'\n{number % 9},sand,oak" for number in range(30)]
    path = tmp_path / "plants.arff"
    path.write_text("\n".join([*lines, "@data", *rows]).replace("\u2028", ""), encoding="utf-8")
    done = call("shape", path, folder=tmp_path, has_report=False)
    assert done.code == 0, done.err
    assert find_controls(done.out + done.err) == set()
    assert SHOWN.replace(r"\u2028", "") in done.out


def test_a_table_on_a_terminal_is_escaped_and_in_a_pipe_it_is_not(
    call, on_terminal, evil_model, tmp_path
):
    (tmp_path / "new.csv").write_text(f'text\n"oak {EVIL}"\n', encoding="utf-8")
    command = ("predict", evil_model, "new.csv", "--quiet")
    piped = call(*command, folder=tmp_path)
    assert f"oak {EVIL}" in piped.out
    code, drawn = on_terminal(*command, folder=tmp_path)
    assert code == 0
    assert f"oak {SHOWN}" in drawn
    assert find_controls(drawn.replace("\r\n", "\n")) == set()
    code, drawn = on_terminal(*command, "--to", "parquet", folder=tmp_path)
    assert code == 2
    assert "parquet is not for a terminal" in drawn


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_a_cell_that_a_spreadsheet_would_compute_is_written_as_it_is(call, evil_model, cell):
    done = call("predict", evil_model, "-", stdin=f"{cell} oak\n".encode())
    assert [row["text"] for row in csv.DictReader(io.StringIO(done.out))] == [f"{cell} oak"]


# Streams that are closed, or whose reader is gone.


def run_redirected(spokeshave, environment, redirection, *arguments, **options):
    command = ["bash", "-c", f'"$0" "$@" {redirection}', spokeshave, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, **options)


def test_a_closed_stream_of_errors_changes_nothing(spokeshave, environment, evil_model, tmp_path):
    (tmp_path / "new.csv").write_text("body\noak\n")
    command = (spokeshave, environment, "2>&-", "predict", evil_model, "new.csv")
    done = run_redirected(*command, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("body,predicted_label\noak,")  # and no note among the rows
    done = run_redirected(*command, "--out", "labelled.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "labelled.csv").read_text().startswith("body,predicted_label\noak,")
    done = run_redirected(*command, "--format", "none", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_a_closed_output_is_refused_where_it_is_all_there_is(
    spokeshave, environment, evil_model, tmp_path
):
    (tmp_path / "new.csv").write_text("body\noak\n")
    command = (spokeshave, environment, ">&-", "predict", evil_model, "new.csv", "--quiet")
    done = run_redirected(*command, cwd=tmp_path)
    sentence = "spokeshave: standard output is closed; name a file to write\n"
    assert (done.returncode, done.stderr) == (2, sentence)
    done = run_redirected(*command, "--out", "labelled.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for verb in (("inspect", evil_model), ("inspect", evil_model, "--json"), ("--help",)):
        done = run_redirected(spokeshave, environment, ">&- 2>&- <&-", *verb)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run_redirected(spokeshave, environment, "<&-", "predict", evil_model, "-")
    assert done.returncode == 2
    assert done.stderr.startswith("spokeshave: standard input is closed; ")


def test_notes_that_nobody_reads_do_not_end_a_run(spokeshave, environment, evil_model, tmp_path):
    (tmp_path / "new.csv").write_text("body\noak\n")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [spokeshave, "predict", evil_model, "new.csv", "--out", "labelled.csv"],
        stdout=subprocess.PIPE,
        stderr=write,
        cwd=tmp_path,
        env=environment,
    )
    os.close(write)
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "labelled.csv").exists()
