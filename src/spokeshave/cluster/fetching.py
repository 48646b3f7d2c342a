"""Files that are not on this machine, fetched for as long as they are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import fsspec
from fsspec.implementations.local import LocalFileSystem

from spokeshave.errors import CorpusError


@contextmanager
def fetching(source: str) -> Iterator[str]:
    """Give the path of a file; what is wrong with it is told of by the address it was asked for by.

    What is not a file of this machine is copied, under its own name, which may tell its format and
    how it is compressed. The copy is gone in the end.
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
    """Return the name of a file, without the folder or address that it is at.

    Examples
    --------
    >>> name_source("zip://parts/part-0.csv::s3://bucket/parts.zip")
    'part-0.csv'
    """
    links = source.split("::")
    link = next((link for link in links if "://" in link), links[-1])
    return link.rpartition("/")[2]
