"""The verdicts on Forman, Scholz and Rajaram, from made-up results."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from made_shaping import (
    SETS,
    keep,
    make_frame,
    make_lines,
    make_quick_tables,
    make_result,
    make_tables,
)
from papers.forman2009 import published
from papers.forman2009.claims import CLAIMS
from papers.forman2009.tables import (
    AS_DRAWN,
    BARE_SHAPING,
    BASELINE,
    LOG_ODDS,
    NARROW_ZERO,
    SCALING,
    SHAPING,
    SHAPING_NO_PLATT,
    ZERO_AS_VALUE,
    tabulate,
    tabulate_sets,
)
from papers.verdicts import IN_PART, NOT_REPRODUCED, NOT_TRIED, REPRODUCED, judge_claims


@pytest.fixture
def true_tables():
    return make_tables()


# What cannot be otherwise in made-up worlds: numbers of tasks and of high AUCs, the speed of
# fitting, and tests that fail to see a difference
FIXED = (
    "104 text tasks",
    "The AUC of the text baseline",
    "It exceeds .990",
    "The easiest tasks",
    "Without any normalization",
    "F on UCI improves by 18%",
    "AUC improves greatly",
    "Shaping is better on average",
    "The significance increases",
    "It is not significant at the rightmost",
    "Log odds work a bit better",
    "Tasks of less than 80%",
    "That of AUC does not",
    "On text, zero as a value gains",
    "On UCI, samples of up to 16 cases",  # gains do not depend on the set
    "On UCI, shaping costs no accuracy in samples larger",
    *(f"On {name}, a sigmoid of negative slope" for name in ("text", "UCI")),
    *(f"On {name}, the C that is best by accuracy" for name in ("text", "UCI")),
)


def test_claims_hold_in_a_world_where_the_paper_is_right(true_tables):
    lost = [
        (claim.says, verdict)
        for claim, verdict in judge_claims(CLAIMS, true_tables)
        if verdict.word != REPRODUCED
        and not isinstance(claim.judge, str)
        and not claim.says.startswith(FIXED)
    ]
    assert lost == []


TOLD_THE_OTHER_WAY = (
    "The sizes of 16 text sets",  # the data are the same
    "Without keeping zero at zero",
    "F drops significantly",
    "There is no worthwhile gain",  # less than none is none
    "Precision at 20 shows no appreciable gain",
    "Accuracy on UCI has no significant benefit",
    "It has no visible effect",
    "Depending on the measure",
    *(f"On {name}, shaping gains or loses the same" for name in ("text", "UCI")),
)


def test_claims_fall_in_a_world_where_the_paper_is_wrong():
    held = [
        (claim.says, verdict)
        for claim, verdict in judge_claims(CLAIMS, make_tables(is_right=False))
        if verdict.word == REPRODUCED and not claim.says.startswith(FIXED + TOLD_THE_OTHER_WAY)
    ]
    assert held == []


def judge(tables, start):
    """Return the verdict on the one claim that starts so."""
    (claim,) = (claim for claim in CLAIMS if claim.says.startswith(start))
    ((_, found),) = judge_claims([claim], tables)
    return found


def change(tables, name, **columns):
    return tables | {name: tables[name].with_columns(**columns)}


def test_a_gain_that_is_there_but_too_small_is_reproduced_in_part(true_tables):
    less = pl.when(pl.col("measure") == "f1").then(0.01).otherwise(pl.col("difference"))
    changed = change(true_tables, "text_tests", difference=less, relative=0.02)
    assert judge(changed, "The relative gain in F exceeds 5%").word == IN_PART


def test_p_values_that_rise_with_the_training_size_are_seen(true_tables):
    start = "The significance increases"
    rising = change(true_tables, "text_tests", p_value=pl.col("size") / 10)
    falling = change(true_tables, "text_tests", p_value=1 - pl.col("size") / 10)
    assert judge(rising, start).word == REPRODUCED
    assert judge(falling, start).word == NOT_REPRODUCED


@pytest.mark.parametrize(("value", "word"), [(0.986, REPRODUCED), (0.95, NOT_REPRODUCED)])
def test_the_mean_auc_is_compared_with_the_published_one(true_tables, value, word):
    changed = change(true_tables, "text_tests", against_value=pl.lit(value))
    assert judge(changed, "The AUC of the text baseline").word == word


@pytest.mark.parametrize(("share", "word"), [(0.43, REPRODUCED), (0.8, NOT_REPRODUCED)])
def test_tasks_of_a_high_auc_are_counted(true_tables, share, word):
    n = 100
    values = np.where(np.arange(n) < share * n, 0.995, 0.9)
    changed = true_tables | {"text_tasks": pl.DataFrame({BASELINE: values})}
    assert judge(changed, "It exceeds .990").word == word


@pytest.mark.parametrize(("gain", "word"), [(0.0, REPRODUCED), (0.1, NOT_REPRODUCED)])
def test_hard_tasks_are_compared_with_others(true_tables, gain, word, rng):
    baseline = np.linspace(0.6, 0.95, 40)
    shaping = baseline + rng.normal(0, 0.01, 40) + gain * (baseline < published.HARD_F1)
    frame = make_frame({BASELINE: baseline, SHAPING: shaping})
    assert judge(true_tables | {"text": frame}, "Tasks of less than 80%").word == word


def test_the_gain_in_f_on_uci_is_compared_with_the_published_one(true_tables):
    start = "F on UCI improves by 18%"
    as_published = {"against_value": 0.6, "value": 0.71, "difference": 0.11}
    changed = change(true_tables, "uci_tests", **{k: pl.lit(v) for k, v in as_published.items()})
    assert judge(changed, start).word == REPRODUCED
    assert judge(change(changed, "uci_tests", difference=pl.lit(0.01)), start).word != REPRODUCED


@pytest.mark.parametrize(
    ("difference", "p_value", "word"),
    [(0.001, 0.001, REPRODUCED), (-0.02, 0.3, REPRODUCED), (-0.02, 0.01, NOT_REPRODUCED)],
)
def test_effects_show_from_half_a_point_and_two_standard_errors_on(
    true_tables, difference, p_value, word
):
    numbers = {"difference": pl.lit(difference), "p_value": pl.lit(p_value)}
    assert judge(change(true_tables, "uci_tests", **numbers), "It has no visible").word == word


@pytest.mark.parametrize(("step", "word"), [(0.004, REPRODUCED), (0.006, IN_PART)])
def test_the_gap_widens_if_no_step_back_is_visible(true_tables, step, word):
    sizes = sorted(true_tables["text_tests"]["size"].unique())
    gains = {size: 0.02 - step * (k % 2) for k, size in enumerate(sizes)} | {sizes[0]: 0.1}
    difference = pl.col("size").replace_strict(gains)
    changed = change(true_tables, "text_tests", difference=difference)
    assert judge(changed, "The gap in F widens").word == word


def test_ranks_are_contradicted_only_by_differences_that_show(true_tables):
    start = "Leaving out BNS scaling comes fourth"
    assert judge(true_tables, start).word == REPRODUCED
    is_cheaper = (pl.col("method") == LOG_ODDS) & (pl.col("size") == 1)
    for more, word in ((0.0, REPRODUCED), (0.3, IN_PART)):
        auc = pl.when(is_cheaper).then(pl.col("auc") + more).otherwise(pl.col("auc"))
        changed = change(true_tables, "uci", auc=auc)
        assert judge(changed, start).word == word


def test_a_wrong_number_of_a_set_is_named(true_tables):
    cases = pl.when(pl.col("set") == "wap").then(1).otherwise(pl.col("cases"))
    found = judge(change(true_tables, "sets", cases=cases), "The sizes of 16 text sets")
    assert found.word == IN_PART
    assert "wap: cases 1 for 1560" in found.figures


def at(experiment, number):
    """Return a number for the rows of an experiment, nothing for others."""
    return pl.when(experiment=experiment).then(number).otherwise(0.0)


@pytest.mark.parametrize(
    ("baseline", "shaping", "word"),
    [(0.1, 0.02, REPRODUCED), (0.1, 0.2, IN_PART), (0.0, 0.0, NOT_REPRODUCED)],
)
def test_rankings_that_a_sigmoid_turns_round_are_counted(true_tables, baseline, shaping, word):
    columns = {"against_below_half": at(AS_DRAWN, baseline)}
    columns["below_half"] = at(AS_DRAWN, shaping)
    changed = change(true_tables, "uci_experiments", **columns)
    found = judge(changed, "On UCI, a sigmoid of negative slope")
    assert found.word == word
    assert f"baseline {baseline:.1%} by probability, 0.0% by score" in found.figures


@pytest.mark.parametrize(
    ("baseline", "shaping", "word"),
    [(0.9, 0.6, REPRODUCED), (0.9, 0.3, IN_PART), (0.4, 0.3, NOT_REPRODUCED)],
)
def test_tasks_with_the_smallest_cost_are_counted(true_tables, baseline, shaping, word):
    columns = {"against_least_C": at(AS_DRAWN, baseline)}
    columns["least_C"] = at(AS_DRAWN, shaping)
    changed = change(true_tables, "text_experiments", **columns)
    assert judge(changed, "On text, the C that is best by accuracy").word == word


def test_a_gain_that_is_gone_without_platt_is_seen(true_tables):
    gone = pl.when(method=SHAPING_NO_PLATT, measure="auc").then(0.9).otherwise(pl.col("p_value"))
    changed = change(true_tables, "text_tests", p_value=gone)
    found = judge(changed, "On text, shaping gains or loses the same in small samples where cases")
    assert found.word == IN_PART
    assert "leftmost p = .9 instead of p = " in found.figures


@pytest.mark.parametrize(
    ("wide", "narrow", "word"),
    [(0.02, 0.0, REPRODUCED), (0.02, 0.01, IN_PART), (0.01, 0.02, NOT_REPRODUCED)],
)
def test_what_zero_gains_in_narrow_neighbourhoods_is_compared(true_tables, wide, narrow, word):
    gain = pl.when(method=ZERO_AS_VALUE).then(wide).when(method=NARROW_ZERO).then(narrow)
    p_value = pl.when(gain.otherwise(0.0) > 0).then(0.001).otherwise(1.0)
    columns = {"difference": gain.otherwise(0.0), "p_value": p_value}
    changed = change(true_tables, "text_tests", **columns)
    assert judge(changed, "On text, zero as a value gains").word == word


def make_accuracies(*rows):
    """Return the accuracy of shaping by set and size, that of the baseline being .8."""
    table = [
        {"set": name, "task": "a", "size": size, "method": method, "accuracy": value}
        for name, size, shaping in rows
        for method, value in ((BASELINE, 0.8), (SHAPING, shaping))
    ]
    return {"uci": pl.DataFrame(table)}


@pytest.mark.parametrize(
    ("tiny", "later", "word"),
    [(0.5, 0.8, REPRODUCED), (0.5, 0.7, IN_PART), (0.79, 0.8, NOT_REPRODUCED)],
)
def test_the_loss_on_tiny_samples_is_compared_with_that_on_others(true_tables, tiny, later, word):
    accuracies = make_accuracies(  # 7 and 27 cases of iris, 38 and 152 of vehicle
        ("iris", 0.05, tiny), ("vehicle", 0.05, 0.78), ("iris", 0.2, 0.8), ("vehicle", 0.2, later)
    )
    changed = true_tables | accuracies
    assert judge(changed, "On UCI, samples of up to 16 cases").word == word


@pytest.mark.parametrize(
    ("loss", "word"), [(0.005, REPRODUCED), (0.02, IN_PART)], ids=["small", "large"]
)
def test_losses_in_larger_samples_are_told_by_set(true_tables, loss, word):
    accuracies = make_accuracies(
        *(("iris", 0.05, 0.5), ("letter", 0.05, 0.9), ("wine", 1.0, 0.8)),
        ("vehicle", 0.2, 0.8 - loss),
    )
    found = judge(true_tables | accuracies, "On UCI, shaping costs no accuracy in samples larger")
    assert found.word == word
    assert ("vehicle -.020 with 152" in found.figures) == (word == IN_PART)


def test_claims_on_methods_that_were_not_run_could_not_be_tried():
    results = {
        f"{benchmark}-{method}": make_result(benchmark, SETS[benchmark][0], method)
        for benchmark, method in product(SETS, (BASELINE, SCALING, SHAPING))
    }
    tables = keep(tabulate(results) | tabulate_sets(make_lines()))
    found = judge(tables, "LP benefits substantially")
    assert found.word == NOT_TRIED
    assert BARE_SHAPING in found.figures
    assert judge(tables, "The drop comes of reshaping").word in (NOT_TRIED, NOT_REPRODUCED)
    assert judge(tables, "Log odds in place").word == NOT_TRIED
    assert judge(tables, "From 4-fold").word == NOT_TRIED
    assert judge(tables, "On UCI, a sigmoid of negative slope").word == NOT_TRIED


def test_claims_wait_for_their_tables():
    words = {verdict.word for _, verdict in judge_claims(CLAIMS, {})}
    assert words == {"not run", NOT_TRIED}


def test_quick_results_are_judged():
    judged = judge_claims(CLAIMS, make_quick_tables())
    assert len(judged) == len(CLAIMS)
    assert all("|" not in verdict.figures for _, verdict in judged)
