"""Judges of claims beyond the paper, and of explanations where our results differ."""

from __future__ import annotations

from typing import Any

import polars as pl

from papers.forman2009.judges.gains import (
    NAMES,
    find_gain,
    find_gains,
    list_gains,
    pair,
    show_gain,
    show_p,
)
from papers.forman2009.tables import (
    AS_DRAWN,
    BASELINE,
    BY_AUC,
    CROSS_FITTED,
    EXPERIMENT_MEASURES,
    EXPERIMENTS,
    LEAST_C,
    LEFTMOST,
    MEASURES,
    NARROW,
    NARROW_ZERO,
    NO_PLATT,
    POLICY,
    PRICED,
    RIGHTMOST,
    SHAPING,
    TINY,
    ZERO_AS_VALUE,
)
from papers.verdicts import (
    NOT_REPRODUCED,
    NOT_TRIED,
    NotTriedError,
    Tables,
    Verdict,
    grade,
    grade_cases,
    show,
)


def judge_overfitting(tables: Tables) -> Verdict:
    """Judge whether cross-fitting restores the accuracy that shaping costs.

    Cross-fitted shaping trains the SVM on estimates that have not seen the labels of its cases, so
    these cannot fit the noise.
    """
    lost = [g for g in find_gains(tables, "uci", "accuracy") if g.difference < 0]
    if not lost:
        return Verdict(NOT_REPRODUCED, "shaping costs no accuracy at any size")
    percents = [gain.percent for gain in lost]
    crossed = find_gains(tables, "uci", "accuracy", CROSS_FITTED)
    apart = find_gains(tables, "uci", "accuracy", CROSS_FITTED, SHAPING)
    found = [gain for gain in crossed if gain.percent in percents]
    if not found:
        raise NotTriedError(f'"{CROSS_FITTED} on small training sets" was not run')
    before = sum(g.difference for g in lost if g.percent in [f.percent for f in found])
    share = 1 - sum(gain.difference for gain in found) / before
    is_clear = next(gain.is_up for gain in apart if gain.percent == found[0].percent)
    return Verdict(
        grade(share >= 0.5 and is_clear, share > 0 and is_clear),
        f"shaping {list_gains(lost)}; cross-fitted {list_gains(found)}: this removes "
        f"{share:.0%} of the loss; {_describe_loss(tables, lost[0].percent)}",
    )


def _describe_loss(tables: Tables, percent: float) -> str:
    """Return the accuracy that shaping costs, by size of the training sample."""
    listed = (
        f"{show(row['gain'], signed=True)} on {row['tasks']} tasks with {row['cases']} "
        "training cases"
        for row in _list_sample_gains(tables, percent)
    )
    return f"at {percent:g}%: {', '.join(listed)}"


def _list_sample_gains(tables: Tables, percent: float) -> list[dict[str, Any]]:
    """Return the gain in accuracy by size of the training sample."""
    rows = tables["uci_samples"].filter(
        pl.col("method").is_in((BASELINE, SHAPING)), percent=percent
    )
    wide = rows.pivot(on="method", index=("cases", "tasks"), values="accuracy")
    return wide.with_columns(gain=pl.col(SHAPING) - pl.col(BASELINE)).to_dicts()


def judge_tiny_samples(tables: Tables) -> Verdict:
    """Judge whether samples smaller than a neighbourhood cause most of the loss of accuracy."""
    left = find_gain(tables, LEFTMOST, "uci", "accuracy")
    if not left.difference < 0:
        return Verdict(NOT_REPRODUCED, f"shaping costs no accuracy at {left.percent:g}%")
    rows = _list_sample_gains(tables, left.percent)
    gains = {row["cases"]: row["gain"] for row in rows}
    if TINY not in gains:
        return Verdict(NOT_TRIED, f"no training sample has {TINY} cases")
    lost = {row["cases"]: row["gain"] * row["tasks"] for row in rows}
    share = lost[TINY] / sum(lost.values())
    is_most = gains[TINY] == min(gains.values())
    return Verdict(
        grade(is_most and share > 0.5, is_most),
        f"{share:.0%} of the loss; {_describe_loss(tables, left.percent)}",
    )


def judge_experiment(tables: Tables, benchmark: str, experiment: str) -> Verdict:
    """Judge whether an experiment has the same gain or loss as the paper's procedure.

    In each measure, both must be significantly above the baseline, both significantly below it, or
    neither, at the smallest size.
    """
    is_same, told = [], []
    for measure in EXPERIMENT_MEASURES:
        as_published = find_gains(tables, benchmark, measure)
        pairs = pair(as_published, find_gains(tables, benchmark, measure, *EXPERIMENTS[experiment]))
        before, after = pairs[0]
        is_same.append((before.is_up, before.is_down) == (after.is_up, after.is_down))
        told.append(
            f"{NAMES[measure]} {list_gains([b for _, b in pairs])} instead of "
            f"{list_gains([a for a, _ in pairs])}, leftmost {show_p(after.p_value)} instead of "
            f"{show_p(before.p_value)}"
        )
    return Verdict(grade_cases(is_same), "; ".join(told))


