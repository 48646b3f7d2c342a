"""Measures of rankings and decisions, their averages, and a paired test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats

from spokeshave.kernels.metrics import count_labels, place_cuts, raise_best, sum_up, tally
from spokeshave.utils.sparse_format import check_format

TOP = 20
TOP_LABELS = (1, 3, 5)  # the k of precision at k
LARGEST_SCORE = 1e300  # differences of larger scores overflow
N_SUMS = 7  # columns that the kernels write for each cut


class Counts(NamedTuple):
    """Counts from which measures are computed; arrays of any shape, additive over classes.

    Attributes
    ----------
    positive, negative : documents of the class, and the others
    pairs, won : pairs of a positive and a negative document, and those in which the positive has
        the higher score, ties counting half
    best_true, best_false : positives and negatives at or above the threshold of the best F1
    true, false : positives and negatives with a score above 0
    top, top_true : the documents of highest score, and the positives among them
    """

    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    pairs: NDArray[np.float64]
    won: NDArray[np.float64]
    best_true: NDArray[np.float64]
    best_false: NDArray[np.float64]
    true: NDArray[np.float64]
    false: NDArray[np.float64]
    top: NDArray[np.float64]
    top_true: NDArray[np.float64]


MEASURES: dict[str, Callable[[Counts], NDArray[np.float64]]] = {
    "auc": lambda t: t.won / t.pairs,
    "best_f1": lambda t: 2 * t.best_true / (t.best_true + t.best_false + t.positive),
    "f1": lambda t: 2 * t.true / (t.true + t.false + t.positive),
    "accuracy": lambda t: (t.true + t.negative - t.false) / (t.positive + t.negative),
    "precision_at_20": lambda t: t.top_true / t.top,
}


def measure(name: str, counts: Counts) -> NDArray[np.float64]:
    """Return a measure of each class, NaN for a class without positives.

    Examples
    --------
    >>> counts, _ = count_order(np.array([[0.1, -0.2, 0.7]]), np.array([2]))
    >>> measure("auc", counts)
    array([1.])
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        values = MEASURES[name](counts)
    return np.where(counts.positive > 0, values, np.nan)


def pool(counts: Counts, axis: int) -> Counts:
    """Return the sums along an axis; a measure of the sums is the micro-average.

    Pairs are formed within a class, because scores of different classes are not comparable.
    """
    return Counts(*(field.sum(axis=axis) for field in counts))


LABEL_F1 = "label_f1"  # F1 of the predicted label, a measure of single labels
LABEL_MEASURES = {"macro_f1": "macro", "micro_f1": "micro", "accuracy": "micro"}  # its averages


class LabelCounts(NamedTuple):
    """Counts of predicted labels, (..., classes, cuts): right ones, true ones, all predictions."""

    right: NDArray[np.float64]
    true: NDArray[np.float64]
    predicted: NDArray[np.float64]

    @property
    def f1(self) -> NDArray[np.float64]:
        """F1 of each class, NaN if it is neither true nor predicted of any document."""
        with np.errstate(invalid="ignore"):
            return np.asarray(2 * self.right / (self.true + self.predicted))

    @property
    def macro_f1(self) -> NDArray[np.float64]:
        """The mean of F1 over classes."""
        return mean_known(self.f1, axis=-2)

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """The share of documents whose label is right, which is also the micro-averaged F1."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.right.sum(axis=-2) / self.true.sum(axis=-2))


class BestClasses(NamedTuple):
    """The class of highest score of each document at each cut, and the score (cuts x documents).

    Classes are added one by one in any order. Of equal scores the first class counts. With two
    classes only the scores of the second are added; those of the first are zero.
    """

    score: NDArray[np.float64]
    label: NDArray[np.int32]

    def add(self, scores: NDArray[np.float64], k: int) -> None:
        """Compare with the scores of another class, in place."""
        raise_best(scores, k, self.score, self.label)

    def merge(self, other: BestClasses) -> BestClasses:
        """Return the best of both."""
        is_theirs = (other.score > self.score) | (
            (other.score == self.score) & (other.label < self.label)
        )
        return BestClasses(
            np.where(is_theirs, other.score, self.score),
            np.where(is_theirs, other.label, self.label),
        )

    def compare(self, truth: NDArray[np.int32], n_classes: int) -> LabelCounts:
        """Count the labels that are right, given the true ones."""
        shape = n_classes, len(self.label)
        right, predicted = np.zeros((2, *shape))
        count_labels(self.label, truth, right, predicted)
        sizes = np.bincount(truth, minlength=n_classes).astype(float)
        return LabelCounts(right, np.repeat(sizes[:, None], shape[1], axis=1), predicted)


def begin_labels(n_cuts: int, n_documents: int, *, has_two_classes: bool) -> BestClasses:
    """Return labels before any scores are added."""
    shape = n_cuts, n_documents
    if has_two_classes:
        return BestClasses(np.zeros(shape), np.zeros(shape, np.int32))
    return BestClasses(np.full(shape, -np.inf), np.full(shape, np.iinfo(np.int32).max, np.int32))


def mean_known(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the mean of the values that are not NaN, or NaN if there are none.

    Examples
    --------
    >>> mean_known(np.array([[1.0, np.nan], [3.0, np.nan]]), axis=0)
    array([ 2., nan])
    """
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0).sum(axis=axis) / known.sum(axis=axis))


