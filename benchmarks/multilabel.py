"""Multilabel quality of the model that `spokeshave fit` writes, beside one-vs-rest LinearSVC.

    python benchmarks/multilabel.py

Reuters-21578 in the ModApte split, with TfidfVectorizer() for the peer; a sample of RCV1, which is
vectors for both. P@k is over all test documents, of the scores before thresholds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from contest import N_THREADS, find_data
from spokeshave import precision_at_k
from spokeshave.corpus import Texts, Vectors, read_reuters, read_svmlight
from spokeshave.jobs.dataset import list_names, make_targets
from spokeshave.jobs.fit import run_job
from spokeshave.jobs.settings import Settings

TOPS = (1, 3, 5)


def load_collections() -> dict[str, tuple[Any, Any]]:
    """Return the training and the test documents of each collection."""
    data = find_data()
    reuters = read_reuters(data / "reuters21578.tar.gz")
    rcv1 = [
        read_svmlight(
            data / "rcv1" / f"rcv1_topics_{part}.svm.gz", n_features=47_236, multilabel=True
        )
        for part in ("train", "test")
    ]
    return {"Reuters-21578": (reuters.train, reuters.test), "RCV1": (rcv1[0], rcv1[1])}


def find_rows(documents: Texts | Vectors) -> Any:
    """Return what a model reads."""
    return documents.texts if isinstance(documents, Texts) else documents.X


def write_row(name: str, Y: np.ndarray, predicted: np.ndarray, scores: np.ndarray) -> str:
    """Return a line of the table; macro-F1 is over the classes with a test document."""
    is_met = Y.any(axis=0)
    macro = f1_score(Y[:, is_met], predicted[:, is_met], average="macro", zero_division=0)
    micro = f1_score(Y, predicted, average="micro", zero_division=0)
    tops = [precision_at_k(Y, scores, k) for k in TOPS]
    cells = f"{micro:10.4f}{macro:10.4f}{predicted.sum() / len(Y):10.3f}"
    return f"  {name:28}{cells}" + "".join(f"{value:9.4f}" for value in tops)


def main() -> None:
    """Print the table of each collection."""
    heads = f"{'micro-F1':>10}{'macro-F1':>10}{'labels':>10}"
    print(f"{'':30}{heads}" + "".join(f"{f'P@{k}':>9}" for k in TOPS))
    for name, (train, test) in load_collections().items():
        classes = list_names(train.labels)
        Y, Y_test = (make_targets(each.labels, classes).toarray() for each in (train, test))
        print(f"{name}: {Y_test.sum() / len(Y_test):.3f} labels in a test document")
        ours = run_job(train, settings=Settings(n_jobs=N_THREADS)).model
        scores = ours.decision_function(find_rows(test))
        print(write_row("fit", Y_test, scores > 0, scores + ours.thresholds_), flush=True)
        theirs, peer = OneVsRestClassifier(LinearSVC()), "LinearSVC"
        if isinstance(train, Texts):
            theirs, peer = make_pipeline(TfidfVectorizer(), theirs), f"TfidfVectorizer + {peer}"
        scores = theirs.fit(find_rows(train), Y).decision_function(find_rows(test))
        print(write_row(peer, Y_test, scores > 0, scores), flush=True)


if __name__ == "__main__":
    main()
