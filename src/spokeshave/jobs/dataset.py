"""A collection made ready: rows and targets to train on, and to test on where there are some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, normalize

from spokeshave.corpus.documents import Texts, Vectors, list_classes
from spokeshave.corpus.fingerprint import compute_fingerprint
from spokeshave.text.vectorizer import DocumentVectorizer

Documents: TypeAlias = "Texts | Vectors"


@dataclass(frozen=True, eq=False)
class Part:
    """Some documents: as they were given, as rows, and their targets."""

    given: Any
    X: Any
    y: Any

    def __len__(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents to train on, and to test on where there are such.

    Attributes
    ----------
    train : Part
        Training documents; ``y`` is labels, or an indicator with a column per name.
    test : Part or None
        Documents that nothing is learned from.
    names : list of str
        The classes, in the order of the columns.
    counts : list of int
        Training documents of each.
    feature_names : ndarray of str
        What the columns are called.
    vectorizer : DocumentVectorizer or None
        What made rows of texts.
    scaler : StandardScaler or None
        What brought the columns of a dense table to one scale.
    fingerprint : str
        A digest of the training documents and their labels.
    """

    train: Part
    test: Part | None
    names: list[str]
    counts: list[int]
    feature_names: NDArray[Any]
    vectorizer: DocumentVectorizer | None
    scaler: StandardScaler | None
    fingerprint: str

    @property
    def is_multilabel(self) -> bool:
        return bool(self.train.y.ndim == 2)

    @property
    def can_calibrate(self) -> bool:
        """Whether each class has the two documents that probabilities need."""
        return self.is_multilabel or int(np.unique(self.train.y, return_counts=True)[1].min()) > 1

    @property
    def unit(self) -> str:
        """What features are called."""
        return "features" if self.vectorizer is None else "words"

    @property
    def row_names(self) -> list[str]:
        """The classes that have a score of their own: the second of two, else every one."""
        is_binary = not self.is_multilabel and len(self.names) == 2
        return self.names[1:] if is_binary else self.names


def prepare(
    train: Documents,
    test: Documents | None,
    vectorizer: DocumentVectorizer,
    *,
    hold_out: float = 0.0,
    keep_values: bool = False,
    seed: int | None = None,
) -> Collection:
    """Turn documents into rows and labels into targets.

    Parameters
    ----------
    train, test : Texts or Vectors
        The documents; those to test on may be None.
    vectorizer : DocumentVectorizer
        What texts are turned into rows by. Sparse vectors are brought to length one, and the
        columns of dense tables to mean zero and variance one.
    hold_out : float, default=0.0
        The share of the training documents to test on, where there are no others.
    keep_values : bool, default=False
        Whether vectors are left as they are, missing values included, to be shaped.
    seed : int, optional
        Seed of the choice of what to hold out.

    Returns
    -------
    collection : Collection

    Examples
    --------
    >>> texts = ["grey ash", "ash bark", "oak bark", "grey oak"]
    >>> trees = Texts(texts, ["ash", "ash", "oak", "oak"])
    >>> collection = prepare(trees, None, DocumentVectorizer())
    >>> collection.names, collection.train.X.shape
    (['ash', 'oak'], (4, 4))
    """
    if test is not None and type(test) is not type(train):
        raise ValueError("The test documents must be of the kind of the training documents.")
    labels = check_labels(train)
    names = list_names(labels)
    fingerprint = str(compute_fingerprint(train, labels))
    if test is None and hold_out:
        train, test = _hold_out(train, hold_out, seed)
        labels = check_labels(train)
    counts = Counter(name for label in labels for name in set(list_classes(label)))
    given, given_test = _take_given(train), None if test is None else _take_given(test)
    kit = _make_rows(train, given, given_test, vectorizer, keep_values)
    y = make_targets(labels, names)
    return Collection(
        train=Part(given, kit.X, y),
        test=None if test is None else Part(given_test, kit.X_test, _find_targets(test, names, y)),
        names=names,
        counts=[counts[name] for name in names],
        feature_names=kit.feature_names,
        vectorizer=kit.vectorizer,
        scaler=kit.scaler,
        fingerprint=fingerprint,
    )


def list_names(labels: Sequence[Any]) -> list[str]:
    """Return the classes in the order of their columns, or raise where there are too few.

    Examples
    --------
    >>> list_names([("oak", "ash"), ("ash",)])
    ['ash', 'oak']
    """
    names = sorted({name for label in labels for name in list_classes(label)})
    is_multilabel = bool(labels) and isinstance(labels[0], tuple)
    if len(names) < (1 if is_multilabel else 2):
        found = f"all are of class {names[0]!r}" if names else "none has a label"
        raise ValueError(f"The documents must be of two classes or more; {found}.")
    return names


