"""Rank the features of each class by how well they predict it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit, rel_entr
from sklearn.base import clone
from sklearn.utils import check_consistent_length, check_random_state

from spokeshave.kernels.sorting import order_nonzero
from spokeshave.ranking.learners import (
    bayes_point,
    exponentiated_gradient,
    least_squares,
    perceptron,
    widrow_hoff,
    winnow,
)
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.weighting import are_whole
from spokeshave.utils.sums import (
    EventSums,
    Sums,
    Tally,
    bi_normal_separation,
    sum_presence,
    sum_values,
)
from spokeshave.utils.validation import (
    binarize,
    check_array,
    check_magnitude,
    check_target_format,
    check_targets,
    tidy,
)

SMALLEST_RATE = 0.0005  # Forman's: rates are clipped to [0.0005, 0.9995] in Bi-Normal Separation


@dataclass(frozen=True, eq=False)
class Ranking:
    """The score of each feature for each class.

    Attributes
    ----------
    scores : ndarray of shape (n_classes, n_features)
        Higher is better. Zero means that a feature says nothing about the class.
    classes : ndarray of shape (n_classes,)
        The class of each row: the second of two classes, each of more than two, or the column
        numbers of multilabel targets.
    by : str
        The criterion.

    Examples
    --------
    >>> from spokeshave import rank_features
    >>> X = [[1, 1, 0], [1, 0, 0], [0, 1, 2], [0, 0, 1]]
    >>> ranking = rank_features(X, ["oak", "oak", "yew", "yew"], by="chi2")
    >>> ranking.classes
    array(['yew'], dtype='<U3')
    >>> ranking.scores
    array([[2., 0., 3.]])
    >>> ranking.order
    array([[2, 0, 1]])
    >>> ranking.n_ranked
    array([2])
    """

    scores: NDArray[np.float64]
    classes: NDArray[Any]
    by: str

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Features from best to worst; ties by feature number, scores of zero last."""
        descending = np.where(self.scores == 0, np.inf, -self.scores)
        return np.argsort(descending, axis=1, kind="stable")

    @property
    def n_ranked(self) -> NDArray[np.intp]:
        """Number of features with a nonzero score, per class."""
        return np.asarray(np.count_nonzero(self.scores, axis=1))

    def list_ranked(self, k: int) -> NDArray[np.uint32]:
        """Return the features with a nonzero score for class k, from best to worst."""
        return order_nonzero(self.scores[k])

    def aggregate(self, how: str = "max") -> Ranking:
        """Return a single ranking for all classes, for a vocabulary that they share.

        Parameters
        ----------
        how : {"max", "mean"}, default="max"
            How the scores of a feature are combined over the classes.

        Returns
        -------
        ranking : Ranking
            A ranking with one row, of class ``"all"``.
        """
        if how not in ("max", "mean"):
            raise ValueError(f"how must be 'max' or 'mean'. Got {how!r} instead.")
        scores = getattr(self.scores, how)(axis=0, keepdims=True)
        return Ranking(scores, np.array(["all"]), self.by)


