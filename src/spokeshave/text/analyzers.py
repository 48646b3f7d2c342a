"""Analysis of a text into terms: words, word n-grams, character n-grams, or both kinds together.

Plain Python without numba or scikit-learn; `spokeshave.text.terms` does the same with the kernels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeAlias

from spokeshave.text.preprocess import strip_accents_ascii, strip_accents_unicode, strip_markup

# Letters and marks of scripts that are written without spaces between words, and not their digits.
_CHARACTERS = "".join(
    (
        r"\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff",  # Han
        r"\U0001aff0-\U0001b16f\U00020000-\U0003ffff",  # old Kana, more Han
        r"\u3041-\u3096\u3099\u309a\u309d-\u309f",  # Hiragana
        r"\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f",  # Katakana
        r"\u0e01-\u0e3a\u0e40-\u0e4e",  # Thai
        r"\u0e81-\u0ece\u0edc-\u0edf",  # Lao
        r"\u1780-\u17d3\u17d7\u17dc\u17dd",  # Khmer
        r"\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f",
    )
)
TOKEN = re.compile(r"[^\W_]+")
UNSPACED = re.compile(f"[{_CHARACTERS}]+")
_MIXED = re.compile(rf"[^\W_{_CHARACTERS}]+|[{_CHARACTERS}]+")
JOINT = "word+char_wb"
ANALYZERS = ("word", "char", "char_wb", JOINT)
OF_JOINT = (2, 5)  # characters of a term, beside words
MARK = "*"  # before characters that are beside words: no word begins with it, and it sorts first
_ACCENTS = {"ascii": strip_accents_ascii, "unicode": strip_accents_unicode}
_SPACES = re.compile(r"\s\s+")
ENOUGH = 1000  # texts that tell the script of all
CHARACTERS = 6  # of a word and the space after it, about

Analyzer: TypeAlias = "str | Callable[[str], Iterable[str]]"
Stripper: TypeAlias = "str | Callable[[str], str] | None"


@dataclass(frozen=True)
class Analysis:
    """How a text becomes terms; the options are those of `DocumentVectorizer`.

    ``stop_words`` are left out before word n-grams are made.

    Examples
    --------
    >>> Analysis(ngram_range=(1, 2), stop_words=frozenset({"the"})).list_terms("Oak, the <b>Ash")
    ['oak', 'oak ash', 'ash']
    >>> Analysis(analyzer="char_wb", ngram_range=(3, 3)).list_terms("an elm")
    [' an', 'an ', ' el', 'elm', 'lm ']
    >>> Analysis(analyzer="word+char_wb").list_terms("an")
    ['an', '* a', '* an', '* an ', '*an', '*an ', '*n ']
    """

    analyzer: Analyzer = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    strip_accents: Stripper = None
    strip_markup: bool = True
    stop_words: frozenset[str] = frozenset()
    unspaced: str | None = "bigrams"

    @property
    def is_plain(self) -> bool:
        """Whether terms are single words."""
        return self.analyzer == "word" and self.has_single_words

    @property
    def has_single_words(self) -> bool:
        """Whether words are terms one by one; the vocabulary then leaves out stop words."""
        return self.analyzer in ("word", JOINT) and self.ngram_range[1] == 1

    @property
    def parts(self) -> tuple[Analysis, ...]:
        """The analysis of words and that of characters, if the terms are of both."""
        if self.analyzer != JOINT:
            return ()
        characters = replace(self, analyzer="char_wb", ngram_range=OF_JOINT, stop_words=frozenset())
        return replace(self, analyzer="word"), characters

    @property
    def n_per_word(self) -> int:
        """About how many terms a text has for each of its words.

        Examples
        --------
        >>> Analysis(ngram_range=(1, 2)).n_per_word, Analysis("char", (2, 4)).n_per_word
        (2, 18)
        """
        if callable(self.analyzer):
            return 1
        if self.parts:
            return sum(part.n_per_word for part in self.parts)
        min_n, max_n = self.ngram_range
        return (max_n - min_n + 1) * (1 if self.analyzer == "word" else CHARACTERS)

    def clean(self, text: str) -> str:
        """Return the text without markup, in lower case and without accents, as asked for."""
        if self.strip_markup:
            text = strip_markup(text)
        if callable(self.analyzer):
            return text
        if self.lowercase:
            text = text.lower()
        if self.strip_accents is None:
            return text
        strip = self.strip_accents if callable(self.strip_accents) else _ACCENTS[self.strip_accents]
        return strip(text)

    def list_terms(self, text: str, longest: int | None = None) -> list[str]:
        """Return the terms of a text, by position and then by length.

        With ``longest``, n-grams of more words or characters may be missing.
        """
        if self.parts:
            words, characters = (part.list_terms(text, longest) for part in self.parts)
            return words + [MARK + each for each in characters]
        text = self.clean(text)
        if callable(self.analyzer):
            return list(self.analyzer(text))
        min_n, max_n = self.ngram_range
        max_n = max_n if longest is None else min(max_n, longest)
        if self.analyzer == "word":
            words = self.split_words(text)
            if self.stop_words:
                words = [word for word in words if word not in self.stop_words]
            if self.ngram_range == (1, 1):
                return words
            return [" ".join(gram) for gram in _slide(words, min_n, max_n)]
        if self.analyzer == "char":
            return list(_slide(join_spaces(text), min_n, max_n))
        padded = [f" {word} " for word in text.split()]
        return [gram for word in padded for gram in _slide(word, min(min_n, len(word)), max_n)]

    def split_words(self, text: str) -> list[str]:
        """Return the words of a cleaned text, and the characters and pairs of unspaced scripts.

        Examples
        --------
        >>> Analysis().split_words("oak 東京都 1")
        ['oak', '東', '京', '都', '東京', '京都', '1']
        """
        if self.unspaced is None or text.isascii() or not UNSPACED.search(text):
            return TOKEN.findall(text)
        words: list[str] = []
        for run in _MIXED.findall(text):
            if UNSPACED.match(run):
                words.extend(run)
                words.extend(first + second for first, second in pairwise(run))
            else:
                words.append(run)
        return words

    def has_words(self, words: list[str]) -> bool:
        """Return whether each of these could be a word of a text."""
        text = "\n".join(words)
        if self.lowercase and self.strip_accents is None:  # which may leave capitals
            text = text.lower()
        if self.unspaced is None:
            return TOKEN.findall(text) == words
        is_short = all(len(word) <= 2 for word in words if UNSPACED.match(word))
        return is_short and _MIXED.findall(text) == words


def is_unspaced(texts: Sequence[str]) -> bool:
    """Return whether most letters are of scripts without spaces between words.

    Examples
    --------
    >>> is_unspaced(["東京都", "大阪府 Osaka"]), is_unspaced(["the oak of 東京"])
    (True, False)
    """
    n_letters, n_unspaced = (
        sum(len(run) for text in texts[:ENOUGH] for run in pattern.findall(text))
        for pattern in (TOKEN, UNSPACED)
    )
    return 2 * n_unspaced > n_letters


def split_marked(names: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the places of words among the terms of a joint analysis, and those of characters.

    Examples
    --------
    >>> split_marked(["*oa", "oak"])
    ([1], [0])
    """
    places: tuple[list[int], list[int]] = ([], [])
    for place, name in enumerate(names):
        places[name.startswith(MARK)].append(place)
    return places


