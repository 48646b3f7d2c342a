"""Tasks: curves of quality, and comparisons of models before and after retraining."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import binarize, normalize

from papers.datasets import (
    COLLECTIONS,
    Split,
    indicate,
    load_forman,
)
from papers.results import measure_scores, to_json
from spokeshave import DualLinearSVC, FeatureCurve, feature_curve, rank_features, stability

METHODS = ("exact", "mask", "sv_set", "warm", "rfe")
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
TOL = 1e-4  # tight, so that differences between models are not the solver's
FEWEST = 10  # documents of a class in the 16 sets
DIGITS = 7


def load_collection(
    data: Path, collection: str, weighting: str = "binary", n_classes: int | None = None
) -> Split:
    """Return a collection with its largest classes, all of them by default.

    Words of a single training document are dropped, as the paper does (4.1).
    """
    return COLLECTIONS[collection](data, weighting).drop_rare().keep_largest(n_classes)


def trace_split(
    data: Path,
    *,
    collection: str,
    method: str,
    weighting: str = "binary",
    n_classes: int | None = None,
    fit_intercept: bool | str = True,
) -> dict[str, Any]:
    """Return measures of each class on the test documents, at every cut."""
    split = load_collection(data, collection, weighting, n_classes)
    curve = split.trace(method=method, estimator=make_svc(fit_intercept=fit_intercept))
    return describe_curve(curve, split.names, split.Y_test)


def trace_folds(
    data: Path, *, name: str, method: str, fit_intercept: bool | str = True
) -> dict[str, Any]:
    """Return measures of each class of one of the 16 sets by cross-validation, at every cut."""
    forman = load_forman(data, name)
    labels, sizes = np.unique(forman.labels, return_counts=True)
    names = tuple(labels[sizes >= FEWEST].tolist())
    Y = indicate([(label,) for label in forman.labels], names)
    X = binarize(forman.X)
    curve = feature_curve(
        normalize(X[:, X.getnnz(axis=0) > 1]),
        Y,
        cv=list(FOLDS.split(X, forman.labels)),
        method=method,
        estimator=make_svc(fit_intercept=fit_intercept),
    )
    return describe_curve(curve, names, Y)


def compare_normals(
    data: Path,
    *,
    collection: str,
    method: str,
    n_classes: int | None = None,
    fit_intercept: bool | str = True,
) -> dict[str, Any]:
    """Return the similarity of masked and retrained models at every cut, averaged over classes."""
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc(fit_intercept=fit_intercept).fit(split.X, split.Y)
    found = stability(split.X, split.Y, estimator=model, method=method)
    n_support = model.dual_coef_.getnnz(axis=1)[:, None]
    return {
        "fractions": found.cuts.tolist(),
        "n_support": to_json(np.mean(found.n_support / n_support, axis=0), DIGITS),
        **{
            name: to_json(found.macro(name), DIGITS)
            for name in ("cosine", "pearson", "overlap", "containment")
        },
    }


def compare_limits(
    data: Path,
    *,
    collection: str,
    tol: float,
    renormalize: bool,
    n_classes: int | None = None,
    fit_intercept: bool | str = True,
) -> dict[str, float]:
    """Return the overlap of support vectors when only features of zero weight are removed."""
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc(tol, fit_intercept=fit_intercept).fit(split.X, split.Y)
    found = stability(
        split.X, split.Y, estimator=model, method="exact", cuts=(1.0,), renormalize=renormalize
    )
    seen = split.X.getnnz(axis=0) > 0
    return {
        "overlap": float(found.macro("overlap")[0]),
        "containment": float(found.macro("containment")[0]),
        "zero_weight": float((model.coef_[:, seen] == 0).mean()),
    }


def compare_duals(
    data: Path,
    *,
    collection: str,
    fractions: list[float],
    renormalize: bool,
    n_classes: int | None = None,
    fit_intercept: bool | str = True,
) -> list[dict[str, float]]:
    """Return the similarity of weights and of dual variables before and after retraining."""
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc(fit_intercept=fit_intercept).fit(split.X, split.Y)
    ranking = rank_features(split.X, split.Y, estimator=model)
    rows = []
    for fraction in fractions:
        compared = [
            _compare_dual(
                split.X, split.Y[:, k], model, k, take_ranked(ranking, k, fraction), renormalize
            )
            for k in range(len(split.names))
        ]
        means = np.mean(compared, axis=0)
        names = ("weight_cosine", "alpha_cosine", "alpha_change", "alpha_sum")
        rows.append(
            {"fraction": fraction, **dict(zip(names, to_json(means, DIGITS), strict=True))},
        )
    return rows


def compare_lengths(
    data: Path,
    *,
    collection: str,
    fractions: list[float],
    n_classes: int | None = None,
    fit_intercept: bool | str = True,
) -> list[dict[str, Any]]:
    """Return quality when support vectors, documents, both or neither are renormalised.

    Neither is mask and both is sv set; support vectors alone is the formula as printed.
    """
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc(fit_intercept=fit_intercept).fit(split.X, split.Y)
    ranking = rank_features(split.X, split.Y, estimator=model)
    rows = []
    for fraction in fractions:
        measured: dict[tuple[bool, bool], list[tuple[float, float]]] = {}
        for k, y_test in enumerate(split.Y_test.T):
            kept = take_ranked(ranking, k, fraction)
            X, X_test = split.X[:, kept], split.X_test[:, kept]
            for vectors in (False, True):
                w = (model.dual_coef_[k] @ (normalize(X) if vectors else X)).toarray().ravel()
                for documents in (False, True):
                    scores = (normalize(X_test) if documents else X_test) @ w
                    found = measure_scores(y_test, scores + model.intercept_[k])
                    measured.setdefault((vectors, documents), []).append(found)
        rows += [
            {
                "fraction": fraction,
                "vectors": vectors,
                "documents": documents,
                **dict(
                    zip(("auc", "best_f1"), to_json(np.mean(found, axis=0), DIGITS), strict=True)
                ),
            }
            for (vectors, documents), found in measured.items()
        ]
    return rows


def make_svc(tol: float = TOL, n_jobs: int = 1, fit_intercept: bool | str = True) -> DualLinearSVC:
    """Return the SVM of the study: hinge loss, C = 1.

    The intercept is regularised by default; that of the paper's equation 3 is "free".
    """
    return DualLinearSVC(tol=tol, n_jobs=n_jobs, fit_intercept=fit_intercept, random_state=0)


def describe_curve(
    curve: FeatureCurve, names: tuple[str, ...], Y: NDArray[np.int64]
) -> dict[str, Any]:
    """Return a curve as JSON: measures per class and cut, and micro-averages per cut."""
    positives = Y.sum(axis=0)
    return {
        "names": list(names),
        "positives": positives.tolist(),
        "pairs": (positives * (len(Y) - positives)).tolist(),
        "fractions": curve.fractions.tolist(),
        **{name: to_json(curve.per_class(name), DIGITS) for name in ("auc", "best_f1")},
        **{f"micro_{name}": to_json(curve.micro(name), DIGITS) for name in ("auc", "best_f1")},
    }


def take_ranked(ranking: Any, k: int, fraction: float) -> NDArray[np.intp]:
    """Return the best features of a class in ascending order."""
    ranked = ranking.list_ranked(k)
    return np.sort(ranked[: max(1, round(fraction * ranked.size))])


def _compare_dual(
    X: sparse.csr_matrix,
    y: NDArray[np.int64],
    model: DualLinearSVC,
    k: int,
    kept: NDArray[np.intp],
    renormalize: bool,
) -> tuple[float, float, float, float]:
    part = normalize(X[:, kept]) if renormalize else X[:, kept]
    again = clone(model).fit(part, y)
    before, after = (np.abs(m.toarray().ravel()) for m in (model.dual_coef_[k], again.dual_coef_))
    return (
        _find_cosine(model.coef_[k, kept], again.coef_[0]),
        _find_cosine(before, after),
        float(np.abs(after - before).sum() / before.sum()),
        float(after.sum() / before.sum()),
    )


def _find_cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))
