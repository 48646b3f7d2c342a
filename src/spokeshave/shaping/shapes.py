"""Shapes: the probability of each class at each level of a feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from spokeshave.kernels.shaping import MISSING, N_BINS, draw, estimate, look_up
from spokeshave.shaping.levels import LevelCounts, Levels, run_threads, split_cells

DEFAULT_NEIGHBORS = 30.0  # as in the paper
OTHER_NEIGHBORS = (10.0, 90.0, 270.0)


class Shapes(NamedTuple):
    """The shape of every feature for every class.

    Attributes
    ----------
    levels : distinct values of each feature
    is_nominal : whether each feature is nominal
    positives : documents of each class at each level (classes x levels)
    probability : probability of each class at each level (classes x levels)
    prior : probability of each class at a value about which nothing is known
    """

    levels: Levels
    is_nominal: NDArray[np.bool_]
    positives: NDArray[np.int32]
    probability: NDArray[np.float64]
    prior: NDArray[np.float64]

    @property
    def n_documents(self) -> int:
        """Number of documents, each of which is at one level of the first feature."""
        first, end = self.levels.starts[:2]
        return int(self.levels.sizes[first:end].sum())

    @property
    def n_positive(self) -> NDArray[np.int64]:
        """Number of documents of each class."""
        first, end = self.levels.starts[:2]
        return np.asarray(self.positives[:, first:end].sum(axis=1))

    def of_class(self, k: int) -> Shapes:
        """Return the shapes for class k alone."""
        own = slice(k, k + 1)
        return self._replace(
            positives=self.positives[own], probability=self.probability[own], prior=self.prior[own]
        )


def estimate_shapes(
    levels: Levels,
    counts: LevelCounts,
    n_neighbors: NDArray[np.float64],
    is_nominal: NDArray[np.bool_],
) -> Shapes:
    """Estimate the probability of each class at each level from counts of documents.

    ``n_neighbors`` is (classes x features). A level without documents is estimated from its
    neighbours, like any value between two levels.
    """
    sizes, positives, n_documents, n_positive = counts
    prior = (n_positive + 1) / (n_documents + 2)
    reach = np.where(is_nominal, 0.0, n_neighbors / 2)
    probability = np.empty(positives.shape)
    for k, of_class in enumerate(positives):
        estimate(levels.starts, sizes, of_class, reach[k], prior[k], probability[k])
    return Shapes(levels, is_nominal, positives, probability, prior)


def choose_neighbors(
    levels: Levels,
    counts: LevelCounts,
    folds: Iterable[LevelCounts],
    is_nominal: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Choose the number of neighbours for each class and feature (classes x features).

    Each fold is scored by estimates from the other folds. The result is the default, unless
    another number raises the mean log likelihood of a document by more than one standard error of
    the difference; of several such numbers, the one with the highest mean.
    """
    shape = len(counts.positives), is_nominal.size
    total, squares = np.zeros((2, len(OTHER_NEIGHBORS), *shape))
    for fold in folds:
        rest = counts.without(fold)
        default = np.full(shape, DEFAULT_NEIGHBORS)
        usual = estimate_shapes(levels, rest, default, is_nominal).probability
        negatives = fold.sizes - fold.positives
        for number, n_neighbors in enumerate(OTHER_NEIGHBORS):
            found = estimate_shapes(levels, rest, np.full(shape, n_neighbors), is_nominal)
            gain = np.log(found.probability / usual)
            loss = np.log((1 - found.probability) / (1 - usual))
            for power, sums in ((1, total), (2, squares)):
                of_levels = fold.positives * gain**power + negatives * loss**power
                sums[number] += np.add.reduceat(of_levels, levels.starts[:-1], axis=1)
    mean = total / counts.n_documents
    error = np.sqrt(np.maximum(squares / counts.n_documents - mean**2, 0) / counts.n_documents)
    best = np.where(mean > error, mean, 0).argmax(axis=0)
    is_better = (mean > error).any(axis=0)
    return np.where(is_better, np.array(OTHER_NEIGHBORS)[best], DEFAULT_NEIGHBORS)


class CellPositions(NamedTuple):
    """Positions of stored cells among the levels of their columns.

    ``left`` is the level of a cell, or the next lower one; ``share`` is how far the cell lies on
    the way to the next higher one, or None if every cell is exactly at a level.
    """

    indices: NDArray[Any]
    left: NDArray[np.uint32]
    share: NDArray[np.float64] | None


