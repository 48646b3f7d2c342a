"""Documents in pieces: none is lost, none is split, and no piece is larger than it must be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.corpus.chunks import split_chunks


@given(st.lists(st.text(max_size=9), max_size=30), st.integers(1, 20))
def test_pieces_are_the_documents_in_order(documents, size):
    chunks = list(split_chunks(documents, size, "documents"))
    assert [document for chunk in chunks for document in chunk] == documents
    assert all(chunks)
    for chunk in chunks:
        *most, _ = map(len, chunk)
        assert sum(most) < size  # without its last document it was not full yet
    for chunk in chunks[:-1]:
        assert sum(map(len, chunk)) >= size


def test_documents_are_read_no_sooner_than_they_are_needed():
    taken = []
    chunks = split_chunks(
        (taken.append(word) or word for word in ["ash", "oak", "yew"]), 3, "words"
    )
    assert next(chunks) == ["ash"]
    assert taken == ["ash"]


@pytest.mark.parametrize("documents", ["oak", b"oak"])
def test_a_single_string_gets_a_sentence(documents):
    with pytest.raises(
        ValueError, match=r"words must be an iterable of strings\. Got a single str"
    ):
        list(split_chunks(documents, 9, "words"))


@pytest.mark.parametrize(("document", "kind"), [(None, "NoneType"), (b"oak", "bytes"), (3, "int")])
def test_what_is_not_text_gets_a_sentence(document, kind):
    with pytest.raises(
        ValueError, match=f"words must be strings. Got {kind} at position 1 instead"
    ):
        list(split_chunks(["ash", document], 9, "words"))
