"""The choice of a representation by cross-validation.

A representation is the terms of a text, their weighting and the prior of their weights. The loss
and C of the SVM are chosen with it.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from spokeshave.metrics import count_order, mean_known, measure
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.analyzers import JOINT, is_unspaced
from spokeshave.text.preprocess import require_column
from spokeshave.text.vectorizer import DocumentVectorizer, weight_fold
from spokeshave.text.weighting import WEIGHTINGS, TermWeighter, are_counts
from spokeshave.utils.validation import (
    binarize,
    check_documents,
    check_target_format,
    check_targets,
    list_documents,
)

FEWEST_DOCUMENTS = 1000  # of a round, if there are as many
LARGEST_SHARE = 8  # characters within words are tried if the work allows one document in so many
N_FINALISTS = 3  # choices of terms in the final round
IMBALANCE = 3  # balanced classes are tried if one has so many times the documents of another
LETTERS = 6  # of a word and the space after it; a letter begins about one n-gram of characters
OF_LETTERS = ("char_wb", JOINT)  # analyzers that take ten times as long as words
OF_SVM = ("prior_strength", "loss", "C")  # values of the default SVM in the final round
OF_UNSPACED = ((1, 2), (1, 3))  # characters of a term, in scripts without spaces between words
OF_ONES = ("counts", "tfidf")  # weightings that differ for vectors of zeros and ones
FEW_FOLDS = 3  # of all rounds but the last
TOLERANCE = 0.01  # relative duality gap of a trial
MOST_PASSES = 100  # of a trial
FEW_NONZEROS = 50_000  # threads that try so few would wait for each other


@dataclass(frozen=True)
class Representation:
    """How texts become rows, and the SVM that is trained on them.

    Attributes
    ----------
    analyzer, ngram_range, min_df
        Parameters of `DocumentVectorizer`. Vectors do not use them.
    weighting : {"binary", "counts", "tfidf", "sublinear"}
        The value of a term in a document; "sublinear" is tf-idf with ``sublinear_tf=True``. Vectors
        that do not hold counts have "counts", which leaves their values as they are.
    prior_strength : float
        The strength of the prior by Bi-Normal Separation; 0 for no prior.
    loss : {"hinge", "squared_hinge"}
        The loss of the SVM.
    C : float
        The cost of a training error.
    class_weight : {"balanced"} or None
        Whether documents of rare classes cost more, in proportion.
    trials : tuple of Trial
        The trials that it was chosen from, in the order of the rounds.
    """

    analyzer: Any = "word"
    ngram_range: tuple[int, int] = (1, 1)
    min_df: float = 2
    weighting: str = "sublinear"
    prior_strength: float = 0.5
    loss: str = "squared_hinge"
    C: float = 1.0
    class_weight: str | None = None
    trials: tuple[Trial, ...] = field(default=(), compare=False, repr=False)

    @property
    def terms(self) -> tuple[Any, tuple[int, int], float]:
        """The choice of terms: analyzer, n-grams and smallest document frequency."""
        return self.analyzer, self.ngram_range, self.min_df

    def make_vectorizer(self, like: DocumentVectorizer | None = None) -> DocumentVectorizer:
        """Return a vectorizer of this representation; other parameters are those of ``like``.

        Examples
        --------
        >>> Representation(weighting="sublinear").make_vectorizer().sublinear_tf
        True
        """
        vectorizer: DocumentVectorizer = DocumentVectorizer() if like is None else clone(like)
        vectorizer.set_params(
            analyzer=self.analyzer,
            ngram_range=self.ngram_range,
            min_df=self.min_df,
            **WEIGHTINGS[self.weighting],
        )
        return vectorizer

    def make_weighter(self) -> TermWeighter:
        """Return a weighter of counts for this representation.

        Examples
        --------
        >>> Representation(weighting="counts").make_weighter()
        TermWeighter(weighting='counts')
        """
        return TermWeighter(**WEIGHTINGS[self.weighting])

    def make_svm(self, like: DualLinearSVC | None = None) -> DualLinearSVC:
        """Return an SVM of this representation; other parameters are those of ``like``.

        Its weights of classes are those of ``like`` too if this has none.
        """
        svm: DualLinearSVC = DualLinearSVC() if like is None else clone(like)
        has_prior = self.prior_strength > 0
        svm.set_params(
            C=self.C,
            loss=self.loss,
            prior="bns" if has_prior else None,
            prior_strength=self.prior_strength if has_prior else 1.0,
            class_weight=self.class_weight or svm.class_weight,
        )
        return svm


@dataclass(frozen=True)
class Trial:
    """The scores of a representation by cross-validation.

    Attributes
    ----------
    representation : Representation
        The representation.
    n_documents, n_features : int
        Documents of the trial, and features of its SVMs on average.
    scores : tuple of float
        The score on each fold.
    seconds : float
        Time of all folds.
    """

    representation: Representation
    n_documents: int
    n_features: int
    scores: tuple[float, ...]
    seconds: float

    @property
    def score(self) -> float:
        """The mean over folds."""
        return float(mean_known(np.array(self.scores), axis=0))

    @property
    def error(self) -> float:
        """The standard error of the mean; NaN for one fold."""
        return _find_error(np.array(self.scores))


@dataclass(frozen=True)
class Effort:
    """The values that a search tries, and how much it computes.

    The first round tries all terms, weightings and strengths at the default loss and C; the second
    tries losses, Cs and weights of classes for the best of them; the third compares the best again,
    on more documents. If the work allows it less than all documents, a final round has all of them,
    in fewer folds: the more documents there are, the more terms are worth having. It compares the
    best of each choice of terms, and the default SVM for the same terms, as few documents tell
    little of C.

    Attributes
    ----------
    ngrams : dict of str to list
        The ranges of n-grams to try for each analyzer.
    weightings, strengths : tuple
        The weightings and the strengths of the prior to try.
    Cs : dict of str to tuple
        The values of C to try for each loss.
    balanced_Cs : tuple
        The values of C to try with balanced classes, for the squared hinge. Only tried if one class
        has several times the documents of another.
    n_kept : tuple of int
        How many trials go on to the second and to the third round.
    n_folds : int
        Number of folds of the third round; the first two have three.
    work : float
        Largest product of documents, terms of a document and classes of a trial. The folds of the
        final round are as many as take the work of the third, and at least one.
    """

    ngrams: dict[Any, list[tuple[int, int]]]
    weightings: tuple[str, ...] = ("tfidf", "sublinear", "binary")
    strengths: tuple[float, ...] = (0.0, 0.5, 1.0)
    Cs: dict[str, tuple[float, ...]] = field(
        default_factory=lambda: {"squared_hinge": (0.1, 0.3, 1.0, 3.0), "hinge": (1.0,)}
    )
    balanced_Cs: tuple[float, ...] = (0.3, 1.0)
    n_kept: tuple[int, int] = (6, 4)
    n_folds: int = 5
    work: float = 2e8


NORMAL = Effort({"word": [(1, 1), (1, 2)], "char_wb": [(2, 5)], "char": [(2, 5)], JOINT: [(1, 2)]})
THOROUGH = Effort(
    {
        "word": [(1, 1), (1, 2), (1, 3)],
        "char_wb": [(2, 4), (2, 5)],
        "char": [(2, 4), (2, 5)],
        JOINT: [(1, 1), (1, 2)],
    },
    strengths=(0.0, 0.25, 0.5, 0.75, 1.0),
    Cs={
        "squared_hinge": (0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        "hinge": (0.1, 0.3, 1.0, 3.0),
    },
    balanced_Cs=(0.1, 0.3, 1.0, 3.0),
    n_kept=(12, 8),
    n_folds=10,
    work=1e9,
)
EFFORTS = {"quick": None, "normal": NORMAL, "thorough": THOROUGH}
SEARCHED = (
    *("analyzer", "ngram_range", "min_df", "weighting"),
    *("prior_strength", "loss", "C", "class_weight"),
)


def choose_representation(
    documents: Any,
    y: Any,
    *,
    effort: str = "normal",
    fixed: dict[str, Any] | None = None,
    vectorizer: DocumentVectorizer | None = None,
    estimator: DualLinearSVC | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    report: Callable[[float], None] = lambda share: None,
) -> Representation:
    """Choose the representation of texts, and the SVM, by cross-validation.

    Representations are compared in rounds on more and more documents, up to all of them if the work
    allows, as in successive halving. The score is the macro-F1 of predicted labels, or the mean of
    the best F1 of each class for multilabel targets. The best of the last round is chosen, or one
    with fewer features that loses at most one standard error of the difference. If the work does
    not allow all documents, the last round has all of them in fewer folds, and its best is chosen.

    Parameters
    ----------
    documents : sequence of str, or {array-like, sparse matrix} of shape (n_documents, n_features)
        Texts; or vectors, for which only the prior, the loss and C are chosen, and the weighting of
        their values if they are sparse and hold counts.
    y : array-like of shape (n_documents,) or indicator matrix (n_documents, n_classes)
        Targets.
    effort : {"quick", "normal", "thorough"}, default="normal"
        "quick" returns a good default without a search; "thorough" tries more, on more documents.
    fixed : dict, optional
        Attributes of the representation that are not searched.
    vectorizer : DocumentVectorizer, optional
        Has all other parameters of the vectorizer, such as ``stop_words``.
    estimator : DualLinearSVC, optional
        Has all other parameters of the SVM, such as ``fit_intercept``. If it has a
        ``class_weight``, that is not searched.
    n_jobs : int, optional
        Number of threads; -1 for all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, optional
        Draws the documents of the rounds and the folds.
    report : callable, optional
        Called with the share of the search that is done.

    Returns
    -------
    representation : Representation

    Examples
    --------
    >>> from spokeshave import choose_representation
    >>> texts = ["grey ash", "ash bark", "an ash", "oak bark", "grey oak", "an oak"] * 3
    >>> y = ["ash", "ash", "ash", "oak", "oak", "oak"] * 3
    >>> chosen = choose_representation(texts, y, fixed={"analyzer": "word"}, random_state=0)
    >>> chosen.ngram_range, len(chosen.trials) > 40
    ((1, 1), True)
    """
    if effort not in EFFORTS:
        raise ValueError(f"effort must be one of {', '.join(EFFORTS)}. Got {effort!r} instead.")
    given, limits = _check_fixed(fixed or {}), EFFORTS[effort]
    documents, y = _check(documents, y)
    is_text = isinstance(documents, list)
    if not is_text and documents.nnz > np.prod(documents.shape) / 2:
        given = {"prior_strength": 0.0, **given}  # the prior is of features that documents lack
    has_counts = not is_text and are_counts(documents)
    if not is_text and not has_counts:
        given = {"weighting": "counts", **given}
    default = make_default(given, is_text=is_text)
    if limits is None or (n_folds := _count_folds(y, limits.n_folds)) < 2:
        return default
    if (estimator and estimator.class_weight is not None) or not _is_imbalanced(y):
        given = {"class_weight": None, **given}
    terms = _limit_terms(documents, y, _list_terms(documents, limits, given), limits, given)
    opening = _vary_rows(default, terms, _list_weightings(documents, limits, given), limits, given)
    if len(opening) == len(_vary_svm([default], limits, given)) == 1:
        return default
    rng = check_random_state(random_state)
    svm = DualLinearSVC() if estimator is None else clone(estimator)
    svm.set_params(tol=TOLERANCE, max_iter=MOST_PASSES, probability=False, random_state=0, n_jobs=1)
    search = _Search(
        documents,
        y,
        vectorizer=vectorizer or DocumentVectorizer(n_jobs=n_jobs),
        svm=svm,
        has_counts=has_counts or (not is_text and given["weighting"] != "counts"),
        seed=rng.randint(2**31),
        n_jobs=n_jobs,
        report=report,
    )
    drawn = _draw(y, rng)
    order = drawn[: _find_limit(documents, y, terms, limits.work)]
    fewest = min(order.size, FEWEST_DOCUMENTS)
    some, more = (order[: max(order.size // share, fewest)] for share in (9, 3))
    few_folds = min(n_folds, FEW_FOLDS)
    first = search.compare(some, opening, few_folds, 0.3)
    best = _list_best(first, limits.n_kept[0])
    second = search.compare(more, _vary_svm(best, limits, given), few_folds, 0.5)
    third = search.compare(order, _list_best(second, limits.n_kept[1]), n_folds, 0.7)
    trials = dict.fromkeys([*first, *second, *third])  # few documents make rounds alike
    if order.size == drawn.size:
        chosen = _choose(third)
    else:
        finalists = _list_finalists(second, third, default)
        n_tried = max(1, n_folds * order.size // drawn.size)
        last = search.compare(drawn, finalists, n_folds, 1.0, n_tried=n_tried)
        trials |= dict.fromkeys(last)
        chosen = max(last, key=lambda trial: trial.score).representation
    report(1.0)
    return replace(chosen, trials=tuple(trials))


def make_default(given: dict[str, Any], *, is_text: bool) -> Representation:
    """Return the representation without a search, with the attributes that are given."""
    default = Representation()
    if not is_text:
        default = replace(default, weighting="counts", prior_strength=0.0)
    if "ngram_range" not in given and (ranges := NORMAL.ngrams.get(given.get("analyzer"))):
        default = replace(default, ngram_range=ranges[0])
    return replace(default, **given)


def _check_fixed(fixed: dict[str, Any]) -> dict[str, Any]:
    for name in fixed:
        if name not in SEARCHED:
            raise ValueError(
                f"fixed must have keys of {', '.join(SEARCHED)}. Got {name!r} instead."
            )
    if (weighting := fixed.get("weighting")) is not None and weighting not in WEIGHTINGS:
        raise ValueError(
            f"weighting must be one of {', '.join(WEIGHTINGS)}. Got {weighting!r} instead."
        )
    if (class_weight := fixed.get("class_weight")) not in (None, "balanced"):
        raise ValueError(
            f"class_weight must be None or 'balanced'. Got {class_weight!r} instead; "
            "weights of your own are a parameter of the estimator."
        )
    return fixed


def _check(documents: Any, y: Any) -> tuple[Any, Any]:
    """Return a list of texts or sparse rows, and targets."""
    is_array = sparse.issparse(documents) or isinstance(documents, np.ndarray)
    if is_array and documents.dtype.kind not in "OU":
        return check_documents(documents, y)
    require_column(documents, "documents")
    texts, y = list(documents), check_targets(check_target_format(y))
    if len(texts) != y.shape[0]:
        raise ValueError(
            f"documents must be as many as targets. Got {len(texts)} and {y.shape[0]}."
        )
    return texts, y


def _count_folds(y: Any, n_wanted: int) -> int:
    """Return the number of folds, at most the documents of each of the two largest classes."""
    if y.ndim == 2:
        return min(n_wanted, int(y.shape[0]))
    sizes = np.sort(np.unique(y, return_counts=True)[1])
    return min(n_wanted, int(sizes[-2:].min()))  # so that two classes are in every fold


def _is_imbalanced(y: Any) -> bool:
    """Return whether one class has several times the documents of another."""
    if y.ndim == 2:
        return False
    sizes = np.unique(y, return_counts=True)[1]
    return bool(sizes.max() >= IMBALANCE * sizes.min())


def _draw(y: Any, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return the documents in a random order, of which each beginning is stratified."""
    order = rng.permutation(y.shape[0])
    if y.ndim == 2:
        return np.asarray(order)
    codes = np.unique(y[order], return_inverse=True)[1]
    place = np.empty(order.size)
    for k in range(codes.max() + 1):
        of_class = np.flatnonzero(codes == k)
        place[of_class] = (np.arange(of_class.size) + 0.5) / of_class.size
    return np.asarray(order[np.argsort(place, kind="stable")])


