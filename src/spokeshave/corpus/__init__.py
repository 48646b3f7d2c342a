"""Documents from files: one reader per format, to load or to stream.

Names are imported when they are first used. The package itself, and the modules that guess formats
and columns, import neither numpy nor scipy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spokeshave.corpus.docstrings import load_embedded
    from spokeshave.corpus.documents import Split, Texts, Vectors
    from spokeshave.corpus.formats.arff import read_arff
    from spokeshave.corpus.formats.folders import read_folders
    from spokeshave.corpus.formats.reuters import Story, read_reuters, read_stories
    from spokeshave.corpus.formats.svmlight import read_svmlight
    from spokeshave.corpus.formats.tables import load_texts, read_texts
    from spokeshave.corpus.load import Source, load_source
    from spokeshave.corpus.stream import DocumentStream, open_stream
    from spokeshave.corpus.stream import DocumentStream as Supply
    from spokeshave.corpus.stream import open_stream as open_supply

_HOMES = {
    "DocumentStream": "stream",
    "Source": "load",
    "Split": "documents",
    "Story": "formats.reuters",
    "Texts": "documents",
    "Vectors": "documents",
    "load_embedded": "docstrings",
    "load_source": "load",
    "load_texts": "formats.tables",
    "open_stream": "stream",
    "read_arff": "formats.arff",
    "read_folders": "formats.folders",
    "read_reuters": "formats.reuters",
    "read_stories": "formats.reuters",
    "read_svmlight": "formats.svmlight",
    "read_texts": "formats.tables",
}
_OLD_NAMES = {"Supply": "DocumentStream", "open_supply": "open_stream"}

__all__ = [
    "DocumentStream",
    "Source",
    "Split",
    "Story",
    "Supply",
    "Texts",
    "Vectors",
    "load_embedded",
    "load_source",
    "load_texts",
    "open_stream",
    "open_supply",
    "read_arff",
    "read_folders",
    "read_reuters",
    "read_stories",
    "read_svmlight",
    "read_texts",
]


def __getattr__(name: str) -> Any:
    name = _OLD_NAMES.get(name, name)
    if name not in _HOMES:
        raise AttributeError(f"module 'spokeshave.corpus' has no attribute {name!r}")
    return getattr(import_module(f"spokeshave.corpus.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
