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
_HALF, _ONE, _TWO = np.uint64(32), np.uint64(1), np.uint64(2)


class Ngrams(NamedTuple):
    """A trie: n-gram g is n-gram ``prefixes[g]``, or nothing if that is -1, and ``symbols[g]``.

    ``singles`` has the n-gram of each symbol alone, or -1. ``table`` is the hash table of longer
    n-grams: slot s has the pair in ``table[2 * s]`` and one more than the n-gram in the next item,
    or 0 if it is empty. Arrays may have spare capacity: ``size`` holds the number of n-grams.
    """

    singles: NDArray[np.int32]
    prefixes: NDArray[np.int32]
    symbols: NDArray[np.int32]
    table: NDArray[np.uint64]
    size: NDArray[np.int64]


def empty_ngrams(n_symbols: int, capacity: int = 1 << 12) -> Ngrams:
    """Return a trie without n-grams for this many symbols; capacity is a power of two."""
    return Ngrams(
        np.full(n_symbols, _EMPTY),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.zeros(4 * capacity, np.uint64),
        np.zeros(1, np.int64),
    )


# Loops unpack tuples of arrays first: otherwise numba counts references to every array of the tuple
# in each iteration. They go over blocks of positions, and first read every slot that a block will
# need: reads that do not wait for each other hide the latency of memory.
_BLOCK = 1024


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
    block = _empty_block(indptr, max_n)
    i = filled = np.int64(0)  # for a plain 0 numba compiles the kernels below once more
    for begin in range(0, indptr[-1], block.homes.size):
        most = _measure(indptr, i, begin, min_n, max_n, keeps_short, block)
        ngrams = _reserve(ngrams, most)
        if place.size < ngrams.prefixes.size:
            place = np.append(place, np.full(ngrams.prefixes.size - place.size, -1, np.int64))
        if filled + most > grams.size:
            grams = np.append(grams, np.empty(grams.size + most, np.int32))
            counts = np.append(counts, np.empty(counts.size + most, np.int32))
        _intern_block(sequence, begin, block, ngrams)
        i, filled = _tally_block(indptr, i, begin, block, grams, counts, place, rows, filled)
    rows[i + 1 :] = filled
    return rows, grams[:filled].copy(), counts[:filled].copy(), ngrams


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
    block = _empty_block(indptr, max_n)
    i = filled = np.int64(0)  # for a plain 0 numba compiles the kernels below once more
    for begin in range(0, indptr[-1], block.homes.size):
        _measure(indptr, i, begin, min_n, max_n, keeps_short, block)
        most = _find_block(sequence, begin, block, ngrams, numbers)
        if filled + most > found.size:
            found = np.append(found, np.empty(found.size + most, np.int32))
            counts = np.append(counts, np.empty(counts.size + most, np.int32))
        i, filled = _tally_block(indptr, i, begin, block, found, counts, place, rows, filled)
    rows[i + 1 :] = filled
    return rows, found[:filled].copy(), counts[:filled].copy()


@compiled
def extend_ngrams(indptr, sequence, grams, length, begin, end, n_symbols):
    """Return the n-gram of this length at each position of the sequences, and all of them.

    ``grams`` has the n-gram of one symbol less at each position, and those are numbered from
    ``begin`` up to ``end``. The longer ones are numbered from ``end`` on, by what they begin with.
    Returns ``grams, prefixes, symbols``; a position too near to the end of a sequence has -1.

    Positions are grouped by what the n-gram begins with. A group has few distinct symbols, so an
    array of all symbols numbers them, and no hash table is needed.
    """
    starts = np.zeros(end - begin + 1, np.int64)
    for i in range(indptr.size - 1):
        for p in range(indptr[i], indptr[i + 1] - length + 1):
            starts[grams[p] - begin + 1] += 1
    starts = np.cumsum(starts)
    order = np.empty(starts[-1], np.int64)
    last = np.empty(order.size, np.int32)
    place = starts[:-1].copy()
    for i in range(indptr.size - 1):
        for p in range(indptr[i], indptr[i + 1] - length + 1):
            at = place[grams[p] - begin]
            place[grams[p] - begin] = at + 1
            order[at], last[at] = p, sequence[p + length - 1]
    longer = np.full(sequence.size, _EMPTY)
    number = np.full(n_symbols, _EMPTY)
    prefixes, symbols = np.empty(order.size, np.int32), np.empty(order.size, np.int32)
    size = np.int64(0)
    for group in range(end - begin):
        first = size
        for q in range(starts[group], starts[group + 1]):
            symbol = last[q]
            if number[symbol] < first:
                number[symbol] = size
                prefixes[size], symbols[size] = begin + group, symbol
                size += 1
            longer[order[q]] = end + number[symbol]
    return longer, prefixes[:size].copy(), symbols[:size].copy()


