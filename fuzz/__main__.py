"""Run fuzzers: ``python -m fuzz [NAME ...] [--runs N] [--seed S]``; without names all of them.

Each reads, or computes with, inputs that are damaged at random, and finds what is no error of
Spokeshave's own: other exceptions, crashes, seconds without an end, a gigabyte of memory. Inputs
follow from the seed; those that something was found in are kept in ``fuzz/found``.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from time import perf_counter

# The module of each, which has run(n_runs, seed) -> list of findings, and how many runs there are.
FUZZERS = {
    "readers": ("fuzz.readers", 50_000),
    "parquet": ("fuzz.parquet", 5_000),
    "models": ("fuzz.models", 10_000),
    "matrices": ("fuzz.matrices", 2_000),
    "kills": ("fuzz.kills", 60),
}


def main() -> None:
    """Run the fuzzers that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FUZZERS))
    parser.add_argument("--runs", type=int, help="the number of inputs of each")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in FUZZERS]
    if unknown:
        parser.error(f"there is no fuzzer {unknown[0]}; there are {', '.join(FUZZERS)}")
    n_found = 0
    for name in asked.names or FUZZERS:
        module, n_runs = FUZZERS[name]
        n_runs = asked.runs or n_runs
        started = perf_counter()
        findings = import_module(module).run(n_runs, asked.seed)
        seconds = perf_counter() - started
        print(
            f"{name}: {len(findings):,} findings in {n_runs:,} runs, {seconds:,.0f} s", flush=True
        )
        for finding in findings:
            print(f"  {finding}", flush=True)
        n_found += len(findings)
    sys.exit(n_found > 0)


if __name__ == "__main__":
    main()
