"""Replace features by the probability of the class near their value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from spokeshave.shaping.frames import (
    NUMERIC,
    FrameEncoder,
    find_feature,
    find_nominal,
    is_frame,
    list_named,
)
from spokeshave.shaping.levels import (
    CellLevels,
    LevelCounts,
    Levels,
    ValueCounts,
    count_levels,
    expand_counts,
    find_levels,
    store_all,
)
from spokeshave.shaping.shapes import (
    CellPositions,
    FeatureShape,
    PlotMixin,
    Shapes,
    choose_neighbors,
    estimate_shapes,
    extract_shape,
    locate_cells,
    map_cells,
    map_zeros,
)
from spokeshave.utils.validation import (
    binarize,
    check_target_format,
    check_targets,
    tidy,
    validate_data,
)


class LocalProbabilityShaper(PlotMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace each value of a feature by the probability of the class near it.

    This is the balanced-neighbour estimate of Forman, Scholz and Rajaram (2009). The neighbourhood
    of a value holds all documents with the value itself, ``n_neighbors / 2`` below and as many
    above, by rank and not by distance. With n documents in the neighbourhood, p of them of the
    class, the estimate is ``(p + 1) / (n + 2)``. Equal values at the edge of a neighbourhood count
    in proportion, so equal values get equal estimates in any order of the rows. New values are
    interpolated linearly between the two nearest known ones; values beyond the ends get the
    estimate at the end.

    Parameters
    ----------
    n_neighbors : float or "auto", default=30
        Number of neighbours, half of them below and half above. With "auto" each class and feature
        has 30, unless 10, 90 or 270 raise the likelihood in a cross-validation by more than one
        standard error.
    output : {"probability", "log_odds"}, default="probability"
        The estimate p, or ``log(p / (1 - p))``.
    zero : {"auto", "bin", "value"}, default="auto"
        With "bin", zeros are a bin of their own, outside all neighbourhoods, and zero is mapped to
        zero by subtracting its image from all images. With "value", zero is a number like any
        other. "auto" is "bin" for sparse input and "value" for dense input. Sparse input always
        stays sparse: there the image of zero is subtracted in any case.
    cross_fit : bool, default=False
        Whether ``fit_transform`` estimates each document from the other folds of a
        cross-validation, as scikit-learn's ``TargetEncoder`` does, so that a model trained on the
        result has not seen the document's label. ``transform`` uses estimates from all documents.
    nominal : "auto" or array-like, default="auto"
        Columns whose values are category names. A name is replaced by the share of the class among
        its documents, a new name by the share among all documents. Given as column numbers, column
        names or a boolean mask; "auto" selects the text, categorical and boolean columns of a data
        frame.
    cv : int, default=5
        Number of stratified folds for ``cross_fit`` and ``n_neighbors="auto"``.
    n_jobs : int, optional
        Number of threads; -1 for all cores. It does not affect the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for multilabel targets.
    shapes_ : Shapes
        The tables of all features; `shape_of` returns one of them in readable form.
    n_neighbors_ : ndarray of shape (n_classes, n_features)
        The number of neighbours of each class and feature.
    n_features_in_ : int
        Number of features seen in fit.

    Notes
    -----
    Two classes give one column per feature, for the second class. More classes, and multilabel
    targets, give one column per feature and class, side by side for each feature, as in
    ``TargetEncoder``. Missing values (NaN) have a bin of their own.

    Examples
    --------
    >>> from spokeshave import LocalProbabilityShaper
    >>> speed = [[40], [45], [60], [62], [63], [90], [95]]
    >>> hurt = [1, 1, 0, 0, 0, 1, 1]
    >>> shaper = LocalProbabilityShaper(n_neighbors=2).fit(speed, hurt)
    >>> shaper.transform([[40], [60], [61], [200]]).ravel()
    array([0.75, 0.4 , 0.3 , 0.75])
    """

    def __init__(
        self,
        *,
        n_neighbors: float | str = 30,
        output: str = "probability",
        zero: str = "auto",
        cross_fit: bool = False,
        nominal: Any = "auto",
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.output = output
        self.zero = zero
        self.cross_fit = cross_fit
        self.nominal = nominal
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the shape of each feature.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents. NaN is a missing value.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Labels, or a column of zeros and ones per class.

        Returns
        -------
        self : LocalProbabilityShaper
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Any:
        """Learn the shape of each feature and apply it, cross-fitted if ``cross_fit``.

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
        training = self._fit(X, y)
        if not self.cross_fit:
            return training.input.restore(self._map(self.shapes_, training.positions))
        indices, of_cell, _ = training.positions
        images = np.empty((len(training.counts.positives), indices.size))
        fold_of_cell = np.repeat(training.fold_of, np.diff(training.cell_levels.indptr))
        for number, fold in enumerate(training.count_folds()):
            others = training.counts.without(fold)
            levels, is_nominal = training.cell_levels.levels, self.is_nominal_
            shapes = estimate_shapes(levels, others, self.n_neighbors_, is_nominal)
            cells = np.flatnonzero(fold_of_cell == number)
            images[:, cells] = self._map(
                shapes, CellPositions(indices[cells], of_cell[cells], None)
            )
        return training.input.restore(images)

    def transform(self, X: Any) -> Any:
        """Replace each value by its estimate.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_columns)
            Sparse if X is sparse.
        """
        check_is_fitted(self)
        rows = self._read(X)
        return rows.restore(
            self._map(self.shapes_, locate_cells(self.shapes_, rows.matrix, self.n_jobs))
        )

    def shape_of(self, feature: int | str) -> FeatureShape:
        """Return the learned shape of a feature.

        Parameters
        ----------
        feature : int or str
            Its number, or its name if fit saw feature names.

        Returns
        -------
        shape : FeatureShape
        """
        check_is_fitted(self)
        j = self._find_column(feature)
        names = OneToOneFeatureMixin.get_feature_names_out(self)
        shape = extract_shape(self.shapes_, j, self.output, is_shifted=self.zero_is_fixed_)
        values: NDArray[Any] = shape.values
        if self.encoder_ is not None and j in self.encoder_.named:
            values = self.encoder_.decode(j, values)
        classes = self.classes_[-len(shape.images) :]
        return replace(shape, name=str(names[j]), classes=classes, values=values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return column names: feature names, with the class appended if there are more than two.

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
        if len(self.shapes_.prior) == 1:
            return np.asarray(names)
        return np.array([f"{name}_{label}" for name in names for label in self.classes_], object)

    def _fit(self, X: Any, y: Any) -> TrainingData:
        """Fit, and return the data that the shapes were learned from."""
        self._check_parameters()
        table, y = self._check_table(X, y, reset=True)
        self.classes_, indicator = binarize(check_targets(y))
        self._resolve_options(is_sparse=sparse.issparse(table))
        training = self._count(self._store(table), indicator)
        self._estimate(training.cell_levels.levels, training.counts, training)
        return training

    def _fit_counts(self, found: ValueCounts, classes: NDArray[Any]) -> Self:
        """Fit to sparse documents, given only the counts of their values.

        Of two classes, the counts are those of the second one.
        """
        self._check_counts()
        self.encoder_: FrameEncoder | None = None
        self.n_features_in_, self.classes_ = found.n_features, classes
        self._resolve_options(is_sparse=True)
        self._estimate(*expand_counts(found, zero_is_apart=self.zero_is_apart_))
        return self

    def _check_counts(self) -> None:
        """Raise if a parameter is invalid, or needs more than counts of values."""
        self._check_parameters()
        if self.cross_fit:
            raise ValueError(
                "cross_fit must be False to learn from counts: they do not tell which documents "
                f"are in which fold. Got {self.cross_fit!r} instead."
            )
        if self.n_neighbors == "auto":
            raise ValueError(
                "n_neighbors must be a number to learn from counts: they do not tell which "
                "documents are in which fold of a cross-validation. Got 'auto' instead."
            )

    def _resolve_options(self, *, is_sparse: bool) -> None:
        """Decide how zeros are treated, and which features are nominal."""
        self.zero_is_apart_ = self.zero == "bin" or (self.zero == "auto" and is_sparse)
        self.zero_is_fixed_ = self.zero_is_apart_ or is_sparse
        named = [] if self.encoder_ is None else self.encoder_.named
        names = getattr(self, "feature_names_in_", None)
        self.is_nominal_ = find_nominal(self.nominal, self.n_features_in_, names, named)

    def _estimate(
        self, levels: Levels, counts: LevelCounts, training: TrainingData | None = None
    ) -> None:
        if training is not None and self.n_neighbors == "auto":
            folds = training.count_folds()
            self.n_neighbors_ = choose_neighbors(levels, counts, folds, self.is_nominal_)
        else:
            shape = len(counts.positives), self.is_nominal_.size
            self.n_neighbors_ = np.full(shape, float(self.n_neighbors))
        self.shapes_ = estimate_shapes(levels, counts, self.n_neighbors_, self.is_nominal_)

    def _count(self, rows: InputRows, indicator: sparse.csc_matrix) -> TrainingData:
        zero_is_apart = self.zero_is_apart_ or not self.zero_is_fixed_  # then all cells are stored
        cell_levels = find_levels(rows.matrix, zero_is_apart=zero_is_apart, n_jobs=self.n_jobs)
        fold_of = np.zeros(indicator.shape[0], np.intp)
        if self.cross_fit or self.n_neighbors == "auto":
            fold_of = assign_folds(indicator, int(self.cv), check_random_state(self.random_state))
        counts = count_levels(cell_levels, indicator)
        return TrainingData(rows, indicator, cell_levels, counts, fold_of)

    def _check_parameters(self) -> None:
        for name, names in (
            ("output", ("probability", "log_odds")),
            ("zero", ("auto", "bin", "value")),
        ):
            if getattr(self, name) not in names:
                given = ", ".join(map(repr, names))
                raise ValueError(
                    f"{name} must be one of {given}. Got {getattr(self, name)!r} instead."
                )
        n_neighbors: Any = self.n_neighbors
        is_number = isinstance(n_neighbors, Real) and 0 <= float(n_neighbors) < np.inf
        if n_neighbors != "auto" and not is_number:
            raise ValueError(
                f"n_neighbors must be 'auto' or a number >= 0. Got {n_neighbors!r} instead."
            )
        cv: Any = self.cv
        if not isinstance(cv, Integral) or int(cv) < 2:
            raise ValueError(f"cv must be an integer >= 2. Got {cv!r} instead.")

    def _check_table(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        """Return X as numbers, each category name replaced by its number, and y if it is given."""
        if reset:
            named = list_named(X) if is_frame(X) else []
            self.encoder_ = FrameEncoder(named).fit(X) if named else None
        if self.encoder_ is None:
            return validate_data(
                self,
                X,
                y,
                reset=reset,
                ensure_all_finite="allow-nan",
                **NUMERIC,
                **({} if isinstance(y, str) else {"multi_output": True}),
            )
        if not is_frame(X):
            raise ValueError(
                "X must be a data frame with the columns seen in fit, some of which are nominal. "
                f"Got {type(X).__name__} instead."
            )
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        table = self.encoder_.transform(X)
        if isinstance(y, str):
            return table
        y = check_target_format(y)
        check_consistent_length(table, y)
        return table, y

    def _read(self, X: Any) -> InputRows:
        """Return new documents as rows."""
        return self._store(self._check_table(X))

    def _store(self, table: Any) -> InputRows:
        """Return a table as rows, without its zeros if they stay zero."""
        container = type(table) if sparse.issparse(table) else None
        if self.zero_is_fixed_:
            return InputRows(tidy(table), container)
        if container is not None:
            raise ValueError(
                "X must be dense, as it was in fit: zeros are shaped like other values, which "
                "would make a sparse matrix dense. Got a sparse matrix instead."
            )
        return InputRows(store_all(table), None)

    def _map(self, shapes: Shapes, positions: CellPositions) -> NDArray[np.float64]:
        """Return the images of cells (classes x cells)."""
        n_classes, n_features = len(shapes.prior), shapes.levels.zero_level.size
        images = np.empty((n_classes, positions.left.size))
        one, nothing = np.ones(n_features), np.zeros(n_features)
        for k in range(n_classes):
            base = map_zeros(shapes, k, self.output) if self.zero_is_fixed_ else nothing
            map_cells(shapes, k, positions, self.output, base, one, images[k])
        return images

    def _find_column(self, feature: int | str) -> int:
        """Return the number of a feature, given its number or name."""
        return find_feature(feature, OneToOneFeatureMixin.get_feature_names_out(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class InputRows(NamedTuple):
    """Documents as CSR rows, and the type of sparse matrix they came as; None for dense input."""

    matrix: sparse.csr_matrix
    container: type | None

    def restore(self, images: NDArray[np.float64]) -> Any:
        """Return the images of the cells (classes x cells) in the format of the input."""
        rows, n_classes = self.matrix, len(images)
        shape = rows.shape[0], rows.shape[1] * n_classes
        data = images.T.ravel().astype(rows.dtype, copy=False)
        if self.container is None and rows.nnz == rows.shape[0] * rows.shape[1]:
            return data.reshape(shape)
        # Copies: changing the output must not change the input.
        indices, indptr = rows.indices.copy(), rows.indptr.copy()
        if n_classes > 1:
            indices = (indices[:, None].astype(np.int64) * n_classes + np.arange(n_classes)).ravel()
            indptr = indptr.astype(np.int64) * n_classes
        if self.container is not None:
            return self.container((data, indices, indptr), shape)
        return sparse.csr_matrix((data, indices, indptr), shape).toarray()


class TrainingData(NamedTuple):
    """Documents with their classes, levels and counts; ``fold_of`` is the fold of each document."""

    input: InputRows
    indicator: sparse.csc_matrix
    cell_levels: CellLevels
    counts: LevelCounts
    fold_of: NDArray[np.intp]

    @property
    def positions(self) -> CellPositions:
        """Positions of the cells, each exactly at a level."""
        return CellPositions(self.input.matrix.indices, self.cell_levels.of_cell, None)

    def count_folds(self) -> Iterator[LevelCounts]:
        """Yield the counts of each fold."""
        for fold in range(self.fold_of.max() + 1):
            documents = np.flatnonzero(self.fold_of == fold)
            yield count_levels(self.cell_levels, self.indicator, documents)


def assign_folds(
    indicator: sparse.csc_matrix, n_folds: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Return a fold for each document, stratified by its first class."""
    rows = indicator.tocsr()
    label = np.full(rows.shape[0], -1)
    has_label = np.diff(rows.indptr) > 0
    label[has_label] = rows.indices[rows.indptr[:-1][has_label]]
    shuffled = rng.permutation(label.size)
    fold_of = np.empty(label.size, np.intp)
    fold_of[shuffled[np.argsort(label[shuffled], kind="stable")]] = np.arange(label.size) % n_folds
    return fold_of
