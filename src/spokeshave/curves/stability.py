"""Stability: the normal and the support vectors of an SVM before and after retraining."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spokeshave.curves.cuts import PAPER_FRACTIONS, check_cuts
from spokeshave.curves.feature_curve import decide_unit
from spokeshave.curves.fitted import FittedClasses, train
from spokeshave.curves.retraining import PATHS
from spokeshave.curves.scoring import find_cut, retrain_class
from spokeshave.metrics import mean_known
from spokeshave.ranking.criteria import check_criterion
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.svm.solver import warn_if_stopped_early
from spokeshave.utils.validation import check_documents


@dataclass(frozen=True, eq=False)
class Stability:
    """Comparison of the SVM on all features with the SVM retrained at each cut, per class.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Labels; the second of two, or column numbers for multilabel targets.
    cuts : ndarray of shape (n_cuts,)
        The cuts, ascending: fractions or counts.
    cosine, pearson : ndarray of shape (n_classes, n_cuts)
        Similarity of the masked and the retrained weights over the features kept; Pearson's is NaN
        for fewer than two features.
    overlap : ndarray of shape (n_classes, n_cuts)
        Support vectors of both SVMs, as a share of those of either.
    containment : ndarray of shape (n_classes, n_cuts)
        Support vectors of both SVMs, as a share of those of the retrained SVM.
    n_support : ndarray of shape (n_classes, n_cuts)
        Support vectors of the retrained SVM.
    """

    classes: NDArray[Any]
    cuts: NDArray[Any]
    cosine: NDArray[np.float64]
    pearson: NDArray[np.float64]
    overlap: NDArray[np.float64]
    containment: NDArray[np.float64]
    n_support: NDArray[np.float64]

    def macro(self, name: str) -> NDArray[np.float64]:
        """Return the mean over classes at each cut, as in the paper's Figures 3 and 4."""
        return mean_known(getattr(self, name), axis=0)


def stability(
    X: Any,
    y: Any,
    *,
    estimator: DualLinearSVC | None = None,
    by: str = "normal",
    cuts: Any = PAPER_FRACTIONS,
    method: str = "warm",
    renormalize: bool | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Stability:
    """Compare the normal and the support vectors before and after retraining, at every cut.

    Section 5 of Kolcz and Chowdhury (2007), "Correlation effects".

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Training documents.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Targets.
    estimator : DualLinearSVC, optional
        The SVM. A fitted one must have been fitted on X and y, and is not fitted again.
    by : str, default="normal"
        The criterion, as in `rank_features`.
    cuts : sequence or "log", default=PAPER_FRACTIONS
        As in `feature_curve`.
    method : {"warm", "exact", "rfe"}, default="warm"
        How to retrain.
    renormalize : bool, optional
        Whether documents are scaled to length one after each cut; by default if the documents of X
        have length one.
    n_jobs : int, optional
        Threads over classes; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Seed; that of the estimator by default.

    Returns
    -------
    stability : Stability

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from spokeshave import stability
    >>> X, y = load_digits(return_X_y=True)
    >>> found = stability(normalize(X), y < 5, cuts=(0.5, 1.0), random_state=0)
    >>> found.cosine.shape
    (1, 2)
    """
    if method not in PATHS:
        raise ValueError(f"method must be one of {', '.join(PATHS)}. Got {method!r} instead.")
    if not isinstance(estimator, DualLinearSVC | None):
        raise ValueError(
            f"estimator must be a DualLinearSVC. Got {type(estimator).__name__} instead."
        )
    check_criterion(by)
    X, y = check_documents(X, y)
    if estimator is not None and random_state is None:
        random_state = estimator.random_state
    found_cuts = check_cuts(cuts, X.shape[1])
    fitted = train(X, y, estimator, by, None, n_jobs, random_state)
    unit = decide_unit(renormalize, method, fitted)
    seeds = check_random_state(random_state).randint(2**31, size=fitted.classes.size)
    compared = Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
        delayed(_compare_class)(fitted, k, found_cuts, method, unit, seeds[k])
        for k in range(fitted.classes.size)
    )
    *measures, gaps = np.transpose(compared, (2, 0, 1))
    assert fitted.dual is not None
    warn_if_stopped_early(gaps.max(), fitted.dual.stop, retraining=True, stacklevel=2)
    return Stability(fitted.classes, found_cuts, *measures)


def _compare_class(
    fitted: FittedClasses, k: int, cuts: NDArray[Any], method: str, unit: bool, seed: int
) -> NDArray[np.float64]:
    """Return a row per cut: the measures of `Stability` in order, and the relative gap."""
    assert fitted.dual is not None
    cut = find_cut(fitted, k, cuts)
    normal = np.empty_like(fitted.coef[k])
    normal[fitted.number] = fitted.coef[k]
    support = fitted.dual.beta[k].toarray().ravel() != 0
    rows = []
    for found in retrain_class(fitted, k, cut, method, unit, seed):
        masked, again = normal[found.features], found.beta != 0
        both = np.count_nonzero(support & again)
        rows.append(
            (
                _divide(masked @ found.weights, _length(masked) * _length(found.weights)),
                _correlate(masked, found.weights),
                _divide(both, np.count_nonzero(support | again)),
                _divide(both, np.count_nonzero(again)),
                np.count_nonzero(again),
                found.relative_gap,
            )
        )
    return np.array(rows[::-1], float)


def _correlate(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    if a.size == 0:
        return np.nan
    a, b = a - a.mean(), b - b.mean()
    return _divide(a @ b, _length(a) * _length(b))


def _length(a: NDArray[np.float64]) -> float:
    return float(np.sqrt(a @ a))


def _divide(part: Any, whole: Any) -> float:
    return float(part / whole) if whole > 0 else np.nan
