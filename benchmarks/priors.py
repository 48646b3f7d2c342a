"""Priors of the weights: Bi-Normal Separation beside others at the same place in the problem.

    python benchmarks/priors.py                 # every collection of texts with one label each
    python benchmarks/priors.py SMS Science

Macro-F1 by cross-validation on the training documents; test documents have no part in it. Rows are
sublinear tf-idf of words and pairs, with the squared hinge loss and C = 1. A prior is an array of
standard deviations, scaled so that the mean squared length of scaled rows is that of the rows:

- idf: the inverse document frequency, once more;
- ratio: the size of the log-count ratio of naive Bayes (Wang and Manning, 2012);
- bns: Bi-Normal Separation;
- bns, cross-fitted: that of each fifth of the documents, with the sign of the other four fifths, on
  average, and at least a tenth of that of all documents.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from accuracy import list_collections
from contest import N_THREADS
from spokeshave import DocumentVectorizer, DualLinearSVC
from spokeshave.corpus import Texts

N_FOLDS = 3
N_PARTS = 5  # of the cross-fitted prior
STRENGTHS = (0.5, 1.0)
TERMS = {"weighting": "counts", "norm": None, "ngram_range": (1, 2), "min_df": 2}
ROWS = {**TERMS, "weighting": "tfidf", "sublinear_tf": True, "norm": "l2"}
Rows = sparse.csr_matrix


def count(X: Rows, indicator: Rows) -> tuple[np.ndarray, ...]:
    """Return sums of each feature in and outside each class, and the sizes of classes."""
    inside = (indicator.T @ X).toarray()
    return inside, np.asarray(X.sum(axis=0)) - inside, np.asarray(indicator.sum(axis=0)).ravel()


def separate(X: Rows, indicator: Rows) -> np.ndarray:
    """Return the Bi-Normal Separation with its sign (classes x features)."""
    inside, outside, sizes = count(X, indicator)
    smallest = 1 / X.shape[0]
    rates = (
        part / np.maximum(total, 1)[:, None]
        for part, total in ((inside, sizes), (outside, X.shape[0] - sizes))
    )
    found = [ndtri(np.clip(rate, smallest, 1 - smallest)) for rate in rates]
    return found[0] - found[1]


def separate_by_folds(X: Rows, indicator: Rows) -> np.ndarray:
    """Return the separation of each part with the sign that the other parts give it."""
    part_of = np.random.default_rng(0).permutation(X.shape[0]) % N_PARTS
    found = np.zeros((indicator.shape[1], X.shape[1]))
    for part in range(N_PARTS):
        is_part = part_of == part
        sign = np.sign(separate(X[~is_part], indicator[~is_part]))
        found += sign * separate(X[is_part], indicator[is_part]) / N_PARTS
    return np.maximum(found, np.abs(separate(X, indicator)) / 10)


def find_ratio(X: Rows, indicator: Rows) -> np.ndarray:
    """Return the size of the log ratio of a feature's smoothed frequencies."""
    p, q = (1 + part for part in count(X, indicator)[:2])
    return np.abs(np.log(p / p.sum(axis=1)[:, None]) - np.log(q / q.sum(axis=1)[:, None]))


PRIORS: dict[str, Any] = {
    "idf": lambda X, indicator: np.log(X.shape[0] / np.asarray(X.sum(axis=0))) + 1,
    "ratio": find_ratio,
    "bns": lambda X, indicator: np.abs(separate(X, indicator)),
    "bns, cross-fitted": separate_by_folds,
}


def scale(prior: np.ndarray, strength: float, X: Rows) -> np.ndarray:
    """Return standard deviations that keep the mean squared length of rows."""
    squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
    deviations = np.broadcast_to(prior, (len(prior), X.shape[1])) ** strength
    scaled = deviations**2 @ squares
    return deviations * np.sqrt(squares.sum() / scaled)[:, None]


def compare(name: str, train: Texts) -> dict[str, float]:
    """Print a line of the macro-F1 with each prior; return them."""
    texts, y = np.array(train.texts, object), np.array(train.labels)
    scores: dict[str, list[float]] = {}
    for part, rest in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(texts, y):
        rows = DocumentVectorizer(n_jobs=N_THREADS, **ROWS)
        X, X_test = rows.fit_transform(texts[part]), rows.transform(texts[rest])
        presence = (X > 0).astype(float)
        classes, codes = np.unique(y[part], return_inverse=True)
        n_rows = 1 if classes.size == 2 else classes.size  # two classes have one row of weights
        indicator = sparse.csr_matrix(np.eye(classes.size)[codes][:, -n_rows:])
        priors: dict[str, Any] = {"none": None}
        for prior, find in PRIORS.items():
            found = np.atleast_2d(find(presence, indicator))
            for strength in STRENGTHS:
                deviations = scale(found, strength, X)
                if len(deviations) == 1 < n_rows:
                    deviations = deviations[0]
                priors[f"{prior} {strength:g}"] = deviations
        for prior, deviations in priors.items():
            svm = DualLinearSVC(
                loss="squared_hinge", prior=deviations, n_jobs=N_THREADS, random_state=0
            )
            predicted = svm.fit(X, y[part]).predict(X_test)
            scores.setdefault(prior, []).append(f1_score(y[rest], predicted, average="macro"))
    found = {prior: float(np.mean(of_prior)) for prior, of_prior in scores.items()}
    print(f"{name:16}" + "".join(f"{value:9.4f}" for value in found.values()), flush=True)
    return found


def main() -> None:
    """Compare the priors on each collection, and print their mean gain over none."""
    collections = list_collections()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", metavar="NAME", help=", ".join(collections))
    names = parser.parse_args().collections or [name for name in collections if name != "arXiv"]
    if unknown := set(names) - set(collections):
        parser.error(f"there is no collection {unknown.pop()!r}; choose of {list(collections)}")
    warnings.simplefilter("ignore", UserWarning)  # rare classes
    heads = ["none", *(f"{prior} {strength:g}" for prior in PRIORS for strength in STRENGTHS)]
    print(", ".join(heads))
    found = []
    for name in names:
        train, _ = collections[name]()
        if isinstance(train, Texts) and not isinstance(train.labels[0], tuple):
            found.append(compare(name, train))
    print("mean gain over none")
    for prior in heads:
        print(f"  {prior:22}{np.mean([each[prior] - each['none'] for each in found]):+.4f}")


if __name__ == "__main__":
    main()
