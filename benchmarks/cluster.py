"""The whole job on a local cluster against the same job in one process, on the same cores.

20 Newsgroups in parts: one process with two threads, and clusters of one and of two workers with a
thread each. Reading is part of the job, starting workers is not. With ``--large`` a corpus that
``made_corpus.py`` has made, in parts, is trained on by workers of a given memory instead, which is
watched from outside.

    python benchmarks/cluster.py
    python benchmarks/cluster.py --large 'made/part-*.jsonl' held_out.jsonl --workers 4
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter
from typing import NamedTuple

import psutil
from distributed import Client, LocalCluster, Worker

from budget import INTERVAL, parse_bytes, read_status
from contest import N_THREADS, read_newsgroups, take_turns
from spokeshave.cluster import fit_on_cluster
from spokeshave.corpus import read_texts
from spokeshave.corpus.documents import Texts
from spokeshave.jobs.fit import JobResult, run_job
from spokeshave.jobs.settings import Settings
from spokeshave.utils.timing import Stopwatch

N_PARTS = 8
ROUNDS = 2
SELDOM = 50  # looks at memory for one at disks
# A job of about a minute: C is chosen, two methods are traced, and normals are compared.
JOB = Settings(C="auto", methods=("mask", "warm"), with_stability=True)


def write_parts(folder: Path) -> list[str]:
    """Write the training part of 20 Newsgroups in parts."""
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
    """Start workers of a thread each."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit=limit, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def compare(rounds: int) -> None:
    """Time the job here and on clusters, in turns, and print the ratios."""
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
        for run in contestants.values():  # kernels are loaded, and workers warm
            run(Settings())
        best, results = take_turns(contestants, rounds)
    first = next(iter(best.values()))
    for name, seconds in best.items():
        print(f"{name:28}{seconds:8.1f} s{seconds / first:8.2f} times")
    contents = [found.record.headline.split(";")[0] for found in results.values()]
    print("the same model" if len(set(contents)) == 1 else f"models differ: {contents}")


class Watch:
    """Looks at the most that this process and each worker have held, in bytes, while entered.

    And, now and then, at what all workers together have on their disks.
    """

    def __init__(self, client: Client) -> None:
        self.peaks: dict[int, int] = {}
        self.disk_peak = 0
        self._pids = [os.getpid(), *client.run(os.getpid).values()]
        self._folders = list(client.run(find_folder).values())
        self._done, self._thread = Event(), Thread(target=self._look_again)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._done.set()
        self._thread.join()

    def _look_again(self) -> None:
        for number in count():
            if self._done.wait(INTERVAL):
                return
            for pid in self._pids:
                self.peaks[pid] = max(self.peaks.get(pid, 0), read_status(pid, "VmHWM"))
            if number % SELDOM == 0:
                self.disk_peak = max(self.disk_peak, sum(map(measure_folder, self._folders)))


def find_folder(dask_worker: Worker) -> str:
    """Return where a worker has its files."""
    return str(dask_worker.local_directory)


def measure_folder(folder: str) -> int:
    """Return the bytes of all files below a folder, some of which may just be going."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(place, name)).st_size
    return total


class Look(NamedTuple):
    """What a worker has done: seconds of its processor, and bytes sent to others."""

    busy: float
    sent: int


class Account(Stopwatch):
    """Keeps what the workers have done in each step, all of them added up."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.looks: dict[str, Look] = {}
        self._client, self._before = client, add_looks(client)

    def end(self) -> None:
        """End a step, and look at what it has taken."""
        name = self._current
        super().end()
        if name is not None:
            now, before = add_looks(self._client), self._before
            self.looks[name] = Look(now.busy - before.busy, now.sent - before.sent)
            self._before = now


def add_looks(client: Client) -> Look:
    """Return what all workers have done so far."""
    return Look(*(sum(each) for each in zip(*client.run(look).values(), strict=True)))


def look(dask_worker: Worker) -> Look:
    """Return what a worker has done so far."""
    times = psutil.Process().cpu_times()
    return Look(times.user + times.system, dask_worker.transfer_outgoing_bytes_total)


def train_large(parts: str, held_out: str, n_workers: int, limit: str, cut: float | None) -> None:
    """Train on what no worker can hold, and print what it took."""
    size = sum(path.stat().st_size for path in Path(parts).parent.glob(Path(parts).name))
    print(f"{size / 1e9:.2f} GB of text, {size / parse_bytes(limit):.1f} times a worker's limit")
    with start_cluster(n_workers, limit) as client, Watch(client) as watch:
        start, account = perf_counter(), Account(client)
        found = fit_on_cluster(
            client,
            parts,
            text="text",
            label="label",
            test=held_out,
            settings=Settings(),
            nonzeros_per_document=cut,
            stopwatch=account,
            say=partial(print, flush=True),
        )
        seconds = perf_counter() - start
    print(found.record.headline)
    print(f"macro-F1 {found.record.model.judgement.macro_f1:.4f}")
    print(f"{'':16}{'seconds':>10}{'processor':>11}{'MB sent':>10}")
    for name, took in account.seconds.items():
        busy, sent = account.looks[name]
        print(f"{name:16}{took:10.1f}{busy:11.1f}{sent / 1e6:10.0f}")
    busy, sent = (sum(each) for each in zip(*account.looks.values(), strict=True))
    print(f"{'in all':16}{seconds:10.1f}{busy:11.1f}{sent / 1e6:10.0f}")
    client_peak, *peaks = watch.peaks.values()
    print(f"peak of the client {client_peak / 1e6:.0f} MB, of workers (limit {limit}):", end=" ")
    print(", ".join(f"{peak / 1e6:.0f} MB" for peak in peaks))
    print(f"on all disks at most {watch.disk_peak / 1e9:.2f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", nargs=2, metavar=("PARTS", "HELD_OUT"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", default="550MB", help="memory of a worker")
    parser.add_argument("--nonzeros-per-document", type=float, help="the sparsity to cut to")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    if options.large:
        train_large(*options.large, options.workers, options.limit, options.nonzeros_per_document)
    else:
        compare(options.rounds)


if __name__ == "__main__":
    main()
