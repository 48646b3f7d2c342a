"""Terms by number, however they come, against the terms of plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_batches import list_words, scan_texts
from spokeshave.text.alphabet import decode_words
from spokeshave.text.analyzers import Analysis
from spokeshave.text.term_index import TermTable, WordIndex, hash_terms, index_words, make_index
from spokeshave.text.terms import scan_terms

# Letters of one to four bytes, digits, some that change in lower case, and long words.
LETTERS = "aZ09éßΩİИ中٣½ª²\U0001d552ǅ"
WORDS = (
    (st.text(st.sampled_from(LETTERS), max_size=30) | st.text(max_size=8))
    .map(list_words)
    .filter(bool)
    .map(lambda words: words[0])
)
VOCABULARIES = st.lists(WORDS, unique=True, max_size=30)
EXAMPLES = settings(deadline=None, max_examples=40)


def number_all(index, words):
    return index.number(TermTable(index_words(words)), np.arange(len(words)))


@EXAMPLES
@given(VOCABULARIES)
def test_words_have_the_numbers_they_were_given(words):
    made = index_words(words)
    assert int(made.size[0]) == len(words)
    assert decode_words(made, np.arange(len(words))) == words
    assert decode_words(made, np.arange(len(words))[::-1]) == words[::-1]


@EXAMPLES
@given(st.lists(VOCABULARIES, max_size=4), st.randoms(use_true_random=False))
def test_words_are_numbered_as_they_come(vocabularies, random):
    index, known = WordIndex(), {}
    for words in vocabularies:
        chosen = random.sample(range(len(words)), random.randint(0, len(words)))
        numbers = index.number(TermTable(index_words(words)), np.array(chosen, int))
        expected = [known.setdefault(words[token], len(known)) for token in chosen]
        assert numbers.tolist() == expected
    assert len(index) == len(known)
    assert index.decode(np.arange(len(known))) == list(known)


@EXAMPLES
@given(VOCABULARIES, VOCABULARIES, st.data())
def test_what_is_forgotten_leaves_the_others_in_order(words, others, data):
    index, n = WordIndex(), len(words)
    number_all(index, words)
    used = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    number = index.forget(used)
    kept = [word for word, is_used in zip(words, used, strict=True) if is_used]
    assert number[used].tolist() == list(range(len(kept)))
    assert (number[~used] == -1).all()
    assert index.decode(np.arange(len(kept))) == kept
    # And those that come again, or for the first time, have numbers after them.
    numbers = number_all(index, others)
    assert index.decode(numbers) == others
    assert index.decode(np.arange(len(kept))) == kept


@EXAMPLES
@given(VOCABULARIES)
def test_words_that_are_saved_are_read_back(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("index") / "index"
    index, read = WordIndex(), WordIndex()
    number_all(index, words)
    index.save(path)
    read.load(path)
    assert read.decode(np.arange(len(read))) == words
    assert number_all(read, words[::-1]).tolist() == list(range(len(words)))[::-1]


@EXAMPLES
@given(st.lists(st.text(max_size=30), max_size=5))
def test_words_of_texts_are_those_of_plain_python(texts):
    incoming, index = scan_texts(texts, [""] * len(texts)), WordIndex()
    tokens = np.unique(incoming.features)
    numbers = index.number(incoming.terms, tokens)
    expected = dict.fromkeys(word for text in texts for word in list_words(text))
    assert index.decode(numbers) == list(expected)


def test_the_memory_of_words_does_not_depend_on_how_they_came():
    words = [f"wort{i}" for i in range(9_000)]
    sizes = set()
    for step in (70, 9_000):
        index = WordIndex()
        for first in range(0, 9_000, step):
            number_all(index, words[first : first + step])
        sizes.add(index.n_bytes)
    assert len(sizes) == 1


@EXAMPLES
@given(VOCABULARIES)
def test_words_are_spelled_when_no_more_of_them_will_come(words):
    index = WordIndex()
    number_all(index, words)
    index.close()
    assert index.decode(np.arange(len(index))) == words


def test_many_words_are_known_again():
    words, index = [f"wörter{i}" for i in range(20_000)], WordIndex()
    numbers = np.concatenate([number_all(index, words[i : i + 700]) for i in range(0, 20_000, 700)])
    np.testing.assert_array_equal(numbers, np.arange(20_000))
    np.testing.assert_array_equal(number_all(index, words), numbers)
    assert index.n_bytes > sum(len(word.encode()) for word in words)


ANALYSES = {
    "words": Analysis(),
    "pairs": Analysis(ngram_range=(1, 2)),
    "phrases": Analysis(ngram_range=(2, 3), stop_words=frozenset({"a"}), lowercase=False),
    "characters": Analysis("char", (2, 4)),
    "of words": Analysis("char_wb", (3, 4), strip_accents="unicode"),
    "both": Analysis("word+char_wb", (1, 2), stop_words=frozenset({"a"})),
    "function": Analysis(lambda text: text.split(" ")),
}
EACH = pytest.mark.parametrize("analysis", ANALYSES.values(), ids=ANALYSES.keys())
LISTS = st.lists(st.text("aAbé \n東京\ud800.", max_size=15), max_size=5)


def spell(analysis, table, tokens):
    """Return the terms of some tokens of a table."""
    index = make_index(analysis)
    return index.decode(index.absorb(table)[tokens])


@EACH
@EXAMPLES
@given(texts=LISTS)
def test_terms_of_texts_are_those_of_plain_python(analysis, texts):
    rows, table = scan_terms(analysis, texts)
    names = spell(analysis, table, rows.tokens)
    for i, text in enumerate(texts):
        row = slice(rows.indptr[i], rows.indptr[i + 1])
        found = dict(zip(names[row], rows.counts[row].tolist(), strict=True))
        assert found == Counter(analysis.list_terms(text))


@EACH
@EXAMPLES
@given(batches=st.lists(LISTS, max_size=4), data=st.data())
def test_terms_of_all_batches_have_one_number(analysis, batches, data, tmp_path_factory):
    index, known, hashes = make_index(analysis), {}, {}
    for texts in batches:
        rows, table = scan_terms(analysis, texts)
        tokens = np.unique(rows.tokens)
        is_taken = data.draw(st.lists(st.booleans(), min_size=tokens.size, max_size=tokens.size))
        taken = tokens[np.array(is_taken, bool)]
        names = spell(analysis, table, taken)
        numbers = index.number(table, taken).tolist()
        for name, number, mark in zip(names, numbers, hash_terms(table)[taken], strict=True):
            assert known.setdefault(name, number) == number
            assert hashes.setdefault(name, mark) == mark
    assert len(set(known.values())) == len(set(hashes.values())) == len(known) <= len(index)
    assert index.decode(np.array(list(known.values()), int)) == list(known)
    ids, names = index.arrange(np.array(list(known.values()), np.int64))
    assert names == sorted(known)
    assert ids.tolist() == [known[name] for name in names]
    n_bytes = index.n_bytes
    path = tmp_path_factory.mktemp("index") / "index"
    index.save(path)
    read = make_index(analysis)
    read.load(path)
    for each in (read, index):
        each.close()
        assert each.decode(np.arange(len(index))) == index.decode(np.arange(len(index)))
    read.load(path)
    assert (len(read), read.n_bytes) == (len(index), n_bytes)


@EACH
@EXAMPLES
@given(texts=LISTS, others=LISTS, data=st.data())
def test_terms_that_are_forgotten_leave_the_others_in_order(analysis, texts, others, data):
    index = make_index(analysis)
    rows, table = scan_terms(analysis, texts)
    index.absorb(table)
    n = len(index)
    is_used = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    names = np.array(index.decode(np.arange(n)), object)
    number = index.forget(is_used)
    kept = np.flatnonzero(number >= 0)
    assert set(np.flatnonzero(is_used)) <= set(kept)  # and what they begin with
    assert number[kept].tolist() == list(range(len(index)))
    assert index.decode(np.arange(len(index))) == names[kept].tolist()
    rows, table = scan_terms(analysis, others)
    tokens = np.unique(rows.tokens)
    numbers = index.number(table, tokens)
    assert index.decode(numbers) == spell(analysis, table, tokens)
    assert index.decode(np.arange(kept.size)) == names[kept].tolist()


def test_the_memory_of_ngrams_is_that_of_their_tables():
    texts = [f"word{i} word{i * i % 977} word{i % 13}" for i in range(20_000)]
    analysis = Analysis(ngram_range=(1, 2))
    index, other = make_index(analysis), make_index(analysis)
    for step, each in ((20_000, index), (300, other)):
        for first in range(0, 20_000, step):
            each.absorb(scan_terms(analysis, texts[first : first + step])[1])
    assert index.n_bytes == other.n_bytes
    held = sum(array.nbytes for array in (*other.ngrams, *other._words.words))
    assert held <= other.n_bytes <= 2 * held
