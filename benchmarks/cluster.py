"""The whole job on a local cluster against the same job in one process, on the same cores.

20 Newsgroups in parts: one process with two threads, and clusters of one and of two workers with a
thread each. Reading is part of the job, starting workers is not. With ``--large`` a corpus that
``made_corpus.py`` has made, in parts, is trained on by workers of a given memory instead, which is
watched from outside.

    python benchmarks/cluster.py
    python benchmarks/cluster.py --large 'made/part-*.jsonl' held_out.jsonl --limit 512MB
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter

from distributed import Client, LocalCluster

from budget import INTERVAL, read_status
from contest import N_THREADS, read_newsgroups, take_turns
from spokeshave.cluster import fit_on_cluster
from spokeshave.corpus import read_texts
from spokeshave.corpus.documents import Texts
from spokeshave.job import Finished, run_job
from spokeshave.settings import Settings

N_PARTS = 8
ROUNDS = 3


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


def fit_here(paths: list[str], settings: Settings) -> Finished:
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


def compare(settings: Settings) -> None:
    """Time the job here and on clusters, in turns, and print the ratios."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        paths = write_parts(Path(folder))
        clients = {n: stack.enter_context(start_cluster(n)) for n in (1, 2)}
        contestants = {
            f"one process, {N_THREADS} threads": lambda: fit_here(paths, settings),
            **{
                f"{n} worker{'s' if n > 1 else ''}": lambda client=client: fit_on_cluster(
                    client, paths, text="text", label="label", settings=settings
                )
                for n, client in clients.items()
            },
        }
        for run in contestants.values():  # kernels are loaded, and workers warm
            run()
        best, results = take_turns(contestants, ROUNDS)
    first = next(iter(best.values()))
    for name, seconds in best.items():
        print(f"{name:28}{seconds:8.1f} s{seconds / first:8.2f} times")
    contents = [found.record.headline.split(";")[0] for found in results.values()]
    print("the same model" if len(set(contents)) == 1 else f"models differ: {contents}")


class Watch:
    """Looks at the most that each of some processes has held, in bytes, while it is entered."""

    def __init__(self, client: Client) -> None:
        self.peaks: dict[int, int] = {}
        self._client, self._done = client, Event()
        self._thread = Thread(target=self._look_again)

    def __enter__(self) -> Watch:
        import os

        self._pids = list(self._client.run(os.getpid).values())
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._done.set()
        self._thread.join()

    def _look_again(self) -> None:
        while not self._done.wait(INTERVAL):
            for pid in self._pids:
                self.peaks[pid] = max(self.peaks.get(pid, 0), read_status(pid, "VmHWM"))


def train_large(parts: str, held_out: str, n_workers: int, limit: str) -> None:
    """Train on what no worker can hold, and print what it took."""
    with start_cluster(n_workers, limit) as client, Watch(client) as watch:
        start = perf_counter()
        found = fit_on_cluster(
            client,
            parts,
            text="text",
            label="label",
            test=held_out,
            settings=Settings(),
            say=print,
        )
        seconds = perf_counter() - start
    print(found.record.headline)
    for name, took in found.record.making.seconds.items():
        print(f"{name:28}{took:8.1f} s")
    print(f"{'in all':28}{seconds:8.1f} s")
    for number, peak in enumerate(watch.peaks.values()):
        print(f"{f'peak of worker {number}':28}{peak / 1e6:8.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", nargs=2, metavar=("PARTS", "HELD_OUT"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", default="512MB", help="memory of a worker")
    parser.add_argument("--C", default=1.0, type=lambda C: C if C == "auto" else float(C))
    options = parser.parse_args()
    if options.large:
        train_large(*options.large, options.workers, options.limit)
    else:
        compare(Settings(C=options.C))


if __name__ == "__main__":
    main()
