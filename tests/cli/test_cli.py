"""The command line, run as a real process."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

SPOKESHAVE = Path(sys.executable).with_name("spokeshave")


def run(*arguments):
    return subprocess.run([SPOKESHAVE, *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def result():
    done = run("demo", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_demo_learns_something(result):
    assert result["n_train"] > 2000
    assert result["n_classes"] >= 10
    assert result["accuracy"] > 0.7
    assert result["macro_f1"] > 0.6
    assert result["relative_gap"] <= 1e-3
    assert set(result["seconds"]) >= {"training", "reading docstrings"}
    assert "logger" in result["strongest_words"]["logging"]


def test_demo_for_people_says_the_same(result):
    done = run("demo")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert f"accuracy {result['accuracy']:.3f}" in done.stdout
    assert "strongest words" in done.stdout
    assert "loading kernels" in done.stdout  # the run before has compiled them


def test_demo_draws_a_progress_bar_on_a_terminal():
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [SPOKESHAVE, "demo", "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    ) as process:
        os.close(theirs)
        drawn = b""
        while chunk := read(ours):
            drawn += chunk
        os.close(ours)
        json.loads(process.stdout.read())
    assert process.returncode == 0
    assert b"reading docstrings" in drawn
    assert b"\x1b[" in drawn


def read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""


def test_version():
    assert run("--version").stdout.startswith("spokeshave 0.")


def test_help_has_an_example():
    assert "Example: spokeshave demo" in run("demo", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["dmo"], "No such command 'dmo'"),
        (["demo", "--seed", "one"], "Invalid value for '--seed'"),
        (["demo", "--sede", "1"], "No such option"),
        (["demo", "--seed", "-1"], "Invalid value for '--seed'"),
        (["demo", "--n-jobs", "0"], "n_jobs"),
    ],
)
def test_bad_options_end_with_code_2_and_no_traceback(arguments, sentence):
    done = run(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
