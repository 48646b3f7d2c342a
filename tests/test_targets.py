"""Labels and indicators against a comparison of every label with every class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from spokeshave.targets import align, binarize, check_targets

PROPERTY = settings(deadline=None, derandomize=True)
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
    with pytest.raises(ValueError, match=f"labels that y holds. Got '{named}', which it does not"):
        align(y, like, np.unique(like))


@pytest.mark.parametrize("kind", [object, "U5"])
def test_text_is_the_same_text_as_an_object(kind):
    like = np.array(["oak", "ash", "yew"])
    y = np.array(["yew", "ash"], kind)
    np.testing.assert_array_equal(align(y, like, np.unique(like)).toarray(), [[0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize(
    ("y", "like", "sentence"),
    [
        (np.zeros((4, 2)), np.zeros(3), r"of the kind y is, .* Got shapes \(4, 2\) and \(3,\)"),
        (np.zeros(4), np.zeros((3, 2)), r"Got shapes \(4,\) and \(3, 2\)"),
        (np.zeros((4, 2)), np.zeros((3, 5)), r"Got shapes \(4, 2\) and \(3, 5\)"),
    ],
)
def test_targets_of_two_kinds_do_not_go_together(y, like, sentence):
    with pytest.raises(ValueError, match=sentence):
        align(y, like, np.arange(2))
