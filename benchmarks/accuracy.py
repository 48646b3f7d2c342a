"""Accuracy of the model that `spokeshave fit` writes, beside the pipelines people write.

    python benchmarks/accuracy.py                            # every collection and every peer
    python benchmarks/accuracy.py SMS OHSUMED --without grid fasttext

Prints macro-F1 of the predicted labels, accuracy, seconds of training, bytes of the model (of the
file, or of the pickled pipeline), its features and its weights of all classes. A quarter of a
collection without a test part is held out, the same documents for all. Nothing is tuned on test
documents. fastText needs ``pip install fasttext-numpy2-wheel``.
"""

from __future__ import annotations

import argparse
import os
import pickle
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from contest import N_THREADS, find_data, read_newsgroups
from spokeshave.corpus import Texts, load_embedded, load_source, read_reuters
from spokeshave.jobs.fit import run_job
from spokeshave.jobs.settings import Settings

CSVS = ("Science", "Computers", "Health", "Sports")
HELD_OUT = 0.25
CS = (0.1, 0.3, 1.0, 3.0, 10.0)
PAIRS = {"sublinear_tf": True, "ngram_range": (1, 2), "min_df": 2}
CHARACTERS = {"analyzer": "char_wb", "ngram_range": (2, 4), "sublinear_tf": True}
WORD = re.compile(r"\w+")

Documents = Any


class Fitted(NamedTuple):
    """A model: what predicts labels, its bytes, its features, and its weights of all classes."""

    predict: Callable[[Any], Any]
    n_bytes: int
    n_features: int | None = None
    n_weights: int | None = None


def list_collections() -> dict[str, Callable[[], tuple[Documents, Documents]]]:
    """Return a function that reads the training and the test documents of each collection."""
    data = find_data()
    found: dict[str, Callable[[], tuple[Documents, Documents]]] = {
        "20 Newsgroups": lambda: (read_newsgroups("train"), read_newsgroups("test")),
        "OHSUMED": lambda: read_parts(data / "ohsumed", "gz"),
        "THUCNews": lambda: read_parts(data / "thucnews", "gz"),
        "SMS": lambda: hold_out(load_source(data / "sms_spam.tsv").documents),
        "docstrings": lambda: hold_out(load_embedded()),
        "Business": lambda: hold_out(load_source(data / "dmoz/Dmoz-Business.arff.zip").documents),
    }
    for name in CSVS:
        path = data / "dmoz" / f"Dmoz-{name}.csv"
        found[name] = lambda path=path: hold_out(load_source(path).documents)
    found["Reuters-21578"] = lambda: read_modapte(data)
    found["arXiv"] = lambda: read_parts(data / "arxiv", "xz")
    return found


def read_parts(folder: Path, suffix: str) -> tuple[Documents, Documents]:
    """Return both parts of a collection in two tables."""
    train, test = (load_source(folder / f"{part}.csv.{suffix}") for part in ("train", "test"))
    return train.documents, test.documents


def read_modapte(data: Path) -> tuple[Documents, Documents]:
    """Return Reuters-21578 in the ModApte split."""
    found = read_reuters(data / "reuters21578.tar.gz")
    return found.train, found.test


def hold_out(whole: Any) -> tuple[Documents, Documents]:
    """Hold out a share of the documents, stratified."""
    rows = np.arange(len(whole.labels))
    parts = train_test_split(rows, test_size=HELD_OUT, random_state=0, stratify=whole.labels)
    labels = np.array(whole.labels, object)
    if isinstance(whole, Texts):
        texts = np.array(whole.texts, object)
        train, test = (Texts(texts[part].tolist(), labels[part].tolist()) for part in parts)
    else:
        train, test = (
            type(whole)(whole.X[part], labels[part].tolist(), whole.feature_names) for part in parts
        )
    return train, test


def fit_ours(train: Documents, effort: str) -> Fitted:
    """Run the whole job; a model of vectors predicts rows."""
    result = run_job(train, settings=Settings(effort=effort, n_jobs=N_THREADS))
    model, made = result.model, result.record.model
    size = len(result.content), made.n_features, made.n_weights
    if not model.multilabel_:
        return Fitted(model.predict, *size)
    names = model.classes_
    return Fitted(
        lambda rows: [tuple(names[row > 0].tolist()) for row in model.predict(rows)], *size
    )


