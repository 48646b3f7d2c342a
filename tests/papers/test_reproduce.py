"""Running of a study: the files it writes, resuming, and errors raised before any work."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from made_papers import PAPER, list_calls, list_names, make_task
from papers.markdown import write_blocks
from papers.reproduce import read_tables, reproduce
from spokeshave.model.file import list_versions

README = "# Powers\n\n<!-- verdicts -->\n<!-- end verdicts -->\n\nMore.\n"


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "numbers.csv").touch()
    (folder / "calls.txt").touch()
    return folder


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def list_files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def read_runs(out):
    return json.loads((out / "results" / "run.json").read_text())


def find_words(outcome):
    return [verdict.word for _, verdict in outcome.judged]


def test_all_of_it_is_written(data, out):
    outcome = reproduce(PAPER, data, out)
    written = {str(path.relative_to(out)) for path in outcome.files}
    names = ("table1", "table2", "figure1", "figure2")
    assert written == {
        *(f"results/{name}-powers.csv" for name in names),
        *("figures/figure1.png", "figures/figure2.png", "results/run.json", "verdict.md"),
    }
    assert {name for name in list_files(out) if not name.startswith("work/")} == written
    assert (out / "results" / "table1-powers.csv").read_text() == "number,power\n3,9\n1,1\n2,4\n"
    assert (out / "figures" / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert find_words(outcome) == ["reproduced", "reproduced", "could not be tried"]
    verdict = (out / "verdict.md").read_text()
    assert verdict.startswith("# On powers\n\n| where | the paper says | verdict | what came out |")
    assert "| Table 1 | squares are 9, 1 and 4 | reproduced | 3 powers: [9, 1, 4] |" in verdict
    assert outcome.seconds > 0


def test_tables_come_back_as_they_are_kept(data, out):
    outcome = reproduce(PAPER, data, out)
    tables = read_tables(out / "results")
    assert tables.keys() == outcome.tables.keys()
    expected = pl.DataFrame({"number": [3, 4], "power": [9, 16]})
    for found in (tables, outcome.tables):
        assert_frame_equal(found["table2-powers"], expected)


def test_tasks_that_parts_share_run_once(data, out):
    reproduce(PAPER, data, out)
    squares = ["square-4", "square-3", "square-2", "square-1"]
    assert list_names(data) == [*squares, "cube-3", "cube-2", "cube-1"]


def test_tasks_of_one_name_must_be_one_task(data, out):
    other = make_task(3)._replace(arguments={"name": "square-3", "number": 5})
    twice = replace(PAPER.parts[0], name="table3", list_tasks=lambda setting: [other])
    paper = replace(PAPER, parts=(*PAPER.parts, twice))
    with pytest.raises(ValueError, match=r"^two tasks have the name square-3 and are not the same"):
        reproduce(paper, data, out)


def test_the_same_run_again_writes_the_same(data, out):
    first = reproduce(PAPER, data, out)
    list_names(data)
    kept = {path: path.read_bytes() for path in first.files if path.name != "run.json"}
    second = reproduce(PAPER, data, out, n_jobs=2)
    assert list_names(data) == []
    assert second.files == first.files
    assert {path: path.read_bytes() for path in kept} == kept


def test_a_run_that_failed_goes_on(data, out):
    broken = data / "broken-square-2"
    broken.touch()
    with pytest.raises(ValueError, match=r"^task square-2 failed: the data are broken at 2$"):
        reproduce(PAPER, data, out)
    assert list_files(out) == {"work/square-3.json", "work/square-4.json"}
    list_names(data)
    broken.unlink()
    assert find_words(reproduce(PAPER, data, out))[0] == "reproduced"
    assert list_names(data) == ["square-2", "square-1", "cube-3", "cube-2", "cube-1"]


def test_the_record_says_with_what_each_part_was_run(data, out):
    reproduce(PAPER, data, out)
    runs = read_runs(out)
    assert list(runs) == ["figure1", "figure2", "table1", "table2"]
    assert runs["table1"]["versions"] == list_versions()
    assert runs["table1"]["tasks"] == 3
    assert runs["table1"]["processes"] == 1
    assert runs["table1"]["quick"] is False
    assert list(runs["table1"]["seconds_of_tasks"]) == ["square"]


def test_parts_that_are_not_run_keep_their_tables_and_their_record(data, out):
    reproduce(PAPER, data, out, only=["table1"])
    kept = read_runs(out)["table1"]
    outcome = reproduce(PAPER, data, out, only=["figure2"], n_jobs=2)
    assert list(read_runs(out)) == ["figure2", "table1"]
    assert read_runs(out)["table1"] == kept
    assert read_runs(out)["figure2"]["processes"] == 2
    assert sorted(outcome.tables) == ["figure2-powers", "table1-powers"]
    assert find_words(outcome) == ["reproduced", "not run", "could not be tried"]
    assert not (out / "figures" / "figure1.png").exists()


def test_a_figure_without_its_table_is_reported_after_the_rest_is_written(data, out):
    with pytest.raises(ValueError, match=r"^figure2 is drawn from the table table1-powers as well"):
        reproduce(PAPER, data, out, only=["figure2"])
    assert {"results/figure2-powers.csv", "results/run.json", "verdict.md"} <= list_files(out)


def test_a_quick_run_has_fewer_tasks(data, out):
    outcome = reproduce(PAPER, data, out, is_quick=True)
    assert list_names(data) == ["square-3", "cube-3"]
    assert all(table.height == 1 for table in outcome.tables.values())
    assert all(run["quick"] for run in read_runs(out).values())


@pytest.mark.parametrize("is_quick", [True, False])
def test_quick_and_full_results_are_not_mixed(data, out, is_quick):
    reproduce(PAPER, data, out, is_quick=not is_quick, only=["table1"])
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    there, wanted = ("full", "quick") if is_quick else ("quick", "full")
    sentence = f"there are results of a {there} run; name another folder for a {wanted} one"
    with pytest.raises(ValueError, match=sentence):
        reproduce(PAPER, data, out, is_quick=is_quick)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_the_readme_gets_the_verdicts(data, out):
    out.mkdir()
    (out / "README.md").write_text(README)
    outcome = reproduce(PAPER, data, out)
    page = (out / "README.md").read_text()
    table = (out / "verdict.md").read_text().partition("\n\n")[2]
    assert page == f"# Powers\n\n<!-- verdicts -->\n{table}<!-- end verdicts -->\n\nMore.\n"
    assert out / "README.md" in outcome.files
    reproduce(PAPER, data, out)
    assert (out / "README.md").read_text() == page


@pytest.mark.parametrize(
    "page", ["# Powers\n", "<!-- verdicts -->\n", "<!-- end verdicts -->\n<!-- verdicts -->\n"]
)
def test_a_readme_without_the_markers_is_reported_before_anything_runs(data, out, page):
    out.mkdir()
    (out / "README.md").write_text(page)
    with pytest.raises(ValueError, match="the page must have the lines <!-- verdicts -->") as error:
        reproduce(PAPER, data, out)
    assert str(error.value).startswith(f"{out / 'README.md'}: ")
    assert list_calls(data) == []
    assert list_files(out) == {"README.md"}


def write_powers(tables):
    return f"The powers are {tables['table1-powers']['power'].to_list()}."


BLOCKS = {"powers": write_powers, "cubes": lambda tables: str(tables["figure1-powers"].height)}
PLACES = "".join(f"<!-- {name} -->\n<!-- end {name} -->\n" for name in BLOCKS)


def test_the_readme_gets_blocks_from_the_tables(data, out):
    out.mkdir()
    (out / "README.md").write_text(README + PLACES)
    paper = replace(PAPER, blocks=BLOCKS)
    reproduce(paper, data, out, only=["table1"])
    page = (out / "README.md").read_text()
    assert "<!-- powers -->\nThe powers are [9, 1, 4].\n<!-- end powers -->\n" in page
    assert "<!-- cubes -->\nNot run: this needs the table figure1-powers.\n<!-- end" in page
    outcome = reproduce(paper, data, out)
    assert "<!-- cubes -->\n3\n<!-- end cubes -->\n" in (out / "README.md").read_text()
    assert write_blocks(BLOCKS, outcome.tables) == {
        "powers": "The powers are [9, 1, 4].",
        "cubes": "3",
    }


def test_a_readme_without_the_markers_of_a_block_is_reported_before_anything_runs(data, out):
    out.mkdir()
    (out / "README.md").write_text(README + PLACES.replace("<!-- end cubes -->", ""))
    with pytest.raises(ValueError, match=r"README\.md: the page must have the lines <!-- cub"):
        reproduce(replace(PAPER, blocks=BLOCKS), data, out)
    assert list_calls(data) == []
    assert list_files(out) == {"README.md"}


@pytest.mark.parametrize("content", ["", "[]", '{"table1": 1}'])
def test_a_damaged_record_is_reported_before_anything_runs(data, out, content):
    (out / "results").mkdir(parents=True)
    (out / "results" / "run.json").write_text(content)
    with pytest.raises(ValueError, match=r"run\.json: this is not the record of a run, .* delete"):
        reproduce(PAPER, data, out)
    assert list_calls(data) == []


def test_missing_data_are_reported_before_anything_runs(data, out):
    (data / "numbers.csv").unlink()
    with pytest.raises(ValueError, match=r"numbers\.csv is not there; powers needs numbers\.csv "):
        reproduce(PAPER, data, out)
    assert not out.exists()


def test_missing_matplotlib_is_reported_before_anything_runs(data, out, monkeypatch):
    monkeypatch.setattr("papers.reproduce.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"^Figures need matplotlib: pip install 'spokeshave"):
        reproduce(PAPER, data, out)
    assert list_calls(data) == []
    assert reproduce(PAPER, data, out, only=["table1"]).files  # which has no figure


def test_an_unknown_part_is_reported_before_anything_runs(data, out):
    with pytest.raises(ValueError, match="Got 'table7' instead"):
        reproduce(PAPER, data, out, only=["table1", "table7"])
    assert not out.exists()


def test_a_file_where_the_folder_should_be(data, out):
    out.touch()
    with pytest.raises(OSError, match="out"):
        reproduce(PAPER, data, out)
    assert list_calls(data) == []


def test_progress_is_reported(data, out):
    told = []
    reproduce(PAPER, data, out, only=["table2"], report=lambda *words: told.append(words))
    assert told == [("", 0, 7), ("square-4", 4, 7), ("square-3", 7, 7)]
