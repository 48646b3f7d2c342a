"""Texts made up for tests of a budget: few words are frequent, most are rare, as in real ones."""

from __future__ import annotations

import string

import numpy as np

OWN = 0.15  # of the words of a document are of its class
SPAN = 200  # words that each class has of its own, from the hundredth on


def spell(number):
    """Return a word for a number: the smaller, the shorter."""
    letters = ""
    number += 27
    while number:
        number, rest = divmod(number - 1, 26)
        letters = string.ascii_lowercase[rest] + letters
    return letters


def make_zipf(n, *, n_words=5_000, length=30, n_classes=3, seed=0):
    """Return texts and their labels; word i is drawn in proportion to 1 / (i + 2)."""
    rng = np.random.default_rng(seed)
    names = np.array([spell(number) for number in range(n_words)], object)
    chances = np.cumsum(1 / np.arange(2, n_words + 2))
    kinds = rng.integers(n_classes, size=n)
    lengths = 1 + rng.poisson(rng.gamma(4, length / 4, n))
    of = np.repeat(kinds, lengths)
    drawn = np.searchsorted(chances, rng.random(len(of)) * chances[-1])
    own = np.flatnonzero(rng.random(len(of)) < OWN)
    drawn[own] = 100 + n_classes * (drawn[own] % SPAN) + of[own]
    tokens = names[drawn].tolist()
    ends = np.cumsum(lengths).tolist()
    texts = [
        " ".join(tokens[end - size : end]) for size, end in zip(lengths.tolist(), ends, strict=True)
    ]
    return texts, [f"kind {kind}" for kind in kinds]


def write_csv(path, texts, labels, mode="w"):
    """Write a table of two columns; there is no comma in a text."""
    with path.open(mode) as stream:
        if mode == "w":
            stream.write("text,label\n")
        stream.writelines(f"{text},{label}\n" for text, label in zip(texts, labels, strict=True))
    return path
