"""Features replaced by the probability of a class near their value."""

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
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from spokeshave.shaping.frames import FrameEncoder, find_feature, find_nominal, is_frame, list_named
from spokeshave.shaping.levels import Census, Levels, store_all, take_census
from spokeshave.shaping.shapes import (
    FeatureShape,
    LevelCounts,
    Places,
    PlotMixin,
    Shapes,
    ValueCounts,
    choose_neighbors,
    count_documents,
    draw_images,
    estimate_shapes,
    find_places,
    find_zeros,
    place_values,
    take_shape,
)
from spokeshave.utils.validation import binarize, check_targets, tidy


class Given(NamedTuple):
    """Documents as rows of stored cells, and the kind of sparse matrix they came as, if any."""

    rows: sparse.csr_matrix
    kind: type | None


class Study(NamedTuple):
    """What shapes are learned from: documents, their classes, levels, counts, and parts.

    ``part_of`` is the part of a cross-validation that each document is in.
    """

    given: Given
    indicator: sparse.csc_matrix
    census: Census
    counts: LevelCounts
    part_of: NDArray[np.intp]

    @property
    def places(self) -> Places:
        """Where the cells of the documents are: each at a level."""
        return Places(self.given.rows.indices, self.census.of_cell, None)

    def count_parts(self) -> Iterator[LevelCounts]:
        """Yield the counts of each part."""
        for part in range(self.part_of.max() + 1):
            documents = np.flatnonzero(self.part_of == part)
            yield count_documents(self.census, self.indicator, documents)


def restore(given: Given, images: NDArray[np.float64]) -> Any:
    """Return the images of cells (classes x cells) in the form that the documents came in."""
    rows, n_classes = given.rows, len(images)
    shape = rows.shape[0], rows.shape[1] * n_classes
    data = images.T.ravel().astype(rows.dtype, copy=False)
    if given.kind is None and rows.nnz == rows.shape[0] * rows.shape[1]:
        return data.reshape(shape)
    # Copies: whoever changes what comes out must not change what went in.
    indices, indptr = rows.indices.copy(), rows.indptr.copy()
    if n_classes > 1:
        indices = (indices[:, None].astype(np.int64) * n_classes + np.arange(n_classes)).ravel()
        indptr = indptr.astype(np.int64) * n_classes
    if given.kind is not None:
        return given.kind((data, indices, indptr), shape)
    return sparse.csr_matrix((data, indices, indptr), shape).toarray()


