"""Quality in a fixed memory: more documents, or more features in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from spokeshave.curves.cuts import accumulate, count_within
from spokeshave.curves.fitted import UNIT_TOLERANCE
from spokeshave.curves.sparsity import INDEX_BYTES, POINTER_BYTES, VALUE_BYTES
from spokeshave.metrics import MEASURES, Counts, count_order, mean_known, measure
from spokeshave.ranking.criteria import rank_features
from spokeshave.ranking.pruning import count_documents
from spokeshave.svm.estimator import DualLinearSVC, make_svc
from spokeshave.utils.formatting import parse_size
from spokeshave.utils.validation import align, binarize, check_documents, list_documents

if TYPE_CHECKING:
    import pandas

CELL = INDEX_BYTES + VALUE_BYTES


class Pair(NamedTuple):
    """A number of documents, and the features they keep in the same memory.

    ``matrix_bytes`` is counted as in `sparsity_curve`.
    """

    n_documents: int
    n_features: int
    nonzeros: float
    matrix_bytes: int


@dataclass(frozen=True, eq=False)
class BudgetCurve:
    """Quality of models trained on more documents with fewer features each, in the same memory.

    Attributes
    ----------
    memory : int
        Bytes that the matrix of training documents may take.
    n_ranked_on : int
        Documents that features were ranked on: as many as fit with all their features.
    pairs : list of Pair
        The training sets, from fewest documents to most.
    classes : ndarray of shape (n_classes,)
        The classes that are measured: the second of two, else every one.
    counts : Counts
        Counts for the measures, of shape (n_classes, n_pairs).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from spokeshave import budget_curve
    >>> X, y = load_digits(return_X_y=True)
    >>> X = normalize(X)
    >>> curve = budget_curve(
    ...     X[:1200], y[:1200], "200KB", X_test=X[1200:], y_test=y[1200:], random_state=0
    ... )
    >>> [pair.n_documents for pair in curve.pairs]
    [736, 1200]
    >>> curve.best().n_features
    64
    """

    memory: int
    n_ranked_on: int
    pairs: list[Pair]
    classes: NDArray[Any]
    counts: Counts

    def per_class(self, name: str = "best_f1") -> NDArray[np.float64]:
        """Return a measure of each class and pair, NaN for a class without test documents."""
        if name not in MEASURES:
            names = ", ".join(MEASURES)
            raise ValueError(f"name must be one of {names}. Got {name!r} instead.")
        return measure(name, self.counts)

    def macro(self, name: str = "best_f1") -> NDArray[np.float64]:
        """Return the mean of a measure over classes, for each pair."""
        return mean_known(self.per_class(name), axis=0)

    def best(self, name: str = "best_f1") -> Pair:
        """Return the pair with the highest mean; of equal ones the one with fewest documents."""
        return self.pairs[int(np.nanargmax(self.macro(name)))]

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas frame with a row per class and pair."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        class_, pair = (index.ravel() for index in np.indices(self.counts.won.shape))
        return pandas.DataFrame(
            {
                "class": self.classes[class_],
                **{
                    name: np.array([getattr(each, name) for each in self.pairs])[pair]
                    for name in Pair._fields
                },
                **{name: self.per_class(name).ravel() for name in MEASURES},
            }
        )


def budget_curve(
    X: Any,
    y: Any,
    memory: int | str,
    *,
    X_test: Any,
    y_test: Any,
    by: str = "normal",
    estimator: DualLinearSVC | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> BudgetCurve:
    """Train on subsets of documents that take the same memory, and measure which does best.

    The method of Brank et al. (2002), as Malik and Tarique describe it: features are ranked on the
    largest subset that fits with all of them. Twice as many documents then fit with about half the
    nonzeros each, and so on up to all documents. The subsets are nested and random.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Training documents.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Their targets.
    memory : int or str
        Size of the matrix of training documents, in bytes or as "2MB": 4 bytes for the column of
        a nonzero, 4 for its value, 8 for each row. Unlike in `BudgetedSVC`, the memory of training
        is not counted.
    X_test, y_test : like X and y
        Documents to measure quality on.
    by : str, default="normal"
        Ranking criterion, as in `rank_features`; the largest score of any class counts.
    estimator : DualLinearSVC, optional
        The SVM, which is cloned.
    n_jobs : int, optional
        Threads; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the subsets and of the SVM.

    Returns
    -------
    curve : BudgetCurve
        Documents are scaled to length one again after a cut if the rows of X have length one.
    """
    n_bytes = parse_size(memory)
    X, y = check_documents(X, y)
    X_test, y_test = check_documents(X_test, y_test, like=X)
    classes, indicator = binarize(y)
    truth = align(y_test, y, classes).tocsc()
    svc = make_svc(estimator, n_jobs, random_state)
    order = check_random_state(random_state).permutation(X.shape[0])
    n_first = _count_fitting(X[order], n_bytes)
    first = order[:n_first]
    ranking = rank_features(
        X[first],
        y[first],
        by,
        estimator=svc if by == "normal" else None,
        random_state=random_state,
        n_jobs=n_jobs,
    ).aggregate("max")
    fit = partial(_fit_and_score, svc, ranking.list_ranked(0), n_bytes, X_test)
    subsets = (order[:n] for n in _list_sizes(n_first, X.shape[0]))
    found = [fit(X[subset], y[subset]) for subset in subsets]
    counted = [_count(truth, scores) for _, scores in found]
    return BudgetCurve(
        memory=n_bytes,
        n_ranked_on=n_first,
        pairs=[pair for pair, _ in found],
        classes=classes[-indicator.shape[1] :],
        counts=Counts(*(np.stack(field, axis=1) for field in zip(*counted, strict=True))),
    )


def _count_fitting(X: sparse.csr_matrix, n_bytes: int) -> int:
    """Return how many documents fit with all their features."""
    size = CELL * X.indptr[1:].astype(np.int64) + POINTER_BYTES * np.arange(2, X.shape[0] + 2)
    n_documents = int(np.searchsorted(size, n_bytes, side="right"))
    if n_documents < 2:
        raise ValueError(
            f"memory must be enough for two documents, {size[min(1, len(size) - 1)]} bytes. "
            f"Got {n_bytes} instead."
        )
    return n_documents


def _list_sizes(first: int, last: int) -> Iterator[int]:
    """Yield numbers of documents, each twice the one before, except the last.

    Examples
    --------
    >>> list(_list_sizes(3, 20)), list(_list_sizes(3, 13)), list(_list_sizes(19, 20))
    ([3, 6, 12, 20], [3, 6, 13], [19, 20])
    """
    if first < last:
        yield first
        while (first := 2 * first) < 0.75 * last:
            yield first
    yield last


def _fit_and_score(
    svc: DualLinearSVC,
    order: NDArray[np.uint32],
    n_bytes: int,
    X_test: sparse.csr_matrix,
    X: sparse.csr_matrix,
    y: Any,
) -> tuple[Pair, NDArray[np.float64]]:
    """Train with as many of the ranked features as fit, and score the test documents."""
    n_documents = X.shape[0]
    allowed = (n_bytes - POINTER_BYTES * (n_documents + 1)) / (CELL * n_documents)
    nonzeros = accumulate(count_documents(X), order, n_documents)
    features = np.arange(X.shape[1])
    if X.nnz > allowed * n_documents:
        features = np.sort(order[: count_within(nonzeros, allowed)])
    is_unit = has_unit_rows(X)
    reduced = _cut(X, features, is_unit)
    fitted = make_svc(svc, None, None).fit(reduced, y)
    matrix_bytes = CELL * reduced.nnz + POINTER_BYTES * (n_documents + 1)
    pair = Pair(n_documents, len(features), reduced.nnz / n_documents, matrix_bytes)
    return pair, np.atleast_2d(fitted.decision_function(_cut(X_test, features, is_unit)).T)


def has_unit_rows(X: sparse.csr_matrix) -> bool:
    """Return whether every nonempty document has Euclidean length one."""
    squares = np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    return bool((np.abs(squares[squares > 0] - 1) < UNIT_TOLERANCE).all())


def _cut(X: sparse.csr_matrix, features: NDArray[np.intp], is_unit: bool) -> sparse.csr_matrix:
    """Return documents with some of their features, scaled to length one if ``is_unit``."""
    kept = X[:, features]
    return normalize(kept, copy=False) if is_unit else kept


def _count(truth: sparse.csc_matrix, scores: NDArray[np.float64]) -> Counts:
    """Return the counts of each class."""
    counted = [
        count_order(row[None, :].copy(), list_documents(truth, k))[0]
        for k, row in enumerate(scores)
    ]
    return Counts(*(np.concatenate(field) for field in zip(*counted, strict=True)))
