"""Products, removal and gathering of rows, against dense arithmetic and plain lists."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from spokeshave.kernels.rows import (
    DROPPED,
    add_row,
    add_weights,
    count_features,
    dot,
    drop_features,
    find_scale,
    gather_rows,
    keep_rows,
    make_full_rows,
    make_rows,
    rescale,
    shorten_rows,
)


@pytest.fixture(params=["values", "scales"])
def X(request, rng):
    values = rng.random((7, 5)) if request.param == "values" else rng.random((7, 1))
    dense = (rng.random((7, 5)) < 0.5) * values
    dense[3] = 0
    return sparse.csr_matrix(dense)


def take_rows(X):
    return make_rows(X.indptr, X.indices, X.data, np.ones(X.shape[0]))


def test_rows_of_like_values_have_no_values(X):
    is_alike = all(len(set(row[row != 0])) <= 1 for row in X.toarray())
    assert (take_rows(X).data is None) == is_alike


def test_rows_equal_dense_arithmetic(X, rng):
    rows = take_rows(X)
    w = rng.normal(size=5)
    for i, row in enumerate(X.toarray()):
        assert dot(rows, i, w) == pytest.approx(row @ w)
        assert rows.squared_length[i] == pytest.approx(row @ row)
        moved = w.copy()
        add_row(rows, i, -0.3, moved)
        np.testing.assert_allclose(moved, w - 0.3 * row)


def test_find_scale_refuses_rows_of_unlike_values():
    X = sparse.csr_matrix([[2.0, 2.0, 0.0], [1.0, 3.0, 0.0]])
    assert not find_scale(X.indptr.astype(np.uint64), X.data, np.empty(2))


def test_find_scale_of_an_empty_row_is_one():
    X = sparse.csr_matrix([[0.0, 0.0], [0.5, 0.5]])
    scale = np.empty(2)
    assert find_scale(X.indptr.astype(np.uint64), X.data, scale)
    np.testing.assert_array_equal(scale, [1, 0.5])


@pytest.mark.parametrize("unit", [False, True])
def test_dropped_features_are_gone_and_the_others_renumbered(X, rng, unit):
    rows, number = take_rows(X.copy()), np.array([DROPPED, 1, 0, DROPPED, 2])
    drop_features(*rows[:3], number, *rows[:3])
    rescale(rows.indptr, rows.data, unit, rows.scale, rows.squared_length)
    kept = X.toarray()[:, [2, 1, 4]]
    if unit:
        lengths = np.linalg.norm(kept, axis=1, keepdims=True)
        kept = kept / np.where(lengths > 0, lengths, 1)
    w = rng.normal(size=3)
    np.testing.assert_allclose([dot(rows, i, w) for i in range(7)], kept @ w)
    np.testing.assert_allclose(rows.squared_length, (kept**2).sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_full_rows_equal_dense_arithmetic(X, rng, dtype, order):
    dense = np.asarray(X.toarray(), dtype=dtype, order=order)
    weight = rng.random(7)
    rows = make_full_rows(dense, weight)
    assert rows.indices is None
    assert rows.data.dtype == dtype
    assert rows.weight is weight
    w = rng.normal(size=5)
    for i, row in enumerate(dense.astype(float)):
        assert dot(rows, i, w) == pytest.approx(row @ w)
        assert rows.squared_length[i] == pytest.approx(row @ row)
        moved = w.copy()
        add_row(rows, i, -0.3, moved)
        np.testing.assert_allclose(moved, w - 0.3 * row)


def test_full_rows_of_one_column():
    rows = make_full_rows(np.array([[2.0], [0.0], [-3.0]]), np.ones(3))
    assert [dot(rows, i, np.array([0.5])) for i in range(3)] == [1.0, 0.0, -1.5]


N_FEATURES = 6
ROWS = st.lists(st.lists(st.integers(0, N_FEATURES - 1), max_size=5), max_size=10)
VALUES = pytest.mark.parametrize("has_values", [True, False])
EXAMPLES = settings(deadline=None, max_examples=60)


def make_arrays(rows, has_values):
    """Return rows in CSR form; each cell has a value of its own."""
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.uint64)
    indices = np.array(list(chain(*rows)), np.uint32)
    data = np.arange(1, indices.size + 1, dtype=np.float32) if has_values else None
    return indptr, indices, data


def list_rows(indptr, indices, data):
    """Return the cells of each row, with their values where they have any."""
    cells = list(zip(indices.tolist(), (indices if data is None else data).tolist(), strict=True))
    ends = indptr.astype(int).tolist()
    return [cells[first:last] for first, last in pairwise(ends)]


@VALUES
@EXAMPLES
@given(ROWS, st.data())
def test_rows_are_shortened_to_their_first_entries(has_values, rows, data):
    indptr, indices, values = make_arrays(rows, has_values)
    before = list_rows(indptr, indices, values)
    length = [data.draw(st.integers(0, len(row))) for row in rows]
    shorten_rows(indptr, indices, values, np.array(length, np.uint32))
    n_left = int(indptr[-1])
    values = values if values is None else values[:n_left]
    expected = [row[:end] for row, end in zip(before, length, strict=True)]
    assert list_rows(indptr, indices[:n_left], values) == expected


def test_a_row_of_zeros_cannot_have_length_one():
    rows = take_rows(sparse.csr_matrix(([0.0, 3.0], ([0, 1], [1, 1])), shape=(2, 2)))
    assert rows.data is None
    rescale(rows.indptr, rows.data, True, rows.scale, rows.squared_length)
    assert rows.scale.tolist() == [0, 1]
    assert rows.squared_length.tolist() == [0, 1]


@VALUES
@EXAMPLES
@given(ROWS, st.data())
def test_rows_that_are_kept_are_as_they_were(has_values, rows, data):
    indptr, indices, values = make_arrays(rows, has_values)
    before = list_rows(indptr, indices, values)
    kept = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    n_kept = keep_rows(indptr, indices, values, np.array(kept, bool))
    expected = [row for row, is_kept in zip(before, kept, strict=True) if is_kept]
    assert n_kept == len(expected)
    assert indptr[n_kept] == sum(map(len, expected))
    assert list_rows(indptr[: n_kept + 1], indices, values) == expected


@EXAMPLES
@given(ROWS)
def test_features_are_added_to_the_counts_there_are(rows):
    _, indices, _ = make_arrays(rows, has_values=False)
    frequency = np.arange(N_FEATURES)
    count_features(indices, frequency)
    cells = list(chain(*rows))
    assert frequency.tolist() == [j + cells.count(j) for j in range(N_FEATURES)]


@VALUES
@EXAMPLES
@given(ROWS.filter(len), st.data())
def test_chosen_rows_are_gathered_in_the_order_given(has_values, rows, data):
    indptr, indices, values = make_arrays(rows, has_values)
    before = list_rows(indptr, indices, values)
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12))
    lengths = [len(rows[i]) for i in chosen]
    found = np.empty(sum(lengths), np.uint32)
    found_values = np.empty(sum(lengths), np.float32) if has_values else None
    gather_rows(indptr, indices, values, np.array(chosen, np.intp), found, found_values)
    ends = np.cumsum([0, *lengths]).astype(np.uint64)
    assert list_rows(ends, found, found_values) == [before[i] for i in chosen]


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