def deal(
    indicator: sparse.csc_matrix, n_parts: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Return the part of each document: those of a class evenly, as far as each has one class."""
    rows = indicator.tocsr()
    label = np.full(rows.shape[0], -1)
    has_label = np.diff(rows.indptr) > 0
    label[has_label] = rows.indices[rows.indptr[:-1][has_label]]
    shuffled = rng.permutation(label.size)
    part_of = np.empty(label.size, np.intp)
    part_of[shuffled[np.argsort(label[shuffled], kind="stable")]] = np.arange(label.size) % n_parts
    return part_of


class LocalProbabilityShaper(PlotMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace each value of a feature by the probability of the class near it.

    The balanced-neighbour estimate of Forman, Scholz and Rajaram (2009): the documents with the
    value itself, up to ``n_neighbors / 2`` below and as many above, by rank and not by distance;
    of n such documents, p of them of the class, it is ``(p + 1) / (n + 2)``. Where equal values lie
    across the edge of the neighbourhood, they count in proportion: equal values get equal
    estimates, whatever the order of the rows. New values are interpolated linearly between the
    nearest two known ones, and those beyond the ends get the estimate there.

    Parameters
    ----------
    n_neighbors : float or "auto", default=30
        Neighbours, half of them from below and half from above. "auto" gives each class and
        feature 30, or those of 10, 90 and 270 that in a cross-validation make documents likelier,
        by more than one standard error.
    output : {"probability", "log_odds"}, default="probability"
        The estimate p, or ``log(p / (1 - p))``.
    zero : {"auto", "bin", "value"}, default="auto"
        "bin" keeps documents without a feature out of the neighbourhood of others and maps zero to
        zero, by taking the image of zero off every image. "value" treats zero as any number.
        "auto" is "bin" for sparse input and "value" for dense. Sparse input stays sparse in any
        case: the image of zero is always taken off there.
    cross_fit : bool, default=False
        Whether ``fit_transform`` gives each document estimates made from the documents of other
        parts of a cross-validation, as scikit-learn's ``TargetEncoder`` does, so that what is
        trained on them has not seen their labels. ``transform`` uses those of all documents.
    nominal : "auto" or array-like, default="auto"
        Columns whose values are names: each has the class's share among its own documents only,
        and a name that is new gets the class's share among all. Given as numbers or names of
        columns, or as a mask; "auto" takes the columns of a data frame that hold text, categories
        or truth values.
    cv : int, default=5
        Parts of the cross-validation of ``cross_fit`` and ``n_neighbors="auto"``, as like in their
        classes as can be.
    n_jobs : int, optional
        Threads; -1 for all cores. The result is the same whatever it is.
    random_state : int, RandomState instance or None, default=None
        Seed of those parts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; column numbers for multilabel targets.
    shapes_ : Shapes
        The tables of all features; `shape_of` gives one of them in readable form.
    n_neighbors_ : ndarray of shape (n_classes, n_features)
        The neighbours of each class and feature.
    n_features_in_ : int
        Features seen in fit.

    Notes
    -----
    Two classes give one column per feature, for the second class. Of more, and of multilabel
    targets, each gives a column of its own, side by side for each feature, as in ``TargetEncoder``.
    Missing values (NaN) have a bin of their own.

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
        self.learn(X, y)
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
        self : LocalProbabilityShaper
        """
        self.check_counts()
        self.encoder_: FrameEncoder | None = None
        self.n_features_in_, self.classes_ = found.n_features, classes
        self._settle(is_sparse=True)
        self._estimate(*place_values(found, zero_is_apart=self.zero_is_apart_))
        return self

    def check_counts(self) -> None:
        """Raise where a parameter is bad, or asks for more than counts of documents can tell."""
        self._check_parameters()
        if self.cross_fit:
            raise ValueError(
                "cross_fit must be False to learn from counts: they do not tell which documents "
                f"are in which part. Got {self.cross_fit!r} instead."
            )
        if self.n_neighbors == "auto":
            raise ValueError(
                "n_neighbors must be a number to learn from counts: they do not tell which "
                "documents are in which part of a cross-validation. Got 'auto' instead."
            )

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
        study = self.learn(X, y)
        if not self.cross_fit:
            return restore(study.given, self._draw(self.shapes_, study.places))
        indices, of_cell, _ = study.places
        images = np.empty((len(study.counts.positives), indices.size))
        part_of_cell = np.repeat(study.part_of, np.diff(study.census.indptr))
        for number, part in enumerate(study.count_parts()):
            others = study.counts.without(part)
            levels, is_nominal = study.census.levels, self.is_nominal_
            shapes = estimate_shapes(levels, others, self.n_neighbors_, is_nominal)
            cells = np.flatnonzero(part_of_cell == number)
            images[:, cells] = self._draw(shapes, Places(indices[cells], of_cell[cells], None))
        return restore(study.given, images)

    def transform(self, X: Any) -> Any:
        """Replace each value by its estimate.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_columns)
            Sparse where X is.
        """
        check_is_fitted(self)
        given = self.read(X)
        places = find_places(self.shapes_, given.rows, self.n_jobs)
        return restore(given, self._draw(self.shapes_, places))

    def shape_of(self, feature: int | str) -> FeatureShape:
        """Return what was learned of a feature.

        Parameters
        ----------
        feature : int or str
            Its number, or its name where fit saw names.

        Returns
        -------
        shape : FeatureShape
        """
        check_is_fitted(self)
        j = self.find_column(feature)
        names = OneToOneFeatureMixin.get_feature_names_out(self)
        shape = take_shape(self.shapes_, j, self.output, is_shifted=self.zero_is_fixed_)
        values: NDArray[Any] = shape.values
        if self.encoder_ is not None and j in self.encoder_.named:
            values = self.encoder_.decode(j, values)
        classes = self.classes_[-len(shape.images) :]
        return replace(shape, name=str(names[j]), classes=classes, values=values)

    def find_column(self, feature: int | str) -> int:
        """Return the number of a feature.

        Parameters
        ----------
        feature : int or str
            Its number, or its name where fit saw names.

        Returns
        -------
        j : int
        """
        return find_feature(feature, OneToOneFeatureMixin.get_feature_names_out(self))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns: those of the features, with the class of more than two.

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
        if len(self.shapes_.prior) == 1:
            return np.asarray(names)
        return np.array([f"{name}_{label}" for name in names for label in self.classes_], object)

    def learn(self, X: Any, y: Any) -> Study:
        """Do what `fit` does, and return what was learned from.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
            Targets.

        Returns
        -------
        study : Study
        """
        self._check_parameters()
        table, y = self._check_table(X, y, reset=True)
        self.classes_, indicator = binarize(check_targets(y))
        self._settle(is_sparse=sparse.issparse(table))
        study = self._count(self._store(table), indicator)
        self._estimate(study.census.levels, study.counts, study)
        return study

    def _settle(self, *, is_sparse: bool) -> None:
        """Decide what becomes of zeros, and which features are nominal."""
        self.zero_is_apart_ = self.zero == "bin" or (self.zero == "auto" and is_sparse)
        self.zero_is_fixed_ = self.zero_is_apart_ or is_sparse
        named = [] if self.encoder_ is None else self.encoder_.named
        names = getattr(self, "feature_names_in_", None)
        self.is_nominal_ = find_nominal(self.nominal, self.n_features_in_, names, named)

    def _estimate(self, levels: Levels, counts: LevelCounts, study: Study | None = None) -> None:
        if study is not None and self.n_neighbors == "auto":
            parts = study.count_parts()
            self.n_neighbors_ = choose_neighbors(levels, counts, parts, self.is_nominal_)
        else:
            shape = len(counts.positives), self.is_nominal_.size
            self.n_neighbors_ = np.full(shape, float(self.n_neighbors))
        self.shapes_ = estimate_shapes(levels, counts, self.n_neighbors_, self.is_nominal_)

    def _count(self, given: Given, indicator: sparse.csc_matrix) -> Study:
        zero_is_apart = self.zero_is_apart_ or not self.zero_is_fixed_  # none is left out then
        census = take_census(given.rows, zero_is_apart=zero_is_apart, n_jobs=self.n_jobs)
        part_of = np.zeros(indicator.shape[0], np.intp)
        if self.cross_fit or self.n_neighbors == "auto":
            part_of = deal(indicator, int(self.cv), check_random_state(self.random_state))
        return Study(given, indicator, census, count_documents(census, indicator), part_of)

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
                f"n_neighbors must be 'auto' or a number from 0 up. Got {n_neighbors!r} instead."
            )
        cv: Any = self.cv
        if not isinstance(cv, Integral) or int(cv) < 2:
            raise ValueError(f"cv must be a whole number from 2 up. Got {cv!r} instead.")

    def _check_table(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        """Return the documents as numbers, and y where it is given."""
        if reset:
            named = list_named(X) if is_frame(X) else []
            self.encoder_ = FrameEncoder(named).fit(X) if named else None
        if self.encoder_ is None:
            return validate_data(
                self,
                X,
                y,
                reset=reset,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite="allow-nan",
                **({} if isinstance(y, str) else {"multi_output": True}),
            )
        if not is_frame(X):
            raise ValueError(
                "X must be a data frame with the columns that fit saw, some of which hold names. "
                f"Got {type(X).__name__} instead."
            )
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        table = self.encoder_.transform(X)
        if isinstance(y, str):
            return table
        y = y if sparse.issparse(y) else np.asarray(y)
        check_consistent_length(table, y)
        return table, y

    def read(self, X: Any) -> Given:
        """Return documents as the rows whose cells the shapes are applied to.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        given : Given
        """
        check_is_fitted(self)
        return self._store(self._check_table(X))

    def to_numbers(self, X: Any) -> Any:
        """Return documents as numbers, with a number for each name in a nominal column.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_documents, n_features)
        """
        check_is_fitted(self)
        return self._check_table(X)

    def _store(self, table: Any) -> Given:
        """Return a table as rows: without its zeros where these stay zero."""
        kind = type(table) if sparse.issparse(table) else None
        if self.zero_is_fixed_:
            return Given(tidy(table), kind)
        if kind is not None:
            raise ValueError(
                "X must be dense, as it was in fit: zero was a value like others there, which "
                "would fill a sparse matrix. Got a sparse matrix instead."
            )
        return Given(store_all(table), None)

    def _draw(self, shapes: Shapes, places: Places) -> NDArray[np.float64]:
        """Return the images of cells (classes x cells)."""
        n_classes, n_features = len(shapes.prior), shapes.levels.zero_level.size
        images = np.empty((n_classes, places.left.size))
        one, nothing = np.ones(n_features), np.zeros(n_features)
        for k in range(n_classes):
            base = find_zeros(shapes, k, self.output) if self.zero_is_fixed_ else nothing
            draw_images(shapes, k, places, self.output, base, one, images[k])
        return images

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
