"""Rows collected one by one make the matrix they say."""

from __future__ import annotations

import numpy as np

from spokeshave.corpus.sparse_rows import SparseRows


def test_matrix_is_sorted_and_stores_no_zeros():
    rows = SparseRows()
    rows.append([2, 0], [3.0, 1.0])
    rows.append([], [])
    rows.append([1, 3], [0.0, np.nan])
    matrix = rows.to_csr(5)
    np.testing.assert_array_equal(
        matrix.toarray(), [[1, 0, 3, 0, 0], [0] * 5, [0, 0, 0, np.nan, 0]]
    )
    assert matrix.format == "csr"
    assert matrix.dtype == np.float64
    assert matrix.nnz == 3
    assert matrix.has_canonical_format


def test_no_rows_and_no_columns():
    rows = SparseRows()
    assert rows.to_csr().shape == (0, 0)
    rows.append([], [])
    assert rows.to_csr().shape == (1, 0)
