"""The graph of packages, read from the imports of the sources.

``python tests/package_graph.py`` writes it into CONTRIBUTING.md, between its two markers.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "spokeshave"
PAGE = ROOT / "CONTRIBUTING.md"
START, END = (
    "<!-- package graph: python tests/package_graph.py -->\n",
    "<!-- end of package graph -->\n",
)

# Lowest first. A package may import only packages of lower layers.
LAYERS = [
    ("utils", "kernels", "errors"),
    ("metrics",),
    ("text", "svm"),
    ("ranking",),
    ("shaping",),
    ("curves",),
    ("selection",),
    ("corpus",),
    ("model",),
    ("budget",),
    ("jobs",),
    ("cluster",),
    ("report",),
    ("cli",),
]
LAYER = {package: level for level, packages in enumerate(LAYERS) for package in packages}


def name_module(path: Path) -> str:
    """Return the dotted name of a file below the package; the package itself is ''."""
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def list_imports() -> dict[str, set[str]]:
    """Return the modules of the package that each module imports, also inside functions."""
    files = {name_module(path): path for path in SOURCES.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        found[module] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("spokeshave."):
                origin = str(node.module).removeprefix("spokeshave").removeprefix(".")
                names = (f"{origin}.{alias.name}".removeprefix(".") for alias in node.names)
                found[module] |= {name if name in files else origin for name in names}
    return found


def name_package(module: str) -> str:
    """Return the first part of a module's dotted name."""
    return module.partition(".")[0]


def draw_graph(imports: dict[str, set[str]]) -> str:
    """Return the graph as text: a line per package, highest layer first, with its imports."""
    edges: dict[str, set[str]] = {}
    for module, imported in imports.items():
        package = name_package(module)
        edges.setdefault(package, set()).update(map(name_package, imported))
    known = [package for package in reversed(LAYER) if package in edges]
    width = max(map(len, known))
    lines = []
    for package in known:
        imported = (
            name if LAYER[name] < LAYER[package] else f"{name} (UPWARDS)"
            for name in known
            if name in edges[package] - {package}
        )
        lines.append(f"{package:{width}} -> {' '.join(imported)}".rstrip(" ->"))
    return "\n".join(lines) + "\n"


def read_pasted() -> str:
    """Return the graph that CONTRIBUTING.md shows."""
    return PAGE.read_text().partition(START)[2].partition(END)[0]


def format_block(graph: str) -> str:
    """Return the graph as it is pasted: a fenced block."""
    return f"```\n{graph}```\n"


def main() -> None:
    """Replace the graph in CONTRIBUTING.md by the current one."""
    before, start, rest = PAGE.read_text().partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise SystemExit(f"{PAGE.name} must have the lines {START.strip()} and {END.strip()}.")
    PAGE.write_text(before + START + format_block(draw_graph(list_imports())) + END + after)


if __name__ == "__main__":
    main()
