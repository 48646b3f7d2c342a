"""The exercise of a run in limited memory calls all of its kernels."""

from __future__ import annotations

import subprocess
import sys

import pytest

from spokeshave.budget import warmup
from spokeshave.budget.warmup import exercise
from zipf import make_zipf, write_csv


@pytest.mark.parametrize("is_text", [True, False])
@pytest.mark.parametrize("has_values", [True, False])
def test_all_kernels_of_a_run_are_exercised(is_text, has_values, monkeypatch):
    called = []
    advance = warmup.train_classes

    def train_and_tell(objective, setting):
        weights = advance(objective, setting)
        called.append((len(setting.shards) > 1, weights.n_rounds > 0))
        return weights

    monkeypatch.setattr(warmup, "train_classes", train_and_tell)
    exercise(is_text=is_text, has_values=has_values, has_ngrams=is_text)
    assert called == [(True, True)]


PROGRAM = """
import sys
from spokeshave.budget.warmup import exercise
from spokeshave.jobs.budget import Files, run_budgeted
from spokeshave.jobs.settings import Budget, Settings

def list_compiled():
    return {
        f"{name.rpartition('.')[2]}.{kernel.py_func.__name__}": list(kernel.signatures)
        for name, module in list(sys.modules.items()) if name.startswith("spokeshave.kernels.")
        for kernel in vars(module).values()
        if hasattr(kernel, "signatures") and kernel.py_func.__module__ == name
    }

exercise(is_text=True, has_values=True, has_prior=True)
before = list_compiled()
run_budgeted(Files(sys.argv[1]), Budget("1GB", nonzeros_per_document=5), settings=Settings(C=0.1))
print(sorted(name for name, found in list_compiled().items() if found != before.get(name, [])))
"""


def test_nothing_is_compiled_during_a_run(tmp_path):
    path = write_csv(tmp_path / "zipf.csv", *make_zipf(2_000, n_words=9_000, n_classes=40))
    for _ in range(2):  # a process that compiles also lists the kernels that kernels call
        command = [sys.executable, "-c", PROGRAM, path]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        if done.stdout == "[]\n":
            return
    assert done.stdout == "[]\n"
