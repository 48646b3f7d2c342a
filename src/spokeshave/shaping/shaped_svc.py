"""A one-vs-rest SVM whose classes each see features shaped for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import Binarizer, normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from spokeshave.shaping.bns import BNSScaler, separate_shapes
from spokeshave.shaping.feature_shaper import NORMS, make_scaler, make_shaper, takes_missing
from spokeshave.shaping.levels import (
    Rates,
    Separation,
    count_class,
    separate_class,
    store_all,
    take_census,
)
from spokeshave.shaping.local_probability import LocalProbabilityShaper
from spokeshave.shaping.shapes import (
    FeatureShape,
    Places,
    PlotMixin,
    Shapes,
    draw_images,
    find_places,
    find_zeros,
)
from spokeshave.svm.estimator import DualLinearSVC, make_svc
from spokeshave.svm.one_vs_rest import CalibratedMixin
from spokeshave.utils.validation import binarize, check_targets, list_documents, tidy


class Views(NamedTuple):
    """What turns the cells of documents into what each class sees.

    Attributes
    ----------
    shapes : what each value becomes; None where it stays itself
    output : whether that is a probability or its log odds
    base, factor : what is taken off it in each column, and what it is then multiplied by
        (classes x features)
    norm : the norm of a document that is then made one
    """

    shapes: Shapes | None
    output: str
    base: NDArray[np.float64]
    factor: NDArray[np.float64]
    norm: str | None

    def show(self, rows: sparse.csr_matrix, places: Places | None, k: int) -> sparse.csr_matrix:
        """Return the documents as class k sees them."""
        base, factor = self.base[k], self.factor[k]
        if self.shapes is None or places is None:
            data = (rows.data - base[rows.indices]) * factor[rows.indices]
        else:
            data = np.empty(rows.nnz)
            draw_images(self.shapes, k, places, self.output, base, factor, data)
        view = sparse.csr_matrix((data, rows.indices, rows.indptr), rows.shape)
        return view if self.norm is None else normalize(view, self.norm, copy=False)


def make_views(
    rows: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    shapes: Shapes | None,
    *,
    output: str,
    zero_is_fixed: bool,
    scale: BNSScaler | None,
    norm: str | None,
    n_jobs: int | None = None,
) -> Views:
    """Find the base and the factor of each column for each class."""
    shape = indicator.shape[1], rows.shape[1]
    base, factor = np.zeros(shape), np.ones(shape)
    if shapes is not None and zero_is_fixed:
        base = np.array([find_zeros(shapes, k, output) for k in range(shape[0])])
    if scale is not None:
        rates = scale.find_rates(np.diff(indicator.indptr), indicator.shape[0])
        found = _separate(rows, indicator, shapes, output, zero_is_fixed, rates, n_jobs)
        for k, separation in enumerate(found):
            shift, factor[k] = scale.stretch_to(separation, zero_is_fixed=zero_is_fixed)
            base[k] += shift
    return Views(shapes, output, base, factor, norm)


def _separate(
    rows: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    shapes: Shapes | None,
    output: str,
    zero_is_fixed: bool,
    rates: list[Rates],
    n_jobs: int | None,
) -> Iterator[Separation]:
    """Yield how well a threshold on what values become tells each class from the rest."""
    if shapes is not None:
        for k in range(len(rates)):
            alone, own = shapes.of_class(k), rates[k : k + 1]
            yield separate_shapes(alone, 0, output, own, zero_is_fixed=zero_is_fixed)
        return
    census = take_census(rows, n_jobs=n_jobs)
    for k, of_class in enumerate(rates):
        positives = count_class(census, list_documents(indicator, k))
        yield separate_class(census.levels, positives, census.levels.values, of_class)


class ShapedSVC(PlotMixin, CalibratedMixin, BaseEstimator):  # type: ignore[misc]
    """Linear SVMs, one class against the rest, each on features shaped and scaled for its class.

    What ``OneVsRestClassifier(make_pipeline(FeatureShaper(...), DualLinearSVC()))`` fits, without
    a copy of the documents for every class: the values of each feature are sorted once, each class
    keeps a table of what they become, and the documents as a class sees them are made when their
    turn comes.

    Parameters
    ----------
    estimator : DualLinearSVC, optional
        The SVM; it is cloned.
    shape : {"local_probability", "log_odds", "binary", None} or LocalProbabilityShaper, \
