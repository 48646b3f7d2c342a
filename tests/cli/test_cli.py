"""The command line, run as a real process."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from spokeshave import PAPER_FRACTIONS

SPOKESHAVE = Path(sys.executable).with_name("spokeshave")


def run(*arguments, **environment):
    return subprocess.run(
        [SPOKESHAVE, *arguments],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"} | environment,
    )


@pytest.fixture(scope="module")
def result():
    done = run("demo", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def page(result):  # after the run that may have compiled kernels
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_demo_learns_something(result):
    assert result["n_train"] > 2000
    assert result["n_classes"] >= 10
    assert result["full"]["accuracy"] > 0.7
    assert result["full"]["macro_f1"] > 0.6
    assert result["relative_gap"] <= 1e-3
    assert "logger" in result["strongest_words"]["logging"]


def test_demo_has_a_curve_over_all_cuts(result):
    curve = result["curve"]
    assert curve["fractions"] == list(PAPER_FRACTIONS)
    n_cuts = len(PAPER_FRACTIONS)
    assert len(curve["macro_best_f1"]) == len(curve["standard_errors"]) == n_cuts
    assert all(0.5 < value < 1 for value in curve["macro_best_f1"])
    assert all(0 < error < 0.05 for error in curve["standard_errors"])
    assert curve["mean_words"] == sorted(curve["mean_words"])
    assert curve["mean_words"][-1] <= result["n_features"]
    assert curve["n_folds"] == 5


def test_demo_chooses_the_smallest_cut_within_a_standard_error_of_the_best(result):
    curve, choice = result["curve"], result["choice"]
    values = curve["macro_best_f1"]
    best = values.index(max(values))
    floor = values[best] - curve["standard_errors"][best]
    chosen = next(cut for cut, value in enumerate(values) if value >= floor)
    assert choice == {
        "index": chosen,
        "fraction": curve["fractions"][chosen],
        "mean_words": curve["mean_words"][chosen],
        "value": values[chosen],
        "standard_error": curve["standard_errors"][chosen],
        "best_index": best,
        "best_fraction": curve["fractions"][best],
        "best_value": values[best],
        "evaluated_on": "cross-validation",
    }


def test_demo_shaves_much_and_loses_little(result):
    full, shaved = result["full"], result["shaved"]
    assert shaved["macro_f1"] == pytest.approx(full["macro_f1"], abs=0.03)
    assert shaved["accuracy"] == pytest.approx(full["accuracy"], abs=0.03)
    assert shaved["n_features"] < full["n_features"] <= result["n_features"]
    share = result["choice"]["fraction"]
    assert shaved["n_weights"] == pytest.approx(share * full["n_weights"], rel=0.05)


def test_demo_times_every_step(result):
    preparation, *steps = result["seconds"]
    assert preparation in ("loading kernels", "compiling kernels (first run only)")
    assert steps == [
        "reading docstrings",
        "vectorizing training documents",
        "vectorizing held-out documents",
        "training on all words",
        "training and choosing a cut",
        "predicting from all words",
        "predicting from the words kept",
    ]
    curve, choosing = result["curve"], result["seconds"]["training and choosing a cut"]
    assert 0 < curve["fit_seconds"] < curve["seconds"] < choosing


def test_demo_for_people_draws_the_curve(result, page):
    curve, choice = result["curve"], result["choice"]
    rows = [line for line in page.splitlines() if " ± 0." in line and line.split()[0][-1] == "%"]
    columns = (curve[name] for name in ("fractions", "macro_best_f1", "standard_errors"))
    for row, fraction, value, error, words in zip(rows, *columns, curve["mean_words"], strict=True):
        assert row.split()[0] == f"{fraction:.0%}"
        assert f"{value:.4f} ± {error:.4f}  " in row
        assert f" {words:,.0f}" in row
        assert len(row) <= 80
    assert "← chosen" in rows[choice["index"]]
    assert rows[choice["best_index"]].endswith("best")


def test_demo_for_people_says_the_same(result, page):
    choice, full, shaved = result["choice"], result["full"], result["shaved"]
    assert "\x1b" not in page
    assert (
        f"{choice['mean_words']:,.0f} of {result['curve']['mean_words'][-1]:,.0f} words per class "
        f"on average ({choice['fraction']:.0%}): macro best F1 {choice['value']:.3f} ± "
        f"{choice['standard_error']:.3f} in cross-validation, best {choice['best_value']:.3f} at "
        f"{choice['best_fraction']:.0%}"
    ) in " ".join(page.split())
    cells = [line.split() for line in page.splitlines()]
    assert ["all", "words", *write_model(full)] in cells
    assert ["shaved", "to", f"{choice['fraction']:.0%}", *write_model(shaved)] in cells
    assert "strongest words" in page
    assert "loading kernels" in page  # the run before has compiled them


def write_model(model):
    return [
        f"{model['accuracy']:.3f}",
        f"{model['macro_f1']:.3f}",
        f"{model['n_features']:,}",
        f"{model['n_weights']:,}",
    ]


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
