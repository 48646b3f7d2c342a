"""Test documents on a cluster: which documents are held out, and models evaluated on them."""

from __future__ import annotations

from collections import Counter
from functools import partial, reduce
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from sklearn.preprocessing import normalize

from spokeshave.cluster.client import Report, collect, submit
from spokeshave.cluster.parts import Kind, Parts, Reading, Side
from spokeshave.corpus.documents import Fingerprint, compute_fingerprint, join_fingerprints
from spokeshave.jobs.dataset import choose_held, count_unknown
from spokeshave.jobs.summary import compare_batches, predict_batch, predict_ranked, widen
from spokeshave.metrics import Agreement
from spokeshave.model.file import unpack_model
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.vectorizer import DocumentVectorizer


class HeldOut(NamedTuple):
    """The training and the test documents of each part, and the fingerprint of all documents."""

    train: list[Future]
    test: list[Future]
    fingerprint: Fingerprint


class EvaluationParts(NamedTuple):
    """Parts with test documents; ``sides`` select them if the parts have other documents too."""

    parts: Parts
    sides: list[Future] | None


def hold_out(client: Client, parts: Parts, share: float, seed: int) -> HeldOut:
    """Hold out a share of the documents, the same ones as on one machine.

    Labels are read first: the sample depends on the labels of all parts.
    """
    read = [submit(client, read_labels, item, parts.kind) for item in parts.items]
    marks = collect([submit(client, itemgetter(1), each) for each in read])
    labels = [submit(client, itemgetter(0), each) for each in read]
    is_held = submit(client, choose_documents, labels, share, seed)
    held = [submit(client, itemgetter(number), is_held) for number in range(len(parts))]
    train, test = (
        [submit(client, Side, each, wanted) for each in held] for wanted in (False, True)
    )
    return HeldOut(train, test, join_fingerprints(marks))


def read_labels(part: Any, kind: Kind) -> tuple[list[Any], Fingerprint]:
    """Return the labels and the fingerprint of a part."""
    labels: list[Any] = []
    mark = Fingerprint()
    for batch in Reading(part, kind):
        labels += batch.labels or []
        mark = mark.join(compute_fingerprint(batch, batch.labels or []))
    return labels, mark


def choose_documents(labels: list[list[Any]], share: float, seed: int) -> list[Any]:
    """Return which documents of each part are held out."""
    is_held = np.zeros(sum(map(len, labels)), bool)
    is_held[choose_held([label for part in labels for label in part], share, seed)] = True
    return np.split(is_held, np.cumsum([len(part) for part in labels])[:-1])


def check_parts(client: Client, parts: Parts, names: list[str]) -> Counter[str]:
    """Raise ValueError for malformed test documents; return how many have each unknown class.

    An unknown class is one that no training document has.
    """
    found = [submit(client, check_part, item, parts.kind, names) for item in parts.items]
    return sum(collect(found), Counter())


def check_part(part: Any, kind: Kind, names: list[str]) -> Counter[str]:
    """Raise ValueError for malformed documents of a part; count those of each unknown class."""
    unknown: Counter[str] = Counter()
    for batch in Reading(part, kind):
        unknown.update(count_unknown(batch.labels or [], names))
    return unknown


def evaluate_parts(
    client: Client,
    test: EvaluationParts,
    content: Future,
    full: Future | None,
    vectorizer: Future | None,
    names: list[str],
    report: Report | None = None,
) -> list[Agreement]:
    """Compare the predictions of a model file, and of the SVM on all features if any, with labels.

    The counts of the parts add up.
    """
    parts = test.parts
    tasks = [
        submit(client, evaluate_part, item, parts.kind, side, content, full, vectorizer, names)
        for item, side in zip(parts.items, test.sides or [None] * len(parts), strict=True)
    ]
    return [reduce(Agreement.merge, each) for each in zip(*collect(tasks, report), strict=True)]


def evaluate_part(
    part: Any,
    kind: Kind,
    side: Side | None,
    content: bytes,
    full: DualLinearSVC | None,
    vectorizer: DocumentVectorizer | None,
    names: list[str],
) -> list[Agreement]:
    """Compare the predictions of models with the labels of the documents of a part."""
    predictors = [partial(predict_batch, unpack_model(content))]
    if full is not None:
        predictors.append(partial(_predict_full, full, vectorizer))
    return compare_batches(Reading(part, kind, side), names, predictors)


def _predict_full(full: DualLinearSVC, vectorizer: DocumentVectorizer | None, batch: Any) -> Any:
    if vectorizer is not None:
        return predict_ranked(full, vectorizer.transform(batch.texts))
    return predict_ranked(full, normalize(widen(batch.X, full.n_features_in_)))
