"""DocumentVectorizer against scikit-learn's vectorizers."""

from __future__ import annotations

import pickle
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import binarize

from spokeshave import DocumentVectorizer, DualLinearSVC
from spokeshave.corpus import read_folders
from spokeshave.text import vectorizer
from spokeshave.text.alphabet import make_alphabet

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


def require_same(ours, theirs, texts, more, chunk):
    """Require the terms and rows of a peer, or an error where it has one; in small chunks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectorizer, "CHUNK", chunk)
        try:
            theirs.fit(texts)
        except ValueError:
            with pytest.raises(ValueError, match=r"raw_documents must hold|No word is left|max_df"):
                ours.fit(texts)
        else:
            assert_same(ours, theirs, texts, more)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=10), st.integers(1, 3), st.integers(0, 40))
def test_unicode_text_equals_count_vectorizer(texts, min_df, chunk):
    ours = DocumentVectorizer(
        weighting="counts", norm=None, min_df=min_df, strip_markup=False, unspaced=None
    )
    theirs = CountVectorizer(token_pattern=PATTERN, min_df=min_df)
    require_same(ours, theirs, texts, [], chunk)


# Letters that change when lowered or decomposed, spaces of several kinds, and control characters.
LETTERS = "aAbB1_ .\t\n\x00\x01\x1f\x85\xa0\u2003éÉßİΣς\u0301™ﬁ中文ก\U0001d552\ud800"
TEXT = st.text(st.sampled_from(LETTERS), max_size=25) | st.text(max_size=15)
RANGES = st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 4), (1, 3), (3, 5)])
ANALYSES = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char", "char_wb"]),
        "ngram_range": RANGES,
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "ascii", "unicode", str.upper]),
        "min_df": st.integers(1, 2),
        "max_features": st.none() | st.integers(1, 12),
    }
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(TEXT, min_size=1, max_size=8),
    st.lists(TEXT, max_size=3),
    ANALYSES,
    st.sampled_from(["counts", "binary", "tfidf", "sublinear"]),
    st.none() | st.just(["a", "1", "b a", "", "A", "文"]),
    st.integers(0, 40),
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # scikit-learn's, about stop words
def test_every_analysis_equals_scikit_learn(texts, more, analysis, weighting, stop_words, chunk):
    theirs_options = {**analysis, "stop_words": stop_words, "token_pattern": PATTERN}
    ours = DocumentVectorizer(
        weighting="tfidf" if weighting == "sublinear" else weighting,
        sublinear_tf=weighting == "sublinear",
        norm=None,
        strip_markup=False,
        stop_words=stop_words,
        n_jobs=2 if chunk % 2 else None,
        unspaced=None,
        **analysis,
    )
    if weighting in ("counts", "binary"):
        theirs = CountVectorizer(binary=weighting == "binary", **theirs_options)
    else:
        is_sublinear = weighting == "sublinear"
        theirs = TfidfVectorizer(norm=None, sublinear_tf=is_sublinear, **theirs_options)
    require_same(ours, theirs, texts, more, chunk)


@pytest.mark.filterwarnings("ignore:The parameter 'token_pattern' will not be used")
def test_the_most_frequent_terms_are_those_of_scikit_learn(rng):
    texts = [" ".join(map(str, rng.zipf(1.4, 60))) for _ in range(120)]
    for options in ({}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 3)}):
        for n in (5, 50, 300):
            common = {"max_features": n, "min_df": 1, **options}
            plain = {"norm": None, "strip_markup": False, **common}
            theirs = CountVectorizer(token_pattern=PATTERN, **common)
            assert_same(DocumentVectorizer(weighting="counts", **plain), theirs, texts)
            theirs = CountVectorizer(token_pattern=PATTERN, binary=True, **common)
            assert_same(DocumentVectorizer(**plain), theirs, texts)
            theirs = TfidfVectorizer(token_pattern=PATTERN, norm=None, **common)
            assert_same(DocumentVectorizer(weighting="tfidf", **plain), theirs, texts)


SCRIPTS = (
    *("HIRAGANA", "HENTAIGANA", "KATAKANA", "HALFWIDTH KATAKANA", "THAI", "LAO", "KHMER"),
    *("MYANMAR", "CJK ", "COMBINING KATAKANA"),
)
HAN = "〇々〆〡〢〣〤〥〦〧〨〩〸〹〺〻"  # not named after their script


def is_unspaced(character):
    """Return whether Unicode names a letter or mark after a script without spaces."""
    is_letter = unicodedata.category(character)[0] in "LM"
    return character in HAN or (is_letter and unicodedata.name(character).startswith(SCRIPTS))


def split_unspaced(text):
    """Return the words of a text, character by character."""
    words, run, was_unspaced = [], "", False
    for character in text.lower() + " ":
        now_unspaced = is_unspaced(character)
        if run and (now_unspaced != was_unspaced or not (now_unspaced or character.isalnum())):
            pairs = [run[i : i + 2] for i in range(len(run) - 1)]
            words += [*run, *pairs] if was_unspaced else [run]
            run = ""
        if now_unspaced or character.isalnum():
            run, was_unspaced = run + character, now_unspaced
    return words


MIXED = "aB1 .é中文字ひらカナｶーกที่๑ລາວកម្ពុជាမြန်မာ၁々〇"


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.text(st.sampled_from(MIXED), max_size=20), min_size=1, max_size=5),
    st.sampled_from([(1, 1), (1, 2), (2, 3)]),
)
def test_scripts_without_spaces_become_characters_and_pairs(texts, limits):
    texts = [*texts, "oak ash elm"]
    theirs = CountVectorizer(tokenizer=split_unspaced, token_pattern=None, ngram_range=limits)
    options = {"ngram_range": limits, "weighting": "counts", "norm": None, "min_df": 1}
    assert_same(DocumentVectorizer(**options), theirs, texts)


def test_scripts_are_told_by_the_names_of_their_characters():
    wide = make_alphabet().wide
    for code in [*range(0x80, 0x10000), *range(0x1AFF0, 0x1B200), *range(0x20000, 0x20100)]:
        if is_unspaced(chr(code)):
            assert wide[code] == 2, hex(code)
        else:
            assert wide[code] < 2 or unicodedata.category(chr(code)) == "Cn", hex(code)


def test_digits_and_other_scripts_are_words_beside_unspaced_ones():
    terms = DocumentVectorizer(min_df=1).fit(["iPhone手机13 ๑๒ 한국어 Ωmega"]).vocabulary_
    assert set(terms) == {"iphone", "手", "机", "手机", "13", "๑๒", "한국어", "ωmega"}


def test_an_analyzer_of_ones_own_gives_the_terms():
    theirs = CountVectorizer(analyzer=str.split)
    ours = DocumentVectorizer(
        analyzer=str.split, weighting="counts", norm=None, min_df=1, strip_markup=False, n_jobs=2
    )
    assert_same(ours, theirs, TEXTS, ["the Chisel", ""])
    ours = DocumentVectorizer(analyzer=str.split, min_df=1).fit(["<b>Oak</b>"])
    assert list(ours.vocabulary_) == ["Oak"]  # markup is removed before


@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2)},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char_wb"},
        {"analyzer": "word+char_wb"},
    ],
)
def test_threads_do_not_change_the_terms(options, monkeypatch):
    monkeypatch.setattr(vectorizer, "CHUNK", 9)
    one = DocumentVectorizer(min_df=1, n_jobs=1, **options)
    two = DocumentVectorizer(min_df=1, n_jobs=2, **options)
    assert_equal(two.fit_transform(TEXTS), one.fit_transform(TEXTS))
    assert two.vocabulary_ == one.vocabulary_
    assert_equal(pickle.loads(pickle.dumps(two)).transform(TEXTS), one.transform(TEXTS))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(TEXT, min_size=1, max_size=8),
    st.lists(TEXT, max_size=3),
    st.sampled_from([(1, 1), (1, 2), (2, 3)]),
    st.none() | st.just(["a", "1", "A"]),
    st.integers(0, 40),
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # scikit-learn's, about stop words
def test_words_and_characters_are_two_vocabularies_of_scikit_learn(
    texts, more, limits, stop_words, chunk
):
    ours = DocumentVectorizer(
        analyzer="word+char_wb", ngram_range=limits, stop_words=stop_words, min_df=1,
        weighting="counts", norm=None, strip_markup=False, unspaced=None,
    )  # fmt: skip
    names, expected = [], []
    for options in (
        {"analyzer": "char_wb", "ngram_range": (2, 5)},
        {"ngram_range": limits, "stop_words": stop_words, "token_pattern": PATTERN},
    ):
        try:
            theirs = CountVectorizer(**options).fit(texts)
        except ValueError:  # it has no term
            continue
        names += [theirs.analyzer.replace("char_wb", "*").replace("word", "") + name
                  for name in theirs.get_feature_names_out()]  # fmt: skip
        expected.append(theirs.transform([*texts, *more]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectorizer, "CHUNK", chunk)
        if not names:
            with pytest.raises(ValueError, match=r"must hold terms|No word is left"):
                ours.fit(texts)
            return
        assert_equal(ours.fit_transform(texts), ours.transform(texts))
        assert list(ours.vocabulary_) == names == sorted(names)
        np.testing.assert_array_equal(
            ours.transform([*texts, *more]).toarray(), sparse.hstack(expected).toarray()
        )


@pytest.fixture(scope="module")
def newsgroups(data_folder):
    """Return texts, and their counts and vocabulary by scikit-learn, which takes seconds."""
    archive = data_folder / "20news-bydate.tar.gz"
    texts = read_folders(archive, under="20news-bydate-train", encoding="latin-1").texts[::4]
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
        (
            {"analyzer": "words"},
            ["a"],
            r"analyzer must be 'word', 'char', 'char_wb', 'word\+char_wb' or",
        ),
        ({"ngram_range": (2, 1)}, ["a"], r"ngram_range must be two whole .* Got \(2, 1\) instead"),
        ({"ngram_range": (0, 1)}, ["a"], r"ngram_range must be two whole .* Got \(0, 1\) instead"),
        ({"ngram_range": 2}, ["a"], "ngram_range must be two whole numbers.* Got 2 instead."),
        ({"ngram_range": (1.0, 2)}, ["a"], "ngram_range must be two whole numbers"),
        ({"strip_accents": "latin"}, ["a"], "strip_accents must be 'ascii', 'unicode', None or"),
        ({"unspaced": "words"}, ["a"], "unspaced must be 'bigrams' or None. Got 'words' instead."),
        ({"max_features": 0}, ["a"], "max_features must be None or a whole number, at least 1"),
        ({"max_features": 1.5}, ["a"], "max_features must be None or a whole .* Got 1.5 instead."),
        ({"analyzer": lambda _: [1]}, ["a"], "analyzer must return strings. Got int among them"),
        ({"ngram_range": (2, 2)}, ["a"], "raw_documents must hold terms for this analyzer"),
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
