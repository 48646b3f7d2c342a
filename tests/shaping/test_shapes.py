"""Tables of shapes against the columns they are made of."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib import pyplot
from scipy import sparse
from scipy.special import logit

from spokeshave.kernels.shaping import MISSING, N_BINS
from spokeshave.shaping import levels
from spokeshave.shaping.levels import count_class, count_levels, find_levels, store_all
from spokeshave.shaping.shapes import (
    DEFAULT_NEIGHBORS,
    OTHER_NEIGHBORS,
    choose_neighbors,
    estimate_shapes,
    extract_shape,
    locate_cells,
    map_cells,
    map_levels,
    map_zeros,
)

matplotlib.use("Agg")

NOMINAL = np.array([False, True])
OUTPUTS = pytest.mark.parametrize("output", ["probability", "log_odds"])
CELLS = st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0, np.nan])
TABLES = arrays(np.float64, st.tuples(st.integers(2, 25), st.just(2)), elements=CELLS)


def learn(X, indicator, n_neighbors=4, *, zero_is_apart=True):
    """Return the levels, the counts and the shapes of a table whose second column is nominal."""
    cell_levels = find_levels(sparse.csr_matrix(X), zero_is_apart=zero_is_apart)
    counts = count_levels(cell_levels, sparse.csc_matrix(indicator))
    return cell_levels, counts, estimate(cell_levels, counts, n_neighbors)


def estimate(cell_levels, counts, n_neighbors):
    asked = np.full((len(counts.positives), 2), float(n_neighbors))
    return estimate_shapes(cell_levels.levels, counts, asked, NOMINAL)


@pytest.fixture
def learned(rng):
    X = rng.choice([0.0, 1.0, 2.0, 4.0, np.nan], (60, 2))
    X[:, 1][X[:, 1] == 4] = 0
    indicator = (rng.random((60, 3)) < [0.5, 0.2, 0.0]).astype(np.int8)
    return X, indicator, learn(X, indicator)[-1]


def test_an_estimate_by_hand():
    found = find_levels(sparse.csr_matrix([[1.0], [1.0], [2.0], [3.0], [0.0], [0.0]]))
    counts = count_levels(found, sparse.csc_matrix([[0], [0], [1], [1], [1], [0]]))
    np.testing.assert_array_equal(counts.positives, [[1, 0, 0, 1, 1]])
    shapes = estimate_shapes(found.levels, counts, np.array([[2.0]]), np.array([False]))
    # The bin of missing values is empty: it gets the prior.
    np.testing.assert_allclose(shapes.probability, [[2 / 4, 4 / 8, 2 / 5, 3 / 5, 3 / 4]])


def test_counts_and_estimates_are_of_each_class(learned):
    X, indicator, shapes = learned
    np.testing.assert_allclose(shapes.prior, (indicator.sum(axis=0) + 1) / 62)
    for k, label in enumerate(indicator.T):
        cell_levels, _, alone = learn(X, label[:, None])
        np.testing.assert_array_equal(shapes.probability[k], alone.probability[0])
        counts = count_class(cell_levels, np.flatnonzero(label))
        np.testing.assert_array_equal(shapes.positives[k], counts)
    assert not shapes.positives[2].any()


def test_names_have_no_neighbours(learned):
    _, _, shapes = learned
    of_column = slice(shapes.levels.starts[1], None)
    sizes, positives = shapes.levels.sizes[of_column], shapes.positives[:, of_column]
    np.testing.assert_allclose(shapes.probability[:, of_column], (positives + 1) / (sizes + 2))


def test_each_class_and_feature_has_its_own_neighbours(learned):
    X, indicator, _ = learned
    cell_levels, counts, _ = learn(X, indicator)
    asked = np.array([[0.0, 3.0], [4.0, 3.0], [100.0, 3.0]])
    shapes = estimate_shapes(cell_levels.levels, counts, asked, NOMINAL)
    for k, (n_neighbors, _) in enumerate(asked):
        np.testing.assert_array_equal(
            shapes.probability[k], estimate(cell_levels, counts, n_neighbors).probability[k]
        )


@settings(deadline=None)
@given(TABLES, st.booleans(), st.sampled_from([0, 1, 4, 100]), st.data())
def test_counts_without_a_fold_are_those_of_the_others(X, zero_is_apart, n_neighbors, data):
    labels = data.draw(arrays(np.int8, (len(X), 2), elements=st.integers(0, 1)))
    is_out = data.draw(arrays(bool, len(X)))
    options = {"n_neighbors": n_neighbors, "zero_is_apart": zero_is_apart}
    cell_levels, counts, _ = learn(X, labels, **options)
    fold = count_levels(cell_levels, sparse.csc_matrix(labels), np.flatnonzero(is_out))
    rest = counts.without(fold)
    of_others = count_levels(cell_levels, sparse.csc_matrix(labels), np.flatnonzero(~is_out))
    for one, other in zip(rest, of_others, strict=True):
        np.testing.assert_array_equal(one, other)
    shapes = estimate(cell_levels, rest, n_neighbors)
    small, _, expected = learn(X[~is_out], labels[~is_out], **options)
    np.testing.assert_allclose(shapes.prior, expected.prior)
    for j in range(2):
        mine = slice(cell_levels.levels.starts[j], cell_levels.levels.starts[j + 1])
        theirs = slice(small.levels.starts[j], small.levels.starts[j + 1])
        known = cell_levels.levels.values[mine][N_BINS:]
        at = N_BINS + np.searchsorted(known, small.levels.values[theirs][N_BINS:])
        at = np.concatenate([np.arange(N_BINS), at])
        np.testing.assert_allclose(
            shapes.probability[:, mine][:, at], expected.probability[:, theirs]
        )
        np.testing.assert_array_equal(rest.sizes[mine][at], small.levels.sizes[theirs])
        assert rest.sizes[mine].sum() == rest.n_documents == (~is_out).sum()


@OUTPUTS
@pytest.mark.parametrize("zero_is_apart", [True, False])
def test_images_of_levels_are_those_of_their_documents(learned, output, zero_is_apart):
    X, indicator, _ = learned
    shapes = learn(X, indicator, zero_is_apart=zero_is_apart)[-1]
    rows = sparse.csr_matrix(X)
    positions, one, nothing = locate_cells(shapes, rows), np.ones(2), np.zeros(2)
    for k in range(3):
        table = shapes.probability[k]
        images, zeros = map_levels(shapes, k, output), map_zeros(shapes, k, output)
        np.testing.assert_array_equal(images, logit(table) if output == "log_odds" else table)
        np.testing.assert_array_equal(zeros, images[shapes.levels.zero_level])
        for base in (nothing, zeros):
            found = np.empty(rows.nnz)
            map_cells(shapes, k, positions, output, base, one, found)
            expected = images[positions.left] - base[rows.indices]
            np.testing.assert_allclose(found, expected, atol=1e-15)


def test_the_shapes_of_one_class_are_as_if_there_were_no_other(learned):
    X, indicator, shapes = learned
    for k, label in enumerate(indicator.T):
        found, expected = shapes.of_class(k), learn(X, label[:, None])[-1]
        for field in ("is_nominal", "positives", "probability", "prior"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
        assert found.levels is shapes.levels
        np.testing.assert_array_equal(found.n_positive, [label.sum()])


@settings(deadline=None)
@given(TABLES, st.booleans(), st.data())
def test_shapes_know_how_many_documents_each_class_has(X, zero_is_apart, data):
    labels = data.draw(arrays(np.int8, (len(X), 3), elements=st.integers(0, 1)))
    _, counts, shapes = learn(X, labels, zero_is_apart=zero_is_apart)
    np.testing.assert_array_equal(shapes.n_positive, labels.sum(axis=0))
    np.testing.assert_array_equal(counts.n_positive, labels.sum(axis=0))
    assert counts.n_documents == len(X)


def test_a_level_that_no_counted_document_is_at_has_its_neighbours():
    X = np.array([[1.0, 1], [2, 1], [3, 2], [4, 1], [5, 1]])
    cell_levels, counts, _ = learn(X, np.array([[1], [1], [0], [0], [1]]))
    indicator = sparse.csc_matrix([[1], [1], [0], [0], [1]])
    rest = counts.without(count_levels(cell_levels, indicator, np.array([2])))
    assert (rest.n_documents, rest.n_positive.tolist()) == (4, [3])
    amounts, names = (slice(start + N_BINS, None) for start in cell_levels.levels.starts[:2])
    # One neighbour below and one above; a name has none, and then there is the prior.
    found = estimate(cell_levels, rest, 2).probability[0]
    np.testing.assert_allclose(found[amounts][:5], [3 / 4, 3 / 5, 2 / 4, 3 / 5, 2 / 4])
    np.testing.assert_allclose(found[names], [4 / 6, 4 / 6])
    np.testing.assert_allclose(estimate(cell_levels, rest, 0).probability[0, amounts][2], 4 / 6)


def test_counts_of_folds_add_up(learned):
    X, indicator, _ = learned
    cell_levels, counts, _ = learn(X, indicator)
    folds = [
        count_levels(cell_levels, sparse.csc_matrix(indicator), np.arange(first, 60, 3))
        for first in range(3)
    ]
    for field in counts._fields:
        total = sum(getattr(fold, field) for fold in folds)
        np.testing.assert_array_equal(total, getattr(counts, field))
    nothing = counts.without(counts)
    assert not nothing.sizes.any()
    # Of no documents nothing is known: every estimate is that of a coin.
    np.testing.assert_array_equal(estimate(cell_levels, nothing, 4).probability, 0.5)


@OUTPUTS
def test_images_between_levels_are_of_the_interpolated_probability(learned, output):
    _, _, shapes = learned
    found = np.empty(2)
    positions = locate_cells(shapes, store_all(np.array([[1.25, 7.0]])))
    map_cells(shapes, 0, positions, output, np.zeros(2), np.ones(2), found)
    one, two = shapes.probability[0, N_BINS : N_BINS + 2]
    expected = np.array([0.75 * one + 0.25 * two, shapes.prior[0]])
    np.testing.assert_allclose(found, logit(expected) if output == "log_odds" else expected)


def test_positions_do_not_depend_on_threads(learned, monkeypatch):
    X, _, shapes = learned
    rows = store_all(X + 0.25)
    alone = locate_cells(shapes, rows)
    monkeypatch.setattr(levels, "WORTH_A_THREAD", 20)
    for one, other in zip(alone, locate_cells(shapes, rows, n_jobs=3), strict=True):
        np.testing.assert_array_equal(one, other)


@OUTPUTS
@pytest.mark.parametrize("is_shifted", [True, False])
def test_the_shape_of_one_feature_is_extracted(learned, output, is_shifted):
    X, indicator, shapes = learned
    for j in range(2):
        shape = extract_shape(shapes, j, output, is_shifted=is_shifted)
        amounts = X[~np.isnan(X[:, j]) & (X[:, j] != 0), j]
        values, sizes = np.unique(amounts, return_counts=True)
        np.testing.assert_array_equal(shape.values, values)
        np.testing.assert_array_equal(shape.sizes, sizes)
        assert (shape.n_zero, shape.n_missing) == ((X[:, j] == 0).sum(), np.isnan(X[:, j]).sum())
        for value, positives in zip(values, shape.positives.T, strict=True):
            np.testing.assert_array_equal(positives, indicator[X[:, j] == value].sum(axis=0))
        starts = shapes.levels.starts
        table = shapes.probability[:, starts[j] : starts[j + 1]]
        table = logit(table) if output == "log_odds" else table
        table = table - table[:, :1] if is_shifted else table
        np.testing.assert_allclose(shape.images, table[:, N_BINS:])
        np.testing.assert_allclose(shape.missing, table[:, MISSING])
        np.testing.assert_allclose(shape.zero, table[:, 0])
        assert shape.is_nominal == bool(j)


def test_zero_among_other_values_is_found(learned):
    X, indicator, _ = learned
    shapes = learn(X, indicator, zero_is_apart=False)[-1]
    shape = extract_shape(shapes, 0, "probability", is_shifted=False)
    assert shape.n_zero == 0
    assert shape.sizes[0] == (X[:, 0] == 0).sum()
    np.testing.assert_array_equal(shape.zero, shape.images[:, 0])


def test_a_shape_is_stretched(learned):
    shape = extract_shape(learned[2], 0, "probability", is_shifted=False)
    base, factor = np.array([0.1, 0.2, 0.3]), np.array([2.0, 0.0, -1.0])
    stretched = shape.stretch(base, factor)
    for name in ("zero", "missing"):
        expected = (getattr(shape, name) - base) * factor
        np.testing.assert_allclose(getattr(stretched, name), expected)
    np.testing.assert_allclose(stretched.images, (shape.images.T - base).T * factor[:, None])
    np.testing.assert_array_equal(stretched.values, shape.values)
    assert shape.images.max() < 1


def test_a_shape_cannot_be_changed(learned):
    shape = extract_shape(learned[2], 0, "probability", is_shifted=False)
    with pytest.raises(AttributeError):
        shape.name = "another"
    assert replace(shape, name="another").name == "another"


def test_a_shape_draws_itself(learned):
    _, ax = pyplot.subplots()
    shape = replace(extract_shape(learned[2], 0, "probability", is_shifted=False), name="speed")
    assert shape.plot(ax=ax) is ax
    assert ax.get_xlabel() == "speed"
    pyplot.close("all")


NUMBERS = st.sampled_from([0.0, 1.0, 2.0, math.nan]) | st.integers(-30, 30).map(float)


def judge_naively(value, is_positive, others, n_neighbors):
    """Return the log likelihood of a document by others, given as (value, is positive) in order.

    They stand in a row, each as positive as those of its value are on average; None of nobody.
    """
    known = [other for other, _ in others]
    bottom = max(bisect_left(known, value) - n_neighbors / 2, 0)
    top = min(bisect_right(known, value) + n_neighbors / 2, len(known))
    if top == bottom:
        return None
    positives = 0.0
    for i in range(math.floor(bottom), math.ceil(top)):
        tied = others[bisect_left(known, known[i]) : bisect_right(known, known[i])]
        share = sum(positive for _, positive in tied) / len(tied)
        positives += share * (min(i + 1, top) - max(i, bottom))
    p = (positives + 1) / (top - bottom + 2)
    return math.log(p if is_positive else 1 - p)


def judge_all_naively(column, positive, fold_of, n_neighbors, *, zero_is_apart, is_nominal):
    """Return the log likelihood of each document estimated from the other folds."""
    bins = ["missing" if v != v else "zero" if zero_is_apart and v == 0 else "" for v in column]
    reach, rest, prior = 0 if is_nominal else n_neighbors, {}, {}
    documents = list(zip(column, positive, fold_of, bins, strict=True))
    for fold in set(fold_of):
        others = [(v, p, of_bin) for v, p, other, of_bin in documents if other != fold]
        prior[fold] = (sum(p for _, p, _ in others) + 1) / (len(others) + 2)
        for name in set(bins):
            rest[fold, name] = sorted((0 if name else v, p) for v, p, b in others if b == name)
    found = []
    for value, is_positive, fold, name in documents:
        at = 0 if name else value
        judged = judge_naively(at, is_positive, rest[fold, name], 0 if name else reach)
        by_prior = math.log(prior[fold] if is_positive else 1 - prior[fold])
        found.append(by_prior if judged is None else judged)
    return found


def choose_naively(column, positive, fold_of, **how):
    """Return the neighbours of a column, and how clear the choice is."""
    usual = judge_all_naively(column, positive, fold_of, 30, **how)
    n, chosen, most, margin = len(column), 30, 0.0, math.inf
    for n_neighbors in (10, 90, 270):
        other = judge_all_naively(column, positive, fold_of, n_neighbors, **how)
        gains = [of_other - of_usual for of_other, of_usual in zip(other, usual, strict=True)]
        mean = sum(gains) / n
        error = math.sqrt(max(sum(gain**2 for gain in gains) / n - mean**2, 0) / n)
        if any(gains):
            margin = min(margin, abs(mean - error), abs(mean - most) or math.inf)
        if mean > error and mean > most:
            chosen, most = n_neighbors, mean
    return chosen, margin


def choose(X, labels, fold_of, *, zero_is_apart=False, nominal=()):
    """Return the neighbours of every class and column of a table."""
    cell_levels = find_levels(sparse.csr_matrix(X), zero_is_apart=zero_is_apart)
    indicator = sparse.csc_matrix(labels)
    folds = (
        count_levels(cell_levels, indicator, np.flatnonzero(fold_of == fold))
        for fold in range(fold_of.max() + 1)
    )
    is_nominal = np.isin(np.arange(X.shape[1]), nominal)
    counts = count_levels(cell_levels, indicator)
    return choose_neighbors(cell_levels.levels, counts, folds, is_nominal)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.data(), st.booleans())
def test_neighbours_are_those_of_a_plain_judgement(data, zero_is_apart):
    n = data.draw(st.integers(2, 60))
    X = data.draw(arrays(np.float64, (n, 2), elements=NUMBERS))
    labels = data.draw(arrays(np.int8, (n, 2), elements=st.integers(0, 1)))
    fold_of = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    found = choose(X, labels, fold_of, zero_is_apart=zero_is_apart, nominal=[1])
    assert found.shape == (2, 2)
    for k, j in np.ndindex(2, 2):
        how = {"zero_is_apart": zero_is_apart, "is_nominal": j == 1}
        column, positive = X[:, j].tolist(), labels[:, k].tolist()
        expected, margin = choose_naively(column, positive, fold_of.tolist(), **how)
        assume(margin > 1e-9)
        assert found[k, j] == expected


def make_waves(n_waves, height, *, seed=1):
    """Return a feature with ``n_waves`` waves of the class, the class, and folds."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, n_waves, 600)
    label = (rng.random(600) < 0.5 + height * np.sin(2 * np.pi * x)).astype(np.int8)
    x[rng.random(600) < 0.1] = math.nan
    x[rng.random(600) < 0.1] = 0
    return x, label, rng.integers(0, 5, 600)


