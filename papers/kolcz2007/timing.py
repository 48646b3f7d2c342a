"""Running time of each method, and time and quality of peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from papers.datasets import Split
from papers.kolcz2007.tasks import load_collection, make_svc
from papers.results import measure_scores
from spokeshave import PAPER_FRACTIONS, DualLinearSVC, FeatureCurve, feature_curve

N_JOBS = 2
TOL = 5e-4  # at which the objective is no worse than LinearSVC's at 1e-2
ROUNDS = 3
SHARES = (0.25, 0.5, 1.0)  # of the documents
RFE_SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)  # of all features
L1_COSTS = (0.1, 0.3, 1.0, 3.0, 10.0)
DIGITS = 6


def time_methods(
    data: Path, *, collection: str, rounds: int = ROUNDS, n_classes: int | None = None
) -> dict[str, float]:
    """Return the seconds of the first fit and of every method after it.

    The methods take turns and the best time of each counts. The two long loops over scikit-learn's
    models run once.
    """
    split = load_collection(data, collection, n_classes=n_classes)
    _warm_up(split)
    model = _fit(split)
    methods = ("mask", "sv_set", "warm", "exact")
    seconds = _take_turns(
        {
            "first fit": partial(_fit, split),
            **{method: partial(_trace, split, method, model) for method in methods},
            "naive Bayes": partial(_score_naive_bayes, split),
        },
        rounds,
    )
    orders = [_order(w) for w in model.coef_]
    loops = {
        "naive Bayes at every cut": partial(_retrain, MultinomialNB(), split, orders),
        "LinearSVC at every cut": partial(_retrain, _make_linear_svc(), split, orders),
    }
    seconds |= _take_turns(loops, 1)
    return {name: round(value, DIGITS) for name, value in seconds.items()}


def time_growth(
    data: Path, *, collection: str, rounds: int = ROUNDS, n_classes: int | None = None
) -> dict[str, dict[str, float]]:
    """Return the seconds of the first fit, mask and naive Bayes on subsets of the documents."""
    split = load_collection(data, collection, n_classes=n_classes)
    _warm_up(split)
    found = {}
    for share in SHARES:
        part = _take_part(split, share)
        contestants: dict[str, Callable[[], Any]] = {
            "first fit": partial(_fit, part),
            "mask": partial(_trace, part, "mask", _fit(part)),
            "naive Bayes": partial(_score_naive_bayes, part),
        }
        found[str(share)] = _take_turns(contestants, rounds)
    return found


def try_peers(
    data: Path, *, collection: str, label: str, costs: Sequence[float] = L1_COSTS
) -> list[dict[str, Any]]:
    """Return the results of scikit-learn's selectors for one class, and ours at as many features.

    Seconds are of one thread: for a path, of all numbers of features together; for an L1 penalty,
    of that penalty.
    """
    split = load_collection(data, collection)
    k = split.names.index(label)
    peers = [*_try_rfe(split, k), *_try_l1(split, k, costs)]
    counts = sorted({row["features"] for row in peers})
    ours = [
        row for method in ("mask", "warm", "rfe") for row in _try_ours(split, k, method, counts)
    ]
    return peers + ours


def _fit(split: Split) -> DualLinearSVC:
    return make_svc(TOL, N_JOBS).fit(split.X, split.Y)


def _trace(split: Split, method: str, model: DualLinearSVC) -> FeatureCurve:
    return split.trace(method=method, estimator=model, n_jobs=N_JOBS)


def _warm_up(split: Split) -> None:
    """Compile the kernels before they are timed."""
    part = _take_part(split, 0.1)
    for method in ("mask", "sv_set", "warm", "exact"):
        _trace(part, method, _fit(part))


def _take_part(split: Split, share: float) -> Split:
    """Return a share of the training and test documents, with the classes that occur in both."""
    rng = np.random.default_rng(0)
    rows, rows_test = (
        np.sort(rng.permutation(X.shape[0])[: int(share * X.shape[0])])
        for X in (split.X, split.X_test)
    )
    Y, Y_test = split.Y[rows], split.Y_test[rows_test]
    known = Y.any(axis=0) & Y_test.any(axis=0)
    names = tuple(np.array(split.names)[known].tolist())
    return Split(split.X[rows], Y[:, known], split.X_test[rows_test], Y_test[:, known], names)


def _take_turns(contestants: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the best time of each in seconds; taking turns spreads noise over all of them."""
    best = dict.fromkeys(contestants, np.inf)
    for _ in range(rounds):
        for name, run in contestants.items():
            start = perf_counter()
            run()
            best[name] = min(best[name], perf_counter() - start)
    return best


