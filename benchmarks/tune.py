"""tune_C, which reuses the dual from one C to the next, against grid searches.

20 Newsgroups, five values of C, five folds, two threads or processes each.
"""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from contest import N_THREADS, load_newsgroups, take_turns
from spokeshave import DualLinearSVC, tune_C
from spokeshave.svm.tuning import PAPER_CS

ROUNDS = 2


def main() -> None:
    grid = {"C": PAPER_CS}
    for weighting in ("binary", "tfidf"):
        X, Y = load_newsgroups(weighting)
        y = Y.argmax(axis=1)
        ours = DualLinearSVC(random_state=0, n_jobs=N_THREADS)
        cold = GridSearchCV(ours, grid, refit=False)
        peer = GridSearchCV(
            LinearSVC(loss="hinge", tol=1e-2, random_state=0), grid, refit=False, n_jobs=N_THREADS
        )
        best, results = take_turns(
            {
                "grid search, LinearSVC": lambda peer=peer, X=X, y=y: peer.fit(X, y).best_params_,
                "grid search, DualLinearSVC": lambda cold=cold, X=X, y=y: (
                    cold.fit(X, y).best_params_
                ),
                "tune_C": lambda ours=ours, X=X, y=y: {"C": tune_C(ours, X, y).C},
            },
            ROUNDS,
        )
        print(f"\n20 Newsgroups, {weighting} rows\n{'':28}{'seconds':>9}{'ratio':>8}   chosen")
        for name, seconds in best.items():
            ratio = best["grid search, LinearSVC"] / seconds
            print(f"{name:28}{seconds:9.2f}{ratio:7.1f}x   {results[name]}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    main()
