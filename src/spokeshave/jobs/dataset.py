"""The dataset of a job: rows and targets to train on, and to test on if there are any."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, normalize

from spokeshave.corpus.documents import (
    Texts,
    Vectors,
    compute_fingerprint,
    list_classes,
    take_documents,
)
from spokeshave.corpus.limits import MAX_LISTED
from spokeshave.corpus.options import quote
from spokeshave.text.vectorizer import DocumentVectorizer
from spokeshave.text.weighting import TermWeighter
from spokeshave.utils.validation import check_documents

OTHER_KIND = "The test documents must be texts or vectors, like the training documents."
OTHER_LABELS = (
    "The test documents must have one label each, or several each, like the training documents."
)
ENOUGH = 20  # texts that tell whether the terms suit them

Documents: TypeAlias = "Texts | Vectors"


@dataclass(frozen=True, eq=False)
class Part:
    """Documents as they were given, as rows, and their targets.

    ``n_unknown`` is the number of labels of each document that no training document has.
    """

    given: Any
    X: Any
    y: Any
    n_unknown: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True)
class DatasetInfo:
    """The facts about training documents that a job needs without the documents.

    Attributes
    ----------
    names, counts : list
        The classes, and the number of documents of each.
    n_documents, n_features : int
        Size of the training matrix.
    is_multilabel : bool
        Whether a document may have several classes.
    fingerprint : str
        A digest of the documents and their labels.
    is_text : bool
        Whether documents are texts.
    is_weighted : bool
        Whether rows are weighted counts of terms, which texts give or vectors hold.
    label_type : {"str", "int", "bool"} or None
        The type that the classes had in the source; in ``names`` they are strings.
    """

    names: list[str]
    counts: list[int]
    n_documents: int
    n_features: int
    is_multilabel: bool
    fingerprint: str
    is_text: bool = False
    is_weighted: bool = False
    label_type: str | None = None

    @property
    def row_names(self) -> list[str]:
        """The classes with a score of their own: the second of two, else every class."""
        is_binary = not self.is_multilabel and len(self.names) == 2
        return self.names[1:] if is_binary else self.names

    @property
    def rows(self) -> NDArray[Any]:
        """The same classes as a curve names them: column numbers for multilabel targets."""
        if self.is_multilabel:
            return np.arange(len(self.names))
        return np.array(self.names)[-1 if len(self.names) == 2 else 0 :]

    def limit_folds(self, n_folds: int) -> int:
        """Return the number of folds, at most the number of documents of the largest class."""
        n_folds = min(n_folds, self.n_documents if self.is_multilabel else max(self.counts))
        if n_folds < 2:
            raise ValueError("Cross-validation needs two documents of a class. Got one of each.")
        return n_folds

    @property
    def can_calibrate(self) -> bool:
        """Whether each class has the two documents that probabilities need."""
        return self.is_multilabel or min(self.counts) > 1


@dataclass(frozen=True, eq=False)
class Dataset:
    """Documents to train on, and to test on if there are any.

    Attributes
    ----------
    train : Part
        Training documents; ``y`` is labels, or an indicator with a column per name.
    test : Part or None
        Test documents.
    names : list of str
        The classes, in the order of the columns.
    counts : list of int
        Training documents of each class.
    feature_names : ndarray of str
        Names of the columns.
    vectorizer : DocumentVectorizer or None
        The vectorizer of texts.
    scaler : StandardScaler, TermWeighter or None
        The scaler of the columns of a dense table, or the weighter of counts in vectors.
    fingerprint : str
        A digest of the training documents and their labels.
    label_type : {"str", "int", "bool"} or None
        The type that the classes had in the source; in ``names`` they are strings.
    unknown : Counter of str
        The labels of test documents that no training document has, and how many have each.
    """

    train: Part
    test: Part | None
    names: list[str]
    counts: list[int]
    feature_names: NDArray[Any]
    vectorizer: DocumentVectorizer | None
    scaler: StandardScaler | TermWeighter | None
    fingerprint: str
    label_type: str | None = None
    unknown: Counter[str] = field(default_factory=Counter)

    @property
    def info(self) -> DatasetInfo:
        """The facts that the steps of a job need without the documents."""
        return DatasetInfo(
            names=self.names,
            counts=self.counts,
            n_documents=len(self.train),
            n_features=int(self.train.X.shape[1]),
            is_multilabel=self.is_multilabel,
            fingerprint=self.fingerprint,
            is_text=self.vectorizer is not None,
            is_weighted=self.vectorizer is not None or isinstance(self.scaler, TermWeighter),
            label_type=self.label_type,
        )

    @cached_property
    def sparse_train(self) -> tuple[sparse.csr_matrix, Any]:
        """The training documents as sparse rows, and their checked targets."""
        return check_documents(self.train.X, self.train.y)

    @property
    def is_multilabel(self) -> bool:
        return bool(self.train.y.ndim == 2)

    @property
    def unit(self) -> str:
        """The name of the features: "words" or "terms" of texts, else "features"."""
        if self.vectorizer is None:
            return "features"
        is_plain = self.vectorizer.analyzer == "word" and self.vectorizer.ngram_range == (1, 1)
        return "words" if is_plain else "terms"

    @property
    def row_names(self) -> list[str]:
        """The classes with a score of their own: the second of two, else every class."""
        return self.info.row_names

    @property
    def per_document(self) -> float:
        """Mean number of features in a training document."""
        X = self.train.X
        return float(getattr(X, "nnz", X.size) / X.shape[0])


def prepare_dataset(
    train: Documents,
    test: Documents | None,
    vectorizer: DocumentVectorizer,
    *,
    weighter: TermWeighter | None = None,
    hold_out: float = 0.0,
    keep_values: bool = False,
    seed: int | None = None,
) -> Dataset:
    """Turn documents into rows and labels into targets.

    Parameters
    ----------
    train, test : Texts or Vectors
        The documents; ``test`` may be None.
    vectorizer : DocumentVectorizer
        The vectorizer of texts.
    weighter : TermWeighter, optional
        The weighter of vectors that hold counts of terms. By default sparse vectors are scaled to
        length one, and the columns of dense tables to mean zero and variance one.
    hold_out : float, default=0.0
        The share of the training documents to test on, without test documents.
    keep_values : bool, default=False
        Whether vectors keep their values, missing ones included, to be shaped.
    seed : int, optional
        Seed of the held-out sample.

    Returns
    -------
    dataset : Dataset

    Examples
    --------
    >>> texts = ["grey ash", "ash bark", "oak bark", "grey oak"]
    >>> trees = Texts(texts, ["ash", "ash", "oak", "oak"])
    >>> dataset = prepare_dataset(trees, None, DocumentVectorizer())
    >>> dataset.names, dataset.train.X.shape
    (['ash', 'oak'], (4, 4))
    """
    if test is not None and type(test) is not type(train):
        raise ValueError(OTHER_KIND)
    labels = check_labels(train)
    names = list_names(labels)
    fingerprint = str(compute_fingerprint(train, labels))
    if test is None and hold_out:
        train, test = hold_out_documents(train, hold_out, seed)
        labels = check_labels(train)
    counts = Counter(name for label in labels for name in set(list_classes(label)))
    given, given_test = _read_given(train), None if test is None else _read_given(test)
    rows = _make_rows(train, given, given_test, vectorizer, weighter, keep_values)
    y = make_targets(labels, names)
    return Dataset(
        train=Part(given, rows.X, y),
        test=None if test is None else _make_test(test, given_test, rows.X_test, names, y),
        names=names,
        counts=[counts[name] for name in names],
        feature_names=rows.feature_names,
        vectorizer=rows.vectorizer,
        scaler=rows.scaler,
        fingerprint=fingerprint,
        label_type=train.label_type,
        unknown=Counter() if test is None else count_unknown(check_labels(test), names),
    )


def _make_test(test: Documents, given: Any, X: Any, names: Sequence[str], y: Any) -> Part:
    """Return the documents to test on, whose labels must be of the kind of the targets ``y``."""
    labels = check_labels(test)
    if isinstance(labels[0], tuple) != (y.ndim == 2):
        raise ValueError(OTHER_LABELS)
    return Part(given, X, make_targets(labels, names), count_unknown_labels(labels, names))


def count_unknown_labels(labels: Iterable[Any], names: Iterable[str]) -> NDArray[np.intp]:
    """Return the number of labels of each document that are not among names."""
    known = set(names)
    return np.array([len(set(list_classes(label)) - known) for label in labels], np.intp)


def count_unknown(labels: Iterable[Any], names: Iterable[str]) -> Counter[str]:
    """Return the labels that are not among names, and the number of documents that have each.

    Examples
    --------
    >>> count_unknown(["ash", "elm", "elm"], ["ash", "oak"])
    Counter({'elm': 2})
    """
    known = set(names)
    return Counter(
        name for label in labels for name in set(list_classes(label)) if name not in known
    )


def describe_unknown(unknown: Counter[str], outcome: str = "count as errors") -> str:
    """Return a sentence on labels of test documents that no training document has.

    Examples
    --------
    >>> describe_unknown(Counter({"elm": 2, "fir": 1}))
    "labels of test documents that no training document has count as errors: 'elm' (2), 'fir' (1)"
    """
    most = sorted(unknown, key=lambda name: (-unknown[name], name))[:MAX_LISTED]
    listed = ", ".join(f"{quote(name)} ({unknown[name]:,})" for name in most)
    more = f" and {len(unknown) - len(most):,} more" if len(unknown) > len(most) else ""
    return f"labels of test documents that no training document has {outcome}: {listed}{more}"


def list_names(labels: Sequence[Any]) -> list[str]:
    """Return the classes in the order of their columns; raise ValueError for fewer than two.

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
    """Return the labels of documents; raise ValueError if there are none."""
    labels = documents.labels
    if labels is None or not len(labels):
        raise ValueError("The documents must have labels.")
    return labels


