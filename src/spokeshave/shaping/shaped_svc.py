"""A one-vs-rest linear SVM with features shaped and scaled for each class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import Binarizer, normalize
from sklearn.utils.validation import check_is_fitted

from spokeshave.shaping.bns import (
    BNSScaler,
    Rates,
    Separation,
    find_rates,
    find_scale,
    separate_classes,
    separate_shapes,
)
from spokeshave.shaping.feature_shaper import allows_missing, make_stages, require_shapes
from spokeshave.shaping.frames import NUMERIC
from spokeshave.shaping.levels import count_class, find_levels, store_all
from spokeshave.shaping.local_probability import LocalProbabilityShaper
from spokeshave.shaping.shapes import (
    CellPositions,
    FeatureShape,
    PlotMixin,
    Shapes,
    locate_cells,
    map_cells,
    map_zeros,
)
from spokeshave.svm.estimator import DualLinearSVC, make_svc
from spokeshave.svm.one_vs_rest import CalibratedMixin
from spokeshave.utils.validation import (
    binarize,
    check_target_format,
    check_targets,
    list_documents,
    tidy,
    validate_data,
)


class ShapedSVC(PlotMixin, CalibratedMixin, BaseEstimator):  # type: ignore[misc]
    """One-vs-rest linear SVMs, each on features shaped and scaled for its class.

    The model equals ``OneVsRestClassifier(make_pipeline(FeatureShaper(...), DualLinearSVC()))``,
    but needs no copy of the documents for every class. The values of each feature are sorted once,
    each class keeps a table of their images, and the documents are transformed for one class at a
    time.

    Parameters
    ----------
    estimator : DualLinearSVC, optional
        The SVM, which is cloned.
    shape : {"local_probability", "log_odds", "binary", None} or LocalProbabilityShaper, \
