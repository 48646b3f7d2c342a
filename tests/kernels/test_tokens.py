"""The tokenizer against Python's own idea of a word."""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spokeshave.kernels.tokens import (
    absorb,
    count_kept,
    empty_words,
    find_known,
    find_tokens,
    join_phrases,
    join_tokens,
    look_up,
    scan,
    sort_rows,
    tokenize,
)
from spokeshave.text import alphabet as alphabets

# Letters of one to four bytes, digits, separators, and tokens longer than a key of eight bytes.
ALPHABET = "aZ09_ -\n.éßΩИ中٣½ª²\U0001d552\U0001f600\u0301\ud800"
TEXTS = st.lists(st.text(st.sampled_from(ALPHABET), max_size=40) | st.text(max_size=20), max_size=8)


def make_alphabet():
    """Return the alphabet in which every run of alphanumeric characters is a token."""
    return alphabets.make_alphabet(unspaced=None)


def encode(texts):
    encoded = [text.lower().encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def scan_texts(texts):
    return scan(*encode(texts), make_alphabet(), empty_words())


def spell(words):
    every = np.arange(words.size[0])
    return join_tokens(words, every).tobytes().decode("utf-8").split("\n")[:-1]


def split(text):
    """Return the tokens of a text, character by character."""
    return "".join(c if c.isalnum() else " " for c in text.lower()).split(" ")


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_scan_counts_as_plain_python_does(texts):
    indptr, tokens, counts, words = scan_texts(texts)
    names = spell(words)
    assert len(set(names)) == len(names)
    assert len(indptr) == len(texts) + 1
    for text, start, stop in zip(texts, indptr[:-1], indptr[1:], strict=True):
        expected = Counter(filter(None, split(text)))
        assert list(expected) == [names[t] for t in tokens[start:stop]]  # in order of occurrence
        assert list(expected.values()) == counts[start:stop].tolist()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.sampled_from("aZ1 -é中文𠀀กี"), max_size=12), max_size=6))
def test_unspaced_characters_are_tokens_and_so_are_their_pairs(texts):
    indptr, tokens, words = tokenize(*encode(texts), alphabets.make_alphabet(), empty_words())
    names = spell(words)
    for text, start, stop in zip(texts, indptr[:-1], indptr[1:], strict=True):
        expected = []
        for run in re.findall(r"[a-z1é]+|[中文𠀀กี]+", text.lower()):
            is_word = run.isascii() or "é" in run
            pairs = [run[i : i + 2] for i in range(len(run) - 1)]
            expected += [run] if is_word else [*run, *pairs]
        assert [names[t] for t in tokens[start:stop]] == expected


def test_a_long_run_of_unspaced_characters_fits():
    text = "中" * 1000
    indptr, _, counts, _ = scan(*encode([text, text]), alphabets.make_alphabet(), empty_words())
    assert indptr.tolist() == [0, 2, 4]
    assert counts.tolist() == [1000, 999, 1000, 999]


@pytest.mark.parametrize("kernel", [scan, tokenize])
def test_distinct_unspaced_characters_fit(kernel):
    texts = ["".join(map(chr, range(0x4E00 + 50 * n, 0x4E00 + 50 * (n + 1)))) for n in range(20)]
    *_, words = kernel(*encode(texts), alphabets.make_alphabet(), empty_words(16))
    expected = [part for text in texts for part in [*text, *map("".join, pairwise(text))]]
    assert spell(words) == expected


def test_alphabet_is_that_of_str_isalnum():
    alphabet = make_alphabet()
    for code in range(sys.maxunicode + 1):
        assert alphabet.wide[code] == chr(code).isalnum()
    for code in range(128):
        expected = ord(chr(code).lower()) if chr(code).isalnum() else 0
        assert alphabet.byte[code] == expected


def test_ascii_letters_are_lowered():
    text = np.frombuffer(b"Spokeshave SPOKESHAVE Wood wOOD", np.uint8)
    *_, words = scan(text, np.array([text.size]), make_alphabet(), empty_words())
    assert spell(words) == ["spokeshave", "wood"]


def test_many_tokens_outgrow_the_first_table():
    texts = [
        " ".join(f"w{i} longerword{i}" for i in range(start, start + 400))
        for start in range(0, 12_000, 400)
    ]
    indptr, tokens, counts, words = scan_texts(texts)
    assert words.size[0] == 24_000
    assert spell(words)[:2] == ["w0", "longerword0"]
    assert (np.diff(indptr) == 800).all()
    assert (counts == 1).all()
    assert len(np.unique(tokens)) == 24_000


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS)
def test_absorb_is_the_scan_of_both(first, second):
    alphabet = make_alphabet()
    *_, one = scan_texts(first)
    *_, two = scan_texts(second)
    *_, both = scan_texts([*first, *second])
    ids, merged = absorb(one, two, alphabet)
    assert spell(merged) == spell(both)
    assert [spell(merged)[i] for i in ids] == spell(two)
    np.testing.assert_array_equal(look_up(merged, two, alphabet), ids)


