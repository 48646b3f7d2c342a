"""Terms of many texts by the kernels: collected to learn a vocabulary, or found in one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.ngrams import (
    Ngrams,
    count_ngrams,
    empty_ngrams,
    expand_rows,
    extend_ngrams,
    find_ngrams,
    index_ngrams,
    tally_ngrams,
)
from spokeshave.kernels.tokens import (
    Alphabet,
    Words,
    absorb,
    empty_words,
    find_known,
    find_tokens,
    look_up,
    scan,
    tokenize,
)
from spokeshave.text.alphabet import (
    N_CODES,
    encode_bytes,
    encode_codes,
    encode_documents,
    make_alphabet,
    make_name_alphabet,
    make_space_alphabet,
    pad_words,
)
from spokeshave.text.analyzers import MARK, Analysis, join_spaces, split_marked
from spokeshave.text.term_index import (
    JointIndex,
    NgramIndex,
    TermTable,
    WordIndex,
    count_terms,
    index_words,
    make_index,
)


class TokenRows(NamedTuple):
    """The distinct tokens of some documents, in CSR form, with their counts."""

    indptr: NDArray[np.int64]
    tokens: NDArray[np.int32]
    counts: NDArray[np.int32]


Chunks = list[tuple[TokenRows, NDArray[np.int32]]]
Map = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], list[Any]]


def pick_alphabet(analysis: Analysis) -> Alphabet:
    """Return the alphabet to split texts by.

    The kernels lower ASCII letters, unless there are accents to strip, which may leave capitals.
    """
    lowers = analysis.lowercase and analysis.strip_accents is None
    if analysis.analyzer == "char_wb":
        return make_space_alphabet(lowers=lowers)
    return make_alphabet(lowers=lowers, unspaced=analysis.unspaced)


def encode_texts(
    analysis: Analysis, documents: Sequence[str]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], Alphabet]:
    """Return documents as one buffer of bytes, the end of each, and the alphabet to split by."""
    alphabet = pick_alphabet(analysis)
    if analysis.lowercase and analysis.strip_accents is None:
        text, ends = encode_documents(documents, without_markup=analysis.strip_markup)
    else:
        text, ends = encode_bytes([analysis.clean(document) for document in documents])
    return text, ends, alphabet


def scan_words(analysis: Analysis, documents: Sequence[str]) -> tuple[TokenRows, Words]:
    """Return the words of each document, and the vocabulary they refer to."""
    *rows, words = scan(*encode_texts(analysis, documents), empty_words())
    return TokenRows(*rows), words


def scan_terms(analysis: Analysis, documents: Sequence[str]) -> tuple[TokenRows, TermTable]:
    """Return the terms of each document, and the table that numbers them.

    Examples
    --------
    >>> rows, table = scan_terms(Analysis(), ["An oak, an ash", "An elm"])
    >>> rows.tokens, rows.counts
    (array([0, 1, 2, 0, 3], dtype=int32), array([2, 1, 1, 1, 1], dtype=int32))
    """
    if callable(analysis.analyzer):
        return _scan_custom(analysis, documents)
    if analysis.parts:
        return _scan_joint(analysis, documents)
    if analysis.analyzer == "char_wb":
        return _scan_bounded(analysis, documents)
    if analysis.is_plain:
        found, words = scan_words(analysis, documents)
        return found, TermTable(words)
    if analysis.analyzer == "char":
        indptr, symbols = _encode_characters(analysis, documents)
        empty = _make_trie(symbols, 1 << 16)
        *rows, ngrams = count_ngrams(indptr, symbols, *analysis.ngram_range, False, empty)
        return TokenRows(*rows), TermTable(None, ngrams)
    indptr, symbols, words = _tokenize(analysis, documents)
    empty = empty_ngrams(int(words.size[0]), _round_up(symbols.size // 2))
    *rows, ngrams = count_ngrams(indptr, symbols, *analysis.ngram_range, False, empty)
    return TokenRows(*rows), TermTable(words, ngrams)


def _scan_joint(analysis: Analysis, documents: Sequence[str]) -> tuple[TokenRows, TermTable]:
    """Return the words of each document and the n-grams of their characters."""
    scanned = [scan_terms(part, documents) for part in analysis.parts]
    (words, of_words), (characters, of_characters) = scanned
    rows = join_rows(words, characters, count_terms(of_words))
    return rows, TermTable(parts=(of_words, of_characters))


def join_rows(first: TokenRows, second: TokenRows, n_tokens: int) -> TokenRows:
    """Return the tokens of both in each row; those of the second are ``n_tokens`` higher.

    Examples
    --------
    >>> rows = TokenRows(np.array([0, 1, 1]), np.array([4]), np.array([1]))
    >>> join_rows(rows, TokenRows(np.array([0, 1, 2]), np.array([0, 1]), np.array([2, 3])), 5)
    TokenRows(indptr=array([0, 2, 3]), tokens=array([4, 5, 6]), counts=array([1, 2, 3]))
    """
    n = first.tokens.size + second.tokens.size
    tokens, counts = np.empty(n, first.tokens.dtype), np.empty(n, first.counts.dtype)
    lengths = np.diff(first.indptr), np.diff(second.indptr)
    of_first = np.arange(first.tokens.size) + np.repeat(second.indptr[:-1], lengths[0])
    of_second = np.arange(second.tokens.size) + np.repeat(first.indptr[1:], lengths[1])
    tokens[of_first], tokens[of_second] = first.tokens, second.tokens + n_tokens
    counts[of_first], counts[of_second] = first.counts, second.counts
    return TokenRows(first.indptr + second.indptr, tokens, counts)


def _tokenize(
    analysis: Analysis, documents: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Words]:
    """Return the words of each document in order, without stop words, and the vocabulary."""
    indptr, tokens, words = tokenize(*encode_texts(analysis, documents), empty_words())
    if analysis.stop_words:
        stop_words = _index_stop_words(analysis.stop_words)
        is_stopped = look_up(stop_words, words, make_name_alphabet()) >= 0
        indptr, tokens = _leave_out(indptr, tokens, is_stopped)
    return indptr, tokens, words


def _scan_bounded(analysis: Analysis, documents: Sequence[str]) -> tuple[TokenRows, TermTable]:
    """Return n-grams of the characters of words, made once for each distinct word."""
    found, words = scan_words(analysis, documents)
    *of_words, ngrams = _count_bounded(analysis, words)
    rows = TokenRows(*expand_rows(*found, *of_words, int(ngrams.size[0])))
    return rows, TermTable(None, ngrams)


def _count_bounded(analysis: Analysis, words: Words) -> Any:
    """Return rows of the n-grams of each word, and the trie, as `count_ngrams` does."""
    indptr, codes = pad_words(words)
    return count_ngrams(indptr, codes, *analysis.ngram_range, True, _make_trie(codes, 1 << 12))


def _make_trie(codes: NDArray[np.int32], capacity: int) -> Ngrams:
    """Return a trie without n-grams for the code points of some texts."""
    return empty_ngrams(int(codes.max(initial=-1)) + 1, capacity)


def _scan_custom(analysis: Analysis, documents: Sequence[str]) -> tuple[TokenRows, TermTable]:
    """Return the terms of a function of the user's, which holds the interpreter lock anyway."""
    ids: dict[str, int] = {}
    counted = [Counter(list_custom(analysis, document)) for document in documents]
    rows = _number_terms(counted, lambda term: ids.setdefault(term, len(ids)))
    return rows, TermTable(names=list(ids))


