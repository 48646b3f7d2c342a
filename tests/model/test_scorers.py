"""Scores against plain loops, and the two ways to add them up against each other."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_models import shape, tabulate, weigh
from spokeshave.kernels.shaping import look_up
from spokeshave.model.inputs import Rows
from spokeshave.model.scorers import N_BINS, ShapeTable, find_levels

N_KNOWN = 8


def make_rows(rng, n=12, *, is_binary=False, with_missing=False):
    """Return documents of some of the features each, the third of none."""
    X = rng.integers(-3, 4, size=(n, N_KNOWN)) + rng.choice([0, 0.25], size=(n, N_KNOWN))
    is_there = rng.random((n, N_KNOWN)) < 0.6
    is_there[2] = False
    if with_missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    indptr = np.cumsum([0, *is_there.sum(axis=1)])
    return Rows(indptr, np.nonzero(is_there)[1], None if is_binary else X[is_there])


def list_cells(rows):
    """Yield the features of each document and their values."""
    values = np.ones(len(rows.features)) if rows.values is None else rows.values
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        cells = zip(rows.features[start:stop], values[start:stop], strict=True)
        yield [(int(j), float(value)) for j, value in cells]


def score_by_hand(scorer, rows):
    """Return the scores of sparse weights by their definition."""
    scores = []
    for cells in list_cells(rows):
        for k, intercept in enumerate(scorer.intercept):
            total = square = 0.0
            for j, value in cells:
                for place in range(scorer.starts[j], scorer.starts[j + 1]):
                    if scorer.classes[place] == k:
                        total += float(scorer.weights[place]) * value
                        square += value * value
            length = math.sqrt(square) if scorer.unit and square > 0 else 1.0
            scores.append(total / length + intercept)
    return np.reshape(scores, (-1, len(scorer.intercept)))


def shape_by_hand(scorer, k, j, value):
    """Return what a value of a feature becomes for a class, before documents are normalised."""
    image = float(value > 0) if scorer.is_binary else value
    if scorer.table is not None:
        starts, levels, probability, prior = scorer.table
        own = slice(starts[j] + N_BINS, starts[j + 1])
        if math.isnan(image):
            image = probability[k, own.start - 1]
        elif own.start == own.stop:
            image = prior[k]
        else:
            image = np.interp(image, levels[own], probability[k, own].astype(float))
        if scorer.is_log:
            image = math.log(image / (1 - float(image)))
    return (image - scorer.base[k, j]) * scorer.factor[k, j]


def score_shaped_by_hand(scorer, rows):
    """Return the scores of shaped features by their definition."""
    measure = {
        "l2": lambda images: math.sqrt(sum(image * image for image in images)),
        "l1": lambda images: sum(map(abs, images)),
        "max": lambda images: max(map(abs, images), default=0),
        None: lambda images: 1,
    }[scorer.norm]
    scores = []
    for cells in list_cells(rows):
        for k, intercept in enumerate(scorer.intercept):
            images = [float(shape_by_hand(scorer, k, j, value)) for j, value in cells]
            length = measure(images) or 1
            weighed = (
                image * scorer.weights[k, j] for image, (j, _) in zip(images, cells, strict=True)
            )
            scores.append(sum(weighed) / length + intercept)
    return np.reshape(scores, (-1, len(scorer.intercept)))


def add_up_both_ways(scorer, rows):
    """Return the sums of the kernel and those of numpy."""
    shape = len(rows.indptr) - 1, len(scorer.intercept)
    return scorer._add_up(rows), scorer._add_up_slowly(rows, shape)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("n_scores", [1, 3])
def test_scores_are_those_of_plain_loops(rng, n_scores, is_binary, unit, monkeypatch):
    scorer, rows = weigh(rng, N_KNOWN, n_scores, unit=unit), make_rows(rng, is_binary=is_binary)
    expected = score_by_hand(scorer, rows)
    np.testing.assert_allclose(scorer.score(rows), expected, atol=1e-12)
    np.testing.assert_allclose(expected[2], scorer.intercept)  # of a document without features
    monkeypatch.delitem(sys.modules, "numba")
    np.testing.assert_allclose(scorer.score(rows), expected, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 5), st.integers(1, 4), st.booleans(), st.booleans())
def test_both_ways_add_up_to_the_same(seed, n, n_scores, is_binary, unit):
    rng = np.random.default_rng(seed)
    scorer = weigh(rng, N_KNOWN, n_scores, unit=unit)
    rows = make_rows(rng, n + 3, is_binary=is_binary)
    fast, slow = add_up_both_ways(scorer, rows)
    np.testing.assert_allclose(fast[0], slow[0], atol=1e-12)
    assert (fast[1] is None) == (slow[1] is None) == (not unit)
    if unit:
        np.testing.assert_allclose(fast[1], slow[1], atol=1e-12)


@pytest.mark.parametrize("unit", [True, False])
def test_nothing_adds_up_to_nothing(rng, unit):
    scorer = weigh(rng, N_KNOWN, 3, unit=unit)
    for n in (0, 2):
        rows = Rows(np.zeros(n + 1, np.int64), np.zeros(0, np.int64), None)
        for scores, squares in add_up_both_ways(scorer, rows):
            np.testing.assert_array_equal(scores, np.zeros((n, 3)))
            assert squares is None or not squares.any()
        assert scorer.contribute(rows, 2).shape == (0,)


def test_numba_that_cannot_be_had_is_not_missed(rng, monkeypatch):
    scorer, rows = weigh(rng, N_KNOWN, 3), make_rows(rng)
    expected = scorer.score(rows)
    monkeypatch.setitem(sys.modules, "numba", None)
    np.testing.assert_allclose(scorer.score(rows), expected, atol=1e-12)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("is_binary", [True, False])
def test_contributions_and_intercepts_are_the_scores(rng, is_binary, unit):
    scorer, rows = weigh(rng, N_KNOWN, 3, unit=unit), make_rows(rng, is_binary=is_binary)
    contribution = np.column_stack([scorer.contribute(rows, k) for k in range(3)])
    assert contribution.shape == (len(rows.features), 3)
    sums = np.array(
        [
            contribution[start:stop].sum(axis=0)
            for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]
    )
    np.testing.assert_allclose(sums + scorer.intercept, scorer.score(rows), atol=1e-12)


def test_weights_are_listed_by_class(rng):
    scorer = weigh(rng, N_KNOWN, 3)
    dense = np.zeros((3, N_KNOWN))
    for k in range(3):
        features, weights = scorer.list_weights(k)
        assert (np.diff(features) > 0).all()
        dense[k, features] = weights
    eye = Rows(np.arange(N_KNOWN + 1), np.arange(N_KNOWN), None)
    np.testing.assert_allclose(scorer.score(eye), dense.T + scorer.intercept)
    assert scorer.n_weights == np.count_nonzero(dense) == len(scorer.weights)


@pytest.mark.parametrize("norm", ["l2", "l1", "max", None])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_log": True},
        {"has_table": False},
        {"has_table": False, "is_binary": True},
        {"is_binary": True},
    ],
    ids=["probability", "log odds", "raw", "binary", "binary and shaped"],
)
@pytest.mark.parametrize("is_binary", [True, False])
def test_shaped_scores_are_those_of_plain_loops(rng, is_binary, options, norm):
    scorer = shape(rng, N_KNOWN, 3, norm=norm, **options)
    rows = make_rows(rng, is_binary=is_binary, with_missing=scorer.table is not None)
    expected = score_shaped_by_hand(scorer, rows)
    np.testing.assert_allclose(scorer.score(rows), expected, atol=1e-5)
    documents = np.repeat(np.arange(12), np.diff(rows.indptr))
    for k in range(3):
        sums = np.bincount(documents, scorer.contribute(rows, k), minlength=12)
        np.testing.assert_allclose(sums + scorer.intercept[k], scorer.score(rows)[:, k])


def test_shaped_weights_are_listed_by_class(rng):
    scorer = shape(rng, N_KNOWN, 2)
    scorer.weights[1, 3] = 0
    assert scorer.n_weights == 2 * N_KNOWN - 1
    features, weights = scorer.list_weights(1)
    np.testing.assert_array_equal(features, np.arange(N_KNOWN))
    np.testing.assert_array_equal(weights, scorer.weights[1])


def test_no_documents_have_no_shaped_scores(rng):
    rows = Rows(np.zeros(1, np.int64), np.zeros(0, np.int64), None)
    for n_known in (0, N_KNOWN):
        assert shape(rng, n_known, 3, norm="l2").score(rows).shape == (0, 3)


VALUES = st.sampled_from([-4.0, -0.5, -0.0, 0.0, 0.3, 1.0, 2.5, 9.0, np.nan, 1e300, -1e300])


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.tuples(st.integers(0, N_KNOWN - 1), VALUES), max_size=9))
def test_values_are_found_where_training_finds_them(seed, cells):
    table = tabulate(np.random.default_rng(seed), N_KNOWN, 1)
    features = np.array([j for j, _ in cells], np.int32)
    values = np.array([value for _, value in cells], float)
    found, share = find_levels(table, features, values)
    left, expected = np.empty(len(cells), np.uint32), np.empty(len(cells))
    no_names = np.zeros(N_KNOWN, bool)
    look_up(features, values, table.starts, table.levels, no_names, left, expected)
    np.testing.assert_array_equal(found.astype(np.uint32), left)
    np.testing.assert_allclose(share, expected)


@pytest.mark.parametrize(
    ("value", "level", "share"),
    [
        (0.9, 2, 0),
        (1.0, 2, 0),
        (1.5, 2, 0.25),
        (3.0, 3, 0),
        (4.0, 3, 0.5),
        (5.0, 4, 0),
        (6.0, 4, 0),
        (np.inf, 4, 0),
        (-np.inf, 2, 0),
        (np.nan, 1, 0),
    ],
)
def test_a_value_is_at_a_level_or_on_its_way_to_the_next(value, level, share):
    table = ShapeTable(np.array([0, 5]), np.array([0, 0, 1.0, 3.0, 5.0]), np.zeros((1, 5)), None)
    left, found = find_levels(table, np.array([0]), np.array([value]))
    assert left.tolist() == [level]
    assert found.tolist() == [share]


def test_a_feature_without_values_tells_nothing():
    table = ShapeTable(np.array([0, 2, 5]), np.array([0, 0, 0, 0, 7.0]), np.zeros((1, 5)), None)
    left, share = find_levels(table, np.array([0, 0, 1]), np.array([3.0, np.nan, 3.0]))
    assert left.tolist() == [-1, 1, 4]
    assert share.tolist() == [0, 0, 0]


def test_scaling_a_document_changes_nothing_where_it_is_made_of_length_one(rng):
    scorer, rows = weigh(rng, N_KNOWN, 3, unit=True), make_rows(rng)
    longer = rows._replace(values=3 * rows.values)
    np.testing.assert_allclose(scorer.score(longer), scorer.score(rows))


def test_permuted_documents_have_permuted_scores(rng):
    X = sparse.random_array((9, N_KNOWN), density=0.5, random_state=0, format="csr")
    scorer = weigh(rng, N_KNOWN, 3)
    order = rng.permutation(9)
    scores = scorer.score(Rows(X.indptr, X.indices, X.data))
    shuffled = X[order]
    found = scorer.score(Rows(shuffled.indptr, shuffled.indices, shuffled.data))
    np.testing.assert_allclose(found, scores[order])
