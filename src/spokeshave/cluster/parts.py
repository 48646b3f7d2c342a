"""Documents in parts: files that every worker can open, or partitions of a Dask collection."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import fsspec
import numpy as np
from distributed import Client, Future
from fsspec.implementations.local import LocalFileSystem
from numpy.typing import NDArray
from scipy import sparse

from spokeshave.cluster.client import collect, submit
from spokeshave.corpus.documents import Texts, Vectors, name_labels, take_documents
from spokeshave.corpus.stream import DocumentStream, open_stream
from spokeshave.errors import CorpusError, NoDocumentsError

PEEK = 16  # parts at the beginning that may be empty
UNENCODED = ("parquet", "svmlight")  # formats that take no encoding
BATCH = 1_000  # documents read at a time

Documents: TypeAlias = "Texts | Vectors"


@dataclass(frozen=True)
class Kind:
    """How parts are read."""

    is_text: bool  # otherwise sparse vectors
    is_multilabel: bool  # the label of each document is a tuple
    text: Any = None  # column or key of texts, if there is one
    label: Any = None


class Side(NamedTuple):
    """The documents of a part that are held out, or all others, as ``wanted`` says."""

    is_held: NDArray[np.bool_]
    wanted: bool

    def list_rows(self, first: int, n_rows: int) -> NDArray[np.intp]:
        """Return the rows of this side among ``n_rows`` of the part, from ``first`` on."""
        return np.flatnonzero(self.is_held[first : first + n_rows] == self.wanted)


class FilePart(NamedTuple):
    """A file that every worker can open, by path or URL, and the options to read it."""

    path: str
    options: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Parts:
    """Documents in parts, in order."""

    items: list[Any]  # each a FilePart or a Future
    kind: Kind
    name: str  # of the first, and how many more there are
    read: str  # how they are read, to be shown
    guesses: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def with_sides(self, sides: list[Future] | None) -> list[tuple[Any, Future | None]]:
        """Return each part with the side of it that is meant, or None for all of it."""
        return list(zip(self.items, sides or [None] * len(self), strict=True))


def open_parts(
    client: Client,
    source: Any,
    *,
    text: Any = None,
    label: Any = None,
    **options: Any,
) -> Parts:
    """Find the parts of a collection, and how to read them, from the first one with documents.

    ``source`` is as in `fit_on_cluster`; ``options`` are those of `open_stream`.
    """
    if isinstance(source, str | Path):
        return _open_files(client, [source], text, label, options)
    if isinstance(source, Sequence) and source and isinstance(source[0], str | Path):
        return _open_files(client, source, text, label, options)
    return _open_collection(client, source, text, label)


def _open_files(
    client: Client, names: Sequence[str | Path], text: Any, label: Any, options: dict[str, Any]
) -> Parts:
    paths = expand_all(client, names)
    found = _inspect_first(client, paths, {"text": text, "label": label, **options})
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return Parts(
        items=[FilePart(path, {**options, **found.options}) for path in paths],
        kind=found.kind,
        name=Path(paths[0]).name + more,
        read=found.read,
        guesses=found.guesses,
    )


def expand_all(client: Client, names: Sequence[str | Path]) -> list[str]:
    """Return the files that paths and URLs match; the workers look for them."""
    found = collect([submit(client, expand, make_absolute(str(name))) for name in names])
    return [path for paths in found for path in paths]


def make_absolute(name: str) -> str:
    """Return a path that does not depend on the working directory; URLs stay as they are."""
    return name if "://" in name or "::" in name else os.path.abspath(name)


def expand(pattern: str) -> list[str]:
    """Return the files that a path or URL matches, sorted by name.

    A chained URL (with ``::``, as into an archive) stands for itself.
    """
    if "::" in pattern or not any(letter in pattern for letter in "*?["):
        return [pattern]
    system, path = fsspec.core.url_to_fs(pattern)
    found = sorted(system.glob(path))
    if not found:
        raise CorpusError(pattern, "no file has such a name")
    return found if "://" not in pattern else [system.unstrip_protocol(each) for each in found]


class _Inspected(NamedTuple):
    """How a file is read: its kind, the options found, a description, and the guesses made."""

    kind: Kind
    options: dict[str, Any]
    read: str
    guesses: tuple[str, ...]


def _inspect_first(client: Client, paths: list[str], options: dict[str, Any]) -> _Inspected:
    """Inspect the first part with documents: all are read alike."""
    for path in paths[:PEEK]:
        try:
            found: _Inspected = submit(client, inspect_file, FilePart(path, options)).result()
        except NoDocumentsError:
            continue
        return found
    raise NoDocumentsError(paths[0], "there are no documents in it, nor in those after it")


def inspect_file(part: FilePart) -> _Inspected:
    """Find out how to read a file."""
    with open_part(part) as supply:
        if not supply.is_text and supply.format != "svmlight":
            problem = f"a cluster reads texts and sparse vectors, and this is {supply.format}"
            raise CorpusError(part.path, problem)
        names = ("text", "label", "format", "encoding")
        kind = Kind(supply.is_text, supply.is_multilabel, supply.text, supply.label)
        options = {name: getattr(supply, name) for name in names}
        if supply.format in UNENCODED:
            options["encoding"] = None
        return _Inspected(kind, options, supply.read, supply.guesses)


def _open_collection(client: Client, source: Any, text: Any, label: Any) -> Parts:
    """Return the partitions of a Dask collection, which the workers begin to compute."""
    is_list = isinstance(source, Sequence)
    if not is_list and not hasattr(source, "to_delayed"):
        raise ValueError(
            "parts must be paths, a Dask bag or data frame, or a list of delayed blocks. "
            f"Got {type(source).__name__} instead."
        )
    if hasattr(source, "columns") and (text is None or label is None):
        raise ValueError(
            "text and label must name the columns of the data frame. Got none for one of them."
        )
    pieces = list(source) if is_list else source.to_delayed()
    if not pieces:
        raise ValueError("parts must be at least one. Got none.")
    items = [piece if isinstance(piece, Future) else client.compute(piece) for piece in pieces]
    kind = Kind(not is_list, False, text, label)
    name = type(source).__name__ if not is_list else "blocks"
    for item in items[:PEEK]:
        is_multilabel = submit(client, inspect_partition, item, kind).result()
        if is_multilabel is not None:
            kind = Kind(kind.is_text, is_multilabel, text, label)
            return Parts(items, kind, f"{name} of {len(items)} parts", "a Dask collection")
    raise ValueError("parts must have documents. Got none in the first of them.")


def inspect_partition(value: Any, kind: Kind) -> bool | None:
    """Return whether documents have several labels each, or None if there are no documents."""
    labels = read_partition(value, kind).labels
    return isinstance(labels[0], tuple) if labels else None


@dataclass
class Reading:
    """The documents of a part, or of a side of it, in batches."""

    part: Any  # a FilePart, or the value of a partition of a Dask collection
    kind: Kind
    side: Side | None = None
    n_skipped: int = field(default=0, init=False)  # malformed rows

    def __iter__(self) -> Iterator[Documents]:
        """Yield the nonempty batches."""
        batches = self._read_file() if isinstance(self.part, FilePart) else self._read_partition()
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

    def _read_partition(self) -> Iterator[Documents]:
        documents = read_partition(self.part, self.kind)
        n_documents = len(documents.labels or ())
        for first in range(0, n_documents, BATCH):
            yield take_documents(documents, np.arange(first, min(first + BATCH, n_documents)))


def read_range(
    part: Any, kind: Kind, side: Side | None, first: int, last: int
) -> Iterator[Documents]:
    """Yield documents ``first`` to ``last - 1`` of a part, or of a side of it.

    Earlier documents of a file are read and skipped. That is much faster than encoding them, and
    lets parts of any size be divided evenly.
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
    """Open a file, fetched first if it is not on this machine."""
    with fetching(part.path) as path, open_stream(path, **part.options) as supply:
        yield supply


