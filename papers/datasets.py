"""The data sets of the papers, loaded from the data folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import binarize, normalize

from spokeshave import DocumentVectorizer, FeatureCurve, feature_curve
from spokeshave.corpus import Split as Texts
from spokeshave.corpus import load_texts, read_arff, read_folders, read_reuters, read_svmlight

FORMAN = (
    *("la1s", "la2s", "oh0", "oh10", "oh15", "oh5", "ohscal", "re0", "re1"),
    *("tr11", "tr12", "tr21", "tr23", "tr41", "tr45", "wap"),
)
UCI = (
    *("credit-g", "diabetes", "ecoli", "glass", "iris", "letter", "optdigits", "sonar"),
    *("vehicle", "vowel", "wine"),
)
FEWEST = 50  # positives of a task, in Forman, Scholz and Rajaram
RCV1_FEATURES = 47_236


class Split(NamedTuple):
    """Training and test documents, rows of length one, and indicators of their classes."""

    X: sparse.csr_matrix
    Y: NDArray[np.int64]
    X_test: sparse.csr_matrix
    Y_test: NDArray[np.int64]
    names: tuple[str, ...]

    def keep_largest(self, n_classes: int | None) -> Split:
        """Return the documents with the largest classes only; None keeps all classes."""
        if n_classes is None:
            return self
        top = np.sort(np.argsort(-self.Y.sum(axis=0), kind="stable")[:n_classes])
        names = tuple(self.names[k] for k in top)
        return self._replace(Y=self.Y[:, top], Y_test=self.Y_test[:, top], names=names)

    def keep_only(self, name: str) -> Split:
        """Return the documents with one class only."""
        k = self.names.index(name)
        return self._replace(names=(name,), Y=self.Y[:, [k]], Y_test=self.Y_test[:, [k]])

    def drop_rare(self) -> Split:
        """Return the documents without words of a single training document, or of none.

        Rows have length one again over the words that are left.
        """
        is_kept = self.X.getnnz(axis=0) > 1
        X, X_test = (normalize(X[:, is_kept]) for X in (self.X, self.X_test))
        return self._replace(X=X, X_test=X_test)

    def trace(self, method: str = "mask", **options: Any) -> FeatureCurve:
        """Return the feature curve of the training documents on the test documents."""
        test = {"X_test": self.X_test, "y_test": self.Y_test}
        curve: FeatureCurve = feature_curve(self.X, self.Y, method=method, **test, **options)
        return curve


class Labelled(NamedTuple):
    """Documents or cases, their labels, and the labels that are learned against the rest."""

    X: Any
    labels: NDArray[Any]
    tasks: tuple[str, ...]


@lru_cache(2)
def load_rcv1(data: Path, weighting: str = "binary") -> Split:
    """Return a sample of RCV1-v2 with the topics of both training and test documents.

    ``weighting`` is "binary" or "ltc", the weights in the files.
    """
    train, test = (
        read_svmlight(
            data / "rcv1" / f"rcv1_topics_{part}.svm.gz", n_features=RCV1_FEATURES, multilabel=True
        )
        for part in ("train", "test")
    )
    X, X_test = (
        normalize(binarize(part.X) if weighting == "binary" else part.X) for part in (train, test)
    )
    names = _list_shared(train.labels, test.labels)
    return Split(X, indicate(train.labels, names), X_test, indicate(test.labels, names), names)


@lru_cache(2)
def load_newsgroups(data: Path, weighting: str = "binary") -> Split:
    """Return 20 Newsgroups by date; ``weighting`` as in `DocumentVectorizer`."""
    train, test = (
        read_folders(
            data / "20news-bydate.tar.gz", under=f"20news-bydate-{part}", encoding="latin-1"
        )
        for part in ("train", "test")
    )
    return _vectorize(
        train.texts,
        [(label,) for label in train.labels or ()],
        test.texts,
        [(label,) for label in test.labels or ()],
        weighting,
    )


@lru_cache(1)
def read_modapte(data: Path) -> Texts:
    """Return the texts of the ModApte split of Reuters-21578."""
    return read_reuters(data / "reuters21578.tar.gz")


@lru_cache(2)
def load_reuters(data: Path, weighting: str = "binary") -> Split:
    """Return the ModApte split of Reuters-21578 with the topics of both parts."""
    split = read_modapte(data)
    return _vectorize(
        split.train.texts,
        split.train.labels,
        split.test.texts,
        split.test.labels,
        weighting,
        strip_markup=False,  # the reader did; what is left are tickers, as <GM>
    )


@lru_cache(2)
def load_ohsumed(data: Path, weighting: str = "binary") -> Split:
    """Return medical abstracts by disease."""
    return _load_parts(data / "ohsumed", weighting)


@lru_cache(2)
def load_thucnews(data: Path, weighting: str = "binary") -> Split:
    """Return Chinese headlines by topic."""
    return _load_parts(data / "thucnews", weighting)


@lru_cache(2)
def load_sms(data: Path, weighting: str = "binary") -> Split:
    """Return text messages, the one class being spam; half of them are for tests."""
    whole = load_texts(data / "sms_spam.tsv", text=1, label=0)
    return _halve(whole.texts, list(whole.labels or ()), weighting).keep_only("spam")


@lru_cache(2)
def load_health(data: Path, weighting: str = "binary") -> Split:
    """Return descriptions of the Open Directory's section on health; half of them are for tests."""
    whole = load_texts(data / "dmoz" / "Dmoz-Health.csv", label="class")
    return _halve(whole.texts, list(whole.labels or ()), weighting)


