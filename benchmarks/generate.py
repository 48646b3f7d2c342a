"""Synthetic multilabel collections at the size of real ones: Zipf-like words and topics."""

from __future__ import annotations

import numpy as np
from scipy import sparse

DRAWS = 83  # words drawn for a document; without duplicates about 76 are left
TOPIC_SHARE = 0.25  # share of a document's words that come from its topics
BLOCK = 50_000  # documents made at a time


def make_collection(
    *, n_train: int, n_test: int, n_features: int, n_topics: int, seed: int
) -> tuple[sparse.csr_matrix, np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Return binary rows of length one and indicators of topics, for training and test.

    A document has up to three topics, frequent ones more often. A quarter of its words come from
    the vocabularies of its topics, the others from a shared one.
    """
    rng = np.random.default_rng(seed)
    common = _zipf(n_features)
    vocabularies = np.array([rng.permutation(n_features) for _ in range(n_topics)], np.int32)
    parts = [_make_part(rng, n, common, vocabularies, _zipf(n_topics)) for n in (n_train, n_test)]
    return (*parts[0], *parts[1])


def _zipf(n: int) -> np.ndarray:
    """Return cumulative probabilities of n items, each proportional to one over its rank."""
    chances = 1 / (np.arange(n) + 2.7)
    return np.cumsum(chances / chances.sum())


def _make_part(
    rng: np.random.Generator,
    n: int,
    common: np.ndarray,
    vocabularies: np.ndarray,
    popularity: np.ndarray,
) -> tuple[sparse.csr_matrix, np.ndarray]:
    topics = np.searchsorted(popularity, rng.random((n, 3))).astype(np.int32)
    indicator = np.zeros((n, len(vocabularies)), np.int8)
    np.put_along_axis(indicator, topics, 1, axis=1)
    blocks = [
        _make_block(rng, topics[first : first + BLOCK], common, vocabularies)
        for first in range(0, n, BLOCK)
    ]
    return sparse.vstack(blocks, format="csr"), indicator


def _make_block(
    rng: np.random.Generator, topics: np.ndarray, common: np.ndarray, vocabularies: np.ndarray
) -> sparse.csr_matrix:
    n, n_features = len(topics), common.size
    words = np.searchsorted(common, rng.random((n, DRAWS), np.float32)).astype(np.int32)
    words = np.minimum(words, n_features - 1)
    of_topic = int(TOPIC_SHARE * DRAWS)
    chosen = np.take_along_axis(topics, rng.integers(0, 3, (n, of_topic)), axis=1)
    words[:, :of_topic] = vocabularies[chosen, words[:, :of_topic]]
    words.sort(axis=1)
    is_new = np.ones(words.shape, bool)
    is_new[:, 1:] = words[:, 1:] != words[:, :-1]
    counts = is_new.sum(axis=1)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    data = np.repeat((1 / np.sqrt(counts)).astype(np.float32), counts)
    return sparse.csr_matrix((data, words[is_new], indptr), shape=(n, n_features))
