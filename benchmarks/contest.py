"""Timing in alternation, so that machine noise falls on all contestants; and the collections."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from spokeshave import DocumentVectorizer
from spokeshave.corpus import Texts, read_folders, read_svmlight

N_THREADS = 2


def take_turns(
    contestants: dict[str, Callable[[], Any]], rounds: int
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the best time of each contestant in seconds, and its last result."""
    best = dict.fromkeys(contestants, float("inf"))
    results = {}
    for _ in range(rounds):
        for name, run in contestants.items():
            start = perf_counter()
            results[name] = run()
            best[name] = min(best[name], perf_counter() - start)
    return best, results


def find_data() -> Path:
    """Return the folder of benchmark data, or exit with a message."""
    folder = os.environ.get("SPOKESHAVE_DATA")
    if not folder:
        sys.exit("set SPOKESHAVE_DATA to the folder of benchmark data (docs/data.md)")
    return Path(folder)


def read_newsgroups(part: str = "train") -> Texts:
    """Return the training or the test part of 20 Newsgroups, by date."""
    archive = find_data() / "20news-bydate.tar.gz"
    return read_folders(archive, under=f"20news-bydate-{part}", encoding="latin-1")


def load_newsgroups(weighting: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the training part of 20 Newsgroups, rows of length one, and an indicator."""
    corpus = read_newsgroups("train")
    X = DocumentVectorizer(weighting=weighting, n_jobs=N_THREADS).fit_transform(corpus.texts)
    return X, indicate([(label,) for label in corpus.labels], set(corpus.labels))


def load_newsgroups_split(
    weighting: str,
) -> tuple[sparse.csr_matrix, np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Return training and test rows of 20 Newsgroups, by date, each with its indicator."""
    train, test = read_newsgroups("train"), read_newsgroups("test")
    vectorizer = DocumentVectorizer(weighting=weighting, n_jobs=N_THREADS)
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    Y, Y_test = (
        indicate([(label,) for label in part.labels], set(train.labels)) for part in (train, test)
    )
    return X, Y, X_test, Y_test


def load_rcv1(weighting: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the training part of RCV1, rows of length one, and an indicator of its topics."""
    return load_rcv1_split(weighting)[:2]


def load_rcv1_split(
    weighting: str,
) -> tuple[sparse.csr_matrix, np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Return training and test rows of RCV1, each with an indicator of the training topics."""
    folder = find_data() / "rcv1"
    parts = [
        read_svmlight(folder / f"rcv1_topics_{part}.svm.gz", n_features=47_236, multilabel=True)
        for part in ("train", "test")
    ]
    topics = {name for row in parts[0].labels for name in row}
    if weighting == "binary":
        for part in parts:
            part.X.data[:] = 1
    (X, Y), (X_test, Y_test) = (
        (normalize(part.X), indicate(part.labels, topics)) for part in parts
    )
    return X, Y, X_test, Y_test


def indicate(labels: list[tuple[str, ...]], classes: set[str]) -> np.ndarray:
    """Return a matrix of zeros and ones, a column per class."""
    columns = {name: k for k, name in enumerate(sorted(classes))}
    Y = np.zeros((len(labels), len(columns)), int)
    for i, row in enumerate(labels):
        Y[i, [columns[name] for name in row if name in columns]] = 1
    return Y
