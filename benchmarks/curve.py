"""feature_curve against retraining scikit-learn's LinearSVC at every cut and class.

For RCV1 and 20 Newsgroups, binary rows of length one and the paper's 13 cuts, it prints the best
time of each contestant and its ratio to the loop over LinearSVC, which masks and re-normalises the
documents, trains, scores the test documents and measures AUC and best F1. The second ratio is to
the training in the loop alone.

--growth    cost of mask as documents, features, classes or cuts double
--paper     time and peak memory on generated data of the size of the whole RCV1
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import precision_recall_curve, roc_auc_score
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from contest import (
    N_THREADS,
    load_newsgroups_split,
    load_rcv1_split,
    take_turns,
)
from generate import make_collection
from memory import read_status, reset_peak
from spokeshave import PAPER_FRACTIONS, DualLinearSVC, FeatureCurve, feature_curve

TOL = 5e-4  # relative duality gap with an objective no worse than LinearSVC's at 1e-2
ROUNDS = 3
LOADERS = {"RCV1": load_rcv1_split, "20 Newsgroups": load_newsgroups_split}
Matrix = sparse.csr_matrix


class Job(NamedTuple):
    """Training and test documents with indicators of their classes."""

    X: Matrix
    Y: np.ndarray
    X_test: Matrix
    Y_test: np.ndarray


class Retrained(NamedTuple):
    """Measures of the loop over LinearSVC (classes x cuts), and its seconds in fit."""

    auc: np.ndarray
    best_f1: np.ndarray
    fit_seconds: float


def load(name: str) -> Job:
    """Return a collection with the classes that have a test document."""
    X, Y, X_test, Y_test = LOADERS[name]("binary")
    known = Y_test.any(axis=0)
    return Job(X, Y[:, known], X_test, Y_test[:, known])


def fit(job: Job) -> DualLinearSVC:
    model = DualLinearSVC(C=1.0, tol=TOL, n_jobs=N_THREADS, random_state=0)
    return model.fit(job.X, job.Y)


def trace(job: Job, method: str, model: DualLinearSVC, **options: Any) -> FeatureCurve:
    return feature_curve(
        job.X,
        job.Y,
        X_test=job.X_test,
        y_test=job.Y_test,
        method=method,
        estimator=model,
        n_jobs=N_THREADS,
        random_state=0,
        **options,
    )


def retrain_linear_svc(job: Job, coef: np.ndarray) -> Retrained:
    """Retrain LinearSVC for every class and cut, given the weights of the first fit."""
    auc, best_f1 = np.empty((2, job.Y.shape[1], len(PAPER_FRACTIONS)))
    fit_seconds = 0.0
    for k, w in enumerate(coef):
        ranked = np.flatnonzero(w)
        order = ranked[np.argsort(-np.abs(w[ranked]), kind="stable")]
        y, y_test = 2 * job.Y[:, k] - 1, job.Y_test[:, k]
        for c, fraction in enumerate(PAPER_FRACTIONS):
            kept = np.sort(order[: max(1, round(fraction * order.size))])
            X, X_test = normalize(job.X[:, kept]), normalize(job.X_test[:, kept])
            start = perf_counter()
            model = LinearSVC(loss="hinge", tol=1e-2, C=1.0, random_state=0).fit(X, y)
            fit_seconds += perf_counter() - start
            scores = model.decision_function(X_test)
            auc[k, c] = roc_auc_score(y_test, scores)
            precision, recall, _ = precision_recall_curve(y_test, scores)
            best_f1[k, c] = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12))
    return Retrained(auc, best_f1, fit_seconds)


def compare_times(name: str) -> None:
    job = load(name)
    model = fit(job)
    small = Job(job.X[:800], job.Y[:800], job.X_test[:99], job.Y_test[:99])
    for method in ("mask", "sv_set", "warm"):
        trace(small, method, fit(small))  # compiles
    loop = "retraining LinearSVC"
    contestants = {
        "fit": partial(fit, job),
        "mask": partial(trace, job, "mask", model),
        "sv_set": partial(trace, job, "sv_set", model),
        "warm": partial(trace, job, "warm", model),
        "exact": partial(trace, job, "exact", model),
        loop: partial(retrain_linear_svc, job, model.coef_),
    }
    best, results = take_turns(contestants, ROUNDS)
    best["fit and mask"] = best["fit"] + best["mask"]
    retrained = results[loop]
    n_classes = job.Y.shape[1]
    print(f"\n{name}: {n_classes} classes x {len(PAPER_FRACTIONS)} cuts, ", end="")
    print(f"{job.X.shape[0]:,} training and {job.X_test.shape[0]:,} test documents")
    print(f"{'':22}{'seconds':>9}{'ratio':>9}{'ratio to its fits alone':>26}")
    for label in (loop, "exact", "warm", "sv_set", "mask", "fit", "fit and mask"):
        ratio, to_fits = best[loop] / best[label], retrained.fit_seconds / best[label]
        print(f"{label:22}{best[label]:9.3f}{ratio:8.1f}x{to_fits:25.1f}x")
    print(f"mask adds {best['mask'] / best['fit']:.1%} to the time of the fit")
    warm, exact = results["warm"].objectives, results["exact"].objectives
    print(
        f"objective of warm: {warm.sum() / exact.sum():.6f} of exact's in sum, "
        f"{(warm / exact).min():.5f} to {(warm / exact).max():.5f} over classes and cuts"
    )
    difference = np.abs(results["exact"].auc - retrained.auc)
    print(f"AUC of exact and of LinearSVC differ by {difference.mean():.6f} on average", flush=True)


def take_part(job: Job, documents: int, features: int, classes: int) -> Job:
    """Return a random part of a job with the given numbers of test documents, features, classes."""
    rng = np.random.default_rng(0)
    words = np.sort(rng.permutation(job.X.shape[1])[:features])
    tested = np.sort(rng.permutation(job.X_test.shape[0])[:documents])
    topics = np.sort(rng.permutation(job.Y.shape[1])[:classes])
    X, X_test = normalize(job.X[:, words]), normalize(job.X_test[:, words])
    return Job(X, job.Y[:, topics], X_test[tested], job.Y_test[tested][:, topics])


def show_growth() -> None:
    """Time mask on a quarter, a half and all of RCV1's test documents, features, classes, cuts."""
    job = load("RCV1")
    whole = {
        "documents": job.X_test.shape[0],
        "features": job.X.shape[1],
        "classes": job.Y.shape[1],
    }
    print(f"\nmask on RCV1, {whole}, 13 cuts")
    for what in (*whole, "cuts"):
        contestants = {}
        for share in (0.25, 0.5, 1.0):
            sizes = {key: int(n * share) if key == what else n for key, n in whole.items()}
            part = take_part(job, **sizes)
            n_cuts = int(52 * share) if what == "cuts" else 13
            cuts = np.linspace(1 / n_cuts, 1, n_cuts)
            contestants[f"{share:.0%}"] = partial(trace, part, "mask", fit(part), cuts=cuts)
        best, _ = take_turns(contestants, 5)
        print(f"{what:10}" + "".join(f"  {k:>4} {v * 1000:6.0f} ms" for k, v in best.items()))


