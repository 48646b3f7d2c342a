"""scikit-learn's own checks over every estimator.

It has none for transformers of raw text such as DocumentVectorizer and CountVectorizer.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spokeshave import DualLinearSVC, NormalSelector, ShavedSVC

# Tight enough for the checks that compare two fits to seven digits.
TIGHT = {"tol": 1e-20, "max_iter": 10_000, "random_state": 0}
ESTIMATORS = [
    DualLinearSVC(**TIGHT),
    DualLinearSVC(loss="squared_hinge", **TIGHT),
    DualLinearSVC(probability=True, **TIGHT),
    NormalSelector(DualLinearSVC(**TIGHT), cv=2, random_state=0),
    NormalSelector(DualLinearSVC(**TIGHT), n_features=0.5, by="widrow_hoff"),
    ShavedSVC(DualLinearSVC(**TIGHT), cv=2, random_state=0),
    ShavedSVC(DualLinearSVC(**TIGHT), n_features=1.0, final="mask", thresholds="best_f1", cv=2),
]


def expect_failures(estimator: Any) -> dict[str, str]:
    """Return the checks an estimator is known to fail, with the reason."""
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
