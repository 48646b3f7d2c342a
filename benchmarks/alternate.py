"""Run a benchmark in two checkouts in alternation, and print the best times side by side.

Machine noise then falls on both. Each checkout runs its own script with its own sources.

    git worktree add /tmp/before HEAD~1
    python benchmarks/alternate.py /tmp/before . fit
    python benchmarks/alternate.py /tmp/before . cluster -n 2 -- --rounds 1

The first column of numbers of each table that the script prints is compared, best of N runs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROW = re.compile(r"(\s*\S.*?)\s{2,}([\d,]*\d(?:\.\d+)?)(?=\s|x|$)")
HEADS = {"seconds": min, "docs/s": max, "macro-F1": max}  # first columns, and which value is best
Table = dict[str, float]


def parse_tables(output: str) -> tuple[Table, dict[str, str]]:
    """Return the first number of each row, and its head, by title and label of the row.

    A line after an empty one is a title; a row is a label, two spaces or more, and a number.
    """
    rows: Table = {}
    heads: dict[str, str] = {}
    title, head, is_first = "", "seconds", True
    for line in output.splitlines():
        found = [name for name in HEADS if name in line]
        if match := ROW.match(line):
            label = f"{title}: {match[1].strip()}" if title else match[1].strip()
            rows[label], heads[label] = float(match[2].replace(",", "")), head
        elif is_first and line.strip():
            title = line.partition(":")[0].partition("  ")[0].strip()
            head = "seconds"
        if found and not match:
            head = min(found, key=line.index)
        is_first = not line.strip()
    return rows, heads


def run_benchmark(checkout: Path, name: str, arguments: list[str]) -> str:
    """Return the output of a checkout's script."""
    script = checkout / "benchmarks" / f"{name}.py"
    if not script.exists():
        known = sorted(path.stem for path in script.parent.glob("*.py"))
        sys.exit(f"benchmark must be one of {', '.join(known)}. Got {name} instead.")
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, str(script), *arguments]
    options = {"cwd": checkout, "env": environment, "text": True, "stdout": subprocess.PIPE}
    done = subprocess.run(command, check=False, **options)
    if done.returncode:
        sys.exit(f"{script} ended with exit code {done.returncode}.")
    return str(done.stdout)


def check_sources(checkout: Path) -> None:
    """Leave if Python would import the package from elsewhere."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-c", "import spokeshave; print(spokeshave.__file__)"]
    found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    if not Path(found.stdout.strip()).resolve().is_relative_to(checkout):
        sys.exit(f"{checkout} must be a checkout with src/spokeshave. Got {found.stdout.strip()}.")


def alternate(
    checkouts: list[Path], name: str, arguments: list[str], n_runs: int
) -> list[tuple[str, float, float, float]]:
    """Return label, best of the first, best of the second and speed-up of each row."""
    best: list[Table] = [{}, {}]
    heads: dict[str, str] = {}
    for number in range(n_runs):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            rows, found = parse_tables(run_benchmark(checkouts[which], name, arguments))
            heads |= found
            for label, value in rows.items():
                choose = HEADS[found[label]]
                best[which][label] = choose(value, best[which].get(label, value))
            print(f"run {number + 1} of {n_runs} in {checkouts[which]}", file=sys.stderr)
    compared = []
    for label, before in best[0].items():
        if label in best[1]:
            after = best[1][label]
            larger, smaller = (before, after) if HEADS[heads[label]] is min else (after, before)
            compared.append((label, before, after, larger / smaller if smaller else float("nan")))
    only_one = sorted(best[0].keys() ^ best[1].keys())
    for label in only_one:
        print(f"only in one checkout: {label}", file=sys.stderr)
    return compared


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="folder of the first checkout")
    parser.add_argument("after", type=Path, help="folder of the second checkout")
    parser.add_argument("benchmark", help="name of a script in benchmarks/, such as fit")
    parser.add_argument("-n", "--runs", type=int, default=3, help="runs in each checkout")
    parser.add_argument("--json", type=Path, help="write the rows to a file as well")
    parser.epilog = "Arguments after -- are those of the script."
    own = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    options, arguments = parser.parse_args(own), sys.argv[len(own) + 2 :]
    checkouts = [options.before.resolve(), options.after.resolve()]
    for checkout in checkouts:
        check_sources(checkout)
    rows = alternate(checkouts, options.benchmark, arguments, options.runs)
    width = max((len(label) for label, *_ in rows), default=0)
    print(f"{'':{width}}{'before':>12}{'after':>12}{'speed-up':>10}")
    for label, before, after, ratio in rows:
        print(f"{label:{width}}{before:12g}{after:12g}{ratio:9.2f}x")
    if options.json:
        names = ("label", "before", "after", "speed_up")
        table = [dict(zip(names, row, strict=True)) for row in rows]
        options.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
