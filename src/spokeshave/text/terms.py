"""Terms of many texts by the kernels: collected to learn a vocabulary, or found in one.

A collector scans chunks of texts, in threads if asked to, and merges what is found in the order of
the texts, so that results do not depend on the number of threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.ngrams import (
    Ngrams,
    absorb_ngrams,
    count_ngrams,
    empty_ngrams,
    expand_rows,
    find_ngrams,
    index_ngrams,
    spell_ngrams,
)
from spokeshave.kernels.tokens import (
    Alphabet,
    Words,
    absorb,
    empty_words,
    find_known,
    find_tokens,
    join_phrases,
    look_up,
    scan,
    tokenize,
)
from spokeshave.text.alphabet import (
    N_CODES,
    decode_codes,
    decode_words,
    encode_bytes,
    encode_codes,
    encode_documents,
    make_alphabet,
    make_name_alphabet,
    make_space_alphabet,
    pad_words,
)
from spokeshave.text.analyzers import Analysis, join_spaces


class TokenRows(NamedTuple):
    """The distinct tokens of some documents, in CSR form, with their counts."""

    indptr: NDArray[np.int64]
    tokens: NDArray[np.int32]
    counts: NDArray[np.int32]


Chunks = list[tuple[TokenRows, NDArray[np.int32]]]
Map = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], list[Any]]


class Terms(Protocol):
    """A collector of terms."""

    def scan(self, documents: list[str]) -> Any:
        """Return what one chunk of documents has; called in threads."""

    def absorb(self, scanned: Any) -> None:
        """Add the result of a scan."""

    def finish(self, starmap: Map) -> Chunks:
        """Return rows of terms by chunk, with the id of each term of a chunk.

        ``starmap(function, arguments)`` returns the results of calls, made in threads.
        """

    def __len__(self) -> int: ...

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        """Return ids of terms in alphabetical order, and the terms."""


def make_collector(analysis: Analysis) -> Terms:
    """Return an empty collector of the terms of an analysis."""
    if callable(analysis.analyzer):
        return _CustomTerms(analysis)
    if analysis.is_plain:
        return _WordTerms(analysis)
    if analysis.analyzer == "word":
        return _WordNgrams(analysis)
    return (_CharacterNgrams if analysis.analyzer == "char" else _BoundedNgrams)(analysis)


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


class _WordTerms:
    """Words."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis, self._words = analysis, empty_words()
        self._chunks: Chunks = []
        self._alphabet = pick_alphabet(analysis)

    def __len__(self) -> int:
        return int(self._words.size[0])

    def scan(self, documents: list[str]) -> tuple[TokenRows, Words]:
        return scan_words(self._analysis, documents)

    def absorb(self, scanned: tuple[TokenRows, Words]) -> None:
        rows, words = scanned
        ids, self._words = absorb(self._words, words, self._alphabet)
        self._chunks.append((rows, ids))

    def finish(self, starmap: Map) -> Chunks:
        return self._chunks

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        return _sort_names(ids, decode_words(self._words, ids))


class _WordNgrams:
    """N-grams of words, without stop words."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._words, self._ngrams = empty_words(), empty_ngrams(0)
        self._chunks: Chunks = []
        self._alphabet = pick_alphabet(analysis)
        self._stop_words = _index_stop_words(analysis)

    def __len__(self) -> int:
        return int(self._ngrams.size[0])

    def scan(self, documents: list[str]) -> tuple[TokenRows, Words, Ngrams]:
        indptr, tokens, words = tokenize(*encode_texts(self._analysis, documents), empty_words())
        if self._analysis.stop_words:
            is_stopped = look_up(self._stop_words, words, make_name_alphabet()) >= 0
            indptr, tokens = _leave_out(indptr, tokens, is_stopped)
        empty = empty_ngrams(int(words.size[0]), _round_up(tokens.size // 2))
        *rows, ngrams = count_ngrams(indptr, tokens, *self._analysis.ngram_range, False, empty)
        return TokenRows(*rows), words, ngrams

    def absorb(self, scanned: tuple[TokenRows, Words, Ngrams]) -> None:
        rows, words, ngrams = scanned
        word_ids, self._words = absorb(self._words, words, self._alphabet)
        ids, self._ngrams = absorb_ngrams(self._ngrams, ngrams, word_ids, self._words.size[0])
        self._chunks.append((rows, ids))

    def finish(self, starmap: Map) -> Chunks:
        return self._chunks

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        # A space is less than every letter of a word, so n-grams are in the order of their words.
        phrases = spell_ngrams(self._ngrams, ids)
        is_used = np.zeros(int(self._words.size[0]) + 1, np.bool_)  # the last is of -1
        is_used[phrases] = True
        used = np.flatnonzero(is_used[:-1])
        by_name, _ = _sort_names(used, decode_words(self._words, used))
        rank = np.zeros(is_used.size, np.int64)
        rank[by_name] = np.arange(1, by_name.size + 1)
        order = _sort_rows(rank[phrases], by_name.size + 1)
        joined: bytes = join_phrases(self._words, phrases[order]).tobytes()
        return ids[order], joined.decode("utf-8").split("\n")[:-1]


class _CharacterNgrams:
    """N-grams of the characters of whole texts."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis, self._ngrams = analysis, empty_ngrams(N_CODES)
        self._same = np.arange(N_CODES, dtype=np.int32)
        self._chunks: Chunks = []

    def __len__(self) -> int:
        return int(self._ngrams.size[0])

    def scan(self, documents: list[str]) -> tuple[TokenRows, Ngrams]:
        sequences = _encode_characters(self._analysis, documents)
        empty = empty_ngrams(N_CODES, 1 << 16)
        *rows, ngrams = count_ngrams(*sequences, *self._analysis.ngram_range, False, empty)
        return TokenRows(*rows), ngrams

    def absorb(self, scanned: tuple[TokenRows, Ngrams]) -> None:
        rows, ngrams = scanned
        ids, self._ngrams = absorb_ngrams(self._ngrams, ngrams, self._same, N_CODES)
        self._chunks.append((rows, ids))

    def finish(self, starmap: Map) -> Chunks:
        return self._chunks

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        return _sort_characters(self._ngrams, ids)