class TermCollector:
    """The terms of many texts: of each chunk of them, and of all together.

    Chunks are scanned, in threads if asked to, and absorbed in the order of the texts, so that
    results do not depend on the number of threads.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis, self.index = analysis, make_index(analysis)
        self._chunks: Chunks = []

    def __len__(self) -> int:
        return len(self.index)

    def scan(self, documents: list[str]) -> tuple[TokenRows, TermTable]:
        """Return what one chunk of documents has; called in threads."""
        return scan_terms(self._analysis, documents)

    def absorb(self, scanned: tuple[TokenRows, TermTable]) -> None:
        """Add the result of a scan."""
        rows, table = scanned
        self._chunks.append((rows, self.index.absorb(table)))

    def finish(self, starmap: Map) -> Chunks:
        """Return rows of terms by chunk, with the id of each term of a chunk.

        ``starmap(function, arguments)`` returns the results of calls, made in threads.
        """
        return self._chunks


class _BoundedCollector(TermCollector):
    """Collects words, and makes n-grams of their characters once for each distinct word of all."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._words = WordIndex()

    def scan(self, documents: list[str]) -> tuple[TokenRows, TermTable]:
        rows, words = scan_words(self._analysis, documents)
        return rows, TermTable(words)

    def absorb(self, scanned: tuple[TokenRows, TermTable]) -> None:
        rows, table = scanned
        self._chunks.append((rows, self._words.absorb(table)))

    def finish(self, starmap: Map) -> Chunks:
        *of_words, ngrams = _count_bounded(self._analysis, self._words.words)
        self.index = NgramIndex(None, ngrams)
        every = np.arange(len(self), dtype=np.int32)
        expanded = starmap(
            expand_rows,
            (
                (rows.indptr, ids[rows.tokens], rows.counts, *of_words, every.size)
                for rows, ids in self._chunks
            ),
        )
        return [(TokenRows(*rows), every) for rows in expanded]


