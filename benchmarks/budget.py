"""BudgetedSVC in a given memory against training without a limit, on a corpus of any size.

Each contestant trains in a process of its own, whose memory is measured from outside, interpreter
and imports included. ``made_corpus.py`` makes a corpus that is large enough.

    python benchmarks/budget.py made.jsonl made.held_out.jsonl --budget 512MB --unlimited
    python benchmarks/budget.py made.jsonl made.held_out.jsonl --budget 512MB --limit
    python benchmarks/budget.py made.jsonl made.held_out.jsonl --budget 512MB --growth
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory, TemporaryFile
from time import perf_counter
from typing import Any

from memory import Monitor, parse_bytes

COMPILING = 3000  # documents that are enough to compile every kernel
GROUPS = (  # folder of memory groups, files of the limits, and the second limit over the first
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", 1),
    ("/sys/fs/cgroup", "memory.max", "memory.swap.max", 0),
)
Enter = Callable[[], None]


@dataclass(frozen=True)
class Run:
    """The result of a contestant, in seconds and bytes.

    Attributes
    ----------
    name, outcome : str
        The contestant, and how its process ended.
    seconds, peak : float, int
        Time from the start of the process, and its peak memory, until training was done.
    peak_in_all : int
        Peak memory of the process and its children together, prediction included.
    facts : dict of str to float
        Quality of the model, and size of the training data.
    """

    name: str
    outcome: str
    seconds: float
    peak: int
    peak_in_all: int = 0
    facts: dict[str, float] = field(default_factory=dict)


# Contestants import inside their functions: the imports of one must not count for the other.


def fit_budgeted(corpus: str, memory: str) -> tuple[Any, dict[str, float]]:
    from spokeshave import BudgetedSVC

    model = BudgetedSVC(memory=memory, n_jobs=-1, random_state=0)
    model.fit_files([corpus], text="text", label="label")
    facts = {
        "documents": model.plan_.n_documents,
        "matrix": model.plan_.matrix_bytes,
        "words": len(model.features_),
        "per_document": model.reduced_.per_document,
        "rounds": model.n_rounds_,
    }
    return model.predict, facts


def fit_unlimited(corpus: str, memory: str) -> tuple[Any, dict[str, float]]:
    from spokeshave import DocumentVectorizer, DualLinearSVC
    from spokeshave.corpus import read_texts

    labels: list[Any] = []

    def read() -> Iterator[str]:
        for batch in read_texts(corpus, text="text", label="label"):
            labels.extend(batch.labels or [])
            yield from batch.texts

    vectorizer = DocumentVectorizer(n_jobs=-1)
    X = vectorizer.fit_transform(read())
    model = DualLinearSVC(random_state=0, n_jobs=-1).fit(X, labels)
    facts = {
        "documents": X.shape[0],
        "matrix": X.data.nbytes + X.indices.nbytes + X.indptr.nbytes,
        "words": X.shape[1],
        "per_document": X.nnz / X.shape[0],
    }
    return lambda texts: model.predict(vectorizer.transform(texts)), facts


CONTESTANTS = {"budgeted": fit_budgeted, "unlimited": fit_unlimited}


def work(contestant: str, corpus: str, held_out: str, memory: str) -> None:
    """Train, report it and wait, then print the quality on held-out documents."""
    predict, facts = CONTESTANTS[contestant](corpus, memory)
    print("trained", flush=True)
    sys.stdin.readline()
    print(json.dumps(facts | measure_quality(predict, held_out)))


def measure_quality(predict: Any, held_out: str) -> dict[str, float]:
    from sklearn.metrics import accuracy_score, f1_score

    from spokeshave.corpus import read_texts

    expected: list[Any] = []
    found: list[Any] = []
    for batch in read_texts(held_out, text="text", label="label", batch_size=2000):
        expected += batch.labels or []
        found += predict(batch.texts).tolist()
    return {
        "macro_f1": float(f1_score(expected, found, average="macro")),
        "accuracy": float(accuracy_score(expected, found)),
    }


def run(
    name: str, corpus: Path, held_out: Path, memory: str = "", enter: Enter | None = None
) -> Run:
    """Train a contestant in a new process, in which ``enter`` is called first."""
    command = [sys.executable, __file__, "--work", name, str(corpus), str(held_out), memory]
    start = perf_counter()
    with (
        TemporaryFile("w+") as errors,
        Popen(
            command, stdin=PIPE, stdout=PIPE, stderr=errors, text=True, preexec_fn=enter
        ) as child,
        Monitor([child.pid], with_children=True) as monitor,
    ):
        assert child.stdout is not None
        child.stdout.readline()  # arrives when training is done, or the process has ended
        seconds = perf_counter() - start
        monitor.sample()
        peak = monitor.peaks[child.pid]
        answer, _ = child.communicate("\n")
        errors.seek(0)
        outcome = describe_outcome(child.returncode, errors.read())
    facts = json.loads(answer or "{}")
    return Run(f"{name} {memory}".strip(), outcome, seconds, peak, monitor.tree_peak, facts)


def describe_outcome(code: int, errors: str) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return "trained" if code == 0 else [f"ended with {code}", *errors.strip().splitlines()][-1]


@contextmanager
def limit_processes(n_bytes: int) -> Iterator[tuple[str, Enter]]:
    """Yield the kind of limit, and the function that puts a process under it."""
    group = make_group(n_bytes)
    if group is None:
        limits = resource.RLIMIT_DATA, (n_bytes, n_bytes)
        yield "limit on data", partial(resource.setrlimit, *limits)
        return
    try:
        yield "memory group", partial(join_group, group)
    finally:
        group.rmdir()


def make_group(n_bytes: int) -> Path | None:
    """Return a memory group with a limit, or None if none can be made, for example without root."""
    for folder, limit, limit_with_swap, share in GROUPS:
        group = Path(folder, f"spokeshave-{os.getpid()}")
        with suppress(OSError):
            group.mkdir()
            if (group / limit).exists():
                (group / limit).write_text(str(n_bytes))
                if (group / limit_with_swap).exists():
                    (group / limit_with_swap).write_text(str(share * n_bytes))
                return group
            group.rmdir()
    return None


def join_group(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


def compare(options: argparse.Namespace) -> Iterator[Run]:
    """Train without a budget if requested, and in each budget."""
    if options.unlimited:
        yield recall_unlimited(options)
    for memory in options.budget:
        yield run("budgeted", options.corpus, options.held_out, memory)


def recall_unlimited(options: argparse.Namespace) -> Run:
    """Return the run without a budget on this corpus, from the cache if it is there."""
    key = f"{options.corpus.name}, {options.corpus.stat().st_size} bytes"
    known = json.loads(options.cache.read_text()) if options.cache.exists() else {}
    if key in known:
        return Run(**known[key])
    unlimited = run("unlimited", options.corpus, options.held_out)
    if unlimited.facts:
        options.cache.write_text(json.dumps(known | {key: asdict(unlimited)}, indent=1))
    return unlimited


def compare_limited(options: argparse.Namespace) -> Iterator[Run]:
    """Train with the budget as a hard limit on the process."""
    for memory in options.budget:
        with limit_processes(parse_bytes(memory)) as (kind, enter):
            for name in CONTESTANTS:
                limited = run(name, options.corpus, options.held_out, memory, enter)
                yield replace(limited, name=f"{name}, {kind} of {memory}")


def compare_growth(options: argparse.Namespace) -> Iterator[Run]:
    """Train on a quarter, a half and all of the documents in the same memory."""
    with options.corpus.open("rb") as lines:
        n_documents = sum(1 for _ in lines)
    for memory in options.budget:
        for n in (n_documents // 4, n_documents // 2, n_documents):
            with cut(options.corpus, n) as part:
                grown = run("budgeted", part, options.held_out, memory)
            yield replace(grown, name=f"{grown.name}, {n:,} documents")


@contextmanager
def cut(corpus: Path, n: int) -> Iterator[Path]:
    """Yield a file with the first n lines of a corpus, beside it."""
    with TemporaryDirectory(dir=corpus.parent) as folder:
        part = Path(folder, corpus.name)
        with corpus.open("rb") as lines, part.open("wb") as file:
            file.writelines(islice(lines, n))
        yield part


def compile_kernels(options: argparse.Namespace) -> None:
    """Compile all kernels before anything is timed."""
    names = {"budgeted": options.budget, "unlimited": options.unlimited or options.limit}
    with cut(options.corpus, COMPILING) as part:
        for name in (name for name, wanted in names.items() if wanted):
            run(name, part, part, "4GB")


def show_heads() -> None:
    heads = ("seconds", "peak MB", "in all", "µs/doc", "macro-F1", "accuracy", "words", "per doc")
    print(f"{'':44}" + "".join(f"{head:>10}" for head in heads))


def show(done: Run) -> None:
    print(f"{done.name:44}{done.seconds:10.1f}", end="")
    print(f"{done.peak / 1e6:10.1f}{done.peak_in_all / 1e6:10.1f}", end="")
    print(describe(done.seconds, done.facts) if done.facts else f"  {done.outcome}", flush=True)


def describe(seconds: float, facts: dict[str, float]) -> str:
    quality = f"{facts['macro_f1']:10.4f}{facts['accuracy']:10.4f}"
    size = f"{facts['words']:10,.0f}{facts['per_document']:10.1f}"
    return f"{1e6 * seconds / facts['documents']:10.1f}{quality}{size}"


def judge(budgeted: Run, unlimited: Run, memory: str) -> None:
    """Print size, peak and loss of quality relative to the budget and the unlimited run."""
    if budgeted.facts and unlimited.facts:
        matrix, peak = unlimited.facts["matrix"], budgeted.peak
        size, share = (n_bytes / parse_bytes(memory) for n_bytes in (matrix, peak))
        loss = unlimited.facts["macro_f1"] - budgeted.facts["macro_f1"]
        print(f"{memory}: the matrix is {size:.2f} times the budget, the peak {share:.3f}", end="")
        print(f" times; macro-F1 is {loss:.4f} below that without a budget")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path, help="a csv or jsonl with columns text and label")
    parser.add_argument("held_out", type=Path, help="documents to evaluate on")
    parser.add_argument("--budget", nargs="*", default=[], help="memory to train in, as 512MB")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--unlimited", action="store_true", help="train without a budget as well")
    modes.add_argument("--limit", action="store_true", help="kill processes that exceed the budget")
    modes.add_argument("--growth", action="store_true", help="train on 25, 50 and 100% of it")
    parser.add_argument("--cache", type=Path, help="file that caches unlimited runs")
    parser.add_argument("--json", type=Path, help="write the results to a file as well")
    options = parser.parse_args()
    options.cache = options.cache or options.corpus.with_name("unlimited.json")
    compile_kernels(options)
    job = compare_limited if options.limit else compare_growth if options.growth else compare
    runs = []
    show_heads()
    for done in job(options):
        show(done)
        runs.append(done)
    if options.unlimited:
        for budgeted, memory in zip(runs[1:], options.budget, strict=True):
            judge(budgeted, runs[0], memory)
    if options.json:
        options.json.write_text(json.dumps([asdict(done) for done in runs], indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    else:
        main()
