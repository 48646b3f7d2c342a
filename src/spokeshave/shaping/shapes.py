"""The probability of each class at each value of a feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from spokeshave.kernels.shaping import MISSING, N_BINS, ZERO, draw, look_up
from spokeshave.shaping.levels import (
    Census,
    Levels,
    count_class,
    estimate_class,
    run_shares,
    slice_cells,
)
from spokeshave.utils.validation import list_documents


class Shapes(NamedTuple):
    """The shape of every feature for every class.

    Attributes
    ----------
    levels : the distinct values of each feature
    is_nominal : whether the values of each feature are names, not amounts
    positives : documents of each class at each level (classes x levels)
    probability : of each class at each level (classes x levels)
    prior : the probability of each class where nothing is known of a value
    """

    levels: Levels
    is_nominal: NDArray[np.bool_]
    positives: NDArray[np.int32]
    probability: NDArray[np.float64]
    prior: NDArray[np.float64]

    @property
    def n_documents(self) -> int:
        """Documents: each of them is at one level of the first feature."""
        first, end = self.levels.starts[:2]
        return int(self.levels.sizes[first:end].sum())

    @property
    def n_positive(self) -> NDArray[np.int64]:
        """Documents of each class: each of them is at one level of the first feature."""
        first, end = self.levels.starts[:2]
        return np.asarray(self.positives[:, first:end].sum(axis=1))

    def of_class(self, k: int) -> Shapes:
        """Return the shapes for class k alone."""
        own = slice(k, k + 1)
        return self._replace(
            positives=self.positives[own], probability=self.probability[own], prior=self.prior[own]
        )


class Places(NamedTuple):
    """Where the stored cells of some documents are among the levels.

    ``left`` is the level of a cell or the one below it, and ``share`` how far it is on its way to
    the next; None where every cell is at a level.
    """

    indices: NDArray[Any]
    left: NDArray[np.uint32]
    share: NDArray[np.float64] | None


class LevelCounts(NamedTuple):
    """What is known of some documents: the counts of several sets of them add up.

    Attributes
    ----------
    sizes : documents at each level
    positives : those of each class (classes x levels)
    n_documents : documents
    n_positive : those of each class
    """

    sizes: NDArray[np.int64]
    positives: NDArray[np.int32]
    n_documents: int
    n_positive: NDArray[np.int64]

    def without(self, part: LevelCounts) -> LevelCounts:
        """Return the counts of the documents that are not in a part."""
        return LevelCounts(
            self.sizes - part.sizes,
            self.positives - part.positives,
            self.n_documents - part.n_documents,
            self.n_positive - part.n_positive,
        )


def count_documents(
    census: Census, indicator: sparse.csc_matrix, documents: NDArray[np.intp] | None = None
) -> LevelCounts:
    """Return the counts of some documents, or of all."""
    n_documents, n_classes = indicator.shape
    positives = np.empty((n_classes, census.levels.values.size), np.int32)
    is_counted = np.ones(n_documents, bool)
    sizes = census.levels.sizes
    if documents is not None:
        is_counted[:] = False
        is_counted[documents] = True
        sizes = count_class(census, documents).astype(np.int64)
    n_positive = np.empty(n_classes, np.int64)
    for k in range(n_classes):
        of_class = list_documents(indicator, k)
        of_class = of_class[is_counted[of_class]]
        positives[k], n_positive[k] = count_class(census, of_class), of_class.size
    return LevelCounts(sizes, positives, int(is_counted.sum()), n_positive)


class ValueCounts(NamedTuple):
    """How many sparse documents have each value of each feature: all that shapes are made of.

    Attributes
    ----------
    features, values : each pair that occurs, in order, a missing value after the others; no zeros
    counts : documents with it, all and then those of each class (1 + classes x pairs)
    totals : documents, all and then those of each class
    n_features : features, those that no document has among them
    """

    features: NDArray[Any]
    values: NDArray[np.float64]
    counts: sparse.csr_matrix
    totals: NDArray[np.int64]
    n_features: int


def place_values(found: ValueCounts, *, zero_is_apart: bool) -> tuple[Levels, LevelCounts]:
    """Return the levels and the counts that a census of the documents gives.

    Examples
    --------
    >>> having = sparse.csr_matrix([[1, 2], [1, 0]])  # of three documents, two of them of a class
    >>> found = ValueCounts(np.array([0, 0]), np.array([3.0, 5.0]), having, np.array([3, 2]), 1)
    >>> levels, counts = place_values(found, zero_is_apart=True)
    >>> levels.values, counts.sizes, counts.positives
    (array([ 0., nan, 3., 5.]), array([0, 0, 1, 2]), array([[1, 0, 1, 0]], dtype=int32))
    """
    features, n_features = found.features, found.n_features
    starts, zero_level, at = _lay_out(found, zero_is_apart)
    values = np.zeros(starts[-1])
    values[starts[:-1] + MISSING] = np.nan
    values[at] = found.values
    sizes = np.zeros(values.size, np.int64)
    positives = np.zeros((found.totals.size - 1, values.size), np.int32)
    for row, documents in enumerate((sizes, *positives)):
        of_row = slice(*found.counts.indptr[row : row + 2])
        pairs, n_having = found.counts.indices[of_row], found.counts.data[of_row]
        documents[at[pairs]] = n_having
        stored = np.bincount(features[pairs], n_having, n_features)  # exact in double precision
        documents[zero_level] = found.totals[row] - stored.astype(np.int64)
    levels = Levels(starts, values, sizes, zero_level)
    return levels, LevelCounts(sizes, positives, int(found.totals[0]), found.totals[1:])


def _lay_out(
    found: ValueCounts, zero_is_apart: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return where the levels of features start, which of them is zero, and that of each pair."""
    features, values, n_features = found.features, found.values, found.n_features
    is_missing = np.isnan(values)
    n_pairs = np.bincount(features, minlength=n_features)
    n_values = np.bincount(features[~is_missing], minlength=n_features)
    starts = np.zeros(n_features + 1, np.int64)
    np.cumsum(N_BINS + n_values + (not zero_is_apart), out=starts[1:])
    rank = np.arange(values.size) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
    at = starts[features] + N_BINS + rank
    zero_level = starts[:-1] + ZERO
    if not zero_is_apart:
        at += values > 0
        n_below = np.bincount(features[values < 0], minlength=n_features)
        zero_level = starts[:-1] + N_BINS + n_below
    at[is_missing] = starts[features[is_missing]] + MISSING
    return starts, zero_level, at