class _PhraseCollector(TermCollector):
    """Collects words, and makes n-grams of them when all words are known."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._words = WordIndex()
        self._symbols: list[NDArray[np.int32]] = []
        self._lengths: list[NDArray[np.int64]] = []  # of the documents of each chunk

    def scan(self, documents: list[str]) -> Any:
        return _tokenize(self._analysis, documents)

    def absorb(self, scanned: Any) -> None:
        indptr, tokens, words = scanned
        self._symbols.append(self._words.absorb(TermTable(words))[tokens])
        self._lengths.append(np.diff(indptr))

    def finish(self, starmap: Map) -> Chunks:
        lengths = np.concatenate([np.zeros(1, np.int64), *self._lengths])
        indptr, ends = np.cumsum(lengths), np.cumsum([0, *map(len, self._lengths)])
        grams, ngrams = self._make_ngrams(indptr)
        self.index = NgramIndex(self._words, ngrams)
        every = np.arange(len(self), dtype=np.int32)
        chunks = ((indptr[i : j + 1], grams, every.size) for i, j in pairwise(ends))
        return [(TokenRows(*rows), every) for rows in starmap(tally_ngrams, chunks)]

    def _make_ngrams(self, indptr: NDArray[np.int64]) -> tuple[NDArray[np.int32], Ngrams]:
        """Return the n-gram of each length at each position, and the trie without its table."""
        min_n, max_n = self._analysis.ngram_range
        n_words, longest = len(self._words), int(np.diff(indptr).max(initial=0))
        symbols = np.concatenate([np.zeros(0, np.int32), *self._symbols])
        of_lengths = [symbols]
        of_trie = [(np.full(n_words, -1, np.int32), np.arange(n_words, dtype=np.int32))]
        begin, end = 0, n_words
        for length in range(2, min(max_n, longest) + 1):
            longer, *new = extend_ngrams(
                indptr, symbols, of_lengths[-1], length, begin, end, n_words
            )
            of_lengths.append(longer)
            of_trie.append(new)
            begin, end = end, end + new[0].size
        prefixes, lasts = map(np.concatenate, zip(*of_trie, strict=True))
        nothing = empty_ngrams(0, 0)
        ngrams = nothing._replace(prefixes=prefixes, symbols=lasts, size=np.array([end]))
        return np.stack(of_lengths[min_n - 1 :] or [np.full_like(symbols, -1)]), ngrams


class _JointCollector(TermCollector):
    """Collects words, and n-grams of their characters."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._parts = [make_collector(part) for part in analysis.parts]

    def scan(self, documents: list[str]) -> Any:
        return [part.scan(documents) for part in self._parts]

    def absorb(self, scanned: Any) -> None:
        for part, of_part in zip(self._parts, scanned, strict=True):
            part.absorb(of_part)

    def finish(self, starmap: Map) -> Chunks:
        words, characters = (part.finish(starmap) for part in self._parts)
        self.index = JointIndex([part.index for part in self._parts])
        n_words = np.int32(len(self._parts[0]))
        return [
            (join_rows(first, second, ids.size), np.concatenate([ids, n_words + more]))
            for (first, ids), (second, more) in zip(words, characters, strict=True)
        ]


def make_collector(analysis: Analysis) -> TermCollector:
    """Return an empty collector of the terms of an analysis."""
    if analysis.parts:
        return _JointCollector(analysis)
    if analysis.analyzer == "char_wb":
        return _BoundedCollector(analysis)
    if analysis.analyzer == "word" and not analysis.is_plain:
        return _PhraseCollector(analysis)
    return TermCollector(analysis)


