"""DocumentVectorizer: raw text to a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from spokeshave.kernels.tokens import (
    Words,
    absorb,
    count_kept,
    empty_words,
    look_up,
    scan,
    sort_rows,
)
from spokeshave.text.alphabet import decode_words, encode_documents, make_alphabet
from spokeshave.text.preprocess import split_chunks


def check_limits(min_df: Any, max_df: Any) -> None:
    """Raise if a limit is neither a count of documents nor a share of them."""
    for name, limit in (("min_df", min_df), ("max_df", max_df)):
        is_count = isinstance(limit, Integral) and int(limit) >= 1
        is_share = isinstance(limit, float | np.floating) and 0 <= limit <= 1
        if not is_count and not is_share:
            raise ValueError(
                f"{name} must be a whole number of documents, at least 1, or a share between "
                f"0.0 and 1.0. Got {limit!r} instead."
            )


def find_limits(min_df: Any, max_df: Any, n_documents: int) -> tuple[float, float]:
    """Return the smallest and largest number of documents a feature may be in.

    Examples
    --------
    >>> find_limits(2, 0.5, n_documents=10)
    (2.0, 5.0)
    """
    lowest, highest = (
        float(limit if isinstance(limit, Integral) else limit * n_documents)
        for limit in (min_df, max_df)
    )
    if highest < lowest:
        raise ValueError(
            f"max_df must allow at least min_df={min_df} of the {n_documents} documents. "
            f"Got max_df={max_df} instead."
        )
    return lowest, highest


CHUNK = 1 << 21  # characters per task: the vocabulary of a chunk stays in the processor's cache


class TokenRows(NamedTuple):
    """The distinct tokens of some documents, in CSR form, with their counts."""

    indptr: NDArray[np.int64]
    tokens: NDArray[np.int32]
    counts: NDArray[np.int32]


class DocumentVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn raw text into a sparse matrix, by default as in Kołcz and Chowdhury (2007).

    By default markup and punctuation are removed, letters are lowercased, a token is a maximal run
    of characters for which :meth:`str.isalnum` holds, words that occur in one document only are
    dropped, values are 0 or 1 and rows have Euclidean length 1. With the same options the
    vocabulary and the matrix equal those of
    :class:`sklearn.feature_extraction.text.CountVectorizer` with
    ``token_pattern=r"(?u)[^\W_]+"`` (binary, counts) or ``TfidfVectorizer``.

    Documents may be any iterable of strings, including a generator. The text is read once, in
    chunks, and not kept.

    Parameters
    ----------
    weighting : {"binary", "counts", "tfidf"}, default="binary"
        Value of a word in a document. The inverse document frequency of "tfidf" is smoothed:
        ln((1 + documents) / (1 + document frequency)) + 1.
    norm : {"l2", "l1"} or None, default="l2"
        Norm by which each row is divided.
    min_df, max_df : int or float, default=2, 1.0
        Smallest and largest number of documents a word may be in: a count, or a share of the
        documents if it is a float.
    stop_words : iterable of str or "english", optional
        Words to ignore; "english" is scikit-learn's list.
    strip_markup : bool, default=True
        Whether to remove tags and comments and decode entities first.
    n_jobs : int, optional
        Number of threads; -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each word; words are in alphabetical order.
    n_rare_, n_frequent_ : int
        Number of words dropped because of ``min_df`` and of ``max_df``, stop words included.
    idf_ : ndarray of shape (n_words,)
        Inverse document frequencies; only with ``weighting="tfidf"``.

    Examples
    --------
    >>> from spokeshave import DocumentVectorizer
    >>> vectorizer = DocumentVectorizer(min_df=1)
    >>> vectorizer.fit_transform(["<b>A plane</b>, a spokeshave", "A chisel"]).toarray().round(2)
    array([[0.58, 0.  , 0.58, 0.58],
           [0.71, 0.71, 0.  , 0.  ]])
    >>> vectorizer.get_feature_names_out()
    array(['a', 'chisel', 'plane', 'spokeshave'], dtype=object)
    """

    def __init__(
        self,
        *,
        weighting: str = "binary",
        norm: str | None = "l2",
        min_df: float = 2,
        max_df: float = 1.0,
        stop_words: Iterable[str] | str | None = None,
        strip_markup: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.weighting = weighting
        self.norm = norm
        self.min_df = min_df
        self.max_df = max_df
        self.stop_words = stop_words
        self.strip_markup = strip_markup
        self.n_jobs = n_jobs

    def fit(self, raw_documents: Iterable[str], y: object = None) -> Self:
        """Learn the vocabulary.

        Parameters
        ----------
        raw_documents : iterable of str
            Documents.
        y : object
            Ignored.

        Returns
        -------
        self : DocumentVectorizer
        """
        self._learn(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[str], y: object = None) -> sparse.csr_matrix:
        """Learn the vocabulary and return the matrix, reading the documents once.

        Parameters
        ----------
        raw_documents : iterable of str
            Documents.
        y : object
            Ignored.

        Returns
        -------
        X : csr_matrix of shape (n_documents, n_words)
        """
        chunks = self._learn(raw_documents)
        return weight_counts(self, _assemble(chunks, len(self.vocabulary_), self.n_jobs))

    def transform(self, raw_documents: Iterable[str]) -> sparse.csr_matrix:
        """Return the matrix of the documents; words outside the vocabulary are ignored.

        Parameters
        ----------
        raw_documents : iterable of str
            Documents.

        Returns
        -------
        X : csr_matrix of shape (n_documents, n_words)
        """
        return weight_counts(self, count_words(self, raw_documents))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the words, in the order of the columns.

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        words : ndarray of str
        """
        check_is_fitted(self)
        return np.array(list(self.vocabulary_), dtype=object)

    def _learn(self, raw_documents: Iterable[str]) -> list[tuple[TokenRows, NDArray[np.int32]]]:
        """Set the vocabulary; return rows of tokens, and the column of each token or -1."""
        check_vectorizer(self)
        alphabet, words = make_alphabet(), empty_words()
        chunks = []
        for rows, chunk_words in self._scan(raw_documents):
            ids, words = absorb(words, chunk_words, alphabet)
            chunks.append((rows, ids))
        columns = self._choose_columns(words, chunks)
        return [(rows, columns[ids]) for rows, ids in chunks]

    def _scan(self, raw_documents: Iterable[str]) -> Iterator[tuple[TokenRows, Words]]:
        """Yield the rows of tokens of each chunk of text, with the vocabulary of the chunk."""
        yield from Parallel(
            n_jobs=self.n_jobs, prefer="threads", return_as="generator", batch_size=1
        )(
            delayed(scan_chunk)(documents, self.strip_markup)
            for documents in split_chunks(raw_documents, CHUNK, "raw_documents")
        )

    def _choose_columns(
        self, words: Words, chunks: list[tuple[TokenRows, NDArray[np.int32]]]
    ) -> NDArray[np.int32]:
        """Set the vocabulary and return the column of each word, -1 for dropped words."""
        n_documents = sum(rows.indptr.size - 1 for rows, _ in chunks)
        frequency = np.zeros(words.size[0], np.int64)
        for rows, ids in chunks:
            frequency[ids] += np.bincount(rows.tokens, minlength=ids.size)
        lowest, highest = self._find_limits(n_documents, words.size[0])
        stop_words = list_stop_words(self)
        kept = np.flatnonzero((frequency >= lowest) & (frequency <= highest))
        self.n_rare_ = int(np.count_nonzero(frequency < lowest))
        self.n_frequent_ = int(np.count_nonzero(frequency > highest))
        names = decode_words(words, kept)
        alphabetical = sorted(set(names) - stop_words)
        if not alphabetical:
            raise ValueError(
                f"No word is left: all {words.size[0]} are stop words or outside min_df="
                f"{self.min_df} and max_df={self.max_df}. Lower min_df or raise max_df."
            )
        column = dict(zip(alphabetical, range(len(alphabetical)), strict=True))
        columns = np.full(words.size[0], -1, np.int32)
        columns[kept] = [column.get(name, -1) for name in names]
        in_order = np.argsort(columns)[-len(alphabetical) :]
        set_vocabulary(self, alphabetical, frequency[in_order], n_documents)
        return columns

    def _find_limits(self, n_documents: int, n_words: int) -> tuple[float, float]:
        """Return the smallest and largest number of documents a word may be in."""
        if n_documents == 0:
            raise ValueError("raw_documents must hold at least one document. Got none.")
        if n_words == 0:
            raise ValueError(
                f"raw_documents must hold words. Got {n_documents} without a letter or digit."
            )
        return find_limits(self.min_df, self.max_df, n_documents)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def count_words(vectorizer: DocumentVectorizer, raw_documents: Iterable[str]) -> sparse.csr_matrix:
    """Return the count of each word of a fitted vocabulary in each document."""
    check_is_fitted(vectorizer)
    alphabet = make_alphabet()
    chunks = [
        (rows, look_up(vectorizer._words, words, alphabet))
        for rows, words in vectorizer._scan(raw_documents)
    ]
    return _assemble(chunks, len(vectorizer.vocabulary_), vectorizer.n_jobs)


def weight_counts(vectorizer: DocumentVectorizer, counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Turn counts of words into the weighted and normalised matrix, in place."""
    if vectorizer.weighting == "binary":
        counts.data[:] = 1
    elif vectorizer.weighting == "tfidf":
        counts.data *= vectorizer.idf_[counts.indices]
    return (
        counts if vectorizer.norm is None else normalize(counts, norm=vectorizer.norm, copy=False)
    )


def set_vocabulary(
    vectorizer: DocumentVectorizer,
    words: Sequence[str],
    frequency: NDArray[np.int64],
    n_documents: int,
) -> None:
    """Fit a vectorizer to words in alphabetical order and their document frequencies."""
    vectorizer.vocabulary_ = dict(zip(words, range(len(words)), strict=True))
    vectorizer._words = scan_chunk(["\n".join(words)], without_markup=False)[1]
    if vectorizer.weighting == "tfidf":
        vectorizer.idf_ = np.log((1 + n_documents) / (1.0 + frequency)) + 1


def list_stop_words(vectorizer: DocumentVectorizer) -> frozenset[str]:
    """Return the words that a vectorizer ignores."""
    if vectorizer.stop_words is None:
        return frozenset()
    if vectorizer.stop_words == "english":
        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(vectorizer.stop_words)


def check_vectorizer(vectorizer: DocumentVectorizer) -> None:
    """Raise if a parameter of a vectorizer is invalid."""
    if vectorizer.weighting not in ("binary", "counts", "tfidf"):
        raise ValueError(
            "weighting must be 'binary', 'counts' or 'tfidf'. "
            f"Got {vectorizer.weighting!r} instead."
        )
    if vectorizer.norm not in ("l2", "l1", None):
        raise ValueError(f"norm must be 'l2', 'l1' or None. Got {vectorizer.norm!r} instead.")
    check_limits(vectorizer.min_df, vectorizer.max_df)
    if isinstance(vectorizer.stop_words, str) and vectorizer.stop_words != "english":
        raise ValueError(
            "stop_words must be 'english' or an iterable of words. "
            f"Got {vectorizer.stop_words!r} instead."
        )


def scan_chunk(documents: list[str], without_markup: bool) -> tuple[TokenRows, Words]:
    """Return the tokens of each document, and the vocabulary they refer to."""
    text, ends = encode_documents(documents, without_markup=without_markup)
    *rows, words = scan(text, ends, make_alphabet(), empty_words())
    return TokenRows(*rows), words


def _assemble(
    chunks: list[tuple[TokenRows, NDArray[np.int32]]], n_columns: int, n_jobs: int | None
) -> sparse.csr_matrix:
    """Return the matrix of counts, columns in ascending order in each row."""
    lengths = [count_kept(rows.indptr, rows.tokens, columns) for rows, columns in chunks]
    indptr = np.cumsum(np.concatenate([[0], *lengths]))
    indices = np.empty(indptr[-1], np.int32)
    counts = np.empty(indptr[-1])
    first_rows = np.cumsum([0, *map(len, lengths)])
    Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
        delayed(sort_rows)(
            *rows, columns, n_columns, indptr[first : first + len(length)], indices, counts
        )
        for (rows, columns), length, first in zip(chunks, lengths, first_rows[:-1], strict=True)
    )
    return sparse.csr_matrix((counts, indices, indptr), shape=(indptr.size - 1, n_columns))
