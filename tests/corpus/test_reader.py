"""Documents are gathered in batches of limited size, and rows in a sparse matrix."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.corpus.reader import SparseRows, batch_texts, batch_vectors

lengths = st.lists(st.integers(0, 12), max_size=30)


def check_sizes(sizes, size):
    """Check that each batch fits, and would not with the first document of the next."""
    for position, batch in enumerate(sizes):
        assert 1 <= len(batch) <= size
        assert sum(batch) <= 10 or len(batch) == 1
        if position + 1 < len(sizes):
            assert len(batch) == size or sum(batch) + sizes[position + 1][0] > 10


@given(lengths, st.integers(1, 8))
def test_texts(lengths, size):
    documents = [("a" * length, str(number)) for number, length in enumerate(lengths)]
    gathered = list(batch_texts(documents, size, 10))
    assert [text for batch in gathered for text in batch.texts] == [t for t, _ in documents]
    assert [label for batch in gathered for label in batch.labels] == [y for _, y in documents]
    check_sizes([list(map(len, batch.texts)) for batch in gathered], size)


@given(lengths, st.integers(1, 8))
def test_vectors(lengths, size):
    documents = [
        (str(number), list(range(length)), [1.0] * length) for number, length in enumerate(lengths)
    ]
    gathered = list(batch_vectors(documents, size, 10))
    assert [label for batch in gathered for label in batch.labels] == [d[0] for d in documents]
    sizes = [np.diff(batch.X.indptr).tolist() for batch in gathered]
    assert [length for batch in sizes for length in batch] == lengths
    assert all(batch.X.shape[1] == max(sizes[n]) for n, batch in enumerate(gathered))
    check_sizes(sizes, size)


def test_width_and_names_of_vectors():
    documents = [("x", [2], [5.0]), ("y", [1], [0.0])]
    options = {"first_column": 1, "n_features": 3, "feature_names": ("a", "b", "c")}
    first, second = batch_vectors(documents, 1, 10, **options)
    assert first.feature_names == second.feature_names == ("a", "b", "c")
    np.testing.assert_array_equal(first.X.toarray(), [[0, 5, 0]])
    assert (second.X.shape, second.X.nnz) == ((1, 3), 0)


def test_rows_that_were_left_out_are_told_once():
    skipped = 0

    def read():
        nonlocal skipped
        for number in range(4):
            skipped += number
            yield "a", "x"
        skipped += 10

    told = [batch.skipped for batch in batch_texts(read(), 2, 10, lambda: skipped)]
    assert told == [3, 13]
    skipped = 0
    vectors = (("x", [0], [1.0]) for _ in read())
    told = [batch.skipped for batch in batch_vectors(vectors, 3, 10, lambda: skipped)]
    assert told == [6, 10]


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
