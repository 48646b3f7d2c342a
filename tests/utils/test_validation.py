"""Validation of documents and targets, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from spokeshave.utils.validation import align, binarize, check_documents, check_targets, tidy

PROPERTY = settings(deadline=None, derandomize=True)
CELLS = st.lists(  # values of which many are zero or add up to it
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0])), max_size=8),
    min_size=1,
    max_size=6,
)


def lay_down(documents, dtype=np.float64):
    """Return rows as they come: columns in any order, repeated, with zeros."""
    indptr = np.cumsum([0, *map(len, documents)])
    indices = [column for document in documents for column, _ in document]
    data = [value for document in documents for _, value in document]
    return sparse.csr_matrix((np.array(data, dtype), indices, indptr), (len(documents), 5))


def read_arrays(X):
    return X.data.tolist(), X.indices.tolist(), X.indptr.tolist()


@PROPERTY
@given(CELLS)
def test_every_value_that_occurs_is_stored_once(documents):
    X = lay_down(documents)
    before = read_arrays(X)
    expected = np.zeros(X.shape)
    for i, document in enumerate(documents):
        for column, value in document:
            expected[i, column] += value
    found = tidy(X)
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)
    for start, stop in zip(found.indptr, found.indptr[1:], strict=False):
        assert (np.diff(found.indices[start:stop]) > 0).all()
    assert read_arrays(X) == before


def test_tidy_rows_are_not_copied():
    X = sparse.csr_matrix(np.eye(3))
    assert np.shares_memory(tidy(X).data, X.data)


@pytest.mark.parametrize(
    "convert",
    [np.asarray, np.ndarray.tolist, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array],
)
def test_documents_are_the_same_in_every_form(convert):
    given = np.array([[0, 2, 0], [1, 0, 3]])
    X, y = check_documents(convert(given), ["a", "b"])
    assert isinstance(X, sparse.csr_matrix)
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X.toarray(), given)
    np.testing.assert_array_equal(y, ["a", "b"])


def test_single_precision_is_kept_and_targets_may_be_sparse():
    Y = sparse.csr_matrix([[0, 1], [1, 1]])
    X, y = check_documents(np.eye(2, dtype=np.float32), Y)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(y.toarray(), Y.toarray())


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (np.ones((2, 4)), [0, 1], "X_test must have the 3 features of X. Got 4 instead."),
        (np.ones((2, 3)), [0, 1, 0], "inconsistent numbers of samples"),
        (np.full((2, 3), np.nan), [0, 1], "NaN"),
        (np.ones(3), [0, 1, 0], "Expected 2D array"),
        (np.ones((2, 3)), [0.5, 1.2], "Unknown label type"),
    ],
)
def test_other_documents_are_refused(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_documents(X, y, like=np.ones((5, 3)))


def test_documents_to_test_on_may_be_of_any_number():
    X, _ = check_documents(np.ones((2, 3)), [0, 1], like=np.ones((5, 3)))
    assert X.shape == (2, 3)


LABELS = st.one_of(
    st.lists(st.integers(-3, 12), min_size=2, max_size=30),
    st.lists(st.text("ab", max_size=3), min_size=2, max_size=30),
    st.lists(st.booleans(), min_size=2, max_size=30),
).filter(lambda labels: len(set(labels)) > 1)
KINDS = [
    np.asarray,
    lambda y: y.astype(bool),
    lambda y: y.astype(float),
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.coo_matrix,
    sparse.csr_array,
]


def indicate_naively(y, classes):
    """Return a column per class, and of two classes that of the second."""
    columns = np.array([[label == name for name in classes] for label in y], np.int8)
    return columns[:, 1:] if len(classes) == 2 else columns


@PROPERTY
@given(LABELS)
def test_labels_become_a_column_per_class(labels):
    y = np.array(labels)
    classes, indicator = binarize(y)
    assert classes.tolist() == sorted(set(labels))
    assert indicator.dtype == np.int8
    np.testing.assert_array_equal(indicator.toarray(), indicate_naively(y, classes))


@PROPERTY
@given(LABELS, st.data())
def test_test_labels_have_the_columns_of_the_training_labels(labels, data):
    y = np.array(labels)
    classes, indicator = binarize(y)
    np.testing.assert_array_equal(align(y, y, classes).toarray(), indicator.toarray())
    part = data.draw(st.lists(st.integers(0, len(y) - 1), max_size=9))
    found = align(y[part], y, classes)
    np.testing.assert_array_equal(found.toarray(), indicator[part].toarray())


@pytest.mark.parametrize("convert", KINDS)
def test_an_indicator_is_the_same_in_every_form(convert, rng):
    y = (rng.random((9, 4)) < 0.4).astype(int)
    checked = check_targets(convert(y))
    classes, indicator = binarize(checked)
    assert checked.dtype == indicator.dtype == np.int8
    assert classes.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(indicator.toarray(), y)
    np.testing.assert_array_equal(align(checked, checked, classes).toarray(), y)


def test_zeros_that_are_written_down_are_no_labels():
    y = sparse.csr_matrix((np.array([1.0, 0.0, 0.0]), [0, 1, 1], [0, 2, 3]), shape=(2, 3))
    _, indicator = binarize(check_targets(y))
    assert indicator.nnz == 1
    np.testing.assert_array_equal(indicator.toarray(), [[1, 0, 0], [0, 0, 0]])
    assert y.nnz == 3


def test_a_sparse_column_is_an_indicator_and_a_dense_one_is_labels():
    y = np.array([[1], [0], [1]])
    assert check_targets(sparse.csr_matrix(y)).shape == (3, 1)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert check_targets(y).shape == (3,)


def repeat_a_label(kind):
    """Return a matrix that says the same label of the first document twice."""
    return kind(sparse.coo_matrix((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))


def repeat_in_rows(matrix):
    return sparse.csr_matrix((matrix.data, matrix.col, [0, 2, 3]), shape=matrix.shape)


@pytest.mark.parametrize(
    "y",
    [
        np.array([[0, 2], [1, 0]]),
        np.array([[0, -1], [1, 0]]),
        np.array([[0, np.nan], [1, 0]]),
        np.array([[0.5, 1], [1, 0]]),
        np.array([["a", "b"], ["b", "a"]]),
        sparse.csr_matrix([[0, 2], [1, 0]]),
        repeat_a_label(sparse.coo_matrix),
        repeat_a_label(repeat_in_rows),
    ],
)
def test_a_matrix_of_other_values_is_refused(y):
    with pytest.raises(ValueError, match="an indicator matrix of zeros and ones"):
        check_targets(y)


def test_numbers_with_a_fraction_are_no_labels():
    with pytest.raises(ValueError, match="Unknown label type"):
        check_targets(np.array([0.5, 1.5]))


def test_one_class_cannot_be_told_from_another():
    with pytest.raises(ValueError, match="y must have at least two classes"):
        binarize(np.array(["a", "a"]))


@pytest.mark.parametrize(
    ("y", "like", "named"),
    [
        ([3, 1], [1, 2], "3"),
        (["c"], ["a", "b"], "c"),
        (["2", "10"], range(12), "10"),  # text is no number, though numpy may compare them
        ([2, 10], [*map(str, range(12))], "2"),
    ],
)
def test_a_label_that_training_does_not_know_is_named(y, like, named):
    y, like = np.array(y), np.array(like)
    with pytest.raises(ValueError, match=f"only have labels of y. Got '{named}', which y does not"):
        align(y, like, np.unique(like))


@pytest.mark.parametrize("kind", [object, "U5"])
def test_text_is_the_same_text_as_an_object(kind):
    like = np.array(["oak", "ash", "yew"])
    y = np.array(["yew", "ash"], kind)
    np.testing.assert_array_equal(align(y, like, np.unique(like)).toarray(), [[0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize(
    ("y", "like", "sentence"),
    [
        (
            np.zeros((4, 2)),
            np.zeros(3),
            r"of the same kind as y: .* Got shapes \(4, 2\) and \(3,\)",
        ),
        (np.zeros(4), np.zeros((3, 2)), r"Got shapes \(4,\) and \(3, 2\)"),
        (np.zeros((4, 2)), np.zeros((3, 5)), r"Got shapes \(4, 2\) and \(3, 5\)"),
    ],
)
def test_targets_of_two_kinds_do_not_go_together(y, like, sentence):
    with pytest.raises(ValueError, match=sentence):
        align(y, like, np.arange(2))
