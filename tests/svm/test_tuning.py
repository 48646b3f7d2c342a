from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from spokeshave import DualLinearSVC, tune_C
from spokeshave.svm.tuning import choose_best, deal_folds, is_settled, take_middle

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


@settings(deadline=None)
@given(st.lists(st.sampled_from(["ash", "elm", "oak"]), min_size=2, max_size=40), st.integers(2, 7))
def test_each_label_is_dealt_out_evenly(labels, n_folds):
    folds = deal_folds(np.array(labels), n_folds)
    in_turn = sorted(range(len(labels)), key=lambda i: labels[i])
    assert len(folds) == min(n_folds, len(labels))
    for part, (train, test) in enumerate(folds):
        assert test.tolist() == sorted(in_turn[part::n_folds])
        assert sorted([*train, *test]) == list(range(len(labels)))
    for label in set(labels):
        counts = [sum(labels[i] == label for i in test) for _, test in folds]
        assert max(counts) - min(counts) <= 1


def test_folds_depend_on_nothing_but_labels_and_their_order():
    names = np.array(["oak", "ash", "oak", "elm", "ash", "oak"])
    codes = np.unique(names, return_inverse=True)[1]
    for one, other in zip(deal_folds(names, 3), deal_folds(codes, 3), strict=True):
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize(
    ("y", "Cs", "expected"),
    [
        ([0, 1, 0, 1], (1.0, 2.0), False),
        ([0, 1, 0, 0], (1.0, 2.0), True),
        ([0, 1, 1, 1], (1.0, 2.0), True),
        ([0, 0, 0, 0], (1.0, 2.0), True),
        ([0, 1, 0, 1], (1.0,), True),
    ],
)
def test_a_choice_needs_two_values_and_two_documents_of_a_class(y, Cs, expected):
    assert is_settled(np.array(y), Cs) is expected


@pytest.mark.parametrize(
    ("Cs", "expected"), [((3.0,), 3.0), ((1.0, 2.0), 1.0), ((1.0, 2.0, 3.0), 2.0)]
)
def test_the_middle_value_is_the_smaller_of_two(Cs, expected):
    assert take_middle(Cs) == expected


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([[0.1, 0.3, 0.2], [0.1, 0.3, 0.9]], 3.0),
        ([[0.1, 0.3, 0.3]], 2.0),
        ([[0.1, 0.7, 0.6], [np.nan, np.nan, np.nan]], 2.0),
        ([[np.nan, np.nan, np.nan]], 1.0),
        ([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]], 1.0),
    ],
    ids=["mean", "tie", "unknown_fold", "nothing_known", "tie_but_for_rounding"],
)
def test_the_best_mean_over_known_folds_is_chosen(scores, expected):
    assert choose_best((1.0, 2.0, 3.0), scores) == expected
