"""Dask is told what results of tasks take."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest
from dask.sizeof import sizeof
from scipy import sparse

from made_parts import make_collection
from spokeshave import DocumentVectorizer, DualLinearSVC
from spokeshave.cluster.counting import PrunedWords
from spokeshave.cluster.shapes import Tally
from spokeshave.cluster.spreading import Block
from spokeshave.jobs.dataset import Dataset, Part


def make_results():
    """Return results of every kind that holds much: each is large enough for its frame to be."""
    collection = make_collection(400, n_words=3000)
    vectorizer = DocumentVectorizer()
    X, y = vectorizer.fit_transform(collection.texts), np.array(collection.labels)
    words = pl.DataFrame({"word": [f"word{i}" for i in range(9000)], "frequency": range(9000)})
    part = Part(None, X, y)
    return {
        "words": PrunedWords(words, 1, 2, 3),
        "buckets": [words] * 3,
        "tally": Tally(words, np.zeros(5, np.int64)),
        "block": Block(X, sparse.csc_matrix(X[:, :4])),
        "vectorizer": vectorizer,
        "model": DualLinearSVC(random_state=0).fit(X, y),
        "collection": Dataset(
            train=part,
            test=None,
            names=[],
            counts=[],
            feature_names=np.array([]),
            vectorizer=None,
            scaler=None,
            fingerprint="",
        ),
    }


RESULTS = make_results()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_takes_about_what_dask_believes(name):
    believed, written = sizeof(RESULTS[name]), len(pickle.dumps(RESULTS[name]))
    assert 0.7 * written < believed < 5 * written  # what is written is packed
