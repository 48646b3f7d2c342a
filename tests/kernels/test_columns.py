"""Columns against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from spokeshave.kernels.columns import add_column, add_squares, transpose
from spokeshave.kernels.rows import make_rows


@pytest.fixture(params=["values", "scales"])
def X(request, rng):
    values = rng.random((9, 6)) if request.param == "values" else rng.random((9, 1))
    dense = (rng.random((9, 6)) < 0.5) * values
    dense[4], dense[:, 2] = 0, 0
    return sparse.csr_matrix(dense)


def test_columns_are_those_of_the_matrix(X, rng):
    columns = transpose(make_rows(X.indptr, X.indices, X.data, np.ones(9)), 6)
    expected = X.tocsc()
    np.testing.assert_array_equal(columns.indptr, expected.indptr)
    np.testing.assert_array_equal(columns.documents, expected.indices)
    data = 1.0 if columns.data is None else columns.data
    np.testing.assert_allclose(data * columns.scale[columns.documents], expected.data)


def test_sums_over_columns_are_dense_arithmetic(X, rng):
    columns = transpose(make_rows(X.indptr, X.indices, X.data, np.ones(9)), 6)
    w = rng.normal(size=6)
    total, squares = np.zeros((2, 9))
    for j in range(6):
        part = columns.documents, columns.data, columns.indptr[j], columns.indptr[j + 1]
        add_column(*part, w[j], total)
        add_squares(*part, squares)
    dense = X.toarray()
    np.testing.assert_allclose(total * columns.scale, dense @ w)
    np.testing.assert_allclose(squares * columns.scale**2, (dense**2).sum(axis=1))
