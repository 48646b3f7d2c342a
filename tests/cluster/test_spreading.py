"""Documents on the workers have the rows and targets that they have on one machine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from made_parts import make_collection, sort_by_class, write_parts
from spokeshave.cluster import counting, spread_documents, spreading
from spokeshave.text.vectorizer import DocumentVectorizer

KINDS = {
    "mixed": (make_collection(), {}),
    "by class": (sort_by_class(make_collection()), {}),
    "several labels": (make_collection(several=True), {"label_separator": ";"}),
}
DEALT = {"one part": (), "a class in each": (60, 0, 60, 60), "one large": (1, 0, 238)}


def check_same(client, spread, collection, vectorizer):
    """Check that blocks, one after the other, are what one machine makes of the collection."""
    blocks = client.gather(spread.blocks)
    X = vectorizer.fit_transform(collection.texts)
    found = sparse.vstack([block.X for block in blocks], format="csr")
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(X, name))
    labels = collection.labels
    names = MultiLabelBinarizer()
    y = names.fit_transform(labels if spread.is_multilabel else [[label] for label in labels])
    indicator = sparse.vstack([block.indicator for block in blocks])
    np.testing.assert_array_equal(indicator.toarray(), y)
    assert spread.names == names.classes_.tolist()
    assert (spread.n_documents, spread.n_features) == X.shape


@pytest.mark.parametrize("sizes", DEALT)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_do_not_matter(client, tmp_path, kind, sizes):
    collection, how = KINDS[kind]
    pattern = write_parts(collection, tmp_path, DEALT[sizes])
    recipe = DocumentVectorizer(weighting="tfidf")
    spread = spread_documents(client, pattern, vectorizer=recipe, **how)
    check_same(client, spread, collection, recipe)


def test_workers_that_die_change_nothing(four, make_deadly, collection, parts):
    tasks = [make_deadly(counting, "count_part", at=2), make_deadly(spreading, "make_block")]
    check_same(four, spread_documents(four, parts), collection, DocumentVectorizer())
    assert all(task.has_killed for task in tasks)
