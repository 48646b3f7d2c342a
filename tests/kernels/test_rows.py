"""Inner products and steps along rows, against dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from spokeshave.kernels.rows import Rows, add_row, dot, find_scale, measure_length


def make_rows(X, *, with_values):
    indptr = X.indptr.astype(np.uint64)
    scale = np.ones(X.shape[0])
    if not with_values:
        assert find_scale(indptr, X.data, scale)
    length = np.empty(X.shape[0])
    measure_length(indptr, X.data, length)
    data = X.data if with_values else None
    indices = X.indices.astype(np.uint32)
    return Rows(indptr, indices, data, scale, length, np.ones(X.shape[0]))


@pytest.fixture
def X(rng):
    dense = (rng.random((7, 5)) < 0.5) * rng.random((7, 1))
    dense[3] = 0
    return sparse.csr_matrix(dense)


@pytest.mark.parametrize("with_values", [True, False])
def test_rows_equal_dense_arithmetic(X, rng, with_values):
    rows = make_rows(X, with_values=with_values)
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
