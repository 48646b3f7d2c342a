"""Section 3.1: what masking a single feature costs, if the multipliers are kept.

The masked weights and the multipliers are a primal and a dual solution of the problem without the
feature, so their duality gap bounds the distance from its optimum, without retraining.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from papers.kolcz2007.tasks import load_collection, make_svc
from papers.limits import find_error
from spokeshave import DualLinearSVC

QUARTERS = ("lowest", "second", "third", "highest")  # of the weights that are not zero
DIGITS = 9


def mask_features(
    data: Path, *, collection: str, n_classes: int | None = None
) -> list[dict[str, Any]]:
    """Return the duality gap that masking one feature adds, by quarter of its weight.

    Gaps are relative to the primal objective. Correlations are Spearman's, over the features of a
    class. Everything is averaged over classes.
    """
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc().fit(split.X, split.Y)
    columns = sparse.csc_matrix(split.X)
    described = [_describe(columns, y, model, k) for k, y in enumerate(split.Y.T)]
    rows = []
    for q, quarter in enumerate(("all", *QUARTERS)):
        of = {key: np.array([each[key][q] for each in described]) for key in described[0]}
        rows.append(
            {
                "quarter": quarter,
                **{key: round(float(np.nanmean(values)), DIGITS) for key, values in of.items()},
                **{
                    f"{key}_error": find_error(of[key][np.isfinite(of[key])])
                    for key in ("by_weight", "by_frequency")
                },
            }
        )
    return rows


def _describe(
    X: sparse.csc_matrix, y: NDArray[np.int64], model: DualLinearSVC, k: int
) -> dict[str, list[float]]:
    """Return the figures of one class: over all features of nonzero weight, and by quarter."""
    sign, w = 2 * y - 1, model.coef_[k]
    margin = sign * (X @ w + model.intercept_[k])
    loss = np.maximum(0, 1 - margin)
    primal = 0.5 * (w @ w + model.intercept_[k] ** 2) + model.C * loss.sum()
    entries = X.data * np.repeat(w, np.diff(X.indptr)) * sign[X.indices]
    more = np.maximum(0, 1 - margin[X.indices] + entries) - loss[X.indices]
    gap = (model.C * _sum_columns(X, more) - w**2) / primal
    is_support = model.dual_coef_[k].toarray().ravel() != 0
    share = _sum_columns(X, is_support[X.indices].astype(float)) / max(1, is_support.sum())
    frequency = np.diff(X.indptr)
    ranked = np.flatnonzero(w)
    ranked = ranked[np.argsort(np.abs(w[ranked]), kind="stable")]
    groups = [ranked, *np.array_split(ranked, len(QUARTERS))]
    return {
        "features": [group.size for group in groups],
        "gap": [_take_mean(gap[group]) for group in groups],
        "largest_gap": [float(gap[group].max(initial=0)) for group in groups],
        "share_of_support": [_take_mean(share[group]) for group in groups],
        "by_weight": [_correlate(gap[group], np.abs(w[group])) for group in groups],
        "by_frequency": [_correlate(gap[group], frequency[group]) for group in groups],
    }


def _sum_columns(X: sparse.csc_matrix, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of values that belong to the entries of each column."""
    sums = np.bincount(np.repeat(np.arange(X.shape[1]), np.diff(X.indptr)), values, X.shape[1])
    return sums.astype(float)


def _take_mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else np.nan


def _correlate(a: NDArray[np.float64], b: NDArray[Any]) -> float:
    """Return the rank correlation, NaN if one of both is constant."""
    if a.size < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    return float(stats.spearmanr(a, b).statistic)
