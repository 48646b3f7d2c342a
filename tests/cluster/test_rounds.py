"""Training in rounds over blocks comes to the optimum of all documents."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from made_parts import make_collection
from spokeshave.budget.rounds import Objective
from spokeshave.budget.store import Batch
from spokeshave.cluster.blocks import encode
from spokeshave.cluster.reduced import join_blocks, make_block, train_share
from spokeshave.cluster.rounds import Setting, train_in_rounds
from spokeshave.cluster.workers import submit
from spokeshave.corpus.vectorizer import DocumentVectorizer
from spokeshave.solver import Stop

N_CLASSES = 3
ROOM = 12_000  # bytes: for about half of the documents


@pytest.fixture(scope="module", params=[True, False], ids=["binary", "counts"])
def blocks(request):
    collection = make_collection(90, N_CLASSES)
    vectorizer = DocumentVectorizer(weighting="binary" if request.param else "counts", norm=None)
    X = vectorizer.fit_transform(collection.texts)
    found = []
    for first, last in ((0, 40), (40, 41), (41, 90)):
        rows = X[first:last]
        ends, codes = encode(collection.labels[first:last], [f"class {k}" for k in range(3)])
        values = None if request.param else rows.data.astype(np.float32)
        batch = Batch(rows.indptr, rows.indices.astype(np.uint32), values, ends, codes)
        found.append(make_block(batch, "l2"))
    return found, X.shape[1]


def make_objective(ridge=0.0):
    ones = np.ones((N_CLASSES, 2))
    box = ones if not ridge else np.full_like(ones, np.inf)
    return Objective(box, ridge * ones, 1.0, np.arange(N_CLASSES))


@pytest.mark.parametrize("ridge", [0.0, 0.5], ids=["hinge", "squared hinge"])
def test_rounds_come_to_the_optimum_of_all_documents(client, blocks, ridge):
    found, n_features = blocks
    objective, stop = make_objective(ridge), Stop(1e-3, 200)
    futures = [submit(client, pass_on, block) for block in found]
    sizes = [block.rows.indices.size for block in found]
    setting = Setting(n_features, stop, 0, ROOM)
    weights = train_in_rounds(client, futures, sizes, objective, setting, 2, lambda share: None)
    coef, intercept, primal, _ = train_share(
        join_blocks(found), objective, stop, 0, np.arange(N_CLASSES), n_features
    )
    assert weights.n_rounds > 1
    assert (weights.gap <= stop.tol * weights.objective).all()
    np.testing.assert_allclose(weights.objective, primal, rtol=2e-3)
    np.testing.assert_allclose(weights.coef, coef, atol=0.05)
    np.testing.assert_allclose(weights.intercept, intercept, atol=0.05)


def test_rounds_that_run_out_are_told_of(client, blocks):
    found, n_features = blocks
    futures = [submit(client, pass_on, block) for block in found]
    sizes = [block.rows.indices.size for block in found]
    setting = Setting(n_features, Stop(1e-9, 1), 0, ROOM)
    with pytest.warns(ConvergenceWarning, match="Stopped after max_iter=1 passes"):
        train_in_rounds(client, futures, sizes, make_objective(), setting, 3, lambda share: None)


def pass_on(value):
    return value
