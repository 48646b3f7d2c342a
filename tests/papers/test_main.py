"""``python -m papers``: options, output, and interrupted runs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import made_papers
import papers
from papers.__main__ import _make_report, main, make_parser
from papers.reproduce import reproduce

HERE, ROOT = Path(made_papers.__file__).parent, Path(papers.__file__).parents[1]
# The made-up paper is known only to the process that loads it; the rest is the command itself.
PROGRAM = f"""
import sys
sys.path[:0] = [{str(HERE)!r}, {str(ROOT)!r}]
import made_papers, papers
from papers.__main__ import main
if __name__ == "__main__":
    papers.load_paper = lambda name: made_papers.PAPER
    sys.exit(main())
"""


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "numbers.csv").touch()
    (folder / "calls.txt").touch()
    return folder


@pytest.fixture
def call(monkeypatch, tmp_path, capsys):
    """Return a function that runs the command here and gives its code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPOKESHAVE_DATA", raising=False)
    known = papers.load_paper
    monkeypatch.setattr(
        papers, "load_paper", lambda name: made_papers.PAPER if name == "powers" else known(name)
    )

    def call(*arguments):
        return main([*map(str, arguments)]), *capsys.readouterr()

    return call


def test_verdicts_are_printed_and_progress_is_reported(call, data):
    code, out, err = call("powers", "--data", data, "--n-jobs", 1)
    assert code == 0
    assert out.splitlines()[:2] == [
        "Table 1: squares are 9, 1 and 4",
        "  reproduced: 3 powers: [9, 1, 4]",
    ]
    assert re.fullmatch(r"8 files in reproduced/powers, \d+ s", out.splitlines()[-1])
    first, *lines = err.splitlines()
    assert first == "papers: running"
    assert len(lines) == 7
    assert all(
        re.fullmatch(r"papers: [ 1]\d\d%  \w+-\d, about \d+ (s|min) left", line) for line in lines
    )
    assert "100%  cube-1, about 0 s left" in lines[-1]
    assert Path("reproduced/powers/verdict.md").is_file()


def test_a_run_that_is_repeated_says_how_much_was_done(call, data):
    call("powers", "--data", data, "--only", "table1", "--n-jobs", 1)
    code, _, err = call("powers", "--data", data, "--only", "table2", "--n-jobs", 1)
    assert code == 0
    assert err.splitlines()[0] == "papers: running; 43% were done before"
    assert "100%  square-4, about 0 s left" in err.splitlines()[1]


def test_data_may_be_named_by_the_environment(call, data, monkeypatch):
    monkeypatch.setenv("SPOKESHAVE_DATA", str(data))
    assert call("powers", "--only", "table1", "--n-jobs", 1)[0] == 0


def test_a_quick_run_has_a_folder_of_its_own(call, data):
    code, out, _ = call("powers", "--data", data, "--quick", "--n-jobs", 1)
    assert code == 0
    assert "files in reproduced/powers-quick, " in out
    assert made_papers.list_names(data) == ["square-3", "cube-3"]


def test_some_parts_in_another_folder(call, data):
    options = ("--only", " table2, table1", "-o", "x/y", "--n-jobs", 1)
    code, out, _ = call("powers", "--data", data, *options)
    assert code == 0
    assert out.splitlines()[-1].startswith("4 files in x/y, ")
    assert "  not run: needs the table figure1-powers" in out.splitlines()


def test_json(call, data):
    code, out, _ = call("powers", "--data", data, "--json", "--only", "table1", "--n-jobs", 1)
    assert code == 0
    found = json.loads(out)
    assert found["claims"][0] == {
        "where": "Table 1",
        "says": "squares are 9, 1 and 4",
        "verdict": "reproduced",
        "figures": "3 powers: [9, 1, 4]",
    }
    assert "reproduced/powers/results/table1-powers.csv" in found["files"]
    assert found["seconds"] > 0


def test_quiet(call, data):
    code, out, err = call("powers", "--data", data, "-q", "--only", "table1", "--n-jobs", 1)
    assert (code, err) == (0, "")
    assert out.startswith("Table 1: ")


class Terminal:
    """Standard error that is a terminal, and remembers what was written."""

    def __init__(self):
        self.written = ""

    def isatty(self):
        return True

    def write(self, text):
        self.written += text

    def flush(self):
        pass


