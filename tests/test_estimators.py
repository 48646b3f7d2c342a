"""scikit-learn's own checks over every estimator.

It has none for transformers of raw text such as DocumentVectorizer and CountVectorizer.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spokeshave import (
    BNSScaler,
    DualLinearSVC,
    FeatureShaper,
    LocalProbabilityShaper,
    NormalSelector,
    ShapedSVC,
    ShavedSVC,
    TermWeighter,
)

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
