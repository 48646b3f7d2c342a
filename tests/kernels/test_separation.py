"""Separation against a loop over thresholds and documents."""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spokeshave.kernels.separation import separate


def bend(rate):
    """Return the inverse normal distribution of a rate kept off 0 and 1."""
    return NormalDist().inv_cdf(min(max(rate, 0.0005), 0.9995))


def separate_naively(images, positive, tolerance):
    """Return the best separation over all thresholds between the images of documents."""
    best = 0.0
    for below, threshold in pairwise(sorted(set(images))):
        if threshold - below > tolerance:
            above = images >= threshold
            best = max(best, abs(bend(above[positive].mean()) - bend(above[~positive].mean())))
    return best


@st.composite
def imaged(draw):
    """Draw columns of levels with image, size and positives; documents are the same in number."""
    n_positive, n_negative = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    positive = np.arange(n_positive + n_negative) < n_positive
    columns = []
    for _ in range(draw(st.integers(1, 3))):
        n_levels = draw(st.integers(1, 8))
        amounts = st.sampled_from([-2.0, -0.0, 0.0, 0.5, 0.5 + 1e-13]) | st.floats(-3, 3)
        images = draw(st.lists(amounts, min_size=n_levels, max_size=n_levels))
        place = st.integers(0, n_levels - 1)
        level = draw(st.lists(place, min_size=positive.size, max_size=positive.size))
        columns.append((np.array(images), np.array(level)))
    return columns, positive


@settings(deadline=None, max_examples=150)
@given(imaged(), st.sampled_from([0.0, 1e-12, 0.25, 0.5, 2.0, 9.0]))
@example(([(np.array([0.0, -0.0]), np.array([0, 1]))], np.array([True, False])), 0.0)
@example(([(np.arange(60.0), np.arange(60)[::-1])], np.arange(60) < 30), 0.0)
@example(([(np.arange(60.0) // 2, np.arange(60))], np.arange(60) % 3 == 0), 0.0)
@example(([(np.arange(60.0) ** 2, np.arange(60))], np.arange(60) % 3 == 0), 50.0)
def test_the_best_of_all_thresholds_is_found(problem, tolerance):
    columns, positive = problem
    starts = np.cumsum([0, *(len(images) for images, _ in columns)])
    images = np.concatenate([images for images, _ in columns])
    sizes = np.concatenate([np.bincount(at, minlength=len(im)) for im, at in columns])
    positives = [np.bincount(at[positive], minlength=len(im)) for im, at in columns]
    bns, lowest, highest = np.empty((3, len(columns)))
    z = [
        np.array([bend(count / size) for count in range(size + 1)])
        for size in (positive.sum(), (~positive).sum())
    ]
    counts = np.concatenate(positives).astype(np.int32)
    separate(starts, sizes, counts, images, tolerance, *z, bns, lowest, highest)
    for j, (of_level, level) in enumerate(columns):
        of_document = of_level[level]
        expected = separate_naively(of_document, positive, tolerance)
        np.testing.assert_allclose(bns[j], expected, atol=1e-12)
        assert (lowest[j], highest[j]) == (of_document.min(), of_document.max())


def test_levels_without_documents_do_not_count():
    images, sizes = np.array([-9.0, np.nan, 1.0, 2.0, 9.0]), np.array([0, 0, 2, 2, 0])
    z, bns, lowest, highest = np.array([-1.0, 0.0, 1.0]), *np.empty((3, 1))
    counts = np.array([0, 0, 0, 2, 0], np.int32)
    separate(np.array([0, 5]), sizes, counts, images, 0.0, z, z, bns, lowest, highest)
    assert (bns[0], lowest[0], highest[0]) == (2, 1, 2)


@pytest.mark.parametrize(
    ("images", "tolerance", "expected"),
    [
        ([1.0, 1.5, 2.0], 0.25, 3),
        ([1.0, 1.5, 2.5], 0.5, 1),  # as far apart as the tolerance is not far enough
        ([1.0, 1.5, 2.0], 0.5, 0),  # though the first and the last are
        ([1.0, 1.0 + 1e-15, 2.0], 1e-12, 1),
        ([1.0, 1.0 + 1e-15, 2.0], 0.0, 3),
        ([1.5, 2.0, 1.0], 0.5, 0),
    ],
)
def test_thresholds_lie_only_where_neighbours_differ_by_more(images, tolerance, expected):
    sizes, counts = np.array([2, 2, 1]), np.array([2, 0, 0], np.int32)
    bns, lowest, highest = np.empty((3, 1))
    z_true, z_false = np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0, 2.0, 5.0])
    table = np.array([0, 3]), sizes, counts, np.array(images)
    separate(*table, tolerance, z_true, z_false, bns, lowest, highest)
    assert (bns[0], lowest[0], highest[0]) == (expected, min(images), max(images))
