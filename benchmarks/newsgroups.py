"""F1 on 20 Newsgroups by date: word weights per class against word weights shared by all classes.

Prints the macro-F1 of the label with the highest score, and the mean F1 of the groups, each
predicted by itself at threshold zero, on whole messages and without their headers. C is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.preprocessing import binarize, normalize

from contest import N_THREADS, read_newsgroups
from spokeshave import BNSScaler, DocumentVectorizer, DualLinearSVC, ShapedSVC

Weight = Callable[[sparse.csr_matrix], sparse.csr_matrix]


def make_methods(counts: sparse.csr_matrix) -> dict[str, tuple[Weight, Any]]:
    """Return the weighting of word counts and the classifier of each method."""
    tfidf = TfidfTransformer(norm=None).fit(counts)
    idf = TfidfTransformer(norm=None).fit(binarize(counts))
    shared = DualLinearSVC(random_state=0, n_jobs=N_THREADS)
    own = {"random_state": 0, "n_jobs": N_THREADS}
    weighted = ShapedSVC(shape=None, scale="times_bns", **own)
    rare = BNSScaler(stretch=False, smallest_rate="1/n")
    return {
        "binary": (lambda X: normalize(binarize(X)), shared),
        "tf-idf": (lambda X: normalize(tfidf.transform(X)), shared),
        "binary x idf": (lambda X: normalize(idf.transform(binarize(X))), shared),
        "shaped counts x BNS": (lambda X: X, ShapedSVC(**own)),
        "binary x BNS": (lambda X: X, ShapedSVC(shape="binary", **own)),
        "tf-idf x BNS": (tfidf.transform, weighted),
        "binary x idf x BNS": (lambda X: idf.transform(binarize(X)), weighted),
        "the same, rates off by 1/n": (
            lambda X: idf.transform(binarize(X)),
            ShapedSVC(shape=None, scale=rare, **own),
        ),
    }


def measure(scores: np.ndarray, y: np.ndarray, classes: np.ndarray) -> tuple[float, float]:
    """Return the macro-F1 of the highest score, and the mean F1 of each class by itself."""
    of_best = f1_score(y, classes[scores.argmax(axis=1)], average="macro")
    each = [f1_score(y == name, scores[:, k] > 0) for k, name in enumerate(classes)]
    return float(of_best), float(np.mean(each))


def main() -> None:
    """Print both measures of every method."""
    train, test = read_newsgroups("train"), read_newsgroups("test")
    y, y_test = np.array(train.labels), np.array(test.labels)
    for name, cut in (
        ("whole messages", str),
        ("without headers", lambda text: text.partition("\n\n")[2]),
    ):
        vectorizer = DocumentVectorizer(weighting="counts", norm=None, n_jobs=N_THREADS)
        X = vectorizer.fit_transform([cut(text) for text in train.texts])
        X_test = vectorizer.transform([cut(text) for text in test.texts])
        print(f"\n{name}: {X.shape[1]} words\n{'each row of length one':27} macro-F1  mean F1")
        for method, (weigh, model) in make_methods(X).items():
            scores = model.fit(weigh(X), y).decision_function(weigh(X_test))
            both = measure(scores, y_test, model.classes_)
            print(f"{method:27} {both[0]:8.4f} {both[1]:8.4f}", flush=True)


if __name__ == "__main__":
    main()
