from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from errno import ENOSPC
from pathlib import Path

import numba
import pytest
from numba.core.caching import FunctionCache

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
    """Collect the programs that other processes are asked to run, and mark what they compile."""
    found, exercises = [], [OPTIONS]

    def run(command, **options):
        found.append((command, options))
        for each in exercises:
            module.mark_compiled(exercise, **each)

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
    for function in ("exercise(", "mark_compiled(exercise, "):
        assert f"{function}**{{'is_text': True, 'has_values': False}})" in command[2]
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


# A cache that cannot be written.


@pytest.fixture
def forgetting(monkeypatch):
    """Forget afterwards that the cache was replaced; in other tests it is not."""
    monkeypatch.setenv(module.CACHE, "")
    monkeypatch.setattr(numba.config, "CACHE_DIR", numba.config.CACHE_DIR)
    monkeypatch.setattr(module, "_temporary", [])
    monkeypatch.setattr(module, "_kernels", [])


def fail_in(folder):
    """Return what saves kernels, but not in this folder, which is full."""

    def save(self, sig, data):
        if Path(self.cache_path).is_relative_to(folder):
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        saved.append(self.cache_path)

    saved = []
    return save, saved


def refuse(**_):
    raise OSError(ENOSPC, os.strerror(ENOSPC))


def test_a_kernel_that_cannot_be_kept_is_kept_elsewhere(forgetting, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    save, saved = fail_in(tmp_path)
    monkeypatch.setattr(FunctionCache, "save_overload", save)
    add, twice = module.compiled(lambda a, b: a + b), module.compiled(lambda a: 2 * a)
    with pytest.warns(UserWarning, match="cannot be kept") as caught:
        assert (add(1, 2), add(1.0, 2.0), twice(3)) == (3, 3.0, 6)
    [warning] = caught
    assert f"kept in {tmp_path}" in str(warning.message)
    assert "(No space left on device), so they are compiled again" in str(warning.message)
    assert len(saved) == 3
    assert {Path(path).parent for path in saved} == {Path(numba.config.CACHE_DIR)}
    assert os.environ[module.CACHE] == numba.config.CACHE_DIR != str(tmp_path)


def test_where_nothing_can_be_kept_kernels_run_all_the_same(forgetting, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    save, saved = fail_in("/")
    monkeypatch.setattr(FunctionCache, "save_overload", save)
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    add = module.compiled(lambda a, b: a + b)
    with pytest.warns(UserWarning, match="cannot be kept"):
        assert (add(1, 2), add(1.0, 2.0)) == (3, 3.0)
    assert saved == []


@pytest.mark.parametrize("content", [b"", b"cut short"])
def test_a_cached_kernel_that_is_damaged_is_compiled_again(monkeypatch, tmp_path, content):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def make(a):
        return a + 1

    assert module.compiled(make)(1) == 2
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in kept} == {".nbi", ".nbc"}
    for path in kept:
        path.write_bytes(content)
    monkeypatch.setattr(module, "_forget_stale", lambda folder: None)
    kernel = module.compiled(make)
    assert kernel(1) == 2
    assert sum(kernel.stats.cache_misses.values()) == 1


def test_kernels_are_not_compiled_apart_for_a_cache_that_is_full(
    forgetting, cache, programs, monkeypatch
):
    class Full:
        def write(self, content):
            raise OSError(ENOSPC, os.strerror(ENOSPC))

        __enter__, __exit__ = (lambda self: self), (lambda self, *_: None)

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda dir: Full())
    with pytest.warns(UserWarning, match=r"cannot be kept in .* \(No space left on device\)"):
        warm_up.__wrapped__(exercise, **OPTIONS)
    assert len(programs) == 1  # with the temporary cache
    assert os.environ[module.CACHE] == numba.config.CACHE_DIR


READ_ONLY = """
import os, sys, warnings
from spokeshave.kernels import compile
from spokeshave.kernels.sorting import seeded
def exercise(): seeded(1)
def main():
    exercise()
    compile.warm_up(exercise)
    assert compile.is_compiled(exercise)
    print(os.environ[compile.CACHE])
"""


def test_where_nothing_can_be_written_there_is_one_note_and_nothing_is_left(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "exercised.py").write_text(READ_ONLY)
    no_folder = {
        "NUMBA_CACHE_DIR": str(tmp_path / "file" / "cache"),
        "TMPDIR": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",  # in the processes that it starts, too
    }
    done = subprocess.run(
        [sys.executable, "-B", "-c", "import exercised; exercised.main()"],
        cwd=tmp_path,
        env=os.environ | no_folder | {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent == tmp_path
    assert done.stderr.count("compiled kernels cannot be kept") == 1
    assert sorted(os.listdir(tmp_path)) == ["exercised.py", "file"]


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
