"""Sequences of symbols to n-grams.

A symbol is the id of a word or a code point. An n-gram is the pair of the n-gram without its last
symbol and that symbol, so n-grams form a trie. The trie is an exact hash table of pairs with linear
probing; single symbols are found by an array instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled

_EMPTY = np.int32(-1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF, _ONE = np.uint64(32), np.uint64(1)


class Ngrams(NamedTuple):
    """A trie: n-gram g is n-gram ``prefixes[g]``, or nothing if that is -1, and ``symbols[g]``.

    ``singles`` has the n-gram of each symbol alone, or -1. ``slots`` is the hash table of longer
    n-grams, each slot an n-gram or -1, and ``keys`` the pair in each slot. Arrays may have spare
    capacity: ``size`` holds the number of n-grams.
    """

    singles: NDArray[np.int32]
    prefixes: NDArray[np.int32]
    symbols: NDArray[np.int32]
    keys: NDArray[np.uint64]
    slots: NDArray[np.int32]
    size: NDArray[np.int64]


def empty_ngrams(n_symbols: int, capacity: int = 1 << 12) -> Ngrams:
    """Return a trie without n-grams for this many symbols; capacity is a power of two."""
    return Ngrams(
        np.full(n_symbols, _EMPTY),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(2 * capacity, np.uint64),
        np.full(2 * capacity, _EMPTY),
        np.zeros(1, np.int64),
    )


# Loops unpack tuples of arrays first: otherwise numba counts references to every array of the tuple
# in each iteration.


@compiled
def count_ngrams(indptr, sequence, min_n, max_n, keeps_short, ngrams):
    """Return the distinct n-grams of each sequence with their counts, and the trie.

    Sequence i is ``sequence[indptr[i] : indptr[i + 1]]``; its n-grams have min_n to max_n symbols.
    If ``keeps_short``, a sequence of fewer than min_n symbols is an n-gram as a whole.

    Returns ``indptr, grams, counts, ngrams``: rows of n-grams in order of first occurrence, by
    position and then by length. ``ngrams`` is changed in place until it has to grow, so use the
    trie that is returned.
    """
    rows = np.zeros(indptr.size, np.int64)
    grams = np.empty(sequence.size + 64, np.int32)
    counts = np.empty(sequence.size + 64, np.int32)
    place = np.full(ngrams.prefixes.size, -1, np.int64)  # the last position in ``grams`` of each
    for i in range(indptr.size - 1):
        row, filled, start, end = rows[i], rows[i], indptr[i], indptr[i + 1]
        shortest = min(min_n, end - start) if keeps_short else min_n
        while start <= end - shortest:
            most = min(max_n, end - start)  # of the n-grams that begin at one position
            ngrams = _reserve(ngrams, most)
            if place.size < ngrams.prefixes.size:
                n_more = ngrams.prefixes.size - place.size
                place = np.append(place, np.full(n_more, -1, np.int64))
            if filled + most > grams.size:
                grams = np.append(grams, np.empty(grams.size + most, np.int32))
                counts = np.append(counts, np.empty(counts.size + most, np.int32))
            start, filled = _count_row(
                sequence, start, end, shortest, max_n, ngrams, grams, counts, place, row, filled
            )
        rows[i + 1] = filled
    return rows, grams[: rows[-1]].copy(), counts[: rows[-1]].copy(), ngrams


@compiled
def find_ngrams(indptr, sequence, min_n, max_n, keeps_short, ngrams, numbers):
    """Return the distinct known n-grams of each sequence with their counts.

    An n-gram is known if its entry in ``numbers`` is not -1; entries are distinct. Symbols of no
    n-gram may be -1. Returns ``indptr, numbers, counts`` in the order of `count_ngrams`.
    """
    rows = np.zeros(indptr.size, np.int64)
    found = np.empty(sequence.size + 64, np.int32)
    counts = np.empty(sequence.size + 64, np.int32)
    place = np.full(ngrams.prefixes.size, -1, np.int64)
    for i in range(indptr.size - 1):
        row, filled, start, end = rows[i], rows[i], indptr[i], indptr[i + 1]
        shortest = min(min_n, end - start) if keeps_short else min_n
        while start <= end - shortest:
            most = min(max_n, end - start)
            if filled + most > found.size:
                found = np.append(found, np.empty(found.size + most, np.int32))
                counts = np.append(counts, np.empty(counts.size + most, np.int32))
            tally = found, counts, place, row, filled
            start, filled = _find_row(sequence, start, end, shortest, max_n, ngrams, numbers, tally)
        rows[i + 1] = filled
    return rows, found[: rows[-1]].copy(), counts[: rows[-1]].copy()


@compiled
def index_ngrams(indptr, sequence, ngrams):
    """Return the n-gram that each whole sequence is, adding it, and the trie; see `count_ngrams`.

    No sequence may be empty.
    """
    singles, prefixes, symbols, keys, slots, size = ngrams = _reserve(ngrams, sequence.size)
    ids = np.empty(indptr.size - 1, np.int32)
    for i in range(ids.size):
        gram = _EMPTY
        for p in range(indptr[i], indptr[i + 1]):
            gram = _intern(gram, sequence[p], singles, prefixes, symbols, keys, slots, size)
        ids[i] = gram
    return ids, ngrams


@compiled
def absorb_ngrams(ngrams, other, symbol_ids, n_symbols):
    """Add the n-grams of ``other`` to ``ngrams``; return their ids in it, and the trie.

    ``symbol_ids`` are the symbols of ``other`` in ``ngrams``, which has ``n_symbols`` of them.
    ``ngrams`` is changed in place until it has to grow, so use the trie that is returned.
    """
    n = other.size[0]
    ngrams = _add_symbols(_reserve(ngrams, n), n_symbols)
    singles, prefixes, symbols, keys, slots, size = ngrams
    other_prefixes, other_symbols = other.prefixes, other.symbols
    ids = np.empty(n, np.int32)
    for g in range(n):  # a prefix comes before the n-grams that begin with it
        prefix, symbol = other_prefixes[g], symbol_ids[other_symbols[g]]
        if prefix >= 0:
            prefix = ids[prefix]
        ids[g] = _intern(prefix, symbol, singles, prefixes, symbols, keys, slots, size)
    return ids, ngrams


@compiled
def spell_ngrams(ngrams, ids):
    """Return the symbols of each n-gram in a row as long as the longest, -1 after the last."""
    prefixes, symbols = ngrams.prefixes, ngrams.symbols
    lengths = np.zeros(ids.size, np.int64)
    longest = 1
    for i in range(ids.size):
        gram = ids[i]
        while gram >= 0:
            lengths[i] += 1
            gram = prefixes[gram]
        longest = max(longest, lengths[i])
    spelt = np.full((ids.size, longest), _EMPTY)
    for i in range(ids.size):
        n, gram = lengths[i], ids[i]
        while gram >= 0:
            n -= 1
            spelt[i, n] = symbols[gram]
            gram = prefixes[gram]
    return spelt


@compiled
def expand_rows(indptr, tokens, counts, token_indptr, token_grams, token_counts, n_grams):
    """Return the distinct n-grams of each row of tokens, each of which has n-grams of its own.

    Rows are ``indptr, tokens, counts``, and the n-grams of a token a row of ``token_indptr,
    token_grams, token_counts``. Returns ``indptr, grams, counts``. A token may be -1: it has none.
    """
    rows = np.zeros(indptr.size, np.int64)
    most = 0
    for token in tokens:
        if token >= 0:
            most += token_indptr[token + 1] - token_indptr[token]
    grams = np.empty(most, np.int32)
    gram_counts = np.empty(most, np.int32)
    place = np.full(n_grams, -1, np.int64)
    filled = 0
    for i in range(indptr.size - 1):
        row = filled
        for p in range(indptr[i], indptr[i + 1]):
            token = tokens[p]
            if token < 0:
                continue
            for q in range(token_indptr[token], token_indptr[token + 1]):
                gram, count = token_grams[q], counts[p] * token_counts[q]
                if place[gram] >= row:
                    gram_counts[place[gram]] += count
                else:
                    place[gram] = filled
                    grams[filled] = gram
                    gram_counts[filled] = count
                    filled += 1
        rows[i + 1] = filled
    return rows, grams[:filled].copy(), gram_counts[:filled].copy()


@compiled
def _count_row(sequence, start, end, shortest, max_n, ngrams, grams, counts, place, row, filled):
    """Count n-grams of a sequence until it ends or an array is full.

    Returns the position to go on from, and the end of the row in ``grams``.
    """
    singles, prefixes, symbols, keys, slots, size = ngrams
    while start <= end - shortest:
        longest = min(max_n, end - start)
        if size[0] + longest > prefixes.size or filled + longest > grams.size:
            break
        gram = _EMPTY
        for n in range(1, longest + 1):
            symbol = sequence[start + n - 1]
            gram = _intern(gram, symbol, singles, prefixes, symbols, keys, slots, size)
            if n >= shortest:
                filled = _tally(gram, grams, counts, place, row, filled)
        start += 1
    return start, filled


@compiled
def _find_row(sequence, start, end, shortest, max_n, ngrams, numbers, tally):
    """Count known n-grams as `_count_row` does."""
    singles, _, _, keys, slots, _ = ngrams
    found, counts, place, row, filled = tally
    while start <= end - shortest:
        longest = min(max_n, end - start)
        if filled + longest > found.size:
            break
        gram = _EMPTY
        for n in range(1, longest + 1):
            symbol = sequence[start + n - 1]
            if symbol < 0 or symbol >= singles.size:
                break
            gram = singles[symbol] if n == 1 else slots[_find(gram, symbol, keys, slots)]
            if gram == _EMPTY:
                break
            if n >= shortest and numbers[gram] >= 0:
                filled = _tally(numbers[gram], found, counts, place, row, filled)
        start += 1
    return start, filled


@compiled
def _tally(gram, grams, counts, place, row, filled):
    """Count an n-gram in the row that begins at ``row``; return the end of the row."""
    if place[gram] >= row:
        counts[place[gram]] += 1
        return filled
    place[gram] = filled
    grams[filled] = gram
    counts[filled] = 1
    return filled + 1


@compiled
def _intern(prefix, symbol, singles, prefixes, symbols, keys, slots, size):
    """Return the n-gram of a prefix and a symbol, adding it; there must be capacity."""
    if prefix < 0:
        if singles[symbol] != _EMPTY:
            return singles[symbol]
        singles[symbol] = size[0]
    else:
        slot = _find(prefix, symbol, keys, slots)
        if slots[slot] != _EMPTY:
            return slots[slot]
        keys[slot] = _make_key(prefix, symbol)
        slots[slot] = size[0]
    gram = np.int32(size[0])
    prefixes[gram], symbols[gram] = prefix, symbol
    size[0] += 1
    return gram


@compiled
def _find(prefix, symbol, keys, slots):
    """Return the slot of an n-gram, or the empty slot to put it in."""
    key, mask = _make_key(prefix, symbol), np.uint64(slots.size - 1)
    slot = _first_slot(key, mask)
    while slots[slot] != _EMPTY and keys[slot] != key:
        slot = (slot + _ONE) & mask
    return slot


@compiled
def _make_key(prefix, symbol):
    return np.uint64(prefix) << _HALF | np.uint64(symbol)


@compiled
def _first_slot(key, mask):
    return (key ^ key >> _HALF) * _GOLDEN >> _HALF & mask


@compiled
def _reserve(ngrams, n_more):
    """Return the trie with capacity for so many more n-grams."""
    singles, prefixes, symbols, old_keys, old_slots, size = ngrams
    capacity = prefixes.size
    while capacity < size[0] + n_more:
        capacity *= 2
    if capacity == prefixes.size:
        return ngrams
    spare = np.empty(capacity - prefixes.size, np.int32)
    keys = np.empty(2 * capacity, np.uint64)
    slots = np.full(2 * capacity, _EMPTY)
    mask = np.uint64(slots.size - 1)
    for old in range(old_slots.size):
        if old_slots[old] != _EMPTY:
            slot = _first_slot(old_keys[old], mask)
            while slots[slot] != _EMPTY:
                slot = (slot + _ONE) & mask
            keys[slot], slots[slot] = old_keys[old], old_slots[old]
    return Ngrams(singles, np.append(prefixes, spare), np.append(symbols, spare), keys, slots, size)


@compiled
def _add_symbols(ngrams, n_symbols):
    """Return the trie for at least so many symbols."""
    singles, prefixes, symbols, keys, slots, size = ngrams
    if n_symbols > singles.size:
        singles = np.append(singles, np.full(n_symbols - singles.size, _EMPTY))
    return Ngrams(singles, prefixes, symbols, keys, slots, size)