def make_targets(labels: Sequence[Any], names: Sequence[str]) -> Any:
    """Return labels as an array, or lists of them as an indicator with a column per name.

    Examples
    --------
    >>> make_targets([("oak", "ash"), ()], ["ash", "oak"]).toarray()
    array([[1, 1],
           [0, 0]], dtype=int8)
    """
    if not isinstance(labels[0], tuple):
        return np.array(labels)
    column = {name: k for k, name in enumerate(names)}
    rows = [sorted({column[name] for name in label if name in column}) for label in labels]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([k for row in rows for k in row], np.int64)
    ones = np.ones(len(indices), np.int8)
    return sparse.csr_matrix((ones, indices, indptr), shape=(len(rows), len(names)))


def check_labels(documents: Documents) -> Sequence[Any]:
    """Return the labels of documents, which must have some."""
    labels = documents.labels
    if labels is None or not len(labels):
        raise ValueError("The documents must have labels.")
    return labels


def _find_targets(test: Documents, names: Sequence[str], y: Any) -> Any:
    return make_test_targets(check_labels(test), names, y.ndim == 2)


def make_test_targets(labels: Sequence[Any], names: Sequence[str], is_multilabel: bool) -> Any:
    """Return the targets of documents to judge by, or raise where models cannot know them."""
    if isinstance(labels[0], tuple) != is_multilabel:
        raise ValueError(
            "The test documents must have one label each, or several each, as those to train on."
        )
    if not is_multilabel and (unknown := sorted(set(labels) - set(names))):
        raise ValueError(
            f"The test documents have labels that no training document has: {unknown[0]!r} "
            f"{'and others ' if len(unknown) > 1 else ''}was never seen."
        )
    return make_targets(labels, names)


def _hold_out(train: Documents, share: float, seed: int | None) -> tuple[Documents, Documents]:
    """Return the documents in two parts."""
    labels = check_labels(train)
    held = choose_held(labels, share, seed)
    return _take(train, np.setdiff1d(np.arange(len(labels)), held)), _take(train, held)


def choose_held(labels: Sequence[Any], share: float, seed: int | None) -> NDArray[np.intp]:
    """Return which documents are held out, stratified where every class can be in both parts.

    What would leave a class without a document to train on is not held out.
    """
    if not 0 < share < 1:
        raise ValueError(f"hold_out must be a share between 0 and 1. Got {share} instead.")
    is_single = not isinstance(labels[0], tuple)
    can_stratify = is_single and min(Counter(labels).values()) > 1
    n_classes = len(set(labels)) if is_single else 1
    n_test = min(max(1, round(share * len(labels))), len(labels) - 1)
    can_stratify = can_stratify and min(n_test, len(labels) - n_test) >= n_classes
    kept, held = train_test_split(
        np.arange(len(labels)),
        test_size=n_test,
        stratify=labels if can_stratify else None,
        random_state=seed,
    )
    needed = _find_needed(labels, kept, np.sort(held))
    held = np.setdiff1d(held, needed)
    if not held.size:
        raise ValueError("Nothing can be held out: every document is the only one of a class.")
    return held


def _find_needed(
    labels: Sequence[Any], kept: NDArray[np.intp], held: NDArray[np.intp]
) -> list[int]:
    """Return the first of the documents held out of each class that has none left."""
    known = {name for i in kept for name in list_classes(labels[i])}
    needed = []
    for i in held:
        if not known.issuperset(list_classes(labels[i])):
            known.update(list_classes(labels[i]))
            needed.append(int(i))
    return needed


def _take(documents: Documents, chosen: NDArray[np.intp]) -> Documents:
    labels: Any = [check_labels(documents)[i] for i in chosen]
    if isinstance(documents, Texts):
        return Texts([documents.texts[i] for i in chosen], labels)
    return Vectors(documents.X[chosen], labels, documents.feature_names)


def _take_given(documents: Documents) -> Any:
    return documents.texts if isinstance(documents, Texts) else documents.X


@dataclass(frozen=True, eq=False)
class _Kit:
    X: Any
    X_test: Any
    feature_names: NDArray[Any]
    vectorizer: DocumentVectorizer | None = None
    scaler: StandardScaler | None = None


def _make_rows(
    train: Documents,
    given: Any,
    given_test: Any,
    vectorizer: DocumentVectorizer,
    keep_values: bool,
) -> _Kit:
    if isinstance(train, Texts):
        X = vectorizer.fit_transform(given)
        X_test = None if given_test is None else vectorizer.transform(given_test)
        return _Kit(X, X_test, vectorizer.get_feature_names_out(), vectorizer)
    n_features = given.shape[1]
    if given_test is not None and given_test.shape[1] != n_features:
        raise ValueError(
            f"The test documents must have the {n_features} features of those to train on. "
            f"Got {given_test.shape[1]} instead."
        )
    names = np.array(train.feature_names or range(n_features)).astype(str).astype(object)
    if keep_values:
        return _Kit(given, given_test, names)
    if sparse.issparse(given):
        X_test = None if given_test is None else normalize(given_test)
        return _Kit(normalize(given), X_test, names)
    if np.isnan(given).any():
        raise ValueError(
            "The table has missing values, which an SVM cannot take; shape its features instead."
        )
    scaler = StandardScaler()
    X = scaler.fit_transform(given)
    X_test = None if given_test is None else scaler.transform(given_test)
    return _Kit(X, X_test, names, None, scaler)
