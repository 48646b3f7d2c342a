"""Weighting against scikit-learn, and against texts with the same counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import binarize, normalize

from spokeshave import DocumentVectorizer, TermWeighter
from spokeshave.text.weighting import are_counts

COUNTS = st.lists(
    st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 7]), min_size=4, max_size=4),
    min_size=1,
    max_size=6,
)
NORMS = st.sampled_from(["l2", "l1", None])


@settings(deadline=None)
@given(COUNTS, COUNTS, st.sampled_from(["counts", "tfidf"]), st.booleans(), NORMS)
def test_values_are_those_of_scikit_learn(train, test, weighting, sublinear_tf, norm):
    options = {"sublinear_tf": sublinear_tf, "norm": norm}
    peer = TfidfTransformer(use_idf=weighting == "tfidf", **options).fit(np.array(train))
    weighter = TermWeighter(weighting, **options).fit(train)
    for documents in (train, test):
        expected = peer.transform(sparse.csr_matrix(documents)).toarray()
        np.testing.assert_allclose(weighter.transform(documents).toarray(), expected, atol=1e-12)


@settings(deadline=None)
@given(COUNTS, NORMS)
def test_binary_values_are_of_presence(counts, norm):
    X = binarize(np.array(counts, float))
    expected = X if norm is None else normalize(X, norm)
    found = TermWeighter("binary", norm=norm).fit_transform(counts)
    np.testing.assert_allclose(found.toarray(), expected)


@pytest.mark.parametrize("weighting", ["binary", "counts", "tfidf"])
@pytest.mark.parametrize("norm", ["l2", "l1", None])
def test_counts_weigh_what_texts_with_these_counts_weigh(weighting, norm):
    texts = ["ash ash oak", "oak", "yew ash oak oak", "an elm", ""]
    counts = DocumentVectorizer(weighting="counts", norm=None, min_df=1).fit_transform(texts)
    options = {"weighting": weighting, "sublinear_tf": True, "norm": norm}
    expected = DocumentVectorizer(min_df=1, **options).fit_transform(texts)
    found = TermWeighter(**options).fit_transform(counts)
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_rows_are_left_as_they_are():
    X = sparse.csr_matrix(([2.0, 1.0, 0.0, 4.0], [1, 1, 0, 2], [0, 2, 4]), shape=(2, 3))
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    found = TermWeighter("counts", norm=None).fit_transform(X)
    np.testing.assert_array_equal(found.toarray(), [[0, 3, 0], [0, 0, 4]])
    assert found.nnz == 2  # repeated cells are one, and a zero that was stored is none


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"weighting": "sublinear"}, "weighting must be 'binary', 'counts' or 'tfidf'. Got 'subl"),
        ({"norm": "max"}, "norm must be 'l2', 'l1' or None. Got 'max' instead"),
    ],
)
def test_options_that_are_none_get_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        TermWeighter(**options).fit([[1, 0]])


def test_what_is_no_count_gets_a_sentence():
    with pytest.raises(ValueError, match="Negative values in data passed to TermWeighter"):
        TermWeighter().fit([[1, -1]])
    with pytest.raises(NotFittedError):
        TermWeighter().transform([[1, 0]])


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (sparse.csr_matrix([[3, 0, 0], [0, 0, 1]]), True),
        (sparse.csr_matrix([[1, 0, 0], [0, 0, 1]]), True),
        (sparse.csr_matrix((2, 2)), True),
        (sparse.csr_matrix([[1.5, 0, 0]]), False),
        (sparse.csr_matrix([[-1, 0, 0]]), False),
        (sparse.csr_matrix([[np.nan, 0, 0]]), False),
        (sparse.csr_matrix([[3, 2, 0]]), False),  # a table that is written as sparse
        (np.array([[3, 0, 0]]), False),
    ],
)
def test_counts_are_whole_numbers_in_sparse_rows(X, expected):
    assert are_counts(X) == expected
