"""The two-class problems of Figure 2: pairs of Open Directory classes in place of TechTC-100.

TechTC-100 is not available. As there, a problem has about 150 documents, half of each class, and
problems are spread evenly from hard to easy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import binarize, normalize

from papers.kolcz2007.tasks import DIGITS, FOLDS, METHODS, make_svc
from spokeshave import PAPER_FRACTIONS, DualLinearSVC, FeatureCurve, feature_curve
from spokeshave.corpus import read_arff

SETS = ("Business", "Computers", "Health", "Science", "Sports")
PER_CLASS = 75
SEED = 2007


class Directory(NamedTuple):
    """Binary rows of short descriptions, and their classes: ``Health/Nursing``."""

    X: sparse.csr_matrix
    labels: NDArray[np.str_]


class Samples(NamedTuple):
    """Rows of a pair's documents: one sample to measure its difficulty, one to study it."""

    screening: NDArray[np.intp]
    study: NDArray[np.intp]


class Problem(NamedTuple):
    """Documents of two classes, rows of length one, and indicators of the first class."""

    X: sparse.csr_matrix
    y: NDArray[np.int64]


@lru_cache(1)
def load_directory(data: Path, sets: tuple[str, ...] = SETS) -> Directory:
    """Return the documents of the sets, five by default, over one vocabulary.

    Of documents with equal words only the first is kept, so that none is in two classes. Empty
    documents are dropped.
    """
    parts = [read_arff(data / "dmoz" / f"Dmoz-{name}.arff.zip") for name in sets]
    named = [part.feature_names or () for part in parts]
    words = sorted({word for names in named for word in names})
    column = {word: j for j, word in enumerate(words)}
    X = sparse.vstack(
        [
            _align(part.X, [column[word] for word in names], len(words))
            for part, names in zip(parts, named, strict=True)
        ],
        format="csr",
    )
    labels = np.array(
        [f"{name}/{label}" for name, part in zip(sets, parts, strict=True) for label in part.labels]
    )
    kept = _list_distinct(X)
    return Directory(X[kept], labels[kept])


