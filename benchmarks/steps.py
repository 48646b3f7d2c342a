"""Seconds of the steps of a job by themselves, without a peer: for `alternate.py`.

python benchmarks/steps.py
python benchmarks/alternate.py BEFORE . steps -n 4
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from contest import (
    N_THREADS,
    find_data,
    load_newsgroups,
    load_rcv1,
    read_newsgroups,
    take_turns,
)
from spokeshave import (
    BudgetedSVC,
    DocumentVectorizer,
    DualLinearSVC,
    FeatureShaper,
    ShapedSVC,
    feature_curve,
)
from spokeshave.cluster import fit_on_cluster
from spokeshave.corpus import load_source, read_arff

METHODS = ["mask", "sv_set", "warm"]
LONG = ("curve of RCV1, 3 methods", "command fit", "command predict")  # not warmed up
COMMAND = [sys.executable, "-c", "from spokeshave.cli import main; main()"]


def trace_methods(X: Any, Y: Any) -> Any:
    """Return a curve per method by cross-validation."""
    options: dict[str, Any] = {"cv": 5, "n_jobs": N_THREADS, "random_state": 0}
    try:
        return feature_curve(X, Y, method=METHODS, **options)
    except (TypeError, ValueError):
        return [feature_curve(X, Y, method=method, **options) for method in METHODS]


def run_command(*arguments: str | Path) -> None:
    """Run the command line in a new process."""
    subprocess.run([*COMMAND, *map(str, arguments)], check=True, capture_output=True)


def list_steps(folder: Path, client: Client) -> dict[str, Callable[[], Any]]:
    """Return the steps to time."""
    data = find_data()
    texts = read_newsgroups().texts
    X, Y = load_newsgroups("binary")
    X_rcv1, Y_rcv1 = load_rcv1("binary")
    table = read_arff(data / "uci" / "letter.arff")
    health = data / "dmoz" / "Dmoz-Health.csv"
    columns = {"text": "text", "label": "class"}
    model, labels = folder / "health.model", np.array(table.labels)
    run_command("fit", health, "--text", "text", "--label", "class", "--out", model)
    svc = DualLinearSVC(random_state=0, n_jobs=N_THREADS)
    curve = {"cv": 5, "n_jobs": N_THREADS, "random_state": 0}
    return {
        "rows of 20 Newsgroups": lambda: DocumentVectorizer(n_jobs=N_THREADS).fit_transform(texts),
        "fit of RCV1": lambda: svc.fit(X_rcv1, Y_rcv1),
        "curve of 20 Newsgroups, mask": lambda: feature_curve(X, Y, **curve),
        "curve of 20 Newsgroups, 3 methods": lambda: trace_methods(X, Y),
        "curve of RCV1, 3 methods": lambda: trace_methods(X_rcv1, Y_rcv1),
        "shaping of letter": lambda: FeatureShaper().fit_transform(table.X, labels),
        "shaped SVM of letter": lambda: ShapedSVC(n_jobs=N_THREADS).fit(table.X, labels),
        "load of a csv": lambda: load_source(data / "dmoz" / "Dmoz-Sports.csv", **columns),
        "load of svmlight": lambda: load_source(data / "rcv1" / "rcv1_topics_train.svm.gz"),
        "load of Reuters": lambda: load_source(data / "reuters21578.tar.gz"),
        "command fit": lambda: run_command(
            *("fit", health, "--text", "text", "--label", "class", "--out", model)
        ),
        "command predict": lambda: run_command(
            *("predict", model, data / "dmoz" / "Dmoz-Sports.csv", "--text", "text"),
            *("--out", folder / "labelled.csv"),
        ),
        "fit in 1.2 GB": lambda: BudgetedSVC("1.2GB", random_state=0, n_jobs=N_THREADS).fit_files(
            [data / "dmoz" / "Dmoz-Sports.csv"], **columns
        ),
        "fit on two workers": lambda: fit_on_cluster(client, str(health), **columns),
    }


def main() -> None:
    """Print the best seconds of each step."""
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client, TemporaryDirectory() as folder:
        steps = list_steps(Path(folder), client)
        take_turns({name: run for name, run in steps.items() if name not in LONG}, 1)  # compiles
        best, _ = take_turns(steps, 1)
    print("Steps, once after a warm-up\n")
    print(f"{'':36}seconds")
    for name, seconds in best.items():
        print(f"{name:36}{seconds:7.3f}")


if __name__ == "__main__":
    main()