def _limit_terms(
    documents: Any,
    y: Any,
    choices: list[dict[str, Any]],
    limits: Effort,
    given: dict[str, Any],
) -> list[dict[str, Any]]:
    """Return the choices of terms to try.

    Characters within words are left out of a large collection of many classes: few of its documents
    could be tried, and its weights would take gigabytes.
    """
    n_most = _find_limit(documents, y, choices, limits.work)
    if n_most >= y.shape[0] // LARGEST_SHARE or "analyzer" in given:
        return choices
    return [each for each in choices if each["analyzer"] not in OF_LETTERS]


def _find_limit(documents: Any, y: Any, choices: list[dict[str, Any]], work: float) -> int:
    """Return the number of documents that a trial of any choice of terms may have."""
    is_text = isinstance(documents, list)
    n_terms: float = sum(map(len, documents)) if is_text else documents.nnz
    if is_text and all(each["analyzer"] == "word" for each in choices):
        n_terms /= LETTERS
    n_classes = y.shape[1] if y.ndim == 2 else np.unique(y).size
    per_document = max(n_terms / y.shape[0], 1) * n_classes
    return max(FEWEST_DOCUMENTS, int(work / per_document))


def _vary_rows(
    default: Representation,
    choices: list[dict[str, Any]],
    weightings: Sequence[str],
    limits: Effort,
    given: dict[str, Any],
) -> list[Representation]:
    """Return a candidate for each choice of terms, weighting and prior."""
    strengths = [given["prior_strength"]] if "prior_strength" in given else limits.strengths
    return [
        replace(default, **terms, weighting=weighting, prior_strength=strength)
        for terms, weighting, strength in product(choices or [{}], weightings, strengths)
    ]