def count_order(
    scores: NDArray[np.float64], positives: NDArray[np.intp]
) -> tuple[Counts, NDArray[np.float64]]:
    """Return the counts and the threshold of the best F1 of each row of scores (cuts x documents).

    A document is predicted positive if its score is at least the threshold. Overwrites the scores
    of the positives.
    """
    found = np.zeros((len(scores), N_SUMS))
    if positives.size:
        of_positives = sort_positives(np.take(scores, positives, axis=1))
        scores[:, positives] = -np.inf
        tally(scores, of_positives, _make_table(positives.size), TOP, found)
    return _name_sums(found, positives.size, scores.shape[1])


class Placed(NamedTuple):
    """Negatives placed among the positives of a class: counts that add up over documents.

    Attributes
    ----------
    reached, tied : ndarray of int, of shape (n_cuts, n_positive)
        Negatives whose highest reached positive is this one, and those that tie with it.
    above : ndarray of int, of shape (n_cuts,)
        Negatives with a score above 0.
    n_negative : int
        Number of negatives.
    """

    reached: NDArray[np.int64]
    tied: NDArray[np.int64]
    above: NDArray[np.int64]
    n_negative: int

    def merge(self, other: Placed) -> Placed:
        """Return the counts of both sets of negatives together."""
        pairs: Any = zip(self, other, strict=True)
        return Placed(*(a + b for a, b in pairs))


