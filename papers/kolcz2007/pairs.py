"""Two-class problems from pairs of Open Directory classes: a stand-in for TechTC-100.

TechTC-100 cannot be had. Its spirit is kept: about 150 documents to a problem, as many of one class
as of the other, and problems spread evenly from hard to easy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import binarize, normalize

from spokeshave.corpus import read_arff

SETS = ("Business", "Computers", "Health", "Science", "Sports")
PER_CLASS = 75
SEED = 2007


class Directory(NamedTuple):
    """Short descriptions as zeros and ones, and the class of each: ``Health/Nursing``."""

    X: sparse.csr_matrix
    labels: NDArray[np.str_]


class Samples(NamedTuple):
    """Rows of a pair's documents: those that tell how hard it is, and those of its study."""

    screening: NDArray[np.intp]
    study: NDArray[np.intp]


class Problem(NamedTuple):
    """Documents of two classes, rows of length one, and whether each is of the first."""

    X: sparse.csr_matrix
    y: NDArray[np.int64]


@lru_cache(1)
def load_directory(data: Path) -> Directory:
    """Return the documents of the five sets over one vocabulary.

    Of documents with the same words the first is kept, so that none is in two classes; a document
    without a word is left out.
    """
    parts = [read_arff(data / "dmoz" / f"Dmoz-{name}.arff.zip") for name in SETS]
    named = [part.feature_names or () for part in parts]
    words = sorted({word for names in named for word in names})
    column = {word: j for j, word in enumerate(words)}
    X = sparse.vstack(
        [
            _place(part.X, [column[word] for word in names], len(words))
            for part, names in zip(parts, named, strict=True)
        ],
        format="csr",
    )
    labels = np.array(
        [f"{name}/{label}" for name, part in zip(SETS, parts, strict=True) for label in part.labels]
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
    """Return two samples of a pair's documents that share none, the same ones every time."""
    rng = np.random.default_rng([seed, *"\n".join(pair).encode()])
    drawn = [rng.permutation(np.flatnonzero(labels == name)) for name in pair]
    return Samples(
        np.concatenate([rows[:per_class] for rows in drawn]),
        np.concatenate([rows[per_class : 2 * per_class] for rows in drawn]),
    )


def make_problem(
    directory: Directory, pair: tuple[str, str], rows: NDArray[np.intp], noise: int = 0
) -> Problem:
    """Return the documents of some rows, without the words that one of them alone has.

    With ``noise`` each document is followed by so many descriptions of other classes, drawn anew
    for each: words that have nothing to do with the two, as a web page is full of.
    """
    X = directory.X[rows]
    if noise:
        X = binarize(X + _draw_noise(directory, pair, rows, noise))
    X = normalize(X[:, X.getnnz(axis=0) > 1])
    return Problem(X, (directory.labels[rows] == pair[0]).astype(np.int64))


def spread_evenly(difficulty: Sequence[float], n: int, low: float) -> list[int]:
    """Return n places of a list whose values lie as evenly as they can, from ``low`` to the top.

    Each of n equal steps takes what is nearest to it of what is left. Where nothing is as low, the
    steps begin at the least.

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


def _place(X: sparse.csr_matrix, columns: Sequence[int], n_columns: int) -> sparse.csr_matrix:
    """Return a matrix as zeros and ones, its columns moved to their numbers among all."""
    move = sparse.csr_matrix(
        (np.ones(len(columns)), (np.arange(len(columns)), columns)), (len(columns), n_columns)
    )
    return binarize(X @ move)


def _draw_noise(
    directory: Directory, pair: tuple[str, str], rows: NDArray[np.intp], noise: int
) -> sparse.csr_matrix:
    """Return, for each row, the sum of some documents of neither class."""
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
