"""Collections in parts, for the tests of clusters."""

from __future__ import annotations

import csv
from itertools import pairwise

import numpy as np
from scipy import sparse

from spokeshave.cluster.blocks import Block, Spread
from spokeshave.corpus.documents import Texts
from spokeshave.utils.validation import binarize, check_targets

SIZES = (40, 0, 1, 150)  # the rest is in the last part


def make_collection(n=240, n_classes=4, n_words=150, seed=0, several=False):
    """Return texts whose classes have words of their own, and labels, or sets of them."""
    rng = np.random.default_rng(seed)
    words = np.array([f"word{i}" for i in range(n_words)])
    texts, labels = [], []
    for i in range(n):
        classes = {i % n_classes} | ({(i // 3) % n_classes} if several else set())
        odds = np.ones(n_words)
        for k in classes:
            odds[k * 8 : (k + 1) * 8] = 9
        texts.append(" ".join(rng.choice(words, 20, p=odds / odds.sum())))
        names = tuple(f"class {k}" for k in sorted(classes))
        labels.append(names if several else names[0])
    return Texts(texts, labels)


def sort_by_class(collection):
    """Return a collection class by class, so that each is in few parts, or in one."""
    order = np.argsort(collection.labels, kind="stable")
    return Texts([collection.texts[i] for i in order], [collection.labels[i] for i in order])


def write_parts(collection, folder, sizes=SIZES):
    """Write a collection as csv files, the last with what the sizes leave; return a pattern."""
    edges = [0, *np.cumsum(sizes).tolist(), len(collection)]
    for number, (first, last) in enumerate(pairwise(edges)):
        with (folder / f"part-{number}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["label", "text"])
            for text, label in zip(
                collection.texts[first:last], collection.labels[first:last], strict=True
            ):
                writer.writerow([";".join(label) if isinstance(label, tuple) else label, text])
    return str(folder / "part-*.csv")


def spread_blocks(client, X, y, edges):
    """Return documents with targets of any kind in blocks: so many, or such that end at the edges.

    Names by content, which Dask gives by itself, would be those of blocks that were let go of just
    before: the scheduler may hear of that later, and forget these.
    """
    classes, indicator = binarize(check_targets(y))
    shares = np.array_split(np.arange(X.shape[0]), edges)
    blocks = [Block(X[rows], sparse.csc_matrix(indicator[rows])) for rows in shares]
    names = classes.astype(str).tolist()
    return Spread(client.scatter(blocks, hash=False), None, names, y.ndim == 2, *X.shape)