def test_look_up_of_an_unknown_word_is_minus_one():
    *_, known = scan_texts(["plane averyveryverylongword"])
    *_, asked = scan_texts(["chisel plane averyveryverylongwore averyveryverylongword"])
    np.testing.assert_array_equal(look_up(known, asked, make_alphabet()), [-1, 0, -1, 1])


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_known_words_are_found_as_plain_python_finds_them(known, texts):
    *_, words = scan_texts(known)
    names = spell(words)
    before = [part.copy() for part in words]
    indptr, tokens, counts = find_known(*encode(texts), make_alphabet(), words)
    assert len(indptr) == len(texts) + 1
    for text, start, stop in zip(texts, indptr[:-1], indptr[1:], strict=True):
        expected = Counter(token for token in split(text) if token in set(names))
        assert list(expected) == [names[t] for t in tokens[start:stop]]  # in order of occurrence
        assert list(expected.values()) == counts[start:stop].tolist()
    for part, earlier in zip(words, before, strict=True):
        assert part.tobytes() == earlier.tobytes()  # a vocabulary does not grow


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS)
def test_tokens_are_listed_in_order(known, texts):
    indptr, tokens, words = tokenize(*encode(known), make_alphabet(), empty_words())
    names = spell(words)
    for text, start, stop in zip(known, indptr[:-1], indptr[1:], strict=True):
        assert [names[t] for t in tokens[start:stop]] == list(filter(None, split(text)))
    indptr, tokens = find_tokens(*encode(texts), make_alphabet(), words)
    for text, start, stop in zip(texts, indptr[:-1], indptr[1:], strict=True):
        expected = [names.index(t) if t in names else -1 for t in split(text) if t]
        assert tokens[start:stop].tolist() == expected


def test_phrases_are_words_with_spaces_between():
    *_, words = scan_texts(["old oak acorn"])
    phrases = np.array([[0, 1, -1], [2, -1, -1], [2, 0, 1]], np.int32)
    assert join_phrases(words, phrases).tobytes() == b"old oak\nacorn\nacorn old oak\n"
    assert join_phrases(words, phrases[:0]).size == 0


def test_nothing_is_found_in_a_vocabulary_of_nothing():
    text, ends = encode(["plane chisel", "", "plane"])
    indptr, tokens, counts = find_known(text, ends, make_alphabet(), empty_words())
    assert indptr.tolist() == [0, 0, 0, 0]
    assert tokens.size == counts.size == 0


def test_the_words_of_one_document_do_not_run_into_the_next():
    *_, known = scan_texts(["a b ab"])
    indptr, tokens, counts = find_known(*encode(["a", "b", "a b a"]), make_alphabet(), known)
    assert indptr.tolist() == [0, 1, 2, 4]
    assert tokens.tolist() == [0, 1, 0, 1]
    assert counts.tolist() == [1, 1, 2, 1]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.integers(0, 9), st.integers(1, 5)), max_size=6), st.data())
def test_sort_rows_is_a_sort_of_each_row(rows, data):
    columns = np.array(data.draw(st.permutations([0, 1, 2, 3, 4, 5, -1, -1, -1, -1])), np.int32)
    tokens = np.array([t for row in rows for t in row], np.int32)
    counts = np.array([c for row in rows for c in row.values()], np.int32)
    indptr = np.cumsum([0, *map(len, rows)])
    expected = [sorted((columns[t], c) for t, c in row.items() if columns[t] >= 0) for row in rows]
    kept = count_kept(indptr, tokens, columns)
    assert kept.tolist() == [len(row) for row in expected]
    begins = np.cumsum([0, *kept])[:-1]
    out_indices, out_counts = np.empty(kept.sum(), np.int32), np.empty(kept.sum())
    sort_rows(indptr, tokens, counts, columns, 6, begins, out_indices, out_counts)
    found = list(zip(out_indices.tolist(), out_counts.tolist(), strict=True))
    assert found == [pair for row in expected for pair in row]


def test_no_separator_is_part_of_a_token():
    *_, words = scan_texts(["".join(map(chr, range(0x3000)))])
    assert all(re.fullmatch(r"[^\W_]+", name) for name in spell(words))
