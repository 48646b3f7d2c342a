"""scikit-learn's own checks over every estimator.

It has none for transformers of raw text such as DocumentVectorizer and CountVectorizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import spokeshave
from spokeshave import (
    BNSScaler,
    BudgetedSVC,
    DualLinearSVC,
    FeatureShaper,
    LocalProbabilityShaper,
    NormalSelector,
    ShapedSVC,
    ShavedSVC,
    TermWeighter,
    budget_curve,
    choose_representation,
    feature_curve,
    learning_curve,
    prune_features,
    rank_features,
    rank_subsets,
    sparsity_curve,
    stability,
    tune_C,
)
from spokeshave.ranking.criteria import CRITERIA

# Tight enough for the checks that compare two fits to seven digits.
TIGHT = {"tol": 1e-20, "max_iter": 10_000, "random_state": 0}
CLOSE = {"tol": 1e-12, "max_iter": 2000, "random_state": 0}  # for many fits
ESTIMATORS = [
    DualLinearSVC(**TIGHT),
    DualLinearSVC(loss="squared_hinge", **TIGHT),
    DualLinearSVC(probability=True, **CLOSE),
    NormalSelector(DualLinearSVC(**CLOSE), cv=2, random_state=0),
    NormalSelector(DualLinearSVC(**CLOSE), n_features=0.5, by="widrow_hoff"),
    NormalSelector(DualLinearSVC(**CLOSE), nonzeros_per_document=1.5, min_df=0.1),
    ShavedSVC(DualLinearSVC(**CLOSE), cv=2, random_state=0),
    ShavedSVC(DualLinearSVC(**CLOSE), n_features=1.0, final="mask", thresholds="best_f1", cv=2),
    LocalProbabilityShaper(),
    LocalProbabilityShaper(output="log_odds", zero="bin"),
    LocalProbabilityShaper(cross_fit=True, random_state=0),
    LocalProbabilityShaper(n_neighbors="auto", random_state=0),
    TermWeighter(),
    TermWeighter("binary", norm=None),
    TermWeighter("counts", sublinear_tf=True, norm="l1"),
    BNSScaler(),
    BNSScaler(stretch=False, smallest_rate="1/n"),
    FeatureShaper(),
    FeatureShaper(shape=None),
    FeatureShaper(shape="log_odds", scale=None, norm="l1"),
    FeatureShaper(shape="binary"),
    FeatureShaper(keep_raw=True, scale="times_bns"),
    FeatureShaper(shape=None, keep_raw=True),
    ShapedSVC(DualLinearSVC(**CLOSE), norm=None),
    ShapedSVC(DualLinearSVC(**CLOSE)),
]


def expect_failures(estimator: Any) -> dict[str, str]:
    """Return the checks an estimator is known to fail, with the reason."""
    if getattr(estimator, "cross_fit", False):
        cross = "fit_transform is cross-fitted on purpose, as TargetEncoder's is"
        return {"check_transformer_general": cross, "check_transformer_data_not_an_array": cross}
    if isinstance(estimator, ShapedSVC) and estimator.norm is not None:
        ratio = "its data have two features, of which documents of length one keep only the ratio"
        return {"check_classifiers_train": ratio}
    if getattr(estimator, "thresholds", None) == "best_f1":
        undone = "thresholds of the best F1 undo what class weights do to the scores"
        return {"check_class_weight_classifiers": undone}
    if not getattr(estimator, "probability", False):
        return {}
    folds = "weighting a document does not give the random halves that repeating it gives"
    sigmoids = "a sigmoid per class (Platt) may prefer another class than the scores"
    return {
        "check_sample_weight_equivalence_on_dense_data": folds,
        "check_sample_weight_equivalence_on_sparse_data": folds,
        "check_classifiers_train": sigmoids,
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expect_failures)
def test_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


SVM = DualLinearSVC(random_state=0)
REFUSES: dict[str, Callable[[Any, Any], Any]] = {
    "DualLinearSVC": lambda X, y: SVM.fit(X, y),
    "DualLinearSVC with a prior": lambda X, y: DualLinearSVC(prior="bns").fit(X, y),
    "ShavedSVC": lambda X, y: ShavedSVC(cv=2).fit(X, y),
    "NormalSelector": lambda X, y: NormalSelector(cv=2).fit(X, y),
    "NormalSelector of a number": lambda X, y: NormalSelector(n_features=2).fit(X, y),
    "BudgetedSVC": lambda X, y: BudgetedSVC("8GB").fit(X, y),
    "BNSScaler": lambda X, y: BNSScaler().fit(X, y),
    "FeatureShaper with raw features": lambda X, y: FeatureShaper(keep_raw=True).fit(X, y),
    "TermWeighter": lambda X, y: TermWeighter().fit(X),
    "feature_curve": lambda X, y: feature_curve(X, y, cv=2),
    "learning_curve": lambda X, y: learning_curve(SVM, X, y, sizes=(10, 20), cv=2),
    "budget_curve": lambda X, y: budget_curve(X, y, "8GB", X_test=X, y_test=y),
    "stability": lambda X, y: stability(X, y),
    "tune_C": lambda X, y: tune_C(SVM, X, y, cv=2),
    "choose_representation": lambda X, y: choose_representation(sparse.csr_matrix(X), y),
    "rank_subsets": lambda X, y: rank_subsets(X, y),
    **{
        f"rank_features by {by}": lambda X, y, by=by: rank_features(X, y, by)  # type: ignore[misc]
        for by in CRITERIA
    },
}
# They count values, or put them into order.
COPES: dict[str, Callable[[Any, Any], Any]] = {
    "ShapedSVC": lambda X, y: ShapedSVC(SVM).fit(X, y).decision_function(X),
    "FeatureShaper": lambda X, y: FeatureShaper().fit_transform(X, y),
    "LocalProbabilityShaper": lambda X, y: LocalProbabilityShaper().fit_transform(X, y),
    "prune_features": lambda X, y: prune_features(X).kept,
    "sparsity_curve": lambda X, y: sparsity_curve(X, rank_features(X > 0, y, "bns")).nonzeros,
}
NO_NUMBERS = {"DocumentVectorizer", "load_model", "save_model", "paired_test", "precision_at_k"}


def make_huge(largest: float, dtype: type, as_sparse: bool) -> tuple[Any, Any]:
    """Return documents with values up to the largest, of five classes."""
    rng, y = np.random.default_rng(0), np.arange(60) % 5
    X = (rng.random((60, 6)) < 0.5) * rng.uniform(0.5, 1, (60, 6)) * (1 + (y[:, None] == range(6)))
    X = (X / X.max()).astype(dtype) * np.asarray(largest, dtype)
    return (sparse.csr_matrix(X) if as_sparse else X), y


HUGE = pytest.mark.parametrize(
    ("largest", "dtype"), [(1e20, np.float32), (3e38, np.float32), (4e38, float), (1.7e308, float)]
)


@HUGE
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("name", REFUSES)
def test_values_whose_squares_overflow_get_a_sentence(
    name: str, largest: float, dtype: type, as_sparse: bool
) -> None:
    with pytest.raises(ValueError, match=r"^X must have values of at most 1\.8e\+19 in size\. Got"):
        REFUSES[name](*make_huge(largest, dtype, as_sparse))


@HUGE
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("name", COPES)
def test_order_does_not_overflow(name: str, largest: float, dtype: type, as_sparse: bool) -> None:
    found = COPES[name](*make_huge(largest, dtype, as_sparse))
    assert np.isfinite(found.data if sparse.issparse(found) else found).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float32, float])
@pytest.mark.parametrize(
    "model", [SVM, DualLinearSVC(loss="squared_hinge", prior="bns"), BudgetedSVC("8GB")]
)
def test_the_largest_values_allowed_have_finite_weights(model: Any, dtype: type) -> None:
    X, y = make_huge(1.8e19, dtype, as_sparse=True)
    model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.coef_.any(axis=1).all()


def test_every_public_name_that_reads_numbers_is_tried() -> None:
    tried = {name.split(" ")[0] for name in (*REFUSES, *COPES)} | NO_NUMBERS
    readers = {
        name
        for name in spokeshave.__all__
        if callable(found := getattr(spokeshave, name))
        and (not isinstance(found, type) or hasattr(found, "fit"))
    }
    assert tried == readers