def _list_weightings(documents: Any, limits: Effort, given: dict[str, Any]) -> Sequence[str]:
    """Return the weightings to try."""
    if "weighting" in given:
        return [given["weighting"]]
    if isinstance(documents, list):
        return limits.weightings
    if documents.data.max(initial=0) <= 1:
        return OF_ONES
    return [*limits.weightings, "counts"]


def _list_terms(documents: Any, limits: Effort, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the choices of analyzer, n-grams and smallest document frequency; none for vectors."""
    if not isinstance(documents, list):
        return []
    has_words = not is_unspaced(documents)
    analyzers: Sequence[Any] = ["word", "char_wb", JOINT] if has_words else ["word", "char"]
    if "analyzer" in given or "ngram_range" in given:
        analyzers = [given.get("analyzer", "word")]
    found = []
    for analyzer in analyzers:
        ranges: Sequence[Any] = limits.ngrams.get(analyzer, [(1, 1)])
        if analyzer == "char" and not has_words:
            ranges = OF_UNSPACED
        for ngram_range in [given["ngram_range"]] if "ngram_range" in given else ranges:
            has_rare = (analyzer, ngram_range) == ("word", (1, 1)) or not has_words
            frequencies = [1, 2] if has_rare else [2]
            for min_df in [given["min_df"]] if "min_df" in given else frequencies:
                found.append({"analyzer": analyzer, "ngram_range": ngram_range, "min_df": min_df})
    return found


def _vary_svm(
    best: list[Representation], limits: Effort, given: dict[str, Any]
) -> list[Representation]:
    """Return a candidate for each loss, C and weights of classes of the best representations."""
    choices: list[tuple[str, float, str | None]] = [
        (loss, C, None) for loss, Cs in limits.Cs.items() for C in Cs
    ]
    if "loss" in given:
        choices = [(given["loss"], C, None) for C in max(limits.Cs.values(), key=len)]
    choices += [(given.get("loss", "squared_hinge"), C, "balanced") for C in limits.balanced_Cs]
    if "class_weight" in given:
        kept = [each for each in choices if each[2] is None]
        choices = [(loss, C, given["class_weight"]) for loss, C, _ in kept]
    if "C" in given:
        choices = [(loss, given["C"], class_weight) for loss, _, class_weight in choices]
    return [
        replace(each, loss=loss, C=C, class_weight=class_weight)
        for each, (loss, C, class_weight) in product(best, dict.fromkeys(choices))
    ]


def _list_best(trials: list[Trial], n_best: int) -> list[Representation]:
    """Return the best representations, at most half of them of the same terms.

    Characters within words count as the same: they take ten times as long as words.
    """
    found: list[Representation] = []
    taken: Counter[Any] = Counter()
    for trial in sorted(trials, key=lambda trial: (-trial.score, trial.n_features)):
        each = trial.representation
        terms = "characters" if each.analyzer in OF_LETTERS else each.terms
        if taken[terms] < -(-n_best // 2) and len(found) < n_best:
            taken[terms] += 1
            found.append(each)
    return found


def _list_finalists(
    second: list[Trial], third: list[Trial], default: Representation
) -> list[Representation]:
    """Return the best representations of the best choices of terms, and theirs with a default SVM.

    Choices are compared by the second round, and their representations by the third if it had them.
    """
    rounds: list[dict[Any, Trial]] = [{}, {}]
    for best, trials in zip(rounds, (second, third), strict=True):
        for trial in sorted(trials, key=lambda trial: -trial.score):
            best.setdefault(trial.representation.terms, trial)
    of_terms, again = rounds
    found = [again.get(terms, of_terms[terms]).representation for terms in of_terms][:N_FINALISTS]
    like_default = {name: getattr(default, name) for name in OF_SVM}
    return list(dict.fromkeys([*found, *(replace(each, **like_default) for each in found)]))


def _choose(trials: list[Trial]) -> Representation:
    """Return the best representation, or the one with fewest features of those as good as it.

    As good is a loss of at most one standard error of the difference over the folds.
    """
    best = max(trials, key=lambda trial: trial.score)
    losses = [np.subtract(best.scores, trial.scores) for trial in trials]
    as_good = [
        trial
        for trial, loss in zip(trials, losses, strict=True)
        if loss.mean() <= _find_error(loss)
    ]
    return min(as_good, key=lambda trial: (trial.n_features, -trial.score)).representation


def _find_error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean; NaN for one value."""
    return float(np.std(values, ddof=1) / np.sqrt(values.size)) if values.size > 1 else np.nan


class _Search:
    """Trials of representations on some of the documents."""

    def __init__(
        self,
        documents: Any,
        y: Any,
        vectorizer: DocumentVectorizer,
        svm: DualLinearSVC,
        has_counts: bool,
        seed: int,
        n_jobs: int | None,
        report: Callable[[float], None],
    ) -> None:
        self.documents, self.y = documents, y
        self.has_counts = has_counts  # of terms, which vectors are weighted from
        self.vectorizer, self.svm = vectorizer, svm
        self.seed, self.n_jobs, self.report = seed, n_jobs, report
        self._share_done = 0.0
        self._known: dict[tuple[int, int, Representation], Trial] = {}

    def compare(
        self,
        documents: NDArray[np.intp],
        candidates: list[Representation],
        n_folds: int,
        share_after: float,
        n_tried: int | None = None,
    ) -> list[Trial]:
        """Return a trial of each candidate on some documents.

        ``share_after`` is the share of the search that is done after it, and ``n_tried`` the number
        of folds that are tried if it is not all.
        """
        n, by_terms = documents.size, defaultdict(list)
        n_tried = n_tried or n_folds
        for each in candidates:
            if (n, n_folds, each) not in self._known:
                by_terms[each.analyzer, each.ngram_range].append(each)
        step = (share_after - self._share_done) / max(len(by_terms), 1)
        for number, group in enumerate(by_terms.values(), 1):
            for trial in self._try(documents, n_folds, n_tried, group):
                self._known[n, n_folds, trial.representation] = trial
            self.report(self._share_done + number * step)
        self._share_done = share_after
        return [self._known[n, n_folds, each] for each in candidates]

    def _try(
        self,
        documents: NDArray[np.intp],
        n_folds: int,
        n_tried: int,
        group: list[Representation],
    ) -> Iterator[Trial]:
        """Try representations of the same n-grams on the first folds."""
        counts, y = self._count(documents, group), self.y[documents]
        by_rows = defaultdict(list)
        for each in group:
            by_rows[each.min_df, each.weighting].append(each)
        kind = KFold if y.ndim == 2 else StratifiedKFold
        splitter = kind(n_folds, shuffle=True, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # rare classes, and the loose tolerance
            folds = list(islice(splitter.split(np.zeros(documents.size), y), n_tried))
            n_jobs = 1 if sparse.issparse(counts) and counts.nnz < FEW_NONZEROS else self.n_jobs
            found = Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
                delayed(self._measure)(counts, y, *fold, alike)
                for alike, fold in product(by_rows.values(), folds)
            )
        for number, alike in enumerate(by_rows.values()):
            of_folds = found[number * n_tried : (number + 1) * n_tried]
            for each, of_trial in zip(alike, zip(*of_folds, strict=True), strict=True):
                scores, n_features, seconds = zip(*of_trial, strict=True)
                features = round(np.mean(n_features))
                yield Trial(each, documents.size, features, scores, sum(seconds))

    def _count(self, documents: NDArray[np.intp], group: list[Representation]) -> Any:
        """Return the counts of terms in documents, or their rows if they are vectors."""
        if not isinstance(self.documents, list):
            return self.documents[documents]
        smallest = min(group, key=lambda each: each.min_df)
        vectorizer = replace(smallest, weighting="counts").make_vectorizer(self.vectorizer)
        texts = [self.documents[i] for i in documents]
        try:
            return vectorizer.set_params(norm=None).fit_transform(texts)
        except ValueError:  # no term is in as many documents as it must be
            return sparse.csr_matrix((len(texts), 0))

    def _measure(
        self,
        counts: Any,
        y: Any,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        group: list[Representation],
    ) -> list[tuple[float, int, float]]:
        """Return score, features and seconds on a fold of representations with the same rows."""
        start = perf_counter()
        if isinstance(self.documents, list):
            vectorizer = group[0].make_vectorizer(self.vectorizer)
            X_train, X_test = weight_fold(vectorizer, counts, train, test)
        else:
            X_train, X_test = counts[train], counts[test]
            if self.has_counts:
                weighter = group[0].make_weighter().fit(X_train)
                X_train, X_test = weighter.transform(X_train), weighter.transform(X_test)
        if not X_train.shape[1]:
            return [(0.0, 0, perf_counter() - start)] * len(group)
        found = []
        for each in group:  # cold: all classes at once are as fast as a start from the last dual
            svm = each.make_svm(self.svm).fit(X_train, y[train])
            score = _score(svm, X_test, y[test])
            found.append((score, X_train.shape[1], perf_counter() - start))
            start = perf_counter()
        return found


def _score(svm: DualLinearSVC, X: Any, y: Any) -> float:
    """Return the macro-F1 of predicted labels, or the mean of the best F1 of each class."""
    if y.ndim == 1:
        return _find_macro_f1(y, svm.predict(X))
    scores, indicator = svm.decision_function(X), binarize(y)[1]
    scores = scores.reshape(indicator.shape)
    of_classes = [
        measure("best_f1", count_order(of_class[None].copy(), list_documents(indicator, k))[0])[0]
        for k, of_class in enumerate(scores.T)
    ]
    return float(mean_known(np.array(of_classes), axis=0))


def _find_macro_f1(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the mean F1 of classes; scikit-learn's takes longer than a trial of few documents."""
    names, codes = np.unique(np.concatenate([y, predicted]), return_inverse=True)
    true, found = codes[: y.size], codes[y.size :]
    hits = np.bincount(true[true == found], minlength=names.size)
    return float((2 * hits / np.bincount(codes)).mean())
