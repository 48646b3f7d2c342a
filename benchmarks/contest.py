"""Contestants timed in turns, so that a noisy moment falls on all of them."""

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
    """Return the best time of each contestant in seconds, and what each returned last."""
    best = dict.fromkeys(contestants, float("inf"))
    results = {}
    for _ in range(rounds):
        for name, run in contestants.items():
            start = perf_counter()
            results[name] = run()
            best[name] = min(best[name], perf_counter() - start)
    return best, results


def find_data() -> Path:
    """Return the folder of benchmark data, or leave with a sentence."""
    folder = os.environ.get("SPOKESHAVE_DATA")
    if not folder:
        sys.exit("set SPOKESHAVE_DATA to the folder of benchmark data (docs/data.md)")
    return Path(folder)


def read_newsgroups() -> Texts:
    """Return the training part of 20 Newsgroups, by date."""
    archive = find_data() / "20news-bydate.tar.gz"
    return read_folders(archive, under="20news-bydate-train", encoding="latin-1")


def load_newsgroups(weighting: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return rows of length one, and an indicator of the 20 groups."""
    corpus = read_newsgroups()
    X = DocumentVectorizer(weighting=weighting, n_jobs=N_THREADS).fit_transform(corpus.texts)
    return X, indicate([(label,) for label in corpus.labels])


def load_rcv1(weighting: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the training part of RCV1, rows of length one, and an indicator of its topics."""
    path = find_data() / "rcv1" / "rcv1_topics_train.svm.gz"
    vectors = read_svmlight(path, n_features=47_236, multilabel=True)
    if weighting == "binary":
        vectors.X.data[:] = 1
    return normalize(vectors.X), indicate(vectors.labels)


def indicate(labels: list[tuple[str, ...]]) -> np.ndarray:
    """Return a matrix of zeros and ones, a column per label."""
    columns = {name: k for k, name in enumerate(sorted({n for row in labels for n in row}))}
    Y = np.zeros((len(labels), len(columns)), int)
    for i, row in enumerate(labels):
        Y[i, [columns[name] for name in row]] = 1
    return Y
