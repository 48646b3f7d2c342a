"""Text to token ids.

Documents arrive as one buffer of UTF-8 bytes. A token is a maximal run of alphanumeric characters,
except in scripts without spaces between words: there each character is a token, and each pair of
neighbours. ASCII letters are converted to lower case here, all others before. The vocabulary is a
hash table with linear probing, and it is exact: a token of up to eight bytes is its own key, and
longer tokens of equal key are compared byte by byte.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spokeshave.kernels.compile import compiled

_EMPTY = np.int32(-1)
_LETTERS = 3  # of all tokens, for a byte: a character is in a token of its own and in two pairs
_SEPARATOR, _WIDE = np.uint8(0), np.uint8(1)
_SPACED, _UNSPACED = np.uint8(1), np.uint8(2)
_LONG = np.uint64(1) << np.uint64(56)  # no token begins with byte 1: marks the key of a long token
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ONE, _EIGHT = np.uint64(1), np.uint64(8)


class Alphabet(NamedTuple):
    """The class of every character.

    ``byte`` maps an ASCII letter or digit to its lower-case form, a byte of a character beyond
    ASCII to 1, and any other byte to 0. ``wide`` is 1 for the alphanumeric code points beyond
    ASCII, but 2 if they are of a script without spaces between words, and 0 for all others.
    """

    byte: NDArray[np.uint8]
    wide: NDArray[np.uint8]


class Words(NamedTuple):
    """A vocabulary: token t is ``letters[ends[t] : ends[t + 1]]``, in UTF-8.

    ``slots`` is the hash table, each slot a token or -1, and ``keys`` the key of the token in each
    slot. Arrays may have spare capacity: ``size`` holds the number of tokens.
    """

    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]
    keys: NDArray[np.uint64]
    slots: NDArray[np.int32]
    size: NDArray[np.int64]


def empty_words(capacity: int = 1 << 12) -> Words:
    """Return an empty vocabulary for up to ``capacity`` tokens, a power of two."""
    return Words(
        np.empty(8 * capacity, np.uint8),
        np.zeros(capacity + 1, np.int64),
        np.empty(4 * capacity, np.uint64),
        np.full(4 * capacity, _EMPTY),
        np.zeros(1, np.int64),
    )


# Loops over tokens unpack tuples of arrays first: otherwise numba counts references to every array
# of the tuple in each iteration, which costs as much as the work itself. Counters that kernels are
# given begin as np.int64(0): for a plain 0 numba compiles the kernel once more.


@compiled
def scan(text, document_ends, alphabet, words):
    """Return the distinct tokens of each document with their counts, and the vocabulary.

    Returns ``indptr, tokens, counts, words``: rows of token ids in order of first occurrence.
    ``words`` is changed in place until it has to grow, so use the vocabulary that is returned.

    Each document is split, then its tokens are looked up, then counted: three plain loops over
    small arrays are three times faster than one loop that does all.
    """
    indptr = np.zeros(document_ends.size + 1, np.int64)
    most = _count_most(text.size, document_ends.size)
    tokens = np.empty(most, np.int32)
    counts = np.empty(most, np.int32)
    place = np.empty(0, np.int64)  # the last position in ``tokens`` of each token
    starts, stops, keys = _empty_tokens(_count_most(_longest(document_ends), 1))
    begin = np.int64(0)
    for document, end in enumerate(document_ends):
        n = _split(text, begin, end, alphabet.byte, alphabet.wide, starts, stops, keys)
        words = _reserve(words, n, _LETTERS * (end - begin))
        row = indptr[document]
        _intern(tokens[row : row + n], text, starts, stops, keys, alphabet.byte, words)
        if place.size < words.ends.size:
            place = np.append(place, np.full(words.ends.size - place.size, -1, np.int64))
        indptr[document + 1] = _count(tokens, counts, place, row, n)
        begin = end
    filled = indptr[-1]
    return indptr, tokens[:filled].copy(), counts[:filled].copy(), words


@compiled
def find_known(text, document_ends, alphabet, words):
    """Return the distinct known tokens of each document with their counts.

    Returns ``indptr, tokens, counts``: rows of token ids in order of first occurrence.
    """
    letters, known_ends, known_keys, slots, size = words
    byte, wide = alphabet
    indptr = np.zeros(document_ends.size + 1, np.int64)
    most = _count_most(text.size, document_ends.size)
    tokens = np.empty(most, np.int32)
    counts = np.empty(most, np.int32)
    place = np.full(size[0], -1, np.int64)
    starts, stops, keys = _empty_tokens(_count_most(_longest(document_ends), 1))
    begin = np.int64(0)
    for document, end in enumerate(document_ends):
        n_tokens = _split(text, begin, end, byte, wide, starts, stops, keys)
        row = indptr[document]
        n_known = np.int64(0)
        for i in range(n_tokens):
            slot = _find(
                text, starts[i], stops[i], keys[i], byte, letters, known_ends, known_keys, slots
            )
            tokens[row + n_known] = slots[slot]
            n_known += slots[slot] != _EMPTY
        indptr[document + 1] = _count(tokens, counts, place, row, n_known)
        begin = end
    filled = indptr[-1]
    return indptr, tokens[:filled].copy(), counts[:filled].copy()


@compiled
def tokenize(text, document_ends, alphabet, words):
    """Return every token of each document, in order, and the vocabulary.

    Returns ``indptr, tokens, words``; ``words`` is changed as by `scan`.
    """
    indptr = np.zeros(document_ends.size + 1, np.int64)
    tokens = np.empty(_count_most(text.size, document_ends.size), np.int32)
    starts, stops, keys = _empty_tokens(_count_most(_longest(document_ends), 1))
    begin = np.int64(0)
    for document, end in enumerate(document_ends):
        n = _split(text, begin, end, alphabet.byte, alphabet.wide, starts, stops, keys)
        words = _reserve(words, n, _LETTERS * (end - begin))
        row = indptr[document]
        _intern(tokens[row : row + n], text, starts, stops, keys, alphabet.byte, words)
        indptr[document + 1] = row + n
        begin = end
    return indptr, tokens[: indptr[-1]].copy(), words


@compiled
def find_tokens(text, document_ends, alphabet, words):
    """Return every token of each document, in order, -1 if it is not known: ``indptr, tokens``."""
    letters, known_ends, known_keys, slots, _ = words
    byte, wide = alphabet
    indptr = np.zeros(document_ends.size + 1, np.int64)
    tokens = np.empty(_count_most(text.size, document_ends.size), np.int32)
    starts, stops, keys = _empty_tokens(_count_most(_longest(document_ends), 1))
    begin = np.int64(0)
    for document, end in enumerate(document_ends):
        n = _split(text, begin, end, byte, wide, starts, stops, keys)
        row = indptr[document]
        for i in range(n):
            slot = _find(
                text, starts[i], stops[i], keys[i], byte, letters, known_ends, known_keys, slots
            )
            tokens[row + i] = slots[slot]
        indptr[document + 1] = row + n
        begin = end
    return indptr, tokens[: indptr[-1]].copy()


@compiled
def absorb(words, other, alphabet):
    """Add the tokens of ``other`` to ``words``; return their ids in it, and the vocabulary.

    ``words`` is changed in place until it has to grow, so use the vocabulary that is returned.
    """
    n = other.size[0]
    words = _reserve(words, n, other.ends[n])
    starts, stops, keys = _list_tokens(other, alphabet.byte)
    ids = np.empty(n, np.int32)
    _intern(ids, other.letters, starts, stops, keys, alphabet.byte, words)
    return ids, words


@compiled
def look_up(words, other, alphabet):
    """Return the id in ``words`` of each token of ``other``, -1 if it has none."""
    letters, ends, keys, slots, _ = words
    text, byte = other.letters, alphabet.byte
    starts, stops, token_keys = _list_tokens(other, byte)
    ids = np.empty(starts.size, np.int32)
    for i in range(ids.size):
        start, stop, key = starts[i], stops[i], token_keys[i]
        ids[i] = slots[_find(text, start, stop, key, byte, letters, ends, keys, slots)]
    return ids


@compiled
def join_tokens(words, tokens):
    """Return the bytes of the given tokens with a line feed after each."""
    letters, ends = words.letters, words.ends
    length = 0
    for t in tokens:
        length += ends[t + 1] - ends[t] + 1
    joined = np.empty(length, np.uint8)
    q = 0
    for t in tokens:
        for p in range(ends[t], ends[t + 1]):
            joined[q] = letters[p]
            q += 1
        joined[q] = 10
        q += 1
    return joined


@compiled
def join_phrases(words, phrases):
    """Return the bytes of rows of tokens, a space between two and a line feed after each row.

    A row of ``phrases`` ends at its first -1.
    """
    letters, ends = words.letters, words.ends
    length = 0
    for t in phrases.ravel():
        if t >= 0:
            length += ends[t + 1] - ends[t] + 1
    joined = np.empty(length, np.uint8)
    q = 0
    for row in range(phrases.shape[0]):
        for t in phrases[row]:
            if t < 0:
                break
            for p in range(ends[t], ends[t + 1]):
                joined[q] = letters[p]
                q += 1
            joined[q] = 32
            q += 1
        joined[q - 1] = 10
    return joined


@compiled
def count_kept(indptr, tokens, columns):
    """Return the number of tokens of each row whose column is not -1."""
    kept = np.zeros(indptr.size - 1, np.int64)
    for row in range(kept.size):
        for p in range(indptr[row], indptr[row + 1]):
            kept[row] += columns[tokens[p]] >= 0
    return kept


@compiled
def sort_rows(indptr, tokens, counts, columns, n_columns, begins, out_indices, out_counts):
    """Write the rows with ascending columns, without the tokens of column -1.

    A counting sort over all rows at once: entries go to their columns, columns back to the rows.
    ``begins`` is the start of each row in the output.
    """
    bucket = np.zeros(n_columns + 1, np.int64)
    for token in tokens:
        if columns[token] >= 0:
            bucket[columns[token] + 1] += 1
    bucket = np.cumsum(bucket)
    place = bucket[:-1].copy()
    rows = np.empty(bucket[-1], np.int32)
    values = np.empty(bucket[-1], out_counts.dtype)
    for row in range(indptr.size - 1):
        for p in range(indptr[row], indptr[row + 1]):
            column = columns[tokens[p]]
            if column >= 0:
                rows[place[column]] = row
                values[place[column]] = counts[p]
                place[column] += 1
    place = begins.copy()
    for column in range(n_columns):
        for p in range(bucket[column], bucket[column + 1]):
            out_indices[place[rows[p]]] = column
            out_counts[place[rows[p]]] = values[p]
            place[rows[p]] += 1


@compiled
def _count_most(n_bytes, n_documents):
    """Return how many tokens there are at most.

    A token is followed by a separator, or is one of the two per character of an unspaced script,
    which has three bytes or more; the last token of a document need not be followed by anything.
    """
    return n_bytes - n_bytes // 3 + n_documents


@compiled
def _longest(document_ends):
    """Return the length of the longest document in bytes."""
    longest, start = 0, 0
    for stop in document_ends:
        longest, start = max(longest, stop - start), stop
    return longest


@compiled
def _split(text, start, stop, byte, wide, starts, ends, keys):
    """Write the start, end and key of every token in a slice of text; return their number."""
    p, stop = np.uint64(start), np.uint64(stop)
    n = np.uint64(0)
    while True:
        while p < stop:
            kind = byte[text[p]]
            if kind == _SEPARATOR:
                p += _ONE
            elif kind == _WIDE and not wide[_code_point(text, p)]:
                p += _width(text[p])
            else:
                break
        if p >= stop:
            return np.int64(n)
        begin, key = p, np.uint64(0)
        while p < stop:
            kind = byte[text[p]]
            if kind > _WIDE:
                key = key << _EIGHT | np.uint64(kind)
                p += _ONE
            elif kind == _WIDE and wide[_code_point(text, p)] == _SPACED:
                for _ in range(_width(text[p])):
                    key = key << _EIGHT | np.uint64(text[p])
                    p += _ONE
            else:
                break
        if p == begin:
            p, n = _split_unspaced(text, p, stop, byte, wide, starts, ends, keys, n)
            continue
        if p - begin > _EIGHT:
            key = _make_key(text, begin, p, byte)
        else:
            key <<= _EIGHT * (_EIGHT - (p - begin))
        starts[n], ends[n], keys[n] = begin, p, key
        n += _ONE


@compiled
def _split_unspaced(text, p, stop, byte, wide, starts, ends, keys, n):
    """Write the tokens of a run of characters of unspaced scripts as `_split` does.

    Returns the end of the run and the number of tokens so far, of which there were n.
    """
    first = n
    while p < stop and byte[text[p]] == _WIDE and wide[_code_point(text, p)] == _UNSPACED:
        starts[n], ends[n] = p, p + _width(text[p])
        keys[n] = _make_key(text, starts[n], ends[n], byte)
        p = ends[n]
        n += _ONE
    for single in range(first, n - _ONE):
        starts[n], ends[n] = starts[single], ends[single + _ONE]
        keys[n] = _make_key(text, starts[n], ends[n], byte)
        n += _ONE
    return p, n


@compiled
def _intern(ids, text, starts, stops, token_keys, byte, words):
    """Write the id of each token, adding new ones; ``words`` must have the capacity."""
    letters, ends, keys, slots, size = words
    for i in range(ids.size):
        start, stop, key = starts[i], stops[i], token_keys[i]
        slot = _find(text, start, stop, key, byte, letters, ends, keys, slots)
        if slots[slot] == _EMPTY:
            _add(text, start, stop, key, byte, letters, ends, keys, slots, size, slot)
        ids[i] = slots[slot]


@compiled
def _count(tokens, counts, place, row, n):
    """Make the n tokens from ``row`` on distinct, in place; write counts; return their end."""
    filled = row
    for p in range(row, row + n):
        t = tokens[p]
        if place[t] >= row:
            counts[place[t]] += 1
        else:
            place[t] = filled
            tokens[filled] = t
            counts[filled] = 1
            filled += 1
    return filled


@compiled
def _list_tokens(words, byte):
    """Return start, end and key of every token of a vocabulary."""
    n = words.size[0]
    starts, stops, keys = _empty_tokens(n)
    for t in range(n):
        starts[t], stops[t] = words.ends[t], words.ends[t + 1]
        keys[t] = _make_key(words.letters, starts[t], stops[t], byte)
    return starts, stops, keys


@compiled
def _empty_tokens(n):
    return np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.uint64)


@compiled
def _make_key(text, start, end, byte):
    """Return a token's first eight bytes, padded with zeros, or the hash of a longer token."""
    key = np.uint64(0)
    if end - start <= _EIGHT:
        for p in range(start, end):
            key = key << _EIGHT | np.uint64(_lower(text[p], byte))
        return key << (_EIGHT * (_EIGHT - (end - start)))
    for p in range(start, end):
        key = (key ^ np.uint64(_lower(text[p], byte))) * _GOLDEN
        key ^= key >> np.uint64(29)
    return key >> _EIGHT | _LONG


