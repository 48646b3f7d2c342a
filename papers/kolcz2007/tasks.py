"""Curves of quality, and models before and after retraining: what the tables are made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import precision_recall_curve, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import binarize, normalize

from spokeshave import DualLinearSVC, FeatureCurve, feature_curve, rank_features, stability
from spokeshave.papers.collections import (
    Split,
    indicate,
    load_forman,
    load_newsgroups,
    load_rcv1,
    load_reuters,
)

COLLECTIONS: dict[str, Callable[..., Split]] = {
    "RCV1": load_rcv1,
    "20 Newsgroups": load_newsgroups,
    "Reuters-21578": load_reuters,
}
METHODS = ("exact", "mask", "sv_set", "warm", "rfe")
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
TOL = 1e-4  # of all models that are compared: what they differ in must not be the solver's
FEWEST = 10  # documents of a class of the 16 sets
DIGITS = 7


def load_collection(
    data: Path, collection: str, weighting: str = "binary", n_classes: int | None = None
) -> Split:
    """Return a collection with its most frequent classes, all of them by default."""
    split = COLLECTIONS[collection](data, weighting)
    frequent = np.sort(np.argsort(-split.Y.sum(axis=0), kind="stable")[:n_classes])
    return split._replace(
        Y=split.Y[:, frequent],
        Y_test=split.Y_test[:, frequent],
        names=tuple(split.names[k] for k in frequent),
    )


def trace_split(
    data: Path,
    *,
    collection: str,
    method: str,
    weighting: str = "binary",
    n_classes: int | None = None,
) -> dict[str, Any]:
    """Return measures of each class on the test documents, at every cut."""
    split = load_collection(data, collection, weighting, n_classes)
    curve = feature_curve(
        split.X,
        split.Y,
        X_test=split.X_test,
        y_test=split.Y_test,
        method=method,
        estimator=make_svc(),
    )
    return describe_curve(curve, split.names, split.Y_test)


def trace_folds(data: Path, *, name: str, method: str) -> dict[str, Any]:
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
        estimator=make_svc(),
    )
    return describe_curve(curve, names, Y)


def compare_normals(
    data: Path, *, collection: str, method: str, n_classes: int | None = None
) -> dict[str, Any]:
    """Return how alike masked and retrained models are at every cut, averaged over classes."""
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc().fit(split.X, split.Y)
    found = stability(split.X, split.Y, estimator=model, method=method)
    n_support = model.dual_coef_.getnnz(axis=1)[:, None]
    return {
        "fractions": found.cuts.tolist(),
        "n_support": round_all(np.mean(found.n_support / n_support, axis=0)),
        **{
            name: round_all(found.macro(name))
            for name in ("cosine", "pearson", "overlap", "containment")
        },
    }


def compare_limits(
    data: Path, *, collection: str, tol: float, renormalize: bool, n_classes: int | None = None
) -> dict[str, float]:
    """Return how alike the support vectors are when only features without weight are removed."""
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc(tol).fit(split.X, split.Y)
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
) -> list[dict[str, float]]:
    """Return how alike weights and Lagrange multipliers are before and after retraining."""
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc().fit(split.X, split.Y)
    ranking = rank_features(split.X, split.Y, estimator=model)
    rows = []
    for fraction in fractions:
        compared = [
            _compare_dual(
                split.X, split.Y[:, k], model, k, _take(ranking, k, fraction), renormalize
            )
            for k in range(len(split.names))
        ]
        means = np.mean(compared, axis=0)
        names = ("weight_cosine", "alpha_cosine", "alpha_change", "alpha_sum")
        rows.append(
            {"fraction": fraction, **dict(zip(names, round_all(means), strict=True))},
        )
    return rows


def compare_lengths(
    data: Path, *, collection: str, fractions: list[float], n_classes: int | None = None
) -> list[dict[str, Any]]:
    """Return quality when support vectors, documents, both or neither are scaled to length one.

    Neither is mask and both is the sv set; support vectors alone is the paper's formula to the
    letter.
    """
    split = load_collection(data, collection, n_classes=n_classes)
    model = make_svc().fit(split.X, split.Y)
    ranking = rank_features(split.X, split.Y, estimator=model)
    rows = []
    for fraction in fractions:
        measured: dict[tuple[bool, bool], list[tuple[float, float]]] = {}
        for k, y_test in enumerate(split.Y_test.T):
            kept = _take(ranking, k, fraction)
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
                **dict(zip(("auc", "best_f1"), round_all(np.mean(found, axis=0)), strict=True)),
            }
            for (vectors, documents), found in measured.items()
        ]
    return rows


def measure_scores(y: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return the AUC and the best F1 over all thresholds."""
    precision, recall, _ = precision_recall_curve(y, scores)
    best = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12))
    return float(roc_auc_score(y, scores)), float(best)


def make_svc(tol: float = TOL, n_jobs: int = 1) -> DualLinearSVC:
    """Return the SVM of the study: hinge loss, C = 1."""
    return DualLinearSVC(tol=tol, n_jobs=n_jobs, random_state=0)


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
        **{name: [round_all(row) for row in curve.per_class(name)] for name in ("auc", "best_f1")},
        **{f"micro_{name}": round_all(curve.micro(name)) for name in ("auc", "best_f1")},
    }


def round_all(values: Any) -> list[float]:
    """Return numbers as a list, rounded."""
    return [round(float(value), DIGITS) for value in values]


def _take(ranking: Any, k: int, fraction: float) -> NDArray[np.intp]:
    """Return the best features of a class, in order of their numbers."""
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
    again = make_svc().fit(part, y)
    before, after = (np.abs(m.toarray().ravel()) for m in (model.dual_coef_[k], again.dual_coef_))
    return (
        _find_cosine(model.coef_[k, kept], again.coef_[0]),
        _find_cosine(before, after),
        float(np.abs(after - before).sum() / before.sum()),
        float(after.sum() / before.sum()),
    )


def _find_cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))
