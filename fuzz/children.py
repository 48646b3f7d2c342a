"""Inputs read in child processes, so that a crash or a hang is seen, and its input is known.

A module of a format has two functions. ``write_input(folder, seed, number)`` writes an input that
follows from its two numbers and returns its path; ``read_input(path, seed, number)`` reads it, and
lets pass every exception that should not occur.
"""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import process_time

ROOT = Path(__file__).parents[1]
FOUND = ROOT / "fuzz" / "found"
BATCH = 1_000  # inputs of one child
MAX_SECONDS = 5  # of a processor, for one input
PATIENCE = 120  # seconds for one input, however busy the machine is
MAX_BYTES = 2**30  # of resident memory
MAX_ADDRESSES = 2**34  # bytes of addresses: what asks for more fails and does not halt the machine


@dataclass(frozen=True)
class Finding:
    """Something that should not have happened.

    Attributes
    ----------
    number : int
        The number of the input.
    problem : str
        What happened.
    path : Path
        The input.
    """

    number: int
    problem: str
    path: Path

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


def run_in_children(module: str, n_runs: int, seed: int) -> list[Finding]:
    """Read inputs 0 to ``n_runs - 1``, some in each child, and return what was found."""
    problems: dict[int, str] = {}
    first = 0
    while first < n_runs:
        last = min(first + BATCH, n_runs)
        first = _run_child(module, seed, first, last, problems)
    return [
        Finding(number, problem, _keep_input(module, seed, number))
        for number, problem in problems.items()
    ]


def _run_child(module: str, seed: int, first: int, last: int, problems: dict[int, str]) -> int:
    """Read inputs in a child until it ends; return the first that is still to be read."""
    command = [sys.executable, "-m", "fuzz.children", module, *map(str, (seed, first, last))]
    reached = first
    with TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT)
        for line in _read_lines(child):
            number, problem = json.loads(line)
            reached = number + 1
            if problem:
                problems[number] = problem
        if child.wait() and reached < last:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines() or [""]
            problems[reached] = f"the process ended with {child.returncode}: {said[-1]}"
            reached += 1
    return reached


def _read_lines(child: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield the lines that a child writes, and kill it if none comes for long."""
    assert child.stdout is not None
    rest = b""
    with child.stdout as output:
        while select.select([output], [], [], PATIENCE)[0]:
            content = os.read(output.fileno(), 2**16)
            if not content:
                return
            *lines, rest = (rest + content).split(b"\n")
            yield from lines
    child.kill()


def _keep_input(module: str, seed: int, number: int) -> Path:
    folder = FOUND / f"{module.rpartition('.')[2]}-{seed}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    path: Path = import_module(module).write_input(folder, seed, number)
    return path


def _read_inputs(module_name: str, seed: int, first: int, last: int) -> None:
    """Read inputs in this process, and write a line on each when it is done."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESSES, MAX_ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module = import_module(module_name)
    for number in range(first, last):
        with TemporaryDirectory() as folder:
            path = module.write_input(Path(folder), seed, number)
            problem = _find_problem(module, path, seed, number)
        print(json.dumps([number, problem]), flush=True)
        if _measure_peak() > MAX_BYTES:
            sys.exit()  # the peak would be found again with every input that follows


def _find_problem(module: object, path: Path, seed: int, number: int) -> str | None:
    before = process_time()
    try:
        module.read_input(path, seed, number)  # type: ignore[attr-defined]
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return f"{type(error).__name__}: {str(error)[:200]} ({where})"
    if (seconds := process_time() - before) > MAX_SECONDS:
        return f"it takes {seconds:.0f} s"
    if (peak := _measure_peak()) > MAX_BYTES:
        return f"it takes {peak:,} bytes of memory"
    return None


def _measure_peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    _read_inputs(sys.argv[1], *map(int, sys.argv[2:]))
