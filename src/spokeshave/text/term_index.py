"""Terms by number: words, n-grams of words or characters, or the terms of a function.

An index numbers terms in order of appearance, and can forget some of them. Texts in memory are
counted with one, and so are texts that are read in batches, or in parts by many workers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.ngrams import (
    Ngrams,
    absorb_ngrams,
    empty_ngrams,
    hash_ngrams,
    mark_beginnings,
    spell_ngrams,
)
from spokeshave.kernels.tokens import Words, absorb, empty_words, join_phrases, join_tokens, scan
from spokeshave.text.alphabet import N_CODES, decode_codes, decode_words, make_name_alphabet
from spokeshave.text.analyzers import MARK, Analysis

FEWEST = 1 << 12  # capacity of the smallest table
GROWTH = 1.5  # a table that grows is there twice, once with half the capacity
WORD_SLOTS = 8 + 4 * (8 + 4)  # bytes of a word: where it ends, and four slots
NGRAM_SLOTS = 4 + 4 + 4 * 8  # bytes of an n-gram: beginning, last symbol, and two slots
PLACE = 1 + 4 + 4  # bytes of a term of a joint index: its part, its number there, and back
NAME = 49 + 32 + 100  # bytes of a string without its letters, of a number, and of a dict's entry


class TermTable(NamedTuple):
    """Terms by number.

    Words alone; n-grams, whose symbols are the words or, without words, code points; names; or the
    terms of several tables, numbered one table after the other.
    """

    words: Words | None = None
    ngrams: Ngrams | None = None
    names: list[str] | None = None
    parts: tuple[TermTable, ...] = ()


class TermIndex(Protocol):
    """Terms numbered in order of appearance, which can be forgotten."""

    def __len__(self) -> int: ...

    @property
    def n_bytes(self) -> int:
        """Bytes that the index takes, and half as much again for growth.

        Depends on the terms alone, not on their order: tables grow by doubling.
        """

    def absorb(self, table: TermTable) -> NDArray[np.int32]:
        """Return the numbers of all terms of a table, adding the new ones."""

    def number(self, table: TermTable, tokens: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers of some terms of a table, adding the new ones."""

    def forget(self, is_used: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Forget the unused terms; return the new number of each term, -1 if it has none."""

    def close(self) -> None:
        """Free what only new terms need."""

    def decode(self, ids: NDArray[Any]) -> list[str]:
        """Return the terms of some numbers."""

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        """Return ids of terms in alphabetical order, and the terms."""

    def save(self, path: Path) -> None:
        """Write the terms to a file, in the order of their numbers."""

    def load(self, path: Path) -> None:
        """Read the terms of a saved index into an empty one."""


def make_index(analysis: Analysis) -> TermIndex:
    """Return an empty index of the terms of an analysis."""
    if callable(analysis.analyzer):
        return NameIndex()
    if analysis.parts:
        return JointIndex([make_index(part) for part in analysis.parts])
    if analysis.is_plain:
        return WordIndex()
    return NgramIndex(WordIndex() if analysis.analyzer == "word" else None)


def hash_terms(table: TermTable) -> NDArray[np.uint64]:
    """Return a hash of each term, the same in every table."""
    if table.parts:
        return np.concatenate([hash_terms(part) for part in table.parts])
    if table.names is not None:
        hashes = [blake2b(_encode(name), digest_size=8).digest() for name in table.names]
        return np.frombuffer(b"".join(hashes), "<u8")
    if table.words is None:
        of_symbols = np.arange(_count_codes(table), dtype=np.uint64)
    else:
        _, _, keys, slots, size = table.words
        of_symbols = np.empty(size[0], np.uint64)
        of_symbols[slots[slots >= 0]] = keys[slots >= 0]
    if table.ngrams is None:
        return of_symbols
    hashed: NDArray[np.uint64] = hash_ngrams(table.ngrams, of_symbols)
    return hashed


class WordIndex:
    """Words numbered in order of appearance.

    Examples
    --------
    >>> index = WordIndex()
    >>> index.number(TermTable(index_words(["oak", "ash", "yew"])), np.array([2, 0])).tolist()
    [0, 1]
    >>> index.decode(np.array([1, 0]))
    ['oak', 'yew']
    """

    def __init__(self) -> None:
        self.words = empty_words()

    def __len__(self) -> int:
        return int(self.words.size[0])

    @property
    def n_bytes(self) -> int:
        n_letters = int(self.words.ends[len(self)])
        return int(GROWTH * (2 * n_letters + _round_up(len(self)) * WORD_SLOTS))

    def absorb(self, table: TermTable) -> NDArray[np.int32]:
        ids, self.words = absorb(self.words, table.words, make_name_alphabet())
        return np.asarray(ids)

    def number(self, table: TermTable, tokens: NDArray[Any]) -> NDArray[np.int32]:
        return self.absorb(TermTable(_read_words(join_tokens(table.words, tokens))))

    def forget(self, is_used: NDArray[np.bool_]) -> NDArray[np.int32]:
        kept = np.flatnonzero(is_used)
        self.words = _read_words(join_tokens(self.words, kept))
        return _number(kept, is_used.size)

    def close(self) -> None:
        keys, slots = self.words.keys[:0], self.words.slots[:0]
        self.words = self.words._replace(keys=keys.copy(), slots=slots.copy())

    def decode(self, ids: NDArray[Any]) -> list[str]:
        return decode_words(self.words, ids)

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        return _sort_names(ids, self.decode(ids))

    def save(self, path: Path) -> None:
        path.write_bytes(join_tokens(self.words, np.arange(len(self))).tobytes())

    def load(self, path: Path) -> None:
        self.words = _read_words(np.fromfile(path, np.uint8))


class NgramIndex:
    """N-grams of words or of characters, numbered in order of appearance.

    What an n-gram begins with has a number as well, even if it is too short to be a term.

    Parameters
    ----------
    words : WordIndex, optional
        The words, in the order of the symbols of ``ngrams``; None for n-grams of characters.
    ngrams : Ngrams, optional
        N-grams to begin with.

    Examples
    --------
    >>> from spokeshave.text.terms import scan_terms
    >>> _, table = scan_terms(Analysis(ngram_range=(2, 2)), ["old oak tree"])
    >>> index = NgramIndex(WordIndex())
    >>> index.decode(index.absorb(table))
    ['old', 'oak', 'old oak', 'oak tree']
    """

    def __init__(self, words: WordIndex | None, ngrams: Ngrams | None = None) -> None:
        self._words = words
        self.ngrams = empty_ngrams(0) if ngrams is None else ngrams

    def __len__(self) -> int:
        return int(self.ngrams.size[0])

    @property
    def n_bytes(self) -> int:
        of_words = 0 if self._words is None else self._words.n_bytes
        of_ngrams = 4 * self.ngrams.singles.size + _round_up(len(self)) * NGRAM_SLOTS
        return of_words + int(GROWTH * of_ngrams)

    def absorb(self, table: TermTable) -> NDArray[np.int32]:
        if self._words is None:
            n_symbols = _count_codes(table)
            ids = np.arange(n_symbols, dtype=np.int32)
        else:
            ids = self._words.absorb(table)
            n_symbols = len(self._words)
        ids, self.ngrams = absorb_ngrams(self.ngrams, table.ngrams, ids, n_symbols)
        return np.asarray(ids)

    def number(self, table: TermTable, tokens: NDArray[Any]) -> NDArray[np.int32]:
        assert table.ngrams is not None
        is_taken = np.zeros(int(table.ngrams.size[0]), np.bool_)
        is_taken[tokens] = True
        taken, number = _take_ngrams(table, is_taken)
        return np.asarray(self.absorb(taken)[number[tokens]])

    def forget(self, is_used: NDArray[np.bool_]) -> NDArray[np.int32]:
        self.close()
        words = None if self._words is None else self._words.words
        kept, number = _take_ngrams(TermTable(words, self.ngrams), is_used.copy())
        self._reset()
        self.absorb(kept)
        return number

    def close(self) -> None:
        if self._words is not None:
            self._words.close()
        singles, table = self.ngrams.singles[:0], self.ngrams.table[:0]
        self.ngrams = self.ngrams._replace(singles=singles.copy(), table=table.copy())

    def decode(self, ids: NDArray[Any]) -> list[str]:
        spelt = spell_ngrams(self.ngrams, ids)
        return _write_characters(spelt) if self._words is None else self._join(spelt)

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        spelt = spell_ngrams(self.ngrams, ids)
        if self._words is None:
            order = _sort_rows(spelt.astype(np.int64) + 1, N_CODES + 1)
            return ids[order], _write_characters(spelt[order])
        # A space is less than every letter of a word, so n-grams are in the order of their words.
        is_used = np.zeros(len(self._words) + 1, np.bool_)  # the last is of -1
        is_used[spelt] = True
        by_name, _ = self._words.arrange(np.flatnonzero(is_used[:-1]))
        rank = np.zeros(is_used.size, np.int64)
        rank[by_name] = np.arange(1, by_name.size + 1)
        order = _sort_rows(rank[spelt], by_name.size + 1)
        return ids[order], self._join(spelt[order])

    def save(self, path: Path) -> None:
        n, letters = len(self), np.empty(0, np.uint8)
        if self._words is not None:
            letters = join_tokens(self._words.words, np.arange(len(self._words)))
        prefixes, symbols = self.ngrams.prefixes[:n], self.ngrams.symbols[:n]
        with path.open("wb") as file:
            np.savez(file, letters=letters, prefixes=prefixes, symbols=symbols)

    def load(self, path: Path) -> None:
        with np.load(path) as saved:
            letters, prefixes, symbols = (saved[k] for k in ("letters", "prefixes", "symbols"))
        self._reset()
        self.absorb(_make_table(_read_words(letters), prefixes, symbols))

    def _reset(self) -> None:
        self._words = None if self._words is None else WordIndex()
        self.ngrams = empty_ngrams(0)

    def _join(self, phrases: NDArray[np.int32]) -> list[str]:
        assert self._words is not None
        joined: bytes = join_phrases(self._words.words, phrases).tobytes()
        return joined.decode("utf-8").split("\n")[:-1]


class NameIndex:
    """Terms of any kind, as the analyzer of the user returns them."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._n_letters = 0  # in bytes

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def n_bytes(self) -> int:
        return int(GROWTH * (len(self) * NAME + self._n_letters))

    def absorb(self, table: TermTable) -> NDArray[np.int32]:
        return self.number(table, np.arange(len(table.names or ())))

    def number(self, table: TermTable, tokens: NDArray[Any]) -> NDArray[np.int32]:
        assert table.names is not None
        return np.array([self._add(table.names[token]) for token in tokens.tolist()], np.int32)

    def forget(self, is_used: NDArray[np.bool_]) -> NDArray[np.int32]:
        kept = np.flatnonzero(is_used)
        self._fill(self.decode(kept))
        return _number(kept, is_used.size)

    def close(self) -> None:
        """Do nothing: names are needed to the end."""

    def decode(self, ids: NDArray[Any]) -> list[str]:
        names = list(self._ids)
        return [names[i] for i in ids.tolist()]

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        return _sort_names(ids, self.decode(ids))

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(list(self._ids)))

    def load(self, path: Path) -> None:
        self._fill(json.loads(path.read_bytes()))

    def _fill(self, names: list[str]) -> None:
        self._ids, self._n_letters = {}, 0
        for name in names:
            self._add(name)

    def _add(self, name: str) -> int:
        n_known = len(self._ids)
        number = self._ids.setdefault(name, n_known)
        if len(self._ids) > n_known:
            self._n_letters += len(name) * (1 if name.isascii() else 4)
        return number


