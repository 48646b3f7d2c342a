"""Fast fits of one class, against DualLinearSVC."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from made_up import make_text
from spokeshave import DualLinearSVC
from spokeshave.svm.binary import check_rows, is_plain, prepare, solve_path, train_and_score

TIGHT = {"tol": 1e-12, "max_iter": 100_000, "random_state": 0}
CS = (0.01, 0.1, 2.0)
MODELS = {
    "hinge": {},
    "squared_hinge": {"loss": "squared_hinge"},
    "balanced": {"class_weight": "balanced"},
    "weights": {"class_weight": {0: 0.3, 1: 2.0}, "loss": "squared_hinge"},
    "no_intercept": {"fit_intercept": False},
    "free_intercept": {"intercept_scaling": 5.0, "C": 3.0},
}


def make_task(kind):
    """Return documents, sparse or as a table, and 1 for those of a class and else 0."""
    if kind == "sparse":
        X, y = make_text()
        return X, (y == 1).astype(np.intp)
    X, y = load_wine(return_X_y=True)
    return scale(X)[::2], (y[::2] == 1).astype(np.intp)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("name", MODELS)
def test_a_path_is_that_of_warm_starts(kind, name):
    X, target = make_task(kind)
    model = DualLinearSVC(**TIGHT, **MODELS[name])
    path = solve_path(prepare(check_rows(X)), target, model, CS, seed=0)
    warm = DualLinearSVC(warm_start=True, **TIGHT, **MODELS[name])
    scores = path.score(X)
    assert scores.shape == (3, len(target))
    for c, C in enumerate(CS):
        warm.set_params(C=C).fit(X, target)
        np.testing.assert_allclose(path.coef[c], warm.coef_[0], atol=1e-5)
        np.testing.assert_allclose(path.intercept[c], warm.intercept_[0], atol=1e-5)
        np.testing.assert_allclose(scores[c], warm.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_values_before_do_not_change_the_optimum(loss):
    X, target = make_task("sparse")
    documents, model = prepare(X), DualLinearSVC(loss=loss, **TIGHT)
    path = solve_path(documents, target, model, CS, seed=0)
    alone = solve_path(documents, target, model, CS[-1:], seed=1)
    np.testing.assert_allclose(path.coef[-1:], alone.coef, atol=1e-5)
    np.testing.assert_allclose(path.intercept[-1:], alone.intercept, atol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_table_and_sparse_rows_have_the_same_optimum(loss):
    X, target = make_task("sparse")
    rows, table = prepare(X), prepare(X.toarray())
    assert table.rows.indices is None
    assert rows.rows.indices is not None
    model = DualLinearSVC(loss=loss, **TIGHT)
    one, other = (solve_path(X, target, model, CS, seed=0) for X in (rows, table))
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-5)
    np.testing.assert_allclose(one.intercept, other.intercept, atol=1e-5)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("probability", [False, True, "training"])
def test_scores_are_those_of_the_estimator(kind, probability):
    X, target = make_task(kind)
    train, test = np.arange(len(target)) % 3 > 0, np.arange(len(target)) % 3 == 0
    model = DualLinearSVC(C=0.5, probability=probability, **TIGHT)
    found = train_and_score(model, prepare(check_rows(X[train])), target[train], X[test])
    model.fit(X[train], target[train])
    if probability:
        expected = model.predict_proba(X[test])[:, 1] - 0.5
    else:
        expected = model.decision_function(X[test])
    assert found.shape == (1, test.sum())
    np.testing.assert_allclose(found[0], expected, atol=1e-5)


def test_a_class_of_one_document_cannot_be_cross_validated():
    X, _ = make_task("sparse")
    target = np.eye(1, X.shape[0], dtype=np.intp)[0]
    with pytest.raises(ValueError, match="probability=True needs two documents of each class"):
        train_and_score(DualLinearSVC(probability=True), prepare(X), target, X)
    model = DualLinearSVC(probability="training", random_state=0)
    assert np.isfinite(train_and_score(model, prepare(X), target, X)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.lil_array, pd.DataFrame])
def test_unknown_values_get_a_sentence(form, value):
    X = np.ones((4, 3))
    X[2, 1] = value
    name = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(ValueError, match=f"Input X contains {name}"):
        check_rows(form(X))


def test_a_full_table_stays_as_it_is():
    X = np.ones((4, 3))
    assert check_rows(X) is X


@pytest.mark.parametrize(("n_filled", "is_table"), [(1, False), (2, False), (3, True), (9, True)])
def test_a_table_of_zeros_is_made_sparse(n_filled, is_table):
    X = np.zeros((1, 10))
    X[0, :n_filled] = 1
    found = check_rows(X)
    assert isinstance(found, np.ndarray if is_table else sparse.csr_matrix)
    np.testing.assert_array_equal(found if is_table else found.toarray(), X)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_documents_stay_sparse_however_full(form):
    found = check_rows(form(np.ones((4, 3))))
    assert isinstance(found, sparse.csr_matrix)
    untidy = sparse.csr_matrix(([1.0, 2.0, 0.0], [0, 0, 1], [0, 3]), shape=(1, 2))
    assert check_rows(untidy).data.tolist() == [3.0]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float64),
        (np.int32, np.float64),
        (bool, np.float64),
        (object, np.float64),
    ],
)
def test_documents_become_floats(dtype, expected):
    assert check_rows(np.ones((3, 2), dtype)).dtype == expected


def test_integers_in_sparse_rows_become_floats():
    assert check_rows(sparse.csr_matrix([[1, 0, 2]])).dtype == np.float64


def test_a_data_frame_is_a_table():
    found = check_rows(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.0]}))
    np.testing.assert_array_equal(found, [[1.0, 0.5], [2.0, 1.0]])
    assert type(found) is np.ndarray


class Other(DualLinearSVC):
    """May do anything."""


def test_a_subclass_of_the_estimator_is_not_plain():
    assert is_plain(DualLinearSVC())
    assert not is_plain(Other())
