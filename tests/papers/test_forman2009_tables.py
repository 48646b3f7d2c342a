"""The tables of Forman, Scholz and Rajaram, from made-up results."""

from __future__ import annotations

from statistics import mean

import numpy as np
import polars as pl
import pytest
from scipy import stats

from made_shaping import CLASSES, make_frame, make_result, make_tables
from papers.forman2009 import published
from papers.forman2009.tables import (
    AS_DRAWN,
    BASELINE,
    BASELINE_NO_PLATT,
    L1_NORM,
    L2_NORM,
    LEAST_C,
    MEASURES,
    NO_PLATT,
    POLICY,
    SCALING,
    SHAPING,
    SHAPING_NO_PLATT,
    average,
    average_samples,
    compare,
    gather,
    list_experiments,
)


@pytest.fixture
def true_tables():
    return make_tables()


def test_gather_equals_a_loop_over_joined_folds(rng):
    first = make_result("uci", "glass", SHAPING, (0.05, 1.0), range(0, 4, 2), seed=1)
    second = make_result("uci", "glass", SHAPING, (0.05, 1.0), range(1, 4, 2), seed=2)
    first["auc"][0][1][0] = second["auc"][0][0][0] = None
    for block in (first, second):
        block["C"] = rng.choice([0.1, 1.0, 10.0], (len(CLASSES), 2, 2)).tolist()
    found = gather({"first": first, "second": second})["uci"]
    assert found.height == 2 * len(CLASSES)
    for row in found.to_dicts():
        k, s = CLASSES.index(row["task"]), (0.05, 1.0).index(row["size"])
        cells = {
            name: [fold[s] for block in (first, second) for fold in block[name][k]]
            for name in (*MEASURES, "C", "seconds")
        }
        for measure in MEASURES:
            known = [value for value in cells[measure] if value is not None]
            assert row[measure] == pytest.approx(mean(known), abs=1e-5)
        counts = {C: cells["C"].count(C) for C in cells["C"]}
        assert row["C"] == min(C for C in counts if counts[C] == max(counts.values()))
        assert row["seconds"] == pytest.approx(sum(cells["seconds"]))
        assert (row["folds"], row["unknown"]) == (4, 2 if (k, s) == (0, 0) else 0)
        known = [value for value in cells["auc"] if value is not None]
        assert row["below_half"] == sum(value < 0.5 for value in known)


def test_benchmarks_are_gathered_apart():
    results = {
        "a": make_result("text", "oh0", BASELINE),
        "b": make_result("uci", "wine", BASELINE),
    }
    found = gather(results)
    assert {name: set(frame["set"]) for name, frame in found.items()} == {
        "text": {"oh0"},
        "uci": {"wine"},
    }


def test_a_task_counts_where_all_methods_of_the_paper_have_a_value():
    frame = make_frame(
        {
            BASELINE: [0.5, 0.6, 0.7, None],
            SCALING: [0.6, 0.7, None, 0.9],
            SHAPING: [0.7, 0.8, 0.9, 0.9],
            POLICY: [0.9, None, 0.1, 0.1],
        }
    )
    found = {row["method"]: row for row in average(frame).to_dicts()}
    counted = {name: row["tasks"] for name, row in found.items()}
    assert counted == {BASELINE: 2, SCALING: 2, SHAPING: 2, POLICY: 1}
    assert found[BASELINE]["auc"] == pytest.approx(0.55)
    assert found[POLICY]["auc"] == pytest.approx(0.9)
    assert found[SHAPING]["unknown"] == 2
    assert found[SHAPING]["percent"] == 90.0


def test_small_samples_are_averaged_apart():
    frame = make_frame({BASELINE: [0.5, 0.6], SHAPING: [0.7, 0.8]}, size=0.1)
    sets = pl.Series(["iris", "ecoli"] * 2)  # 13.5 and 30.2 of their cases
    found = average_samples("uci", frame.with_columns(set=sets)).filter(method=SHAPING)
    assert found.select("cases", "tasks", "auc").rows() == [
        ("up to 16", 1, 0.7),
        ("17 to 31", 1, 0.8),
    ]