def sort_positives(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of positives (cuts x positives) in ascending order."""
    found = np.sort(scores, axis=1)
    if not np.abs(found).max(initial=0) < LARGEST_SCORE:
        raise ValueError("Scores overflow. Scale the features, for example to rows of length one.")
    return found


def place_negatives(
    scores: NDArray[np.float64], positives: NDArray[np.intp], of_positives: NDArray[np.float64]
) -> Placed:
    """Place the negatives of a batch of documents among all positives.

    ``scores`` (cuts x documents) and ``positives`` are of the batch; the scores of its positives
    are overwritten. ``of_positives`` (cuts x positives) are the scores of all positives, ascending.
    """
    reached, tied = np.zeros((2, *of_positives.shape), np.int64)
    above = np.zeros(len(scores), np.int64)
    if of_positives.size:
        scores[:, positives] = -np.inf
        table = _make_table(min(of_positives.shape[1], scores.shape[1]))
        place_cuts(scores, of_positives, table, reached, tied, above)
    return Placed(reached, tied, above, scores.shape[1] - positives.size)


def count_placed(
    of_positives: NDArray[np.float64], placed: Placed
) -> tuple[Counts, NDArray[np.float64]]:
    """Return the result of `count_order`, from negatives that were placed batch by batch.

    Examples
    --------
    >>> of_positives = np.array([[0.3, 0.7]])
    >>> none = np.array([], int)
    >>> some, others = (
    ...     place_negatives(np.array([row]), none, of_positives) for row in ([0.5], [0.1, 0.9])
    ... )
    >>> counts, threshold = count_placed(of_positives, some.merge(others))
    >>> measure("auc", counts), threshold
    (array([0.5]), array([0.3]))
    """
    n_cuts, n_positive = of_positives.shape
    found = np.zeros((n_cuts, N_SUMS))
    if n_positive:
        sum_up(of_positives, *placed, TOP, found)
    return _name_sums(found, n_positive, n_positive + placed.n_negative)


def _make_table(n_scores: int) -> NDArray[np.uint32]:
    """Return work space for the kernels' search among so many scores."""
    return np.empty((1 << int(4 * n_scores + 16).bit_length()) + 1, np.uint32)


def _name_sums(
    found: NDArray[np.float64], n_positive: int, n_documents: int
) -> tuple[Counts, NDArray[np.float64]]:
    """Return the columns that the kernels wrote as counts, and the best thresholds."""
    won, best_true, best_false, true, false, top_true, threshold = found.T
    positive = np.full(len(found), float(n_positive))
    negative, top = n_documents - positive, np.full(len(found), float(min(TOP, n_documents)))
    sums = won, best_true, best_false, true, false, top, top_true
    return Counts(positive, negative, positive * negative, *sums), threshold


class PairedTest(NamedTuple):
    """A paired t-test; ``mean_difference`` is the first minus the second, over ``n`` pairs."""

    statistic: float
    p_value: float
    mean_difference: float
    n: int


def paired_test(a: ArrayLike, b: ArrayLike, *, alternative: str = "two-sided") -> PairedTest:
    """Test whether two methods differ over the same classes or tasks.

    The macro t-test of Yang and Liu (1999), with one pair per class. Pairs with a NaN, such as a
    class without test documents, are ignored.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The score of each method on each class or task, in the same order.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        The alternative hypothesis: the mean of a differs from that of b, is greater, or is less.

    Returns
    -------
    test : PairedTest
        ``p_value`` is 1 if no pair differs (0.5 for a one-sided test).

    Examples
    --------
    >>> test = paired_test([0.9, 0.8, 0.7], [0.8, 0.75, 0.68], alternative="greater")
    >>> round(test.mean_difference, 3), round(test.p_value, 3), test.n
    (0.057, 0.068, 3)
    """
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError(
            f"alternative must be 'two-sided', 'greater' or 'less'. Got {alternative!r} instead."
        )
    first, second = np.asarray(a, float), np.asarray(b, float)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            "a and b must be one number per class or task, in the same order. "
            f"Got shapes {first.shape} and {second.shape} instead."
        )
    difference = (first - second)[~np.isnan(first - second)]
    if difference.size < 2:
        raise ValueError(
            f"a and b must have at least two pairs without NaN. Got {difference.size} instead."
        )
    n, mean = difference.size, float(difference.mean())
    error = float(difference.std(ddof=1)) / n**0.5
    statistic = mean / error if error else float(np.copysign(np.inf, mean)) if mean else 0.0
    tail = stats.t(n - 1).sf
    p_value = {
        "two-sided": 2 * tail(abs(statistic)),
        "greater": tail(statistic),
        "less": tail(-statistic),
    }[alternative]
    return PairedTest(statistic, float(p_value), mean, n)


class Agreement(NamedTuple):
    """Counts of documents whose predictions agree with their labels.

    Attributes
    ----------
    n_documents, n_right : int
        All documents, and those whose label (or set of labels) is predicted right.
    right, true, predicted : ndarray of int, of shape (n_classes,)
        True positives, documents of the class, and documents predicted to be of it.
    n_ranked : int
        Documents whose classes are ranked by score; none if labels alone were predicted.
    top_right : ndarray of int, of shape (3,)
        Their true labels among the 1, 3 and 5 classes of highest score.
    n_unknown : int
        True labels that are not among the classes, which no prediction can find.

    Examples
    --------
    >>> found = compare(np.array(["ash", "oak"]), np.array(["oak", "oak"]), ["ash", "oak"])
    >>> found.n_right, found.f1.round(2)
    (1, array([0.  , 0.67]))
    """

    n_documents: int
    n_right: int
    right: NDArray[np.int64]
    true: NDArray[np.int64]
    predicted: NDArray[np.int64]
    n_ranked: int = 0
    top_right: NDArray[np.int64] = np.zeros(len(TOP_LABELS), np.int64)
    n_unknown: int = 0

    @property
    def precision_at_k(self) -> dict[int, float]:
        """Precision at each k up to the number of classes, as in the function of that name."""
        return {
            k: float(right / (k * self.n_ranked))
            for k, right in zip(TOP_LABELS, self.top_right, strict=True)
            if self.n_ranked and k <= self.true.size
        }

    @property
    def accuracy(self) -> float:
        """The fraction of documents that are predicted right."""
        return self.n_right / self.n_documents

    @property
    def f1(self) -> NDArray[np.float64]:
        """F1 of each class, 0 for a class without documents and predictions."""
        return np.asarray(2 * self.right / np.maximum(self.true + self.predicted, 1))

    @property
    def micro_f1(self) -> float:
        """F1 of all decisions together."""
        total = self.true.sum() + self.n_unknown + self.predicted.sum()
        return float(2 * self.right.sum() / max(total, 1))

    def merge(self, other: Agreement) -> Agreement:
        """Return the counts of both sets of documents together."""
        pairs: Any = zip(self, other, strict=True)
        return Agreement(*(a + b for a, b in pairs))


