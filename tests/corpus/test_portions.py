"""Documents are gathered in portions that are neither too many nor too large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.corpus import portions
from spokeshave.corpus.portions import portion_texts, portion_vectors

lengths = st.lists(st.integers(0, 12), max_size=30)


@pytest.fixture(scope="module", autouse=True)
def small_portions():
    """Let portions hold ten characters or numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portions, "_MOST_CHARACTERS", 10)
        patch.setattr(portions, "_MOST_NONZEROS", 10)
        yield


def check_sizes(sizes, size):
    """Check that each portion fits, and would not with the first document of the next."""
    for place, portion in enumerate(sizes):
        assert 1 <= len(portion) <= size
        assert sum(portion) <= 10 or len(portion) == 1
        if place + 1 < len(sizes):
            assert len(portion) == size or sum(portion) + sizes[place + 1][0] > 10


@given(lengths, st.integers(1, 8))
def test_texts(lengths, size):
    documents = [("a" * length, str(number)) for number, length in enumerate(lengths)]
    gathered = list(portion_texts(documents, size))
    assert [text for portion in gathered for text in portion.texts] == [t for t, _ in documents]
    assert [label for portion in gathered for label in portion.labels] == [y for _, y in documents]
    check_sizes([list(map(len, portion.texts)) for portion in gathered], size)


@given(lengths, st.integers(1, 8))
def test_vectors(lengths, size):
    documents = [
        (str(number), list(range(length)), [1.0] * length) for number, length in enumerate(lengths)
    ]
    gathered = list(portion_vectors(documents, size))
    assert [label for portion in gathered for label in portion.labels] == [d[0] for d in documents]
    sizes = [np.diff(portion.X.indptr).tolist() for portion in gathered]
    assert [length for portion in sizes for length in portion] == lengths
    assert all(portion.X.shape[1] == max(sizes[n]) for n, portion in enumerate(gathered))
    check_sizes(sizes, size)


def test_width_and_names_of_vectors():
    documents = [("x", [2], [5.0]), ("y", [1], [0.0])]
    options = {"first_column": 1, "n_features": 3, "feature_names": ("a", "b", "c")}
    first, second = portion_vectors(documents, 1, **options)
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

    told = [portion.skipped for portion in portion_texts(read(), 2, lambda: skipped)]
    assert told == [3, 13]
    skipped = 0
    vectors = (("x", [0], [1.0]) for _ in read())
    told = [portion.skipped for portion in portion_vectors(vectors, 3, lambda: skipped)]
    assert told == [6, 10]
