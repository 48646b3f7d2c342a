"""What a worker reads: a part of the documents, a few of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.cluster.fetching import fetching
from spokeshave.corpus.documents import Texts, Vectors, take_documents
from spokeshave.corpus.stream import DocumentStream, open_stream
from spokeshave.errors import NoDocumentsError

BATCH = 1_000

Documents: TypeAlias = "Texts | Vectors"


@dataclass(frozen=True)
class Kind:
    """How parts are understood.

    Attributes
    ----------
    is_text : bool
        Whether documents are texts, otherwise sparse vectors.
    is_multilabel : bool
        Whether the label of each document is a tuple.
    text, label : str, int or None
        The columns, or keys, of texts and labels, where there are any.
    """

    is_text: bool
    is_multilabel: bool
    text: Any = None
    label: Any = None


class Side(NamedTuple):
    """Documents of a part that are held out, or all others: ``is_held`` says which those are."""

    is_held: NDArray[np.bool_]
    wanted: bool

    def list_rows(self, first: int, n_rows: int) -> NDArray[np.intp]:
        """Return which of some rows of the part are on this side."""
        return np.flatnonzero(self.is_held[first : first + n_rows] == self.wanted)


class FilePart(NamedTuple):
    """A file that every worker can open, by its path or address, and how to read it."""

    path: str
    options: dict[str, Any]


@dataclass
class Reading:
    """The documents of a part, in batches.

    Attributes
    ----------
    part : FilePart, or what a Dask collection has in a partition
        The part.
    kind : Kind
        How it is understood.
    side : Side or None
        Which of its documents are meant; all where it is None.
    n_skipped : int
        Malformed rows that have been left out.
    """

    part: Any
    kind: Kind
    side: Side | None = None
    n_skipped: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[Documents]:
        """Yield the batches; none is without documents."""
        batches = self._read_file() if isinstance(self.part, FilePart) else self._take_held()
        n_seen = 0
        for batch in batches:
            n_rows = len(batch.labels or ())
            if self.side is None:
                chosen = batch
            else:
                chosen = take_documents(batch, self.side.list_rows(n_seen, n_rows))
            n_seen += n_rows
            if len(chosen.labels or ()):
                yield chosen

    def _read_file(self) -> Iterator[Documents]:
        with suppress(NoDocumentsError), open_part(self.part) as supply:
            try:
                yield from supply.read_batches(BATCH)
            finally:
                self.n_skipped = supply.skipped

    def _take_held(self) -> Iterator[Documents]:
        documents = understand(self.part, self.kind)
        for first in range(0, len(documents.labels or ()), BATCH):
            last = min(first + BATCH, len(documents.labels or ()))
            yield take_documents(documents, np.arange(first, last))


def read_range(
    part: Any, kind: Kind, side: Side | None, first: int, last: int
) -> Iterator[Documents]:
    """Yield documents of a part, or of a side of it, by their numbers; the last is not with them.

    What comes before them in a file is read and passed over: that takes far less than to make rows
    of it, and parts of any size can be dealt out evenly.
    """
    n_seen = 0
    for batch in Reading(part, kind, side):
        n_rows = len(batch.labels or ())
        start, stop = max(first - n_seen, 0), min(last - n_seen, n_rows)
        if start < stop:
            yield batch if stop - start == n_rows else take_documents(batch, np.arange(start, stop))
        n_seen += n_rows
        if n_seen >= last:
            return


@contextmanager
def open_part(part: FilePart) -> Iterator[DocumentStream]:
    """Open a file; what is wrong with it is told of by the address that it was asked for by."""
    with fetching(part.path) as path, open_stream(path, **part.options) as supply:
        yield supply


def understand(value: Any, kind: Kind) -> Documents:
    """Return what a Dask collection has in a partition as documents.

    It is a data frame, a list of pairs of a text and a label or of mappings, or a pair of sparse
    rows and their labels.
    """
    if not kind.is_text:
        X, labels = value
        return Vectors(sparse.csr_matrix(X), [_name(label) for label in labels], None)
    if hasattr(value, "columns"):
        pairs: Any = zip(value[kind.text], value[kind.label], strict=True)
    else:
        pairs = (
            (item[kind.text], item[kind.label]) if isinstance(item, dict) else item
            for item in value
        )
    texts, labels = [], []
    for text, label in pairs:
        texts.append(str(text))
        labels.append(_name(label))
    return Texts(texts, labels)


def _name(label: Any) -> Any:
    if isinstance(label, tuple | list | set | frozenset):
        return tuple(dict.fromkeys(map(str, label)))
    return str(label)
