"""Retraining cut by cut against fits from nothing, ours and LIBLINEAR's."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

import made_up
from made_up import keep
from spokeshave import DualLinearSVC, feature_curve
from spokeshave.curves.retraining import PATHS, ignore_features, retrain
from spokeshave.kernels.cuts import transpose
from spokeshave.kernels.descent import Task
from spokeshave.kernels.rows import make_rows
from spokeshave.svm.solver import Stop

TIGHT = {"tol": 1e-10, "max_iter": 10_000_000, "random_state": 0}
STOP = Stop(TIGHT["tol"], TIGHT["max_iter"])
ENDS = np.array([3, 12, 25])
make_text = partial(made_up.make_text, 2, n=60, chances=(0.05, 0.4))
PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)


def lay_out(X):
    return make_rows(X.indptr, X.indices, X.data, np.ones(X.shape[0]))


def pose(y, C=1.0, loss="hinge", factors=(1.0, 1.0)):
    """Return the task of labels 0 and 1, whose costs are C times the factors."""
    cost = C * np.array(factors)
    if loss == "hinge":
        return Task((2 * y - 1).astype(np.int8), cost, np.zeros(2))
    return Task((2 * y - 1).astype(np.int8), np.full(2, np.inf), 0.5 / cost)


def walk(X, task, order, *, path="warm", ends=ENDS, beta=None, unit=True, bias=1.0, rows=None):
    """Return the solutions of the smallest cut first."""
    rows = lay_out(X) if rows is None else rows
    beta = np.zeros(X.shape[0]) if beta is None else beta
    order = np.asarray(order, np.uint32)
    columns = transpose(rows, X.shape[1])
    found = retrain(rows, columns, task, bias, order, ends, beta, PATHS[path], unit, STOP, seed=0)
    return list(found)[::-1]


def spread(found, n_features):
    weights = np.zeros(n_features)
    weights[found.features] = found.weights
    return weights


@pytest.mark.parametrize("path", ["warm", "exact"])
@PROPERTY
@given(
    seed=st.integers(0, 1000),
    is_binary=st.booleans(),
    unit=st.booleans(),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
    C=st.sampled_from([0.1, 1.0, 5.0]),
    factors=st.sampled_from([(1.0, 1.0), (0.5, 3.0)]),
    bias=st.sampled_from([0.0, 1.0, 9.0]),
)
def test_every_cut_reaches_the_optimum(path, seed, is_binary, unit, loss, C, factors, bias):
    X, y = make_text(is_binary=is_binary, seed=seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    task = pose(y, C, loss, factors)
    found = walk(X, task, order, path=path, unit=unit, bias=bias)
    for end, at in zip(ENDS, found, strict=True):
        masked = keep(X, order[:end], unit)
        model = DualLinearSVC(
            C=C,
            loss=loss,
            class_weight=dict(enumerate(factors)),
            fit_intercept=bias > 0,
            intercept_scaling=max(bias, 1.0) ** 0.5,
            **TIGHT,
        ).fit(masked, y)
        np.testing.assert_array_equal(at.features, order[:end])
        assert at.gap <= STOP.tol * at.objective
        assert at.objective == pytest.approx(model.objective_[0], rel=1e-9)
        np.testing.assert_allclose(spread(at, X.shape[1]), model.coef_[0], atol=1e-3)
        assert at.intercept == pytest.approx(model.intercept_[0], abs=1e-3)
        assert (at.beta * task.y >= 0).all()
        assert (at.beta * task.y <= np.where(y == 1, *task.box[::-1])).all()
        accuracy = 1e-10 if at.weights.any() else 1e-5  # of weights that are set to zero
        np.testing.assert_allclose(at.beta @ masked, spread(at, X.shape[1]), atol=accuracy)
        assert at.intercept == pytest.approx(bias * at.beta.sum(), abs=accuracy)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("path", ["warm", "exact"])
def test_weights_are_liblinears(path, unit, rng):
    X, y = make_text()
    order = rng.permutation(X.shape[1])
    for end, at in zip(ENDS, walk(X, pose(y), order, path=path, unit=unit), strict=True):
        masked = keep(X, order[:end], unit)
        theirs = LinearSVC(loss="hinge", tol=1e-10, max_iter=1_000_000, random_state=0)
        theirs.fit(masked, y)
        np.testing.assert_allclose(spread(at, X.shape[1]), theirs.coef_[0], atol=1e-4)
        assert at.intercept == pytest.approx(theirs.intercept_[0], abs=1e-4)


def test_everything_kept_is_the_model_it_started_from():
    X, y = make_text()
    model = DualLinearSVC(**TIGHT).fit(X, y)
    start = model.dual_coef_.toarray().ravel()
    (at,) = walk(X, pose(y), np.arange(40), ends=np.array([40]), beta=start, unit=False)
    np.testing.assert_allclose(at.weights, model.coef_[0], atol=1e-4)
    assert at.objective <= model.objective_[0] * (1 + 1e-9)


def read_arrays(rows):
    return [None if field is None else field.tolist() for field in rows]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("is_binary", [True, False])
def test_rows_and_the_dual_to_start_from_stay_as_they_are(path, is_binary, rng):
    X, y = make_text(is_binary=is_binary)
    rows = lay_out(X)
    assert (rows.data is None) == is_binary
    before = read_arrays(rows)
    start = np.zeros(X.shape[0])
    walk(X, pose(y), rng.permutation(40), path=path, beta=start, rows=rows)
    assert read_arrays(rows) == before
    assert not start.any()


@pytest.mark.parametrize("path", PATHS)
def test_solutions_do_not_change_when_the_walk_goes_on(path, rng):
    X, y = make_text()
    rows, order = lay_out(X), rng.permutation(40).astype(np.uint32)
    columns, path = transpose(rows, 40), PATHS[path]
    steps = retrain(
        rows, columns, pose(y), 1.0, order, ENDS, np.zeros(60), path, True, STOP, seed=0
    )
    first = next(steps)
    before = [first.features.tolist(), first.weights.tolist(), first.beta.tolist()]
    list(steps)
    assert [first.features.tolist(), first.weights.tolist(), first.beta.tolist()] == before


def test_exact_cuts_stand_alone(rng):
    X, y = make_text()
    order = rng.permutation(40)
    for end, at in zip(ENDS, walk(X, pose(y), order, path="exact"), strict=True):
        (alone,) = walk(X, pose(y), order, path="exact", ends=np.array([end]))
        np.testing.assert_allclose(at.weights, alone.weights, atol=1e-7)
        np.testing.assert_allclose(at.beta, alone.beta, atol=1e-7)


def test_rfe_keeps_the_heaviest_of_the_cut_before(rng):
    X, y = make_text()
    order = rng.permutation(40)
    found = walk(X, pose(y), order, path="rfe", unit=False)
    np.testing.assert_array_equal(np.sort(found[-1].features), np.sort(order[:25]))
    for end, smaller, larger in zip(ENDS, found, found[1:], strict=False):
        assert (np.diff(np.abs(larger.weights)) <= 0).all()
        assert set(smaller.features) == set(larger.features[:end])
    assert set(found[0].features) != set(order[:3])


def test_equal_cuts_are_equal_solutions(rng):
    X, y = make_text()
    one, two = walk(X, pose(y), rng.permutation(40), ends=np.array([7, 7]))
    np.testing.assert_array_equal(one.features, two.features)
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-4)


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("path", PATHS)
def test_no_feature_at_all_leaves_the_intercept(path, bias):
    X, y = make_text()
    y[:15] = 1  # more of one class, or the intercept would be zero
    (at,) = walk(X, pose(y), [], path=path, ends=np.array([0]), bias=bias)
    assert at.features.size == at.weights.size == 0
    errors = np.array([np.maximum(0, 1 - (2 * y - 1) * b).sum() for b in (0.0, at.intercept)])
    assert at.objective == pytest.approx(errors[1] + 0.5 * at.intercept**2)
    assert (at.intercept > 0) == (bias > 0)
    assert errors[1] < errors[0] or bias == 0


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("method", ["exact", "warm"])
@pytest.mark.parametrize(
    "options",
    [
        {"loss": "squared_hinge"},
        {"class_weight": "balanced"},
        {"C": 0.3},
        {"fit_intercept": False},
        {"intercept_scaling": 5.0},
        {
            "loss": "squared_hinge",
            "class_weight": "balanced",
            "C": 0.3,
            "fit_intercept": False,
            "intercept_scaling": 5.0,
        },
    ],
    ids=str,
)
def test_curves_solve_the_problem_of_the_estimator(options, method, unit):
    X, y = make_text(n=120)
    X, y, X_test, y_test = X[:60], y[:60], X[60:], y[60:] == 1
    X, y = X[:-9], y[:-9].copy()
    y[:12] = 1  # classes of unequal size
    model = DualLinearSVC(**TIGHT, **options).fit(X, y)
    curve = feature_curve(
        X,
        y,
        X_test=X_test,
        y_test=y_test.astype(int),
        method=method,
        estimator=model,
        cuts=ENDS,
        renormalize=unit,
    )
    order = np.argsort(-np.abs(model.coef_[0]), kind="stable")
    for c, end in enumerate(ENDS):
        again = DualLinearSVC(**TIGHT, **options).fit(keep(X, order[:end], unit), y)
        scores = again.decision_function(keep(X_test, order[:end], unit))
        gaps = np.abs(scores[y_test][:, None] - scores[~y_test])
        near = 1e-9 + (gaps < 1e-4).mean()  # pairs whose order is a matter of rounding
        assert curve.auc[0, c] == pytest.approx(roc_auc_score(y_test, scores), abs=near)
        assert np.abs(scores - curve.thresholds[0, c]).min() < 1e-4


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [0.0, 1.0, 9.0, np.inf])
@pytest.mark.parametrize("factors", [(1.0, 1.0), (0.2, 3.0)])
@pytest.mark.parametrize("n_positive", [1, 30, 59])
def test_without_features_the_intercept_is_the_best(loss, bias, factors, n_positive, rng):
    y, weight = np.arange(60) < n_positive, rng.uniform(0.5, 2, 60)
    found = ignore_features(pose(y.astype(int), 0.7, loss, factors), weight, bias)
    cost, sign = 0.7 * weight * np.where(y, factors[1], factors[0]), np.where(y, 1, -1)

    def measure(b):
        slack = np.maximum(0, 1 - sign * b)
        penalty = 0.0 if np.isinf(bias) or bias == 0 else b * b / (2 * bias)
        return penalty + (cost * (slack if loss == "hinge" else slack**2)).sum()

    grid = [0.0] if bias == 0 else np.linspace(-1.2, 1.2, 2401)
    least = min(map(measure, grid))
    assert found.objective == pytest.approx(measure(found.intercept))
    assert least * (1 - 1e-3) <= found.objective <= least * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("path", ["exact", "warm"])
def test_features_that_improve_nothing_have_no_weight(path, loss):
    """The best of the hinge loss is to call all documents negative, whatever the one feature is."""
    rng = np.random.default_rng(0)
    X, y = sparse.csr_matrix(rng.normal(size=(150, 6))), (np.arange(150) % 3 == 0).astype(int)
    stop, rows = Stop(1e-3, 1000), lay_out(X)
    start = DualLinearSVC(loss=loss, random_state=0).fit(X, y).dual_coef_.toarray().ravel()
    for j in range(6):
        order, ends = np.array([j], np.uint32), np.array([1, 1])
        problem = rows, transpose(rows, 6), pose(y, loss=loss), 1.0
        one, two = retrain(*problem, order, ends, start, PATHS[path], False, stop, seed=0)
        assert one is two
        best = LinearSVC(C=1, loss=loss, dual=True, tol=1e-9, max_iter=10**6, random_state=0)
        (expected,) = best.fit(X[:, [j]], y).coef_[0]
        assert one.relative_gap <= 1e-3
        if loss == "hinge":
            assert abs(expected) < 1e-6
            assert (one.weights[0], one.intercept) == (0, -1)
        else:
            assert one.weights[0] == pytest.approx(expected, rel=0.4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_equal_features_give_equal_scores_at_every_cut_and_by_every_path(loss):
    rng = np.random.default_rng(0)
    y = rng.choice(4, 200, p=[0.4, 0.3, 0.2, 0.1])
    X = rng.normal(size=(200, 9)) + 0.3 * np.eye(4, 9)[y]
    curves = feature_curve(
        X,
        y,
        method=("exact", "warm", "rfe"),
        cuts=(0.01, 0.05, 0.1),
        estimator=DualLinearSVC(loss=loss, random_state=0),
    )
    assert (curves[0].n_features == 1).all()
    for curve in curves:
        np.testing.assert_array_equal(curve.auc, curves[0].auc[:, [0, 0, 0]])