@compiled
def tally_ngrams(indptr, grams, n_ngrams):
    """Return the distinct n-grams of each sequence with their counts.

    A row of ``grams`` has the n-grams of a length, one for each position or -1. Returns ``indptr,
    grams, counts``: rows of n-grams in order of their length and then of first occurrence.
    """
    rows = np.zeros(indptr.size, np.int64)
    found = np.empty(grams.shape[0] * (indptr[-1] - indptr[0]), np.int32)
    counts = np.empty(found.size, np.int32)
    place = np.full(n_ngrams, -1, np.int64)
    filled = np.int64(0)
    for i in range(indptr.size - 1):
        for length in range(grams.shape[0]):
            for p in range(indptr[i], indptr[i + 1]):
                if grams[length, p] >= 0:
                    filled = _tally(grams[length, p], found, counts, place, rows[i], filled)
        rows[i + 1] = filled
    return rows, found[:filled].copy(), counts[:filled].copy()


@compiled
def index_ngrams(indptr, sequence, ngrams):
    """Return the n-gram that each whole sequence is, adding it, and the trie; see `count_ngrams`.

    No sequence may be empty.
    """
    ids = np.empty(indptr.size - 1, np.int32)
    for begin in range(0, ids.size, _BLOCK):  # most beginnings are there already: few are new
        end = min(begin + _BLOCK, ids.size)
        ngrams = _reserve(ngrams, indptr[end] - indptr[begin])
        singles, prefixes, symbols, table, size = ngrams
        for i in range(begin, end):
            gram = _EMPTY
            for p in range(indptr[i], indptr[i + 1]):
                gram = _intern(gram, sequence[p], singles, prefixes, symbols, table, size)
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
    singles, prefixes, symbols, table, size = ngrams
    other_prefixes, other_symbols = other.prefixes, other.symbols
    ids = np.empty(n, np.int32)
    seen = np.zeros(1, np.uint64)
    for begin in range(0, n, _BLOCK):
        end = min(begin + _BLOCK, n)
        for g in range(begin, end):
            prefix = other_prefixes[g]
            if 0 <= prefix < begin:
                slot = _first_slot(_make_key(ids[prefix], symbol_ids[other_symbols[g]]), table)
                seen[0] += table[slot]
        for g in range(begin, end):  # a prefix comes before the n-grams that begin with it
            prefix, symbol = other_prefixes[g], symbol_ids[other_symbols[g]]
            if prefix >= 0:
                prefix = ids[prefix]
            ids[g] = _intern(prefix, symbol, singles, prefixes, symbols, table, size)
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
def mark_beginnings(ngrams, is_marked):
    """Mark what every marked n-gram begins with, in place."""
    prefixes = ngrams.prefixes
    for g in range(is_marked.size - 1, -1, -1):  # a prefix comes before the n-grams it begins
        if is_marked[g] and prefixes[g] >= 0:
            is_marked[prefixes[g]] = True


@compiled
def hash_ngrams(ngrams, symbol_hashes):
    """Return a hash of each n-gram, given those of the symbols."""
    prefixes, symbols = ngrams.prefixes, ngrams.symbols
    hashes = np.empty(ngrams.size[0], np.uint64)
    for g in range(hashes.size):
        hashes[g] = symbol_hashes[symbols[g]]
        if prefixes[g] >= 0:
            mixed = (hashes[prefixes[g]] + _ONE) * _GOLDEN
            hashes[g] = ((mixed ^ mixed >> _HALF) + hashes[g] + _ONE) * _GOLDEN
    return hashes


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