def judge_rightmost_experiments(tables: Tables) -> Verdict:
    """Judge whether shaping gains F on text with all cases in every experiment."""
    gains = {
        name: find_gain(tables, RIGHTMOST, "text", "f1", *EXPERIMENTS[name])
        for name in (NO_PLATT, BY_AUC, PRICED)
    }
    is_up = [gain.is_up for gain in gains.values()]
    listed = (f"{name} {show_gain(gain)}" for name, gain in gains.items())
    return Verdict(grade_cases(is_up), f"F {'; '.join(listed)}")


def judge_zero_as_smoothing(tables: Tables) -> Verdict:
    """Judge whether zero as a value gains only because it widens neighbourhoods."""
    wide = find_gain(tables, RIGHTMOST, "text", "f1", ZERO_AS_VALUE, SHAPING)
    narrow = find_gain(tables, RIGHTMOST, "text", "f1", NARROW_ZERO, NARROW)
    word = grade(wide.is_up and not narrow.is_up, narrow.difference < wide.difference)
    return Verdict(word, f"F, 30 neighbours: {show_gain(wide)}; two: {show_gain(narrow)}")


def judge_turning(tables: Tables, benchmark: str) -> Verdict:
    """Judge whether Platt's sigmoid reverses more rankings of the baseline than of shaping."""
    with_it, without = (_find_leftmost(tables, benchmark, of) for of in (AS_DRAWN, NO_PLATT))
    columns = {"baseline": "against_below_half", "shaping": "below_half"}
    more = {name: with_it[of] - without[of] for name, of in columns.items()}
    listed = (
        f"{name} {with_it[of]:.1%} by probability, {without[of]:.1%} by score"
        for name, of in columns.items()
    )
    return Verdict(
        grade(more["baseline"] > max(more["shaping"], 0), more["baseline"] > 0),
        f"folds with an AUC below .5 at {with_it['percent']:g}%: {'; '.join(listed)}",
    )


def judge_smallest_cost(tables: Tables, benchmark: str) -> Verdict:
    """Judge whether the smallest C is chosen on most tasks by accuracy, and on fewer by AUC."""
    accuracy, auc = (_find_leftmost(tables, benchmark, of) for of in (AS_DRAWN, BY_AUC))
    columns = {"baseline": "against_least_C", "shaping": "least_C"}
    is_most = [accuracy[of] > 0.5 for of in columns.values()]
    is_fewer = [auc[of] < accuracy[of] for of in columns.values()]
    listed = (
        f"{name} {accuracy[of]:.0%} by accuracy, {auc[of]:.0%} by AUC"
        for name, of in columns.items()
    )
    return Verdict(
        grade(all(is_most) and all(is_fewer), any(is_most) and any(is_fewer)),
        f"tasks with C = {LEAST_C} at {accuracy['percent']:g}%: {'; '.join(listed)}",
    )


def _find_leftmost(tables: Tables, benchmark: str, experiment: str) -> dict[str, Any]:
    """Return the row of an experiment at the smallest size."""
    rows = tables[f"{benchmark}_experiments"].filter(experiment=experiment, measure="auc")
    if rows.is_empty():
        raise NotTriedError(f'"{experiment}" was not run')
    return rows.sort("size").row(0, named=True)


def judge_beyond(tables: Tables, benchmark: str, method: str, against: str) -> Verdict:
    """Judge whether a method is better than another, with the fewest and with all cases."""
    found = {
        of: [find_gain(tables, at, benchmark, of, method, against) for at in (LEFTMOST, RIGHTMOST)]
        for of in EXPERIMENT_MEASURES
    }
    ends = [gain for gains in found.values() for gain in gains]
    n_up, n_down = sum(gain.is_up for gain in ends), sum(gain.is_down for gain in ends)
    listed = (
        f"{NAMES[of]} {', '.join(show_gain(gain) for gain in gains)}" for of, gains in found.items()
    )
    return Verdict(grade(n_up > 0 and not n_down, n_up > n_down), "; ".join(listed))


def judge_policy(tables: Tables) -> Verdict:
    """Judge whether a choice per feature is better than shaping all features."""
    to_shaping = {of: find_gain(tables, RIGHTMOST, "uci", of, POLICY, SHAPING) for of in MEASURES}
    to_baseline = {of: find_gain(tables, RIGHTMOST, "uci", of, POLICY) for of in MEASURES}
    every = (*to_shaping.values(), *to_baseline.values())
    word = grade(all(gain.is_up for gain in every), to_shaping["auc"].is_up)
    listed = (
        f"{NAMES[of]} {show(gain.value)} and {show(gain.against)} ({show_p(gain.p_value)}; "
        f"baseline {show(to_baseline[of].against)})"
        for of, gain in to_shaping.items()
    )
    return Verdict(word, f"policy and shaping at 90%: {', '.join(listed)}")