COLLECTIONS: dict[str, Callable[..., Split]] = {
    "RCV1": load_rcv1,
    "20 Newsgroups": load_newsgroups,
    "Reuters-21578": load_reuters,
}


OTHERS: dict[str, Callable[..., Split]] = {  # with no part in any paper
    "OHSUMED": load_ohsumed,
    "Open Directory, health": load_health,
    "SMS": load_sms,
    "THUCNews": load_thucnews,
}


@lru_cache(2)
def load_forman(data: Path, name: str) -> Labelled:
    """Return the word counts of a text set; its tasks are the classes of 50 documents or more."""
    vectors = read_arff(data / "forman" / f"{name}.wc.arff.zip")
    return Labelled(sparse.csr_matrix(vectors.X), *_list_tasks(vectors.labels))


@lru_cache(2)
def load_uci(data: Path, name: str) -> Labelled:
    """Return a UCI table; its tasks are the classes of 50 cases or more, or the rarer of two."""
    table = read_arff(data / "uci" / f"{name}.arff", target="class" if name == "wine" else None)
    return Labelled(np.asarray(table.X), *_list_tasks(table.labels))


def indicate(labels: Sequence[Collection[str]], names: Sequence[str]) -> NDArray[np.int64]:
    """Return the indicator matrix of labels, one column per name.

    Examples
    --------
    >>> indicate([("oak",), ("ash", "oak")], ["ash", "oak"]).tolist()
    [[0, 1], [1, 1]]
    """
    column = {name: k for k, name in enumerate(names)}
    Y = np.zeros((len(labels), len(column)), np.int64)
    for i, row in enumerate(labels):
        Y[i, [column[name] for name in row if name in column]] = 1
    return Y


def _vectorize(
    texts: Any,
    labels: Any,
    texts_test: Any,
    labels_test: Any,
    weighting: str,
    *,
    strip_markup: bool = True,
) -> Split:
    vectorizer = DocumentVectorizer(weighting=weighting, strip_markup=strip_markup)
    names = _list_shared(labels, labels_test)
    X, X_test = vectorizer.fit_transform(texts), vectorizer.transform(texts_test)
    return Split(X, indicate(labels, names), X_test, indicate(labels_test, names), names)


def _load_parts(folder: Path, weighting: str) -> Split:
    """Return the documents of two tables, for training and for tests."""
    train, test = (load_texts(folder / f"{part}.csv.gz") for part in ("train", "test"))
    labels, labels_test = ([(label,) for label in part.labels or ()] for part in (train, test))
    return _vectorize(train.texts, labels, test.texts, labels_test, weighting)


def _halve(texts: list[str], labels: list[Any], weighting: str) -> Split:
    """Return a random half of the documents for training and the other half for tests."""
    parts = train_test_split(
        *(texts, [(label,) for label in labels]), test_size=0.5, random_state=0, stratify=labels
    )
    train, test, labels_train, labels_test = parts
    return _vectorize(train, labels_train, test, labels_test, weighting)


def _list_shared(first: Any, second: Any) -> tuple[str, ...]:
    """Return the labels that occur in both parts."""
    return tuple(sorted({n for row in first for n in row} & {n for row in second for n in row}))


def _list_tasks(labels: Any) -> tuple[NDArray[Any], tuple[str, ...]]:
    count = Counter(labels)
    tasks = [label for label, size in count.items() if size >= FEWEST]
    if len(count) == 2:
        tasks = [min(count, key=count.__getitem__)]
    return np.array(labels), tuple(sorted(tasks))
