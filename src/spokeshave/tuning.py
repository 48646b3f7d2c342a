"""The choice of C by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import type_of_target

if TYPE_CHECKING:
    from spokeshave.svm import DualLinearSVC

PAPER_CS = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Tuning:
    """What each C scored.

    Attributes
    ----------
    C : float
        The best on average; the smallest of equals.
    Cs : tuple of float
        All that were tried, ascending.
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

    In each fold the values are tried in ascending order, and the dual found for one, stretched to
    the next, is where descent starts.

    Parameters
    ----------
    estimator : DualLinearSVC
        The model to tune; it is not changed. Its ``n_jobs`` threads share out the
        classes, or the folds where there are two classes.
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Documents.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Targets.
    Cs : iterable of float, default=(0.01, 0.1, 1, 10, 100)
        The values to try, by default the paper's.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn; stratified for single labels.
    scoring : str or callable, optional
        What to maximise, as in scikit-learn; accuracy by default.

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
    values = tuple(sorted(float(C) for C in Cs))
    if not values:
        raise ValueError("Cs must hold at least one value. Got none.")
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    y = sparse.csr_matrix(y) if sparse.issparse(y) else np.asarray(y)
    check_consistent_length(X, y)
    scorer = check_scoring(estimator, scoring)
    folds = check_cv(cv, y, classifier=True).split(X, y)
    # Two classes are one block of work, so then the folds are what can run side by side.
    one_block = type_of_target(y) == "binary"
    outer, inner = (estimator.n_jobs, 1) if one_block else (1, estimator.n_jobs)
    model = clone(estimator).set_params(warm_start=True, n_jobs=inner)
    scores = Parallel(n_jobs=outer, prefer="threads", batch_size=1)(
        delayed(_score_fold)(clone(model), X, y, values, train, test, scorer)
        for train, test in folds
    )
    by_value = np.transpose(scores)
    return Tuning(values[int(by_value.mean(axis=1).argmax())], values, by_value)


def _score_fold(
    model: DualLinearSVC,
    X: Any,
    y: Any,
    Cs: tuple[float, ...],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    scorer: Any,
) -> list[float]:
    return [
        float(scorer(model.set_params(C=C).fit(X[train], y[train]), X[test], y[test])) for C in Cs
    ]
