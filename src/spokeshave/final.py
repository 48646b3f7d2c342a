"""The final model: each class at its cut, with weights that suit what it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from spokeshave.cutting import find_cut, weigh_class
from spokeshave.path import warn_if_stopped_early
from spokeshave.tracing import decide_unit
from spokeshave.trained import Trained

FINALS = ("warm", "exact", "mask", "sv_set")


@dataclass(frozen=True, eq=False)
class Shaven:
    """Classes at their cuts, a row or an entry each.

    Attributes
    ----------
    coef : csr_matrix of shape (n_classes, n_features)
        Weights of the features kept.
    intercept : ndarray of shape (n_classes,)
        Intercepts.
    kept : csr_matrix of shape (n_classes, n_features)
        One for every feature that a class keeps, be its weight zero or not.
    unit : bool
        Whether documents are scaled to length one on the features of each class.
    """

    coef: sparse.csr_matrix
    intercept: NDArray[np.float64]
    kept: sparse.csr_matrix
    unit: bool


def draw_seeds(seed: Any, n_classes: int) -> NDArray[np.int64]:
    """Return a seed for the retraining of each class."""
    return np.asarray(check_random_state(seed).randint(2**31, size=n_classes))


def score_shaven(
    X: sparse.csr_matrix, coef: NDArray[np.float64], kept: sparse.csr_matrix, unit: bool
) -> NDArray[np.float64]:
    """Return the scores of documents (documents x classes), without the intercepts."""
    scores = np.asarray(X @ coef.T)
    if unit:
        squared_length = (X.power(2) @ kept.T).toarray()
        scores /= np.sqrt(np.where(squared_length > 0, squared_length, 1))
    return scores


def shave(
    trained: Trained,
    cuts: NDArray[Any],
    seeds: NDArray[np.int64],
    *,
    against: str,
    final: str,
    renormalize: bool | None,
    n_jobs: int | None,
) -> Shaven:
    """Cut every class of a model, and give it its final weights as ``final`` says.

    ``cuts`` and ``seeds`` have an entry per class. Warns where retraining ran out of passes.
    """
    unit, classes = decide_unit(renormalize, final, trained), range(len(trained.coef))
    found = [find_cut(trained, k, cuts[k : k + 1], against) for k in classes]
    weighed = Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
        delayed(weigh_class)(trained, k, found[k], final, unit, seeds[k]) for k in classes
    )
    coef, intercept, gaps = zip(*weighed, strict=True)
    if trained.dual is not None:
        warn_if_stopped_early(max(gaps), trained.dual.stop, stacklevel=3)
    kept = [cut.order[: cut.ends[0]] for cut in found]
    ends = np.cumsum([0, *map(len, kept)])
    features, ones = np.concatenate(kept), np.ones(ends[-1])
    values = np.concatenate([row[order] for row, order in zip(coef, kept, strict=True)])
    shape = len(coef), trained.X.shape[1]
    return Shaven(
        coef=sparse.csr_matrix((values, features, ends), shape),
        intercept=np.array(intercept),
        kept=sparse.csr_matrix((ones, features, ends), shape),
        unit=unit,
    )
