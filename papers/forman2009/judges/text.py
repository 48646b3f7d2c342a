"""Judges of claims on the text benchmark: Figures 1, 2, 8 and 9."""

from __future__ import annotations

import polars as pl
from scipy import stats

from papers.forman2009 import published
from papers.forman2009.judges.gains import (
    find_gain,
    find_gains,
    list_gains,
    read_tasks,
    reverse,
    show_gain,
    show_p,
    spread,
)
from papers.forman2009.tables import (
    BARE_SHAPING,
    BASELINE,
    LEFTMOST,
    RIGHTMOST,
    SCALING,
    SHAPING,
    WHOLE,
)
from papers.limits import ERRORS, LEVEL, POINT, VISIBLE, find_error
from papers.verdicts import NOT_TRIED, Tables, Verdict, grade, show


def judge_drop(tables: Tables) -> Verdict:
    """Judge what shaping loses without scaling and normalising."""
    gain = find_gain(tables, RIGHTMOST, "text", "f1", BARE_SHAPING, SHAPING)
    is_as_large = gain.difference <= -0.8 * published.TEXT_F1_DROP
    word = grade(is_as_large, gain.is_down and gain.difference < -POINT)
    return Verdict(word, f"F {show_gain(gain)}")


def judge_leftmost_gain(tables: Tables) -> Verdict:
    """Judge the relative gain in F at the smallest training size."""
    gain = find_gain(tables, LEFTMOST, "text", "f1")
    word = grade(gain.relative > published.TEXT_F1_GAIN, gain.is_up)
    return Verdict(word, f"relative gain in F {gain.relative:+.1%}: {show_gain(gain)}")


def judge_rightmost_gain(tables: Tables) -> Verdict:
    """Judge whether the relative gain in F is below a hundredth at the largest training size.

    In part if it is not above a hundredth by two standard errors.
    """
    gain = find_gain(tables, RIGHTMOST, "text", "f1")
    wide = spread(tables["text"], "f1", WHOLE)
    error = (find_error(wide["gain"]) or 0.0) / gain.against
    word = grade(gain.relative < POINT, gain.relative - ERRORS * error < POINT)
    return Verdict(
        word, f"relative gain in F {gain.relative:+.1%} ± {error:.1%}: {show_gain(gain)}"
    )


def judge_half(tables: Tables) -> Verdict:
    """Judge whether the gain in F is significant with about half of the cases."""
    gain = find_gain(tables, published.HALF, "text", "f1")
    return Verdict(grade(gain.is_up, gain.difference > 0), f"F {show_gain(gain)}")


def judge_significance(tables: Tables) -> Verdict:
    """Judge whether p-values rise with the training size."""
    gains = find_gains(tables, "text", "f1")
    p_half = find_gain(tables, published.HALF, "text", "f1").p_value
    left = [gain.p_value <= p_half for gain in gains if gain.percent < published.HALF]
    right = [gain.p_value >= p_half for gain in gains if gain.percent > published.HALF]
    word = grade(all(left) and all(right), gains[0].p_value < gains[-1].p_value)
    listed = ", ".join(f"{show_p(g.p_value)} at {g.percent:g}%" for g in gains)
    return Verdict(word, f"test of F: {listed}")


def judge_reshaping(tables: Tables) -> Verdict:
    """Judge whether text gains more from shaping than from scaling, mostly with few cases."""
    gains = [reverse(gain) for gain in find_gains(tables, "text", "f1", SCALING, SHAPING)]
    left, right = gains[0], gains[-1]
    is_more = left.difference > right.difference
    return Verdict(
        grade(left.is_up and is_more, left.is_up or all(gain.difference > 0 for gain in gains)),
        f"F of shaping minus scaling {list_gains(gains)}; {show_p(left.p_value)} at "
        f"{left.percent:g}%, {show_p(right.p_value)} at {right.percent:g}%",
    )


def judge_hard_tasks(tables: Tables) -> Verdict:
    """Judge whether tasks with a low F gain no more from shaping than others."""
    wide = spread(tables["text"], "f1", WHOLE)
    hard = wide.filter(pl.col(BASELINE) < published.HARD_F1)["gain"].to_numpy()
    rest = wide.filter(pl.col(BASELINE) >= published.HARD_F1)["gain"].to_numpy()
    if min(hard.size, rest.size) < 2:
        return Verdict(NOT_TRIED, f"{hard.size} tasks below an F of {published.HARD_F1}")
    p = float(stats.ttest_ind(hard, rest, equal_var=False, alternative="greater").pvalue)
    return Verdict(
        grade(not p < LEVEL),
        f"gain in F: {hard.size} tasks below gain {show(hard.mean(), signed=True)}, {rest.size} "
        f"others {show(rest.mean(), signed=True)} (Welch's test, one-sided, {show_p(p)})",
    )


def judge_similarity(tables: Tables) -> Verdict:
    """Judge whether AUC on text agrees with F."""
    gains = find_gains(tables, "text", "auc")
    part = find_gains(tables, "text", "auc", SCALING)
    findings = {
        "above the baseline": all(gain.difference > 0 for gain in gains),
        "more so to the left": gains[0].difference > gains[-1].difference,
        "no worthwhile gain at the right": gains[-1].relative < POINT,
        "scaling gets part of it": 0 < part[0].difference < gains[0].difference,
    }
    held = [name for name, holds in findings.items() if holds]
    lost = [f"not: {name}" for name, holds in findings.items() if not holds]
    word = grade(not lost, 2 * len(held) >= len(findings))
    return Verdict(word, f"{', '.join(held + lost)}; AUC {list_gains(gains)}")


def judge_accuracy_test(tables: Tables) -> Verdict:
    """Judge whether the gain in accuracy on text is not significant with all training cases."""
    gain = find_gain(tables, RIGHTMOST, "text", "accuracy")
    return Verdict(grade(not gain.p_value < LEVEL), f"accuracy {show_gain(gain)}")


def judge_mean_auc(tables: Tables) -> Verdict:
    """Judge the mean AUC of the baseline on text."""
    ours = find_gain(tables, RIGHTMOST, "text", "auc").against
    off = abs(ours - published.TEXT_AUC)
    return Verdict(grade(off <= VISIBLE, off <= 2 * VISIBLE), f"mean AUC {show(ours)}")


def judge_high_tasks(tables: Tables) -> Verdict:
    """Judge on how many text tasks the baseline has a high AUC."""
    values = read_tasks(tables, "text", BASELINE)[BASELINE]
    ours = int((values > published.HIGH_AUC).sum())
    off = abs(ours / len(values) - published.TEXT_HIGH_TASKS / published.TASKS["text"])
    return Verdict(
        grade(off <= 0.05, off <= 0.1),
        f"AUC of the baseline above {show(published.HIGH_AUC)} in {ours} of {len(values)} tasks",
    )


def judge_surprise(tables: Tables) -> Verdict:
    """Judge whether shaping text differs from scaling it, although few values are not zero."""
    gains = [reverse(gain) for gain in find_gains(tables, "text", "f1", SCALING, SHAPING)]
    best = max(gains, key=lambda gain: gain.difference)
    text = tables["sets"].filter(benchmark="text")
    n_values = (text["cases"] * text["columns"]).to_numpy()
    share = text["nonzeros"].to_numpy().sum() / n_values.sum()
    word = grade(best.is_up and best.difference > POINT, best.is_up)
    figures = f"{share:.1%} of the values are not zero; F of shaping over scaling at best"
    return Verdict(word, f"{figures} {show_gain(best)}")
