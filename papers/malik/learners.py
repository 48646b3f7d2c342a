"""The linear SVM and other classifiers on all features, a comparison that the paper cites."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import binarize

from papers.datasets import Split
from papers.malik import common
from papers.results import measure_scores, to_json
from papers.study import Results, Setting, Task

SVM = "linear SVM"
N_NEIGHBORS = 30
COSTS = {
    SVM: 1,
    "naive Bayes": 2,
    "perceptron": 4,
    "least squares": 5,
    "logistic regression": 15,
    "nearest neighbours": 8,
}


def list_tasks(setting: Setting) -> Iterator[Task]:
    """Yield a task for each classifier."""
    yield from common.list_descriptions(setting)
    for where in common.list_collections(setting):
        for name, cost in COSTS.items():
            if not setting.is_quick or cost < 3:
                task = f"learn-{where['collection']}-{name.replace(' ', '-')}"
                yield Task(task, learn, {**where, "classifier": name}, cost=cost)


def learn(data: Path, *, collection: str, largest: int | None, classifier: str) -> dict[str, Any]:
    """Train one classifier on all features, every class against the rest, and measure."""
    split = common.load(data, collection, largest)
    if classifier == SVM:
        model = common.fit_whole(data, collection, largest)
        scores, decisions = model.decision_function(split.X_test), model.predict(split.X_test)
    elif classifier == "nearest neighbours":
        scores = _count_neighbours(split)
        decisions = scores > 0.5
    else:
        scores, decisions = _learn_each(split, classifier)
    return {
        "collection": collection,
        "classifier": classifier,
        **{
            name: to_json(values, common.DIGITS)
            for name, values in _measure(split, scores, decisions).items()
        },
    }


def _learn_each(split: Split, classifier: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return scores and decisions (documents x classes) of scikit-learn's classifiers."""
    X, X_test = split.X, split.X_test
    if classifier == "naive Bayes":  # its smoothing assumes counts and would swamp normalised rows
        X, X_test = binarize(X), binarize(X_test)
    scores, decisions = [], []
    for y in split.Y.T:
        model: Any = {
            "naive Bayes": MultinomialNB(),
            "perceptron": Perceptron(random_state=common.SEED),
            "least squares": RidgeClassifier(random_state=common.SEED),
            "logistic regression": LogisticRegression(solver="liblinear", random_state=common.SEED),
        }[classifier].fit(X, y)
        if hasattr(model, "decision_function"):
            scores.append(model.decision_function(X_test))
        else:
            scores.append(model.predict_joint_log_proba(X_test) @ [-1, 1])
        decisions.append(model.predict(X_test))
    return np.column_stack(scores), np.column_stack(decisions)


def _count_neighbours(split: Split) -> NDArray[Any]:
    """Return the share of each class among the nearest documents."""
    model = KNeighborsClassifier(N_NEIGHBORS, weights="uniform", algorithm="brute", n_jobs=1)
    nearest = model.fit(split.X, split.Y).kneighbors(split.X_test, return_distance=False)
    return np.asarray(split.Y[nearest].mean(axis=1))


def _measure(split: Split, scores: NDArray[Any], decisions: NDArray[Any]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in common.MEASURES}
    for truth, score, decision in zip(split.Y_test.T, scores.T, decisions.T, strict=True):
        auc, best_f1 = measure_scores(truth, score)
        found["best_f1"].append(best_f1)
        found["f1"].append(float(f1_score(truth, decision, zero_division=0)))
        found["auc"].append(auc)
    return found


def tabulate_learners(results: Results) -> dict[str, pl.DataFrame]:
    """Return the table of this part: each classifier against the SVM."""
    compared = common.tabulate(common.compare_all(results, "classifier", SVM))
    return {"learners": compared.select("collection", "classes", "classifier", *common.COMPARED)}
