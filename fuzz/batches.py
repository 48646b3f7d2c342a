"""Try inputs in child processes, in batches, so that an input that kills or hangs one is caught.

A fuzzer is a module of this package, or the ``files`` in it. Its ``make_input(number, seed)``
returns an input, always the same; ``try_input(given, say)`` returns what is wrong with how the
library took it, as sentences, and says what it is about to do; ``save_input(given, path)`` writes
an input down; ``warm_up()`` loads and compiles beforehand what inputs need.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any

import psutil

ROOT = Path(__file__).parents[1]
BATCH = 500  # inputs of a child
SECONDS = 10  # of computing without a word, after the start: kernels may have to be compiled
MOST_WAITED = 900  # seconds without a word
MOST_BYTES = 1 << 30  # resident
MOST_MAPPED = 16 << 30  # what is asked for beyond is refused, as on a machine with little memory
FOLDER = ROOT / "fuzz" / "found"


@dataclass(frozen=True)
class Finding:
    """An input that was not taken as it should be.

    Attributes
    ----------
    fuzzer : str
        The name of the fuzzer.
    seed, number : int
        What makes the input again.
    problem : str
        What is wrong.
    path : Path
        Where the input is saved.
    """

    fuzzer: str
    seed: int
    number: int
    problem: str
    path: Path

    def __str__(self) -> str:
        return f"{self.fuzzer} {self.number} of seed {self.seed}: {self.problem} ({self.path})"


def run_batches(fuzzer: str, n_runs: int, seed: int) -> list[Finding]:
    """Try inputs 0 to ``n_runs - 1`` of a fuzzer; return the findings."""
    findings, start = [], 0
    while start < n_runs:
        stop = min(start + BATCH, n_runs)
        for number, problem in _run_child(fuzzer, seed, start, stop):
            start = number + 1
            if problem:
                findings.append(_save(fuzzer, seed, number, problem))
    return findings


def _load(fuzzer: str) -> Any:
    module = import_module(f"fuzz.{fuzzer}")
    return getattr(module, "files", module)


def _save(fuzzer: str, seed: int, number: int, problem: str) -> Finding:
    module = _load(fuzzer)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{fuzzer}-{seed}-{number}"
    module.save_input(module.make_input(number, seed), path)
    return Finding(fuzzer, seed, number, problem, path)


def _run_child(fuzzer: str, seed: int, start: int, stop: int) -> Iterator[tuple[int, str]]:
    """Yield the number of each input that was tried, and the problem with it, if any.

    Ends at ``stop``, or after the input at which the child had to end.
    """
    command = [sys.executable, "-m", "fuzz.batches", fuzzer, str(seed), str(start), str(stop)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path, "PYTHONFAULTHANDLER": ""},
        stdout=subprocess.PIPE,
    ) as child:
        number, doing, is_ready = start, "starting", False
        for line in _read_lines(child):
            if line is None:
                child.kill()
                yield number, f"{doing}: it computes for more than {SECONDS} seconds"
                return
            kind, *told = json.loads(line)
            if kind == "ready":
                is_ready = True
            elif kind == "doing":
                number, doing = told
            else:
                number, problem = told
                yield number, problem
    if child.returncode:
        if not is_ready:
            raise RuntimeError(f"the fuzzer {fuzzer} does not start")
        yield number, f"{doing}: the process ended with {child.returncode}"


def _read_lines(child: subprocess.Popen[bytes]) -> Iterator[bytes | None]:
    """Yield each line of a child; None if the next one takes too long, but for the first."""
    stream, process = child.stdout, psutil.Process(child.pid)
    assert stream is not None
    rest, limit = b"", MOST_WAITED

    def measure() -> float:
        return float(sum(process.cpu_times()[:2]))

    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        used, since = measure(), monotonic()
        while True:
            if not selector.select(1):
                if measure() - used > limit or monotonic() - since > MOST_WAITED:
                    yield None
                    return
                continue
            content = os.read(stream.fileno(), 1 << 16)
            if not content:
                return
            *lines, rest = (rest + content).split(b"\n")
            yield from lines
            used, since, limit = measure(), monotonic(), SECONDS


def try_batch(fuzzer: str, seed: int, start: int, stop: int) -> None:
    """Try inputs in this process, and tell the parent what happens."""
    module = _load(fuzzer)
    out, sys.stdout = sys.stdout, sys.stderr  # only this function tells

    def tell(*told: Any) -> None:
        print(json.dumps(told), file=out, flush=True)

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MAPPED, MOST_MAPPED))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module.warm_up()
    limit = max(MOST_BYTES, measure_peak() + MOST_BYTES // 2)  # to compile kernels takes memory
    tell("ready")
    for number in range(start, stop):
        tell("doing", number, "making the input")
        given = module.make_input(number, seed)
        problems = module.try_input(given, lambda doing, n=number: tell("doing", n, doing))
        is_large = measure_peak() > limit
        if is_large:
            problems = [*problems, f"it takes {measure_peak() >> 20} MB"]
        tell("done", number, "; ".join(problems))
        if is_large:  # the peak stays
            return


def measure_peak() -> int:
    """Return the largest resident size of this process until now, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    try_batch(name, *map(int, numbers))
