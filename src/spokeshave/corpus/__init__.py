"""Where documents come from.

Names are loaded when they are first used: importing the package, or one of its files that needs
neither, loads neither numpy nor scipy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spokeshave.corpus.arff import read_arff
    from spokeshave.corpus.documents import Split, Texts, Vectors
    from spokeshave.corpus.embedded import load_embedded
    from spokeshave.corpus.folders import read_folders
    from spokeshave.corpus.reuters import Story, read_reuters, read_stories
    from spokeshave.corpus.sources import Source, load_source
    from spokeshave.corpus.supply import Supply, open_supply
    from spokeshave.corpus.svmlight import read_svmlight
    from spokeshave.corpus.tables import load_texts, read_texts

_HOMES = {
    "Source": "sources",
    "Split": "documents",
    "Story": "reuters",
    "Supply": "supply",
    "Texts": "documents",
    "Vectors": "documents",
    "load_embedded": "embedded",
    "load_source": "sources",
    "load_texts": "tables",
    "open_supply": "supply",
    "read_arff": "arff",
    "read_folders": "folders",
    "read_reuters": "reuters",
    "read_stories": "reuters",
    "read_svmlight": "svmlight",
    "read_texts": "tables",
}

__all__ = [
    "Source",
    "Split",
    "Story",
    "Supply",
    "Texts",
    "Vectors",
    "load_embedded",
    "load_source",
    "load_texts",
    "open_supply",
    "read_arff",
    "read_folders",
    "read_reuters",
    "read_stories",
    "read_svmlight",
    "read_texts",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spokeshave.corpus' has no attribute {name!r}")
    return getattr(import_module(f"spokeshave.corpus.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