def locate_cells(shapes: Shapes, X: sparse.csr_matrix, n_jobs: int | None = None) -> CellPositions:
    """Find the position of each stored cell of X among the levels."""
    starts, values, *_ = shapes.levels
    left, share = np.empty(X.nnz, np.uint32), np.empty(X.nnz)
    tables = starts, values, shapes.is_nominal
    parts = split_cells(X.nnz, n_jobs)
    run_threads(
        look_up, [(X.indices[at], X.data[at], *tables, left[at], share[at]) for at in parts]
    )
    return CellPositions(X.indices, left, share)


def map_cells(
    shapes: Shapes,
    k: int,
    positions: CellPositions,
    output: str,
    base: NDArray[np.float64],
    factor: NDArray[np.float64],
    images: NDArray[Any],
) -> None:
    """Write the image of each cell for class k, minus its column's base, times its factor."""
    table, is_log = shapes.probability[k], output == "log_odds"
    draw(*positions, table, shapes.prior[k], is_log, base, factor, images)


def map_levels(shapes: Shapes, k: int, output: str) -> NDArray[np.float64]:
    """Return the image of each level for class k; the image of zero is not subtracted."""
    probability = shapes.probability[k]
    return np.asarray(logit(probability) if output == "log_odds" else probability)


def map_zeros(shapes: Shapes, k: int, output: str) -> NDArray[np.float64]:
    """Return the image of zero in each column for class k."""
    return np.asarray(map_levels(shapes, k, output)[shapes.levels.zero_level])


@dataclass(frozen=True, eq=False)
class FeatureShape:
    """The learned shape of one feature.

    Attributes
    ----------
    name : str
        The feature.
    classes : ndarray of shape (n_classes,)
        The classes whose images are given; for two classes, the second one.
    values : ndarray of shape (n_values,)
        The values seen in fit, ascending; category names for a nominal feature.
    images : ndarray of shape (n_classes, n_values)
        The number that each value is replaced by.
    sizes : ndarray of shape (n_values,)
        Documents with each value.
    positives : ndarray of shape (n_classes, n_values)
        Documents of each class with each value.
    n_zero, n_missing : int
        Documents in the bin of zeros, and in the bin of missing values.
    zero, missing : ndarray of shape (n_classes,)
        The images of zero and of a missing value, also if no document is in the bin.
    is_nominal : bool
        Whether the feature is nominal, so that values are not interpolated.
    """

    name: str
    classes: NDArray[Any]
    values: NDArray[Any]
    images: NDArray[np.float64]
    sizes: NDArray[np.int64]
    positives: NDArray[np.int32]
    n_zero: int
    n_missing: int
    zero: NDArray[np.float64]
    missing: NDArray[np.float64]
    is_nominal: bool

    def stretch(self, base: NDArray[np.float64], factor: NDArray[np.float64]) -> FeatureShape:
        """Return the shape with each class's base subtracted and multiplied by its factor."""
        return replace(
            self,
            images=(self.images - base[:, None]) * factor[:, None],
            zero=(self.zero - base) * factor,
            missing=(self.missing - base) * factor,
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the images over the densities of the classes; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        from spokeshave.utils.plotting import draw_shape

        return draw_shape(self, ax=ax)


class PlotMixin:
    """Add ``plot`` to an estimator with a ``shape_of`` method."""

    def plot(self, feature: int | str, ax: Any = None) -> Any:
        """Draw the shape of a feature over the densities of the classes; needs matplotlib.

        Parameters
        ----------
        feature : int or str
            Its number, or its name if fit saw feature names.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        shape: FeatureShape = self.shape_of(feature)  # type: ignore[attr-defined]
        return shape.plot(ax=ax)


def extract_shape(shapes: Shapes, j: int, output: str, *, is_shifted: bool) -> FeatureShape:
    """Return the shape of feature j, with numbers for the names of feature and classes."""
    levels = shapes.levels
    first, end = levels.starts[j], levels.starts[j + 1]
    images = shapes.probability[:, first:end]
    if output == "log_odds":
        images = logit(images)
    zero = levels.zero_level[j] - first
    if is_shifted:
        images = images - images[:, zero, None]
    return FeatureShape(
        name=str(j),
        classes=np.arange(len(images)),
        values=levels.values[first + N_BINS : end],
        images=images[:, N_BINS:],
        sizes=levels.sizes[first + N_BINS : end],
        positives=shapes.positives[:, first + N_BINS : end],
        n_zero=int(levels.sizes[first]),
        n_missing=int(levels.sizes[first + MISSING]),
        zero=images[:, zero],
        missing=images[:, MISSING],
        is_nominal=bool(shapes.is_nominal[j]),
    )