@compiled
def _width(lead):
    """Return the number of bytes of a character beyond ASCII, given the first."""
    return np.uint64(2) if lead < 0xE0 else np.uint64(3) if lead < 0xF0 else np.uint64(4)


@compiled
def _code_point(text, p):
    """Return the code point of the character beyond ASCII at position p."""
    width = _width(text[p])
    code = np.uint64(text[p]) & (np.uint64(0xFF) >> (width + _ONE))
    for q in range(p + _ONE, p + width):
        code = code << np.uint64(6) | np.uint64(text[q]) & np.uint64(0x3F)
    return code


@compiled
def _lower(letter, byte):
    return byte[letter] if byte[letter] > _WIDE else letter


@compiled
def _find(text, start, end, key, byte, letters, ends, keys, slots):
    """Return the slot of a token, or the empty slot to put it in."""
    mask = np.uint64(slots.size - 1)
    slot = _first_slot(key, mask)
    while True:
        t = slots[slot]
        if t == _EMPTY:
            return slot
        if keys[slot] == key and (
            key >> np.uint64(56) != _ONE
            or _is_same(text, start, end, byte, letters, ends, np.uint64(t))
        ):
            return slot
        slot = (slot + _ONE) & mask


@compiled
def _first_slot(key, mask):
    # A short token fills only the upper bytes of its key, and a product never mixes downwards.
    return (key ^ key >> np.uint64(32)) * _GOLDEN >> np.uint64(32) & mask


