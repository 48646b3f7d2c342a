"""A trial beyond the paper: the sv set with one factor for each side.

Negatives keep fewer of the top words than positives, so scaling the shortened support vectors to
length one again inflates the side of the negatives. A factor for each side restores the sum of its
multipliers over the lengths.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from papers.datasets import COLLECTIONS, OTHERS
from papers.kolcz2007.tasks import DIGITS, make_svc, take_ranked
from papers.limits import find_error
from papers.results import measure_scores
from spokeshave import rank_features

FRACTIONS = (0.01, 0.05, 0.2, 0.5)
EVERY, KEPT = "balanced over all", "balanced over those that keep a word"
PLACES = 9  # of scores: documents that keep the same words must tie


def compare_sides(
    data: Path, *, collection: str, weighting: str, n_classes: int | None = None
) -> list[dict[str, Any]]:
    """Return the quality of the sv set with and without a factor for each side, mask and exact.

    Rows have averages over classes, and the standard error of the difference from mask.
    """
    load = (COLLECTIONS | OTHERS)[collection]
    split = load(data, weighting).drop_rare().keep_largest(n_classes)
    svc = make_svc()
    exact = split.trace(method="exact", estimator=svc, cuts=FRACTIONS)
    of_exact = np.stack([exact.per_class(name) for name in ("auc", "best_f1")])
    model = svc.fit(split.X, split.Y)
    ranking = rank_features(split.X, split.Y, estimator=model)
    rows = []
    for c, fraction in enumerate(FRACTIONS):
        found: dict[str, list[tuple[float, float]]] = {}
        for k, y_test in enumerate(split.Y_test.T):
            kept = take_ranked(ranking, k, fraction)
            X, X_test = split.X[:, kept], split.X_test[:, kept]
            again = normalize(X_test)
            for method, w in _list_weights(X, model.dual_coef_[k]):
                scores = ((X_test if method == "mask" else again) @ w).round(PLACES)
                found.setdefault(method, []).append(measure_scores(y_test, scores))
        values = {method: np.array(pairs).T for method, pairs in found.items()}
        values["exact"] = of_exact[:, :, c]
        for method, (auc, f1) in values.items():
            rows.append(
                {
                    "collection": collection,
                    "weighting": weighting,
                    "fraction": fraction,
                    "method": method,
                    "classes": auc.size,
                    "auc": round(float(auc.mean()), DIGITS),
                    "best_f1": round(float(f1.mean()), DIGITS),
                    "auc_error": find_error(auc - values["mask"][0]),
                    "best_f1_error": find_error(f1 - values["mask"][1]),
                }
            )
    return rows


def _list_weights(
    X: sparse.csr_matrix, dual: sparse.csr_matrix
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the weights of each method from shortened rows and signed multipliers."""
    dual = sparse.csr_matrix(dual)
    vectors, beta = X[dual.indices], dual.data
    length = np.sqrt(vectors.multiply(vectors).sum(axis=1)).A1
    inverse = np.divide(1, length, where=length > 0, out=np.zeros_like(length))
    yield "mask", vectors.T @ beta
    yield "sv_set", vectors.T @ (beta * inverse)
    for method, counted in ((EVERY, np.ones(beta.size, bool)), (KEPT, length > 0)):
        factor = np.ones(beta.size)
        for side in (beta > 0, beta < 0):
            after = (beta * inverse)[side].sum()
            if after:
                factor[side] = beta[side & counted].sum() / after
        yield method, vectors.T @ (beta * inverse * factor)