@pytest.mark.parametrize(
    ("n_waves", "height", "zero_is_apart", "expected"),
    [(12, 0.45, True, 10), (4, 0.4, False, 30), (1, 0.3, True, 90), (0.25, 0, False, 270)],
)
def test_the_slower_a_class_comes_and_goes_the_more_neighbours_are_asked(
    n_waves, height, zero_is_apart, expected
):
    x, label, fold_of = make_waves(n_waves, height)
    found = choose(x[:, None], label[:, None], fold_of, zero_is_apart=zero_is_apart)
    how = {"zero_is_apart": zero_is_apart, "is_nominal": False}
    by_hand, margin = choose_naively(x.tolist(), label.tolist(), fold_of.tolist(), **how)
    assert margin > 1e-9
    assert found[0, 0] == by_hand == expected


def test_each_class_and_feature_chooses_by_itself():
    (fast, one, fold_of), (slow, other, _) = make_waves(12, 0.45), make_waves(0.25, 0)
    X, labels = np.column_stack([fast, slow]), np.column_stack([one, other])
    found = choose(X, labels, fold_of)
    for k, j in np.ndindex(2, 2):
        assert found[k, j] == choose(X[:, [j]], labels[:, [k]], fold_of)[0, 0]
    assert (found[0, 0], found[1, 1]) == (10, 270)


def test_names_constants_and_missing_values_ask_for_the_usual_number(rng):
    X = np.column_stack([np.ones(80), np.full(80, math.nan), rng.normal(size=80)])
    labels = np.column_stack([rng.random(80) < 0.5, np.zeros(80), np.ones(80)]).astype(np.int8)
    found = choose(X, labels, np.arange(80) % 5, nominal=[2])
    np.testing.assert_array_equal(found, np.full((3, 3), DEFAULT_NEIGHBORS))


def test_of_equally_good_numbers_the_smallest_is_chosen():
    # Of 60 documents that are all of the class, 90 neighbours are as many as 270.
    found = choose(np.arange(60.0)[:, None], np.ones((60, 1), np.int8), np.arange(60) % 3)
    assert found[0, 0] == 90
    assert all(fewer < more for fewer, more in pairwise(OTHER_NEIGHBORS))


def test_documents_of_a_single_part_are_judged_by_nobody():
    X, label = np.arange(50.0)[:, None], (np.arange(50) % 2)[:, None]
    np.testing.assert_array_equal(choose(X, label, np.zeros(50, int)), [[DEFAULT_NEIGHBORS]])
