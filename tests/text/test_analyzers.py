"""The plain-Python analysis against scikit-learn's."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_extraction.text import strip_accents_ascii as peer_ascii
from sklearn.feature_extraction.text import strip_accents_unicode as peer_unicode

from spokeshave.text.analyzers import Analysis
from spokeshave.text.preprocess import strip_accents_ascii, strip_accents_unicode

LETTERS = "aAbB1_ .\t\n\x00\x1f\x85\xa0éÉßİΣς\u0301™ﬁ中文\ud800"
TEXT = st.text(st.sampled_from(LETTERS), max_size=25) | st.text(max_size=15)


@given(TEXT)
def test_accents_go_as_they_go_in_scikit_learn(text):
    assert strip_accents_ascii(text) == peer_ascii(text)
    assert strip_accents_unicode(text) == peer_unicode(text)


@settings(max_examples=300, deadline=None)
@given(
    TEXT,
    st.sampled_from(["word", "char", "char_wb"]),
    st.sampled_from([(1, 1), (1, 2), (2, 4), (3, 3)]),
    st.booleans(),
    st.sampled_from([None, "ascii", "unicode", str.upper]),
    st.sampled_from([(), ("a", "1")]),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_terms_are_those_of_scikit_learn(text, analyzer, limits, lowers, strip_accents, stop_words):
    options = {
        "analyzer": analyzer,
        "ngram_range": limits,
        "lowercase": lowers,
        "strip_accents": strip_accents,
    }
    ours = Analysis(strip_markup=False, unspaced=None, stop_words=frozenset(stop_words), **options)
    theirs = CountVectorizer(
        token_pattern=r"(?u)[^\W_]+", stop_words=list(stop_words) or None, **options
    )
    terms = ours.list_terms(text)
    assert Counter(terms) == Counter(theirs.build_analyzer()(text))
    is_short = [len(term.split(" ") if analyzer == "word" else term) <= 2 for term in terms]
    if not (analyzer == "char_wb" and limits == (3, 3)):
        short = [term for term, keep in zip(terms, is_short, strict=True) if keep]
        assert ours.list_terms(text, longest=2) == short
