"""Documents that are held out to judge by, chosen as they are on one machine."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future

from spokeshave.cluster.client import collect, submit
from spokeshave.cluster.parts import Kind, Parts, Reading, Side
from spokeshave.corpus.fingerprint import Fingerprint, join_fingerprints, take_fingerprint
from spokeshave.jobs.dataset import choose_held


class Divided(NamedTuple):
    """The sides of each part to train on and to judge by, and what tells all documents apart."""

    train: list[Future]
    test: list[Future]
    fingerprint: Fingerprint


def divide(client: Client, parts: Parts, share: float, seed: int) -> Divided:
    """Divide the documents of every part.

    Labels alone are read first: which documents are held out depends on those of all.
    """
    read = [submit(client, read_labels, item, parts.kind) for item in parts.items]
    marks = collect([submit(client, itemgetter(1), each) for each in read])
    labels = [submit(client, itemgetter(0), each) for each in read]
    is_held = submit(client, choose_documents, labels, share, seed)
    held = [submit(client, itemgetter(number), is_held) for number in range(len(parts))]
    train, test = (
        [submit(client, Side, each, wanted) for each in held] for wanted in (False, True)
    )
    return Divided(train, test, join_fingerprints(marks))


def read_labels(part: Any, kind: Kind) -> tuple[list[Any], Fingerprint]:
    """Return the labels of a part, and what tells its documents apart."""
    labels: list[Any] = []
    mark = Fingerprint()
    for batch in Reading(part, kind):
        labels += batch.labels or []
        mark = mark.join(take_fingerprint(batch, batch.labels or []))
    return labels, mark


def choose_documents(labels: list[list[Any]], share: float, seed: int) -> list[Any]:
    """Return which documents of each part are held out."""
    is_held = np.zeros(sum(map(len, labels)), bool)
    is_held[choose_held([label for part in labels for label in part], share, seed)] = True
    return np.split(is_held, np.cumsum([len(part) for part in labels])[:-1])
