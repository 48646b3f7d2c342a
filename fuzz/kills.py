"""Commands killed at random moments: what they leave, and what the same command does after that.

Whenever a command is killed, its files must be those from before, all of them, or the new ones, all
of them. The same command must then succeed, write the same bytes as one that was never killed, and
leave no other files. Compared are the bytes of the model or of the labelled files: a record and a
report tell the time of their run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ENDS = {signal.SIGTERM: "terminated", signal.SIGINT: "interrupted"}
ROOT = Path(__file__).resolve().parents[1]
# What the script of the package runs; more is imported only within the command, as a kill may come
# at any time.
PROGRAM = """
import sys
from spokeshave import cli
def make_app(arguments):
    from fuzz.kills import change_command
    change_command()
    return make(arguments)
make, cli.make_app = cli.make_app, make_app
sys.argv[:2] = ["spokeshave"]
cli.main()
"""
ROOM = 150_000  # bytes for documents: few enough that training goes over the disk, or in rounds
OLD = b"of an earlier run"
PATIENCE = 600  # seconds for a command
GRACE = 60  # seconds for workers to end after their scheduler


@dataclass(frozen=True)
class Case:
    """A command, the files it writes, and which of them have equal bytes in every run."""

    arguments: Sequence[str]
    written: Sequence[str]
    compared: Sequence[str]
    is_short_of_memory: bool = False


RUN = ("trees.model", "trees.run.json", "trees.html")
PARTS = tuple(f"labelled/part-{number}.csv" for number in range(4))
FIT = ("fit", "trees.csv", "--effort", "quick", "--cuts", "0.1,0.5,1", "--n-jobs", "1")
CLUSTER = ("--cluster", "local:2")
CASES = {
    "fit": Case(FIT, RUN, RUN[:1]),
    "memory": Case(
        ("fit", "trees.csv", "--memory", "8GB", "--nonzeros", "5", "--n-jobs", "1"),
        RUN, RUN[:1], is_short_of_memory=True,
    ),
    "predict": Case(("predict", "m.model", "new.csv", "--out", "x.csv"), ("x.csv",), ("x.csv",)),
    "compressed": Case(
        ("predict", "m.model", "new.csv", "--scores", "all", "--out", "x.jsonl.gz"),
        ("x.jsonl.gz",), ("x.jsonl.gz",),
    ),
    "parquet": Case(
        ("predict", "m.model", "new.csv", "--out", "x.parquet"), ("x.parquet",), ("x.parquet",)
    ),
    "rounds": Case(
        ("fit", "parts-*.csv", *CLUSTER, "--nonzeros", "5", "--out", "trees"),
        RUN, RUN[:1], is_short_of_memory=True,
    ),
    "parts": Case(
        ("predict", "m.model", "part-*.csv", *CLUSTER, "--out", "labelled"), PARTS, PARTS
    ),
}  # fmt: skip
# As often as a case has stages in which it can be killed.
TURNS = (
    *("fit", "memory", "predict", "fit", "memory", "rounds", "parquet"),
    *("memory", "compressed", "rounds", "fit", "parts"),
)


@dataclass
class Kill:
    """A kill: of which command, by which signal, after which share of its usual time."""

    case: str
    signal: int
    share: float
    has_old: bool
    outcome: str = ""
    findings: list[str] = field(default_factory=list)


def run(n_runs: int, seed: int, turns: Sequence[str] = TURNS) -> list[str]:
    """Kill commands at random moments, run them again, and return what was wrong."""
    return [
        f"{kill.case} after {kill.share:.2f} by {signal.Signals(kill.signal).name}: {finding}"
        for kill in kill_commands(n_runs, seed, turns)
        for finding in kill.findings
    ]


def kill_commands(n_runs: int, seed: int, turns: Sequence[str] = TURNS) -> Iterator[Kill]:
    """Kill commands at moments spread over the time that each takes, and yield each kill."""
    chosen = [turns[number % len(turns)] for number in range(n_runs)]
    generator = random.Random(seed)
    with TemporaryDirectory(prefix="spokeshave-kills-") as folder:
        sources, temporary = Path(folder, "sources"), Path(folder, "temporary")
        temporary.mkdir()
        make_sources(sources, temporary)
        references = {
            name: run_whole(CASES[name], Path(folder, name), sources, temporary)
            for name in dict.fromkeys(chosen)
        }
        places = {name: list(range(chosen.count(name))) for name in references}
        for each in places.values():
            generator.shuffle(each)
        for number, name in enumerate(chosen):
            share = (places[name].pop() + generator.random()) / chosen.count(name)
            kill = Kill(name, generator.choice(SIGNALS), share, generator.random() < 0.5)
            kill_one(kill, Path(folder, str(number)), sources, temporary, *references[name])
            yield kill


def make_sources(folder: Path, temporary: Path) -> None:
    """Write documents to learn from, documents to label, the same in parts, and a model."""
    folder.mkdir()
    generator = random.Random(0)
    words = [f"{letter}{number}" for letter in "abcdef" for number in range(400)]
    lines = []
    for number in range(3_000):
        own = "abc"[number % 3]
        rest = generator.choices(words, k=12)
        lines.append(f"{own}{generator.randrange(60)} {' '.join(rest)},class {own}\n")
    header = "text,label\n"
    (folder / "trees.csv").write_text(header + "".join(lines))
    for number in range(4):
        content = header + "".join(lines[number::4])
        (folder / f"parts-{number}.csv").write_text(content)
        (folder / f"part-{number}.csv").write_text(header + "".join(lines) * 3)
    (folder / "new.csv").write_text(header + "".join(lines) * 15)
    done = finish(start(FIT, folder, temporary, is_short_of_memory=False))
    if done != (0, ""):
        raise RuntimeError(f"no model to predict with: {done}")
    (folder / "trees.model").rename(folder / "m.model")
    for name in RUN[1:]:
        (folder / name).unlink()


def run_whole(
    case: Case, folder: Path, sources: Path, temporary: Path
) -> tuple[dict[str, bytes], float]:
    """Return the files of a command that nothing happens to, and the seconds it takes."""
    prepare(case, folder, sources, has_old=False)
    begun = time.monotonic()
    process = start(case.arguments, folder, temporary, case.is_short_of_memory)
    code, said = finish(process)
    seconds = time.monotonic() - begun
    if code != 0 or not all((folder / name).exists() for name in case.written):
        raise RuntimeError(f"{case.arguments} failed: {said}")
    if case.is_short_of_memory:
        record = json.loads((folder / "trees.run.json").read_bytes())
        if "rounds at most" not in record["settings"]["trained"]:
            raise RuntimeError(f"{case.arguments} was trained in memory")
    return {name: (folder / name).read_bytes() for name in case.compared}, seconds


def kill_one(
    kill: Kill,
    folder: Path,
    sources: Path,
    temporary: Path,
    reference: dict[str, bytes],
    seconds: float,
) -> None:
    """Kill a command, look at what is left, and run it again."""
    case = CASES[kill.case]
    prepare(case, folder, sources, has_old=kill.has_old)
    process = start(case.arguments, folder, temporary, case.is_short_of_memory)
    time.sleep(kill.share * seconds)
    process.send_signal(kill.signal)
    code, said = finish(process)
    if code == 0:
        kill.outcome = "it had ended"
    else:
        kill.outcome = check_left(kill, case, folder, reference)
        kill.findings += check_end(kill.signal, code, said)
    kill.findings += wait_for_workers(process.pid)
    process = start(case.arguments, folder, temporary, case.is_short_of_memory)
    code, said = finish(process)
    if code != 0:
        kill.findings.append(f"the same command fails afterwards: {said}")
        return
    for name in case.compared:
        if (folder / name).read_bytes() != reference[name]:
            kill.findings.append(f"{name} has other bytes after the same command")
    known = {path.name for path in sources.iterdir()} | set(case.written)
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    if left - known:
        kill.findings.append(f"left for ever: {sorted(left - known)}")


def check_left(kill: Kill, case: Case, folder: Path, reference: dict[str, bytes]) -> str:
    """Return whether the files of a killed command are old or new, and note if they are mixed."""
    contents = [read_if_there(folder / name) for name in case.written]
    old = OLD if kill.has_old else None
    if all(content == old for content in contents):
        return "old files" if kill.has_old else "no files"
    is_whole = all(read_if_there(folder / name) == reference[name] for name in case.compared)
    if not is_whole or None in contents or OLD in contents:
        kill.findings.append("old and new files are mixed, or some are not whole")
    return "new files"


def check_end(number: int, code: int, said: str) -> list[str]:
    """Return what is wrong with the exit code and the message of a killed command."""
    if number == signal.SIGKILL:
        return [] if code == -number else [f"the exit code is {code}"]
    if code == -number and "in main" not in said:  # as Python started, or after all was done
        return []
    problems = [] if code == 128 + number else [f"the exit code is {code}"]
    lines = [line for line in said.splitlines() if not line.startswith("note: ")]
    if lines != [f"spokeshave: {ENDS[signal.Signals(number)]}; nothing was left half-written"]:
        problems.append(f"it says {said!r}")
    return problems


def read_if_there(path: Path) -> bytes | None:
    """Return the content of a file, or None."""
    return path.read_bytes() if path.exists() else None


def prepare(case: Case, folder: Path, sources: Path, *, has_old: bool) -> None:
    """Make a folder with the sources, and with files of an earlier run if asked for."""
    folder.mkdir()
    for path in sources.iterdir():
        (folder / path.name).hardlink_to(path)
    if has_old:
        for name in case.written:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(OLD)


def start(
    arguments: Sequence[str], folder: Path, temporary: Path, is_short_of_memory: bool
) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own."""
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    changed = {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TMPDIR": str(temporary),
        "SPOKESHAVE_KILLS": str(int(is_short_of_memory)),
    }
    with (folder / "errors.txt").open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder / "errors.txt"), *arguments],
            cwd=folder,
            env=os.environ | changed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            preexec_fn=_heed_interrupts,
        )


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores them in background


