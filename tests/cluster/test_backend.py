"""What goes through joblib runs on the workers of a cluster unchanged, and gives the same."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV

from spokeshave import (
    DocumentVectorizer,
    DualLinearSVC,
    ShavedSVC,
    feature_curve,
    learning_curve,
    rank_features,
    tune_C,
)

ON_WORKERS = {"learning curve", "tuning", "grid search"}  # others stay where memory is shared


def trace(X, y, n_jobs):
    return feature_curve(X, y, cv=3, cuts=(0.1, 1.0), n_jobs=n_jobs, random_state=0).auc


def grow(X, y, n_jobs):
    options = {"sizes": (0.5, 1.0), "cv": 2, "Cs": [0.1, 1.0], "tune_cv": 2}
    svc = DualLinearSVC()
    return learning_curve(svc, X, y, **options, n_jobs=n_jobs, random_state=0).values["auc"]


def search(X, y, n_jobs):
    grid = {"n_features": [0.2, 0.6]}
    model = ShavedSVC(final="mask", random_state=0)
    return GridSearchCV(model, grid, cv=2, n_jobs=n_jobs).fit(X, y).cv_results_["mean_test_score"]


JOBS = {
    "curve": trace,
    "learning curve": grow,
    "grid search": search,
    "tuning": lambda X, y, n_jobs: (
        tune_C(
            DualLinearSVC(n_jobs=n_jobs, random_state=0), X, y == "class 1", Cs=[0.1, 1.0], cv=2
        ).scores
    ),
    "ranking": lambda X, y, n_jobs: (
        rank_features(X, y, "perceptron", n_jobs=n_jobs, random_state=0).scores
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_jobs_give_the_same_on_a_cluster(client, collection, name):
    X, y = DocumentVectorizer().fit_transform(collection.texts), np.array(collection.labels)
    expected = JOBS[name](X, y, 1)
    before = count_tasks(client)
    with parallel_config("dask", client=client):
        found = JOBS[name](X, y, 2)
    np.testing.assert_array_equal(found, expected)
    assert (count_tasks(client) > before) == (name in ON_WORKERS)


def test_texts_become_rows_on_a_cluster(client, collection):
    expected = DocumentVectorizer().fit_transform(collection.texts)
    with parallel_config("dask", client=client):
        found = DocumentVectorizer(n_jobs=2).fit_transform(collection.texts)
    assert (found != expected).nnz == 0


def count_tasks(client):
    """Return how many tasks the workers have done."""
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
