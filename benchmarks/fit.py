"""DualLinearSVC against scikit-learn's LinearSVC and LIBLINEAR, one-vs-rest.

Prints, for each collection, the best time of each contestant and its ratio to LinearSVC, and the
primal objective summed over the classes, relative to LinearSVC. With --memory it prints the peak
memory of a fit, above the memory of the process before it. With --prior it prints the time of a fit
with a prior beside one without.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
from liblinear.liblinearutil import parameter, problem, train
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from accuracy import list_collections
from contest import N_THREADS, load_newsgroups, load_rcv1, take_turns
from memory import read_status, reset_peak
from spokeshave import DocumentVectorizer, DualLinearSVC

LOADERS = {"RCV1": load_rcv1, "20 Newsgroups": load_newsgroups}
TASKS = [(weighting, C) for C in (1, 10) for weighting in ("binary", "tfidf")]
TOL = 5e-4  # relative duality gap with an objective no worse than LinearSVC's at 1e-2
ROUNDS, ROUNDS_OF_PRIORS = 3, 9
Weights = tuple[Any, Any]  # coefficients and intercepts of the model, not copied


def fit_ours(X: sparse.csr_matrix, Y: np.ndarray, C: float) -> Weights:
    model = DualLinearSVC(C, tol=TOL, n_jobs=N_THREADS, random_state=0).fit(X, Y)
    return model.coef_, model.intercept_


def fit_linear_svc(X: sparse.csr_matrix, Y: np.ndarray, C: float) -> Weights:
    model = LinearSVC(loss="hinge", dual=True, tol=1e-2, C=C, random_state=0)
    if (Y.sum(axis=1) == 1).all():
        model.fit(X, Y.argmax(axis=1))  # one conversion of X for all classes
        return model.coef_, model.intercept_
    fitted = OneVsRestClassifier(model).fit(X, Y).estimators_
    return [model.coef_ for model in fitted], [model.intercept_ for model in fitted]


def fit_liblinear(X: sparse.csr_matrix, Y: np.ndarray, C: float) -> Weights:
    coef, intercept = np.empty((Y.shape[1], X.shape[1])), np.empty(Y.shape[1])
    documents = problem(2.0 * Y[:, 0] - 1, X, 1)
    options = parameter(f"-s 3 -c {C} -e 0.01 -B 1 -q")
    targets = np.ctypeslib.as_array(documents.y, (X.shape[0],))
    for k, column in enumerate(Y.T):
        targets[:] = 2 * column - 1
        model = train(documents, options)
        weights, intercept[k] = model.get_decfun()
        coef[k] = weights
    return coef, intercept


CONTESTANTS: dict[str, Callable[..., Weights]] = {
    "LinearSVC": fit_linear_svc,
    "liblinear-official": fit_liblinear,
    f"DualLinearSVC, {N_THREADS} threads": fit_ours,
}


def sum_objectives(X: sparse.csr_matrix, Y: np.ndarray, C: float, weights: Weights) -> float:
    coef, intercept = np.vstack(weights[0]), np.ravel(weights[1])
    slack = np.maximum(0, 1 - (2 * Y - 1) * (X @ coef.T + intercept))
    return float(0.5 * (coef**2).sum() + 0.5 * (intercept**2).sum() + C * slack.sum())


def compare_times() -> None:
    for name, load in LOADERS.items():
        for weighting, C in TASKS:
            X, Y = load(weighting)
            fit_ours(X[:500], Y[:500], C)  # compiles
            print(f"\n{name}, {weighting} rows, C={C}: {X.shape[0]:,} documents, ", end="")
            print(f"{X.shape[1]:,} features, {Y.shape[1]} classes")
            contestants = {
                label: lambda fit=fit, X=X, Y=Y, C=C: fit(X, Y, C)
                for label, fit in CONTESTANTS.items()
            }
            best, models = take_turns(contestants, ROUNDS)
            objectives = {label: sum_objectives(X, Y, C, model) for label, model in models.items()}
            print(f"{'':28}{'seconds':>9}{'ratio':>8}{'objective':>12}")
            for label, seconds in best.items():
                ratio = best["LinearSVC"] / seconds
                objective = objectives[label] / objectives["LinearSVC"]
                print(f"{label:28}{seconds:9.3f}{ratio:7.1f}x{objective:12.6f}", flush=True)


def measure_memory(name: str, weighting: str, label: str) -> float:
    """Return the peak memory of a fit in MiB, above the memory of the process before it."""
    X, Y = LOADERS[name](weighting)
    frequent = Y[:, Y.sum(axis=0) > len(Y) / 30]
    CONTESTANTS[label](X[:900], frequent[:900], 1)  # compiles, and loads libraries
    reset_peak()
    before = read_status("VmRSS")
    model = CONTESTANTS[label](X, Y, 1)
    assert len(model[0]) == Y.shape[1]
    return (read_status("VmHWM") - before) / 2**20


def compare_memory() -> None:
    print(f"{'peak megabytes above the data':32}" + "".join(f"{c:>28}" for c in CONTESTANTS))
    for name in LOADERS:
        for weighting in ("binary", "tfidf"):
            row = f"{name + ', ' + weighting:32}"
            for label in CONTESTANTS:
                with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
                    peak = fresh.submit(measure_memory, name, weighting, label).result()
                row += f"{peak:28.1f}"
            print(row, flush=True)


def compare_priors() -> None:
    """Print the times of fits at the default tolerance with and without a prior."""
    print(f"{'seconds':44}{'no prior':>10}" + "".join(f"{'prior ' + s:>18}" for s in ("1/2", "1")))
    for name in ("20 Newsgroups", "OHSUMED", "Science"):
        train, _ = list_collections()[name]()
        for ngrams, loss in product((1, 2), ("hinge", "squared_hinge")):
            options = {"ngram_range": (1, ngrams), "sublinear_tf": True, "weighting": "tfidf"}
            X = DocumentVectorizer(n_jobs=N_THREADS, **options).fit_transform(train.texts)

            def fit(X=X, y=train.labels, loss=loss, **prior: Any) -> DualLinearSVC:
                model = DualLinearSVC(loss=loss, n_jobs=N_THREADS, random_state=0, **prior)
                return model.fit(X, y)

            contestants = {
                "none": fit,
                "half": lambda fit=fit: fit(prior="bns", prior_strength=0.5),
                "whole": lambda fit=fit: fit(prior="bns"),
            }
            best, _ = take_turns(contestants, ROUNDS_OF_PRIORS)
            row = f"{name}, {'words' if ngrams == 1 else 'words and pairs'}, {loss}"
            row = f"{row:44}{best['none']:10.3f}"
            for label in ("half", "whole"):
                row += f"{best[label]:10.3f}{best[label] / best['none']:7.2f}x"
            print(row, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memory", action="store_true", help="measure memory instead of time")
    parser.add_argument("--prior", action="store_true", help="compare fits with and without one")
    warnings.simplefilter("ignore", ConvergenceWarning)
    options = parser.parse_args()
    compare_memory() if options.memory else compare_priors() if options.prior else compare_times()
