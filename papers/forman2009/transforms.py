"""Transforms that the paper names without describing them: of ROC analysis, and other scalings.

Sections 3.3 and 3.4. Zeros of sparse columns stay zero, as with the paper's own shaper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.isotonic import isotonic_regression
from sklearn.utils import Tags

Rates = NDArray[np.float64]


class LevelsOfColumn(NamedTuple):
    """The distinct values of a column in ascending order, their cases and positive cases."""

    values: NDArray[np.float64]
    cases: NDArray[np.float64]
    positives: NDArray[np.float64]


def list_levels(X: Any, y: NDArray[np.int64]) -> Iterator[LevelsOfColumn]:
    """Yield the levels of each column; those of a sparse column include zero."""
    if not sparse.issparse(X):
        for column in np.asarray(X, float).T:
            yield _count_levels(column, np.ones(y.size), y.astype(float))
        return
    X = sparse.csc_matrix(X)
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        of = y[X.indices[start:end]].astype(float)
        values, cases = X.data[start:end], np.ones(of.size)
        if of.size < y.size:
            values, cases = np.append(values, 0.0), np.append(cases, y.size - of.size)
            of = np.append(of, y.sum() - of.sum())
        yield _count_levels(values, cases, of)


def _count_levels(values: Rates, cases: Rates, positives: Rates) -> LevelsOfColumn:
    levels, which = np.unique(values, return_inverse=True)
    sums = (np.bincount(which, weights).astype(float) for weights in (cases, positives))
    return LevelsOfColumn(levels, *sums)


class _ByColumn(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that maps each column by itself, given the class."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        y = np.asarray(y).astype(np.int64)
        self.n_features_in_ = X.shape[1]
        self.maps_ = [self._fit_column(levels) for levels in list_levels(X, y)]
        return self

    def transform(self, X: Any) -> Any:
        if not sparse.issparse(X):
            columns = zip(np.asarray(X, float).T, self.maps_, strict=True)
            return np.column_stack([np.interp(column, *to) for column, to in columns])
        found = sparse.csc_matrix(X, copy=True).astype(float)
        for j, to in enumerate(self.maps_):
            part = slice(found.indptr[j], found.indptr[j + 1])
            found.data[part] = np.interp(found.data[part], *to) - np.interp(0.0, *to)
        return found.tocsr()

    def _fit_column(self, levels: LevelsOfColumn) -> tuple[Rates, Rates]:
        """Return values and their images; images between them are interpolated."""
        raise NotImplementedError


class IsotonicShaper(_ByColumn):
    """Replace each value by the probability of the class, a monotone function of the value.

    This is the isotonic regression that the convex hull of the ROC curve gives, rising or falling
    with the value, whichever fits better.
    """

    def _fit_column(self, levels: LevelsOfColumn) -> tuple[Rates, Rates]:
        rate = levels.positives / levels.cases
        fits = [
            isotonic_regression(rate, sample_weight=levels.cases, increasing=is_rising)
            for is_rising in (True, False)
        ]
        return levels.values, min(fits, key=lambda fit: float(levels.cases @ (fit - rate) ** 2))


def measure_hellinger(tpr: Rates, fpr: Rates, share: float) -> Rates:
    """Return the Hellinger distance of the two classes on both sides of a threshold."""
    squares = (np.sqrt(tpr) - np.sqrt(fpr)) ** 2 + (np.sqrt(1 - tpr) - np.sqrt(1 - fpr)) ** 2
    return np.asarray(np.sqrt(squares))


def measure_gain(tpr: Rates, fpr: Rates, share: float) -> Rates:
    """Return the information gain of a threshold in bits; ``share`` is that of the positives."""
    above = share * tpr + (1 - share) * fpr
    joint = sum(entr(rate) for rate in (share * tpr, (1 - share) * fpr, share * (1 - tpr))) + entr(
        (1 - share) * (1 - fpr)
    )
    of_class = entr(share) + entr(1 - share)
    return np.asarray((of_class + entr(above) + entr(1 - above) - joint) / np.log(2))


MEASURES: dict[str, Callable[[Rates, Rates, float], Rates]] = {
    "hellinger": measure_hellinger,
    "information gain": measure_gain,
}


class ThresholdScaler(_ByColumn):
    """Scale each column to the range from 0 to a measure, the best over all thresholds.

    Section 3.4, with another measure in place of the Bi-Normal Separation.
    """

    def __init__(self, measure: str = "hellinger") -> None:
        self.measure = measure

    def _fit_column(self, levels: LevelsOfColumn) -> tuple[Rates, Rates]:
        ends = levels.values[[0, -1]]
        if levels.values.size == 1:
            return ends[:1], np.zeros(1)
        n, n_positive = levels.cases.sum(), levels.positives.sum()
        below = np.cumsum(levels.positives)[:-1], np.cumsum(levels.cases - levels.positives)[:-1]
        tpr, fpr = 1 - below[0] / n_positive, 1 - below[1] / (n - n_positive)
        scores = MEASURES[self.measure](tpr.clip(0, 1), fpr.clip(0, 1), n_positive / n)
        return ends, np.array([0.0, scores.max()])
