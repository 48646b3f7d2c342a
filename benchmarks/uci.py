"""AUC on the UCI tables of Forman, Scholz and Rajaram: shaped features against normalised ones.

Every class of 50 cases or more against the rest, 10-fold cross-validation, C tuned inside by 5-fold
cross-validation; AUC of each fold, averaged over folds and classes. Run with names of sets, or none
for the nine smaller ones; ``--train 1000`` trains on so many cases at most.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from contest import N_THREADS, find_data
from spokeshave import DualLinearSVC, FeatureShaper, LocalProbabilityShaper, learning_curve
from spokeshave.corpus import read_arff

SMALLER = ["credit-g", "diabetes", "ecoli", "glass", "iris", "sonar", "vehicle", "vowel", "wine"]
FEWEST = 50
SEED = 0


def make_methods() -> dict[str, TransformerMixin]:
    """Return what comes before the SVM, by name."""
    log_odds = {"output": "log_odds", "random_state": SEED}
    kept = {"scale": "center", "norm": None, "keep_raw": True}
    chosen = LocalProbabilityShaper(n_neighbors="auto", **log_odds)
    crossed = LocalProbabilityShaper(n_neighbors="auto", cross_fit=True, **log_odds)
    return {
        "baseline": MinMaxScaler(),
        "scaling": FeatureShaper(shape=None),
        "shaping": FeatureShaper(),
        "cross-fitted": FeatureShaper(
            shape=LocalProbabilityShaper(cross_fit=True, random_state=SEED)
        ),
        "beside raw": FeatureShaper(shape=chosen, **kept),
        "beside raw, cross-fitted": FeatureShaper(shape=crossed, **kept),
    }


def load_table(name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return a table, its labels, and the classes that are tasks: the rarer one of two."""
    path = find_data() / "uci" / f"{name}.arff"
    table = read_arff(path, target="class" if name == "wine" else None)
    count = Counter(table.labels)
    tasks = [label for label, size in count.items() if size >= FEWEST]
    if len(count) == 2:
        tasks = [min(count, key=count.__getitem__)]
    return np.asarray(table.X), np.array(table.labels), sorted(tasks)


def measure_auc(before: TransformerMixin, name: str, n_train: int | None) -> np.ndarray:
    """Return the AUC of each task and fold."""
    X, labels, tasks = load_table(name)
    size = 1.0 if n_train is None or n_train > 0.9 * len(labels) else n_train
    curves = [
        learning_curve(
            make_pipeline(before, DualLinearSVC(random_state=SEED)),
            X,
            labels == task,
            sizes=[size],
            scoring="roc_auc",
            random_state=SEED,
            n_jobs=N_THREADS,
        )
        for task in tasks
    ]
    return np.array([curve.values["auc"][0, :, 0] for curve in curves])


def main() -> None:
    """Print the mean AUC of each method on each set, and what it differs from the baseline."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SMALLER)
    parser.add_argument("--train", type=int, help="cases to train on at most")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("mean AUC, difference from the baseline ± standard error over folds, tasks won-lost")
    for name in options.sets:
        base = None
        for method, before in make_methods().items():
            auc = measure_auc(before, name, options.train)
            base = auc if base is None else base
            gain = (auc - base).mean(axis=0)
            won, lost = ((sign * (auc - base).mean(axis=1) > 1e-4).sum() for sign in (1, -1))
            error = gain.std(ddof=1) / np.sqrt(gain.size)
            print(
                f"{name:10} {method:25} {auc.mean():.4f}  {gain.mean():+.4f} ± {error:.4f}  "
                f"{won}-{lost}",
                flush=True,
            )


if __name__ == "__main__":
    main()
