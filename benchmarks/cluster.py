"""The whole job on a local cluster against the same job in one process, on the same cores.

20 Newsgroups in parts: one process with two threads, and clusters of one and of two workers with a
thread each. Times include reading but not the start of workers. With ``--large``, workers with a
given memory train on a corpus made by ``made_corpus.py`` in parts instead, and their memory is
measured from outside.

    python benchmarks/cluster.py
    python benchmarks/cluster.py --large 'made/part-*.jsonl' held_out.jsonl --workers 4
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import psutil
from distributed import Client, LocalCluster, Worker

from contest import N_THREADS, read_newsgroups, take_turns
from memory import Monitor, parse_bytes
from spokeshave.cluster import fit_on_cluster
from spokeshave.corpus import read_texts
from spokeshave.corpus.documents import Texts
from spokeshave.jobs.fit import JobResult, run_job
from spokeshave.jobs.settings import Settings
from spokeshave.utils.timing import Stopwatch

N_PARTS = 8
ROUNDS = 2
# A job of about a minute: C is tuned, two methods have a curve, and normals are compared.
JOB = Settings(C="auto", methods=("mask", "warm"), with_stability=True)


def write_parts(folder: Path) -> list[str]:
    """Write the training part of 20 Newsgroups as several files."""
    corpus = read_newsgroups("train")
    paths = []
    for number in range(N_PARTS):
        path = folder / f"part-{number}.csv"
        with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            rows = slice(number * len(corpus) // N_PARTS, (number + 1) * len(corpus) // N_PARTS)
            writer.writerows(zip(corpus.texts[rows], corpus.labels[rows], strict=True))
        paths.append(str(path))
    return paths


def fit_here(paths: list[str], settings: Settings) -> JobResult:
    """Read all parts and run the job in this process."""
    texts: list[str] = []
    labels: list[str] = []
    for path in paths:
        for batch in read_texts(path, text="text", label="label"):
            texts += batch.texts
            labels += batch.labels or []
    return run_job(Texts(texts, labels), settings=settings)


@contextmanager
def start_cluster(n_workers: int, limit: str = "auto") -> Iterator[Client]:
    """Start workers with one thread each."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit=limit, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def compare(rounds: int) -> None:
    """Time the job in one process and on clusters, in alternation, and print the ratios."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        paths = write_parts(Path(folder))
        clients = {n: stack.enter_context(start_cluster(n)) for n in (1, 2)}
        contestants = {
            f"one process, {N_THREADS} threads": lambda settings=JOB: fit_here(paths, settings),
            **{
                f"{n} worker{'s' if n > 1 else ''}": lambda settings=JOB, client=client: (
                    fit_on_cluster(client, paths, text="text", label="label", settings=settings)
                )
                for n, client in clients.items()
            },
        }
        for run in contestants.values():  # compiles kernels and warms up workers
            run(Settings())
        best, results = take_turns(contestants, rounds)
    first = next(iter(best.values()))
    for name, seconds in best.items():
        print(f"{name:28}{seconds:8.1f} s{seconds / first:8.2f} times")
    contents = [found.record.headline.split(";")[0] for found in results.values()]
    print("the same model" if len(set(contents)) == 1 else f"models differ: {contents}")


def monitor_cluster(client: Client) -> Monitor:
    """Return a monitor of this process, all workers and their folders."""
    pids = [os.getpid(), *client.run(os.getpid).values()]
    return Monitor(pids, client.run(find_folder).values())


def find_folder(dask_worker: Worker) -> str:
    """Return the folder of a worker's files."""
    return str(dask_worker.local_directory)


class Usage(NamedTuple):
    """Resources used by workers: seconds of processor time, and bytes sent to others."""

    busy: float
    sent: int


class UsageStopwatch(Stopwatch):
    """Records the time of each step, and the resources that all workers used in it."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.usage: dict[str, Usage] = {}
        self._client, self._before = client, sum_usage(client)

    def end(self) -> None:
        """End a step, and record its usage."""
        name = self._current
        super().end()
        if name is not None:
            now, before = sum_usage(self._client), self._before
            self.usage[name] = Usage(now.busy - before.busy, now.sent - before.sent)
            self._before = now


def sum_usage(client: Client) -> Usage:
    """Return the resources that all workers have used so far."""
    return Usage(*(sum(each) for each in zip(*client.run(read_usage).values(), strict=True)))


def read_usage(dask_worker: Worker) -> Usage:
    """Return the resources that a worker has used so far."""
    times = psutil.Process().cpu_times()
    return Usage(times.user + times.system, dask_worker.transfer_outgoing_bytes_total)


def train_large(parts: str, held_out: str, n_workers: int, limit: str, cut: float | None) -> None:
    """Train on more documents than a worker can hold, and print time, memory and traffic."""
    size = sum(path.stat().st_size for path in Path(parts).parent.glob(Path(parts).name))
    print(f"{size / 1e9:.2f} GB of text, {size / parse_bytes(limit):.1f} times a worker's limit")
    with start_cluster(n_workers, limit) as client, monitor_cluster(client) as monitor:
        start, stopwatch = perf_counter(), UsageStopwatch(client)
        found = fit_on_cluster(
            client,
            parts,
            text="text",
            label="label",
            test=held_out,
            settings=Settings(),
            nonzeros_per_document=cut,
            stopwatch=stopwatch,
            say=partial(print, flush=True),
        )
        seconds = perf_counter() - start
    print(found.record.headline)
    print(f"macro-F1 {found.record.model.judgement.macro_f1:.4f}")
    print(f"{'':16}{'seconds':>10}{'processor':>11}{'MB sent':>10}")
    for name, took in stopwatch.seconds.items():
        busy, sent = stopwatch.usage[name]
        print(f"{name:16}{took:10.1f}{busy:11.1f}{sent / 1e6:10.0f}")
    busy, sent = (sum(each) for each in zip(*stopwatch.usage.values(), strict=True))
    print(f"{'in all':16}{seconds:10.1f}{busy:11.1f}{sent / 1e6:10.0f}")
    client_peak, *peaks = monitor.peaks.values()
    print(f"peak of the client {client_peak / 1e6:.0f} MB, of workers (limit {limit}):", end=" ")
    print(", ".join(f"{peak / 1e6:.0f} MB" for peak in peaks))
    print(f"on all disks at most {monitor.disk_peak / 1e9:.2f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", nargs=2, metavar=("PARTS", "HELD_OUT"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", default="550MB", help="memory of a worker")
    parser.add_argument("--nonzeros-per-document", type=float, help="cut to this sparsity")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    if options.large:
        train_large(*options.large, options.workers, options.limit, options.nonzeros_per_document)
    else:
        compare(options.rounds)


if __name__ == "__main__":
    main()
