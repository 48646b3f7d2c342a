"""Counts of the parts of a collection add up to those of the whole, however it is divided."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from made_batches import documents, list_words, scan_texts
from spokeshave.budget.counts import (
    N_SMALLEST,
    CollectionCounts,
    as_tuple,
    count_rows,
    draw,
    list_distinct,
    mix,
)

MASK = 2**64 - 1
BOUNDS = st.lists(st.integers(0, 12), max_size=4)
TEXTS = st.lists(st.text("oakash OAKΩß-\n1", max_size=30), max_size=12)


def count_part(X, labels):
    return count_rows(X.indices, X.shape[0], labels)


def list_parts(n, bounds):
    return pairwise([0, *sorted(min(bound, n) for bound in bounds), n])


def require_equal(one, other):
    assert one.n_documents == other.n_documents
    assert one.n_nonzeros == other.n_nonzeros
    assert one.n_features == other.n_features
    assert one.class_counts == other.class_counts
    np.testing.assert_array_equal(one.smallest, other.smallest)


@settings(deadline=None, max_examples=40)
@given(documents(), BOUNDS, st.randoms(use_true_random=False))
def test_parts_add_up_to_the_whole_in_any_order(collection, bounds, random):
    X, labels = collection
    parts = [count_part(X[i:j], labels[i:j]) for i, j in list_parts(len(labels), bounds)]
    random.shuffle(parts)
    require_equal(reduce(CollectionCounts.merge, parts), count_part(X, labels))
    require_equal(reduce(CollectionCounts.merge, parts, CollectionCounts()), count_part(X, labels))


@settings(deadline=None, max_examples=40)
@given(documents())
def test_counts_equal_those_of_plain_python(collection):
    X, labels = collection
    counts = count_part(X, labels)
    assert counts.n_documents == len(labels)
    assert counts.n_nonzeros == X.nnz
    assert counts.n_features == max(X.indices, default=-1) + 1
    assert counts.class_counts == Counter(name for names in labels for name in names)
    assert counts.n_words == len(set(X.indices.tolist()))
    assert counts.per_document == X.nnz / max(len(labels), 1)


@settings(deadline=None, max_examples=40)
@given(TEXTS, BOUNDS)
def test_words_are_the_same_in_every_batch(texts, bounds):
    """Their numbers in a batch are not."""
    counts = CollectionCounts()
    for i, j in list_parts(len(texts), bounds):
        encoded = scan_texts(texts[i:j], ["oak"] * (j - i))
        hashes = encoded.hash_terms()
        counts = counts.merge(count_rows(encoded.features, j - i, encoded.labels, hashes=hashes))
    tokens = [set(list_words(text)) for text in texts]
    assert counts.n_words == len(set().union(*tokens))
    assert counts.n_nonzeros == sum(map(len, tokens))
    assert counts.n_features == 0
    assert counts.class_counts["oak"] == len(texts)


def count_numbers(numbers):
    return count_rows(np.empty(0), 0, [], hashes=numbers.astype(np.uint64))


@pytest.mark.parametrize("n", [0, 1, N_SMALLEST - 1])
def test_few_words_are_counted_exactly(n):
    assert count_numbers(np.arange(n)).n_words == n


@pytest.mark.parametrize("n", [N_SMALLEST, 6_000, 50_000, 300_000])
@pytest.mark.parametrize("step", [1, 8191])
def test_many_words_are_counted_to_a_few_per_cent(n, step):
    assert count_numbers(step * np.arange(n)).n_words == pytest.approx(n, rel=0.04)


def test_many_words_in_parts_are_those_of_the_whole(rng):
    numbers = rng.integers(0, 20_000, size=60_000)
    parts = [count_numbers(part) for part in np.split(numbers, [10, 9_000, 40_000])]
    require_equal(reduce(CollectionCounts.merge, parts), count_numbers(numbers))
    assert parts[1].smallest.size == N_SMALLEST


@given(st.lists(st.integers(0, 100)))
def test_distinct_numbers_are_listed_in_order(numbers):
    assert list_distinct(np.array(numbers, np.int32)).tolist() == sorted(set(numbers))


def test_features_of_large_numbers_take_no_more_memory_than_others():
    tracemalloc.start()
    count_rows(np.array([3, 1 << 24]), 1, ["oak"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10_000_000


def test_a_label_of_several_classes_names_each_once():
    assert as_tuple(("oak", "ash", "oak")) == ("oak", "ash")
    assert as_tuple("oak") == ("oak",)
    assert as_tuple(()) == ()
    assert as_tuple(3) == (3,)


@given(st.lists(st.integers(0, MASK), min_size=1))
def test_numbers_are_mixed_as_splitmix64_does(numbers):
    def mix_one(z):
        z = (z + 0x9E3779B97F4A7C15) & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    assert mix(np.array(numbers, np.uint64)).tolist() == [mix_one(number) for number in numbers]


@given(st.integers(0, 2**31), st.integers(0, 10**12), st.lists(st.integers(0, 50), max_size=5))
def test_lots_do_not_depend_on_how_a_stream_is_divided(seed, first, sizes):
    ends = np.cumsum([first, *sizes])
    parts = [draw(seed, int(begin), int(end - begin)) for begin, end in pairwise(ends)]
    whole = draw(seed, first, sum(sizes))
    np.testing.assert_array_equal(np.concatenate([np.empty(0), *parts]), whole)


@pytest.mark.parametrize("seed", [0, 1, 2**31])
def test_lots_are_uniform_and_other_seeds_draw_others(seed):
    lots = draw(seed, 0, 50_000)
    assert stats.kstest(lots, "uniform").pvalue > 0.001
    for other in (lots[1:], draw(seed + 1, 0, 49_999)):
        assert abs(np.corrcoef(lots[:-1], other)[0, 1]) < 0.02