class KnownTerms:
    """A vocabulary, for the counts of its terms in texts.

    Parameters
    ----------
    analysis : Analysis
        How texts become terms.
    names : sequence of str
        Distinct terms of the analysis.

    Examples
    --------
    >>> known = KnownTerms(Analysis(ngram_range=(1, 2)), ["oak", "old oak"])
    >>> known.find(["An old oak", "elm"]).tokens
    array([1, 0], dtype=int32)
    """

    def __init__(self, analysis: Analysis, names: Sequence[str]) -> None:
        self._analysis = analysis
        if callable(analysis.analyzer):
            self._numbers = {name: number for number, name in enumerate(names)}
            return
        if analysis.parts:
            self._places = [np.array(places, np.int32) for places in split_marked(names)]
            self._parts = [
                KnownTerms(part, [names[place].removeprefix(MARK) for place in places])
                for part, places in zip(analysis.parts, self._places, strict=True)
            ]
            return
        if analysis.is_plain:
            self._words = index_words(names)
            return
        if analysis.analyzer == "word":
            indptr, symbols, words = tokenize(
                *encode_bytes(names), make_name_alphabet(), empty_words()
            )
            self._words, n_symbols = words, int(words.size[0])
            self._is_stopped = np.zeros(1, np.bool_)
            if analysis.stop_words:
                stop_words = _index_stop_words(analysis.stop_words)
                ids, self._words = absorb(words, stop_words, make_name_alphabet())
                self._is_stopped = np.zeros(int(self._words.size[0]) + 1, np.bool_)
                self._is_stopped[ids] = True  # the last is of -1
        else:
            indptr = np.cumsum([0, *map(len, names)])
            symbols, n_symbols = encode_codes("".join(names)), N_CODES
        longest = int(np.diff(indptr).max(initial=1))
        min_n, max_n = analysis.ngram_range
        self._lengths = min_n, max(min_n, min(max_n, longest))  # to look for longer ones takes time
        ids, self._ngrams = index_ngrams(indptr, symbols, empty_ngrams(n_symbols))
        self._columns = np.full(int(self._ngrams.size[0]), -1, np.int32)
        self._columns[ids] = np.arange(len(names))

    def find(self, documents: Sequence[str]) -> TokenRows:
        """Return rows of the numbers of known terms, in order of first occurrence."""
        analysis = self._analysis
        if callable(analysis.analyzer):
            found = [Counter(list_custom(analysis, document)) for document in documents]
            return _number_terms(found, self._numbers.get)
        if analysis.parts:
            words, characters = (part.find(documents) for part in self._parts)
            rows = join_rows(words, characters, self._places[0].size)
            return rows._replace(tokens=np.concatenate(self._places)[rows.tokens])
        if analysis.is_plain:
            return TokenRows(*find_known(*encode_texts(analysis, documents), self._words))
        if analysis.analyzer == "char_wb":
            return self._find_bounded(documents)
        if analysis.analyzer == "char":
            indptr, symbols = _encode_characters(analysis, documents)
        else:
            indptr, symbols = find_tokens(*encode_texts(analysis, documents), self._words)
            if analysis.stop_words:
                indptr, symbols = _leave_out(indptr, symbols, self._is_stopped)
        return self._find_ngrams(indptr, symbols, keeps_short=False)

    def _find_bounded(self, documents: Sequence[str]) -> TokenRows:
        rows, words = scan_words(self._analysis, documents)
        of_words = self._find_ngrams(*pad_words(words), keeps_short=True)
        return TokenRows(*expand_rows(*rows, *of_words, self._columns.size))

    def _find_ngrams(self, indptr: Any, symbols: Any, *, keeps_short: bool) -> TokenRows:
        return TokenRows(
            *find_ngrams(indptr, symbols, *self._lengths, keeps_short, self._ngrams, self._columns)
        )


@lru_cache(maxsize=4)
def _index_stop_words(stop_words: frozenset[str]) -> Words:
    return index_words([word for word in sorted(stop_words) if word.split() == [word]])


def list_custom(analysis: Analysis, document: str) -> list[str]:
    """Return the terms of a document by the analyzer of the user."""
    terms = analysis.list_terms(document)
    for term in terms:
        if not isinstance(term, str):
            raise ValueError(
                f"analyzer must return strings. Got {type(term).__name__} among them instead."
            )
    return terms


def _number_terms(counted: Iterable[Counter[str]], find: Any) -> TokenRows:
    """Return rows of terms by number; terms without a number are left out."""
    indptr, numbers, counts = [0], [], []
    for row in counted:
        for term, count in row.items():
            if (number := find(term)) is not None:
                numbers.append(number)
                counts.append(count)
        indptr.append(len(numbers))
    return TokenRows(
        np.array(indptr, np.int64), np.array(numbers, np.int32), np.array(counts, np.int32)
    )


def _encode_characters(
    analysis: Analysis, documents: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the code points of cleaned texts, and where each text begins."""
    texts = [join_spaces(analysis.clean(document)) for document in documents]
    indptr = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=indptr[1:])
    return indptr, encode_codes("".join(texts))


def _leave_out(
    indptr: NDArray[np.int64], tokens: NDArray[np.int32], is_left_out: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the rows without some of the tokens."""
    is_kept = ~is_left_out[tokens]
    n_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_kept)])
    return n_before[indptr], tokens[is_kept]


def _round_up(n: int) -> int:
    """Return the next power of two, at least 4096: the capacity of a trie to begin with."""
    return 1 << max(12, (n - 1).bit_length())