def test_progress_is_one_line_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    report = _make_report()
    report("", 0.0, 6.0)
    report("square-3", 3.0, 6.0)
    assert re.search(r"\r\x1b\[Kpapers:  50%  square-3, about \d+ s left$", terminal.written)
    assert "\n" not in terminal.written
    report("cube-3", 6.0, 6.0)
    assert terminal.written.endswith("left\n")


BAD = {
    "another paper": (("porter1980",), "paper must be one of kolcz2007, malik, forman2009. Got "),
    "another part": (("powers", "--only", "table1,x"), "powers has the parts table1, table2, "),
    "no part": (("powers", "--only", ""), "powers has the parts table1, table2, "),
    "no processes": (("powers", "--n-jobs", 0), "--n-jobs must be a number of "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options_are_one_sentence(call, data, name):
    arguments, sentence = BAD[name]
    code, out, err = call(*arguments, "--data", data)
    assert (code, out) == (2, "")
    assert err.startswith(f"papers: {sentence}")
    assert err.count("\n") == 1
    assert not Path("reproduced").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "name the data folder: --data FOLDER, or SPOKESHAVE_DATA"),
        (("--data", "x"), "x: this is not a folder; --data must name the data folder"),
        (("--data", "empty"), "empty: numbers.csv is not there; powers needs numbers.csv "),
    ],
)
def test_missing_data_are_one_sentence(call, tmp_path, options, sentence):
    (tmp_path / "empty").mkdir()
    code, out, err = call("powers", *options)
    assert (code, out) == (2, "")
    assert err.startswith(f"papers: {sentence}")
    assert not Path("reproduced").exists()


def test_a_task_that_fails_is_one_sentence(call, data):
    (data / "broken-square-1").touch()
    code, out, err = call("powers", "--data", data, "-q", "--n-jobs", 1)
    assert (code, out) == (2, "")
    assert err == "papers: task square-1 failed: the data are broken at 1\n"


def start(data, out):
    arguments = ("powers", "--data", data, "--out", out, "--n-jobs", "2")
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a terminal does, all its processes are interrupted at once
    )


def test_an_interrupt_keeps_what_is_done(data, tmp_path):
    out = tmp_path / "out"
    (data / "slow-square-1").touch()
    process = start(data, out)
    try:
        while len(list(out.glob("work/*.json"))) < 3 or "square-1" not in read_names(data):
            time.sleep(0.02)
            assert process.poll() is None, process.stderr.read()
        os.killpg(process.pid, signal.SIGINT)
        printed, err = process.communicate(timeout=30)  # until no process is left
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, printed) == (130, "")
    # What cleans up after the processes may have its say as well.
    assert "papers: interrupted; finished tasks are saved\n" in err
    kept = ["square-2.json", "square-3.json", "square-4.json"]
    assert sorted(os.listdir(out / "work")) == kept
    made_papers.list_names(data)
    (data / "slow-square-1").unlink()
    reproduce(made_papers.PAPER, data, out, only=["table1", "table2"])
    assert made_papers.list_names(data) == ["square-1"]


def read_names(data):
    return [name for name, _ in made_papers.list_calls(data)]


def test_the_readme_names_every_option_and_no_other():
    page = (ROOT / "papers" / "README.md").read_text(encoding="utf-8")
    options = {name for action in make_parser()._actions for name in action.option_strings}
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", page))
    assert named == {name for name in options if name.startswith("--")} - {"--help"}


def test_verdicts_are_judged_again_without_a_run(call, data, tmp_path):
    out = tmp_path / "out"
    assert call("powers", "--data", data, "--out", out, "--n-jobs", 1, "--quiet")[0] == 0
    before = (out / "verdict.md").read_bytes()
    (out / "verdict.md").unlink()
    calls = (data / "calls.txt").read_text()
    code, printed, _ = call("powers", "--judge", "--out", out)
    assert code == 0
    assert (out / "verdict.md").read_bytes() == before
    assert (data / "calls.txt").read_text() == calls
    assert "reproduced" in printed


def test_judging_needs_tables(call, tmp_path):
    code, _, err = call("powers", "--judge", "--out", tmp_path / "none")
    assert code == 2
    assert "there are no tables in its folder results; run the study first" in err
