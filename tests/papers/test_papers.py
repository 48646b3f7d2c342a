"""The three studies: stored results, pages, and a quick run of each."""

from __future__ import annotations

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

import papers
import spokeshave
from papers.__main__ import main
from papers.markdown import fill_block, write_blocks, write_verdicts
from papers.reproduce import read_tables
from papers.verdicts import IN_PART, NOT_REPRODUCED, NOT_TRIED, REPRODUCED, judge_claims

HOME = Path(papers.__file__).parent
WORDS = {REPRODUCED, IN_PART, NOT_REPRODUCED, NOT_TRIED}
PUBLIC = {"spokeshave", "spokeshave.corpus"}
LARGEST = 1_200_000  # bytes of kept tables and records
LINK = re.compile(r"\(figures/([^)\s]+)\)")

each_paper = pytest.mark.parametrize("name", papers.NAMES)


def get_files(folder, *ends):
    return sorted(path for path in folder.rglob("*") if path.suffix in ends)


def list_imports(path):
    """Yield the modules that a file imports, and the names from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (("." * node.level + (node.module or ""), each.name) for each in node.names)


@pytest.mark.parametrize(
    "path",
    [
        HOME / "datasets.py",
        *(file for name in papers.NAMES for file in get_files(HOME / name, ".py")),
    ],
    ids=lambda path: str(path.relative_to(HOME)),
)
def test_studies_import_only_public_names(path):
    for module, name in list_imports(path):
        if module.startswith(".") or module.partition(".")[0] == "spokeshave":
            assert module in PUBLIC, f"{module} is not public"
            assert name in import_module(module).__all__, f"{name} of {module} is not public"


def test_the_package_neither_holds_nor_imports_the_studies():
    sources = Path(spokeshave.__file__).parent
    assert not [path for path in sources.rglob("*") if path.is_symlink()]
    for path in get_files(sources, ".py"):
        assert "papers" not in {module.partition(".")[0] for module, _ in list_imports(path)}


@each_paper
def test_a_paper_has_parts_and_claims(name):
    paper = papers.load_paper(name)
    assert paper.name == name
    parts = [part.name for part in (*paper.parts, *paper.extras)]
    assert parts
    assert len(set(parts)) == len(parts)
    assert paper.claims
    assert len({(claim.where, claim.says) for claim in paper.claims}) == len(paper.claims)


def test_an_unknown_paper_is_reported():
    with pytest.raises(ValueError, match=r"^paper must be one of .* Got 'porter1980' instead\.$"):
        papers.load_paper("porter1980")


def is_kept(name):
    """Tell whether a run of a paper has come to its end."""
    return (HOME / name / "results" / "run.json").is_file()


@pytest.fixture(params=papers.NAMES)
def kept(request):
    """Return the folder of a paper with what a full run gave."""
    if not is_kept(request.param):
        pytest.skip(f"no run of {request.param} is kept")
    return HOME / request.param


def test_verdicts_are_those_of_the_kept_tables(kept):
    paper = papers.load_paper(kept.name)
    judged = judge_claims(paper.claims, read_tables(kept / "results"))
    assert {verdict.word for _, verdict in judged} <= WORDS
    page = (kept / "README.md").read_text(encoding="utf-8")
    assert fill_block(page, "verdicts", write_verdicts(judged)) == page


def test_blocks_are_those_of_the_kept_tables(kept):
    blocks = papers.load_paper(kept.name).blocks
    page = (kept / "README.md").read_text(encoding="utf-8")
    for name, text in write_blocks(blocks, read_tables(kept / "results")).items():
        assert fill_block(page, name, text) == page


def test_every_figure_is_shown(kept):
    shown = set(LINK.findall((kept / "README.md").read_text(encoding="utf-8")))
    assert shown == {path.name for path in (kept / "figures").iterdir()}


def test_the_record_is_of_full_runs_of_all_parts(kept):
    runs = json.loads((kept / "results" / "run.json").read_text())
    paper = papers.load_paper(kept.name)
    assert {part.name for part in paper.parts} <= set(runs)
    assert set(runs) <= {part.name for part in (*paper.parts, *paper.extras)}
    for part in runs.values():
        assert part["quick"] is False
        assert {"python", "numpy", "scipy", "scikit-learn", "spokeshave"} <= set(part["versions"])


def test_what_is_kept_is_small(kept):
    assert sum(path.stat().st_size for path in get_files(kept / "results", ".csv", ".json")) < (
        LARGEST
    )


@each_paper
def test_a_quick_run(name, data_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPOKESHAVE_DATA", str(data_folder))
    options = ["--quick", "--out", str(tmp_path), "--n-jobs", "1", "--json", "--quiet"]
    code = main([name, *options])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    claims = json.loads(out)["claims"]
    assert {claim["verdict"] for claim in claims} <= WORDS
    assert len(claims) == len(papers.load_paper(name).claims)
    for folder, kind in (("results", ".csv"), ("figures", ".png")):
        found = {path.name for path in get_files(tmp_path / folder, kind)}
        assert found
        if is_kept(name):
            assert found <= {path.name for path in get_files(HOME / name / folder, kind)}
    extras = [part.name for part in papers.load_paper(name).extras]
    if extras:
        assert main([name, *options, "--only", ",".join(extras)]) == 0
    for folder, kind in (("results", ".csv"), ("figures", ".png")):
        found = {path.name for path in get_files(tmp_path / folder, kind)}
        if is_kept(name):  # nothing is there that no run writes any more
            assert {path.name for path in get_files(HOME / name / folder, kind)} <= found
    assert json.loads((tmp_path / "results" / "run.json").read_text()).keys() == {
        part.name for part in papers.load_paper(name).parts
    } | set(extras)