def draw_candidates(labels: NDArray[np.str_], n: int, seed: int = SEED) -> list[tuple[str, str]]:
    """Return pairs of classes, half of them from within a set, in a random order.

    Examples
    --------
    >>> draw_candidates(np.array(["a/x", "a/y", "b/z"]), 2)
    [('a/x', 'a/y'), ('a/y', 'b/z')]
    """
    pairs = list(combinations(sorted(set(labels.tolist())), 2))
    within = [pair for pair in pairs if _find_set(pair[0]) == _find_set(pair[1])]
    across = [pair for pair in pairs if _find_set(pair[0]) != _find_set(pair[1])]
    rng = np.random.default_rng(seed)
    return [
        group[i]
        for group, size in ((within, (n + 1) // 2), (across, n // 2))
        for i in rng.permutation(len(group))[:size]
    ]


def draw_samples(
    labels: NDArray[np.str_], pair: tuple[str, str], per_class: int = PER_CLASS, seed: int = SEED
) -> Samples:
    """Return two disjoint samples of a pair's documents, the same in every call."""
    rng = np.random.default_rng([seed, *"\n".join(pair).encode()])
    drawn = [rng.permutation(np.flatnonzero(labels == name)) for name in pair]
    return Samples(
        np.concatenate([rows[:per_class] for rows in drawn]),
        np.concatenate([rows[per_class : 2 * per_class] for rows in drawn]),
    )


def make_problem(
    directory: Directory, pair: tuple[str, str], rows: NDArray[np.intp], noise: int = 0
) -> Problem:
    """Return the documents of some rows, without words that occur in only one of them.

    ``noise`` is the number of descriptions of other classes that are added to each document:
    irrelevant words, as on a web page.
    """
    X = directory.X[rows]
    if noise:
        X = binarize(X + _draw_noise(directory, pair, rows, noise))
    X = normalize(X[:, X.getnnz(axis=0) > 1])
    return Problem(X, (directory.labels[rows] == pair[0]).astype(np.int64))


def spread_evenly(difficulty: Sequence[float], n: int, low: float) -> list[int]:
    """Return the indices of n values that are spread evenly from ``low`` to the maximum.

    Each of n equal steps takes the nearest value left. The steps start at the minimum if it is
    above ``low``.

    Examples
    --------
    >>> spread_evenly([0.8, 0.61, 0.6, 0.7, 0.5], 3, 0.6)
    [2, 3, 0]
    """
    left = np.array(difficulty, float)
    chosen = []
    for wanted in np.linspace(max(low, left.min()), left.max(), n):
        nearest = int(np.nanargmin(np.abs(left - wanted)))
        chosen.append(nearest)
        left[nearest] = np.nan
    return chosen


def _align(X: sparse.csr_matrix, columns: Sequence[int], n_columns: int) -> sparse.csr_matrix:
    """Return a binary matrix with the columns moved to their indices in the joint vocabulary."""
    move = sparse.csr_matrix(
        (np.ones(len(columns)), (np.arange(len(columns)), columns)), (len(columns), n_columns)
    )
    return binarize(X @ move)


def _draw_noise(
    directory: Directory, pair: tuple[str, str], rows: NDArray[np.intp], noise: int
) -> sparse.csr_matrix:
    """Return, for each row, a sum of random documents of other classes."""
    others = np.flatnonzero(~np.isin(directory.labels, pair))
    drawn = np.random.default_rng(rows).choice(others, (rows.size, noise))
    add = sparse.csr_matrix(
        (np.ones(drawn.size), (np.repeat(np.arange(rows.size), noise), drawn.ravel())),
        (rows.size, directory.X.shape[0]),
    )
    return add @ directory.X


def _list_distinct(X: sparse.csr_matrix) -> NDArray[np.intp]:
    X.sort_indices()
    first: dict[bytes, int] = {}
    for i in range(X.shape[0]):
        words = X.indices[X.indptr[i] : X.indptr[i + 1]]
        if words.size:
            first.setdefault(words.tobytes(), i)
    return np.array(sorted(first.values()), np.intp)


def _find_set(label: str) -> str:
    return label.split("/")[0]


CONTROLLED = (
    "exact",
    "mask",
)  # with two controls: nested choice of the cut, random ranking


def study_pairs(
    data: Path,
    *,
    turn: int,
    n_turns: int,
    n_candidates: int,
    n_problems: int,
    low: float,
    noise: int,
    sets: Sequence[str] = SETS,
    fit_intercept: bool | str = True,
) -> dict[str, Any]:
    """Return the baseline AUC of a turn's candidates, and results of selection on the chosen ones.

    Every turn has different candidates and chooses an even spread of them. Difficulty is measured
    on other documents than the study uses, so a pair that looked hard by chance does not bias it.
    """
    directory = load_directory(data, tuple(sets))
    candidates = draw_candidates(directory.labels, n_turns * n_candidates)[turn::n_turns]
    svc = make_svc(fit_intercept=fit_intercept)
    screened = [_screen(directory, pair, noise, svc) for pair in candidates]
    chosen = spread_evenly(screened, n_problems, low)
    return {
        "screened": screened,
        "problems": [
            {
                "first": candidates[i][0],
                "second": candidates[i][1],
                "screening_auc": screened[i],
                **_study(directory, candidates[i], noise, svc),
            }
            for i in chosen
        ],
    }


def _screen(directory: Directory, pair: tuple[str, str], noise: int, svc: DualLinearSVC) -> float:
    rows = draw_samples(directory.labels, pair).screening
    curve = _trace(make_problem(directory, pair, rows, noise), "mask", svc, cuts=(1.0,))
    return round(float(curve.auc[0, 0]), DIGITS)


def _study(
    directory: Directory, pair: tuple[str, str], noise: int, svc: DualLinearSVC
) -> dict[str, Any]:
    """Return the AUC with all features, at the best and at a nested cut, and by random ranking."""
    rows = draw_samples(directory.labels, pair).study
    problem = make_problem(directory, pair, rows, noise)
    curves = {method: _trace(problem, method, svc) for method in METHODS}
    found: dict[str, float] = {"all": curves["mask"].auc[0, -1]}
    found |= {method: _find_best(curve) for method, curve in curves.items()}
    found |= {
        f"nested_{method}": _nest(problem, method, curves[method], svc) for method in CONTROLLED
    }
    found |= {
        f"random_{method}": _find_best(_trace(problem, method, svc, by="random"))
        for method in CONTROLLED
    }
    return {
        "words": problem.X.shape[1],
        "best_fraction": float(curves["exact"].fractions[_choose(curves["exact"])]),
        **{name: round(float(value), DIGITS) for name, value in found.items()},
    }


def _trace(problem: Problem, method: str, svc: DualLinearSVC, **options: Any) -> FeatureCurve:
    given: dict[str, Any] = {"cv": FOLDS, "estimator": svc, **options}
    curve: FeatureCurve = feature_curve(problem.X, problem.y, method=method, **given)
    return curve


def _choose(curve: FeatureCurve) -> int:
    """Return the index of the best of the paper's cuts, without the cut of all features."""
    return int(curve.auc[0, : len(PAPER_FRACTIONS) - 1].argmax())


def _find_best(curve: FeatureCurve) -> float:
    return float(curve.auc[0, _choose(curve)])


def _nest(problem: Problem, method: str, curve: FeatureCurve, svc: DualLinearSVC) -> float:
    """Return the AUC if each fold uses the best cut on its own training documents."""
    by_fold: NDArray[np.float64] = (curve.counts.won / curve.counts.pairs)[:, 0]
    splits = FOLDS.split(problem.X, problem.y)
    inner = [
        _trace(Problem(problem.X[train], problem.y[train]), method, svc) for train, _ in splits
    ]
    return float(np.mean([by_fold[f, _choose(found)] for f, found in enumerate(inner)]))
