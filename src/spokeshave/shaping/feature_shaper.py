"""Shaping, scaling and row normalisation, one after the other."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.preprocessing import Binarizer, StandardScaler, normalize
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from spokeshave.shaping.bns import BNSScaler
from spokeshave.shaping.local_probability import LocalProbabilityShaper
from spokeshave.shaping.shapes import FeatureShape, PlotMixin, ValueCounts

NORMS = ("l2", "l1", "max", None)


class FeatureShaper(PlotMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Shape each feature, scale it to its worth, and bring each document to length one.

    The three stages of Forman, Scholz and Rajaram (2009), for a linear classifier to come after.
    Each may be replaced or left out: every variant of the paper is one call.

    ==================================  ==========================================
    the paper's                         is
    ==================================  ==========================================
    shaping                             ``FeatureShaper()``
    scaling, of text                    ``FeatureShaper(shape="binary")``
    scaling, of amounts (no shaping)    ``FeatureShaper(shape=None)``
    log odds                            ``FeatureShaper(shape="log_odds")``
    no scaling                          ``FeatureShaper(scale=None)``
    L1 norm                             ``FeatureShaper(norm="l1")``
    baseline, of text                   ``FeatureShaper(shape="binary", scale=None)``
    ==================================  ==========================================

    Beyond the paper, for tables of amounts, where shaping alone may lose what lies in the
    difference of two features, the features themselves may stay beside their shapes::

        shaper = LocalProbabilityShaper(output="log_odds", n_neighbors="auto", cross_fit=True)
        FeatureShaper(shape=shaper, scale="center", norm=None, keep_raw=True)

    Parameters
    ----------
    shape : {"local_probability", "log_odds", "binary", None} or transformer, \
default="local_probability"
        What each value becomes: the probability of the class near it, by a
        :class:`LocalProbabilityShaper`; the log odds of that; 1 where it is positive and else 0;
        itself; or what a transformer of yours makes of it.
    scale : {"bns", "times_bns", "center", None} or transformer, default="bns"
        What becomes of each column then: it is stretched to its Bi-Normal Separation, by a
        :class:`BNSScaler`, or multiplied by it; its mean is taken off (dense only); nothing; or
        what a transformer of yours does.
    norm : {"l2", "l1", "max", None}, default="l2"
        The norm of a document that is then made one.
    keep_raw : bool, default=False
        Whether the features themselves come first, standardised (sparse ones not shifted), and
        what the stages make of them after. Nominal ones are left out, missing values are average.
    n_jobs : int, optional
        Threads of the named stages; -1 for all cores.

    Attributes
    ----------
    shaper_, scaler_ : transformer or None
        The stages, fitted.
    standardizer_ : StandardScaler or None
        What standardises the features that are kept.
    n_features_in_ : int
        Features seen in fit.

    Notes
    -----
    With a shaper that is cross-fitted, ``LocalProbabilityShaper(cross_fit=True)``, columns are
    scaled by what is cross-fitted too, and ``fit_transform`` is not ``fit`` and ``transform``.

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
        """Learn what the stages do.

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

    def fit_counts(self, found: ValueCounts, classes: NDArray[Any]) -> Self:
        """Do what `fit` does on sparse documents, from counts of them.

        Parameters
        ----------
        found : ValueCounts
            How many documents have each value, all and of each class; of two classes, the second.
        classes : ndarray of shape (n_classes,)
            Class labels; column numbers for multilabel targets.

        Returns
        -------
        self : FeatureShaper
        """
        self.check_counts()
        self.shaper_, self.scaler_ = self._make_stages()
        self.shaper_.fit_counts(found, classes)
        if self.scaler_ is not None:
            self.scaler_.take_shapes(self.shaper_.shapes_, **self._tell_output())
        self.standardizer_: StandardScaler | None = None
        self.n_features_in_ = found.n_features
        return self

    def check_counts(self) -> None:
        """Raise where a parameter is bad, or asks for more than counts of documents can tell."""
        shaper, scaler = self._make_stages()
        if not isinstance(shaper, LocalProbabilityShaper):
            raise ValueError(
                "shape must be 'local_probability', 'log_odds' or a LocalProbabilityShaper to "
                f"learn from counts. Got {self.shape!r} instead."
            )
        shaper.check_counts()
        if not isinstance(scaler, BNSScaler | None):
            raise ValueError(
                "scale must be 'bns', 'times_bns', None or a BNSScaler to learn from counts. "
                f"Got {self.scale!r} instead."
            )
        if self.keep_raw:
            raise ValueError(
                "keep_raw must be False to learn from counts: they tell nothing of features as "
                f"they are. Got {self.keep_raw!r} instead."
            )

    def fit_transform(self, X: Any, y: Any) -> Any:
        """Learn what the stages do, and do it.

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
            raw = self._take_raw(X)
            shaped = _put_beside(_fill(self.standardizer_.transform(raw)), shaped)
        return self._normalize(shaped)

    def shape_of(self, feature: int | str) -> FeatureShape:
        """Return what the first two stages make of a feature.

        Parameters
        ----------
        feature : int or str
            Its number, or its name where fit saw names.

        Returns
        -------
        shape : FeatureShape
        """
        check_is_fitted(self)
        if not isinstance(self.shaper_, LocalProbabilityShaper):
            raise ValueError("Only features shaped by local probability have a shape to look at.")
        shape = self.shaper_.shape_of(feature)
        n_classes = len(shape.images)
        columns = self.shaper_.find_column(feature) * n_classes + np.arange(n_classes)
        if self.scale == "center":
            return shape.stretch(self.scaler_.mean_[columns], np.ones(n_classes))
        if self.scaler_ is None:
            return shape
        if not isinstance(self.scaler_, BNSScaler):
            raise ValueError("What a scale of your own makes of a shape cannot be looked at here.")
        base, factor = self.scaler_.min_[columns], self.scaler_.scale_[columns]
        return shape.stretch(base, factor)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns, as the stages have them.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, where fit saw none.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names = super().get_feature_names_out(input_features)
        kept = [f"{name}_raw" for name in names[self._find_amounts()]] if self.keep_raw else []
        for stage in (self.shaper_, self.scaler_):
            names = names if stage is None else stage.get_feature_names_out(names)
        return np.array([*kept, *names], object)

    def _make_stages(self) -> tuple[Any, Any]:
        """Return shaper and scaler, not yet fitted."""
        if self.norm not in NORMS:
            raise ValueError(f"norm must be 'l2', 'l1', 'max' or None. Got {self.norm!r} instead.")
        return make_shaper(self.shape, self.n_jobs), make_scaler(self.scale, self.n_jobs)

    def _run_stages(self, X: Any, y: Any) -> Any:
        """Fit shaper and scaler; return what they make of the documents."""
        self.shaper_, self.scaler_ = self._make_stages()
        X, y = self._check(X, y, reset=True)
        shaped = X if self.shaper_ is None else self.shaper_.fit_transform(X, y)
        shaped = self._fit_scaler(shaped, y)
        self.standardizer_ = None
        if self.keep_raw and self._find_amounts().size:
            raw = self._take_raw(X)
            self.standardizer_ = StandardScaler(with_mean=not sparse.issparse(raw))
            self.standardizer_.set_output(transform="default")
            shaped = _put_beside(_fill(self.standardizer_.fit_transform(raw)), shaped)
        return shaped

    def _fit_scaler(self, X: Any, y: Any) -> Any:
        shaper, scaler = self.shaper_, self.scaler_
        if self.scale == "center" and sparse.issparse(X):
            raise ValueError("scale must not be 'center' for sparse documents: it would fill them.")
        is_known = isinstance(shaper, LocalProbabilityShaper) and not shaper.cross_fit
        if is_known and isinstance(scaler, BNSScaler):
            shapes = shaper.shapes_
            return scaler.fit_shapes(X, shapes, **self._tell_output()).stretch_columns(X)
        return X if scaler is None else scaler.fit_transform(X, y)

    def _tell_output(self) -> dict[str, Any]:
        """Return what the scaler has to know of what the shaper makes of its shapes."""
        return {"output": self.shaper_.output, "zero_is_fixed": self.shaper_.zero_is_fixed_}

    def _take_raw(self, X: Any) -> Any:
        """Return the features that are amounts, as numbers."""
        if isinstance(self.shaper_, LocalProbabilityShaper):
            return self.shaper_.to_numbers(X)[:, self._find_amounts()]
        numbers = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        return check_array(X, ensure_all_finite="allow-nan", **numbers)

    def _find_amounts(self) -> NDArray[np.intp]:
        """Return the features that are not nominal."""
        if isinstance(self.shaper_, LocalProbabilityShaper):
            return np.flatnonzero(~self.shaper_.is_nominal_)
        return np.arange(self.n_features_in_)

    def _check(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        """Return X, and y where it is given; what is in X is for the first stage to check."""
        if self.shaper_ is not None or self.scaler_ is not None:
            return validate_data(self, X, y, skip_check_array=True) if reset else X
        several = {} if isinstance(y, str) else {"multi_output": True}
        numbers = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        return validate_data(self, X, y, reset=reset, **numbers, **several)

    def _normalize(self, X: Any) -> Any:
        return X if self.norm is None else normalize(X, norm=self.norm)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = takes_missing(self.shape)
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _fill(X: Any) -> Any:
    """Replace what is missing of standardised features by their mean, in place."""
    cells = X.data if sparse.issparse(X) else X
    cells[np.isnan(cells)] = 0
    return X


def _put_beside(left: Any, right: Any) -> Any:
    if sparse.issparse(left) or sparse.issparse(right):
        return sparse.hstack([left, right], format="csr")
    return np.hstack([left, right])


def make_shaper(shape: Any, n_jobs: int | None) -> Any:
    """Return the stage that a name stands for, a clone of one given, or None."""
    named = {
        "local_probability": LocalProbabilityShaper(n_jobs=n_jobs),
        "log_odds": LocalProbabilityShaper(output="log_odds", n_jobs=n_jobs),
        "binary": Binarizer(),
    }
    return _make_stage("shape", shape, named)


def takes_missing(shape: Any) -> bool:
    """Return whether a first stage takes missing values."""
    is_named = isinstance(shape, str) and shape in ("local_probability", "log_odds")
    return is_named or isinstance(shape, LocalProbabilityShaper)


def make_scaler(scale: Any, n_jobs: int | None) -> Any:
    """Return the stage that a name stands for, a clone of one given, or None."""
    named = {
        "bns": BNSScaler(n_jobs=n_jobs),
        "times_bns": BNSScaler(stretch=False, n_jobs=n_jobs),
        "center": StandardScaler(with_std=False),
    }
    return _make_stage("scale", scale, named)


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
    # What the next stage reads is not for the user to see. Not every transformer can be told so.
    with suppress(AttributeError, ValueError):
        stage.set_output(transform="default")
    return stage
