"""NormalSelector against scikit-learn's RFECV: one vocabulary for the 20 newsgroups.

Each chooses the number of words by 5-fold cross-validation on the training messages. A LinearSVC is
then trained on the words kept and evaluated on the test messages.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.feature_selection import RFECV
from sklearn.metrics import f1_score
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from contest import N_THREADS, load_newsgroups_split, take_turns
from spokeshave import DualLinearSVC, NormalSelector

SVC = {"loss": "hinge", "tol": 1e-2, "random_state": 0}


def fit_rfecv(X: Any, y: Any) -> RFECV:
    svc = LinearSVC(**SVC)
    return RFECV(svc, step=0.1, cv=5, scoring="f1_macro", n_jobs=N_THREADS).fit(X, y)


def fit_ours(X: Any, y: Any, tolerance: float | None) -> NormalSelector:
    svc = DualLinearSVC(tol=5e-4, n_jobs=N_THREADS, random_state=0)
    selector = NormalSelector(svc, measure="f1", tolerance=tolerance, n_jobs=N_THREADS)
    return selector.fit(X, y)


if __name__ == "__main__":
    X, Y, X_test, Y_test = load_newsgroups_split("binary")
    y, y_test = Y.argmax(axis=1), Y_test.argmax(axis=1)
    fit_ours(X[:900], y[:900], None)  # compiles
    contestants = {
        "RFECV, the best": partial(fit_rfecv, X, y),
        "NormalSelector, the best": partial(fit_ours, X, y, 0.0),
        "NormalSelector, within one standard error": partial(fit_ours, X, y, None),
    }
    best, selectors = take_turns(contestants, 2)
    print(f"20 Newsgroups, {X.shape[0]:,} messages, {X.shape[1]:,} words")
    print(f"{'':44}{'seconds':>9}{'ratio':>8}{'words':>9}{'macro-F1 on the test':>22}")
    for name, selector in selectors.items():
        kept = selector.get_support()
        model = LinearSVC(**SVC).fit(normalize(X[:, kept]), y)
        f1 = f1_score(y_test, model.predict(normalize(X_test[:, kept])), average="macro")
        ratio = best["RFECV, the best"] / best[name]
        print(f"{name:44}{best[name]:9.2f}{ratio:7.1f}x{kept.sum():9,}{f1:22.4f}")
