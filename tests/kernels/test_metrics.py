"""Measures from the order of the positives, against scikit-learn and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_recall_curve, roc_auc_score

from spokeshave.kernels.metrics import (
    count_top,
    find_best_f1,
    place,
    place_cuts,
    sum_up,
    tally,
    win_pairs,
)

FINITE = st.floats(-1e6, 1e6)
TIED = st.integers(-3, 3).map(float)


@st.composite
def scored(draw):
    """Draw scores, many of them equal, and which of the documents are positive."""
    kind = draw(st.sampled_from([FINITE, TIED]))
    scores = draw(st.lists(kind, min_size=2, max_size=60))
    positive = draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    positive[0], positive[1] = True, False
    return np.array(scores), np.array(positive)


def place_naively(negatives, positives):
    reached, tied = np.zeros((2, len(positives)), np.int64)
    for s in negatives:
        r = sum(p <= s for p in positives) - 1
        if r >= 0:
            reached[r] += 1
            tied[r] += positives[r] == s
    return reached, tied


def count(scores, positive, n_cells=8):
    positives = np.sort(scores[positive])
    reached, tied = np.zeros((2, positives.size), np.int64)
    place(scores[~positive], positives, np.empty(n_cells + 1, np.uint32), reached, tied)
    return positives, reached, tied


@settings(deadline=None)
@given(scored(), st.sampled_from([1, 2, 64]))
@example((np.array([1.0, 1.0, 1.0]), np.array([True, True, False])), 8)
@example((np.array([0.0, 5e-324, 5e-324]), np.array([True, True, False])), 8)
@example((np.array([1.0, 1.0, np.inf, np.nan]), np.array([True, True, False, False])), 8)
def test_scores_are_placed_as_by_counting(problem, n_cells):
    scores, positive = problem
    positives, reached, tied = count(scores, positive, n_cells)
    expected = place_naively(scores[~positive], positives)
    np.testing.assert_array_equal([reached, tied], expected)


@given(scored())
@settings(max_examples=300, deadline=None)
def test_auc_is_scikit_learns(problem):
    scores, positive = problem
    positives, reached, tied = count(scores, positive)
    below = (~positive).sum() - reached.sum()
    won = win_pairs(positives, reached, tied) + below * positives.size
    auc = won / (positive.sum() * (~positive).sum())
    assert auc == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


@given(scored())
@settings(max_examples=300, deadline=None)
def test_best_f1_is_the_best_over_all_thresholds(problem):
    scores, positive = problem
    positives, reached, _ = count(scores, positive)
    threshold, true, false = find_best_f1(positives, reached)
    precision, recall, _ = precision_recall_curve(positive, scores)
    both = precision + recall
    best = np.max(2 * precision * recall / np.where(both > 0, both, 1))
    assert 2 * true / (true + false + positives.size) == pytest.approx(best)
    assert f1_score(positive, scores >= threshold) == pytest.approx(best)
    assert (true, false) == (
        (scores[positive] >= threshold).sum(),
        (scores[~positive] >= threshold).sum(),
    )


def count_top_naively(scores, positive, size):
    """Give each document tied at the edge the same share of the places that are left."""
    taken = 0.0
    for value in sorted(set(scores), reverse=True):
        tied = scores == value
        room = max(size - (scores > value).sum(), 0)
        taken += positive[tied].sum() * min(room / tied.sum(), 1)
    return taken


@given(scored(), st.integers(1, 25))
@settings(max_examples=300, deadline=None)
def test_top_counts_share_out_ties(problem, size):
    scores, positive = problem
    found = count_top(*count(scores, positive), min(size, scores.size))
    assert found == pytest.approx(count_top_naively(scores, positive, min(size, scores.size)))


@settings(deadline=None)
@given(scored())
def test_tally_is_the_parts_together(problem):
    scores, positive = problem
    rows = np.array([scores, -scores])
    positives = np.sort(rows[:, positive], axis=1)
    rows[:, positive] = -np.inf
    counts = np.empty((2, 7))
    tally(rows, positives, np.empty(9, np.uint32), 20, counts)
    for row, sign in zip(counts, (1, -1), strict=True):
        signed = sign * scores
        assert row[0] / (positive.sum() * (~positive).sum()) == pytest.approx(
            roc_auc_score(positive, signed)
        )
        assert row[3] == (signed[positive] > 0).sum()
        assert row[4] == (signed[~positive] > 0).sum()
        assert f1_score(positive, signed >= row[6]) == pytest.approx(
            2 * row[1] / (row[1] + row[2] + positive.sum())
        )


def place_parts(rows, positives, parts, n_cells=8):
    """Place negatives (cuts x documents) part by part; return the counts, added up."""
    reached, tied = np.zeros((2, *positives.shape), np.int64)
    above = np.zeros(len(rows), np.int64)
    for part in parts:
        table = np.empty(n_cells + 1, np.uint32)
        place_cuts(np.take(rows, part, axis=1), positives, table, reached, tied, above)
    return reached, tied, above


def sum_up_naively(scores, positive, top):
    """Return a row of counts the slow way: from every pair, and from every threshold."""
    inside, outside = scores[positive], scores[~positive]
    won = sum((p > q) + 0.5 * (p == q) for p in inside for q in outside)
    found = []
    for threshold in sorted(set(inside), reverse=True):
        true, false = (inside >= threshold).sum(), (outside >= threshold).sum()
        found.append((2 * true / (true + false + inside.size), true, false, threshold))
    _, true, false, threshold = max(found, key=lambda each: each[0])  # the first of equals
    taken = count_top_naively(scores, positive, top)
    return [won, true, false, (inside > 0).sum(), (outside > 0).sum(), taken, threshold]


@settings(deadline=None)
@given(scored(), st.data())
def test_counts_do_not_depend_on_the_parts(problem, data):
    scores, positive = problem
    rows = np.array([scores, -scores, np.maximum(scores, 0)])
    positives = np.sort(np.compress(positive, rows, axis=1), axis=1)
    negatives = np.compress(~positive, rows, axis=1)
    n = negatives.shape[1]
    edges = data.draw(st.lists(st.integers(0, n), max_size=4).map(sorted))
    parts = np.split(np.array(data.draw(st.permutations(range(n)))), edges)
    placed = place_parts(negatives, positives, parts, data.draw(st.sampled_from([1, 64])))
    for reached, tied, above, s, p in zip(*placed, negatives, positives, strict=True):
        np.testing.assert_array_equal([reached, tied], place_naively(s, p))
        assert above == sum(s > 0)


@settings(deadline=None)
@given(scored(), st.integers(1, 25))
def test_sums_are_those_of_plain_python_and_of_a_tally(problem, top):
    scores, positive = problem
    rows = np.array([scores, -scores])
    positives = np.sort(np.compress(positive, rows, axis=1), axis=1)
    negatives = np.compress(~positive, rows, axis=1)
    placed = place_parts(negatives, positives, np.array_split(np.arange(negatives.shape[1]), 2))
    found, at_once = np.empty((2, 2, 7))
    sum_up(positives, *placed, negatives.shape[1], top, found)
    for row, s in zip(found, rows, strict=True):
        np.testing.assert_allclose(row, sum_up_naively(s, positive, top), rtol=1e-12)
    tally(np.where(positive, -np.inf, rows), positives, np.empty(9, np.uint32), top, at_once)
    np.testing.assert_array_equal(found, at_once)
