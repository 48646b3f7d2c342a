from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from spokeshave import DualLinearSVC, tune_C

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_scores_are_those_of_a_grid_search(iris, scoring):
    model = DualLinearSVC(tol=1e-8, max_iter=1_000_000, random_state=0)
    Cs = [1.0, 0.01, 0.1]
    tuning = tune_C(model, *iris, Cs=Cs, cv=FOLDS, scoring=scoring)
    search = GridSearchCV(model, {"C": sorted(Cs)}, cv=FOLDS, scoring=scoring).fit(*iris)
    assert tuning.Cs == (0.01, 0.1, 1.0)
    assert search.best_params_["C"] == tuning.C
    for fold in range(5):
        expected = search.cv_results_[f"split{fold}_test_score"]
        np.testing.assert_allclose(tuning.scores[:, fold], expected)
    assert not hasattr(model, "coef_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_papers_values_are_the_default(iris):
    tuning = tune_C(DualLinearSVC(tol=1e-2, random_state=0), *iris)
    assert tuning.Cs == (0.01, 0.1, 1.0, 10.0, 100.0)
    assert tuning.scores.shape == (5, 5)


def test_multilabel_targets(rng):
    X = rng.normal(size=(60, 5))
    Y = (X[:, :3] > 0).astype(int)
    model = DualLinearSVC(random_state=0)
    assert tune_C(model, X, Y, Cs=[1e-4, 1.0], scoring="f1_macro").C == 1.0


def test_labels_may_be_a_list_of_strings(iris):
    X, y = iris
    names = ["abc"[label] for label in y]
    expected = tune_C(DualLinearSVC(random_state=0), X, y, Cs=[0.01, 0.1])
    found = tune_C(DualLinearSVC(random_state=0), X.tolist(), names, Cs=[0.01, 0.1])
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_labels_and_rows_of_different_length(iris):
    X, y = iris
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        tune_C(DualLinearSVC(), X, y[:-1])


def test_no_values_is_an_error(iris):
    with pytest.raises(ValueError, match=r"Cs must hold at least one value"):
        tune_C(DualLinearSVC(), *iris, Cs=[])