def test_comparisons_are_paired_tests_by_hand():
    a, b = [0.7, 0.8, 0.9, 0.85, None], [0.5, 0.65, 0.8, 0.86, 0.4]
    found = compare(make_frame({SHAPING: a, BASELINE: b}, size=0.6))
    row = found.filter(measure="f1", method=SHAPING, against=BASELINE).to_dicts()[0]
    expected = stats.ttest_rel(a[:4], b[:4])
    assert row["p_value"] == pytest.approx(expected.pvalue, rel=1e-3)
    assert row["p_greater"] == pytest.approx(expected.pvalue / 2, rel=1e-3)
    assert row["value"] == pytest.approx(0.8125)
    assert row["against_value"] == pytest.approx(0.7025)
    assert row["relative"] == pytest.approx(0.11 / 0.7025, abs=1e-5)
    assert (row["tasks"], row["wins"], row["losses"], row["percent"]) == (4, 3, 1, 54.0)
    turned = found.filter(measure="f1", method=BASELINE, against=SHAPING).to_dicts()[0]
    assert turned["difference"] == -row["difference"]


def test_one_task_is_compared_without_a_p_value():
    found = compare(make_frame({SHAPING: [0.7], BASELINE: [0.5]}))
    assert found["difference"].to_list() == [0.2, -0.2] * len(MEASURES)
    assert found["p_value"].null_count() == found.height


def test_experiments_are_compared_with_their_own_baseline():
    frame = pl.concat(
        make_frame(
            {
                BASELINE: [0.5, 0.6],
                SHAPING: [0.7, 0.9],
                BASELINE_NO_PLATT: [0.6, 0.8],
                SHAPING_NO_PLATT: [0.7, 0.8],
            },
            size,
        )
        for size in (0.1, 1.0)
    )
    below = pl.when(method=BASELINE, size=0.1).then(9).otherwise(0)
    cost = pl.when(method=SHAPING, task="1").then(LEAST_C).otherwise(1.0)
    frame = frame.with_columns(below_half=below, C=cost)
    found = list_experiments(frame, compare(frame)).filter(measure="f1", size=0.1)
    assert found.select("experiment", "value", "against_value", "difference").rows() == [
        (AS_DRAWN, 0.8, 0.55, 0.25),
        (NO_PLATT, 0.75, 0.7, 0.05),
    ]
    assert found["against_below_half"].to_list() == [1.0, 0.0]  # a fold of ten is unknown
    assert found["below_half"].to_list() == [0.0, 0.0]
    assert found["least_C"].to_list() == [0.5, 0.0]
    assert found["against_least_C"].to_list() == [0.0, 0.0]


def test_experiments_have_the_sizes_at_which_something_differs(true_tables):
    sizes = true_tables["uci_experiments"]["percent"].unique().sort()
    assert sizes.to_list() == [4.5, 9.0, 18.0, 90.0]
    alone = make_frame({BASELINE: [0.5, 0.6], SHAPING: [0.7, 0.9]})
    assert list_experiments(alone, compare(alone)).is_empty()


def test_variants_are_in_the_order_of_their_auc(true_tables):
    found = true_tables["uci_variants"]
    assert found["auc"].is_sorted()
    assert found["method"][0] == L2_NORM
    assert found["method"][-1] == POLICY
    row = found.filter(method=L1_NORM).to_dicts()[0]
    assert row["auc_difference"] == pytest.approx(0.03 - 0.12, abs=0.005)
    assert row["auc_p"] < 0.001


def test_tasks_are_in_the_order_of_the_baseline(true_tables):
    found = true_tables["uci_tasks"]
    assert found[BASELINE].is_sorted()
    assert found.height == 2 * len(CLASSES)


def test_anchors_stand_beside_ours(true_tables):
    found = {row["what"]: row for row in true_tables["text_anchors"].to_dicts()}
    assert found["baseline AUC at 90%"]["published"] == published.TEXT_AUC
    curve = true_tables["text_curves"].filter(method=BASELINE, size=1.0)
    assert found["baseline AUC at 90%"]["ours"] == curve["auc"].item()
    assert found["tasks"]["ours"] == 2 * len(CLASSES)


def test_table_1_counts_the_tasks():
    assert {name: len(sets) for name, sets in published.SETS.items()} == {"text": 16, "uci": 11}
    for sets in published.SETS.values():
        assert all(known.classes * known.smallest <= 100.1 for known in sets.values())


def test_published_sets_are_those_of_the_data(data_folder):
    from papers.datasets import load_forman, load_uci

    for name, load in (("tr23", load_forman), ("glass", load_uci)):
        known = (published.TEXT_SETS | published.UCI_SETS)[name]
        labels = load(data_folder, name).labels
        _, counts = np.unique(labels, return_counts=True)
        shares = 100 * np.sort(counts) / labels.size
        assert (labels.size, counts.size) == (known.cases, known.classes)
        assert shares[[0, -1]] == pytest.approx((known.smallest, known.largest), abs=0.05)