def fit_pipeline(train: Documents, classifier: Any, **options: Any) -> Fitted:
    """Fit a vectorizer and a classifier; vectors are weighted by tf-idf."""
    labels, binarizer = encode_labels(train.labels)
    if binarizer is not None:
        classifier = OneVsRestClassifier(classifier, n_jobs=N_THREADS)
    model = make_pipeline(make_first(train, **options), classifier).fit(read_rows(train), labels)
    return name_labels(model, binarizer)


def make_first(train: Documents, **options: Any) -> Any:
    """Return a vectorizer of texts, or a weighter of vectors."""
    return TfidfVectorizer(**options) if isinstance(train, Texts) else TfidfTransformer()


def encode_labels(labels: Any) -> tuple[Any, MultiLabelBinarizer | None]:
    """Return labels, or an indicator and its encoder if documents have several."""
    if not isinstance(labels[0], tuple):
        return labels, None
    binarizer = MultiLabelBinarizer(sparse_output=True)
    return binarizer.fit_transform(labels), binarizer


def name_labels(model: Any, binarizer: MultiLabelBinarizer | None) -> Fitted:
    """Return a fitted pipeline that predicts names."""
    size = measure_pipeline(model)
    if binarizer is None:
        return Fitted(model.predict, *size)
    return Fitted(lambda rows: binarizer.inverse_transform(model.predict(rows)), *size)


def measure_pipeline(model: Any) -> tuple[int, int, int]:
    """Return the bytes, the features and the weights of a fitted pipeline."""
    classifier = model[-1]
    parts = getattr(classifier, "estimators_", [classifier])
    n_features = parts[0].coef_.shape[1]
    return len(pickle.dumps(model)), n_features, sum(part.coef_.size for part in parts)


def fit_grid(train: Documents) -> Fitted:
    """Tune C of each pipeline by cross-validation, and return the best of all."""
    labels, binarizer = encode_labels(train.labels)
    svm, C = (LinearSVC(), "linearsvc__C")
    if binarizer is not None:
        svm, C = OneVsRestClassifier(svm), "onevsrestclassifier__estimator__C"
    searches = []
    for options in ({}, PAIRS, CHARACTERS) if isinstance(train, Texts) else ({},):
        searches.append(
            GridSearchCV(
                make_pipeline(make_first(train, **options), svm),
                {C: CS},
                scoring="f1_macro",
                cv=5,
                n_jobs=N_THREADS,
            ).fit(read_rows(train), labels)
        )
    best = max(searches, key=lambda search: search.best_score_).best_estimator_
    return name_labels(best, binarizer)


