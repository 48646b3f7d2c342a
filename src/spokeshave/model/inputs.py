"""Inputs of a saved model: text or vectors as rows of the model's features.

Nothing here needs numba or scikit-learn. Text is split by Python, until there is so much of it that
loading the kernels is worth the time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spokeshave.text.analyzers import JOINT, MARK, Analysis
from spokeshave.text.preprocess import split_chunks

MUCH_TEXT = 1 << 23  # characters: for less text, loading numba takes longer than it saves
CHUNK_SIZE = 1 << 20  # characters of text, or cells, in a batch


Found: TypeAlias = "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]"


class Rows(NamedTuple):
    """The known features of documents in CSR form; ``values`` is None if all are one."""

    indptr: NDArray[np.int64]
    features: NDArray[Any]
    values: NDArray[np.float64] | None


class TextInput:
    """Raw text, vectorised as by `DocumentVectorizer`, restricted to the terms of a model.

    Parameters
    ----------
    words : sequence of str
        The terms, in the order of their feature numbers.
    weighting : {"binary", "counts", "tfidf"}
        The value of a term in a document.
    norm : {"l2", "l1"} or None
        The norm by which documents are normalised, over all the terms.
    strip_markup : bool
        Whether to remove markup first.
    idf : ndarray of shape (n_words,) or None
        Inverse document frequencies, for "tfidf".
    analysis : Analysis, optional
        How a text becomes terms: by default as in `DocumentVectorizer`. Its ``strip_markup`` is
        replaced by the one above.
    sublinear_tf : bool, default=False
        Whether counts are replaced by 1 + ln(count).

    Examples
    --------
    >>> reader = TextInput(["ash", "oak"], "binary", None, True, None)
    >>> reader.read(["<b>Oak</b>, ash and oak"]).features.tolist()
    [1, 0]
    """

    def __init__(
        self,
        words: Sequence[str],
        weighting: str,
        norm: str | None,
        strip_markup: bool,
        idf: NDArray[np.float64] | None,
        analysis: Analysis | None = None,
        *,
        sublinear_tf: bool = False,
    ) -> None:
        self.names = tuple(words)
        self.weighting, self.norm, self.strip_markup = weighting, norm, strip_markup
        self.idf, self.sublinear_tf = idf, sublinear_tf
        self.analysis = replace(analysis or Analysis(), strip_markup=strip_markup)
        self._n_read = 0  # characters, as often as there are terms for a word

    def split(self, documents: Iterable[str], n_most: int = sys.maxsize) -> Iterator[list[str]]:
        """Yield the documents in batches of at most ``n_most``."""
        return split_chunks(documents, CHUNK_SIZE, "documents", n_most)

    def read(self, documents: list[str]) -> Rows:
        """Return documents as rows of terms, in order of first occurrence."""
        self._n_read += sum(map(len, documents)) * self.analysis.n_per_word
        find = self._find if self._is_kernel_worth_it() else self._look_up
        return self._weigh(*find(documents))

    def _is_kernel_worth_it(self) -> bool:
        """Return whether numba is loaded, or is installed and the amount of text justifies it."""
        if sys.modules.get("numba") is not None:
            return True
        return self._n_read >= MUCH_TEXT and find_spec("numba") is not None

    def _find(self, documents: list[str]) -> Found:
        """Find the terms of each document with the kernels."""
        found: Found = self._known.find(documents)
        return found

    def _look_up(self, documents: list[str]) -> Found:
        """Find the terms of each document in plain Python."""
        words: list[int] = []
        counts: list[int] = []
        indptr = [0]
        for document in documents:
            found: dict[int, int] = {}
            for term in self.analysis.list_terms(document, self._longest):
                if (word := self._numbers.get(term)) is not None:
                    found[word] = found.get(word, 0) + 1
            words.extend(found)
            counts.extend(found.values())
            indptr.append(len(words))
        return np.array(indptr), np.array(words, np.int64), np.array(counts, np.int64)

    def _weigh(self, indptr: NDArray[Any], words: NDArray[Any], counts: NDArray[Any]) -> Rows:
        """Return rows with the values of their words."""
        if self.weighting == "binary" and self.norm is None:
            return Rows(indptr, words, None)
        return Rows(indptr, words, weigh(self, indptr, words, counts))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.names)}

    @cached_property
    def _longest(self) -> int:
        """The number of words or characters of the longest term."""
        by_word = self.analysis.analyzer in ("word", JOINT)
        return max((_measure_term(name, by_word) for name in self.names), default=1)

    @cached_property
    def _known(self) -> Any:
        """The terms as a vocabulary for the kernels."""
        from spokeshave.text.terms import KnownTerms

        return KnownTerms(self.analysis, self.names)


@dataclass(frozen=True, eq=False)
class VectorInput:
    """Vectors, dense or sparse, restricted to the columns of a model.

    Attributes
    ----------
    n_features : int
        Number of columns of a vector.
    features : ndarray of shape (n_known,)
        The columns of the model, ascending.
    names : tuple of str
        Their names.
    keep_zeros : bool
        Whether zeros are stored like other values, as for a dense table with shaped features.
    weighting : {"binary", "counts", "tfidf"}
        The value of a feature, as of a term in `TextInput`; "counts" leaves values as they are.
    sublinear_tf : bool
        Whether counts are replaced by 1 + ln(count).
    norm : {"l2", "l1"} or None
        The norm by which vectors are normalised, over all columns of the model.
    idf : ndarray of shape (n_known,) or None
        Inverse document frequencies, for "tfidf".
    """

    n_features: int
    features: NDArray[np.int64]
    names: tuple[str, ...]
    keep_zeros: bool
    weighting: str = "counts"
    sublinear_tf: bool = False
    norm: str | None = None
    idf: NDArray[np.float64] | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether values are not used as they are."""
        return (self.weighting, self.sublinear_tf, self.norm) != ("counts", False, None)

    def split(self, documents: Any, n_most: int = sys.maxsize) -> Iterator[Any]:
        """Yield the documents in batches of at most ``n_most``."""
        is_sparse = hasattr(documents, "tocsr")
        if is_sparse and self.keep_zeros:
            raise ValueError(
                "documents must be dense, like the training documents. Got a sparse matrix instead."
            )
        X: Any = check_vectors(documents).tocsr() if is_sparse else np.asarray(documents, float)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(
                f"documents must be rows of {self.n_features} features. "
                f"Got an array of shape {X.shape} instead."
            )
        n_cells = X.nnz if is_sparse else X.size
        step = min(n_most, max(1, CHUNK_SIZE * X.shape[0] // max(n_cells, 1)))
        for start in range(0, X.shape[0], step):
            yield X[start : start + step]

    def read(self, documents: Any) -> Rows:
        """Return documents as rows of the known features."""
        is_sparse = hasattr(documents, "tocsr")
        found = self._read_sparse(documents) if is_sparse else self._read_dense(documents)
        if not self.is_weighted or found.values is None:
            return found
        if (found.values < 0).any():
            raise ValueError(
                "documents must hold counts, like the training documents. "
                f"Got {found.values.min():g} instead."
            )
        return found._replace(values=weigh(self, found.indptr, found.features, found.values))

    def _read_dense(self, X: NDArray[np.float64]) -> Rows:
        known = X[:, self.features]
        rows, features = np.nonzero(np.ones_like(known) if self.keep_zeros else known)
        counts = np.bincount(rows, minlength=len(X))
        return Rows(_accumulate(counts), features, known[rows, features])

    def _read_sparse(self, X: Any) -> Rows:
        X.sum_duplicates()
        if not len(self.features):
            nothing = np.zeros(0)
            return Rows(np.zeros(X.shape[0] + 1, np.int64), nothing.astype(int), nothing)
        numbers = np.searchsorted(self.features, X.indices).clip(max=len(self.features) - 1)
        is_known = (self.features[numbers] == X.indices) & (X.data != 0)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[is_known]
        counts = np.bincount(rows, minlength=X.shape[0])
        return Rows(_accumulate(counts), numbers[is_known], X.data[is_known].astype(float))


def check_vectors(documents: Any) -> Any:
    """Return the documents; if they are a sparse matrix, it must be well-formed."""
    if not hasattr(documents, "tocsr"):
        return documents
    from spokeshave.utils.sparse_format import check_format  # dense documents do not need scipy

    return check_format(documents, "documents")


def weigh(
    given: TextInput | VectorInput,
    indptr: NDArray[Any],
    features: NDArray[Any],
    counts: NDArray[Any],
) -> NDArray[np.float64]:
    """Return the values of features, from their counts."""
    if given.weighting == "binary":
        values = np.ones(len(features))
    else:
        values = counts.astype(float)
        if given.sublinear_tf:
            values = np.log(values) + 1
        if given.idf is not None:
            values *= given.idf[features]
    if given.norm is not None:
        values /= np.repeat(measure_rows(indptr, values, given.norm), np.diff(indptr))
    return values


def measure_rows(
    indptr: NDArray[np.int64], values: NDArray[np.float64], norm: str
) -> NDArray[np.float64]:
    """Return the norm of each row, or one if it is zero.

    Examples
    --------
    >>> measure_rows(np.array([0, 2, 2]), np.array([3.0, 4.0]), "l2")
    array([5., 1.])
    """
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    if norm == "max":
        length: NDArray[np.float64] = np.zeros(len(indptr) - 1)
        np.maximum.at(length, rows, np.abs(values))
    else:
        sizes = np.abs(values) if norm == "l1" else values * values
        length = np.asarray(np.bincount(rows, sizes, minlength=len(indptr) - 1), float)
    if norm == "l2":
        length = np.sqrt(length)
    return np.where(length > 0, length, 1.0)


def _measure_term(name: str, by_word: bool) -> int:
    """Return the words of a term, or its characters, with their mark if they have one."""
    return len(name.split(" ") if by_word and not name.startswith(MARK) else name)


def _accumulate(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)])
