"""Batches of documents made up for tests of training in a given memory."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from spokeshave.budget.request import Request
from spokeshave.budget.row_batches import Batch, Classes, TextEncoder, to_offsets
from spokeshave.budget.shards import ShardWriter
from spokeshave.budget.working_set import Objective
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.svm.estimator import DualLinearSVC, compute_costs
from spokeshave.svm.solver import Stop
from spokeshave.text.analyzers import Analysis
from spokeshave.text.vectorizer import DocumentVectorizer

N_FEATURES, N_CLASSES = 9, 4
NORMS = ["l2", "l1", None]


@st.composite
def documents(draw, max_size=12):
    """Draw a matrix of small numbers, without order in its rows, and some classes of each row."""
    features = st.lists(st.integers(0, N_FEATURES - 1), unique=True, max_size=N_FEATURES)
    rows = draw(st.lists(features, max_size=max_size))
    value = st.integers(-4, 4).filter(bool).map(lambda number: number / 2)
    values = [draw(st.lists(value, min_size=len(row), max_size=len(row))) for row in rows]
    classes = st.lists(st.integers(0, N_CLASSES - 1), unique=True, max_size=N_CLASSES).map(tuple)
    labels = [draw(classes) for _ in rows]
    return make_rows(rows, values), labels


def make_rows(rows, values):
    """Return a matrix of rows whose features stay in the order given."""
    indices, data = np.array([*chain(*rows)], np.int32), np.array([*chain(*values)], np.float32)
    indptr = to_offsets(np.array([len(row) for row in rows], int))
    return sparse.csr_matrix((data, indices, indptr), shape=(len(rows), N_FEATURES))


def make_batch(X, labels, *, has_values=True):
    """Return the rows of a matrix, and the codes of their classes: a number each, or a tuple."""
    sets = [label if isinstance(label, tuple) else (label,) for label in labels]
    ends = to_offsets(np.array([len(codes) for codes in sets], int))
    codes = np.array([code for codes in sets for code in codes], np.int32)
    values = X.data.astype(np.float32) if has_values else None
    return Batch(X.indptr.astype(np.int64), X.indices, values, ends, codes)


def divide(X, labels, bounds, *, has_values=True):
    """Yield batches that begin and end at the given documents."""
    n = len(labels)
    for first, last in pairwise([0, *sorted(min(bound, n) for bound in bounds), n]):
        yield make_batch(X[first:last], labels[first:last], has_values=has_values)


def write_batches(folder, batches, *, has_values=True):
    """Write batches to a folder."""
    folder.mkdir(exist_ok=True)
    with ShardWriter(folder, has_values=has_values) as writer:
        for batch in batches:
            writer.add(batch)
        writer.finish()
    return folder


def to_dense(indptr, indices, values, n_features=N_FEATURES):
    """Return rows as a dense table, cell by cell."""
    dense = np.zeros((len(indptr) - 1, n_features))
    for i, (first, last) in enumerate(pairwise(map(int, indptr))):
        for p in range(first, last):
            dense[i, int(indices[p])] += 1 if values is None else values[p]
    return dense


def scan_texts(texts, labels, *, has_values=False):
    """Return the rows of some texts, whose words have numbers of the batch."""
    encoder = make_encoder("counts" if has_values else "binary")
    return encoder.scan(Texts(list(texts), list(labels)))


def make_encoder(weighting="binary", **options):
    """Return an encoder of texts, which keep their markup by default."""
    return TextEncoder(
        DocumentVectorizer(**{"strip_markup": False, **options}, weighting=weighting)
    )


def list_words(text):
    """Return the words of a text in plain Python."""
    return Analysis(strip_markup=False).list_terms(text)


def make_texts(n, *, n_classes=3, seed=0):
    """Return texts whose words depend on the class, many of them rare, and their labels."""
    rng = np.random.default_rng(seed)
    labels = [f"class {i % n_classes}" for i in range(n)]
    texts = []
    for i in range(n):
        common = rng.integers(0, 30, size=6)
        own = 10 * (i % n_classes) + rng.integers(0, 10, size=3)
        rare = rng.integers(0, 20 * n, size=2)
        words = [f"w{w}" for w in common] + [f"Ähre{w}" for w in own] + [f"r{w}" for w in rare]
        texts.append(" ".join(words))
    return texts, labels


def pose_svc(model, y):
    """Return what an SVM's parameters stand for, for labels or an indicator."""
    if y.ndim == 2:
        names, sizes = np.arange(y.shape[1]), y.sum(axis=0).astype(float)
    else:
        names, sizes = np.unique(y), np.bincount(y).astype(float)
    codes = names[1:] if y.ndim == 1 and len(names) == 2 else names
    strength = None if model.prior is None else model.prior_strength
    costs = compute_costs(model, names, sizes, float(len(y)), y.ndim == 2)
    return Objective(*costs, codes, strength)


def list_codes(y):
    """Return the codes of each document's classes, from labels or an indicator."""
    if y.ndim == 1:
        return y.tolist()
    return [tuple(np.flatnonzero(row).tolist()) for row in y]


def make_request(**options):
    """Return what is asked of a run, with the given options, also those of its vectorizer."""
    of_texts = {"min_df": 1, "strip_markup": False}
    for name in DocumentVectorizer().get_params():
        if name in options and name not in ("norm", "n_jobs"):
            of_texts[name] = options.pop(name)

    def pose(names, codes, counts):
        sizes = np.array([counts.class_counts[name] for name in names.tolist()], float)
        model = DualLinearSVC()
        prices = compute_costs(
            model, names, sizes, counts.n_documents, len(codes) == len(names) > 2
        )
        return Objective(*prices, codes)

    defaults = {
        "memory": 1 << 50,
        "is_text": True,
        "is_multilabel": False,
        "svm": pose,
        "stop": Stop(1e-3, 1000),
        "by": "normal",
        "nonzeros_per_document": None,
        "tolerance": 0.005,
        "vectorizer": DocumentVectorizer(**of_texts),
        "norm": "l2",
        "seed": 0,
        "n_jobs": 1,
    }
    return Request(**{**defaults, **options})


class Stream:
    """Documents in memory that are read in batches of a size of their own."""

    name, position = "documents", 0

    def __init__(self, items, labels, *, batch_size=None, is_multilabel=False):
        self.is_text = isinstance(items, list)
        self.is_multilabel = is_multilabel
        self._items, self._labels, self._batch_size = items, labels, batch_size
        self.stamps = []

    @property
    def n_bytes(self):
        return len(self._labels)

    def read_batches(self, batch_size=250):
        size = self._batch_size or batch_size
        for first in range(0, len(self._labels), size):
            items, labels = self._items[first : first + size], self._labels[first : first + size]
            self.position = first + len(labels)
            yield Texts(items, labels) if self.is_text else Vectors(items, labels, None)


def number_classes(labels):
    """Return the classes of labels, numbered as they come."""
    classes = Classes()
    classes.encode(list(labels))
    return classes