class _Block(NamedTuple):
    """Some positions of sequences: the n-grams that begin at position q are ``at[q]``.

    There are ``lengths[q]`` of them, of one symbol, two and so on; those of ``lows[q]`` symbols or
    more count, unless they are -1. ``homes`` is for the slots where they are looked for first, and
    ``size`` the number of positions.
    """

    lows: NDArray[np.int64]
    lengths: NDArray[np.int64]
    at: NDArray[np.int32]
    homes: NDArray[np.uint64]
    size: NDArray[np.int64]


@compiled
def _empty_block(indptr, max_n):
    """Return a block for the n-grams of these sequences."""
    longest = 1
    for i in range(indptr.size - 1):
        longest = max(longest, min(max_n, indptr[i + 1] - indptr[i]))
    size = max(1, min(_BLOCK, 64 * _BLOCK // longest))
    return _Block(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((size, longest), np.int32),
        np.empty(size, np.uint64),
        np.zeros(2, np.int64),
    )


@compiled
def _measure(indptr, i, begin, min_n, max_n, keeps_short, block):
    """Set the lengths of a block that begins in sequence i; return their sum."""
    lows, lengths, _, _, size = block
    size[0] = min(lows.size, indptr[-1] - begin)
    total = 0
    for q in range(size[0]):
        while begin + q >= indptr[i + 1]:
            i += 1
        n_left = indptr[i + 1] - begin - q
        lows[q] = min(min_n, indptr[i + 1] - indptr[i]) if keeps_short else min_n
        lengths[q] = min(max_n, n_left) if n_left >= lows[q] else 0
        total += lengths[q]
    return total


@compiled
def _intern_block(sequence, begin, block, ngrams):
    """Set the n-grams of a block, adding new ones; there must be capacity."""
    singles, prefixes, symbols, table, size = ngrams
    _, lengths, at, homes, block_size = block
    n_positions, longest = block_size[0], lengths[: block_size[0]].max()
    for q in range(n_positions):
        if lengths[q] > 0:
            symbol = sequence[begin + q]
            at[q, 0] = _intern(_EMPTY, symbol, singles, prefixes, symbols, table, size)
    seen = np.uint64(0)
    for n in range(1, longest):
        for q in range(n_positions):
            if lengths[q] > n:
                homes[q] = _first_slot(_make_key(at[q, n - 1], sequence[begin + q + n]), table)
                seen += table[homes[q]]
        for q in range(n_positions):
            if lengths[q] > n:
                prefix, symbol = at[q, n - 1], sequence[begin + q + n]
                key = _make_key(prefix, symbol)
                slot = _probe(key, homes[q], table)
                if table[slot + _ONE] == 0:
                    _add(prefix, symbol, key, slot, prefixes, symbols, table, size)
                at[q, n] = np.int64(table[slot + _ONE]) - 1
    block_size[1] = np.int64(seen)  # so that the compiler keeps the reads


@compiled
def _find_block(sequence, begin, block, ngrams, numbers):
    """Set the numbers of the known n-grams of a block; return how many count."""
    singles, _, _, table, _ = ngrams
    _, lengths, at, homes, block_size = block
    n_positions, n_found = block_size[0], 0
    longest = lengths[:n_positions].max()
    for q in range(n_positions):
        symbol = sequence[begin + q]
        if symbol < 0 or symbol >= singles.size or singles[symbol] == _EMPTY:
            lengths[q] = 0
        if lengths[q] > 0:
            at[q, 0] = singles[symbol]
    seen = np.uint64(0)
    for n in range(1, longest):
        for q in range(n_positions):
            if lengths[q] > n:
                symbol = max(sequence[begin + q + n], 0)  # a strange one is told apart below
                homes[q] = _first_slot(_make_key(at[q, n - 1], symbol), table)
                seen += table[homes[q]]
        for q in range(n_positions):
            if lengths[q] > n:
                symbol, slot = sequence[begin + q + n], np.uint64(0)
                if symbol >= 0:
                    slot = _probe(_make_key(at[q, n - 1], symbol), homes[q], table)
                if symbol < 0 or table[slot + _ONE] == 0:
                    lengths[q] = n
                else:
                    at[q, n] = np.int64(table[slot + _ONE]) - 1
    block_size[1] = np.int64(seen)
    for q in range(n_positions):
        for n in range(lengths[q]):
            at[q, n] = numbers[at[q, n]]
        n_found += lengths[q]
    return n_found


@compiled
def _tally_block(indptr, i, begin, block, grams, counts, place, rows, filled):
    """Count the n-grams of a block that begins in sequence i.

    Writes the ends of the rows of sequences that end in it; returns the sequence in which the block
    ends, and the end of what is written.
    """
    lows, lengths, at, _, size = block
    seen = 0
    for q in range(size[0]):
        for n in range(lows[q] - 1, lengths[q]):
            if at[q, n] >= 0:
                seen += place[at[q, n]]
    size[1] = seen
    for q in range(size[0]):
        while begin + q >= indptr[i + 1]:
            rows[i + 1] = filled
            i += 1
        for n in range(lows[q] - 1, lengths[q]):
            if at[q, n] >= 0:
                filled = _tally(at[q, n], grams, counts, place, rows[i], filled)
    return i, filled


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
def _intern(prefix, symbol, singles, prefixes, symbols, table, size):
    """Return the n-gram of a prefix and a symbol, adding it; there must be capacity."""
    if prefix < 0:
        if singles[symbol] == _EMPTY:
            gram = size[0]
            prefixes[gram], symbols[gram] = _EMPTY, symbol
            singles[symbol] = gram
            size[0] = gram + 1
        return singles[symbol]
    key = _make_key(prefix, symbol)
    slot = _probe(key, _first_slot(key, table), table)
    if table[slot + _ONE] == 0:
        _add(prefix, symbol, key, slot, prefixes, symbols, table, size)
    return np.int32(table[slot + _ONE] - _ONE)


@compiled
def _add(prefix, symbol, key, slot, prefixes, symbols, table, size):
    """Put a new n-gram into an empty slot."""
    gram = size[0]
    prefixes[gram], symbols[gram] = prefix, symbol
    table[slot] = key
    size[0] = gram + 1
    table[slot + _ONE] = np.uint64(size[0])


@compiled
def _probe(key, slot, table):
    """Return the slot of a pair, or the empty slot to put it in, from its first slot on."""
    mask = np.uint64(table.size - 1)
    while table[slot + _ONE] != 0 and table[slot] != key:
        slot = (slot + _TWO) & mask
    return slot


@compiled
def _make_key(prefix, symbol):
    return np.uint64(prefix) << _HALF | np.uint64(symbol)


@compiled
def _first_slot(key, table):
    """Return where a pair is looked for first: an even index of the table."""
    mask = np.uint64(table.size - 2)
    return (key ^ key >> _HALF) * _GOLDEN >> np.uint64(31) & mask


@compiled
def _reserve(ngrams, n_more):
    """Return the trie with capacity for so many more n-grams."""
    singles, prefixes, symbols, old_table, size = ngrams
    capacity = prefixes.size
    while capacity < size[0] + n_more:
        capacity *= 2
    if capacity == prefixes.size:
        return ngrams
    spare = np.empty(capacity - prefixes.size, np.int32)
    table = np.zeros(4 * capacity, np.uint64)
    for old in range(0, old_table.size, 2):
        if old_table[old + 1] != 0:
            key = old_table[old]
            slot = _probe(key, _first_slot(key, table), table)
            table[slot], table[slot + _ONE] = key, old_table[old + 1]
    return Ngrams(singles, np.append(prefixes, spare), np.append(symbols, spare), table, size)


@compiled
def _add_symbols(ngrams, n_symbols):
    """Return the trie for at least so many symbols."""
    singles, prefixes, symbols, table, size = ngrams
    if n_symbols > singles.size:
        singles = np.append(singles, np.full(n_symbols - singles.size, _EMPTY))
    return Ngrams(singles, prefixes, symbols, table, size)
