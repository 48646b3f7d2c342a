"""What a saved model reads, by two paths, against the vectorizer and against scipy."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import normalize

from spokeshave import DocumentVectorizer
from spokeshave.model import inputs
from spokeshave.model.inputs import MUCH_TEXT, TextInput, VectorInput, measure_rows
from spokeshave.text.vectorizer import make_analysis

# Letters that grow, shrink or look around when they are lowered; digits, marks and separators.
LETTERS = "aZ09_ -.éßẞİıΣσςΑИ中٣½²ªǅ\U0001d552\U0001f600\u0301\u0307\u200d\ud800\udfff"
PIECES = [
    *("<b>", "</b>", "<i class=x>", "<!-- oak", "-->", "<script>", "</script>", "<", "&amp;"),
    *("&#931;", "&#x130;", "&nbsp", "&#55296;", "&eacute", ";", "ΟΔΟΣ", "ΟΔΟΣ.", "İstanbul"),
    *(
        "STRASSE",
        "STRAẞE",
        "longerthaneightbytes",
        "Longerthaneightbytes",
        "x\u0301y",
        "12.5",
        "中文字文",
        "ที่นี่",
    ),
]
TEXT = st.lists(st.sampled_from(PIECES) | st.text(st.sampled_from(LETTERS), max_size=6)).map(
    "".join
)
TEXTS = st.lists(TEXT | st.text(max_size=20), min_size=1, max_size=6)
WEIGHTINGS = st.sampled_from(["binary", "counts", "tfidf"])


def read_both_ways(reader, documents):
    """Return what Python reads and what the kernels read."""
    found = []
    for is_worth_it in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader, "_is_kernel_worth_it", lambda worth=is_worth_it: worth)
            found.append(reader.read(documents))
    return found


def spread(rows, n_known):
    """Return rows as a dense table."""
    table = np.zeros((len(rows.indptr) - 1, n_known))
    for document, (start, stop) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True)):
        features = rows.features[start:stop]
        assert len(set(features.tolist())) == len(features)
        table[document, features] = 1.0 if rows.values is None else rows.values[start:stop]
    return table


def assert_same_rows(one, two):
    np.testing.assert_array_equal(one.indptr, two.indptr)
    np.testing.assert_array_equal(one.features, two.features)
    assert (one.values is None) == (two.values is None)
    if one.values is not None:
        np.testing.assert_array_equal(one.values, two.values)


@settings(max_examples=250, deadline=None)
@given(TEXTS, TEXTS, WEIGHTINGS, st.sampled_from(["l2", "l1", None]), st.booleans())
def test_both_paths_read_what_the_vectorizer_reads(training, documents, weighting, norm, strips):
    vectorizer = DocumentVectorizer(
        weighting=weighting, norm=norm, min_df=1, strip_markup=strips
    ).fit([*training, "oak"])
    idf = vectorizer.idf_ if weighting == "tfidf" else None
    reader = TextInput(vectorizer.get_feature_names_out(), weighting, norm, strips, idf)
    slow, fast = read_both_ways(reader, documents)
    assert_same_rows(slow, fast)
    assert (slow.values is None) == (weighting == "binary" and norm is None)
    expected = vectorizer.transform(documents).toarray()
    np.testing.assert_allclose(spread(slow, len(reader.names)), expected, rtol=1e-12)


ANALYSES = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char", "char_wb", "word+char_wb"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 4), (3, 3), (1, 10**9)]),
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "ascii", "unicode"]),
        "sublinear_tf": st.booleans(),
        "max_features": st.none() | st.integers(1, 9),
        "stop_words": st.none() | st.just(["oak", "9", "a", "two words", "", "文"]),
        "unspaced": st.sampled_from(["bigrams", None]),
    }
)


@settings(max_examples=250, deadline=None)
@given(TEXTS, TEXTS, WEIGHTINGS, ANALYSES)
def test_every_analysis_is_read_as_the_vectorizer_reads_it(training, documents, weighting, options):
    training = [text[:40] for text in training]
    vectorizer = DocumentVectorizer(weighting=weighting, min_df=1, **options).fit(
        [*training, "ash oak yew elm"]
    )
    idf = vectorizer.idf_ if weighting == "tfidf" else None
    reader = TextInput(
        vectorizer.get_feature_names_out(),
        *(weighting, "l2", True, idf, make_analysis(vectorizer)),
        sublinear_tf=options["sublinear_tf"],
    )
    slow, fast = read_both_ways(reader, documents)
    assert_same_rows(slow, fast)
    expected = vectorizer.transform(documents).toarray()
    np.testing.assert_allclose(spread(slow, len(reader.names)), expected, rtol=1e-12)


@settings(max_examples=100, deadline=None)
@given(TEXTS, WEIGHTINGS, st.data())
def test_words_that_are_not_known_are_not_there(documents, weighting, data):
    vectorizer = DocumentVectorizer(weighting=weighting, norm=None, min_df=1)
    X = vectorizer.fit_transform([*documents, "oak"])
    known = data.draw(st.permutations(range(X.shape[1])))
    known = known[: data.draw(st.integers(0, X.shape[1]))]
    idf = vectorizer.idf_[known] if weighting == "tfidf" else None
    names = vectorizer.get_feature_names_out()[known]
    reader = TextInput(names, weighting, None, True, idf)
    slow, fast = read_both_ways(reader, documents)
    assert_same_rows(slow, fast)
    np.testing.assert_allclose(spread(slow, len(known)), X[:-1][:, known].toarray(), rtol=1e-12)


def test_words_are_in_the_order_in_which_they_occur():
    reader = TextInput(["ash", "oak", "yew"], "counts", None, True, None)
    for rows in read_both_ways(reader, ["yew ash yew", "", "Oak <b>elm</b>"]):
        assert rows.indptr.tolist() == [0, 2, 2, 3]
        assert rows.features.tolist() == [2, 0, 1]
        assert rows.values.tolist() == [2, 1, 1]


def test_no_documents_are_no_rows():
    for rows in read_both_ways(TextInput(["ash"], "counts", "l2", True, None), []):
        assert rows.indptr.tolist() == [0]
        assert rows.features.size == rows.values.size == 0


def test_numba_is_used_where_it_is_loaded():
    assert "numba" in sys.modules
    assert TextInput(["ash"], "binary", None, True, None)._is_kernel_worth_it()


def test_numba_is_waited_for_only_when_there_is_much_text(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba")
    reader = TextInput(["ash"], "binary", None, True, None)
    assert not reader._is_kernel_worth_it()
    reader._n_read = MUCH_TEXT
    assert reader._is_kernel_worth_it()


def test_text_is_counted_as_it_is_read(monkeypatch):
    reader = TextInput(["ash"], "binary", None, True, None)
    monkeypatch.setattr(reader, "_is_kernel_worth_it", lambda: False)
    reader.read(["ash", "oak and ash"])
    reader.read(["yew"])
    assert reader._n_read == 17


def test_characters_count_as_often_as_they_are_in_terms(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba")
    monkeypatch.setattr(inputs, "MUCH_TEXT", 100)
    words = TextInput(["ash"], "binary", None, True, None)
    characters = replace(words.analysis, analyzer="char_wb", ngram_range=(2, 4))
    letters = TextInput(["ash"], "binary", None, True, None, characters)
    for reader, is_worth_it in ((words, False), (letters, True)):
        monkeypatch.setattr(reader, "_find", reader._look_up)
        reader.read(["oak and ash"])
        assert reader._is_kernel_worth_it() is is_worth_it


def test_numba_that_cannot_be_had_is_never_worth_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    reader = TextInput(["ash"], "binary", None, True, None)
    reader._n_read = MUCH_TEXT
    assert not reader._is_kernel_worth_it()
    assert reader.read(["An ash"]).features.tolist() == [0]


def test_texts_are_split_into_pieces(monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK_SIZE", 4)
    reader = TextInput(["ash"], "binary", None, True, None)
    assert list(reader.split(iter(["ash", "oak", "an elm"]))) == [["ash", "oak"], ["an elm"]]


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        ("an ash", "documents must be an iterable of strings. Got a single string instead"),
        (["ash", None], "documents must be strings. Got NoneType at position 1 instead"),
    ],
)
def test_what_is_not_a_list_of_texts_gets_a_sentence(documents, sentence):
    with pytest.raises(ValueError, match=sentence):
        list(TextInput(["ash"], "binary", None, True, None).split(documents))


KNOWN = np.array([0, 2, 5])


def make_columns(*, keep_zeros=False, known=KNOWN):
    return VectorInput(7, known, tuple(map(str, known)), keep_zeros)


def read_pieces(given, X):
    """Return all pieces of documents as one dense table."""
    return np.vstack(
        [np.zeros((0, len(given.names)))]
        + [spread(given.read(piece), len(given.names)) for piece in given.split(X)]
    )


@pytest.fixture
def X(rng):
    """Return vectors with many zeros and an empty row."""
    X = rng.integers(-2, 3, size=(20, 7)) * (rng.random((20, 7)) < 0.6) * 1.5
    X[4] = 0
    return X


@pytest.mark.parametrize("size", [1, 9, 1 << 20])
@pytest.mark.parametrize("known", [KNOWN, np.arange(7), np.array([6]), np.arange(0)])
@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.ndarray.tolist,
        sparse.csr_matrix,
        sparse.csc_matrix,
        sparse.coo_array,
        lambda X: X.astype(np.float32),
        lambda X: sparse.csr_matrix(X.astype(np.float32)),
    ],
    ids=["dense", "list", "csr", "csc", "coo", "float32", "csr float32"],
)
def test_known_columns_are_read_from_any_form(monkeypatch, X, make, known, size):
    monkeypatch.setattr(inputs, "CHUNK_SIZE", size)
    given = make_columns(known=known)
    np.testing.assert_array_equal(read_pieces(given, make(X)), X[:, known])
    for piece in given.split(make(X)):
        rows = given.read(piece)
        assert rows.values.all()  # zeros are not stored
        assert rows.values.dtype == np.float64


def test_pieces_are_of_about_the_same_number_of_cells(monkeypatch, X):
    monkeypatch.setattr(inputs, "CHUNK_SIZE", 14)
    assert [len(piece) for piece in make_columns().split(X)] == [2] * 10


def test_zeros_that_are_stored_are_left_out(X):
    stored = sparse.csr_matrix((X.ravel(), np.tile(np.arange(7), 20), 7 * np.arange(21)))
    assert stored.nnz == X.size
    given = make_columns()
    rows = given.read(next(given.split(stored)))
    assert rows.values.all()
    np.testing.assert_array_equal(spread(rows, 3), X[:, KNOWN])


def test_repeated_and_unsorted_cells_are_added_up_and_left_as_they_are(X):
    flipped = sparse.csr_matrix(X[:, ::-1])
    parts = np.repeat(flipped.data / 2, 2), np.repeat(6 - flipped.indices, 2), 2 * flipped.indptr
    doubled = sparse.csr_matrix(parts, shape=X.shape)
    for part in parts:
        part.flags.writeable = False
    before = doubled.data.copy()
    np.testing.assert_array_equal(read_pieces(make_columns(), doubled), X[:, KNOWN])
    np.testing.assert_array_equal(doubled.data, before)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_vectors_that_hold_no_counts_are_refused(X, make):
    given = replace(make_columns(), weighting="binary")
    with pytest.raises(
        ValueError, match=r"must hold counts, like the .* documents\. Got -3 instead"
    ):
        given.read(make(X))


def test_zeros_may_be_values_like_others(X):
    X[2, 2] = np.nan
    given = make_columns(keep_zeros=True)
    rows = given.read(next(given.split(X)))
    assert np.diff(rows.indptr).tolist() == [3] * 20
    assert rows.features.tolist() == [0, 1, 2] * 20
    np.testing.assert_array_equal(rows.values, X[:, KNOWN].ravel())


@pytest.mark.parametrize("keep_zeros", [True, False])
def test_no_vectors_are_no_pieces(keep_zeros):
    assert list(make_columns(keep_zeros=keep_zeros).split(np.zeros((0, 7)))) == []


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.zeros((2, 6)), r"rows of 7 features. Got an array of shape \(2, 6\) instead"),
        (np.zeros(7), r"rows of 7 features. Got an array of shape \(7,\) instead"),
        (sparse.csr_matrix((2, 8)), r"rows of 7 features. Got an array of shape \(2, 8\) instead"),
    ],
)
def test_vectors_of_another_shape_get_a_sentence(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        list(make_columns().split(X))


def test_sparse_vectors_are_refused_where_zeros_count():
    with pytest.raises(ValueError, match="documents must be dense, like the training documents"):
        list(make_columns(keep_zeros=True).split(sparse.csr_matrix((2, 7))))


@pytest.mark.parametrize("norm", ["l2", "l1", "max"])
def test_lengths_are_those_that_scikit_learn_divides_by(norm, X):
    rows = sparse.csr_matrix(X)
    length = measure_rows(rows.indptr, rows.data, norm)
    np.testing.assert_allclose(X / length[:, None], normalize(rows, norm).toarray(), atol=1e-12)
    assert length[4] == 1  # of an empty row
