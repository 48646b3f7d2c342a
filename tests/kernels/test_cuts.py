"""Scores at every cut against one cut after the other, dense."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from spokeshave.kernels.cuts import (
    add_column,
    add_squares,
    add_support_vectors,
    gather_features,
    measure_cuts,
    renormalize,
    score_mask,
    score_weights,
    transpose,
)
from spokeshave.kernels.lanes import LANES
from spokeshave.kernels.rows import make_rows

N, D = 12, 20
ORDER = np.array([7, 3, 11, 0, 18, 5, 2, 9], np.uint32)  # the other features are never kept
ENDS = np.array([1, 1, 4, 8])


@pytest.fixture(params=["values", "scales", "negative scales", "float32"])
def dense(request, rng):
    values = rng.normal(size=(N, D)) if request.param == "values" else rng.random((N, 1)) + 0.1
    X = (rng.random((N, D)) < 0.5) * values
    X[5] = 0
    if request.param == "negative scales":
        X[::2] *= -1
    if request.param == "float32":
        X = (X * rng.integers(1, 4, size=X.shape)).astype(np.float32)
    return X


def take_rows(dense):
    X = sparse.csr_matrix(dense)
    return make_rows(X.indptr, X.indices, X.data, np.ones(N))


def mask(dense, end, unit):
    masked = np.zeros(dense.shape)
    masked[:, ORDER[:end]] = dense[:, ORDER[:end]]
    lengths = np.linalg.norm(masked, axis=1, keepdims=True)
    return masked / np.where(lengths > 0, lengths, 1) if unit else masked


@pytest.mark.parametrize("unit", [False, True])
def test_masked_scores(dense, rng, unit):
    w, b = rng.normal(size=D), 0.3
    columns = transpose(take_rows(dense), D)
    scores, squared_length = np.full((2, ENDS.size, N), np.nan)
    if unit:
        score_mask(columns._replace(scale=np.ones(N)), ORDER, ENDS, w, 0.0, scores)
        measure_cuts(columns, ORDER, ENDS, squared_length)
        renormalize(scores, squared_length, columns.scale, np.full(ENDS.size, b))
    else:
        score_mask(columns, ORDER, ENDS, w, b, scores)
    expected = [mask(dense, end, unit) @ w + b for end in ENDS]
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-6)


def test_the_first_entries_of_each_row_are_those_of_a_cut(dense):
    rows = take_rows(dense)
    indptr, indices = rows.indptr.copy(), np.empty_like(rows.indices)
    data = None if rows.data is None else np.empty_like(rows.data)
    lengths = np.empty((ENDS.size, N), np.uint32)
    gather_features(transpose(rows, D), ORDER, ENDS, indptr, indices, data, lengths)
    for end, length in zip(ENDS, lengths, strict=True):
        for i in range(N):
            cells = slice(int(indptr[i]), int(indptr[i]) + int(length[i]))
            assert indices[cells].tolist() == [j for j in ORDER[:end] if dense[i, j]]
            if data is not None:
                np.testing.assert_array_equal(data[cells], dense[i, indices[cells]])


@pytest.mark.parametrize("unit", [False, True])
def test_support_vectors_are_added_up_at_every_cut(dense, rng, unit):
    documents, beta = np.array([0, 3, 5, 8], np.int32), rng.normal(size=4)
    bucket = np.full(D, LANES, np.uint8)
    bucket[ORDER] = [0, 2, 2, 2, 3, 3, 3, 3]
    V = np.full((D, LANES), np.nan)
    add_support_vectors(take_rows(dense), documents, beta, bucket, unit, V)
    for c, end in enumerate(ENDS):
        expected = beta @ mask(dense, end, unit)[documents]
        np.testing.assert_allclose(V[:, c], expected, rtol=1e-6, atol=1e-6)


def test_scores_with_weights_of_their_own(dense, rng):
    V, b = rng.normal(size=(D, LANES)), rng.normal(size=5)
    scores = np.empty((5, N))
    score_weights(take_rows(dense), V, b, scores)
    np.testing.assert_allclose(scores, V[:, :5].T @ dense.T + b[:, None], rtol=1e-6, atol=1e-6)


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
