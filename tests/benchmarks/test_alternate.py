"""Two checkouts compared, on scripts that only print."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ALTERNATE = Path(__file__).parents[2] / "benchmarks" / "alternate.py"
SCRIPT = """
from pathlib import Path
import sys
import spokeshave
runs = Path(__file__).with_name("runs")
number = len(runs.read_text()) if runs.exists() else 0
runs.write_text("x" * (number + 1))
seconds = spokeshave.SECONDS[number]
print("RCV1, binary rows, C=1: 18,000 documents")
print(f"{'':28}{'seconds':>9}{'ratio':>8}")
print(f"{'DualLinearSVC, 2 threads':28}{seconds:9.3f}{4.4:7.1f}x{0.99998:12.6f}")
print("mask adds 18.2% to the time of the fit")
print()
print("letter: 20000 x 16", *sys.argv[1:])
print(f"  {'one class: shaper':34} {seconds / 10:7.4f} s")
print()
print(f"{'':30}{'docs/s':>9}{'ratio':>8}")
print(f"{'Spokeshave, hinge':30}{1000 / seconds:9,.0f}{14.5:7.1f}x")
"""


def make_checkout(folder, seconds):
    (folder / "src" / "spokeshave").mkdir(parents=True)
    (folder / "src" / "spokeshave" / "__init__.py").write_text(f"SECONDS = {seconds}\n")
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "fit.py").write_text(SCRIPT)
    return folder


def run(*arguments):
    command = [sys.executable, str(ALTERNATE), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_best_of_each_row_is_compared(tmp_path):
    before = make_checkout(tmp_path / "before", [3.0, 2.0])
    after = make_checkout(tmp_path / "after", [1.0, 4.0])
    done = run(before, after, "fit", "-n", 2, "--json", tmp_path / "rows.json", "--", "--quick")
    assert done.returncode == 0, done.stderr
    rows = {row.pop("label"): row for row in json.loads((tmp_path / "rows.json").read_text())}
    assert rows == {
        "RCV1, binary rows, C=1: DualLinearSVC, 2 threads": {
            "before": 2.0,
            "after": 1.0,
            "speed_up": 2.0,
        },
        "letter: one class: shaper": {"before": 0.2, "after": 0.1, "speed_up": 2.0},
        "Spokeshave, hinge": {"before": 500, "after": 1000, "speed_up": 2.0},
    }
    assert done.stdout.splitlines()[1].split()[-3:] == ["2", "1", "2.00x"]
    assert [line.split("/")[-1] for line in done.stderr.splitlines()] == [
        "before",
        "after",
        "after",
        "before",
    ]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("fitt", "benchmark must be one of fit. Got fitt instead."), ("fit", "src/spokeshave")],
)
def test_bad_arguments_get_a_sentence(tmp_path, name, sentence):
    good = make_checkout(tmp_path / "good", [1.0])
    done = run(good, good if name == "fitt" else tmp_path, name)
    assert done.returncode == 1
    assert sentence in done.stderr
