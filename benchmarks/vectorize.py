"""DocumentVectorizer against CountVectorizer on the training text of 20 Newsgroups.

Options are the same: single words, words and pairs of words, and two to four characters of a word.
The script fails if the matrices differ.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from contest import N_THREADS, read_newsgroups, take_turns
from spokeshave import DocumentVectorizer

ROUNDS = 5
ROUNDS_OF_NGRAMS = 2
PATTERN = r"(?u)[^\W_]+"
NGRAMS = {
    "words and pairs": {"ngram_range": (1, 2)},
    "characters of words": {"analyzer": "char_wb", "ngram_range": (2, 4)},
}


def main() -> None:
    texts = read_newsgroups().texts
    n_characters = sum(map(len, texts))
    print(f"20 Newsgroups, training part: {len(texts):,} documents, {n_characters:,} characters")
    options = {"norm": None, "strip_markup": False}
    peer = CountVectorizer(token_pattern=PATTERN, min_df=2, binary=True)
    one = DocumentVectorizer(n_jobs=1, **options)
    two = DocumentVectorizer(n_jobs=N_THREADS, **options)
    default = DocumentVectorizer(n_jobs=N_THREADS)
    for vectorizer in (one, default):
        vectorizer.fit(texts[:20])  # compiles
    best, matrices = take_turns(
        {
            "CountVectorizer": lambda: peer.fit_transform(texts),
            "DocumentVectorizer, 1 thread": lambda: one.fit_transform(texts),
            f"DocumentVectorizer, {N_THREADS} threads": lambda: two.fit_transform(texts),
            f"  markup off and L2 too, {N_THREADS} threads": lambda: default.fit_transform(texts),
        },
        ROUNDS,
    )
    print(f"{'':40}{'seconds':>9}{'ratio':>8}")
    for name, seconds in best.items():
        print(f"{name:40}{seconds:9.3f}{best['CountVectorizer'] / seconds:7.1f}x")
    compare(peer, one, matrices)
    for name, analysis in NGRAMS.items():
        race_ngrams(name, analysis, texts)


def race_ngrams(name: str, analysis: dict, texts: list[str]) -> None:
    """Print the times of counting n-grams."""
    pattern = None if "analyzer" in analysis else PATTERN
    peer = CountVectorizer(min_df=2, token_pattern=pattern, **analysis)
    options = {"weighting": "counts", "norm": None, "strip_markup": False, **analysis}
    one = DocumentVectorizer(n_jobs=1, **options)
    two = DocumentVectorizer(n_jobs=N_THREADS, **options)
    one.fit_transform(texts[:20])  # compiles
    best, matrices = take_turns(
        {
            f"CountVectorizer, {name}": lambda: peer.fit_transform(texts),
            "DocumentVectorizer, 1 thread": lambda: one.fit_transform(texts),
            f"DocumentVectorizer, {N_THREADS} threads": lambda: two.fit_transform(texts),
        },
        ROUNDS_OF_NGRAMS,
    )
    first = next(iter(best.values()))
    for contestant, seconds in best.items():
        print(f"{contestant:40}{seconds:9.3f}{first / seconds:7.1f}x")
    compare(peer, one, matrices)


def compare(peer: CountVectorizer, ours: DocumentVectorizer, matrices: dict) -> None:
    """Exit if the first two matrices differ."""
    expected, found = list(matrices.values())[:2]
    expected.sort_indices()
    if peer.vocabulary_ != ours.vocabulary_ or not are_equal(expected, found):
        sys.exit("the matrices differ")
    print(f"identical matrix: {found.shape[0]:,} x {found.shape[1]:,}, {found.nnz:,} nonzeros")


def are_equal(a, b) -> bool:
    parts = ("indptr", "indices", "data")
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in parts)


if __name__ == "__main__":
    main()
