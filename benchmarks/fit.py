"""DualLinearSVC against scikit-learn's LinearSVC and LIBLINEAR, one-vs-rest.

Prints, for each collection, the best time of each contestant and its ratio to LinearSVC, and the
primal objective summed over the classes, relative to LinearSVC. With --memory it prints the peak
memory of a fit, above the memory of the process before it. With --prior it prints the time of a fit
with a prior beside one without. With --large it prints objectives at a large C against time: each
contestant runs with one thread and more and more passes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
from liblinear.liblinearutil import parameter, problem, train
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
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
LARGE_C, PASSES = 1e4, (30, 100, 300, 1000, 3000)
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


def sum_objectives(
    X: sparse.csr_matrix, Y: np.ndarray, C: float, weights: Weights, loss: str = "hinge"
) -> float:
    coef, intercept = np.vstack(weights[0]), np.ravel(weights[1])
    slack = np.maximum(0, 1 - (2 * Y - 1) * (X @ coef.T + intercept))
    slack = slack if loss == "hinge" else slack**2
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


def compare_large() -> None:
    """Print time and objective, relative to the lowest, as the passes grow, at a large C."""
    X, y = make_classification(3000, 20, n_informative=8, n_classes=3, flip_y=0.1, random_state=0)
    words, topics = load_newsgroups("tfidf")
    tables = {
        "dense table, 3 classes": (sparse.csr_matrix(X), np.eye(3, dtype=int)[y]),
        "20 Newsgroups, 3 groups": (words, topics[:, :3]),
    }
    for (name, (X, Y)), loss in product(tables.items(), ("hinge", "squared_hinge")):
        runs = []
        for n_passes in PASSES:
            for label, make in (
                ("LinearSVC", LinearSVC),
                ("DualLinearSVC", DualLinearSVC),
            ):
                model = make(C=LARGE_C, loss=loss, tol=1e-6, max_iter=n_passes, random_state=0)
                fit = partial(fit_columns, X, Y, model)
                if not runs:
                    fit()  # compiles
                best, found = take_turns({label: fit}, ROUNDS)
                objective = sum_objectives(X, Y, LARGE_C, found[label], loss)
                runs.append((label, n_passes, best[label], objective))
        lowest = min(objective for *_, objective in runs)
        print(f"\n{name}, {loss}, C={LARGE_C:g}: {X.shape[0]:,} documents")
        print(f"{'':16}{'max_iter':>9}{'seconds':>9}{'objective':>12}")
        for label, n_passes, seconds, objective in sorted(runs):
            row = f"{label:16}{n_passes:9,}{seconds:9.3f}{objective / lowest:12.6f}"
            print(row, flush=True)


def fit_columns(X: sparse.csr_matrix, Y: np.ndarray, model: Any) -> Weights:
    """Return the weights of a model fitted on each column on its own."""
    fitted = [clone(model).fit(X, column) for column in Y.T]
    return [model.coef_ for model in fitted], [model.intercept_ for model in fitted]


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
    modes = {
        "memory": (compare_memory, "measure memory instead of time"),
        "prior": (compare_priors, "compare fits with and without one"),
        "large": (compare_large, "compare objectives over time at a large C"),
    }
    for mode, (compare, about) in modes.items():
        parser.add_argument(
            f"--{mode}", action="store_const", const=compare, dest="run", help=about
        )
    warnings.simplefilter("ignore", ConvergenceWarning)
    (parser.parse_args().run or compare_times)()
