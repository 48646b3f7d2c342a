"""The words of a sample: numbered, forgotten and spelled."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from made_batches import list_words, scan_texts
from spokeshave.budget.lexicon import Lexicon, make_words
from spokeshave.kernels.rows import DROPPED
from spokeshave.text.encoding import decode_words

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


def number_all(lexicon, words):
    return lexicon.number(make_words(words), np.arange(len(words)))


@EXAMPLES
@given(VOCABULARIES)
def test_words_have_the_numbers_they_were_given(words):
    made = make_words(words)
    assert int(made.size[0]) == len(words)
    assert decode_words(made, np.arange(len(words))) == words
    assert decode_words(made, np.arange(len(words))[::-1]) == words[::-1]


@EXAMPLES
@given(st.lists(VOCABULARIES, max_size=4), st.randoms(use_true_random=False))
def test_words_are_numbered_as_they_come(vocabularies, random):
    lexicon, known = Lexicon(), {}
    for words in vocabularies:
        chosen = random.sample(range(len(words)), random.randint(0, len(words)))
        numbers = lexicon.number(make_words(words), np.array(chosen, int))
        expected = [known.setdefault(words[token], len(known)) for token in chosen]
        assert numbers.tolist() == expected
    assert len(lexicon) == len(known)
    assert lexicon.spell(np.arange(len(known))) == list(known)


@EXAMPLES
@given(VOCABULARIES, VOCABULARIES, st.data())
def test_what_is_forgotten_leaves_the_others_in_order(words, others, data):
    lexicon, n = Lexicon(), len(words)
    number_all(lexicon, words)
    used = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    number = lexicon.forget(used)
    kept = [word for word, is_used in zip(words, used, strict=True) if is_used]
    assert number[used].tolist() == list(range(len(kept)))
    assert (number[~used] == DROPPED).all()
    assert lexicon.spell(np.arange(len(kept))) == kept
    # And those that come again, or for the first time, have numbers after them.
    numbers = number_all(lexicon, others)
    assert lexicon.spell(numbers) == others
    assert lexicon.spell(np.arange(len(kept))) == kept


@EXAMPLES
@given(VOCABULARIES)
def test_what_is_saved_is_read_back(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("lexicon") / "lexicon"
    lexicon, read = Lexicon(), Lexicon()
    number_all(lexicon, words)
    lexicon.save(path)
    read.load(path)
    assert read.spell(np.arange(len(read))) == words
    assert number_all(read, words[::-1]).tolist() == list(range(len(words)))[::-1]


@EXAMPLES
@given(st.lists(st.text(max_size=30), max_size=5))
def test_words_of_texts_are_those_of_plain_python(texts):
    incoming, lexicon = scan_texts(texts, [""] * len(texts)), Lexicon()
    tokens = np.unique(incoming.features)
    numbers = lexicon.number(incoming.words, tokens)
    expected = dict.fromkeys(word for text in texts for word in list_words(text))
    assert lexicon.spell(numbers) == list(expected)


def test_the_memory_of_words_does_not_depend_on_how_they_came():
    words = [f"wort{i}" for i in range(9_000)]
    sizes = set()
    for step in (70, 9_000):
        lexicon = Lexicon()
        for first in range(0, 9_000, step):
            number_all(lexicon, words[first : first + step])
        sizes.add(lexicon.n_bytes)
    assert len(sizes) == 1


@EXAMPLES
@given(VOCABULARIES)
def test_words_are_spelled_when_no_more_of_them_will_come(words):
    lexicon = Lexicon()
    number_all(lexicon, words)
    lexicon.close()
    assert lexicon.spell(np.arange(len(lexicon))) == words


def test_many_words_are_known_again():
    words, lexicon = [f"wörter{i}" for i in range(20_000)], Lexicon()
    numbers = np.concatenate(
        [number_all(lexicon, words[i : i + 700]) for i in range(0, 20_000, 700)]
    )
    np.testing.assert_array_equal(numbers, np.arange(20_000))
    np.testing.assert_array_equal(number_all(lexicon, words), numbers)
    assert lexicon.n_bytes > sum(len(word.encode()) for word in words)
