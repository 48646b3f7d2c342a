"""Small collections made up for tests, and what a cut does to them, the slow way."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

TIGHT = {"tol": 1e-10, "max_iter": 100_000, "random_state": 0}
CUTS = (0.1, 0.4, 0.8, 1.0)
TREES = [
    "the ash has a grey bark and many a winged seed",
    "a grey ash leaf in the wind",
    "winged seed of the ash in the wind",
    "bark of an ash is grey",
    "the oak has an acorn and a lobed leaf",
    "an acorn under the oak",
    "lobed leaf of the old oak",
    "old oak with an acorn",
]
KINDS = ["ash"] * 4 + ["oak"] * 4


def make_text(
    n_classes=3, *, is_binary=False, n=90, d=40, chances=(0.05, 0.35), has_empty=True, seed=0
):
    """Return sparse rows of length one, whose words depend on the class, and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = (rng.random((n, d)) < rng.uniform(*chances, size=(n_classes, d))[y]).astype(float)
    if not is_binary:
        X *= rng.uniform(0.5, 2, size=X.shape)
    if has_empty:
        X[3] = 0  # a document without a word
    return normalize(sparse.csr_matrix(X)), y


def make_targets(kind):
    """Return documents with targets of a kind: binary, labels or multilabel."""
    X, y = make_text(2 if kind == "binary" else 3)
    return X, np.column_stack([y == 0, y != 1, y == 2]).astype(int) if kind == "multilabel" else y


def keep(X, features, unit):
    """Return the documents with all other features dropped, scaled to length one if ``unit``."""
    masked = X.toarray()
    masked[:, np.setdiff1d(np.arange(X.shape[1]), features)] = 0
    return sparse.csr_matrix(normalize(masked) if unit else masked)


def list_features(scores):
    """Return the features of nonzero score, the largest in size first."""
    order = np.argsort(-np.abs(scores), kind="stable")
    return order[: np.count_nonzero(scores)]