class _BoundedNgrams(_WordTerms):
    """N-grams of the characters of words, made once for each distinct word."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._ngrams = empty_ngrams(N_CODES)

    def __len__(self) -> int:
        return int(self._ngrams.size[0])

    def finish(self, starmap: Map) -> Chunks:
        *of_words, self._ngrams = count_ngrams(
            *pad_words(self._words), *self._analysis.ngram_range, True, self._ngrams
        )
        n_grams = len(self)
        every = np.arange(n_grams, dtype=np.int32)
        expanded = starmap(
            expand_rows,
            (
                (rows.indptr, ids[rows.tokens], rows.counts, *of_words, n_grams)
                for rows, ids in self._chunks
            ),
        )
        return [(TokenRows(*rows), every) for rows in expanded]

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        return _sort_characters(self._ngrams, ids)


class _CustomTerms:
    """The terms of a function of the user's, which holds the interpreter lock anyway."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._ids: dict[str, int] = {}
        self._chunks: Chunks = []

    def __len__(self) -> int:
        return len(self._ids)

    def scan(self, documents: list[str]) -> list[Counter[str]]:
        return [Counter(list_custom(self._analysis, document)) for document in documents]

    def absorb(self, scanned: list[Counter[str]]) -> None:
        rows = _number_terms(scanned, lambda term: self._ids.setdefault(term, len(self._ids)))
        self._chunks.append((rows, np.arange(len(self._ids), dtype=np.int32)))

    def finish(self, starmap: Map) -> Chunks:
        return self._chunks

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        names = list(self._ids)
        return _sort_names(ids, [names[i] for i in ids])


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
        if analysis.is_plain:
            self._words = index_names(names)
            return
        if analysis.analyzer == "word":
            indptr, symbols, words = tokenize(
                *encode_bytes(names), make_name_alphabet(), empty_words()
            )
            self._words, n_symbols = words, int(words.size[0])
            self._is_stopped = np.zeros(1, np.bool_)
            if analysis.stop_words:
                stop_words = _index_stop_words(analysis)
                ids, self._words = absorb(words, stop_words, make_name_alphabet())
                self._is_stopped = np.zeros(int(self._words.size[0]) + 1, np.bool_)
                self._is_stopped[ids] = True  # the last is of -1
        else:
            indptr = np.cumsum([0, *map(len, names)])
            symbols, n_symbols = encode_codes("".join(names)), N_CODES
        ids, self._ngrams = index_ngrams(indptr, symbols, empty_ngrams(n_symbols))
        self._columns = np.full(int(self._ngrams.size[0]), -1, np.int32)
        self._columns[ids] = np.arange(len(names))

    def find(self, documents: Sequence[str]) -> TokenRows:
        """Return rows of the numbers of known terms, in order of first occurrence."""
        analysis = self._analysis
        if callable(analysis.analyzer):
            found = [Counter(list_custom(analysis, document)) for document in documents]
            return _number_terms(found, self._numbers.get)
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
        limits = self._analysis.ngram_range
        return TokenRows(
            *find_ngrams(indptr, symbols, *limits, keeps_short, self._ngrams, self._columns)
        )


def index_names(names: Sequence[str]) -> Words:
    """Return a vocabulary of distinct names, numbered in the given order."""
    text, ends = encode_bytes([f"{name} " for name in names])
    words: Words = tokenize(text, ends[-1:], make_name_alphabet(), empty_words())[-1]
    return words


def _index_stop_words(analysis: Analysis) -> Words:
    return index_names([word for word in sorted(analysis.stop_words) if word.split() == [word]])


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


def _sort_rows(numbers: NDArray[np.int64], n_numbers: int) -> NDArray[np.intp]:
    """Return the order of distinct rows of numbers from 0 up to, but without, ``n_numbers``."""
    per_key = 63 // n_numbers.bit_length()  # columns in one key: one sort instead of several
    keys = []
    for first in range(0, numbers.shape[1], per_key):
        key = np.zeros(len(numbers), np.int64)
        for column in numbers.T[first : first + per_key]:
            key = key * n_numbers + column
        keys.append(key)
    return np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])


def _round_up(n: int) -> int:
    """Return the next power of two, at least 4096: the capacity of a trie to begin with."""
    return 1 << max(12, (n - 1).bit_length())


def _sort_names(ids: NDArray[np.int64], names: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    order = sorted(range(len(names)), key=names.__getitem__)
    return ids[order], [names[i] for i in order]


def _sort_characters(ngrams: Ngrams, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
    codes = spell_ngrams(ngrams, ids)
    order = _sort_rows(codes.astype(np.int64) + 1, N_CODES + 1)
    codes = codes[order]
    is_character = codes >= 0
    text = decode_codes(codes[is_character])
    ends = np.cumsum(is_character.sum(axis=1)).tolist()
    return ids[order], [text[i:j] for i, j in zip([0, *ends], ends, strict=False)]