def finish(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Wait for a command; return its exit code and its messages other than notes."""
    code = process.wait(PATIENCE)
    arguments: Any = process.args
    errors = Path(arguments[3])
    said = errors.read_text("utf-8", "replace")
    errors.unlink()
    return code, "".join(line for line in said.splitlines(True) if not line.startswith("note: "))


def wait_for_workers(session: int) -> list[str]:
    """Wait until the other processes of a command have ended; kill and report those that stay."""
    give_up = time.monotonic() + GRACE
    while left := list_session(session):
        if time.monotonic() > give_up:
            for process in left:
                process.kill()
            return [f"{len(left)} processes go on after it"]
        time.sleep(0.1)
    return []


def list_session(session: int) -> list[psutil.Process]:
    """Return the processes of a session."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (OSError, psutil.Error):
            continue
    return found


def change_command() -> None:
    """Leave out the charts of a report, and give a command less memory if asked for.

    Drawing charts takes longer than all the rest.
    """
    import spokeshave.report

    def render(record: Any) -> str:
        return f"<!doctype html>{record.headline}</html>"

    spokeshave.report.render_report = render
    if os.environ["SPOKESHAVE_KILLS"] == "1":
        _take_memory(is_cluster="--cluster" in sys.argv)


def _take_memory(*, is_cluster: bool) -> None:
    from spokeshave.budget.memory import AvailableMemory

    if is_cluster:
        from spokeshave.cluster import fit

        client: Any = fit
        client.find_worker_memory = lambda limit, held: AvailableMemory(limit, limit - ROOM)
        return
    from spokeshave.budget import run

    places: Any = run
    places.find_room = lambda memory, n_features: 0
    places.MINIMUM = ROOM