def estimate_shapes(
    levels: Levels,
    counts: LevelCounts,
    n_neighbors: NDArray[np.float64],
    is_nominal: NDArray[np.bool_],
) -> Shapes:
    """Estimate the probability of each class at each level from counts of documents.

    ``n_neighbors`` is (classes x features). A level that no document is at has its neighbours, as
    any value between two others has.
    """
    sizes, positives, n_documents, n_positive = counts
    prior = (n_positive + 1) / (n_documents + 2)
    reach = np.where(is_nominal, 0.0, n_neighbors / 2)
    probability = np.empty(positives.shape)
    for k in range(len(positives)):
        probability[k] = estimate_class(levels, sizes, positives[k], reach[k], prior[k])
    return Shapes(levels, is_nominal, positives, probability, prior)


def find_places(shapes: Shapes, X: sparse.csr_matrix, n_jobs: int | None = None) -> Places:
    """Find each stored cell of documents among the levels."""
    starts, values, *_ = shapes.levels
    left, share = np.empty(X.nnz, np.uint32), np.empty(X.nnz)
    tables = starts, values, shapes.is_nominal
    parts = slice_cells(X.nnz, n_jobs)
    shares = [(X.indices[at], X.data[at], *tables, left[at], share[at]) for at in parts]
    run_shares(look_up, shares)
    return Places(X.indices, left, share)


def draw_images(
    shapes: Shapes,
    k: int,
    places: Places,
    output: str,
    base: NDArray[np.float64],
    factor: NDArray[np.float64],
    image: NDArray[Any],
) -> None:
    """Write the image of each cell for class k, less a base and times a factor of its column."""
    table, is_log = shapes.probability[k], output == "log_odds"
    draw(*places, table, shapes.prior[k], is_log, base, factor, image)


def find_zeros(shapes: Shapes, k: int, output: str) -> NDArray[np.float64]:
    """Return the image of zero in each column for class k."""
    return np.asarray(image_levels(shapes, k, output)[shapes.levels.zero_level])


