"""Sums of weights against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.kernels.predict import add_weights

N_CLASSES = 3
NUMBERS = st.floats(-9, 9, width=32)
WEIGHTS = st.lists(st.dictionaries(st.integers(0, N_CLASSES - 1), NUMBERS), min_size=1, max_size=6)


def add_by_hand(rows, weights, scores, squares):
    """Add to both, a weight at a time; rows hold a value for each word, weights one per class."""
    for document, row in enumerate(rows):
        for word, value in row.items():
            for k, weight in weights[word].items():
                scores[document, k] += weight * value
                if squares is not None:
                    squares[document, k] += value * value


def lay_out(rows, weights, of_class=np.uint8):
    """Return rows and weights as the kernel takes them."""
    indptr = np.cumsum([0, *map(len, rows)])
    words = np.array([word for row in rows for word in row], np.int32)
    values = np.array([value for row in rows for value in row.values()], float)
    starts = np.cumsum([0, *map(len, weights)])
    classes = np.array([k for found in weights for k in found], of_class)
    flat = np.array([weight for found in weights for weight in found.values()], np.float32)
    return (indptr, words, values), (starts, classes, flat)


def start_sums(n_documents, has_squares):
    """Return what sums are added to, which need not be zero."""
    scores = np.ones((n_documents, N_CLASSES))
    return scores, (np.full((n_documents, N_CLASSES), 2.0) if has_squares else None)


@pytest.mark.parametrize("has_squares", [True, False])
@pytest.mark.parametrize("has_values", [True, False])
@settings(max_examples=60, deadline=None)
@given(weights=WEIGHTS, data=st.data())
def test_sums_are_those_of_plain_loops(has_values, has_squares, weights, data):
    words = st.integers(0, len(weights) - 1)
    values = NUMBERS if has_values else st.just(1.0)
    rows = data.draw(st.lists(st.dictionaries(words, values, max_size=5), max_size=5))
    (indptr, words, values), laid_out = lay_out(rows, weights)
    scores, squares = start_sums(len(rows), has_squares)
    add_weights(indptr, words, values if has_values else None, *laid_out, scores, squares)
    expected_scores, expected_squares = start_sums(len(rows), has_squares)
    add_by_hand(rows, weights, expected_scores, expected_squares)
    np.testing.assert_allclose(scores, expected_scores, atol=1e-9)
    if has_squares:
        np.testing.assert_allclose(squares, expected_squares, atol=1e-9)


@pytest.mark.parametrize("of_class", [np.uint16, np.uint32])
def test_numbers_of_classes_may_be_wide_and_arrays_read_only(of_class):
    rows, weights = [{0: 1.0, 2: 1.0}, {}, {1: 1.0}], [{0: 1.0, 2: 2.0}, {}, {1: -1.0}]
    (indptr, words, _), laid_out = lay_out(rows, weights, of_class)
    for part in laid_out:
        part.flags.writeable = False
    scores = np.zeros((3, N_CLASSES))
    add_weights(indptr, words.astype(np.int64), None, *laid_out, scores, None)
    np.testing.assert_array_equal(scores, [[1, -1, 2], [0, 0, 0], [0, 0, 0]])


def test_no_documents_have_no_sums():
    (indptr, words, values), laid_out = lay_out([], [{0: 1.0}])
    scores, squares = start_sums(0, has_squares=True)
    add_weights(indptr, words, values, *laid_out, scores, squares)
    assert scores.shape == (0, N_CLASSES)
