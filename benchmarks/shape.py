"""Time of shaping, against training the SVMs on the result and against other encoders.

With ``--memory`` it prints the peak memory of shaping ohscal instead.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import KBinsDiscretizer, TargetEncoder
from sklearn.svm import LinearSVC

from contest import N_THREADS, find_data, read_newsgroups, take_turns
from memory import read_status, reset_peak
from spokeshave import (
    DocumentVectorizer,
    DualLinearSVC,
    FeatureShaper,
    LocalProbabilityShaper,
    ShapedSVC,
)
from spokeshave.corpus import read_arff

ROUNDS = 5
N_BINS = 32  # as many as the neighbourhoods have documents


def load_ohscal() -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the word counts and labels of ohscal."""
    path = find_data() / "forman" / "ohscal.wc.arff.zip"
    table = read_arff(path, encoding="latin-1")
    return table.X, np.array(table.labels)


def load_newsgroups() -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the word counts and labels of the training part of 20 Newsgroups."""
    corpus = read_newsgroups("train")
    vectorizer = DocumentVectorizer(weighting="counts", norm=None, n_jobs=N_THREADS)
    return vectorizer.fit_transform(corpus.texts), np.array(corpus.labels)


def compare_text(name: str, X: sparse.csr_matrix, y: np.ndarray) -> None:
    """Time the shaping of every class against the rest, and training on the shaped documents."""
    classes = np.unique(y)
    tasks = [y == label for label in classes]
    shaped = [FeatureShaper(n_jobs=N_THREADS).fit_transform(X, task) for task in tasks]
    pairs = list(zip(shaped, tasks, strict=True))
    contestants: dict[str, Callable[[], Any]] = {
        "FeatureShaper, each class": lambda: [
            FeatureShaper(n_jobs=N_THREADS).fit_transform(X, task) for task in tasks
        ],
        "LinearSVC, each class": lambda: [
            LinearSVC(loss="hinge", tol=1e-2, random_state=0).fit(*pair) for pair in pairs
        ],
        "DualLinearSVC, each class": lambda: [
            DualLinearSVC(random_state=0).fit(*pair) for pair in pairs
        ],
        "ShapedSVC, shapes and trains": lambda: ShapedSVC(random_state=0).fit(X, y),
        "ShapedSVC, 2 threads": lambda: ShapedSVC(random_state=0, n_jobs=N_THREADS).fit(X, y),
    }
    warnings.simplefilter("ignore")
    seconds, _ = take_turns(contestants, ROUNDS)
    print(f"\n{name}: {X.shape[0]} documents, {X.shape[1]} words, {len(classes)} classes")
    for contestant, time in seconds.items():
        print(f"  {contestant:30} {time:7.3f} s")
    shaping = seconds["FeatureShaper, each class"]
    training = seconds["DualLinearSVC, each class"]
    inside = seconds["ShapedSVC, shapes and trains"] - training
    print(f"  shaping each class by itself over training: {shaping / training:.2f}")
    print(f"  the same over LinearSVC: {shaping / seconds['LinearSVC, each class']:.2f}")
    print(f"  what ShapedSVC adds to training, over training: {inside / training:.2f}")


def compare_table() -> None:
    """Time the shaping of letter, for one class and for all, against other encoders."""
    from optbinning import OptimalBinning  # heavy, and not needed elsewhere

    table = read_arff(find_data() / "uci" / "letter.arff")
    X, labels = table.X, np.array(table.labels)
    is_a = labels == "A"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer bins in columns with few values
        binned = KBinsDiscretizer(N_BINS, encode="ordinal").fit_transform(X)
    warnings.simplefilter("ignore")

    def bin_optimally() -> list[Any]:
        return [
            OptimalBinning().fit(column, is_a).transform(column, metric="event_rate")
            for column in X.T
        ]

    contestants: dict[str, Callable[[], Any]] = {
        "one class: OptimalBinning": bin_optimally,
        "one class: TargetEncoder": lambda: TargetEncoder().fit_transform(binned, is_a),
        "one class: shaper, cross-fitted": lambda: LocalProbabilityShaper(
            cross_fit=True, random_state=0
        ).fit_transform(X, is_a),
        "one class: shaper": lambda: LocalProbabilityShaper().fit_transform(X, is_a),
        "26 classes: TargetEncoder": lambda: TargetEncoder().fit_transform(binned, labels),
        "26 classes: shaper, cross-fitted": lambda: LocalProbabilityShaper(
            cross_fit=True, random_state=0
        ).fit_transform(X, labels),
        "26 classes: shaper": lambda: LocalProbabilityShaper().fit_transform(X, labels),
    }
    for run in contestants.values():
        run()
    seconds, _ = take_turns(contestants, ROUNDS)
    print(f"\nletter: {X.shape[0]} x {X.shape[1]}")
    for contestant, time in seconds.items():
        print(f"  {contestant:34} {time:7.4f} s")
    one, many = seconds["one class: shaper"], seconds["26 classes: shaper"]
    crossed = seconds["one class: shaper, cross-fitted"]
    print(f"  OptimalBinning over shaper: {seconds['one class: OptimalBinning'] / one:.1f}")
    print(f"  TargetEncoder over shaper: {seconds['one class: TargetEncoder'] / one:.1f}")
    print(f"  both cross-fitted: {seconds['one class: TargetEncoder'] / crossed:.1f}")
    print(f"  the same for 26 classes: {seconds['26 classes: TargetEncoder'] / many:.1f}")


def measure_memory() -> None:
    """Print the peak memory of shaping ohscal, as a multiple of the documents."""
    X, y = load_ohscal()
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    jobs: dict[str, Callable[[], Any]] = {
        "FeatureShaper, one class": lambda: FeatureShaper().fit_transform(X, y == y[0]),
        "LocalProbabilityShaper, 10 classes, fit": lambda: LocalProbabilityShaper().fit(X, y),
        "ShapedSVC, 10 classes": lambda: ShapedSVC(random_state=0).fit(X, y),
    }
    print(f"ohscal: {size / 2**20:.1f} MB of documents")
    for name, job in jobs.items():
        job()  # compiles
        reset_peak()
        held = read_status("VmRSS")
        result = job()
        taken = read_status("VmHWM") - held
        print(f"  {name:40} {taken / 2**20:6.1f} MB more at the peak, {taken / size + 1:.2f} times")
        del result


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", action="store_true")
    if parser.parse_args().memory:
        measure_memory()
        return
    compare_table()
    compare_text("ohscal", *load_ohscal())
    compare_text("20 Newsgroups", *load_newsgroups())


if __name__ == "__main__":
    main()