def rank_features(
    X: Any,
    y: Any,
    by: str = "normal",
    *,
    estimator: Any = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Rank the features of each class against the rest.

    A feature that never occurs has score zero. So has every feature of a class that contains no
    documents, or all of them.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Documents. A feature occurs in a document if its value is not zero.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Labels, or a column of zeros and ones per class, dense or sparse.
    by : str, default="normal"
        The criterion.

        - ``"normal"``: the absolute weight in a linear SVM.
        - ``"information_gain"``: mutual information of occurrence and class, in nats.
        - ``"chi2"``: the statistic of scikit-learn's ``chi2``; values must not be negative.
        - ``"odds_ratio"``: the log odds ratio of occurrence inside and outside the class;
          negative for features that are rarer inside.
        - ``"bns"``: Bi-Normal Separation of occurrence inside and outside the class.
        - ``"hellinger"``: Hellinger distance between occurrence inside and outside, from 0 to 1.
        - ``"naive_bayes"``: the absolute weight in naive Bayes: multinomial if all values are whole
          numbers, and Bernoulli, which is of occurrence, if not; values must not be negative.
        - ``"perceptron"``, ``"bayes_point"``, ``"winnow"`` (values must not be negative),
          ``"widrow_hoff"``, ``"exponentiated_gradient"``, ``"least_squares"``: the absolute
          weight in that learner; see :mod:`spokeshave.ranking.learners`.
        - ``"random"``: a uniform random number between 0 and 1.
    estimator : estimator, optional
        The linear model whose weights ``by="normal"`` uses, by default a
        :class:`~spokeshave.DualLinearSVC`. A fitted model is used as it is; an unfitted one is
        cloned and fitted.
    random_state : int, RandomState instance or None, default=None
        Seed of random scores, and of the order in which a learner visits the documents.
    n_jobs : int, optional
        Number of threads; -1 for all cores. It does not affect the result.

    Returns
    -------
    ranking : Ranking
        One row of scores per class; for two classes, a single row for the second.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spokeshave import rank_features
    >>> X, y = load_iris(return_X_y=True)
    >>> rank_features(X, y == 2, random_state=0).order
    array([[3, 2, 1, 0]])
    """
    check_criterion(by)
    if estimator is not None and by != "normal":
        raise ValueError(f"estimator must be None unless by='normal'. Got by={by!r} instead.")
    given = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    X = tidy(given)
    check_magnitude(X)
    check_sign(X, by)
    y = check_target_format(y)
    y = sparse.csr_matrix(y) if sparse.issparse(y) else y
    check_consistent_length(X, y)
    targets = check_targets(y)
    classes, indicator = binarize(targets)
    if by == "normal":
        if estimator is None:
            estimator = DualLinearSVC(n_jobs=n_jobs, random_state=random_state)
        documents = X if sparse.issparse(given) else given  # some models need dense input
        coef = _find_coef(estimator, documents, targets if targets.ndim == 1 else y)
        scores = np.abs(_check_coef(coef, (indicator.shape[1], X.shape[1])))
    else:
        scores = _score(by, X, indicator, check_random_state(random_state), n_jobs)
    _zero_unknown(scores, X, indicator)
    return Ranking(scores, classes[-len(scores) :], by)


def rank_by_normal(coef: Any, classes: Any) -> Ranking:
    """Rank features by the weights of a fitted linear model.

    Parameters
    ----------
    coef : {ndarray, sparse matrix} of shape (n_classes, n_features) or (n_features,)
        The model's ``coef_``.
    classes : array-like
        The model's ``classes_``. For two classes and one row of weights, the row is the second's.

    Returns
    -------
    ranking : Ranking
        Features scored by their absolute weights.

    Examples
    --------
    >>> from spokeshave.ranking.criteria import rank_by_normal
    >>> rank_by_normal([[0.5, 0.0, -2.0]], ["ham", "spam"]).order
    array([[2, 0, 1]])
    """
    scores = np.abs(_to_rows(coef))
    return Ranking(scores, np.asarray(classes)[-len(scores) :], "normal")


def information_gain(tally: Tally) -> NDArray[np.float64]:
    """Return the mutual information of presence and class, in nats."""
    n = tally.n_inside + tally.n_outside
    present = tally.inside + tally.outside
    gain = np.zeros_like(present)
    for having, size in zip(tally[:2], tally[2:], strict=True):
        for cell, column in ((having, present), (size - having, n - present)):
            gain += rel_entr(cell / n, size / n * (column / n))
    # Rounding must not give a feature that is independent of the class a nonzero score.
    is_independent = tally.inside * tally.n_outside == tally.outside * tally.n_inside
    return np.where(is_independent, 0.0, np.maximum(gain, 0))


def chi2(tally: Tally) -> NDArray[np.float64]:
    """Return the chi-squared statistic of the sums of values, against independence."""
    excess = tally.inside * tally.n_outside - tally.outside * tally.n_inside
    scale = (tally.inside + tally.outside) * (tally.n_inside * tally.n_outside)
    return excess**2 / np.where(scale > 0, scale, 1.0)


def odds_ratio(tally: Tally) -> NDArray[np.float64]:
    """Return the log odds ratio of Mladenić and Grobelnik (1999), rates clipped by 1/n^2."""
    margin = 1 / (tally.n_inside + tally.n_outside) ** 2
    tpr, fpr = (np.clip(rate, margin, 1 - margin) for rate in tally.rates)
    return np.asarray(logit(tpr) - logit(fpr))


def bns(tally: Tally) -> NDArray[np.float64]:
    """Return the Bi-Normal Separation of presence."""
    return bi_normal_separation(*tally.rates, SMALLEST_RATE)


def hellinger(tally: Tally) -> NDArray[np.float64]:
    """Return the Hellinger distance of presence inside and outside the class."""
    tpr, fpr = tally.rates
    with_it, without = np.sqrt(tpr) - np.sqrt(fpr), np.sqrt(1 - tpr) - np.sqrt(1 - fpr)
    return np.asarray(np.sqrt((with_it**2 + without**2) / 2))


def multinomial_naive_bayes(tally: Tally) -> NDArray[np.float64]:
    """Return the absolute weights of multinomial naive Bayes of counts, smoothed by one."""
    inside, outside = (np.log(having + 1) - np.log((having + 1).sum()) for having in tally[:2])
    return np.asarray(np.abs(inside - outside))


def bernoulli_naive_bayes(tally: Tally) -> NDArray[np.float64]:
    """Return the absolute weights of Bernoulli naive Bayes of presence, smoothed by one.

    A weight is that of presence less that of absence, which is all that a linear model can tell.
    """
    inside, outside = (
        np.log(having + 1) - np.log(size - having + 1)
        for having, size in zip(tally[:2], tally[2:], strict=True)
    )
    return np.asarray(np.abs(inside - outside))


_BY_PRESENCE: dict[str, Callable[[Tally], NDArray[np.float64]]] = {
    "information_gain": information_gain,
    "odds_ratio": odds_ratio,
    "bns": bns,
    "hellinger": hellinger,
}
_BY_VALUES: dict[str, Callable[[Tally], NDArray[np.float64]]] = {
    "chi2": chi2,
}
_NAIVE_BAYES = "naive_bayes"  # by values if they are counts, and by presence if not
_BY_LEARNING: dict[str, Callable[..., NDArray[np.float64]]] = {
    "perceptron": perceptron,
    "winnow": winnow,
    "widrow_hoff": widrow_hoff,
    "exponentiated_gradient": exponentiated_gradient,
    "bayes_point": bayes_point,
}
COUNTED = (*_BY_PRESENCE, *_BY_VALUES, _NAIVE_BAYES)  # these need only sums over the documents
CRITERIA = ("normal", *COUNTED, *_BY_LEARNING, "least_squares", "random")


def _score(
    by: str,
    X: sparse.csr_matrix,
    indicator: sparse.csc_matrix,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return the scores by any criterion except "normal"."""
    if by == "random":
        shape = indicator.shape[1], X.shape[1]
        return np.asarray(rng.uniform(np.nextafter(0, 1), 1, shape))
    if by in COUNTED:
        return score_sums(by, sum_for(by, X, indicator))
    if by == "least_squares":
        return np.abs(least_squares(X, indicator))
    return np.abs(_BY_LEARNING[by](X, indicator, seed=rng.randint(2**31), n_jobs=n_jobs))


def sum_for(by: str, X: sparse.csr_matrix, indicator: sparse.csc_matrix) -> Sums | EventSums:
    """Return the sums that a criterion needs: of presence, of values, or of both."""
    if by == _NAIVE_BAYES:
        counts = sum_values(X, indicator) if are_whole(X.data) else None
        return EventSums(sum_presence(X, indicator), counts)
    return (sum_presence if by in _BY_PRESENCE else sum_values)(X, indicator)


def score_sums(by: str, sums: Sums | EventSums) -> NDArray[np.float64]:
    """Return the scores by a criterion that needs only sums, one row per class."""
    if isinstance(sums, Sums):
        return _score_tallies((_BY_PRESENCE | _BY_VALUES)[by], sums)
    if sums.counts is None:
        return _score_tallies(bernoulli_naive_bayes, sums.presence)
    return _score_tallies(multinomial_naive_bayes, sums.counts)


def _score_tallies(
    criterion: Callable[[Tally], NDArray[np.float64]], sums: Sums
) -> NDArray[np.float64]:
    scores = np.zeros(sums.by_class.shape)
    for row, tally in zip(scores, sums.tally(), strict=True):
        if tally.n_inside and tally.n_outside:
            row[:] = criterion(tally)
    scores[:, sums.total == 0] = 0  # such a feature never occurs, as no value is negative
    return scores


def check_criterion(by: str) -> None:
    """Raise if there is no such criterion."""
    if by not in CRITERIA:
        names = ", ".join(map(repr, CRITERIA))
        raise ValueError(f"by must be one of {names}. Got {by!r} instead.")


def check_sign(X: sparse.csr_matrix, by: str) -> None:
    """Raise if X has negative values and the criterion does not allow them."""
    if by in (*_BY_VALUES, _NAIVE_BAYES, "winnow") and X.data.min(initial=0) < 0:
        raise ValueError(
            f"X must not have negative values for by={by!r}. Got {X.data.min():g}; "
            "shift the features or choose another criterion."
        )


def _find_coef(estimator: Any, X: Any, y: Any) -> Any:
    """Return the weights of a fitted model, or of a clone fitted here."""
    model = estimator if hasattr(estimator, "coef_") else clone(estimator).fit(X, y)
    if not hasattr(model, "coef_"):
        raise ValueError(
            f"estimator must be a linear model that has coef_ after fit. Got {estimator!r} instead."
        )
    return model.coef_


def _check_coef(coef: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    weights = _to_rows(coef)
    if weights.shape != shape:
        raise ValueError(
            f"estimator must have coef_ of shape {shape}, (n_classes, n_features). "
            f"Got {weights.shape} instead."
        )
    return weights


def _to_rows(coef: Any) -> NDArray[np.float64]:
    dense = coef.toarray() if sparse.issparse(coef) else coef
    return np.atleast_2d(np.asarray(dense, np.float64))


def _zero_unknown(
    scores: NDArray[np.float64], X: sparse.csr_matrix, indicator: sparse.csc_matrix
) -> None:
    """Set the scores of absent features, and of classes of no or all documents, to zero."""
    n_inside = np.diff(indicator.indptr)
    scores[:, np.bincount(X.indices, minlength=X.shape[1]) == 0] = 0
    scores[(n_inside == 0) | (n_inside == X.shape[0])] = 0
