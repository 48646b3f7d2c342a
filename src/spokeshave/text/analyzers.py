"""Analysis of a text into terms: words, word n-grams or character n-grams.

Plain Python without numba or scikit-learn; `spokeshave.text.terms` does the same with the kernels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

from spokeshave.text.preprocess import strip_accents_ascii, strip_accents_unicode, strip_markup

TOKEN = re.compile(r"[^\W_]+")
ANALYZERS = ("word", "char", "char_wb")
_ACCENTS = {"ascii": strip_accents_ascii, "unicode": strip_accents_unicode}
_SPACES = re.compile(r"\s\s+")

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
    """

    analyzer: Analyzer = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    strip_accents: Stripper = None
    strip_markup: bool = True
    stop_words: frozenset[str] = frozenset()

    @property
    def is_plain(self) -> bool:
        """Whether terms are single words."""
        return self.analyzer == "word" and self.ngram_range[1] == 1

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
        text = self.clean(text)
        if callable(self.analyzer):
            return list(self.analyzer(text))
        min_n, max_n = self.ngram_range
        max_n = max_n if longest is None else min(max_n, longest)
        if self.analyzer == "word":
            words = TOKEN.findall(text)
            if self.stop_words:
                words = [word for word in words if word not in self.stop_words]
            if self.ngram_range == (1, 1):
                return words
            return [" ".join(gram) for gram in _slide(words, min_n, max_n)]
        if self.analyzer == "char":
            return list(_slide(join_spaces(text), min_n, max_n))
        padded = [f" {word} " for word in text.split()]
        return [gram for word in padded for gram in _slide(word, min(min_n, len(word)), max_n)]


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
            f"analyzer must be 'word', 'char', 'char_wb' or callable. Got {options.analyzer!r} "
            "instead."
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


def _is_range(given: Any) -> bool:
    """Return whether this is a pair of lengths, the smaller one first."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        return False
    if not all(isinstance(n, Integral) and not isinstance(n, bool) for n in given):
        return False
    return bool(1 <= given[0] <= given[1] < 1 << 31)
