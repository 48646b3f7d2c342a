"""A random sample of texts: the same however they are dealt, and no larger than it may be."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.budget.counts import draw
from spokeshave.corpus import Texts
from spokeshave.errors import ParameterError
from spokeshave.jobs.text_sample import (
    FEWEST_CHARACTERS,
    OF_PROCESS,
    PER_CHARACTER,
    TextSample,
    limit_characters,
    sample_texts,
)

TEXTS = st.lists(st.text(max_size=6), max_size=30)


def deal(texts, ends):
    """Return the texts in batches, each text labelled by its number."""
    pieces = np.split(np.arange(len(texts)), sorted(min(end, len(texts)) for end in ends))
    return [Texts([texts[i] for i in piece], [str(i) for i in piece]) for piece in pieces]


@given(TEXTS, st.lists(st.integers(0, 30), max_size=4), st.integers(0, 100), st.integers(0, 9))
def test_a_sample_has_the_smallest_keys_that_fit(texts, ends, n_characters, seed):
    found = sample_texts(deal(texts, ends), n_characters, seed)
    order, expected, size = np.argsort(draw(seed, 0, len(texts))), [], 0
    for i in order:
        size += len(texts[i])
        if size > n_characters:
            break
        expected.append(str(i))
    assert found.labels == expected
    assert found.texts == [texts[int(label)] for label in expected]


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(0, 60), st.permutations(range(4)))
def test_samples_of_parts_merge_in_any_order(parts, n_characters, order):
    samples = [sample_texts(deal(texts, []), n_characters, k) for k, texts in enumerate(parts)]

    def merge(samples):
        return reduce(lambda one, other: one.merge(other, n_characters), samples, TextSample())

    other = merge([samples[k] for k in order if k < len(samples)])
    assert merge(samples).texts == other.texts


def test_every_text_is_as_likely():
    texts = [Texts(["oak"] * 10, list("abcdefghij"))]
    counts = dict.fromkeys("abcdefghij", 0)
    for seed in range(2000):
        for label in sample_texts(texts, 9, seed).labels:
            counts[label] += 1
    assert all(abs(count - 600) < 100 for count in counts.values())  # five standard deviations


def test_memory_limits_the_characters():
    least = OF_PROCESS + PER_CHARACTER * FEWEST_CHARACTERS
    assert limit_characters(least, is_text=True) == FEWEST_CHARACTERS
    with pytest.raises(ParameterError, match="effort must be quick in so little memory"):
        limit_characters(least - 1, is_text=True)
    with pytest.raises(ParameterError, match="effort must be quick for vectors"):
        limit_characters(least, is_text=False)
