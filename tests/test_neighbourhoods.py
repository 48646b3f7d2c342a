"""The choice of neighbours against a plain judgement of every document."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from spokeshave.levels import take_census
from spokeshave.neighbourhoods import OTHERS, USUAL, choose_neighbors
from spokeshave.shapes import count_documents

CELLS = st.sampled_from([0.0, 1.0, 2.0, math.nan]) | st.integers(-30, 30).map(float)


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


def judge_all_naively(column, positive, part_of, n_neighbors, *, zero_is_apart, is_nominal):
    """Return the log likelihood of each document by the documents of other parts."""
    bins = ["missing" if v != v else "zero" if zero_is_apart and v == 0 else "" for v in column]
    reach, rest, prior = 0 if is_nominal else n_neighbors, {}, {}
    documents = list(zip(column, positive, part_of, bins, strict=True))
    for part in set(part_of):
        others = [(v, p, of_bin) for v, p, other, of_bin in documents if other != part]
        prior[part] = (sum(p for _, p, _ in others) + 1) / (len(others) + 2)
        for name in set(bins):
            rest[part, name] = sorted((0 if name else v, p) for v, p, b in others if b == name)
    found = []
    for value, is_positive, part, name in documents:
        place = 0 if name else value
        judged = judge_naively(place, is_positive, rest[part, name], 0 if name else reach)
        by_prior = math.log(prior[part] if is_positive else 1 - prior[part])
        found.append(by_prior if judged is None else judged)
    return found


def choose_naively(column, positive, part_of, **how):
    """Return the neighbours of a column, and how clear the choice is."""
    usual = judge_all_naively(column, positive, part_of, 30, **how)
    n, chosen, most, margin = len(column), 30, 0.0, math.inf
    for n_neighbors in (10, 90, 270):
        other = judge_all_naively(column, positive, part_of, n_neighbors, **how)
        gains = [of_other - of_usual for of_other, of_usual in zip(other, usual, strict=True)]
        mean = sum(gains) / n
        error = math.sqrt(max(sum(gain**2 for gain in gains) / n - mean**2, 0) / n)
        if any(gains):
            margin = min(margin, abs(mean - error), abs(mean - most) or math.inf)
        if mean > error and mean > most:
            chosen, most = n_neighbors, mean
    return chosen, margin


def choose(X, labels, part_of, *, zero_is_apart=False, nominal=()):
    """Return the neighbours of every class and column of a table."""
    census = take_census(sparse.csr_matrix(X), zero_is_apart=zero_is_apart)
    indicator = sparse.csc_matrix(labels)
    parts = (
        count_documents(census, indicator, np.flatnonzero(part_of == part))
        for part in range(part_of.max() + 1)
    )
    is_nominal = np.isin(np.arange(X.shape[1]), nominal)
    counts = count_documents(census, indicator)
    return choose_neighbors(census.levels, counts, parts, is_nominal)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.data(), st.booleans())
def test_neighbours_are_those_of_a_plain_judgement(data, zero_is_apart):
    n = data.draw(st.integers(2, 60))
    X = data.draw(arrays(np.float64, (n, 2), elements=CELLS))
    labels = data.draw(arrays(np.int8, (n, 2), elements=st.integers(0, 1)))
    part_of = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    found = choose(X, labels, part_of, zero_is_apart=zero_is_apart, nominal=[1])
    assert found.shape == (2, 2)
    for k, j in np.ndindex(2, 2):
        how = {"zero_is_apart": zero_is_apart, "is_nominal": j == 1}
        column, positive = X[:, j].tolist(), labels[:, k].tolist()
        expected, margin = choose_naively(column, positive, part_of.tolist(), **how)
        assume(margin > 1e-9)
        assert found[k, j] == expected


def make_waves(n_waves, height, *, seed=1):
    """Return a feature on which a class comes and goes so many times, the class, and parts."""
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
    x, label, part_of = make_waves(n_waves, height)
    found = choose(x[:, None], label[:, None], part_of, zero_is_apart=zero_is_apart)
    how = {"zero_is_apart": zero_is_apart, "is_nominal": False}
    by_hand, margin = choose_naively(x.tolist(), label.tolist(), part_of.tolist(), **how)
    assert margin > 1e-9
    assert found[0, 0] == by_hand == expected


def test_each_class_and_feature_chooses_by_itself():
    (fast, one, part_of), (slow, other, _) = make_waves(12, 0.45), make_waves(0.25, 0)
    X, labels = np.column_stack([fast, slow]), np.column_stack([one, other])
    found = choose(X, labels, part_of)
    for k, j in np.ndindex(2, 2):
        assert found[k, j] == choose(X[:, [j]], labels[:, [k]], part_of)[0, 0]
    assert (found[0, 0], found[1, 1]) == (10, 270)


def test_names_constants_and_missing_values_ask_for_the_usual_number(rng):
    X = np.column_stack([np.ones(80), np.full(80, math.nan), rng.normal(size=80)])
    labels = np.column_stack([rng.random(80) < 0.5, np.zeros(80), np.ones(80)]).astype(np.int8)
    found = choose(X, labels, np.arange(80) % 5, nominal=[2])
    np.testing.assert_array_equal(found, np.full((3, 3), USUAL))


def test_of_numbers_that_do_the_same_the_smallest_is_taken():
    # Of 60 documents that are all of the class, 90 neighbours are as many as 270.
    found = choose(np.arange(60.0)[:, None], np.ones((60, 1), np.int8), np.arange(60) % 3)
    assert found[0, 0] == 90
    assert all(fewer < more for fewer, more in pairwise(OTHERS))


def test_documents_of_a_single_part_are_judged_by_nobody():
    X, label = np.arange(50.0)[:, None], (np.arange(50) % 2)[:, None]
    np.testing.assert_array_equal(choose(X, label, np.zeros(50, int)), [[USUAL]])
