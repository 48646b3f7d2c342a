"""Shape features, scale them and normalise documents."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.preprocessing import Binarizer, StandardScaler, normalize
from sklearn.utils.validation import check_is_fitted

from spokeshave.shaping.bns import BNSScaler
from spokeshave.shaping.frames import NUMERIC
from spokeshave.shaping.levels import ValueCounts
from spokeshave.shaping.local_probability import LocalProbabilityShaper
from spokeshave.shaping.shapes import FeatureShape, PlotMixin
from spokeshave.utils.sparse_format import check_format
from spokeshave.utils.validation import check_array, check_magnitude, validate_data

NORMS = ("l2", "l1", "max", None)


class FeatureShaper(PlotMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Shape each feature, scale it by its separation, and normalise each document.

    These are the three stages of Forman, Scholz and Rajaram (2009), for use before a linear
    classifier. Each stage can be replaced or left out; every variant of the paper is one call.

    ==================================  ==========================================
    variant of the paper                call
    ==================================  ==========================================
    shaping                             ``FeatureShaper()``
    scaling, of text                    ``FeatureShaper(shape="binary")``
    scaling, of numbers (no shaping)    ``FeatureShaper(shape=None)``
    log odds                            ``FeatureShaper(shape="log_odds")``
    no scaling                          ``FeatureShaper(scale=None)``
    L1 norm                             ``FeatureShaper(norm="l1")``
    baseline, of text                   ``FeatureShaper(shape="binary", scale=None)``
    ==================================  ==========================================

    In tables of numbers the classes may differ in the difference of two features, which shaping
    each feature by itself can hide. Beyond the paper, the raw features can be kept beside the
    shaped ones::

        shaper = LocalProbabilityShaper(output="log_odds", n_neighbors="auto", cross_fit=True)
        FeatureShaper(shape=shaper, scale="center", norm=None, keep_raw=True)

    Parameters
    ----------
    shape : {"local_probability", "log_odds", "binary", None} or transformer, \
default="local_probability"
        The first stage. "local_probability" replaces each value by the probability of the class
        near it, with a :class:`LocalProbabilityShaper`; "log_odds" by the log odds of that;
        "binary" by 1 if it is positive and 0 otherwise. None leaves values unchanged.
    scale : {"bns", "times_bns", "center", None} or transformer, default="bns"
        The second stage. "bns" scales each column to its Bi-Normal Separation, with a
        :class:`BNSScaler`; "times_bns" multiplies the column by it; "center" subtracts the mean
        (dense input only). None leaves columns unchanged.
    norm : {"l2", "l1", "max", None}, default="l2"
        The norm to which each document is scaled; None for no normalisation.
    keep_raw : bool, default=False
        Whether to put the standardised raw features before the shaped ones. Sparse features are
        not centred, nominal ones are left out, and missing values are replaced by the mean.
    n_jobs : int, optional
        Number of threads of the built-in stages; -1 for all cores.

    Attributes
    ----------
    shaper_, scaler_ : transformer or None
        The fitted stages.
    standardizer_ : StandardScaler or None
        The scaler of the raw features.
    n_features_in_ : int
        Number of features seen in fit.

    Notes
    -----
    With a cross-fitted shaper, ``LocalProbabilityShaper(cross_fit=True)``, the scaler is fitted to
    the cross-fitted columns, and ``fit_transform`` differs from ``fit`` followed by ``transform``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from spokeshave import DualLinearSVC, FeatureShaper
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(FeatureShaper(), DualLinearSVC(random_state=0)).fit(X, y == 1)
    >>> round(model.score(X, y == 1), 2), round(model[-1].fit(X, y == 1).score(X, y == 1), 2)
    (0.91, 0.71)
    """

    def __init__(
        self,
        *,
        shape: Any = "local_probability",
        scale: Any = "bns",
        norm: str | None = "l2",
        keep_raw: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.shape = shape
        self.scale = scale
        self.norm = norm
        self.keep_raw = keep_raw
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the stages.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class.

        Returns
        -------
        self : FeatureShaper
        """
        with config_context(transform_output="default"):
            self._run_stages(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Any:
        """Fit the stages and apply them.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Targets.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_columns)
        """
        with config_context(transform_output="default"):
            return self._normalize(self._run_stages(X, y))

    def transform(self, X: Any) -> Any:
        """Shape, scale and normalise documents.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_columns)
        """
        check_is_fitted(self)
        X = shaped = self._check(X)
        with config_context(transform_output="default"):
            for stage in (self.shaper_, self.scaler_):
                shaped = shaped if stage is None else stage.transform(shaped)
        if self.standardizer_ is not None:
            raw = self._select_raw(X)
            shaped = _stack(_fill_missing(self.standardizer_.transform(raw)), shaped)
        return self._normalize(shaped)

    def shape_of(self, feature: int | str) -> FeatureShape:
        """Return the shape of a feature after the first two stages.

        Parameters
        ----------
        feature : int or str
            Its number, or its name if fit saw feature names.

        Returns
        -------
        shape : FeatureShape
        """
        check_is_fitted(self)
        shaper = require_shapes(self.shaper_, self.shape)
        shape = shaper.shape_of(feature)
        n_classes = len(shape.images)
        columns = shaper._find_column(feature) * n_classes + np.arange(n_classes)
        if self.scale == "center":
            return shape.stretch(self.scaler_.mean_[columns], np.ones(n_classes))
        if self.scaler_ is None:
            return shape
        if not isinstance(self.scaler_, BNSScaler):
            raise ValueError(
                "scale must be 'bns', 'times_bns', 'center', None or a BNSScaler to have feature "
                f"shapes. Got {self.scale!r} instead."
            )
        base, factor = self.scaler_.min_[columns], self.scaler_.scale_[columns]
        return shape.stretch(base, factor)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, if fit saw none.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names = super().get_feature_names_out(input_features)
        kept = [f"{name}_raw" for name in names[self._find_numeric()]] if self.keep_raw else []
        for stage in (self.shaper_, self.scaler_):
            names = names if stage is None else stage.get_feature_names_out(names)
        return np.array([*kept, *names], object)

    def _fit_counts(self, found: ValueCounts, classes: NDArray[Any]) -> Self:
        """Fit to sparse documents, given only the counts of their values.

        Of two classes, the counts are those of the second one.
        """
        self._check_counts()
        self.shaper_, self.scaler_ = self._make_stages()
        self.shaper_._fit_counts(found, classes)
        if self.scaler_ is not None:
            self.scaler_._fit_shapes(self.shaper_.shapes_, **self._get_output())
        self.standardizer_: StandardScaler | None = None
        self.n_features_in_ = found.n_features
        return self

    def _check_counts(self) -> None:
        """Raise if a parameter is invalid, or needs more than counts of values."""
        shaper, scaler = self._make_stages()
        if not isinstance(shaper, LocalProbabilityShaper):
            raise ValueError(
                "shape must be 'local_probability', 'log_odds' or a LocalProbabilityShaper to "
                f"learn from counts. Got {self.shape!r} instead."
            )
        shaper._check_counts()
        if not isinstance(scaler, BNSScaler | None):
            raise ValueError(
                "scale must be 'bns', 'times_bns', None or a BNSScaler to learn from counts. "
                f"Got {self.scale!r} instead."
            )
        if self.keep_raw:
            raise ValueError(
                "keep_raw must be False to learn from counts: they do not hold the raw features. "
                f"Got {self.keep_raw!r} instead."
            )

    def _make_stages(self) -> tuple[Any, Any]:
        return make_stages(self.shape, self.scale, self.norm, self.n_jobs)

    def _run_stages(self, X: Any, y: Any) -> Any:
        """Fit the stages and return the documents before normalisation."""
        self.shaper_, self.scaler_ = self._make_stages()
        X, y = self._check(X, y, reset=True)
        shaped = X if self.shaper_ is None else self.shaper_.fit_transform(X, y)
        shaped = self._fit_scaler(shaped, y)
        self.standardizer_ = None
        if self.keep_raw and self._find_numeric().size:
            raw = self._select_raw(X)
            check_magnitude(raw)
            self.standardizer_ = StandardScaler(with_mean=not sparse.issparse(raw))
            self.standardizer_.set_output(transform="default")
            shaped = _stack(_fill_missing(self.standardizer_.fit_transform(raw)), shaped)
        return shaped

    def _fit_scaler(self, X: Any, y: Any) -> Any:
        shaper, scaler = self.shaper_, self.scaler_
        if self.scale == "center" and sparse.issparse(X):
            raise ValueError(
                "scale must not be 'center' for sparse documents: it would make them dense."
            )
        is_known = isinstance(shaper, LocalProbabilityShaper) and not shaper.cross_fit
        if is_known and isinstance(scaler, BNSScaler):
            return scaler._fit_shapes(shaper.shapes_, **self._get_output())._scale_in_place(X)
        return X if scaler is None else scaler.fit_transform(X, y)

    def _get_output(self) -> dict[str, Any]:
        """Return the options of the shaper that the scaler has to know."""
        return {"output": self.shaper_.output, "zero_is_fixed": self.shaper_.zero_is_fixed_}

    def _select_raw(self, X: Any) -> Any:
        """Return the features that are not nominal, as numbers."""
        if isinstance(self.shaper_, LocalProbabilityShaper):
            return self.shaper_._check_table(X)[:, self._find_numeric()]
        return check_array(X, ensure_all_finite="allow-nan", **NUMERIC)

    def _find_numeric(self) -> NDArray[np.intp]:
        """Return the numbers of the features that are not nominal."""
        if isinstance(self.shaper_, LocalProbabilityShaper):
            return np.flatnonzero(~self.shaper_.is_nominal_)
        return np.arange(self.n_features_in_)

    def _check(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        """Return X, and y if it is given; the first stage, if any, validates the values of X."""
        if self.shaper_ is not None or self.scaler_ is not None:
            if reset:
                return validate_data(self, X, y, skip_check_array=True)
            return check_format(X)
        several = {} if isinstance(y, str) else {"multi_output": True}
        return validate_data(self, X, y, reset=reset, **NUMERIC, **several)

    def _normalize(self, X: Any) -> Any:
        return X if self.norm is None else normalize(X, norm=self.norm)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = allows_missing(self.shape)
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _fill_missing(X: Any) -> Any:
    """Replace missing values of standardised features by their mean, zero, in place."""
    cells = X.data if sparse.issparse(X) else X
    cells[np.isnan(cells)] = 0
    return X


def _stack(left: Any, right: Any) -> Any:
    if sparse.issparse(left) or sparse.issparse(right):
        return sparse.hstack([left, right], format="csr")
    return np.hstack([left, right])


def make_stages(shape: Any, scale: Any, norm: str | None, n_jobs: int | None) -> tuple[Any, Any]:
    """Return unfitted shaper and scaler, each a clone or None, from names or transformers."""
    if norm not in NORMS:
        raise ValueError(f"norm must be 'l2', 'l1', 'max' or None. Got {norm!r} instead.")
    shapers = {
        "local_probability": LocalProbabilityShaper(n_jobs=n_jobs),
        "log_odds": LocalProbabilityShaper(output="log_odds", n_jobs=n_jobs),
        "binary": Binarizer(),
    }
    scalers = {
        "bns": BNSScaler(n_jobs=n_jobs),
        "times_bns": BNSScaler(stretch=False, n_jobs=n_jobs),
        "center": StandardScaler(with_std=False),
    }
    return _make_stage("shape", shape, shapers), _make_stage("scale", scale, scalers)


def _make_stage(parameter: str, stage: Any, named: dict[str, Any]) -> Any:
    if stage is None:
        return None
    if isinstance(stage, str) and stage in named:
        stage = named[stage]
    if isinstance(stage, str) or not hasattr(stage, "transform"):
        names = ", ".join(map(repr, named))
        raise ValueError(
            f"{parameter} must be {names}, None or a transformer. Got {stage!r} instead."
        )
    stage = clone(stage)
    # Stages exchange plain arrays. Not every transformer can be configured to return them.
    with suppress(AttributeError, ValueError):
        stage.set_output(transform="default")
    return stage


def require_shapes(shaper: Any, shape: Any) -> LocalProbabilityShaper:
    """Return the fitted first stage, or raise if it has no feature shapes."""
    if not isinstance(shaper, LocalProbabilityShaper):
        raise ValueError(
            "shape must be 'local_probability', 'log_odds' or a LocalProbabilityShaper to have "
            f"feature shapes. Got {shape!r} instead."
        )
    return shaper


def allows_missing(shape: Any) -> bool:
    """Return whether a first stage accepts missing values."""
    is_named = isinstance(shape, str) and shape in ("local_probability", "log_odds")
    return is_named or isinstance(shape, LocalProbabilityShaper)
