"""Training in rounds over blocks comes to the optimum of all documents."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from made_parts import make_collection
from spokeshave.budget.row_batches import Batch, Classes
from spokeshave.budget.shards import make_block
from spokeshave.budget.working_set import Objective, pick
from spokeshave.cluster.client import submit
from spokeshave.cluster.fit_reduced import count_variance, join_blocks, train_share
from spokeshave.cluster.spill import add_folder, remove_folder, spill, spilling
from spokeshave.cluster.working_set import (
    Setting,
    begin,
    descend,
    join_picked,
    train_in_rounds,
)
from spokeshave.kernels.descent import Task, add_up, measure, score
from spokeshave.svm.prior import compute_variance
from spokeshave.svm.solver import Stop
from spokeshave.text.vectorizer import DocumentVectorizer

N_CLASSES = 3
CAPACITY = 12_000  # bytes: for about half of the documents
EDGES = {1: [], 3: [40, 41], 7: [1, 2, 30, 55, 56, 89]}  # of blocks
PIECE = 16  # documents of a block that are together


@pytest.fixture(scope="module", params=[True, False], ids=["binary", "counts"])
def documents(request):
    """Rows whose features have values or not, and their labels."""
    collection = make_collection(90, N_CLASSES)
    vectorizer = DocumentVectorizer(weighting="binary" if request.param else "counts", norm=None)
    return vectorizer.fit_transform(collection.texts), collection.labels, not request.param


def split(documents, n_blocks):
    """Return documents in so many blocks, each in pieces."""
    edges = [0, *EDGES[n_blocks], 90]
    return [
        [make_piece(documents, at, min(at + PIECE, last)) for at in range(first, last, PIECE)]
        for first, last in pairwise(edges)
    ]


def make_piece(documents, first, last):
    """Return some documents as they are trained on."""
    X, labels, has_values = documents
    rows = X[first:last]
    classes = Classes([f"class {k}" for k in range(N_CLASSES)], is_closed=True)
    ends, codes = classes.encode(labels[first:last])
    values = rows.data.astype(np.float32) if has_values else None
    batch = Batch(rows.indptr, rows.indices.astype(np.uint32), values, ends, codes)
    return make_block(batch, "l2")


def train(
    client,
    documents,
    n_blocks,
    objective,
    stop,
    n_at_once=2,
    say=lambda sentence: None,
    capacity=CAPACITY,
    variance=None,
):
    """Train on documents in so many blocks, in rounds."""
    blocks = split(documents, n_blocks)
    sizes = [sum(piece.rows.indices.size for piece in block) for block in blocks]
    with spilling(client) as folder:
        futures = [submit(client, spill, folder, block) for block in blocks]
        setting = Setting(documents[0].shape[1], stop, 0, capacity, folder, n_at_once)
        options = objective, setting, lambda share: None, say
        return train_in_rounds(client, futures, sizes, *options, variance)


def make_objective(ridge=0.0):
    ones = np.ones((N_CLASSES, 2))
    box = ones if not ridge else np.full_like(ones, np.inf)
    return Objective(box, ridge * ones, 1.0, np.arange(N_CLASSES))


BINARY, COUNTS, HINGE, SQUARED = True, False, 0.0, 0.5
ROUNDS = {
    "one block": (BINARY, HINGE, 1, CAPACITY),
    "one block, counts, squared": (COUNTS, SQUARED, 1, CAPACITY),
    "three blocks, counts": (COUNTS, HINGE, 3, CAPACITY),
    "seven blocks, squared": (BINARY, SQUARED, 7, CAPACITY),
    "three blocks, little room": (BINARY, HINGE, 3, CAPACITY // 2),
}


@pytest.mark.parametrize(
    ("documents", "ridge", "n_blocks", "capacity"),
    list(ROUNDS.values()),
    ids=list(ROUNDS),
    indirect=["documents"],
)
def test_rounds_come_to_the_optimum_of_all_documents(client, documents, ridge, n_blocks, capacity):
    tol = 1e-4 if capacity == CAPACITY else 1e-3  # a small capacity takes many rounds
    objective, stop = make_objective(ridge), Stop(tol, 200)
    weights = train(client, documents, n_blocks, objective, stop, capacity=capacity)
    with spilling(client) as folder:
        futures = [submit(client, spill, folder, block) for block in split(documents, 3)]
        whole = submit(client, join_blocks, futures).result()
    coef, intercept, primal, gap = train_share(
        whole,
        objective,
        None,
        Stop(1e-8, 10_000),
        0,
        np.arange(N_CLASSES),
        documents[0].shape[1],
    )
    assert weights.n_rounds > 1
    assert (weights.gap <= stop.tol * weights.objective).all()
    np.testing.assert_allclose(weights.objective, primal, rtol=1.01 * stop.tol)
    distance = np.hypot(np.linalg.norm(weights.coef - coef, axis=1), weights.intercept - intercept)
    most = np.sqrt(2 * weights.gap) + np.sqrt(2 * gap)  # as the objective is that convex
    assert (distance <= most + 1e-9).all()


def test_a_prior_is_that_of_all_documents(client, documents):
    objective, stop = make_objective()._replace(prior_strength=1.0), Stop(1e-4, 200)
    n_features = documents[0].shape[1]
    with spilling(client) as folder:
        futures = [submit(client, spill, folder, block) for block in split(documents, 3)]
        variance = count_variance(client, futures, objective, n_features)
        weights = train(client, documents, 3, objective, stop, variance=variance)
        whole = submit(client, join_blocks, futures).result()
        variance = variance.result()
    X, classes = normalize(documents[0].astype(float)), np.array(documents[1])
    indicator = sparse.csc_matrix(classes[:, None] == [f"class {k}" for k in range(N_CLASSES)])
    expected = compute_variance("bns", 1.0, X, indicator, np.ones(X.shape[0]))
    np.testing.assert_allclose(variance, expected, rtol=1e-4)
    exact = Stop(1e-8, 10_000), 0, np.arange(N_CLASSES), n_features
    coef, _, primal, _ = train_share(whole, objective, variance, *exact)
    np.testing.assert_allclose(weights.objective, primal, rtol=1.01 * stop.tol)
    np.testing.assert_allclose(weights.coef, coef, atol=0.1)


@pytest.mark.parametrize("capacity", [1, CAPACITY // 4, 10 * CAPACITY], ids=["none", "some", "all"])
@pytest.mark.parametrize("ridge", [0.0, 0.5], ids=["hinge", "squared hinge"])
def test_weights_after_a_step_are_those_of_the_duals(documents, ridge, capacity, tmp_path):
    add_folder("spill-of-a-test", tmp_path)
    objective, n_features = make_objective(ridge), documents[0].shape[1]
    setting = Setting(n_features, Stop(1e-4, 200), 0, capacity, "spill-of-a-test", 1)
    blocks = split(documents, 7)
    everything = [pick_all(piece, objective) for block in blocks for piece in block]
    picked = [spill(setting.folder, [pick_all(piece, objective) for piece in b]) for b in blocks]
    start = begin(setting)
    step = descend(picked, start, objective, 0, 1e-6, setting, 1)
    normal, *duals = step
    assert [dual.size for dual in duals] == [sum(p.n_documents for p in block) for block in blocks]
    dual, y = np.concatenate(duals), np.concatenate([each.y for each in everything])
    assert (dual * y >= 0).all()
    assert (dual * y <= objective.box[0, 0]).all()
    w, ends = np.zeros(n_features), np.cumsum([each.y.size for each in everything])
    for each, beta in zip(everything, np.split(dual, ends[:-1]), strict=True):
        add_up(each.rows, objective.bias, beta, w)
    np.testing.assert_allclose(normal.w, w, atol=1e-12)
    assert normal.b == pytest.approx(objective.bias * dual.sum())
    task = Task(y, objective.box[0], objective.ridge[0])
    rows = join_picked(picked).rows
    margins = np.empty(y.size)
    score(rows, normal.w, normal.b, margins)
    (_, before), (_, after) = (
        measure(rows.weight, task, *at) for at in (np.zeros((2, y.size)), (dual, margins))
    )
    assert after < 0.25 * before
    del picked, start, step
    remove_folder("spill-of-a-test")


def pick_all(piece, objective):
    """Return all documents of a piece, before any step."""
    nothing = np.zeros(piece.n_documents)
    y = piece.find_class(int(objective.codes[0]))
    return pick(piece.rows, y, nothing, nothing, np.arange(piece.n_documents))


def test_classes_side_by_side_do_not_matter(client, documents):
    objective, stop = make_objective(), Stop(1e-2, 200)
    one, all_ = (train(client, documents, 3, objective, stop, n) for n in (1, N_CLASSES))
    assert one.n_rounds > 1
    np.testing.assert_array_equal(one.coef, all_.coef)
    np.testing.assert_array_equal(one.intercept, all_.intercept)


def test_rounds_that_run_out_are_told_of(client, documents):
    with pytest.warns(ConvergenceWarning, match="Stopped after max_iter=1 passes"):
        train(client, documents, 3, make_objective(), Stop(1e-9, 1))


def test_the_gap_is_told_of_in_every_round(client, documents):
    said = []
    weights = train(client, documents, 3, make_objective(), Stop(1e-3, 200), N_CLASSES, said.append)
    assert [sentence.split(":")[0] for sentence in said] == [
        f"round {number}" for number in range(1, weights.n_rounds + 1)
    ]
    worst = (weights.gap / weights.objective).max()
    assert said[-1].endswith(f"{N_CLASSES} of {N_CLASSES} classes done")
    assert float(said[-1].split("gap at most ")[1].split(",")[0]) <= worst * 1.05
