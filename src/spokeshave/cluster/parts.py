"""Documents in parts: files that every worker can open, or partitions of a Dask collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
from distributed import Client, Future

from spokeshave.cluster.reading import FilePart, Kind, open_part, understand
from spokeshave.cluster.workers import submit
from spokeshave.errors import CorpusError, NoDocumentsError

PEEK = 16  # parts that may be empty before one that is looked at
UNENCODED = ("parquet", "svmlight")  # formats that take no encoding


@dataclass(frozen=True, eq=False)
class Parts:
    """Documents that lie in parts, in order.

    Attributes
    ----------
    items : list of FilePart or Future
        The parts, as workers read them.
    kind : Kind
        How they are understood.
    name : str
        What they are called: the first, and how many more there are.
    read : str
        How they are understood, to be shown.
    guesses : tuple of str
        What was not told but guessed.
    """

    items: list[Any]
    kind: Kind
    name: str
    read: str
    guesses: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)


def open_parts(
    client: Client,
    source: Any,
    *,
    text: Any = None,
    label: Any = None,
    **options: Any,
) -> Parts:
    """Look at documents that lie in parts, of which no more than one is opened.

    Parameters
    ----------
    client : distributed.Client
        The cluster; its workers must be able to open the files.
    source : str, Path, sequence of them, or Dask collection
        Files, by path or address, with ``*`` for any; a Dask data frame with the columns of texts
        and labels; a bag of pairs of a text and a label, or of mappings; or delayed pairs of sparse
        rows and labels. Several labels of a document are a tuple or a list.
    text, label
        Columns or keys of texts and labels.
    **options
        How files are read, as in `open_stream`.

    Returns
    -------
    parts : Parts
    """
    if isinstance(source, str | Path):
        return _open_files(client, [str(source)], text, label, options)
    if isinstance(source, Sequence) and source and isinstance(source[0], str | Path):
        return _open_files(client, list(map(str, source)), text, label, options)
    return _hold(client, source, text, label)


def _open_files(
    client: Client, names: list[str], text: Any, label: Any, options: dict[str, Any]
) -> Parts:
    expanded = [submit(client, expand, _make_absolute(name)) for name in names]
    paths = [path for found in expanded for path in found.result()]
    asked = {"text": text, "label": label, **options}
    found = _look_at_first(client, paths, asked)
    told = {**options, **found.pinned}
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return Parts(
        items=[FilePart(path, told) for path in paths],
        kind=found.kind,
        name=Path(paths[0]).name + more,
        read=found.read,
        guesses=found.guesses,
    )


def _make_absolute(name: str) -> str:
    return name if "://" in name or "::" in name else os.path.abspath(name)


def expand(pattern: str) -> list[str]:
    """Return the files that a path or address stands for, in the order of their names.

    One that goes through another, as into an archive by ``::``, stands for itself.
    """
    if "::" in pattern or not any(letter in pattern for letter in "*?["):
        return [pattern]
    system, path = fsspec.core.url_to_fs(pattern)
    found = sorted(system.glob(path))
    if not found:
        raise CorpusError(pattern, "no file has such a name")
    return found if "://" not in pattern else [system.unstrip_protocol(each) for each in found]


class _Look(NamedTuple):
    """What a look at a file has shown."""

    kind: Kind
    pinned: dict[str, Any]
    read: str
    guesses: tuple[str, ...]


def _look_at_first(client: Client, paths: list[str], options: dict[str, Any]) -> _Look:
    """Look at the first part that has documents: all are understood as it is."""
    for path in paths[:PEEK]:
        try:
            found: _Look = submit(client, look, FilePart(path, options)).result()
        except NoDocumentsError:
            continue
        return found
    raise NoDocumentsError(paths[0], "there are no documents in it, nor in those after it")


def look(part: FilePart) -> _Look:
    """Say how a file is understood."""
    with open_part(part) as supply:
        if not supply.is_text and supply.format != "svmlight":
            problem = f"a cluster reads texts and sparse vectors, and this is {supply.format}"
            raise CorpusError(part.path, problem)
        pinned = {
            "text": supply.text,
            "label": supply.label,
            "format": supply.format,
            "encoding": None if supply.format in UNENCODED else supply.encoding,
        }
        kind = Kind(supply.is_text, supply.is_multilabel, supply.text, supply.label)
        return _Look(kind, pinned, supply.read, supply.guesses)


def _hold(client: Client, source: Any, text: Any, label: Any) -> Parts:
    """Return the partitions of a Dask collection, which the workers are asked for at once."""
    is_frame = hasattr(source, "columns")
    if not isinstance(source, Sequence) and not hasattr(source, "to_delayed"):
        raise ValueError(
            "parts must be paths, a Dask bag or data frame, or a list of delayed blocks. "
            f"Got {type(source).__name__} instead."
        )
    if is_frame and (text is None or label is None):
        raise ValueError(
            "text and label must name the columns of the data frame. Got none for one of them."
        )
    is_list = isinstance(source, Sequence)
    pieces = list(source) if is_list else source.to_delayed()
    if not pieces:
        raise ValueError("parts must be at least one. Got none.")
    items = [piece if isinstance(piece, Future) else client.compute(piece) for piece in pieces]
    kind = Kind(not is_list, False, text, label)
    name = type(source).__name__ if not is_list else "blocks"
    for item in items[:PEEK]:
        labels = submit(client, peek, item, kind).result()
        if labels is not None:
            kind = Kind(kind.is_text, labels, text, label)
            return Parts(items, kind, f"{name} of {len(items)} parts", "a Dask collection")
    raise ValueError("parts must have documents. Got none in the first of them.")


def peek(value: Any, kind: Kind) -> bool | None:
    """Say whether documents have several labels each, None where there are no documents."""
    labels = understand(value, kind).labels
    return isinstance(labels[0], tuple) if labels else None
