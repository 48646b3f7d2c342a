"""The choice of features: pruned, ranked on the sample, and cut."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.budget.memory import AvailableMemory, Costs, give_back
from spokeshave.budget.plan import Cut, Plan, count_affordable, count_fitting, make_plan
from spokeshave.budget.prior import count_rows, find_variance
from spokeshave.budget.request import Request
from spokeshave.budget.row_batches import number_features
from spokeshave.budget.sample import FirstPass, Sample
from spokeshave.budget.shards import make_rows
from spokeshave.budget.store import Store
from spokeshave.budget.working_set import Objective
from spokeshave.curves.cuts import accumulate, count_within
from spokeshave.kernels.descent import score
from spokeshave.kernels.rows import Rows
from spokeshave.kernels.sorting import order_nonzero
from spokeshave.metrics import count_order, mean_known, measure
from spokeshave.ranking.criteria import rank_features
from spokeshave.svm.solver import Problem, Solution, solve_rows
from spokeshave.text.term_index import TermIndex
from spokeshave.text.vectorizer import (
    DocumentVectorizer,
    find_limits,
    find_most_frequent,
    list_stop_words,
    make_analysis,
)
from spokeshave.utils.validation import list_documents

MOST_VALIDATION = 20_000  # documents
TERMS = "terms.json"
FEWEST_NONZEROS = 2.0  # per document, to be worth halving


class Posed(NamedTuple):
    """What follows from the first pass: classes, SVM problem, memory costs, and the plan."""

    names: NDArray[Any]
    objective: Objective
    costs: Costs
    plan: Plan


@dataclass(frozen=True, eq=False)
class Selection:
    """The kept features, most frequent first: terms of texts, or feature numbers."""

    features: Any
    idf: NDArray[np.float32] | None
    cut: Cut


def pose(first: FirstPass, request: Request, memory: AvailableMemory, n_threads: int) -> Posed:
    """Return the problem to solve, given the results of the first pass."""
    names, codes = first.classes.rank(request.is_multilabel)
    objective = request.svm(names, codes, first.counts)
    costs = Costs(len(codes), n_threads, request.has_values, request.has_prior)
    return Posed(names, objective, costs, make_plan(first.counts, first.sample, memory, costs))


def select_features(
    first: FirstPass, request: Request, posed: Posed, memory: AvailableMemory
) -> Selection:
    """Prune, rank and cut the features of the sample, whose documents are changed."""
    sample, plan = first.sample, posed.plan
    sample.close()
    give_back()
    n_sampled = len(sample)
    pruned = _prune_sample(sample, request)
    n_features = pruned.features.size
    idf = None
    if sample.terms is not None:
        if request.has_values and request.vectorizer.sublinear_tf:
            sample.dampen()
        if request.vectorizer.weighting == "tfidf":
            idf = find_idf(pruned.frequency, n_sampled)
    choice = _Choice(np.arange(n_features), n_features, 0, True)
    if not plan.fits_whole or request.nonzeros_per_document is not None:
        sample.thin_validation(MOST_VALIDATION)
        sample.renumber(number_features(pruned.features, sample.n_features))
        if idf is not None:
            sample.multiply(idf)
        n_threads = sample.count_threads(len(first.classes), request.n_threads)
        ranker = Ranker(request, posed.objective, len(first.classes), n_threads)
        choice = _choose(ranker, sample, pruned, n_sampled, posed, memory)
    expected = float(pruned.frequency[choice.kept].sum()) / max(n_sampled, 1)
    cut = Cut(
        n_features=int(choice.kept.size),
        n_ranked=int(choice.n_ranked),
        n_rare=pruned.n_rare,
        n_frequent=pruned.n_frequent,
        per_document=expected,
        needed=int(choice.needed),
        n_bytes=round(plan.n_documents * (12 + expected * posed.costs.cell)),
        in_memory=bool(choice.in_memory),
    )
    numbers = pruned.features[choice.kept]
    features: Any = numbers if sample.terms is None else sample.terms.decode(numbers)
    return Selection(features, None if idf is None else idf[choice.kept], cut)


def find_idf(frequency: NDArray[np.int64], n_documents: int) -> NDArray[np.float32]:
    """Return the inverse document frequencies, as `DocumentVectorizer` defines them."""
    return np.asarray(np.log((1 + n_documents) / (1.0 + frequency)) + 1, np.float32)


class Pruned(NamedTuple):
    """Features neither too rare nor too frequent, most frequent first, and how many were pruned."""

    features: NDArray[np.intp]
    frequency: NDArray[np.int64]
    n_rare: int
    n_frequent: int


def prune(
    frequency: NDArray[np.int64], lowest: float, highest: float, is_stopped: NDArray[np.bool_]
) -> Pruned:
    """Leave out features of too few or too many documents, and stop words.

    Examples
    --------
    >>> prune(np.array([1, 5, 2, 9]), 2, 8, np.zeros(4, bool)).features
    array([1, 2])
    """
    is_rare, is_frequent = (frequency > 0) & (frequency < lowest), frequency > highest
    kept = np.flatnonzero((frequency > 0) & ~is_rare & ~is_frequent & ~is_stopped)
    kept = kept[np.argsort(-frequency[kept], kind="stable")]
    return Pruned(kept, frequency[kept], int(is_rare.sum()), int(is_frequent.sum()))


def require_words(n_words: int, n_kept: int, vectorizer: DocumentVectorizer) -> None:
    """Raise if there is no word, or if pruning has left none."""
    if not n_words and make_analysis(vectorizer).is_plain:
        raise ValueError("The documents must hold words. Got none with a letter or digit.")
    if not n_words:
        raise ValueError(
            "The documents must hold terms for this analyzer, ngram_range and stop_words. Got none."
        )
    if not n_kept:
        raise ValueError(
            f"No word is left: all {n_words} are stop words or outside min_df="
            f"{vectorizer.min_df} and max_df={vectorizer.max_df}. Lower min_df or raise max_df."
        )


def _prune_sample(sample: Sample, request: Request) -> Pruned:
    frequency = sample.count()
    is_stopped = np.zeros(frequency.size, bool)
    if sample.terms is None:
        pruned = prune(frequency, 1.0, float("inf"), is_stopped)
        if not pruned.features.size:
            raise ValueError("No feature is left: no document has a value that is not zero.")
        return pruned
    vectorizer, terms = request.vectorizer, sample.terms
    stop_words = list_stop_words(vectorizer)
    if stop_words and make_analysis(vectorizer).has_single_words:  # n-grams are made without them
        words = terms.decode(np.arange(frequency.size))
        is_stopped = np.array([word in stop_words for word in words])
    limits = find_limits(vectorizer.min_df, vectorizer.max_df, len(sample))
    pruned = prune(frequency, *limits, is_stopped)
    require_words(int(np.count_nonzero(frequency)), pruned.features.size, vectorizer)
    most = vectorizer.max_features
    if most is None or pruned.features.size <= most:
        return pruned
    totals = sample.add_up() if request.has_values else frequency
    kept = _keep_most_frequent(pruned.features, totals, terms, vectorizer)
    return pruned._replace(features=kept, frequency=frequency[kept])


def _keep_most_frequent(
    features: NDArray[np.intp],
    totals: NDArray[Any],
    terms: TermIndex,
    vectorizer: DocumentVectorizer,
) -> NDArray[np.intp]:
    """Return the features that ``max_features`` keeps, in the order in which they come."""
    by_name, _ = terms.arrange(features)
    is_kept = np.zeros(totals.size, bool)
    is_kept[by_name[find_most_frequent(vectorizer, totals[by_name])]] = True
    return features[is_kept[features]]


class _Choice(NamedTuple):
    """The kept features, as indices of the pruned ones; see `Cut` for the rest."""

    kept: NDArray[Any]
    n_ranked: int
    needed: int
    in_memory: bool


def _choose(
    ranker: Ranker,
    sample: Sample,
    pruned: Pruned,
    n_sampled: int,
    posed: Posed,
    memory: AvailableMemory,
) -> _Choice:
    """Keep as many of the features as are asked for, as fit, or as are needed."""
    order, value = ranker.rank(sample, pruned.features.size)
    per_document = accumulate(pruned.frequency, order, n_sampled)
    n_fitting = count_fitting(per_document[1:], posed.plan.n_documents, memory, posed.costs)
    needed, wanted = 0, ranker.request.nonzeros_per_document
    if wanted is not None:
        n_kept = int(count_within(per_document, wanted))
    elif n_fitting < order.size:
        most = count_affordable(order.size, memory, posed.costs)
        needed = min(ranker.find_needed(sample, order, per_document, value, n_fitting), most)
        n_kept = max(needed, n_fitting)
    else:
        n_kept = order.size
    return _Choice(np.sort(order[:n_kept]), order.size, needed, n_kept <= n_fitting)


@dataclass(frozen=True)
class Ranker:
    """Ranks features on a sample, and measures how many are needed."""

    request: Request
    objective: Objective
    n_classes: int
    n_threads: int

    def rank(self, sample: Sample, n_features: int) -> tuple[NDArray[np.uint32], float]:
        """Return the features from best to worst, and the macro-averaged F1 with all of them."""
        solution = self._train(sample, n_features)
        order = order_nonzero(self._score(sample, solution, n_features))
        return order, self._validate(sample, solution)

    def find_needed(
        self,
        sample: Sample,
        order: NDArray[np.uint32],
        per_document: NDArray[np.float64],
        value: float,
        fewest: int,
    ) -> int:
        """Return how many features do as well as all, at least ``fewest``.

        The SVM is retrained on half as many nonzeros per document, then on half of these, until
        its F1 is more than the tolerance below the best. Features of the sample are renumbered.
        ``order`` and ``value`` are the results of `rank`, and ``per_document`` the mean nonzeros
        per document with 0, 1, 2, ... of the features.
        """
        n_kept, best = order.size, value
        sample.renumber(number_features(order, sample.n_features))
        while (n_fewer := _halve(per_document, n_kept, fewest)) < n_kept:
            sample.renumber(number_features(np.arange(n_fewer), sample.n_features))
            value = self._validate(sample, self._train(sample, n_fewer))
            best = max(best, value)
            if not value >= best - self.request.tolerance:
                break
            n_kept = n_fewer
        return n_kept

    def _train(self, sample: Sample, n_features: int) -> Solution:
        rows = self._make_rows(sample.train)
        empty = sparse.csr_matrix((rows.scale.size, n_features))
        box, ridge, bias = self.objective[:3]
        indicator = self._indicate(sample.train)
        variance = self._find_variance(rows, indicator, n_features)
        problem = Problem(empty, indicator, rows.weight, box, ridge, bias, variance)
        rank = np.arange(n_features, dtype=np.uint32)
        stop, seed, n_jobs = self.request.stop, self.request.seed, self.n_threads
        return solve_rows(rows, rank, problem, stop, seed=seed, n_jobs=n_jobs, keep_dual=False)

    def _find_variance(
        self, rows: Rows, indicator: sparse.csc_matrix, n_features: int
    ) -> NDArray[np.float32] | None:
        """Return the prior variances of the weights, from the documents of the sample."""
        if self.objective.prior_strength is None:
            return None
        labels, wanted = indicator.tocsr(), np.arange(indicator.shape[1])
        counts = count_rows(rows, labels.indptr, labels.indices, wanted, n_features)
        return find_variance(counts, self.objective.prior_strength)

    def _score(self, sample: Sample, solution: Solution, n_features: int) -> NDArray[np.float64]:
        """Return the largest score of each feature in any class."""
        request = self.request
        if request.by != "normal":
            X = to_matrix(self._make_rows(sample.train), n_features)
            y = self._indicate(sample.train).tocsr()
            ranking = rank_features(
                X, y, request.by, random_state=request.seed, n_jobs=self.n_threads
            )
            return np.asarray(ranking.aggregate("max").scores[0])
        scores = np.zeros(n_features)
        for weights in solution.coef:  # one by one: the absolute of all would be a copy
            np.maximum(scores, np.abs(weights), out=scores)
        return scores

    def _validate(self, sample: Sample, solution: Solution) -> float:
        """Return the macro-averaged best F1 of an SVM on the validation documents."""
        rows, indicator = self._make_rows(sample.validation), self._indicate(sample.validation)
        margins = np.empty(rows.scale.size)
        values = np.empty(len(solution.coef))
        for k, weights in enumerate(solution.coef):
            score(rows, weights, solution.intercept[k], margins)
            counts, _ = count_order(margins[None, :], list_documents(indicator, k))
            values[k] = measure("best_f1", counts)[0]
        return float(mean_known(values, 0))

    def _make_rows(self, store: Store) -> Rows:
        return make_rows(store.indptr, store.indices, store.values, self.request.norm)

    def _indicate(self, store: Store) -> sparse.csc_matrix:
        return store.indicate(self.n_classes).tocsc()[:, self.objective.codes]


def _halve(per_document: NDArray[np.float64], n_kept: int, fewest: int) -> int:
    """Return how many features leave half as many nonzeros, but at least one per document.

    Examples
    --------
    >>> _halve(np.array([0.0, 2.0, 3.0, 4.0]), 3, fewest=0), _halve(np.array([0.0, 1.5]), 1, 0)
    (1, 1)
    """
    if per_document[n_kept] < FEWEST_NONZEROS:
        return n_kept
    n_half = int(np.searchsorted(per_document, per_document[n_kept] / 2))
    return min(n_kept, max(n_half, fewest, 1))


def to_matrix(rows: Rows, n_features: int) -> sparse.csr_matrix:
    """Return rows as a matrix, for criteria that need one."""
    lengths: Any = np.diff(rows.indptr.astype(np.int64))
    data: Any = np.repeat(rows.scale.astype(np.float32), lengths)
    if rows.data is not None:
        data *= rows.data
    shape = lengths.size, n_features
    indptr = rows.indptr.astype(np.int64)
    X = sparse.csr_matrix((data, rows.indices.astype(np.int32), indptr), shape=shape)
    X.sort_indices()
    return X


def save_selection(folder: Path, selection: Selection) -> None:
    """Write the kept features to a folder."""
    if isinstance(selection.features, list):
        (folder / TERMS).write_text(json.dumps(selection.features))  # some have line feeds
    else:
        np.save(folder / "features.npy", selection.features)
    if selection.idf is not None:
        np.save(folder / "idf.npy", selection.idf)
    (folder / "cut.json").write_text(json.dumps(asdict(selection.cut)))


def load_selection(folder: Path) -> Selection:
    """Read the features kept by an earlier run."""
    terms, idf = folder / TERMS, folder / "idf.npy"
    features: Any
    if terms.exists():
        features = json.loads(terms.read_bytes())
    else:
        features = np.load(folder / "features.npy")
    cut = Cut(**json.loads((folder / "cut.json").read_bytes()))
    return Selection(features, np.load(idf) if idf.exists() else None, cut)