def _make_linear_svc() -> LinearSVC:
    return LinearSVC(loss="hinge", tol=1e-2, random_state=0)


def _order(w: NDArray[np.float64]) -> NDArray[np.intp]:
    ranked = np.flatnonzero(w)
    return ranked[np.argsort(-np.abs(w[ranked]), kind="stable")]


def _score_naive_bayes(split: Split) -> None:
    """Train on all features and score the test documents, class by class."""
    for y in split.Y.T:
        MultinomialNB().fit(split.X, y).predict_log_proba(split.X_test)


def _retrain(model: Any, split: Split, orders: list[NDArray[np.intp]]) -> None:
    """Train and measure at every cut of every class, as needed without masking."""
    for y, y_test, order in zip(split.Y.T, split.Y_test.T, orders, strict=True):
        for fraction in PAPER_FRACTIONS:
            kept = np.sort(order[: max(1, round(fraction * order.size))])
            _judge(model, split, y, y_test, kept)


def _judge(
    model: Any,
    split: Split,
    y: NDArray[np.int64],
    y_test: NDArray[np.int64],
    kept: NDArray[np.intp],
) -> dict[str, float]:
    """Train on some features and return AUC and best F1 on the test documents."""
    X, X_test = normalize(split.X[:, kept]), normalize(split.X_test[:, kept])
    model.fit(X, y)
    is_linear = hasattr(model, "decision_function")
    scores = model.decision_function(X_test) if is_linear else model.predict_log_proba(X_test)[:, 1]
    auc, best_f1 = measure_scores(y_test, scores)
    return {"auc": round(auc, DIGITS), "best_f1": round(best_f1, DIGITS)}


def _try_rfe(split: Split, k: int) -> Iterator[dict[str, Any]]:
    """Eliminate a tenth of the features at a time, and measure at some steps."""
    y, y_test, n = split.Y[:, k], split.Y_test[:, k], split.X.shape[1]
    start = perf_counter()
    step = n // 10
    eliminator = RFE(_make_linear_svc(), n_features_to_select=n - 9 * step, step=step)
    eliminator.fit(split.X, y)
    rows = []
    for share in RFE_SHARES:
        kept = np.flatnonzero(eliminator.ranking_ <= round(10 * share))
        row = _judge(_make_linear_svc(), split, y, y_test, kept)
        rows.append({"selector": "scikit-learn RFE", "features": int(kept.size), **row})
    seconds = perf_counter() - start
    yield from ({**row, "seconds": round(seconds, 4)} for row in rows)


def _try_l1(split: Split, k: int, costs: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Keep the features with a weight in an L1-penalised SVM, and measure."""
    y, y_test = split.Y[:, k], split.Y_test[:, k]
    for cost in costs:
        start = perf_counter()
        sparse_svc = LinearSVC(penalty="l1", dual=False, C=cost, random_state=0)
        kept = np.flatnonzero(SelectFromModel(sparse_svc).fit(split.X, y).get_support())
        row = _judge(_make_linear_svc(), split, y, y_test, kept)
        yield {
            "selector": "L1 SelectFromModel",
            "features": int(kept.size),
            **row,
            "seconds": round(perf_counter() - start, 4),
        }


def _try_ours(split: Split, k: int, method: str, counts: list[int]) -> Iterator[dict[str, Any]]:
    y, y_test = split.Y[:, k], split.Y_test[:, k]
    start = perf_counter()
    curve = feature_curve(
        split.X,
        y,
        X_test=split.X_test,
        y_test=y_test,
        method=method,
        estimator=make_svc(TOL),
        cuts=counts,
    )
    seconds = perf_counter() - start
    for count, auc, best_f1 in zip(counts, curve.auc[0], curve.best_f1[0], strict=True):
        yield {
            "selector": method,
            "features": count,
            "auc": round(float(auc), DIGITS),
            "best_f1": round(float(best_f1), DIGITS),
            "seconds": round(seconds, 4),
        }
