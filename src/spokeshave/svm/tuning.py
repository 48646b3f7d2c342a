"""The choice of C by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target

from spokeshave.metrics import mean_known
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.utils.validation import check_array, check_magnitude, check_target_format

PAPER_CS = (0.01, 0.1, 1.0, 10.0, 100.0)
ROUNDING = 1e-12  # means of the same scores in another order differ by less


@dataclass(frozen=True)
class Tuning:
    """The scores of each C.

    Attributes
    ----------
    C : float
        The best on average; the smallest of equals.
    Cs : tuple of float
        The values tried, ascending.
    scores : ndarray of shape (n_Cs, n_folds)
        The score on each fold.
    """

    C: float
    Cs: tuple[float, ...]
    scores: NDArray[np.float64]


def tune_C(
    estimator: DualLinearSVC,
    X: Any,
    y: Any,
    *,
    Cs: Iterable[float] = PAPER_CS,
    cv: Any = 5,
    scoring: Any = None,
) -> Tuning:
    """Choose C by cross-validation, as in Forman, Scholz and Rajaram (2009).

    In each fold the values are tried in ascending order. Descent starts from the dual of the value
    before, scaled to the next.

    Parameters
    ----------
    estimator : DualLinearSVC
        The model to tune; it is not changed. Its ``n_jobs`` threads run over blocks of classes, or
        over folds for two classes.
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Documents.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Targets.
    Cs : iterable of float, default=(0.01, 0.1, 1, 10, 100)
        The values to try, by default the paper's.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn; stratified for single labels.
    scoring : str or callable, optional
        The score to maximise, as in scikit-learn; accuracy by default.

    Returns
    -------
    tuning : Tuning
        The chosen value and all scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spokeshave import DualLinearSVC, tune_C
    >>> X, y = load_iris(return_X_y=True)
    >>> tune_C(DualLinearSVC(random_state=0), X, y, Cs=[0.001, 0.1]).C
    0.1
    """
    values = check_Cs(Cs)
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    check_magnitude(X)
    y = check_target_format(y)
    y = sparse.csr_matrix(y) if sparse.issparse(y) else y
    check_consistent_length(X, y)
    folds = check_cv(cv, y, classifier=True).split(X, y)
    # Two classes are one block of work, so the folds run side by side instead.
    one_block = type_of_target(y) == "binary"
    outer, inner = (estimator.n_jobs, 1) if one_block else (1, estimator.n_jobs)
    model = clone(estimator).set_params(n_jobs=inner)
    scores = Parallel(n_jobs=outer, prefer="threads", batch_size=1)(
        delayed(score_fold)(model, X, y, values, train, test, scoring) for train, test in folds
    )
    return _choose(values, scores)


def score_fold(
    estimator: Any,
    X: Any,
    y: Any,
    Cs: tuple[float, ...],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    scoring: Any = None,
) -> list[float]:
    """Return the score of each C on the test documents of a fold."""
    scorer = check_scoring(split_steps(estimator)[1], scoring)
    return _score_fold(_prepare(estimator, scoring), X, y, Cs, train, test, scorer)


Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def deal_folds(labels: NDArray[Any], n_folds: int) -> Folds:
    """Return stratified folds of documents to choose C by.

    The documents of a label go to the folds in turn, so a label has two documents in one fold only
    if it has one in every fold.

    Examples
    --------
    >>> [test.tolist() for _, test in deal_folds(np.array(["ash", "oak", "ash", "oak", "ash"]), 2)]
    [[0, 3, 4], [1, 2]]
    """
    part_of = np.empty(labels.size, np.intp)
    part_of[np.argsort(labels, kind="stable")] = np.arange(labels.size) % n_folds
    return [
        (np.flatnonzero(part_of != part), np.flatnonzero(part_of == part))
        for part in range(min(n_folds, labels.size))
    ]


def choose_C(
    estimator: Any, X: Any, y: NDArray[Any], Cs: tuple[float, ...], folds: Folds, scoring: Any
) -> float:
    """Return the best C of a problem of two classes, 0 and 1, for any classifier or pipeline.

    If a class has a single document, C cannot be chosen and the middle value is returned.
    """
    if is_settled(y, Cs):
        return take_middle(Cs)
    scores = [
        score_fold(estimator, X, y, Cs, train, test, scoring)
        for train, test in folds
        if np.unique(y[train]).size == 2
    ]
    return _choose(Cs, scores).C


def is_settled(y: NDArray[Any], Cs: tuple[float, ...]) -> bool:
    """Return whether there is one value only, or a class too small to choose by."""
    return len(Cs) == 1 or int(np.bincount(y, minlength=2).min()) < 2


def take_middle(Cs: tuple[float, ...]) -> float:
    """Return the middle value, the smaller of two."""
    return Cs[(len(Cs) - 1) // 2]


def choose_best(Cs: tuple[float, ...], scores: list[list[float]]) -> float:
    """Return the value of the best mean score over folds (folds x values)."""
    return _choose(Cs, scores).C


def check_Cs(Cs: Iterable[float]) -> tuple[float, ...]:
    """Return the values to try in ascending order."""
    values = tuple(sorted(float(C) for C in Cs))
    if not values:
        raise ValueError("Cs must hold at least one value. Got none.")
    return values


def split_steps(model: Any) -> tuple[Any, Any]:
    """Return the steps before the classifier, None without any, and the classifier.

    Both are parts of the model, not copies.
    """
    if not isinstance(model, Pipeline):
        return None, model
    return (model[:-1] if len(model) > 1 else None), model[-1]


def _prepare(estimator: Any, scoring: Any) -> Any:
    """Return a clone to fit for one C after another."""
    model = clone(estimator)
    last = split_steps(model)[1]
    if isinstance(last, DualLinearSVC):
        last.set_params(warm_start=True)
        if scoring is None or scoring == "accuracy":  # labels do not need the sigmoid's two fits
            last.set_params(probability=False)
    return model


def _score_fold(
    model: Any,
    X: Any,
    y: Any,
    Cs: tuple[float, ...],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    scorer: Any,
) -> list[float]:
    """Return the score of each C; the steps before the classifier are fitted once."""
    before, last = split_steps(model)
    X_train, X_test = X[train], X[test]
    if before is not None:
        X_train = before.fit_transform(X_train, y[train])
        X_test = before.transform(X_test)
    return [float(scorer(last.set_params(C=C).fit(X_train, y[train]), X_test, y[test])) for C in Cs]


def _choose(Cs: tuple[float, ...], scores: list[list[float]]) -> Tuning:
    by_value = np.transpose(scores)
    means = mean_known(by_value, axis=1)
    best = int((means >= means.max() - ROUNDING).argmax())
    return Tuning(Cs[best], Cs, by_value)
