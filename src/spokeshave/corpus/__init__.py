"""Where documents come from."""

from spokeshave.corpus.arff import read_arff
from spokeshave.corpus.documents import Split, Texts, Vectors
from spokeshave.corpus.embedded import load_embedded
from spokeshave.corpus.folders import read_folders
from spokeshave.corpus.reuters import Story, read_reuters, read_stories
from spokeshave.corpus.svmlight import read_svmlight
from spokeshave.corpus.tables import load_texts, read_texts

__all__ = [
    "Split",
    "Story",
    "Texts",
    "Vectors",
    "load_embedded",
    "load_texts",
    "read_arff",
    "read_folders",
    "read_reuters",
    "read_stories",
    "read_svmlight",
    "read_texts",
]