def check_kinds(train: Any, test: Any) -> None:
    """Raise ValueError for test documents of another kind: texts or vectors, one label or several.

    Both arguments have ``is_text`` and ``is_multilabel``.
    """
    if test.is_text != train.is_text:
        raise ValueError(OTHER_KIND)
    if test.is_multilabel != train.is_multilabel:
        raise ValueError(OTHER_LABELS)


def hold_out_documents(
    train: Documents, share: float, seed: int | None
) -> tuple[Documents, Documents]:
    """Return the training and the held-out documents."""
    labels = check_labels(train)
    held = choose_held(labels, share, seed)
    kept = np.setdiff1d(np.arange(len(labels)), held)
    return take_documents(train, kept), take_documents(train, held)


def choose_held(labels: Sequence[Any], share: float, seed: int | None) -> NDArray[np.intp]:
    """Return the held-out documents, stratified if every class can be in both parts.

    The last training document of a class is never held out.
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
    """Return the first held-out document of each class that has no training document left."""
    known = {name for i in kept for name in list_classes(labels[i])}
    needed = []
    for i in held:
        if not known.issuperset(list_classes(labels[i])):
            known.update(list_classes(labels[i]))
            needed.append(int(i))
    return needed


def _read_given(documents: Documents) -> Any:
    return documents.texts if isinstance(documents, Texts) else documents.X


@dataclass(frozen=True, eq=False)
class _Rows:
    X: Any
    X_test: Any
    feature_names: NDArray[Any]
    vectorizer: DocumentVectorizer | None = None
    scaler: StandardScaler | TermWeighter | None = None


def _make_rows(
    train: Documents,
    given: Any,
    given_test: Any,
    vectorizer: DocumentVectorizer,
    weighter: TermWeighter | None,
    keep_values: bool,
) -> _Rows:
    if isinstance(train, Texts):
        X = vectorizer.fit_transform(given)
        _warn_if_hardly_any_term(X)
        X_test = None if given_test is None else vectorizer.transform(given_test)
        return _Rows(X, X_test, vectorizer.get_feature_names_out(), vectorizer)
    n_features = given.shape[1]
    if given_test is not None and given_test.shape[1] != n_features:
        raise ValueError(
            f"The test documents must have the {n_features} features of the training documents. "
            f"Got {given_test.shape[1]} instead."
        )
    names = np.array(train.feature_names or range(n_features)).astype(str).astype(object)
    if keep_values:
        return _Rows(given, given_test, names)
    scaler: StandardScaler | TermWeighter | None = weighter
    if weighter is None:
        X, scaler = scale_vectors(given)
    else:
        X = weighter.fit_transform(given)
    if given_test is None:
        return _Rows(X, None, names, None, scaler)
    X_test = normalize(given_test) if scaler is None else scaler.transform(given_test)
    return _Rows(X, X_test, names, None, scaler)


def _warn_if_hardly_any_term(X: sparse.csr_matrix) -> None:
    n_short = int((np.diff(X.indptr) < 2).sum())
    if 2 * n_short > X.shape[0] >= ENOUGH:
        warnings.warn(
            f"{n_short:,} of {X.shape[0]:,} texts have at most one known term, so that little can "
            "be learned from them. Another analyzer, such as char_wb, may find more.",
            UserWarning,
            stacklevel=2,
        )


def scale_vectors(X: Any) -> tuple[Any, StandardScaler | None]:
    """Return sparse rows of length one, or a dense table with its columns scaled and the scaler."""
    if sparse.issparse(X):
        return normalize(X), None
    if np.isnan(X).any():
        raise ValueError(
            "The table has missing values, which a linear SVM does not accept; shape its features "
            "instead."
        )
    scaler = StandardScaler()
    return scaler.fit_transform(X), scaler
