"""The package as a whole: its public names, what importing it loads, its layers."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import spokeshave
from package_graph import (
    LAYER,
    SOURCES,
    draw_graph,
    format_block,
    list_imports,
    name_package,
    read_pasted,
)


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


IMPORTS = list_imports()


@pytest.mark.parametrize("module", sorted(set(IMPORTS) - {""}))
def test_imports_point_downwards(module):
    package = name_package(module)
    for imported in set(map(name_package, IMPORTS[module])) - {package}:
        assert imported in LAYER, f"{module} imports {imported or 'the public names'}"
        assert LAYER[imported] < LAYER[package], f"{module} imports {imported}"


def test_no_module_imports_itself_by_way_of_others():
    waiting = {module: set(imported) for module, imported in IMPORTS.items() if module}
    while free := {module for module, imported in waiting.items() if not imported & set(waiting)}:
        waiting = {module: found for module, found in waiting.items() if module not in free}
    assert not waiting, "these modules are on a cycle of imports, or above one"


def test_the_graph_in_contributing_is_current():
    expected = format_block(draw_graph(IMPORTS))
    assert read_pasted() == expected, "run python tests/package_graph.py"


def test_the_graph_lists_imports_by_layer():
    imports = {"": set(), "svm.dual": {"utils.a", "svm.b"}, "utils.a": set(), "cli": {"svm", ""}}
    assert draw_graph(imports) == "cli   -> svm\nsvm   -> utils\nutils\n"
    imports["utils.a"].add("svm.dual")
    assert draw_graph(imports).endswith("utils -> svm (UPWARDS)\n")


def test_folders_are_small_enough_to_be_seen_at_once():
    for folder in {path.parent for path in SOURCES.rglob("*.py")}:
        assert len(list(folder.glob("*.py"))) <= 16, folder


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda p: p.stem)
def test_nothing_but_the_cluster_imports_dask(path):
    if "cluster" not in path.relative_to(SOURCES).parts:
        found = {name.split(".")[0] for name in imported_modules(path)}
        assert not found & {"dask", "distributed", "fsspec"}


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda p: p.stem)
def test_sparse_matrices_are_checked_before_scikit_learn_converts_them(path):
    if path.name == "validation.py":
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            names = {alias.name for alias in node.names}
            assert not names & {"check_array", "check_X_y", "validate_data"}


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
