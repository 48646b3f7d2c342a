"""N-grams by the trie against slices of Python's lists."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.kernels.ngrams import (
    absorb_ngrams,
    count_ngrams,
    empty_ngrams,
    expand_rows,
    extend_ngrams,
    find_ngrams,
    hash_ngrams,
    index_ngrams,
    mark_beginnings,
    spell_ngrams,
    tally_ngrams,
)

N_SYMBOLS = 5
SEQUENCES = st.lists(st.lists(st.integers(0, N_SYMBOLS - 1), max_size=9), max_size=6)
RANGES = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda r: (r[0], r[0] + r[1]))


def pack(sequences):
    indptr = np.cumsum([0, *map(len, sequences)])
    return indptr, np.array([symbol for each in sequences for symbol in each], np.int32)


def slide(sequence, min_n, max_n, *, keeps_short):
    """Return the n-grams of a sequence by position and then by length."""
    if keeps_short:
        min_n = min(min_n, len(sequence))
    return [
        tuple(sequence[i : i + n])
        for i in range(len(sequence))
        for n in range(min_n, max_n + 1)
        if 0 < n <= len(sequence) - i
    ]


def spell(ngrams, ids=None):
    ids = np.arange(ngrams.size[0]) if ids is None else ids
    return [tuple(s for s in row if s >= 0) for row in spell_ngrams(ngrams, ids).tolist()]


def unpack(indptr, values):
    return [values[i:j].tolist() for i, j in pairwise(indptr)]


def count(sequences, limits, *, keeps_short=False):
    # The smallest table, so that it grows.
    return count_ngrams(*pack(sequences), *limits, keeps_short, empty_ngrams(N_SYMBOLS, 1))


@settings(max_examples=200, deadline=None)
@given(SEQUENCES, RANGES, st.booleans())
def test_ngrams_are_slices(sequences, limits, keeps_short):
    indptr, grams, counts, ngrams = count(sequences, limits, keeps_short=keeps_short)
    names = spell(ngrams)
    assert len(set(names)) == len(names)
    rows = zip(sequences, unpack(indptr, grams), unpack(indptr, counts), strict=True)
    for sequence, row, row_counts in rows:
        expected = Counter(slide(sequence, *limits, keeps_short=keeps_short))
        assert [names[g] for g in row] == list(expected)  # in order of occurrence
        assert row_counts == list(expected.values())


@settings(max_examples=200, deadline=None)
@given(SEQUENCES)
def test_ngrams_grow_by_a_symbol(sequences):
    indptr, symbols = pack(sequences)
    grams, names = symbols, [(symbol,) for symbol in range(N_SYMBOLS)]
    begin, end = 0, N_SYMBOLS
    for length in (2, 3, 4):
        grams, prefixes, lasts = extend_ngrams(
            indptr, symbols, grams, length, begin, end, N_SYMBOLS
        )
        names += [(*names[g], s) for g, s in zip(prefixes.tolist(), lasts.tolist(), strict=True)]
        begin, end = end, len(names)
        assert len(set(names)) == end
        for sequence, row in zip(sequences, unpack(indptr, grams), strict=True):
            expected = slide(sequence, length, length, keeps_short=False)
            assert [names[g] for g in row if g >= 0] == expected
            assert row[len(expected) :] == [-1] * (len(row) - len(expected))


@settings(max_examples=200, deadline=None)
@given(SEQUENCES, st.integers(0, 3))
def test_ngrams_of_all_lengths_are_counted(sequences, n_lengths):
    indptr, symbols = pack(sequences)
    grams = np.array([symbols + k * N_SYMBOLS for k in range(n_lengths)], np.int32)
    grams = grams.reshape(n_lengths, symbols.size)
    grams[grams % N_SYMBOLS == N_SYMBOLS - 1] = -1
    rows, found, counts = tally_ngrams(indptr, grams, n_lengths * N_SYMBOLS)
    pairs = zip(sequences, unpack(rows, found), unpack(rows, counts), strict=True)
    for sequence, row, row_counts in pairs:
        expected = Counter(
            symbol + k * N_SYMBOLS
            for k in range(n_lengths)
            for symbol in sequence
            if symbol < N_SYMBOLS - 1
        )
        assert row == list(expected)
        assert row_counts == list(expected.values())


@settings(max_examples=100, deadline=None)
@given(SEQUENCES, SEQUENCES, RANGES)
def test_absorbed_ngrams_are_those_of_both(first, second, limits):
    *_, one = count(first, limits)
    *_, two = count(second, limits)
    *_, both = count(first + second, limits)
    ids, merged = absorb_ngrams(one, two, np.arange(N_SYMBOLS, dtype=np.int32), N_SYMBOLS)
    assert sorted(spell(merged)) == sorted(spell(both))
    assert spell(merged, ids) == spell(two)


def test_absorbing_renames_symbols():
    *_, one = count([[0, 1]], (1, 2))
    *_, two = count([[0, 2, 0]], (1, 3))
    ids, merged = absorb_ngrams(one, two, np.array([1, 0, 7, 0, 0], np.int32), 8)
    assert [merged.singles[s] >= 0 for s in range(8)] == [s in (0, 1, 7) for s in range(8)]
    assert sorted(spell(merged, ids)) == [(1,), (1, 7), (1, 7, 1), (7,), (7, 1)]


@settings(max_examples=200, deadline=None)
@given(SEQUENCES, SEQUENCES, RANGES, st.booleans(), st.data())
def test_known_ngrams_are_found(known, sequences, limits, keeps_short, data):
    names = sorted({gram for each in known for gram in slide(each, 1, 4, keeps_short=False)})
    names = data.draw(st.permutations(names))
    names = names[: data.draw(st.integers(0, len(names)))]
    ids, ngrams = index_ngrams(*pack(names), empty_ngrams(N_SYMBOLS, 1))
    assert spell(ngrams, ids) == names
    numbers = np.full(int(ngrams.size[0]), -1, np.int32)
    numbers[ids] = np.arange(len(names))
    strange = [[-1 if s == 0 else N_SYMBOLS if s == 1 else s for s in each] for each in sequences]
    for given_sequences in (sequences, strange):
        indptr, found, counts = find_ngrams(
            *pack(given_sequences), *limits, keeps_short, ngrams, numbers
        )
        rows = zip(given_sequences, unpack(indptr, found), unpack(indptr, counts), strict=True)
        for sequence, row, row_counts in rows:
            expected = Counter(
                names.index(gram)
                for gram in slide(sequence, *limits, keeps_short=keeps_short)
                if gram in names
            )
            assert row == list(expected)
            assert row_counts == list(expected.values())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=5),
    st.lists(st.dictionaries(st.integers(-1, 4), st.integers(1, 3)), max_size=5),
)
def test_expanded_rows_add_up_the_ngrams_of_their_tokens(of_tokens, rows):
    counted = [Counter(grams) for grams in of_tokens]
    rows = [{t: n for t, n in row.items() if t < len(of_tokens)} for row in rows]
    token_counts = np.array([n for c in counted for n in c.values()], np.int32)
    row_counts = np.array([n for row in rows for n in row.values()], np.int32)
    indptr, grams, counts = expand_rows(
        *(*pack(list(map(list, rows))), row_counts),
        *(*pack(list(map(list, counted))), token_counts, 7),
    )
    found = zip(rows, unpack(indptr, grams), unpack(indptr, counts), strict=True)
    for row, row_grams, sums in found:
        expected = Counter()
        for token, n in row.items():
            for gram, m in counted[token].items() if token >= 0 else ():
                expected[gram] += n * m
        assert row_grams == list(expected)
        assert sums == list(expected.values())


def test_many_ngrams_outgrow_the_first_table():
    sequence = list(range(3000))
    indptr, grams, counts, ngrams = count_ngrams(*pack([sequence]), 1, 3, False, empty_ngrams(3000))
    assert indptr.tolist() == [0, 3 * 3000 - 3]
    assert (counts == 1).all()
    assert spell(ngrams, grams) == slide(sequence, 1, 3, keeps_short=False)


@settings(max_examples=100, deadline=None)
@given(SEQUENCES, RANGES, st.data())
def test_what_marked_ngrams_begin_with_is_marked(sequences, limits, data):
    ngrams = count(sequences, limits)[-1]
    names = spell(ngrams)
    marked = set(data.draw(st.lists(st.sampled_from(names), unique=True)) if names else ())
    is_marked = np.array([name in marked for name in names], bool)
    mark_beginnings(ngrams, is_marked)
    expected = {name[: n + 1] for name in marked for n in range(len(name))}
    assert {name for name, each in zip(names, is_marked, strict=True) if each} == expected


@settings(max_examples=100, deadline=None)
@given(SEQUENCES, SEQUENCES, RANGES)
def test_a_hash_is_that_of_the_symbols_in_every_trie(first, second, limits):
    of_symbols = np.arange(N_SYMBOLS, dtype=np.uint64)
    hashes = {}
    for sequences in (first, second):
        ngrams = count(sequences, limits)[-1]
        for name, each in zip(spell(ngrams), hash_ngrams(ngrams, of_symbols), strict=True):
            assert hashes.setdefault(name, each) == each == hash_plainly(name)
    assert len(set(hashes.values())) == len(hashes)


def hash_plainly(symbols):
    """Return the hash of an n-gram in plain Python."""
    golden, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    found = symbols[0]
    for symbol in symbols[1:]:
        mixed = (found + 1) * golden & mask
        found = ((mixed ^ mixed >> 32) + symbol + 1) * golden & mask
    return found