class JointIndex:
    """Words and characters beside them, each in an index of its own.

    Parameters
    ----------
    parts : sequence of TermIndex
        The index of words and that of characters. Terms that they have come first, in this order.
    """

    def __init__(self, parts: Sequence[TermIndex]) -> None:
        self._parts = parts
        self._part = np.zeros(0, np.uint8)  # of each term, and its number there
        self._place = np.zeros(0, np.int32)
        self._ids = [np.zeros(0, np.int32) for _ in parts]  # of each term of a part
        for k in range(len(parts)):
            self._take_in(k)

    def __len__(self) -> int:
        return self._part.size

    @property
    def n_bytes(self) -> int:
        return sum(part.n_bytes for part in self._parts) + int(GROWTH * PLACE * len(self))

    def absorb(self, table: TermTable) -> NDArray[np.int32]:
        found = []
        for k, (part, of_part) in enumerate(zip(self._parts, table.parts, strict=True)):
            places = part.absorb(of_part)
            self._take_in(k)
            found.append(self._ids[k][places])
        return np.concatenate(found)

    def number(self, table: TermTable, tokens: NDArray[Any]) -> NDArray[np.int32]:
        found = np.empty(tokens.size, np.int32)
        n_words = count_terms(table.parts[0])
        for k, is_here in enumerate((tokens < n_words, tokens >= n_words)):
            places = self._parts[k].number(table.parts[k], tokens[is_here] - k * n_words)
            self._take_in(k)
            found[is_here] = self._ids[k][places]
        return found

    def forget(self, is_used: NDArray[np.bool_]) -> NDArray[np.int32]:
        places = np.empty(len(self), np.int32)
        for part, ids in zip(self._parts, self._ids, strict=True):
            places[ids] = part.forget(is_used[ids])
        kept = np.flatnonzero(places >= 0)
        number = _number(kept, places.size)
        self._part, self._place = self._part[kept], places[kept]
        self._list_ids()
        return number

    def close(self) -> None:
        for part in self._parts:
            part.close()

    def decode(self, ids: NDArray[Any]) -> list[str]:
        names = np.empty(len(ids), object)
        for k, part in enumerate(self._parts):
            is_here = self._part[ids] == k
            names[is_here] = _mark(k, part.decode(self._place[ids[is_here]]))
        found: list[str] = names.tolist()
        return found

    def arrange(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        arranged, names = [], []
        for k in (1, 0):  # a mark is less than every letter of a word
            places = self._place[ids[self._part[ids] == k]].astype(np.int64)
            places, of_part = self._parts[k].arrange(places)
            arranged.append(self._ids[k][places].astype(np.int64))
            names += _mark(k, of_part)
        return np.concatenate(arranged), names

    def save(self, path: Path) -> None:
        for k, part in enumerate(self._parts):
            part.save(_name_part(path, k))
        with path.open("wb") as file:
            np.savez(file, part=self._part, place=self._place)

    def load(self, path: Path) -> None:
        for k, part in enumerate(self._parts):
            part.load(_name_part(path, k))
        with np.load(path) as saved:
            self._part, self._place = saved["part"], saved["place"]
        self._list_ids()

    def _take_in(self, k: int) -> None:
        """Number the new terms of a part."""
        n_known, n_terms = self._ids[k].size, len(self._parts[k])
        new = np.arange(n_known, n_terms, dtype=np.int32)
        self._ids[k] = np.concatenate([self._ids[k], new - n_known + np.int32(len(self))])
        self._part = np.concatenate([self._part, np.full(new.size, k, np.uint8)])
        self._place = np.concatenate([self._place, new])

    def _list_ids(self) -> None:
        """Find the terms of each part again."""
        for k, part in enumerate(self._parts):
            ids = np.flatnonzero(self._part == k)
            self._ids[k] = np.empty(len(part), np.int32)
            self._ids[k][self._place[ids]] = ids


def count_terms(table: TermTable) -> int:
    """Return the number of terms of a table."""
    if table.parts:
        return sum(map(count_terms, table.parts))
    if table.names is not None:
        return len(table.names)
    terms: Any = table.words if table.ngrams is None else table.ngrams
    return int(terms.size[0])


def _mark(k: int, names: list[str]) -> list[str]:
    """Return the names of terms of a part; those of characters have a mark."""
    return [MARK + name for name in names] if k else names


def _name_part(path: Path, k: int) -> Path:
    return path.with_name(f"{path.name}-{k}")


def index_words(names: Sequence[str]) -> Words:
    """Return a vocabulary of words, numbered in the given order."""
    return _read_words(np.frombuffer(_encode("".join(f"{name}\n" for name in names)), np.uint8))


def _read_words(letters: NDArray[np.uint8]) -> Words:
    """Return a vocabulary of the words of a buffer, of which each ends with a line feed."""
    letters = letters.view()
    letters.flags.writeable = False  # as texts are, so that one compiled kernel does for both
    ends = np.array([letters.size])
    words: Words = scan(letters, ends, make_name_alphabet(), empty_words())[-1]
    return words


def _take_ngrams(
    table: TermTable, is_taken: NDArray[np.bool_]
) -> tuple[TermTable, NDArray[np.int32]]:
    """Return some n-grams and what they begin with, and their numbers, -1 for all others.

    ``is_taken`` is changed. The result can be absorbed, but nothing can be found in it.
    """
    assert table.ngrams is not None
    mark_beginnings(table.ngrams, is_taken)
    taken = np.flatnonzero(is_taken)
    number = _number(taken, is_taken.size)
    prefixes, symbols = table.ngrams.prefixes[taken], table.ngrams.symbols[taken]
    prefixes = np.where(prefixes >= 0, number[prefixes], prefixes)
    if table.words is None:
        return _make_table(None, prefixes, symbols), number
    n_words = int(table.words.size[0])
    used = np.flatnonzero(np.bincount(symbols, minlength=n_words))
    words = _read_words(join_tokens(table.words, used))
    return _make_table(words, prefixes, _number(used, n_words)[symbols]), number


def _make_table(
    words: Words | None, prefixes: NDArray[np.int32], symbols: NDArray[np.int32]
) -> TermTable:
    """Return n-grams that can be absorbed."""
    nothing = empty_ngrams(0, 0)
    size = np.array([prefixes.size])
    return TermTable(words, nothing._replace(prefixes=prefixes, symbols=symbols, size=size))


def _count_codes(table: TermTable) -> int:
    """Return one more than the largest code point of n-grams of characters."""
    assert table.ngrams is not None
    return int(table.ngrams.symbols[: table.ngrams.size[0]].max(initial=-1)) + 1


def _number(kept: NDArray[np.intp], n: int) -> NDArray[np.int32]:
    number = np.full(n, -1, np.int32)
    number[kept] = np.arange(kept.size)
    return number


def _sort_names(ids: NDArray[np.int64], names: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    order = sorted(range(len(names)), key=names.__getitem__)
    return ids[order], [names[i] for i in order]


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


def _write_characters(codes: NDArray[np.int32]) -> list[str]:
    """Return the text of each row of code points, which ends at its first -1."""
    is_character = codes >= 0
    text = decode_codes(codes[is_character])
    ends = np.cumsum(is_character.sum(axis=1)).tolist()
    return [text[i:j] for i, j in zip([0, *ends], ends, strict=False)]


def _encode(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _round_up(n: int) -> int:
    return max(FEWEST, 1 << (n - 1).bit_length())
