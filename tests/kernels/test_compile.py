from __future__ import annotations

import os
import subprocess
import sys

import pytest

from spokeshave.kernels import compile as module
from spokeshave.kernels.compile import find_marker, is_compiled, warm_up


def test_kernels_older_than_a_source_are_forgotten(tmp_path):
    old, new = tmp_path / "descent.polish-1.py311.nbi", tmp_path / "descent.sweep-1.py311.nbi"
    for index in (old, new):
        index.touch()
    os.utime(old, (0, 0))
    module._forget_stale(str(tmp_path))
    assert not old.exists()
    assert new.exists()


def test_division_by_zero_is_infinite():
    @module.compiled
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == float("inf")


OPTIONS = {"is_text": True, "has_values": False}
exercised = []


def exercise(**options):
    exercised.append(options)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Use an empty cache of compiled kernels."""

    class Kernel:
        class stats:
            cache_path = str(tmp_path)

    monkeypatch.setattr(module, "_do_nothing", Kernel)
    exercised.clear()
    return tmp_path


@pytest.fixture
def programs(monkeypatch):
    """Collect the programs that other processes are asked to run."""
    found = []

    def run(command, **options):
        found.append((command, options))

    monkeypatch.setattr(module.subprocess, "run", run)
    return found


def test_kernels_are_compiled_in_another_process_once(cache, programs):
    assert not is_compiled(exercise, **OPTIONS)
    for _ in range(2):
        warm_up.__wrapped__(exercise, **OPTIONS)
    assert is_compiled(exercise, **OPTIONS)
    assert exercised == [OPTIONS] * 2  # loaded in this process each time
    [(command, options)] = programs
    assert command[:2] == [sys.executable, "-c"]
    assert f"from {__name__} import exercise" in command[2]
    assert "exercise(**{'is_text': True, 'has_values': False})" in command[2]
    assert options["check"]


def test_a_process_loads_kernels_once(cache, programs):
    warm_up.cache_clear()
    for _ in range(2):
        warm_up(exercise, **OPTIONS)
    warm_up.cache_clear()
    assert exercised == [OPTIONS]


def test_kernels_that_have_changed_are_compiled_again(cache):
    marker = find_marker(exercise, **OPTIONS)
    marker.touch()
    assert is_compiled(exercise, **OPTIONS)
    os.utime(marker, (0, 0))
    assert not is_compiled(exercise, **OPTIONS)


def test_kernels_of_other_options_or_another_python_do_not_count(cache, monkeypatch):
    find_marker(exercise, **OPTIONS).touch()
    assert not is_compiled(exercise)
    assert not is_compiled(exercise, **OPTIONS | {"is_text": False})
    assert is_compiled(exercise, **dict(reversed(OPTIONS.items())))
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-39")
    assert not is_compiled(exercise, **OPTIONS)


def test_a_cache_that_is_not_there_is_empty(cache, monkeypatch, programs):
    monkeypatch.setattr(module._do_nothing.stats, "cache_path", str(cache / "nowhere"))
    warm_up.__wrapped__(exercise)
    assert exercised == [{}]
    assert not is_compiled(exercise)


PROGRAM = """
import sys
from spokeshave.cli.progress import exercise
from spokeshave.corpus import load_embedded
from spokeshave.jobs.fit import run_job
from spokeshave.jobs.settings import Settings

def list_compiled():
    kernels = [
        (f"{name.rpartition('.')[2]}.{kernel.py_func.__name__}", kernel)
        for name, module in list(sys.modules.items()) if name.startswith("spokeshave.kernels.")
        for kernel in vars(module).values()
        if hasattr(kernel, "signatures") and kernel.py_func.__module__ == name
    ]
    return {name: list(kernel.signatures) for name, kernel in kernels if kernel.signatures}

exercise()
exercised = list_compiled()
assert len(exercised) > 15, exercised
names = "asyncio email logging unittest xml".split()
run_job(load_embedded(names), settings=Settings(hold_out=0.25, with_stability=True))
print(sorted(name for name, found in list_compiled().items() if found != exercised.get(name)))
"""


def test_nothing_is_compiled_while_the_job_is_timed():
    for _ in range(2):  # a run that compiles also lists the kernels that kernels call
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        if done.stdout == "[]\n":
            return
    assert done.stdout == "[]\n"
