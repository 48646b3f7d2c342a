"""Measures from the order of the positives, against scikit-learn and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_recall_curve, roc_auc_score

from spokeshave.kernels.order import count_top, find_best_f1, place, tally, win_pairs

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


def test_counts_of_two_parts_add_up(rng):
    scores, positive = rng.integers(0, 9, 200).astype(float), rng.random(200) < 0.2
    positives, reached, tied = count(scores, positive)
    halves = np.zeros((2, positives.size), np.int64)
    for half in np.array_split(scores[~positive], 2):
        place(half, positives, np.empty(17, np.uint32), *halves)
    np.testing.assert_array_equal(halves, [reached, tied])
