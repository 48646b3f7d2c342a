"""The package as a whole: its names, what importing it loads, and which way imports point."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import spokeshave

SOURCES = Path(spokeshave.__file__).parent


def test_every_public_name_can_be_had():
    for name in spokeshave.__all__:
        found = getattr(spokeshave, name)
        assert name.isupper() or found.__name__ == name
    assert dir(spokeshave) == sorted(spokeshave.__all__)


def test_no_public_name_is_hidden_by_a_file():
    files = {path.stem for path in SOURCES.iterdir()}
    assert not files & set(spokeshave.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'chisel'"):
        spokeshave.chisel  # noqa: B018


@pytest.mark.parametrize(
    "program",
    [
        "import spokeshave, spokeshave.corpus",
        "import runpy; sys.argv = ['spokeshave', '--help']\n"
        "try: from spokeshave.cli import main; main()\nexcept SystemExit: pass",
    ],
    ids=["import", "help"],
)
def test_heavy_packages_wait_until_they_are_needed(program):
    check = "print(sorted({'numba', 'sklearn', 'polars'} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}\n{check}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip() == "[]"


FLOORS = [
    (
        *("kernels", "errors", "cuts", "drawing", "targets", "calibration"),
        *("agreement", "figures", "frames", "sizes", "stopwatch", "versions", "whole_files"),
    ),
    ("documents", "checkpoint"),
    ("pruning",),
    ("corpus", "one_vs_rest", "solver", "evaluation", "record", "settings"),
    ("svm", "path", "curve", "learning", "inputs", "fingerprint"),
    ("two_classes", "learners", "scorers"),
    ("tuning",),
    ("ranking", "model"),
    ("trained", "sparsity", "subsets", "levels", "layout", "predicting"),
    ("cutting", "shapes", "budget"),
    ("tracing", "neighbourhoods", "scaling", "study"),
    ("selection", "comparison", "shaping", "views", "final"),
    ("stages",),
    ("shaved", "shaped", "sights", "collection"),
    ("units",),
    ("growing",),
    ("export", "account", "description"),
    ("model_file",),
    ("job", "labelling"),
    ("reshaping", "budgeting"),
    ("cluster",),
    ("report", "reproduction"),
    ("papers",),
    ("cli",),
]


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda p: p.stem)
def test_imports_point_downwards(path):
    floor = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
    room = path.relative_to(SOURCES).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    for imported in imported_rooms(path):
        assert imported == room or floor[imported] < floor[room], f"{room} imports {imported}"


def imported_rooms(path):
    """Yield the parts of the package that a file imports, however deep in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
        if module and module.startswith("spokeshave."):
            yield module.split(".")[1]


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda p: p.stem)
def test_nothing_but_the_cluster_imports_dask(path):
    if "cluster" not in path.relative_to(SOURCES).parts:
        found = {name.split(".")[0] for name in imported_modules(path)}
        assert not found & {"dask", "distributed", "fsspec"}


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