def image_levels(shapes: Shapes, k: int, output: str) -> NDArray[np.float64]:
    """Return the image of each level for class k, that of zero not taken off."""
    probability = shapes.probability[k]
    return np.asarray(logit(probability) if output == "log_odds" else probability)


@dataclass(frozen=True, eq=False)
class FeatureShape:
    """What was learned of one feature.

    Attributes
    ----------
    name : str
        The feature.
    classes : ndarray of shape (n_classes,)
        Whose probability the images tell; the second of two classes.
    values : ndarray of shape (n_values,)
        The values seen, ascending; names for a nominal feature.
    images : ndarray of shape (n_classes, n_values)
        What they become.
    sizes : ndarray of shape (n_values,)
        Documents with each value.
    positives : ndarray of shape (n_classes, n_values)
        Those of them that are of the class.
    n_zero, n_missing : int
        Documents in the bin for zeros, and in that for missing values.
    zero, missing : ndarray of shape (n_classes,)
        The images of the two; of what is expected of them, where no document is in the bin.
    is_nominal : bool
        Whether values are names: what lies between two of them then has no meaning.
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
        """Return the shape with a base of each class taken off, times a factor of each."""
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
    """Draws the shape of a feature; the class that mixes it in has ``shape_of``."""

    def plot(self, feature: int | str, ax: Any = None) -> Any:
        """Draw what a feature becomes, over how the classes are spread; needs matplotlib.

        Parameters
        ----------
        feature : int or str
            Its number, or its name where fit saw names.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        shape: FeatureShape = self.shape_of(feature)  # type: ignore[attr-defined]
        return shape.plot(ax=ax)


def take_shape(shapes: Shapes, j: int, output: str, *, is_shifted: bool) -> FeatureShape:
    """Return the shape of feature j, without its name and those of the classes."""
    levels = shapes.levels
    first, end = levels.starts[j], levels.starts[j + 1]
    images = shapes.probability[:, first:end]
    if output == "log_odds":
        images = logit(images)
    zero = images[:, levels.zero_level[j] - first, None]
    images = images - zero if is_shifted else images
    return FeatureShape(
        name=str(j),
        classes=np.arange(len(images)),
        values=levels.values[first + N_BINS : end],
        images=images[:, N_BINS:],
        sizes=levels.sizes[first + N_BINS : end],
        positives=shapes.positives[:, first + N_BINS : end],
        n_zero=int(levels.sizes[first]),
        n_missing=int(levels.sizes[first + MISSING]),
        zero=images[:, levels.zero_level[j] - first],
        missing=images[:, MISSING],
        is_nominal=bool(shapes.is_nominal[j]),
    )


USUAL = 30.0  # the paper's
OTHERS = (10.0, 90.0, 270.0)


def choose_neighbors(
    levels: Levels,
    counts: LevelCounts,
    parts: Iterable[LevelCounts],
    is_nominal: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the number of neighbours for each class and feature (classes x features).

    Each part of a cross-validation is judged by estimates from the others. It is the usual number
    unless with another the mean log likelihood of a document is higher by more than one standard
    error of the difference; of several the one where it is highest.
    """
    shape = len(counts.positives), is_nominal.size
    total, squares = np.zeros((2, len(OTHERS), *shape))
    for part in parts:
        rest = counts.without(part)
        usual = estimate_shapes(levels, rest, np.full(shape, USUAL), is_nominal).probability
        negatives = part.sizes - part.positives
        for number, n_neighbors in enumerate(OTHERS):
            found = estimate_shapes(levels, rest, np.full(shape, n_neighbors), is_nominal)
            gain = np.log(found.probability / usual)
            loss = np.log((1 - found.probability) / (1 - usual))
            for power, sums in ((1, total), (2, squares)):
                of_levels = part.positives * gain**power + negatives * loss**power
                sums[number] += np.add.reduceat(of_levels, levels.starts[:-1], axis=1)
    mean = total / counts.n_documents
    error = np.sqrt(np.maximum(squares / counts.n_documents - mean**2, 0) / counts.n_documents)
    best = np.where(mean > error, mean, 0).argmax(axis=0)
    is_better = (mean > error).any(axis=0)
    return np.where(is_better, np.array(OTHERS)[best], USUAL)
