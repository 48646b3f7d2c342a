"""A synthetic corpus of any size: Zipf-like words, topics, and an unlimited number of rare words.

Writes a table of texts and labels, and another one of held-out documents. A smaller corpus is the
beginning of a larger one.

    python benchmarks/made_corpus.py made.jsonl --matrix 4.2GB

A document mixes words of its topic, general words and words of another topic. A topic reweights all
words, rare ones most. Some words are misspelt, and some labels are wrong. With these constants,
macro-F1 falls with fewer words per document about as it does on 20 Newsgroups.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from memory import parse_bytes

N_WORDS = 400_000  # besides rare words, which are generated on the fly
BLOCK = 4096  # documents per block; each block has a seed of its own
TRAINING, HELD_OUT = 0, 1

SPREAD = 0.8  # standard deviation of the logarithm of a document's length
OWN = 4.5, 5.5  # beta distribution of the share of its own topic in a document
OTHER = 1.0, 9.0  # the same for a second topic
CALM = 3000  # the more frequent a word than this rank, the less topics differ in it
SHAPE = 0.03  # of the gamma distribution by which topics reweight rare words
REPEATED = 0.15  # probability that a token repeats one of the document
RARE = 0.03  # probability that a token is a number, or a code of the topic
TYPO = 0.006  # probability that a word has a wrong letter
MISLABELLED = 0.03
UNCOUNTED = -1  # a rare word, which the matrix lacks unless another document has it

ONSETS = "b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sp st t th tr v w y"
VOWELS = "a e i o u ai ea ee ie oo ou"
CODAS = "n r s t l d m nd ng nt rs st ck"  # or none

HEADS = {".csv": b"text,label\r\n", ".jsonl": b""}
ROWS = {".csv": b'"%b",topic%02d\r\n', ".jsonl": b'{"text": "%b", "label": "topic%02d"}\n'}


@dataclass(frozen=True)
class Size:
    """The amount of text.

    A word is one nonzero of a document, however often it occurs. Rare words are not counted: the
    few percent that recur make the matrix slightly larger than this.
    """

    documents: int = 0
    tokens: int = 0
    nonzeros: int = 0

    def __add__(self, other: Size) -> Size:
        documents, tokens = self.documents + other.documents, self.tokens + other.tokens
        return Size(documents, tokens, self.nonzeros + other.nonzeros)

    @property
    def matrix(self) -> int:
        """Bytes of the full matrix: a float64 and an int32 per nonzero, eight per document."""
        return 12 * self.nonzeros + 8 * self.documents


class Block(NamedTuple):
    """Documents: their concatenated text, the end of each, its tokens, nonzeros and label."""

    text: bytes
    ends: NDArray[np.int64]
    lengths: NDArray[np.int64]
    nonzeros: NDArray[np.int64]
    labels: NDArray[np.int64]

    def measure(self, n: int) -> Size:
        """Return the size of the first n documents."""
        return Size(n, int(self.lengths[:n].sum()), int(self.nonzeros[:n].sum()))

    def read(self, n: int) -> Iterator[tuple[bytes, int]]:
        """Yield the text and the label of the first n documents."""
        start = 0
        for end, label in zip(self.ends[:n].tolist(), self.labels[:n].tolist(), strict=True):
            yield self.text[start:end], label
            start = end + 1  # after the space behind the last word


class Words(NamedTuple):
    """Spellings: word w is ``letters[ends[w] : ends[w + 1]]``, with a space at its end."""

    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]


class Plan(NamedTuple):
    """Number of tokens of each document, its own and another topic, and their shares."""

    lengths: NDArray[np.int64]
    topics: NDArray[np.int64]
    shares: NDArray[np.float64]


class Corpus:
    """An unlimited number of documents on some topics.

    Parameters
    ----------
    n_topics : int
        Number of topics, which are the classes; the first is the most frequent.
    mean_length : float
        Mean number of tokens per document.
    seed : int
        Seed of words, topics and documents.
    """

    def __init__(self, *, n_topics: int = 12, mean_length: float = 200, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.n_topics, self.mean_length, self.seed = n_topics, mean_length, seed
        self.words = spell_words(rng)
        self.chances = weigh_words(rng, n_topics)
        popularity = np.arange(1, n_topics + 1) ** -0.5
        self.popularity = popularity / popularity.sum()

    def make_block(self, part: int, number: int) -> Block:
        """Return a block of the training or the held-out part."""
        rng = np.random.default_rng([self.seed, part, number])
        plan = self._plan(rng)
        text, ends, nonzeros = write_block(rng, plan, self.chances, self.words)
        is_wrong = rng.random(BLOCK) < MISLABELLED
        labels = np.where(is_wrong, rng.integers(1, self.n_topics + 1, BLOCK), plan.topics[:, 0])
        return Block(text.tobytes(), ends, plan.lengths, nonzeros, labels)

    def _plan(self, rng: np.random.Generator) -> Plan:
        logarithm = np.log(self.mean_length) - SPREAD**2 / 2
        lengths = np.ceil(rng.lognormal(logarithm, SPREAD, BLOCK)).astype(np.int64)
        own = 1 + rng.choice(self.n_topics, BLOCK, p=self.popularity)
        other = rng.integers(1, self.n_topics + 1, BLOCK)
        shares = rng.beta(*OWN, BLOCK), rng.beta(*OTHER, BLOCK)
        return Plan(lengths, np.column_stack([own, other]), np.column_stack(shares))


def write_corpus(
    corpus: Corpus, path: Path, part: int, *, documents: float = inf, matrix: float = inf
) -> Size:
    """Write documents up to a number of them, or a size of their matrix; return the size."""
    size, number, row = Size(), 0, ROWS[path.suffix]
    with path.open("wb") as file:
        file.write(HEADS[path.suffix])
        while size.documents < documents and size.matrix < matrix:
            block = corpus.make_block(part, number)
            taken = 12 * np.cumsum(block.nonzeros) + 8 * np.arange(1, BLOCK + 1)
            n = 1 + np.searchsorted(taken, matrix - size.matrix)
            n = int(min(n, BLOCK, documents - size.documents))
            file.writelines(row % document for document in block.read(n))
            size, number = size + block.measure(n), number + 1
    return size


def spell_words(rng: np.random.Generator) -> Words:
    """Return words of one to three syllables, shorter ones mostly first."""
    sounds = ONSETS.split(), VOWELS.split(), ["", *CODAS.split()]
    syllables = ["".join(parts) for parts in product(*sounds)]
    chosen = rng.integers(0, len(syllables), (2 * N_WORDS, 3)).tolist()
    pairs = [syllables[i] + syllables[j] for i, j, _ in chosen[:N_WORDS]]
    triples = [syllables[i] + syllables[j] + syllables[k] for i, j, k in chosen[N_WORDS:]]
    words = list(dict.fromkeys([*syllables, *pairs, *triples]))
    lengths = np.array([len(word) for word in words])
    order = np.argsort(lengths + rng.normal(0, 1, len(words)))[:N_WORDS]
    letters = "".join(words[w] + " " for w in order.tolist()).encode()
    ends = np.concatenate([[0], np.cumsum(lengths[order] + 1)])
    return Words(np.frombuffer(letters, np.uint8), ends)


def weigh_words(rng: np.random.Generator, n_topics: int) -> NDArray[np.float64]:
    """Return cumulative probabilities of words: a row for general text, and one per topic.

    Probabilities fall as one over the rank, and faster among rare words, as in English.
    """
    rank = np.arange(1, N_WORDS + 1)
    common = 1 / (rank + 2.7) / np.sqrt(1 + rank / 8000)
    shape = SHAPE * (1 + CALM / rank)
    factors = rng.gamma(shape, 1 / shape, (n_topics, N_WORDS))
    totals = np.cumsum(np.vstack([common, factors * common]), axis=1)
    return totals / totals[:, -1:]


@njit
def write_block(rng, plan, chances, words):
    """Return the text of documents, the end of each, and its number of distinct words."""
    longest = np.diff(words.ends).max() + 8  # a code has eight digits behind a word
    text = np.empty(plan.lengths.sum() * longest, np.uint8)
    starts = np.empty(plan.lengths.max() + 1, np.int64)
    ends, nonzeros = np.empty_like(plan.lengths), np.zeros_like(plan.lengths)
    seen_in = np.full(words.ends.size, -1)
    position = 0
    for d in range(ends.size):
        for i in range(plan.lengths[d]):
            starts[i] = position
            if i > 0 and rng.random() < REPEATED:
                j = int(i * rng.random())
                position = _copy(text, starts[j], starts[j + 1], text, position)
                continue
            topic = _choose_topic(rng, plan.topics[d], plan.shares[d])
            position, w = _write_new(rng, topic, chances[topic], words, text, position)
            if w != UNCOUNTED and seen_in[w] != d:
                seen_in[w] = d
                nonzeros[d] += 1
        ends[d] = position - 1
    return text[:position], ends, nonzeros


@njit
def _choose_topic(rng, topics, shares):
    chance = rng.random()
    if chance < shares[0]:
        return topics[0]
    return topics[1] if chance < shares[0] + shares[1] else 0


@njit
def _write_new(rng, topic, chances, words, text, position):
    """Write a token that is not a repetition; return its end, and the number of the word."""
    if rng.random() < RARE:
        return _write_code(rng, topic, words, text, position), UNCOUNTED
    w = np.searchsorted(chances, rng.random(), "right")
    end = _copy(words.letters, words.ends[w], words.ends[w + 1], text, position)
    if rng.random() < TYPO:
        wrong = position + int(rng.random() * (end - 1 - position))
        text[wrong] = ord("a") + int(26 * rng.random())
        return end, UNCOUNTED
    return end, w


@njit
def _write_code(rng, topic, words, text, position):
    """Write a number, after a short word if it is a topic's code; small numbers recur more."""
    if topic > 0:
        start, stop = words.ends[topic], words.ends[topic + 1]
        position = _copy(words.letters, start, stop, text, position) - 1
    number = int(10 ** (2 + 6 * rng.random()))
    while number > 0:
        text[position] = ord("0") + number % 10
        position, number = position + 1, number // 10
    text[position] = ord(" ")
    return position + 1


