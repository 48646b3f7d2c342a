"""Kernels made ready: nothing is left to compile, and a first run says what it does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from spokeshave.cli.kernels import NEEDED, describe_cache

COMPILING = "compiling kernels (first run only)"
HERE = f"py{sys.version_info.major}{sys.version_info.minor}"


def fill(folder, kernels, python=HERE):
    for kernel in kernels:
        (folder / f"{kernel}-12.{python}.nbi").touch()


def test_a_full_cache_is_loaded(tmp_path):
    fill(tmp_path, {*NEEDED, "online.learn_winnow"})
    assert describe_cache(tmp_path) == "loading kernels"


@pytest.mark.parametrize("missing", sorted(NEEDED))
def test_one_kernel_missing_is_compiled(missing, tmp_path):
    fill(tmp_path, NEEDED - {missing})
    assert describe_cache(tmp_path) == COMPILING


def test_kernels_of_another_python_do_not_count(tmp_path):
    fill(tmp_path, NEEDED, "py39")
    assert describe_cache(tmp_path) == COMPILING
    assert describe_cache(tmp_path / "no such folder") == COMPILING


PROGRAM = """
import sys
from spokeshave.cli.kernels import NEEDED, prepare_kernels
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

prepare_kernels()
prepared = list_compiled()
print(sorted(NEEDED - set(prepared)), sorted(set(prepared) - NEEDED))
names = "asyncio email logging unittest xml".split()
run_job(load_embedded(names), settings=Settings(hold_out=0.25, with_stability=True))
print(sorted(name for name, found in list_compiled().items() if found != prepared.get(name)))
"""


def test_nothing_is_compiled_while_the_job_is_timed():
    for _ in range(2):  # a run that compiles also lists the kernels that kernels call
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        if done.stdout.splitlines() == ["[] []", "[]"]:
            return
    assert done.stdout.splitlines() == ["[] []", "[]"]
