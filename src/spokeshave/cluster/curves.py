"""`curve_on_cluster`: the feature curve of a fitted model on documents of the workers.

Only the positives of a class are gathered and sorted. Every block counts its negatives between
them, and the counts add up. Documents are scored twice, once for the scores of the positives and
once to count the negatives, so that the scores of all documents are never kept: for many classes
they would take more memory than the documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.cluster.blocks import Block, Spread, list_classes
from spokeshave.cluster.client import collect, merge, submit
from spokeshave.cluster.statistics import Presence, count_presence
from spokeshave.curves.cuts import PAPER_FRACTIONS, accumulate, check_cuts, count_kept
from spokeshave.curves.feature_curve import ClassCurve, CurveOptions, FoldCurves, average_folds
from spokeshave.curves.fitted import is_fitted, read_weights
from spokeshave.curves.result import FeatureCurve
from spokeshave.curves.scoring import Cut
from spokeshave.kernels.cuts import Columns, score_mask, transpose
from spokeshave.kernels.rows import Rows, make_rows
from spokeshave.kernels.sorting import order_nonzero
from spokeshave.metrics import Counts, Placed, count_placed, place_negatives, sort_positives
from spokeshave.utils.validation import list_documents, tidy

CLASSES = 8  # of a task, at most
CELLS = 1_000_000  # scores of positives of a task: a merge takes 16 bytes for each of 8 of them


def curve_on_cluster(
    client: Client,
    test: Spread,
    estimator: Any,
    *,
    train: Spread | None = None,
    cuts: Any = PAPER_FRACTIONS,
) -> FeatureCurve:
    """Measure quality at every cut of a fitted model, on documents of the workers.

    Features are ranked by the normal and dropped from it (``method="mask"``). The measures are
    those of `feature_curve` with the same model and all documents on one machine, to the last
    digit.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    test : Spread
        The documents to measure quality on. A cut chosen from such a curve was chosen on them, and
        the result says so.
    estimator : estimator
        A fitted linear model with ``coef_``, ``intercept_`` and the ``classes_`` of ``test``.
    train : Spread, optional
        The documents that it was fitted on. The nonzeros of a cut are counted in them, and a class
        without a document in them is left out. By default they are counted in ``test``, and no
        class is left out.
    cuts : sequence of float or int, or "log", default=PAPER_FRACTIONS
        Fractions of the features with a nonzero weight, counts, or powers of two.

    Returns
    -------
    curve : FeatureCurve
    """
    start, classes = perf_counter(), list_classes(test)
    _check_train(train, test)
    if not is_fitted(estimator):
        raise ValueError(f"estimator must be fitted. Got {estimator!r}, which is not.")
    is_one_row = classes.size == 2 and not test.is_multilabel
    names = classes[1:] if is_one_row else classes
    coef, intercept = read_weights(estimator, classes, names.size, test.n_features)
    options = CurveOptions(
        methods=("mask",),
        by="normal",
        estimator=estimator,
        cuts=check_cuts(cuts, test.n_features),
        against="features",
        aggregate=None,
        renormalize=None,
        n_jobs=None,
        random_state=None,
    )
    tested = count_presence(client, test)
    trained = tested if train is None else count_presence(client, train)
    chosen = np.arange(names.size)
    if train is not None:
        chosen = np.flatnonzero(submit(client, _take_sizes, trained).result())
    normals = {
        k: submit(client, cut_class, coef[k], float(intercept[k]), options.cuts)
        for k in chosen.tolist()
    }
    n_trained = (train or test).n_documents
    effects = [submit(client, find_effect, each, trained, n_trained) for each in normals.values()]
    measured = _measure(client, test, tested, normals, options.cuts.size)
    curves: list[list[ClassCurve] | None] = [None] * names.size
    for k, effect in zip(normals, collect(effects), strict=True):
        curves[k] = [_join_cuts(measured[k], effect)]
    folds = [FoldCurves(curves, 0.0, np.zeros(1))]
    (curve,) = average_folds(options, names, folds, "test set", perf_counter() - start)
    return curve


def _check_train(train: Spread | None, test: Spread) -> None:
    if train is None:
        return
    if train.n_features != test.n_features or train.names != test.names:
        raise ValueError(
            "test must have the features and classes of train: spread it with like=train. "
            f"Got {test.n_features} features and {len(test.names)} classes, and in train "
            f"{train.n_features} and {len(train.names)}, or others of them."
        )


def _take_sizes(presence: Presence) -> NDArray[np.intp]:
    return presence.sizes


class Normal(NamedTuple):
    """The weights and the intercept of a class, and its features at every cut."""

    w: NDArray[np.float64]
    b: float
    cut: Cut


def cut_class(w: NDArray[np.float64], b: float, cuts: NDArray[Any]) -> Normal:
    """Rank the features of a class by their weights, and find how many each cut keeps."""
    order = order_nonzero(np.abs(w))
    return Normal(w, b, Cut(order, count_kept(cuts, np.array([order.size]))[0]))


class Effect(NamedTuple):
    """The size of each cut of a class: features, and mean nonzeros per document."""

    n_features: NDArray[np.intp]
    nonzeros: NDArray[np.float64]
    n_ranked: int


def find_effect(normal: Normal, trained: Presence, n_documents: int) -> Effect:
    """Count the features and the nonzeros of each cut in the training documents."""
    order, ends = normal.cut
    return Effect(ends, accumulate(trained.frequency, order, n_documents)[ends], order.size)


class Piece(NamedTuple):
    """Some cuts of a class: from the first up to the last, which is excluded."""

    k: int
    first: int
    last: int


def plan_groups(sizes: dict[int, int], n_cuts: int, cells: int = CELLS) -> list[list[Piece]]:
    """Group the cuts of classes to measure together, given the number of positives of each class.

    A group has few classes and few scores of positives. A class with many positives is measured at
    a few cuts at a time.

    Examples
    --------
    >>> groups = plan_groups({0: 2, 1: 3, 3: 50}, n_cuts=2, cells=55)
    >>> [[tuple(piece) for piece in group] for group in groups]
    [[(0, 0, 2), (1, 0, 2)], [(3, 0, 1)], [(3, 1, 2)]]
    """
    groups: list[list[Piece]] = []
    held = cells + 1  # the first piece begins a group
    for k, size in sizes.items():
        n_at_once = min(max(cells // max(size, 1), 1), n_cuts)
        for first in range(0, n_cuts, n_at_once):
            piece = Piece(k, first, min(first + n_at_once, n_cuts))
            n_scores = size * (piece.last - piece.first)
            if held + n_scores > cells or len(groups[-1]) == CLASSES:
                groups.append([])
                held = 0
            groups[-1].append(piece)
            held += n_scores
    return groups


def _measure(
    client: Client, test: Spread, tested: Future, normals: dict[int, Future], n_cuts: int
) -> dict[int, list[tuple[Counts, NDArray[np.float64]]]]:
    """Return the counts and the best thresholds of each class, by groups of cuts.

    Earlier groups have priority, so that few groups are held at a time.
    """
    sizes = submit(client, _take_sizes, tested).result()
    is_plain = merge(client, all, [submit(client, has_plain_rows, each) for each in test.blocks])
    sides = [submit(client, lay_out_block, block, is_plain) for block in test.blocks]
    groups = plan_groups({k: int(sizes[k]) for k in normals}, n_cuts)
    tasks = []
    for number, group in enumerate(groups):
        members, how = [normals[piece.k] for piece in group], {"priority": -number}
        scored = [
            submit(client, score_positives, block, is_plain, members, group, **how)
            for block in test.blocks
        ]
        positives = merge(client, merge_sorted, scored)
        placed = [
            submit(client, place_block, each, members, group, positives, **how) for each in sides
        ]
        total = merge(client, merge_placed, placed)
        tasks.append(submit(client, sum_up_group, positives, total))
    found = defaultdict(list)
    for group, counted in zip(groups, collect(tasks), strict=True):
        for piece, counts in zip(group, counted, strict=True):
            found[piece.k].append(counts)
    return found


def _join_cuts(measured: list[tuple[Counts, NDArray[np.float64]]], effect: Effect) -> ClassCurve:
    counts, thresholds = zip(*measured, strict=True)
    nothing_solved = np.full((2, effect.n_features.size), np.nan)
    return ClassCurve(
        Counts(*map(np.concatenate, zip(*counts, strict=True))),
        np.concatenate(thresholds),
        *effect,
        nothing_solved,
    )


class ColumnBlock(NamedTuple):
    """The documents of a block by column, and the indicator of their classes."""

    columns: Columns
    indicator: sparse.csc_matrix


def has_plain_rows(block: Block) -> bool:
    """Return whether all values of each document are alike."""
    return _make_rows(tidy(block.X)).data is None


def lay_out_block(block: Block, is_plain: bool) -> ColumnBlock:
    """Lay documents out by feature."""
    return ColumnBlock(lay_out(tidy(block.X), is_plain), block.indicator)


def lay_out(X: sparse.csr_matrix, is_plain: bool) -> Columns:
    """Return documents by column, without values only if no document in any block has them.

    Scores are then rounded as on one machine, which looks at all documents at once.
    """
    rows = _make_rows(X)
    if rows.data is None and not is_plain:
        rows = rows._replace(data=X.data, scale=np.ones_like(rows.scale))
    return transpose(rows, X.shape[1])


def _make_rows(X: sparse.csr_matrix) -> Rows:
    return make_rows(X.indptr, X.indices, X.data, np.ones(X.shape[0]))


def score_positives(
    block: Block, is_plain: bool, normals: list[Normal], group: list[Piece]
) -> list[NDArray[np.float64]]:
    """Return the scores (cuts x positives) of the positives in a block, ascending."""
    X, found = tidy(block.X), []
    for normal, piece in zip(normals, group, strict=True):
        positives = list_documents(block.indicator, piece.k)
        scores = np.empty((piece.last - piece.first, positives.size))
        if positives.size:
            _score(lay_out(X[positives], is_plain), normal, piece, scores)
        found.append(sort_positives(scores))
    return found


def merge_sorted(parts: list[list[NDArray[np.float64]]]) -> list[NDArray[np.float64]]:
    """Return the scores of the positives of several blocks, ascending."""
    return [
        np.sort(np.concatenate(of_class, axis=1), axis=1, kind="stable")
        for of_class in zip(*parts, strict=True)
    ]


def place_block(
    side: ColumnBlock,
    normals: list[Normal],
    group: list[Piece],
    of_positives: list[NDArray[np.float64]],
) -> list[Placed]:
    """Place the negatives of a block among the positives of all blocks."""
    n_most = max(piece.last - piece.first for piece in group)
    bench, found = np.empty((n_most, side.indicator.shape[0])), []
    for normal, piece, ascending in zip(normals, group, of_positives, strict=True):
        scores = bench[: piece.last - piece.first]
        if ascending.size:
            _score(side.columns, normal, piece, scores)
        positives = list_documents(side.indicator, piece.k)
        found.append(place_negatives(scores, positives, ascending))
    return found


def _score(columns: Columns, normal: Normal, piece: Piece, scores: NDArray[np.float64]) -> None:
    ends = normal.cut.ends[piece.first : piece.last]
    score_mask(columns, normal.cut.order, ends, normal.w, normal.b, scores)


def merge_placed(parts: list[list[Placed]]) -> list[Placed]:
    """Return the negatives of several blocks, placed."""
    return [reduce(Placed.merge, of_class) for of_class in zip(*parts, strict=True)]


def sum_up_group(
    of_positives: Iterable[NDArray[np.float64]], placed: Iterable[Placed]
) -> list[tuple[Counts, NDArray[np.float64]]]:
    """Return the counts and the best thresholds, given all documents."""
    return [count_placed(*pair) for pair in zip(of_positives, placed, strict=True)]
