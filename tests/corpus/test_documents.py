"""Results count their documents and cannot be changed."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from spokeshave.corpus import Texts, Vectors
from spokeshave.corpus.documents import list_flaws

TEXTS = ["an ash", "an oak", "a yew", "an ash tree", "an oak tree", "a yew tree"]
KINDS = ["ash", "oak", "yew"] * 2


def test_length():
    assert len(Texts(["a", "b"], None)) == 2


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        Texts([], []).skipped = 1


def test_documents_without_a_flaw():
    assert list_flaws(Texts(TEXTS, KINDS)) == []
    assert list_flaws(Vectors(np.eye(6), KINDS, None)) == []


@pytest.mark.parametrize(
    ("texts", "labels", "sentence"),
    [
        (["an elm"], ["elm"], "1 of 4 classes have one document, too few .*: 'elm'; give more, or"),
        ([" ", ""], ["ash", "oak"], "2 of 8 documents have no text; leave them out of the file"),
        (["an ash"] * 2, ["ash"] * 2, "2 of 8 documents are exact copies of earlier ones; remove"),
        (["an ash"], ["oak"], "copies of earlier ones, 1 of them with another label; remove"),
    ],
)
def test_flaws_are_counted_and_say_what_to_do(texts, labels, sentence):
    (flaw,) = list_flaws(Texts([*TEXTS, *texts], [*KINDS, *labels]))
    assert re.search(sentence, flaw)


def test_documents_of_several_labels_may_have_none():
    tags = [(kind, "tree") for kind in KINDS]
    assert list_flaws(Texts(TEXTS, tags)) == []
    (flaw,) = list_flaws(Texts([*TEXTS, "an elm"], [*tags, ()]))
    assert flaw.startswith("1 of 7 documents have no label, and count as outside every class; if ")


@pytest.mark.parametrize("is_sparse", [False, True])
def test_vectors_may_be_copies(is_sparse):
    X = np.eye(6)[[0, 1, 2, 3, 4, 5, 0, 5]]  # the last is another class's
    X = np.vstack([X, np.zeros((2, 6))])  # without a feature they are not told apart
    n = 10 if is_sparse else 8
    documents = Vectors(csr_matrix(X) if is_sparse else X[:8], [*KINDS, *KINDS][:n], None)
    (flaw,) = list_flaws(documents)
    assert flaw.startswith(f"2 of {n} documents are exact copies of earlier ones, 1 of them")