default="local_probability"
        What each value becomes, as in `FeatureShaper`.
    scale : {"bns", "times_bns", None} or BNSScaler, default="bns"
        Whether each column is then stretched to its Bi-Normal Separation, multiplied by it, or
        neither. With ``shape=None`` the second keeps what idf gave the words of a tf-idf matrix.
    norm : {"l2", "l1", "max", None}, default="l2"
        The norm of a document that is then made one.
    n_jobs : int, optional
        Threads; -1 for all cores. The result is the same whatever it is.
    random_state : int, RandomState instance or None, default=None
        Seed of the SVM.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for multilabel targets.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the shaped features; one row for two classes.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    shaper_ : LocalProbabilityShaper, Binarizer or None
        The first stage, fitted on all classes.
    views_ : Views
        What turns documents into what each class sees.
    calibration_ : ndarray of shape (2, n_classes)
        Slope and offset of each class's sigmoid; only of an estimator with ``probability=True``.
    multilabel_ : bool
        Whether the targets were an indicator matrix.
    is_sparse_ : bool
        Whether the documents were sparse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spokeshave import ShapedSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ShapedSVC(random_state=0).fit(X, y)
    >>> model.coef_.shape, float(model.score(X, y))
    ((3, 4), 0.9)
    """

    def __init__(
        self,
        estimator: DualLinearSVC | None = None,
        *,
        shape: Any = "local_probability",
        scale: Any = "bns",
        norm: str | None = "l2",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.shape = shape
        self.scale = scale
        self.norm = norm
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Shape the features for each class, and train it against the rest.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents. NaN is a missing value where features are shaped by local probability.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class, dense or sparse.

        Returns
        -------
        self : ShapedSVC
        """
        svc = make_svc(self.estimator, None, self.random_state).set_params(n_jobs=1)
        shaper, scaler = self._check_parameters()
        self.shaper_, self.is_sparse_ = shaper, sparse.issparse(X)
        shapes, output, zero_is_fixed = None, "probability", self.is_sparse_
        if isinstance(shaper, LocalProbabilityShaper):
            _, y = validate_data(self, X, y, skip_check_array=True)
            study = shaper.learn(X, y)
            seen = _Seen(study.given.rows, study.places)
            shapes, output, zero_is_fixed = shaper.shapes_, shaper.output, shaper.zero_is_fixed_
        else:
            X, y = self._check(X, y, multi_output=True)
            seen = self._see(X)
        y = check_targets(y if sparse.issparse(y) else np.asarray(y))
        self.classes_, indicator = binarize(y)
        self.multilabel_ = y.ndim == 2
        self.views_ = make_views(
            seen.rows,
            indicator,
            shapes,
            output=output,
            zero_is_fixed=zero_is_fixed,
            scale=scaler,
            norm=self.norm,
            n_jobs=self.n_jobs,
        )
        models = Parallel(n_jobs=self.n_jobs, require="sharedmem", batch_size=1)(
            delayed(self._train)(self._pose(svc, k), seen, indicator, k)
            for k in range(indicator.shape[1])
        )
        self.coef_ = np.vstack([model.coef_ for model in models])
        self.intercept_ = np.concatenate([model.intercept_ for model in models])
        self._forget_calibration()
        if svc.probability:
            self.calibration_ = np.hstack([model.calibration_ for model in models])
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each document for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        scores : ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
        """
        check_is_fitted(self)
        if not isinstance(self.shaper_, LocalProbabilityShaper):
            X = self._check(X, reset=False)
        seen = self._see(X)
        scores = np.empty((seen.rows.shape[0], len(self.coef_)))
        Parallel(n_jobs=self.n_jobs, require="sharedmem", batch_size=1)(
            delayed(self._score)(seen, k, scores) for k in range(len(self.coef_))
        )
        return self._shape_scores(scores)

    def shape_of(self, feature: int | str) -> FeatureShape:
        """Return what a feature becomes for each class, before documents are normalised.

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
        j = self.shaper_.find_column(feature)
        base = np.zeros(len(self.coef_)) if self.shaper_.zero_is_fixed_ else self.views_.base[:, j]
        return shape.stretch(base, self.views_.factor[:, j])

    def _check_parameters(self) -> tuple[Any, BNSScaler | None]:
        """Return the stages, not yet fitted."""
        if self.norm not in NORMS:
            raise ValueError(f"norm must be 'l2', 'l1', 'max' or None. Got {self.norm!r} instead.")
        shaper = make_shaper(self.shape, self.n_jobs)
        if not isinstance(shaper, LocalProbabilityShaper | Binarizer | None):
            raise ValueError(
                "shape must be a name, None or a LocalProbabilityShaper: other transformers need a "
                "copy of the documents for every class, as OneVsRestClassifier makes them. "
                f"Got {self.shape!r} instead."
            )
        if isinstance(shaper, LocalProbabilityShaper) and shaper.cross_fit:
            raise ValueError(
                "shape must not be cross-fitted here. Got cross_fit=True; use FeatureShaper in "
                "OneVsRestClassifier for that."
            )
        scaler = make_scaler(self.scale, self.n_jobs)
        if not isinstance(scaler, BNSScaler | None):
            raise ValueError(
                "scale must be 'bns', 'times_bns', None or a BNSScaler. "
                f"Got {self.scale!r} instead."
            )
        return shaper, scaler

    def _check(self, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        numbers = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        return validate_data(self, X, y, **numbers, **options)

    def _see(self, X: Any) -> _Seen:
        """Return documents as rows of cells, and where these are among the levels."""
        if isinstance(self.shaper_, LocalProbabilityShaper):
            rows = self.shaper_.read(X).rows
            return _Seen(rows, find_places(self.shaper_.shapes_, rows, self.n_jobs))
        if sparse.issparse(X) and not self.is_sparse_:
            raise ValueError(
                "X must be dense, as it was in fit: there features were shifted, which would fill "
                "a sparse matrix. Got a sparse matrix instead."
            )
        X = X if self.shaper_ is None else self.shaper_.fit_transform(X)
        return _Seen(tidy(X) if sparse.issparse(X) else store_all(X), None)

    def _train(
        self, svc: DualLinearSVC, seen: _Seen, indicator: sparse.csc_matrix, k: int
    ) -> DualLinearSVC:
        target = indicator[:, [k]]
        if not self.multilabel_:
            target = target.toarray().ravel() > 0
        return svc.fit(self.views_.show(*seen, k), target)

    def _pose(self, svc: DualLinearSVC, k: int) -> DualLinearSVC:
        """Return the SVM of class k against the rest, with weights for these two."""
        model: DualLinearSVC = clone(svc)
        weight = svc.class_weight
        if not isinstance(weight, dict):
            return model
        names = self.classes_.tolist()
        if not set(weight) <= set(names):
            raise ValueError(
                f"class_weight must have classes as keys: {names}. Got {weight!r} instead."
            )
        if self.multilabel_:
            model.set_params(class_weight={0: weight.get(k, 1.0)})
            return model
        is_binary = len(names) == 2
        outside = weight.get(names[0], 1.0) if is_binary else 1.0
        inside = weight.get(names[1 if is_binary else k], 1.0)
        model.set_params(class_weight={False: outside, True: inside})
        return model

    def _score(self, seen: _Seen, k: int, scores: NDArray[np.float64]) -> None:
        scores[:, k] = self.views_.show(*seen, k) @ self.coef_[k] + self.intercept_[k]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_missing(self.shape)
        return tags


class _Seen(NamedTuple):
    """Documents as rows of cells, and where these are among the levels."""

    rows: sparse.csr_matrix
    places: Places | None