class NaiveBayesSVC(ClassifierMixin, BaseEstimator):
    """The NB-SVM of Wang and Manning (2012): counts scaled by their log-count ratio.

    One LinearSVC per class on binary counts times the log ratio of its smoothed frequencies; its
    weights are interpolated with their mean size by beta.
    """

    def __init__(self, alpha: float = 1.0, beta: float = 0.25) -> None:
        self.alpha, self.beta = alpha, beta

    def fit(self, X: Any, y: Any) -> NaiveBayesSVC:
        """Fit one SVM for each class against the rest."""
        X, y = (sparse.csr_matrix(X, copy=True) > 0).astype(float), np.asarray(y)
        self.classes_ = np.unique(y)
        rows, intercepts = [], []
        for name in self.classes_:
            is_class = y == name
            p, q = (
                self.alpha + np.asarray(X[part].sum(0)).ravel() for part in (is_class, ~is_class)
            )
            ratio = np.log((p / p.sum()) / (q / q.sum()))
            svm = LinearSVC().fit(X @ sparse.diags(ratio), is_class)
            w = svm.coef_.ravel()
            w = (1 - self.beta) * np.abs(w).mean() + self.beta * w
            rows.append(w * ratio)
            intercepts.append(self.beta * svm.intercept_[0])
        self.coef_, self.intercept_ = np.array(rows), np.array(intercepts)
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores; for two classes, by how much that of the second is higher."""
        scores = (sparse.csr_matrix(X) > 0).astype(float) @ self.coef_.T + self.intercept_
        return scores if scores.shape[1] > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: Any) -> Any:
        """Return the class of the highest score."""
        scores = self.decision_function(X)
        return self.classes_[scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(int)]


def fit_fasttext(train: Documents) -> Fitted:
    """Train fastText on words and pairs with its other defaults, and 25 epochs.

    Documents of several labels have a loss for each, and the labels of a probability above 1/2.
    """
    import fasttext

    is_multilabel = isinstance(train.labels[0], tuple)
    rows = train.labels if is_multilabel else [(label,) for label in train.labels]
    names = sorted({name for row in rows for name in row})
    number = {name: k for k, name in enumerate(names)}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.txt")
        with open(path, "w", encoding="utf-8") as file:
            for text, row in zip(train.texts, rows, strict=True):
                labels = " ".join(f"__label__{number[name]}" for name in row)
                file.write(f"{labels} {spell(text)}\n")
        options = {"loss": "ova"} if is_multilabel else {}
        model = fasttext.train_supervised(
            path, wordNgrams=2, epoch=25, lr=0.5, thread=N_THREADS, verbose=0, **options
        )
        model.save_model(os.path.join(folder, "model.bin"))
        size = os.path.getsize(os.path.join(folder, "model.bin"))

    def predict(texts: Any) -> list[Any]:
        spelled = [spell(text) for text in texts]
        found, _ = (
            model.predict(spelled, k=-1, threshold=0.5) if is_multilabel else model.predict(spelled)
        )
        named = [
            tuple(names[int(label.removeprefix("__label__"))] for label in row) for row in found
        ]
        return named if is_multilabel else [row[0] for row in named]

    return Fitted(predict, size)


def spell(text: str) -> str:
    """Return the words of a text in lower case, one space between them."""
    return " ".join(WORD.findall(text.lower()))


CONTESTANTS: dict[str, Callable[[Documents], Fitted]] = {
    "fit": lambda train: fit_ours(train, "normal"),
    "quick": lambda train: fit_ours(train, "quick"),
    "words": lambda train: fit_pipeline(train, LinearSVC()),
    "pairs": lambda train: fit_pipeline(train, LinearSVC(), **PAIRS),
    "characters": lambda train: fit_pipeline(train, LinearSVC(), **CHARACTERS),
    "grid": fit_grid,
    "logistic": lambda train: fit_pipeline(train, LogisticRegression(max_iter=1000)),
    "nbsvm": lambda train: fit_pipeline(
        train, NaiveBayesSVC(), ngram_range=(1, 2), min_df=2, use_idf=False, norm=None
    ),
    "fasttext": fit_fasttext,
}
OF_TEXTS = ("pairs", "characters", "nbsvm", "fasttext")


def read_rows(documents: Documents) -> Any:
    """Return what a model reads: texts, or rows."""
    return documents.texts if isinstance(documents, Texts) else documents.X


def score(documents: Documents, predicted: Any) -> tuple[float, float]:
    """Return macro-F1 and accuracy; for several labels, macro-F1 and micro-F1."""
    if not isinstance(documents.labels[0], tuple):
        found = f1_score(documents.labels, predicted, average="macro")
        return float(found), float(accuracy_score(documents.labels, predicted))
    binarizer = MultiLabelBinarizer().fit([*documents.labels, *map(tuple, predicted)])
    true, found = (binarizer.transform(each) for each in (documents.labels, predicted))
    known = true.any(axis=0)
    macro = f1_score(true[:, known], found[:, known], average="macro", zero_division=0)
    return float(macro), float(f1_score(true, found, average="micro", zero_division=0))


def main() -> None:
    """Print a line for each contestant on each collection."""
    collections = list_collections()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", metavar="NAME", help=", ".join(collections))
    parser.add_argument("--only", nargs="*", default=list(CONTESTANTS), choices=list(CONTESTANTS))
    parser.add_argument("--without", nargs="*", default=[], choices=list(CONTESTANTS))
    options = parser.parse_args()
    if unknown := set(options.collections) - set(collections):
        parser.error(f"there is no collection {unknown.pop()!r}; choose of {list(collections)}")
    print(f"{'':16}{'':12}{'macro-F1':>9}{'accuracy':>9}{'seconds':>9}{'KB':>9}", end="")
    print(f"{'features':>11}{'weights':>12}")
    for name in options.collections or collections:
        train, test = collections[name]()
        for contestant, fit in CONTESTANTS.items():
            is_fit = isinstance(train, Texts) or contestant not in OF_TEXTS
            if contestant in options.without or contestant not in options.only or not is_fit:
                continue
            start = perf_counter()
            model = fit(train)
            seconds = perf_counter() - start
            macro, accuracy = score(test, model.predict(read_rows(test)))
            cells = f"{macro:9.4f}{accuracy:9.4f}{seconds:9.1f}{model.n_bytes / 1000:9.0f}"
            for number, width in ((model.n_features, 11), (model.n_weights, 12)):
                cells += f"{'' if number is None else format(number, ','):>{width}}"
            print(f"{name:16}{contestant:12}{cells}", flush=True)


if __name__ == "__main__":
    main()
