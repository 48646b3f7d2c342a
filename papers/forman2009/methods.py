"""What comes before the SVM in each method, and at which training sizes it is tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, MinMaxScaler, Normalizer

from spokeshave import DualLinearSVC, FeatureShaper, LocalProbabilityShaper
from spokeshave.papers.forman2009 import tables

CURVE = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # shares of the training part of a fold
BEYOND = (0.05, 0.1, 0.2, 1.0)  # for what the paper does not have
EARLY = (0.05, 0.1, 0.2)  # for what explains the left end of the curves
WHOLE = (1.0,)


class Method(NamedTuple):
    """A method: how its steps are made, training sizes, what of the SVM differs, and its cost.

    Attributes
    ----------
    make_steps : function that returns the steps before the SVM
    sizes : training sizes, shares of the training part of a fold
    probability : how the SVM is calibrated; without it cases are ranked by their scores
    scoring : what C is chosen by
    fit_intercept : "free", as the paper's SVM has it (3.1), or True for one that is regularised
    n_folds : folds of the cross-validation that the method is tried in
    cost : how long it takes next to the baseline
    """

    make_steps: Callable[[], tuple[Any, ...]]
    sizes: tuple[float, ...] = CURVE
    probability: bool | str = True
    scoring: str = "accuracy"
    fit_intercept: bool | str = "free"
    n_folds: int = tables.N_FOLDS
    cost: float = 1.0

    def make_estimator(self) -> Pipeline:
        """Return the steps and the SVM; seeds are set by the learning curve."""
        svc = DualLinearSVC(probability=self.probability, fit_intercept=self.fit_intercept)
        return make_pipeline(*self.make_steps(), svc)


def _binarize() -> tuple[Any, ...]:
    return Binarizer(), Normalizer()


def _fit_range() -> tuple[Any, ...]:
    return (MinMaxScaler(),)


def _fit_range_and_norm() -> tuple[Any, ...]:
    return MinMaxScaler(), Normalizer()


def _shape(**options: Any) -> tuple[FeatureShaper]:
    return (FeatureShaper(**options),)


def _cross_fit() -> tuple[FeatureShaper]:
    return _shape(shape=LocalProbabilityShaper(cross_fit=True))


def _take_zero_as_value(**options: Any) -> tuple[FeatureShaper]:
    return _shape(shape=LocalProbabilityShaper(zero="value", **options))


def _narrow() -> tuple[FeatureShaper]:
    return _shape(shape=LocalProbabilityShaper(n_neighbors=2))


def _choose_per_feature() -> tuple[FeatureShaper]:
    """Keep each column beside its log odds, in a neighbourhood chosen for it, cross-fitted."""
    shape = LocalProbabilityShaper(output="log_odds", n_neighbors="auto", cross_fit=True)
    return _shape(shape=shape, scale="center", norm=None, keep_raw=True)


def _weigh_by_idf_and_bns() -> tuple[Any, ...]:
    return (
        Binarizer(),
        TfidfTransformer(norm=None),
        FeatureShaper(shape=None, scale="times_bns"),
    )


TEXT = {
    tables.BASELINE: Method(_binarize),
    tables.SCALING: Method(lambda: _shape(shape="binary"), cost=1.3),
    tables.SHAPING: Method(_shape, cost=1.4),
    tables.TF_IDF: Method(lambda: (TfidfTransformer(),), BEYOND, cost=1.2),
    tables.IDF_AND_BNS: Method(_weigh_by_idf_and_bns, BEYOND, cost=1.5),
    tables.CROSS_FITTED: Method(_cross_fit, BEYOND, cost=2.0),
    tables.BASELINE_NO_PLATT: Method(_binarize, BEYOND, probability=False),
    tables.SHAPING_NO_PLATT: Method(_shape, BEYOND, probability=False, cost=1.4),
    tables.BASELINE_BY_AUC: Method(_binarize, BEYOND, scoring="roc_auc"),
    tables.SHAPING_BY_AUC: Method(_shape, BEYOND, scoring="roc_auc", cost=1.4),
    tables.BASELINE_PRICED: Method(_binarize, BEYOND, fit_intercept=True),
    tables.SHAPING_PRICED: Method(_shape, BEYOND, fit_intercept=True, cost=1.4),
    tables.BASELINE_IN_FOUR: Method(_binarize, WHOLE, n_folds=tables.FEW_FOLDS),
    tables.SHAPING_IN_FOUR: Method(_shape, WHOLE, n_folds=tables.FEW_FOLDS, cost=1.4),
    tables.NO_NORM: Method(lambda: (Binarizer(),), WHOLE),
    tables.COUNTS: Method(lambda: (Normalizer(),), WHOLE),
    tables.BARE_SHAPING: Method(lambda: _shape(scale=None, norm=None), WHOLE),
    tables.ZERO_AS_VALUE: Method(_take_zero_as_value, BEYOND, cost=1.4),
    tables.NARROW: Method(_narrow, WHOLE, cost=1.4),
    tables.NARROW_ZERO: Method(lambda: _take_zero_as_value(n_neighbors=2), WHOLE, cost=1.4),
}
UCI = {
    tables.BASELINE: Method(_fit_range),
    tables.SCALING: Method(lambda: _shape(shape=None), cost=1.3),
    tables.SHAPING: Method(_shape, cost=1.4),
    tables.CROSS_FITTED: Method(_cross_fit, BEYOND, cost=2.0),
    tables.POLICY: Method(_choose_per_feature, BEYOND, cost=3.0),
    tables.BASELINE_NO_PLATT: Method(_fit_range, EARLY, probability=False),
    tables.SHAPING_NO_PLATT: Method(_shape, EARLY, probability=False, cost=1.4),
    tables.BASELINE_BY_AUC: Method(_fit_range, EARLY, scoring="roc_auc"),
    tables.SHAPING_BY_AUC: Method(_shape, EARLY, scoring="roc_auc", cost=1.4),
    tables.BASELINE_PRICED: Method(_fit_range, BEYOND, fit_intercept=True),
    tables.SHAPING_PRICED: Method(_shape, BEYOND, fit_intercept=True, cost=1.4),
    tables.BASELINE_IN_FOUR: Method(_fit_range, WHOLE, n_folds=tables.FEW_FOLDS),
    tables.SHAPING_IN_FOUR: Method(_shape, WHOLE, n_folds=tables.FEW_FOLDS, cost=1.4),
    tables.L1_NORM: Method(lambda: _shape(norm="l1"), WHOLE),
    tables.LOG_ODDS: Method(lambda: _shape(shape="log_odds"), WHOLE),
    tables.NO_SCALING: Method(lambda: _shape(scale=None), WHOLE),
    tables.NO_PLATT_CV: Method(_shape, WHOLE, probability="training"),
    tables.L2_NORM: Method(_fit_range_and_norm, WHOLE),
    tables.L2_PRICED: Method(_fit_range_and_norm, WHOLE, fit_intercept=True),
    tables.LOG_ODDS_PRICED: Method(lambda: _shape(shape="log_odds"), WHOLE, fit_intercept=True),
    tables.RAW: Method(lambda: (FunctionTransformer(),), WHOLE, cost=3.0),
}
METHODS = {"text": TEXT, "uci": UCI}