default="local_probability"
        How values are shaped, as in `FeatureShaper`.
    scale : {"bns", "times_bns", None} or BNSScaler, default="bns"
        How columns are scaled: "bns" to their Bi-Normal Separation, "times_bns" by it, None not at
        all. "times_bns" with ``shape=None`` keeps the idf weights of a tf-idf matrix.
    norm : {"l2", "l1", "max", None}, default="l2"
        The norm to which each document is scaled; None for no normalisation.
    n_jobs : int, optional
        Number of threads; -1 for all cores. It does not affect the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the SVM.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for multilabel targets.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the shaped features; a single row for two classes.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    shaper_ : LocalProbabilityShaper, Binarizer or None
        The first stage, fitted on all classes.
    transforms_ : ClassTransforms
        The transform of the documents for each class.
    calibration_ : ndarray of shape (2, n_classes)
        Slope and offset of each class's sigmoid; only if the estimator has ``probability=True``.
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
        """Shape the features for each class, and train the class against the rest.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents. With shaping by local probability, NaN is a missing value.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class, dense or sparse.

        Returns
        -------
        self : ShapedSVC
        """
        svc = make_svc(self.estimator, None, self.random_state).set_params(n_jobs=1)
        self.shaper_, scaler = self._check_parameters()
        self.is_sparse_ = sparse.issparse(X)
        if isinstance(self.shaper_, LocalProbabilityShaper):
            _, y = validate_data(self, X, y, skip_check_array=True)
        else:
            X, y = validate_data(self, X, y, multi_output=True, **NUMERIC)
        documents = fit_shaper(self.shaper_, X, y)
        y = check_targets(check_target_format(y))
        self.classes_, indicator = binarize(y)
        self.multilabel_ = y.ndim == 2
        self.transforms_ = fit_transforms(
            self.shaper_, scaler, self.norm, documents, indicator, self.n_jobs
        )
        models = Parallel(n_jobs=self.n_jobs, require="sharedmem", batch_size=1)(
            delayed(self._train)(self._make_binary_svc(svc, k), documents, indicator, k)
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
            X = validate_data(self, X, reset=False, **NUMERIC)
            if sparse.issparse(X) and not self.is_sparse_:
                raise ValueError(
                    "X must be dense, as it was in fit: features are shifted, which would make a "
                    "sparse matrix dense. Got a sparse matrix instead."
                )
        documents = read_documents(self.shaper_, X, self.n_jobs)
        scores = np.empty((documents.rows.shape[0], len(self.coef_)))
        Parallel(n_jobs=self.n_jobs, require="sharedmem", batch_size=1)(
            delayed(self._score)(documents, k, scores) for k in range(len(self.coef_))
        )
        return self._shape_scores(scores)

    def shape_of(self, feature: int | str) -> FeatureShape:
        """Return the shape of a feature for each class, before documents are normalised.

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
        j = shaper._find_column(feature)
        base, factor = self.transforms_.base[:, j], self.transforms_.factor[:, j]
        return shape.stretch(np.zeros_like(base) if shaper.zero_is_fixed_ else base, factor)

    def _check_parameters(self) -> tuple[Any, BNSScaler | None]:
        """Return the unfitted stages."""
        shaper, scaler = make_stages(self.shape, self.scale, self.norm, self.n_jobs)
        if not isinstance(shaper, LocalProbabilityShaper | Binarizer | None):
            raise ValueError(
                "shape must be a name, None or a LocalProbabilityShaper: other transformers need a "
                "copy of the documents for every class; use FeatureShaper in OneVsRestClassifier "
                f"for them. Got {self.shape!r} instead."
            )
        if isinstance(shaper, LocalProbabilityShaper) and shaper.cross_fit:
            raise ValueError(
                "shape must have cross_fit=False; use FeatureShaper in OneVsRestClassifier for "
                "cross-fitting. Got cross_fit=True instead."
            )
        if not isinstance(scaler, BNSScaler | None):
            raise ValueError(
                "scale must be 'bns', 'times_bns', None or a BNSScaler. "
                f"Got {self.scale!r} instead."
            )
        return shaper, scaler

    def _train(
        self, svc: DualLinearSVC, documents: ShapedDocuments, indicator: sparse.csc_matrix, k: int
    ) -> DualLinearSVC:
        target = indicator[:, [k]]
        if not self.multilabel_:
            target = target.toarray().ravel() > 0
        return svc.fit(self.transforms_.apply(documents, k), target)

    def _make_binary_svc(self, svc: DualLinearSVC, k: int) -> DualLinearSVC:
        """Return the SVM of class k against the rest, with the class weights of these two."""
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

    def _score(self, documents: ShapedDocuments, k: int, scores: NDArray[np.float64]) -> None:
        scores[:, k] = self.transforms_.apply(documents, k) @ self.coef_[k] + self.intercept_[k]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = allows_missing(self.shape)
        return tags


class ShapedDocuments(NamedTuple):
    """Documents ready to be transformed for any class.

    Attributes
    ----------
    rows : the documents
    positions : of their cells among the levels; None without shapes
    zero_is_fixed : whether zeros stay zero, so that rows need not store them
    """

    rows: sparse.csr_matrix
    positions: CellPositions | None
    zero_is_fixed: bool


def fit_shaper(
    shaper: LocalProbabilityShaper | Binarizer | None, X: Any, y: Any
) -> ShapedDocuments:
    """Fit the shaper, if any, and return the training documents."""
    if not isinstance(shaper, LocalProbabilityShaper):
        return read_documents(shaper, X)
    training = shaper._fit(X, y)
    return ShapedDocuments(training.input.matrix, training.positions, shaper.zero_is_fixed_)


def read_documents(
    shaper: LocalProbabilityShaper | Binarizer | None, X: Any, n_jobs: int | None = None
) -> ShapedDocuments:
    """Return documents for a fitted shaper; without one, or to be binarised, X is numeric."""
    if isinstance(shaper, LocalProbabilityShaper):
        rows = shaper._read(X).matrix
        positions = locate_cells(shaper.shapes_, rows, n_jobs)
        return ShapedDocuments(rows, positions, shaper.zero_is_fixed_)
    X = X if shaper is None else shaper.fit_transform(X)
    is_sparse = sparse.issparse(X)
    return ShapedDocuments(tidy(X) if is_sparse else store_all(X), None, is_sparse)


class ClassTransforms(NamedTuple):
    """Shaping, scaling and normalisation of the documents for each class.

    Attributes
    ----------
    shapes : images of the values; None if values are not shaped
    output : "probability" or "log_odds"
    base, factor : number subtracted from each column, and factor it is then multiplied by
        (classes x features)
    norm : norm to which each document is scaled
    """

    shapes: Shapes | None
    output: str
    base: NDArray[np.float64]
    factor: NDArray[np.float64]
    norm: str | None

    def apply(self, documents: ShapedDocuments, k: int) -> sparse.csr_matrix:
        """Return the documents transformed for class k."""
        rows, positions, _ = documents
        base, factor = self.base[k], self.factor[k]
        if self.shapes is None or positions is None:
            data = (rows.data - base[rows.indices]) * factor[rows.indices]
        else:
            data = np.empty(rows.nnz)
            map_cells(self.shapes, k, positions, self.output, base, factor, data)
        transformed = sparse.csr_matrix((data, rows.indices, rows.indptr), rows.shape)
        return transformed if self.norm is None else normalize(transformed, self.norm, copy=False)


def fit_transforms(
    shaper: LocalProbabilityShaper | Binarizer | None,
    scaler: BNSScaler | None,
    norm: str | None,
    documents: ShapedDocuments,
    indicator: sparse.csc_matrix,
    n_jobs: int | None = None,
) -> ClassTransforms:
    """Find the base and the factor of each column for each class, given the fitted shaper."""
    shapes, output = None, "probability"
    if isinstance(shaper, LocalProbabilityShaper):
        shapes, output = shaper.shapes_, shaper.output
    shape = indicator.shape[1], documents.rows.shape[1]
    base, factor = np.zeros(shape), np.ones(shape)
    if shapes is not None and documents.zero_is_fixed:
        base = np.array([map_zeros(shapes, k, output) for k in range(shape[0])])
    if scaler is not None:
        rates = find_rates(np.diff(indicator.indptr), indicator.shape[0], scaler.smallest_rate)
        found = _separate(documents, indicator, shapes, output, rates, n_jobs)
        fixed = {"stretch": scaler.stretch, "zero_is_fixed": documents.zero_is_fixed}
        for k, separation in enumerate(found):
            shift, factor[k] = find_scale(separation, **fixed)
            base[k] += shift
    return ClassTransforms(shapes, output, base, factor, norm)


def _separate(
    documents: ShapedDocuments,
    indicator: sparse.csc_matrix,
    shapes: Shapes | None,
    output: str,
    rates: list[Rates],
    n_jobs: int | None,
) -> Iterator[Separation]:
    """Yield how well a threshold on each column separates each class from the rest."""
    if shapes is not None:
        fixed = documents.zero_is_fixed
        for k in range(len(rates)):
            alone, own = shapes.of_class(k), rates[k : k + 1]
            yield separate_shapes(alone, 0, output, own, zero_is_fixed=fixed)
        return
    cell_levels = find_levels(documents.rows, n_jobs=n_jobs)
    levels = cell_levels.levels
    for k in range(len(rates)):
        positives = count_class(cell_levels, list_documents(indicator, k))
        yield separate_classes(levels, positives[None], levels.values, rates[k : k + 1])