@njit
def _copy(source, start, stop, target, position):
    for i in range(start, stop):
        target[position + i - start] = source[i]
    return position + stop - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, help="file to write, .csv or .jsonl")
    parser.add_argument("--documents", type=int, default=inf, help="number of training documents")
    parser.add_argument(
        "--matrix", type=parse_bytes, default=inf, help="or the size of their matrix"
    )
    parser.add_argument("--held-out", type=int, default=20_000, help="documents in a second file")
    parser.add_argument("--topics", type=int, default=12)
    parser.add_argument("--length", type=float, default=200, help="mean tokens of a document")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if min(options.documents, options.matrix) == inf:
        parser.error("give the amount to write: --documents or --matrix")
    corpus = Corpus(n_topics=options.topics, mean_length=options.length, seed=options.seed)
    limits = {"documents": options.documents, "matrix": options.matrix}
    apart = options.path.with_stem(options.path.stem + ".held_out")
    for path, part, limit in (
        (options.path, TRAINING, limits),
        (apart, HELD_OUT, {"documents": options.held_out}),
    ):
        size = write_corpus(corpus, path, part, **limit)
        print(f"{path}: {size.documents:,} documents, {size.tokens:,} tokens, ", end="")
        print(
            f"{size.nonzeros:,} nonzeros, a matrix of {size.matrix:,} bytes or a little more",
            flush=True,
        )


if __name__ == "__main__":
    main()
