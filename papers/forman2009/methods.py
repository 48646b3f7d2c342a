"""The methods: the steps before the SVM, and the training sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, MinMaxScaler, Normalizer

from papers.forman2009 import tables
from papers.forman2009.transforms import MEASURES as TRANSFORMS
from papers.forman2009.transforms import IsotonicShaper, ThresholdScaler
from spokeshave import DualLinearSVC, FeatureShaper, LocalProbabilityShaper

CURVE = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # shares of the training part of a fold
BEYOND = (0.05, 0.1, 0.2, 1.0)  # of methods that the paper does not have
EARLY = (0.05, 0.1, 0.2)  # of experiments on the left end of the curves
WHOLE = (1.0,)

Steps = Callable[[], tuple[Any, ...]]


class Method(NamedTuple):
    """A method: steps before the SVM, training sizes, and options of the SVM.

    Attributes
    ----------
    make_steps : function that returns the steps before the SVM
    sizes : training sizes, shares of the training part of a fold
    probability : calibration of the SVM; False ranks cases by their scores
    scoring : measure by which C is chosen
    fit_intercept : "free" as in the paper (3.1), or True for a regularised intercept
    n_folds : number of cross-validation folds
    cost : running time relative to the baseline
    """

    make_steps: Steps
    sizes: tuple[float, ...] = CURVE
    probability: bool | str = True
    scoring: str = "accuracy"
    fit_intercept: bool | str = "free"
    n_folds: int = tables.N_FOLDS
    cost: float = 1.0

    def make_estimator(self) -> Pipeline:
        """Return the pipeline; the learning curve sets the seeds."""
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


def _shape_monotonely() -> tuple[FeatureShaper]:
    return _shape(shape=IsotonicShaper())


def _list_scalings() -> dict[str, Method]:
    """Return shaping with the scalings that the paper names or tried before, but for BNS."""
    return {
        name: Method(partial(_shape, scale=ThresholdScaler(measure)), WHOLE, cost=2.0)
        for name, measure in zip(tables.OTHER_SCALINGS, TRANSFORMS, strict=True)
    }


def _list_common(make_baseline: Steps, early: tuple[float, ...]) -> dict[str, Method]:
    """Return the methods of both benchmarks; ``early`` are the sizes of two experiments."""
    return {
        tables.BASELINE: Method(make_baseline),
        tables.SHAPING: Method(_shape, cost=1.4),
        tables.CROSS_FITTED: Method(_cross_fit, BEYOND, cost=2.0),
        tables.BASELINE_NO_PLATT: Method(make_baseline, early, probability=False),
        tables.SHAPING_NO_PLATT: Method(_shape, early, probability=False, cost=1.4),
        tables.BASELINE_BY_AUC: Method(make_baseline, early, scoring="roc_auc"),
        tables.SHAPING_BY_AUC: Method(_shape, early, scoring="roc_auc", cost=1.4),
        tables.BASELINE_PRICED: Method(make_baseline, BEYOND, fit_intercept=True),
        tables.SHAPING_PRICED: Method(_shape, BEYOND, fit_intercept=True, cost=1.4),
        tables.BASELINE_IN_FOUR: Method(make_baseline, WHOLE, n_folds=tables.FEW_FOLDS),
        tables.SHAPING_IN_FOUR: Method(_shape, WHOLE, n_folds=tables.FEW_FOLDS, cost=1.4),
        tables.ISOTONIC: Method(_shape_monotonely, WHOLE, cost=2.0),
        **_list_scalings(),
    }


TEXT = {
    **_list_common(_binarize, BEYOND),
    tables.SCALING: Method(lambda: _shape(shape="binary"), cost=1.3),
    tables.TF_IDF: Method(lambda: (TfidfTransformer(),), BEYOND, cost=1.2),
    tables.IDF_AND_BNS: Method(_weigh_by_idf_and_bns, BEYOND, cost=1.5),
    tables.NO_NORM: Method(lambda: (Binarizer(),), WHOLE),
    tables.COUNTS: Method(lambda: (Normalizer(),), WHOLE),
    tables.BARE_SHAPING: Method(lambda: _shape(scale=None, norm=None), WHOLE),
    tables.ZERO_AS_VALUE: Method(_take_zero_as_value, BEYOND, cost=1.4),
    tables.NARROW: Method(_narrow, WHOLE, cost=1.4),
    tables.NARROW_ZERO: Method(lambda: _take_zero_as_value(n_neighbors=2), WHOLE, cost=1.4),
}
UCI = {
    **_list_common(_fit_range, EARLY),
    tables.SCALING: Method(lambda: _shape(shape=None), cost=1.3),
    tables.POLICY: Method(_choose_per_feature, BEYOND, cost=3.0),
    tables.WITH_RAW: Method(lambda: _shape(keep_raw=True), BEYOND, cost=1.6),
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
