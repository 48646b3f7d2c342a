"""Models judged by documents that lie in parts: counts of each, which add up."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from distributed import Client, Future
from sklearn.preprocessing import normalize

from spokeshave.cluster.client import Report, collect, submit
from spokeshave.cluster.parts import Kind, Parts, Reading, Side
from spokeshave.corpus.documents import Texts
from spokeshave.corpus.vectorizer import DocumentVectorizer
from spokeshave.jobs.dataset import make_targets, make_test_targets
from spokeshave.metrics import Agreement, compare
from spokeshave.model.file import unpack_model
from spokeshave.svm.estimator import DualLinearSVC


def judge_parts(
    client: Client,
    parts: Parts,
    sides: list[Future] | None,
    content: Future,
    full: Future | None,
    vectorizer: Future | None,
    names: list[str],
    report: Report | None = None,
) -> list[Agreement]:
    """Return how far the final model, and that on all features if any, agree with the truth."""
    tasks = [
        submit(client, judge_part, item, parts.kind, side, content, full, vectorizer, names)
        for item, side in zip(parts.items, sides or [None] * len(parts), strict=True)
    ]
    found = collect(tasks, report)
    return [reduce(Agreement.merge, each) for each in zip(*found, strict=True)]


def check_parts(client: Client, parts: Parts, names: list[str]) -> None:
    """Raise where documents to judge by are malformed, or of a class that is not known."""
    collect([submit(client, check_part, item, parts.kind, names) for item in parts.items])


def check_part(part: Any, kind: Kind, names: list[str]) -> None:
    """Raise where documents of a part are malformed, or of a class that is not known."""
    for batch in Reading(part, kind):
        make_test_targets(batch.labels or [], names, kind.is_multilabel)


def judge_part(
    part: Any,
    kind: Kind,
    side: Side | None,
    content: bytes,
    full: DualLinearSVC | None,
    vectorizer: DocumentVectorizer | None,
    names: list[str],
) -> list[Agreement]:
    """Judge models by the documents of a part."""
    model = unpack_model(content)
    none = np.zeros(len(names), np.int64)
    found = [Agreement(0, 0, none, none, none)] * (1 if full is None else 2)
    for batch in Reading(part, kind, side):
        y = make_targets(batch.labels or [], names)
        guesses = [model.predict(_show(batch, model))]
        if full is not None:
            guesses.append(full.predict(_vectorize(batch, full, vectorizer)))
        found = [
            each.merge(compare(y, guess, names)) for each, guess in zip(found, guesses, strict=True)
        ]
    return found


def _show(batch: Any, model: Any) -> Any:
    """Return documents as a model file's model reads them."""
    return batch.texts if isinstance(batch, Texts) else _widen(batch.X, model.input.n_features)


def _vectorize(batch: Any, full: DualLinearSVC, vectorizer: DocumentVectorizer | None) -> Any:
    """Return documents as the SVM on all features reads them."""
    if vectorizer is not None:
        return vectorizer.transform(batch.texts)
    return normalize(_widen(batch.X, full.n_features_in_))


def _widen(X: Any, n_features: int) -> Any:
    """Return vectors with as many columns as a model knows: a batch may lack the last ones."""
    X.resize(X.shape[0], n_features)
    return X
