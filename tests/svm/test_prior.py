"""The prior of the weights, against the SVM on features that are multiplied by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm
from sklearn.base import clone
from sklearn.svm import LinearSVC

from made_up import TIGHT, keep, make_targets, make_text
from spokeshave import (
    DualLinearSVC,
    NormalSelector,
    ShavedSVC,
    feature_curve,
    learning_curve,
    stability,
    tune_C,
)
from spokeshave.svm.prior import _find_quantiles
from spokeshave.utils.validation import binarize, check_targets

LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
KINDS = pytest.mark.parametrize("kind", ["binary", "labels", "multilabel"])


def separate(X, positive, strength=1.0, weight=None):
    """Return the standard deviations of the prior by the definition of Bi-Normal Separation."""
    X, weight = X.toarray(), np.ones(X.shape[0]) if weight is None else weight
    n, squares = weight.sum(), (weight[:, None] * X**2).sum(axis=0)
    tpr, fpr = (
        np.clip(weight[chosen] @ (X[chosen] != 0) / weight[chosen].sum(), 1 / n, 1 - 1 / n)
        for chosen in (positive, ~positive)
    )
    found = np.abs(norm.ppf(tpr) - norm.ppf(fpr)) ** strength
    return found * np.sqrt(squares.sum() / (squares @ found**2))


def find_columns(y):
    """Return a column of booleans for each row of the model."""
    return binarize(check_targets(y))[1].toarray().T > 0


@LOSSES
@KINDS
@pytest.mark.parametrize("strength", [0.5, 1.0])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_weights_are_liblinears_on_multiplied_features(kind, loss, strength, is_weighted, rng):
    X, y = make_targets(kind)
    weight = rng.integers(0, 4, X.shape[0]).astype(float) if is_weighted else np.ones(X.shape[0])
    model = DualLinearSVC(prior="bns", prior_strength=strength, loss=loss, **TIGHT)
    model.fit(X, y, sample_weight=weight if is_weighted else None)
    for k, positive in enumerate(find_columns(y)):
        deviation = separate(X, positive, strength, weight)
        theirs = LinearSVC(loss=loss, tol=1e-10, max_iter=1_000_000, random_state=0)
        theirs.fit(sparse.csr_matrix(X.multiply(deviation)), positive, sample_weight=weight)
        np.testing.assert_allclose(model.coef_[k], theirs.coef_[0] * deviation, atol=1e-4)
        assert model.intercept_[k] == pytest.approx(theirs.intercept_[0], abs=1e-4)
    assert (model.duality_gap_ <= model.tol * model.objective_).all()


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 1000),
    is_binary=st.booleans(),
    n_classes=st.integers(2, 6),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
    is_shared=st.booleans(),
    class_weight=st.sampled_from([None, "balanced"]),
    intercept=st.booleans(),
)
def test_an_array_multiplies_the_features(
    seed, is_binary, n_classes, loss, is_shared, class_weight, intercept
):
    X, y = make_text(n_classes, is_binary=is_binary, seed=seed)
    n_rows = 1 if n_classes == 2 else n_classes
    deviation = np.random.default_rng(seed).uniform(0, 3, (n_rows, X.shape[1])).round(2)
    if is_shared:
        deviation[:] = deviation[0]
    options = {"loss": loss, "class_weight": class_weight, "fit_intercept": intercept, **TIGHT}
    model = DualLinearSVC(prior=deviation[0] if is_shared else deviation, **options).fit(X, y)
    for k, positive in enumerate(find_columns(y)):
        box = options | {"class_weight": None}
        if class_weight:
            sizes = np.bincount(y)
            factor = len(y) / (n_classes * sizes[(k + 1) if n_classes == 2 else k])
            rest = len(y) / (2 * sizes[0]) if n_classes == 2 else 1.0
            box["class_weight"] = {False: rest, True: factor}
        multiplied = sparse.csr_matrix(X.multiply(deviation[k]))
        alone = DualLinearSVC(**box).fit(multiplied, positive)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0] * deviation[k], atol=1e-3)
        assert model.objective_[k] == pytest.approx(alone.objective_[0], rel=1e-6)
    assert not model.coef_[deviation == 0].any()


@LOSSES
@KINDS
def test_a_prior_of_ones_changes_nothing(kind, loss):
    X, y = make_targets(kind)
    model = DualLinearSVC(loss=loss, random_state=0).fit(X, y)
    for options in ({"prior": np.ones(X.shape[1])}, {"prior": "bns", "prior_strength": 0}):
        again = DualLinearSVC(loss=loss, random_state=0, **options).fit(X, y)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        np.testing.assert_array_equal(again.intercept_, model.intercept_)
        assert (again.dual_coef_ != model.dual_coef_).nnz == 0


def test_a_class_that_nothing_separates_has_a_prior_of_ones():
    X, _ = make_text()
    y = np.zeros((X.shape[0], 2), int)
    y[::2, 1] = 1
    model = DualLinearSVC(prior="bns", **TIGHT).fit(X, y)
    without = DualLinearSVC(**TIGHT).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], without.coef_[0], atol=1e-6)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.integers(0, 9) | st.floats(0, 9), min_size=1, max_size=12),
    st.sampled_from([0.05, 0.3, 0.5]),
)
def test_a_table_of_counts_has_the_same_quantiles(counts, smallest):
    counts = np.array(counts, float)
    expected = norm.ppf(np.clip(counts / 9, smallest, 1 - smallest))
    np.testing.assert_allclose(_find_quantiles(counts, 9.0, smallest), expected, atol=1e-12)


def test_weights_follow_from_the_dual():
    X, y = make_text(5)
    model = DualLinearSVC(prior="bns", **TIGHT).fit(X, y)
    for k, positive in enumerate(find_columns(y)):
        expected = (model.dual_coef_[[k]] @ X).toarray()[0] * separate(X, positive) ** 2
        np.testing.assert_allclose(model.coef_[k], expected, rtol=1e-5, atol=1e-8)


def test_threads_and_warm_starts_do_not_matter():
    X, y = make_text(9)
    model = DualLinearSVC(prior="bns", **TIGHT).fit(X, y)
    threaded = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(threaded.coef_, model.coef_)
    warm = clone(model).set_params(C=0.3, warm_start=True).fit(X, y).set_params(C=1.0).fit(X, y)
    np.testing.assert_allclose(warm.coef_, model.coef_, atol=1e-4)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("method", ["mask", "sv_set", "exact", "warm"])
def test_cuts_keep_the_prior_of_the_whole_model(method, unit):
    X, y = make_text(4)
    svc, cuts = DualLinearSVC(prior="bns", **TIGHT), (0.1, 0.4)
    model = clone(svc).fit(X, y)
    for cut in cuts:
        shaved = ShavedSVC(svc, n_features=cut, final=method, renormalize=unit).fit(X, y)
        for k, positive in enumerate(find_columns(y)):
            order = np.argsort(-np.abs(model.coef_[k]), kind="stable")
            kept = order[: round(cut * np.count_nonzero(model.coef_[k]))]
            masked, deviation = keep(X, kept, unit), separate(X, positive)
            expected = np.zeros(X.shape[1])
            if method == "mask":
                expected[kept] = model.coef_[k, kept]
            elif method == "sv_set":
                expected = (model.dual_coef_[[k]] @ masked).toarray()[0] * deviation**2
            else:
                alone = DualLinearSVC(prior=deviation, **TIGHT).fit(masked, positive)
                expected = alone.coef_[0]
            np.testing.assert_allclose(shaved.coef_[k], expected, atol=1e-3)


def test_curves_of_folds_use_the_prior_of_their_documents():
    X, y = make_text(3, n=120)
    svc = DualLinearSVC(prior="bns", **TIGHT)
    train, test = np.arange(80), np.arange(80, 120)
    methods = ["mask", "sv_set", "exact", "warm", "rfe"]
    curves = feature_curve(
        X, y, cv=[(train, test)], method=methods, estimator=svc, cuts=(0.3, 1.0), renormalize=False
    )
    model = clone(svc).fit(X[train], y[train])
    for method, curve in zip(methods, curves, strict=True):
        alone = feature_curve(
            X[train],
            y[train],
            X_test=X[test],
            y_test=y[test],
            method=method,
            estimator=model,
            cuts=(0.3, 1.0),
            renormalize=False,
        )
        np.testing.assert_allclose(curve.auc, alone.auc, atol=1e-6)


def test_everything_that_takes_an_svm_takes_its_prior():
    X, y = make_text(3, n=120)
    svc = DualLinearSVC(prior="bns", random_state=0)
    coef = clone(svc).fit(X, y).coef_
    selector = NormalSelector(svc, n_features=10).fit(X, y)
    top = np.sort(np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:10])
    np.testing.assert_array_equal(np.flatnonzero(selector.get_support()), top)
    at_all = stability(X, y, estimator=svc, cuts=(0.5, 1.0), renormalize=False).cosine[:, 1]
    np.testing.assert_allclose(at_all, 1, atol=1e-3)  # retrained with the same prior
    plain = tune_C(clone(svc).set_params(prior=None), X, y, cv=3)
    assert (tune_C(svc, X, y, cv=3).scores != plain.scores).any()


def test_one_class_alone_has_its_prior():
    X, y = make_text(2)
    curves = [
        learning_curve(
            DualLinearSVC(prior=prior, random_state=0), X, y, sizes=[0.5, 1.0], random_state=0
        ).values["auc"]
        for prior in (None, "bns")
    ]
    assert (curves[0] != curves[1]).any()


def test_probabilities_know_nothing_of_the_other_half():
    X, y = make_text(2, n=200, d=400, chances=(0.01, 0.03))
    noise = np.random.default_rng(0).integers(0, 2, y.size)
    model = DualLinearSVC(prior="bns", probability=True, random_state=0).fit(X, noise)
    assert model.predict_proba(X)[:, 1].std() < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "idf"}, "prior must be None, 'bns' or an array. Got 'idf'"),
        ({"prior": ["a"]}, "prior must be None, 'bns' or an array. Got"),
        ({"prior": np.ones(3)}, r"prior must have shape \(40,\) or \(3, 40\). Got \(3,\)"),
        ({"prior": -np.ones(40)}, "prior must not be negative, infinite or NaN"),
        ({"prior": np.full(40, np.nan)}, "prior must not be negative, infinite or NaN"),
        ({"prior": "bns", "prior_strength": -1}, "prior_strength must not be negative. Got -1"),
        ({"prior": "bns", "prior_strength": "x"}, "prior_strength must not be negative. Got 'x'"),
    ],
)
def test_bad_priors_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DualLinearSVC(**options).fit(*make_text())