@compiled
def _is_same(text, start, end, byte, letters, ends, t):
    begin = np.uint64(ends[t])
    if np.uint64(ends[t + _ONE]) - begin != end - start:
        return False
    for offset in range(end - start):
        if letters[begin + offset] != _lower(text[start + offset], byte):
            return False
    return True


@compiled
def _add(text, start, stop, key, byte, letters, ends, keys, slots, size, slot):
    """Put a new token into an empty slot."""
    t = size[0]
    begin = np.uint64(ends[t])
    for offset in range(stop - start):
        letters[begin + offset] = _lower(text[start + offset], byte)
    ends[t + 1] = begin + (stop - start)
    keys[slot] = key
    slots[slot] = t
    size[0] = t + 1


@compiled
def _reserve(words, n_tokens, n_letters):
    """Return the vocabulary with capacity for so many more tokens and letters."""
    letters, ends, keys, slots, size = words
    n_letters += ends[size[0]]
    if n_letters > letters.size:
        letters = np.append(letters, np.empty(2 * n_letters - letters.size, np.uint8))
    capacity = ends.size - 1
    while capacity < size[0] + n_tokens:
        capacity *= 2
    if capacity >= ends.size:
        ends = np.append(ends, np.empty(capacity + 1 - ends.size, np.int64))
        keys, slots = _rehash(keys, slots, 4 * capacity)
    return Words(letters, ends, keys, slots, size)


@compiled
def _rehash(old_keys, old_slots, n_slots):
    """Return keys and slots of the same tokens in a larger table."""
    keys = np.empty(n_slots, np.uint64)
    slots = np.full(n_slots, _EMPTY)
    mask = np.uint64(n_slots - 1)
    for old in range(old_slots.size):
        if old_slots[old] != _EMPTY:
            slot = _first_slot(old_keys[old], mask)
            while slots[slot] != _EMPTY:
                slot = (slot + _ONE) & mask
            keys[slot], slots[slot] = old_keys[old], old_slots[old]
    return keys, slots
