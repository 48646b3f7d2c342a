"""The embedded corpus: docstrings, a real collection that every installation has.

The documents are docstrings of the standard library and of the packages this one depends on,
labelled by their package. Sources are parsed, never imported.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from spokeshave.corpus.documents import Texts
from spokeshave.errors import CorpusError

PACKAGES = (
    *("asyncio", "email", "importlib", "logging", "multiprocessing", "numpy.lib", "numpy.ma"),
    *("numpy.polynomial", "polars.dataframe", "polars.expr", "polars.lazyframe", "polars.series"),
    *("rich", "scipy.interpolate", "scipy.io", "scipy.linalg", "scipy.optimize", "scipy.signal"),
    *("scipy.sparse", "scipy.spatial", "scipy.stats", "sklearn.cluster", "sklearn.decomposition"),
    *("sklearn.ensemble", "sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection"),
    *("sklearn.preprocessing", "unittest", "xml"),
)
_ALIASES = ("np", "pl", "sp", "scikit", "learn")  # other names that reveal a label
_FEWEST_WORDS = 10
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_WORD = re.compile(r"[^\W_]+")


def load_embedded(packages: Iterable[str] = PACKAGES) -> Texts:
    """Load the docstrings of packages, each labelled with its package.

    The result is the same on every call in one environment. A package that is not installed has
    no documents. Docstrings that are in two packages, and those of fewer than ten words, are
    ignored. Words that name one of the packages are removed from every text.

    Parameters
    ----------
    packages : iterable of str
        Packages or subpackages.

    Returns
    -------
    texts : Texts
        The documents, ordered by package, then by file.

    Examples
    --------
    >>> corpus = load_embedded(["json", "logging"])
    >>> sorted(set(corpus.labels))
    ['json', 'logging']
    >>> any("logging" in text for text in corpus.texts)
    False
    """
    packages = tuple(packages)
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for package in packages:
        for text in _read_docstrings(package):
            homes[text].add(package)
    names = {*_ALIASES, *_WORD.findall(" ".join(packages).lower())}
    texts: list[str] = []
    labels: list[str] = []
    for text, found_in in homes.items():
        if len(found_in) == 1:
            texts.append(_remove_words(text, names))
            labels.extend(found_in)
    if not texts:
        raise CorpusError(", ".join(packages), "none of these packages has docstrings here")
    return Texts(texts, labels)


def _remove_words(text: str, words: set[str]) -> str:
    return _WORD.sub(lambda match: "" if match[0].lower() in words else match[0], text)


def _read_docstrings(package: str) -> Iterator[str]:
    for path in _list_sources(package):
        for node in _walk_statements(ast.parse(path.read_bytes())):
            if isinstance(node, _DOCUMENTED):
                text = ast.get_docstring(node) or ""
                if len(text.split()) >= _FEWEST_WORDS:
                    yield text


def _walk_statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a tree and its statements; expressions, most of a tree, have no docstrings."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt | ast.excepthandler):
            yield from _walk_statements(child)


def _list_sources(package: str) -> list[Path]:
    """Return the files of a package, without its tests, in a fixed order."""
    top, *rest = package.split(".")
    spec = find_spec(top)  # finding a top-level package does not import it
    if spec is None or not spec.submodule_search_locations:
        return []
    folder = Path(spec.submodule_search_locations[0], *rest)
    sources = (path.relative_to(folder) for path in folder.rglob("*.py"))
    return [folder / path for path in sorted(sources) if "tests" not in path.parts]
