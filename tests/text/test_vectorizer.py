"""DocumentVectorizer against scikit-learn's vectorizers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import binarize

from spokeshave import DocumentVectorizer, DualLinearSVC
from spokeshave.corpus import read_folders
from spokeshave.text import vectorizer

PATTERN = r"(?u)[^\W_]+"
TEXTS = ["A plane, a <b>plane</b>!", "the Chisel & the plane", "Ünïcode spokeshave_2 spokeshave"]


def assert_same(ours, theirs, texts, test_texts=()):
    X, expected = ours.fit_transform(texts), theirs.fit_transform(texts)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert_equal(X, expected)
    assert_equal(ours.transform([*texts, *test_texts]), theirs.transform([*texts, *test_texts]))
    names = theirs.get_feature_names_out()
    np.testing.assert_array_equal(ours.get_feature_names_out(), names)


def assert_equal(X, expected):
    expected.sort_indices()
    assert X.shape == expected.shape
    assert X.has_canonical_format
    np.testing.assert_array_equal(X.indptr, expected.indptr)
    np.testing.assert_array_equal(X.indices, expected.indices)
    # Lengths are summed in another order, so they may differ in the last digit.
    np.testing.assert_allclose(X.data, expected.data, rtol=1e-12)


@pytest.mark.parametrize("options", [{}, {"min_df": 2}, {"max_df": 0.5}, {"stop_words": "english"}])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_counts_equal_count_vectorizer(options, n_jobs):
    options = {"min_df": 1, **options}
    plain = {"norm": None, "strip_markup": False, "n_jobs": n_jobs, **options}
    for weighting, is_binary in (("counts", False), ("binary", True)):
        assert_same(
            DocumentVectorizer(weighting=weighting, **plain),
            CountVectorizer(token_pattern=PATTERN, binary=is_binary, **options),
            TEXTS,
            ["an unseen plane", ""],
        )


@pytest.mark.parametrize("norm", ["l2", "l1", None])
def test_tfidf_equals_tfidf_vectorizer(norm):
    assert_same(
        DocumentVectorizer(weighting="tfidf", norm=norm, min_df=1, strip_markup=False),
        TfidfVectorizer(token_pattern=PATTERN, norm=norm),
        TEXTS,
        ["an unseen plane"],
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=10), st.integers(1, 3), st.integers(0, 40))
def test_unicode_text_equals_count_vectorizer(texts, min_df, chunk):
    ours = DocumentVectorizer(weighting="counts", norm=None, min_df=min_df, strip_markup=False)
    theirs = CountVectorizer(token_pattern=PATTERN, min_df=min_df)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectorizer, "CHUNK", chunk)
        try:
            theirs.fit(texts)
        except ValueError:
            with pytest.raises(ValueError, match=r"raw_documents must hold|No word is left|max_df"):
                ours.fit(texts)
        else:
            assert_same(ours, theirs, texts)


@pytest.fixture(scope="module")
def newsgroups(data_folder):
    """Return texts, and their counts and vocabulary by scikit-learn, which takes seconds."""
    archive = data_folder / "20news-bydate.tar.gz"
    texts = read_folders(archive, under="20news-bydate-train", encoding="latin-1").texts
    theirs = CountVectorizer(token_pattern=PATTERN, min_df=2)
    return texts, theirs.fit_transform(texts), theirs.vocabulary_


@pytest.mark.parametrize("weighting", ["binary", "tfidf"])
def test_newsgroups_equal_scikit_learn(newsgroups, weighting):
    texts, counts, vocabulary = newsgroups
    if weighting == "tfidf":
        expected = TfidfTransformer().fit_transform(counts)
        ours = DocumentVectorizer(weighting="tfidf", strip_markup=False, n_jobs=2)
    else:
        expected = binarize(counts)
        ours = DocumentVectorizer(norm=None, strip_markup=False, n_jobs=2)
    X = ours.fit_transform(texts)
    assert ours.vocabulary_ == vocabulary
    assert_equal(X, expected)


def test_default_rows_have_length_one_and_equal_values():
    X = DocumentVectorizer(min_df=1).fit_transform(TEXTS)
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1)
    for row in X:
        assert len(set(row.data)) == 1


def test_markup_goes_by_default():
    texts = ["<b>Salt</b> &amp; pepper"] * 2
    assert set(DocumentVectorizer().fit(texts).vocabulary_) == {"salt", "pepper"}
    kept = DocumentVectorizer(strip_markup=False).fit(texts).vocabulary_
    assert set(kept) == {"salt", "pepper", "b", "amp"}


def test_documents_may_come_from_a_generator():
    from_list = DocumentVectorizer(min_df=1).fit_transform(TEXTS)
    from_generator = DocumentVectorizer(min_df=1).fit_transform(text for text in TEXTS)
    assert_equal(from_generator, from_list)


def test_permuted_documents_give_permuted_rows(rng):
    order = rng.permutation(len(TEXTS))
    X = DocumentVectorizer(min_df=1).fit_transform(TEXTS)
    permuted = DocumentVectorizer(min_df=1).fit_transform([TEXTS[i] for i in order])
    assert_equal(permuted, X[order])


def test_fit_then_transform_is_fit_transform():
    X = DocumentVectorizer(min_df=1).fit_transform(TEXTS)
    assert_equal(DocumentVectorizer(min_df=1).fit(TEXTS).transform(TEXTS), X)


def test_pickled_and_cloned():
    fitted = DocumentVectorizer(min_df=1, weighting="tfidf").fit(TEXTS)
    assert_equal(pickle.loads(pickle.dumps(fitted)).transform(TEXTS), fitted.transform(TEXTS))
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "vocabulary_")


def test_works_in_a_pipeline():
    model = make_pipeline(DocumentVectorizer(min_df=1), DualLinearSVC(random_state=0))
    assert model.fit(TEXTS, ["a", "b", "a"]).predict(["chisel"]) == ["b"]


@pytest.mark.parametrize(
    ("options", "texts", "sentence"),
    [
        ({}, [], "raw_documents must hold at least one document. Got none."),
        ({}, ["", "?! _"], "raw_documents must hold words. Got 2 without a letter or digit."),
        ({}, "one text", "raw_documents must be an iterable of strings. Got a single string"),
        ({}, ["a", None], "raw_documents must be strings. Got NoneType at position 1 instead."),
        ({}, ["a", b"b"], "raw_documents must be strings. Got bytes at position 1 instead."),
        ({}, ["a", "b"], "No word is left: all 2 are stop words or outside min_df=2"),
        ({"stop_words": ["a"], "min_df": 1}, ["a"], "No word is left: all 1 are stop words"),
        ({"min_df": 3, "max_df": 2}, ["a"], "max_df must allow at least min_df=3 of the 1 doc"),
        (
            {"min_df": 0},
            ["a"],
            "min_df must be a whole number of documents, at least 1, or a share",
        ),
        ({"max_df": 1.5}, ["a"], "max_df must be a whole number .* Got 1.5 instead."),
        ({"max_df": "all"}, ["a"], "max_df must be a whole number .* Got 'all' instead."),
        (
            {"weighting": "bm25"},
            ["a"],
            "weighting must be 'binary', 'counts' or 'tfidf'. Got 'bm25'",
        ),
        ({"norm": "max"}, ["a"], "norm must be 'l2', 'l1' or None. Got 'max' instead."),
        ({"stop_words": "german"}, ["a"], "stop_words must be 'english' or an iterable of words"),
    ],
)
def test_bad_input_gets_one_sentence(options, texts, sentence):
    with pytest.raises(ValueError, match=sentence):
        DocumentVectorizer(**options).fit(texts)


@pytest.mark.parametrize(
    "limits", [{"min_df": 1}, {}, {"min_df": 2, "max_df": 0.7}, {"min_df": 0.4, "max_df": 2}]
)
def test_words_left_out_are_counted(limits):
    limits = {"min_df": 2, "max_df": 1.0} | limits
    every = CountVectorizer(token_pattern=PATTERN, binary=True).fit_transform(TEXTS)
    frequency = np.asarray(every.sum(axis=0)).ravel()
    lowest, highest = (n if isinstance(n, int) else n * len(TEXTS) for n in limits.values())
    ours = DocumentVectorizer(strip_markup=False, **limits).fit(TEXTS)
    assert ours.n_rare_ == (frequency < lowest).sum()
    assert ours.n_frequent_ == (frequency > highest).sum()
    assert ours.n_rare_ + ours.n_frequent_ + len(ours.vocabulary_) == frequency.size