def _slide(sequence: Any, min_n: int, max_n: int) -> Iterator[Any]:
    """Yield the slices of min_n to max_n items, by position and then by length."""
    for start in range(len(sequence) - min_n + 1):
        for stop in range(start + min_n, min(start + max_n, len(sequence)) + 1):
            yield sequence[start:stop]


def join_spaces(text: str) -> str:
    r"""Return the text with each run of two or more white spaces as one space.

    Examples
    --------
    >>> join_spaces("old \n oak\ntree")
    'old oak\ntree'
    """
    return _SPACES.sub(" ", text)


def check_analysis(options: Any) -> None:
    """Raise if an option of an analysis is invalid; options are attributes."""
    if options.analyzer not in ANALYZERS and not callable(options.analyzer):
        raise ValueError(
            "analyzer must be 'word', 'char', 'char_wb', 'word+char_wb' or callable. "
            f"Got {options.analyzer!r} instead."
        )
    if not _is_range(options.ngram_range):
        raise ValueError(
            "ngram_range must be two whole numbers, the smallest and the largest length, from 1 "
            f"up. Got {options.ngram_range!r} instead."
        )
    known = options.strip_accents is None or options.strip_accents in tuple(_ACCENTS)
    if not known and not callable(options.strip_accents):
        raise ValueError(
            "strip_accents must be 'ascii', 'unicode', None or callable. "
            f"Got {options.strip_accents!r} instead."
        )
    if options.unspaced not in ("bigrams", None):
        raise ValueError(f"unspaced must be 'bigrams' or None. Got {options.unspaced!r} instead.")


def _is_range(given: Any) -> bool:
    """Return whether this is a pair of lengths, the smaller one first."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        return False
    if not all(isinstance(n, Integral) and not isinstance(n, bool) for n in given):
        return False
    return bool(1 <= given[0] <= given[1] < 1 << 31)