def read_partition(value: Any, kind: Kind) -> Documents:
    """Return the value of a partition of a Dask collection as documents.

    It is a data frame, a list of pairs of a text and a label or of mappings, or a pair of sparse
    rows and their labels.
    """
    if not kind.is_text:
        X, labels = value
        named, label_type = name_labels([_as_label(label) for label in labels])
        return Vectors(sparse.csr_matrix(X), named, None, label_type=label_type)
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
        labels.append(_as_label(label))
    named, label_type = name_labels(labels)
    return Texts(texts, named, label_type=label_type)


def _as_label(label: Any) -> Any:
    """Return several labels as a tuple, each once; one as it is."""
    if isinstance(label, tuple | list | set | frozenset):
        return tuple(dict.fromkeys(label))
    return label


@contextmanager
def fetching(source: str) -> Iterator[str]:
    """Give the local path of a file. Errors name the URL the user gave, not the local copy.

    A remote file is copied under its own name, whose suffixes tell its format and compression. The
    copy is removed at the end.
    """
    with TemporaryDirectory(prefix="spokeshave-") as folder:
        try:
            yield _fetch(source, folder)
        except CorpusError as error:
            raise type(error)(source, error.problem, error.line, error.parameters) from None


def _fetch(source: str, folder: str) -> str:
    if "://" not in source and "::" not in source:
        return source
    system, path = fsspec.core.url_to_fs(source)
    if isinstance(system, LocalFileSystem):
        return str(path)
    copy = os.path.join(folder, name_source(source))
    try:
        system.get_file(path, copy)
    except FileNotFoundError:
        raise CorpusError(source, "there is no such file") from None
    return copy


def name_source(source: str) -> str:
    """Return the name of a file without its folder or URL.

    Examples
    --------
    >>> name_source("zip://parts/part-0.csv::s3://bucket/parts.zip")
    'part-0.csv'
    """
    links = source.split("::")
    link = next((link for link in links if "://" in link), links[-1])
    return link.rpartition("/")[2]
