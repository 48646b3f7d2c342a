"""Sparse rows made tidy, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from spokeshave.documents import check_documents, tidy

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
