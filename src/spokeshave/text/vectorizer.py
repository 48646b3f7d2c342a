"""DocumentVectorizer: raw text to a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.utils.validation import check_is_fitted

from spokeshave.kernels.tokens import count_kept, sort_rows
from spokeshave.text.analyzers import JOINT, Analysis, Analyzer, Stripper, check_analysis
from spokeshave.text.preprocess import split_chunks
from spokeshave.text.terms import Chunks, KnownTerms, TermCollector, make_collector
from spokeshave.text.weighting import check_weighting, compute_idf, weight_counts


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


class DocumentVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn raw text into a sparse matrix, by default as in Kołcz and Chowdhury (2007).

    By default markup and punctuation are removed, letters are lowercased, a token is a maximal run
    of characters for which :meth:`str.isalnum` holds, words that occur in one document only are
    dropped, values are 0 or 1 and rows have Euclidean length 1. With the same options the
    vocabulary and the matrix equal those of
    :class:`sklearn.feature_extraction.text.CountVectorizer` with
    ``token_pattern=r"(?u)[^\W_]+"`` (binary, counts) or ``TfidfVectorizer``, except for scripts
    without spaces between words, see ``unspaced``. A term is a word, or
    an n-gram of words or characters.

    Documents may be any iterable of strings, including a generator. The text is read once, in
    chunks, and not kept.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb", "word+char_wb"} or callable, default="word"
        Whether terms are n-grams of words, of the characters of the text, or of the characters of
        each word with a space on both sides. Runs of white space are one space. "word+char_wb" are
        n-grams of words, and besides two to five characters of each word, with an asterisk before
        their names. A function takes a text, from which markup is removed if ``strip_markup``, and
        returns its terms.
    ngram_range : tuple of two int, default=(1, 1)
        Smallest and largest number of words or characters of an n-gram; of words if terms are of
        both. Stop words are removed before n-grams are made. With "char_wb" a word that is too
        short for the smallest number is one term.
    weighting : {"binary", "counts", "tfidf"}, default="binary"
        Value of a term in a document. The inverse document frequency of "tfidf" is smoothed:
        ln((1 + documents) / (1 + document frequency)) + 1.
    sublinear_tf : bool, default=False
        Whether a count is replaced by 1 + ln(count).
    norm : {"l2", "l1"} or None, default="l2"
        Norm by which each row is divided.
    min_df, max_df : int or float, default=2, 1.0
        Smallest and largest number of documents a term may be in: a count, or a share of the
        documents if it is a float.
    max_features : int, optional
        Number of terms to keep: those that occur most often in all documents together, or that are
        in most documents if ``weighting="binary"``.
    stop_words : iterable of str or "english", optional
        Words to ignore; "english" is scikit-learn's list. Only for n-grams of words.
    lowercase : bool, default=True
        Whether to convert text to lower case.
    strip_accents : {"ascii", "unicode"} or callable, optional
        Remove accents, after the conversion to lower case: "ascii" replaces characters by those of
        ASCII that they are made of and leaves out all others, "unicode" removes combining
        characters. A function takes a text and returns it without accents.
    unspaced : {"bigrams"} or None, default="bigrams"
        Words of scripts that are written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer
        and Myanmar): a run of their letters and marks becomes its single characters and its pairs
        of neighbours, "東京都" the words 東, 京, 都, 東京 and 京都. They take part in word n-grams
        in that order, so two neighbouring pairs are three characters. If None, a run is one word,
        as in scikit-learn. Only for n-grams of words.
    strip_markup : bool, default=True
        Whether to remove tags and comments and decode entities first.
    n_jobs : int, optional
        Number of threads; -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each term; terms are in alphabetical order.
    n_rare_, n_frequent_ : int
        Number of terms dropped because of ``min_df`` and of ``max_df``; of single words, stop words
        included.
    idf_ : ndarray of shape (n_terms,)
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
    >>> pairs = DocumentVectorizer(ngram_range=(1, 2), min_df=1).fit(["a plane", "a chisel"])
    >>> pairs.get_feature_names_out()
    array(['a', 'a chisel', 'a plane', 'chisel', 'plane'], dtype=object)
    """

    def __init__(
        self,
        *,
        analyzer: Analyzer = "word",
        ngram_range: tuple[int, int] = (1, 1),
        weighting: str = "binary",
        sublinear_tf: bool = False,
        norm: str | None = "l2",
        min_df: float = 2,
        max_df: float = 1.0,
        max_features: int | None = None,
        stop_words: Iterable[str] | str | None = None,
        lowercase: bool = True,
        strip_accents: Stripper = None,
        unspaced: str | None = "bigrams",
        strip_markup: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.weighting = weighting
        self.sublinear_tf = sublinear_tf
        self.norm = norm
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.stop_words = stop_words
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.unspaced = unspaced
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
        X : csr_matrix of shape (n_documents, n_terms)
        """
        chunks = self._learn(raw_documents)
        return weight_counts(self, _assemble(chunks, len(self.vocabulary_), self.n_jobs))

    def transform(self, raw_documents: Iterable[str]) -> sparse.csr_matrix:
        """Return the matrix of the documents; terms outside the vocabulary are ignored.

        Parameters
        ----------
        raw_documents : iterable of str
            Documents.

        Returns
        -------
        X : csr_matrix of shape (n_documents, n_terms)
        """
        return weight_counts(self, count_words(self, raw_documents))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the terms, in the order of the columns.

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        terms : ndarray of str
        """
        check_is_fitted(self)
        return np.array(list(self.vocabulary_), dtype=object)

    def _learn(self, raw_documents: Iterable[str]) -> Chunks:
        """Set the vocabulary; return rows of terms, and the column of each term or -1."""
        check_vectorizer(self)
        terms = make_collector(make_analysis(self))
        for scanned in self._spread(terms.scan, raw_documents):
            terms.absorb(scanned)
        chunks = terms.finish(self._starmap)
        columns = self._choose_columns(terms, chunks)
        return [(rows, columns[ids]) for rows, ids in chunks]

    def _spread(self, work: Callable[[list[str]], Any], raw_documents: Iterable[str]) -> Any:
        """Yield the result of some work on each chunk of text, done in threads."""
        return Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator", batch_size=1)(
            delayed(work)(documents)
            for documents in split_chunks(raw_documents, CHUNK, "raw_documents")
        )

    def _starmap(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Return the results of calls of a function, made in threads."""
        calls = (delayed(function)(*each) for each in arguments)
        done: list[Any] = Parallel(n_jobs=self.n_jobs, require="sharedmem", batch_size=1)(calls)
        return done

    def _choose_columns(self, terms: TermCollector, chunks: Chunks) -> NDArray[np.int32]:
        """Set the vocabulary and return the column of each term, -1 for dropped terms."""
        n_documents = sum(rows.indptr.size - 1 for rows, _ in chunks)
        frequency = np.zeros(len(terms), np.int64)
        for rows, ids in chunks:
            frequency[ids] += np.bincount(rows.tokens, minlength=ids.size)
        is_term = frequency > 0  # a beginning of n-grams may be too short itself
        n_terms = int(np.count_nonzero(is_term))
        lowest, highest = self._find_limits(n_documents, n_terms)
        kept = np.flatnonzero(is_term & (frequency >= lowest) & (frequency <= highest))
        self.n_rare_ = int(np.count_nonzero(is_term & (frequency < lowest)))
        self.n_frequent_ = int(np.count_nonzero(frequency > highest))
        kept, names = terms.index.arrange(kept)
        if make_analysis(self).has_single_words and (stop_words := list_stop_words(self)):
            places = [place for place, name in enumerate(names) if name not in stop_words]
            kept, names = kept[places], [names[place] for place in places]
        if not names:
            raise ValueError(
                f"No word is left: all {n_terms} are stop words or outside min_df="
                f"{self.min_df} and max_df={self.max_df}. Lower min_df or raise max_df."
            )
        if self.max_features is not None and len(names) > self.max_features:
            totals = frequency
            if self.weighting != "binary":
                totals = _count_occurrences(chunks, frequency.size)
            places = find_most_frequent(self, totals[kept])
            kept, names = kept[places], [names[place] for place in places]
        columns = np.full(len(terms), -1, np.int32)
        columns[kept] = np.arange(len(names))
        set_vocabulary(self, names, frequency[kept], n_documents)
        return columns

    def _find_limits(self, n_documents: int, n_terms: int) -> tuple[float, float]:
        """Return the smallest and largest number of documents a term may be in."""
        if n_documents == 0:
            raise ValueError("raw_documents must hold at least one document. Got none.")
        if n_terms == 0:
            if make_analysis(self) == Analysis(strip_markup=self.strip_markup):
                raise ValueError(
                    f"raw_documents must hold words. Got {n_documents} without a letter or digit."
                )
            raise ValueError(
                f"raw_documents must hold terms for this analyzer, ngram_range and stop_words. "
                f"Got {n_documents} without one."
            )
        return find_limits(self.min_df, self.max_df, n_documents)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def make_analysis(vectorizer: DocumentVectorizer) -> Analysis:
    """Return how a vectorizer turns a text into terms."""
    min_n, max_n = vectorizer.ngram_range
    is_pairs = vectorizer.analyzer in ("word", JOINT) and max_n > 1
    return Analysis(
        analyzer=vectorizer.analyzer,
        ngram_range=(int(min_n), int(max_n)),
        lowercase=bool(vectorizer.lowercase),
        strip_accents=vectorizer.strip_accents,
        strip_markup=bool(vectorizer.strip_markup),
        # Those of single words are dropped from the vocabulary instead.
        stop_words=list_stop_words(vectorizer) if is_pairs else frozenset(),
        unspaced=vectorizer.unspaced,
    )


def count_words(vectorizer: DocumentVectorizer, raw_documents: Iterable[str]) -> sparse.csr_matrix:
    """Return the count of each term of a fitted vocabulary in each document."""
    check_is_fitted(vectorizer)
    n_terms = len(vectorizer.vocabulary_)
    same = np.arange(n_terms, dtype=np.int32)
    if vectorizer._known is None:
        vectorizer._known = KnownTerms(make_analysis(vectorizer), list(vectorizer.vocabulary_))
    chunks = [(rows, same) for rows in vectorizer._spread(vectorizer._known.find, raw_documents)]
    return _assemble(chunks, n_terms, vectorizer.n_jobs)


def weight_fold(
    vectorizer: DocumentVectorizer,
    counts: sparse.csr_matrix,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Return the rows of a fold as if the vectorizer had been fitted to its training documents.

    ``counts`` are of all documents, for terms of which the fold keeps some. Document frequencies of
    the fold are those of all documents less its test documents.
    """
    n_terms = counts.shape[1]
    of_test = counts[test]
    frequency = np.bincount(counts.indices, minlength=n_terms)
    frequency -= np.bincount(of_test.indices, minlength=n_terms)
    lowest, highest = find_limits(vectorizer.min_df, vectorizer.max_df, train.size)
    kept = np.flatnonzero((frequency >= lowest) & (frequency <= highest) & (frequency > 0))
    fitted: DocumentVectorizer = clone(vectorizer)
    if fitted.weighting == "tfidf":
        fitted.idf_ = compute_idf(frequency[kept], train.size)
    of_train, of_test = (weight_counts(fitted, part[:, kept]) for part in (counts[train], of_test))
    return of_train, of_test


def set_vocabulary(
    vectorizer: DocumentVectorizer,
    words: Sequence[str],
    frequency: NDArray[np.int64],
    n_documents: int,
) -> None:
    """Fit a vectorizer to terms in alphabetical order and their document frequencies."""
    vectorizer.vocabulary_ = dict(zip(words, range(len(words)), strict=True))
    vectorizer._known = None  # until it is needed: the matrix of the training texts does without
    if vectorizer.weighting == "tfidf":
        vectorizer.idf_ = compute_idf(frequency, n_documents)


def list_stop_words(vectorizer: DocumentVectorizer) -> frozenset[str]:
    """Return the words that a vectorizer ignores."""
    if vectorizer.stop_words is None:
        return frozenset()
    if vectorizer.stop_words == "english":
        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(vectorizer.stop_words)


def check_vectorizer(vectorizer: DocumentVectorizer) -> None:
    """Raise if a parameter of a vectorizer is invalid."""
    check_weighting(vectorizer)
    check_analysis(vectorizer)
    check_limits(vectorizer.min_df, vectorizer.max_df)
    most: Any = vectorizer.max_features
    if most is not None and not (isinstance(most, Integral) and int(most) >= 1):
        raise ValueError(
            f"max_features must be None or a whole number, at least 1. Got {most!r} instead."
        )
    if isinstance(vectorizer.stop_words, str) and vectorizer.stop_words != "english":
        raise ValueError(
            "stop_words must be 'english' or an iterable of words. "
            f"Got {vectorizer.stop_words!r} instead."
        )


def find_most_frequent(vectorizer: DocumentVectorizer, totals: NDArray[Any]) -> list[int]:
    """Return which terms ``max_features`` keeps, given how often each occurs.

    Terms are in alphabetical order. Totals are numbers of documents if the weighting is "binary".
    """
    # Which of equals is kept depends on the type, as it does in scikit-learn.
    wanted = totals.astype(float if vectorizer.weighting == "tfidf" else np.int64)
    return sorted((-wanted).argsort()[: vectorizer.max_features].tolist())


def _count_occurrences(chunks: Chunks, n_terms: int) -> NDArray[np.int64]:
    """Return how often each term occurs in all documents together."""
    totals = np.zeros(n_terms, np.int64)
    for rows, ids in chunks:
        found = np.bincount(rows.tokens, rows.counts, minlength=ids.size)
        totals[ids] += found.astype(np.int64)
    return totals


def _assemble(chunks: Chunks, n_columns: int, n_jobs: int | None) -> sparse.csr_matrix:
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