class RankedLabels(NamedTuple):
    """Predictions of a multilabel model: the labels, and the scores that rank them."""

    labels: Any
    scores: NDArray[np.float64]


def compare(
    y: Any, predicted: Any, names: Sequence[str], n_unknown: NDArray[np.intp] | None = None
) -> Agreement:
    """Compare predicted labels with true ones, or two indicator matrices.

    The second may be `RankedLabels`. A true label that is not among ``names`` counts as wrong,
    whatever is predicted. Indicators have no column for such labels: ``n_unknown`` is their number
    in each document.
    """
    if isinstance(predicted, RankedLabels):
        found = compare(y, predicted.labels, names, n_unknown)
        right = _count_top_labels(_find_true(y), predicted.scores, max(TOP_LABELS))
        return found._replace(n_ranked=y.shape[0], top_right=right[np.subtract(TOP_LABELS, 1)])
    if y.ndim == 2:
        truth, found_labels = _find_true(y), _find_true(predicted)
        tables = truth & found_labels, truth, found_labels
        counts = (table.sum(axis=0, dtype=np.int64) for table in tables)
        unknown = np.zeros(len(truth), np.intp) if n_unknown is None else n_unknown
        is_right = (truth == found_labels).all(axis=1) & (unknown == 0)
        found = Agreement(len(truth), int(is_right.sum()), *counts)
        return found._replace(n_unknown=int(unknown.sum()))
    number = {name: k for k, name in enumerate(names)}
    true, guessed = (
        np.array([number.get(label, -1) for label in labels.tolist()], np.int64)
        for labels in (np.asarray(y), np.asarray(predicted))
    )
    right = true[(true == guessed) & (true >= 0)]
    counts = (np.bincount(of[of >= 0], minlength=len(names)) for of in (right, true, guessed))
    found = Agreement(true.size, right.size, *counts)
    return found._replace(n_unknown=int((true < 0).sum()))


def precision_at_k(y: Any, scores: ArrayLike, k: int = 5) -> float:
    """Return the share of true labels among the k classes of highest score, over all documents.

    Parameters
    ----------
    y : {array-like, sparse matrix} of shape (n_documents, n_classes)
        A column of zeros and ones per class.
    scores : array-like of shape (n_documents, n_classes)
        The score of each class; of equal scores the first class counts.
    k : int, default=5
        The number of classes, at most ``n_classes``. A document with fewer labels than that has a
        precision below one.

    Returns
    -------
    precision : float

    Examples
    --------
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.1], [0.2, 0.7, 0.3]], k=2)
    0.5
    """
    truth, found = _find_true(y), np.asarray(scores, float)
    if truth.ndim != 2 or truth.shape != found.shape or not len(truth):
        raise ValueError(
            "y and scores must have a row per document and a column per class. "
            f"Got shapes {truth.shape} and {found.shape} instead."
        )
    if not 1 <= k <= truth.shape[1]:
        raise ValueError(f"k must be between 1 and {truth.shape[1]}. Got {k} instead.")
    return float(_count_top_labels(truth, found, k)[-1] / (k * len(truth)))


def _find_true(y: Any) -> NDArray[np.bool_]:
    return np.asarray(np.asarray(check_format(y, "y").toarray() if sparse.issparse(y) else y) != 0)


def _count_top_labels(
    truth: NDArray[np.bool_], scores: NDArray[np.float64], n: int
) -> NDArray[np.int64]:
    """Return how many labels among the 1, 2, ..., n classes of highest score are true."""
    rows, left = np.arange(len(truth)), scores.copy()
    right = np.zeros(n, np.int64)
    for rank in range(min(n, truth.shape[1])):
        best = left.argmax(axis=1)
        right[rank] = truth[rows, best].sum()
        left[rows, best] = -np.inf
    return np.cumsum(right)
