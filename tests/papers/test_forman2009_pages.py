"""The figures and the README's tables of Forman, Scholz and Rajaram, from made-up results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from made_shaping import make_quick_tables, make_tables
from papers import forman2009
from papers.forman2009.blocks import BLOCKS
from papers.forman2009.drawing import draw_text, draw_uci
from papers.forman2009.tables import BEYOND, EXPERIMENTS, METHODS, SHAPING
from papers.markdown import write_blocks


@pytest.fixture
def true_tables():
    return make_tables()


@pytest.fixture(scope="module")
def figures():
    return draw_text(make_tables()) | draw_uci(make_tables())


def test_every_figure_is_drawn(figures):
    assert {f"figure{k}" for k in range(1, 11)} <= set(figures)
    for name in ("figure1", "figure6", "figure7", "uci_experiments"):  # one of each kind
        figures[name].draw_without_rendering()


def test_figures_of_quick_results_are_drawn():
    figures = draw_text(make_quick_tables()) | draw_uci(make_quick_tables())
    for name in ("figure10", "figure6", "figure7", "text_experiments"):
        figures[name].draw_without_rendering()


def test_curves_show_the_methods_and_the_published_number(true_tables, figures):
    above, below = figures["figure8"].axes
    labels = [text.get_text() for text in above.get_legend().get_texts()]
    assert labels == [*METHODS, *BEYOND[:3], "published: baseline 0.984"]
    lines = {line.get_label(): line for line in above.lines}
    curve = true_tables["text_curves"].filter(method=SHAPING).sort("size")
    np.testing.assert_array_equal(lines[SHAPING].get_ydata(), curve["auc"])
    np.testing.assert_allclose(lines[SHAPING].get_xdata(), [4.5, 9, 18, 36, 54, 72, 90])
    assert below.get_xlabel() == "training cases, % of the data set"


def test_lesions_stand_in_the_order_of_their_auc(figures):
    labels = figures["figure7"].axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == [
        *("L1 norm", "no shaping (scaling)", "log odds", "no scaling"),
        *("Platt – CV", "shaping, all stages"),
    ]


def test_experiments_are_drawn_by_measure(true_tables, figures):
    panels = figures["text_experiments"].axes
    assert [axes.get_title() for axes in panels] == ["AUC", "F-measure", "accuracy"]
    lines = {line.get_label(): line for line in panels[1].lines}
    rows = true_tables["text_experiments"].filter(measure="f1").sort("size")
    for name in EXPERIMENTS:
        expected = rows.filter(experiment=name)["difference"]
        np.testing.assert_array_equal(lines[name].get_ydata(), expected)


def read_block(name, tables):
    """Return the cells of a block's table, without its head."""
    lines = write_blocks({name: BLOCKS[name]}, tables)[name].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_block_has_its_place_in_the_readme():
    page = (Path(forman2009.__file__).parent / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"<!-- (?!end)(\w+) -->", page)) == {"verdicts", *BLOCKS}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_of_quick_results_are_written(name):
    text = write_blocks({name: BLOCKS[name]}, make_quick_tables())[name]
    assert text.startswith("| ")
    assert "nan" not in text
    assert "None" not in text


def test_blocks_wait_for_their_tables():
    assert set(write_blocks(BLOCKS, {})["anchors"].split()) >= {"Not", "run:"}


def test_a_block_of_curves_has_means_and_marks_what_is_significant(true_tables):
    rows = read_block("uci_curves", true_tables)
    (found,) = (row for row in rows if row[:2] == ["accuracy", SHAPING])
    values = true_tables["uci_curves"].filter(method=SHAPING).sort("size")["accuracy"]
    assert [float(cell.strip("*")) for cell in found[2:]] == pytest.approx(
        values.to_list(), abs=5e-4
    )
    assert found[2] == f"*{found[2].strip('*')}*"  # shaping costs accuracy at the left
    (found,) = (row for row in rows if row[:2] == ["AUC", SHAPING])
    assert found[-1] == f"**{found[-1].strip('*')}**"
    assert "*" not in read_block("uci_curves", true_tables)[0][2]


def test_a_block_of_other_methods_has_the_sizes_of_all_of_them(true_tables):
    rows = read_block("text_beyond", true_tables)
    assert {len(row) for row in rows} == {2 + 4}
    assert [row[1] for row in rows[:5]] == ["baseline", SHAPING, *BEYOND[:3]]


def test_a_block_of_experiments_says_what_remains(true_tables):
    rows = read_block("uci_experiments", true_tables)
    assert [row[1] for row in rows[: len(EXPERIMENTS)]] == list(EXPERIMENTS)
    table = true_tables["uci_experiments"].filter(measure="f1", percent=4.5)
    first, second = (
        table.filter(experiment=name)["difference"].item() for name in list(EXPERIMENTS)[:2]
    )
    assert rows[len(EXPERIMENTS)][-1] == "100%"
    assert rows[len(EXPERIMENTS) + 1][-1] == f"{second / first:.0%}"


def test_the_block_of_lesions_has_both_places(true_tables):
    assert [row[:3] for row in read_block("lesions", true_tables)] == [
        *(["L1 norm", "1", "1"], ["no shaping", "2", "2"], ["log odds", "3", "3"]),
        *(["no scaling", "4", "4"], ["Platt - CV", "5", "5"]),
    ]


def test_samples_without_a_case_of_the_class_are_counted(true_tables):
    unknown = pl.when(size=0.05, task="a").then(3).otherwise(0)
    changed = true_tables | {
        name: true_tables[name].with_columns(unknown=unknown) for name in ("text", "uci")
    }
    assert read_block("unknown", changed) == [
        ["text", "4.5%", "6 of 60", "2 of 20"],
        ["UCI", "4.5%", "6 of 60", "2 of 20"],
    ]


def test_time_is_summed_over_sets_and_sizes(true_tables):
    seconds = pl.when(set="oh0").then(60.0).otherwise(180.0)
    changed = true_tables | {"text": true_tables["text"].with_columns(seconds=seconds)}
    row = read_block("time", changed)[0]
    n_rows = true_tables["text"].height
    assert row[:3] == ["text", f"{2 * n_rows:,}", "tr11 75%, oh0 25%"]
    assert row[-1] == "1.0 times"
