"""Pruning against plain Python and against scikit-learn's limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from made_up import TREES
from spokeshave import prune_features
from spokeshave.ranking.pruning import count_documents, drop_features

PROPERTY = settings(deadline=None, derandomize=True, max_examples=50)
TABLES = arrays(np.float64, (6, 5), elements=st.sampled_from([0.0, 0.0, 1.0, 3.0]))


@PROPERTY
@given(TABLES, st.integers(1, 6), st.integers(0, 5))
def test_what_is_rare_and_what_is_frequent(table, min_df, more):
    frequency = [sum(1 for row in table if row[j] != 0) for j in range(5)]
    max_df = min_df + more
    kept = [min_df <= n <= max_df for n in frequency]
    if not any(kept) and any(frequency):
        with pytest.raises(ValueError, match="must leave at least one of the 5 features"):
            prune_features(table, min_df, max_df)
        return
    for documents in (table, sparse.csr_matrix(table)):
        pruned = prune_features(documents, min_df, max_df)
        assert pruned.kept.tolist() == kept
        assert pruned.n_rare == sum(n < min_df for n in frequency)
        assert pruned.n_frequent == sum(n > max_df for n in frequency)
    np.testing.assert_array_equal(count_documents(sparse.csr_matrix(table)), frequency)


@PROPERTY
@given(TABLES, arrays(bool, 5))
def test_dropped_features_are_as_if_they_never_occurred(table, kept):
    X = sparse.csr_matrix(table)
    dropped = drop_features(X, kept)
    np.testing.assert_array_equal(dropped.toarray(), np.where(kept, table, 0))
    assert dropped.has_canonical_format
    assert dropped.nnz == np.count_nonzero(dropped.toarray())
    np.testing.assert_array_equal(X.toarray(), table)


@pytest.mark.parametrize("limits", [(1, 1.0), (2, 0.5), (0.3, 4), (0.25, 0.5), (np.int64(2), 1.0)])
def test_limits_are_those_of_count_vectorizer(limits):
    min_df, max_df = limits
    whole = CountVectorizer().fit(TREES)
    X = whole.transform(TREES)
    kept = prune_features(X, min_df, max_df).kept
    expected = CountVectorizer(min_df=min_df, max_df=max_df).fit(TREES)
    words = whole.get_feature_names_out()[kept]
    np.testing.assert_array_equal(words, expected.get_feature_names_out())


def test_stored_zeros_do_not_occur():
    X = sparse.csr_matrix(([0.0, 1.0], [0, 1], [0, 2]), shape=(1, 2))
    assert prune_features(X).kept.tolist() == [False, True]


def test_documents_without_a_word_have_nothing_to_prune():
    pruned = prune_features(np.zeros((3, 4)))
    assert (pruned.n_rare, pruned.n_frequent) == (4, 0)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ((0, 1.0), "min_df must be a whole number of documents, at least 1, .* Got 0 instead"),
        ((1, 1.5), "max_df must be .* a share between 0.0 and 1.0. Got 1.5 instead"),
        (("two", 1.0), "min_df must be .* Got 'two' instead"),
        ((-0.5, 1.0), "min_df must be .* Got -0.5 instead"),
        ((1, None), "max_df must be .* Got None instead"),
        ((float("nan"), 1.0), "min_df must be .* Got nan instead"),
        ((5, 0.5), "max_df must allow at least min_df=5 of the 8 documents. Got max_df=0.5"),
        ((8, 8), "min_df and max_df must leave .* lower min_df or raise max_df"),
    ],
)
def test_bad_limits_get_a_sentence(limits, sentence):
    with pytest.raises(ValueError, match=sentence):
        prune_features(CountVectorizer().fit_transform(TREES), *limits)