def measure_paper_scale(documents: int, topics: int, n_cuts: int) -> tuple[float, float, float]:
    """Return seconds of the fit and of the curve, and the peak memory of the process in MB."""
    X, Y, X_test, Y_test = make_collection(
        n_train=23_149, n_test=documents, n_features=47_000, n_topics=topics, seed=0
    )
    job = Job(X, Y, X_test, Y_test)
    reset_peak()
    start = perf_counter()
    model = fit(job)
    fitted = perf_counter()
    curve = trace(job, "mask", model, cuts=np.linspace(1 / n_cuts, 1, n_cuts))
    done = perf_counter()
    print(
        f"{documents:9,}{topics:8}{n_cuts:6}{X_test.nnz / documents:8.1f}"
        f"{fitted - start:8.2f}{done - fitted:8.2f}{curve.macro('auc')[-1]:8.3f}",
        end="",
        flush=True,
    )
    return fitted - start, done - fitted, read_status("VmHWM") / 2**20


def show_paper_scale() -> None:
    """Run each size in a new process, so that the peak memory is its own."""
    print("\ngenerated: 23,149 training documents, 47,000 features")
    print(f"{'test':>9}{'topics':>8}{'cuts':>6}{'words':>8}{'fit s':>8}{'curve s':>8}", end="")
    print(f"{'AUC':>8}{'peak MB':>10}")
    for size in (
        (781_265, 101, 13),
        (781_265, 50, 13),
        (781_265, 101, 26),
        (390_632, 101, 13),
    ):
        with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
            peak = fresh.submit(measure_paper_scale, *size).result()[2]
        print(f"{peak:10,.0f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--growth", action="store_true", help="how the cost of mask grows")
    parser.add_argument("--paper", action="store_true", help="the size of the paper's RCV1")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if options.growth:
        show_growth()
    elif options.paper:
        show_paper_scale()
    else:
        for collection in LOADERS:
            compare_times(collection)
