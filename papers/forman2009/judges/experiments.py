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
    NEIGHBORS,
    NO_PLATT,
    POLICY,
    PRICED,
    RIGHTMOST,
    SHAPING,
    ZERO_AS_VALUE,
    average_sets,
)
from papers.limits import MOST, POINT
from papers.verdicts import (
    NOT_REPRODUCED,
    NotTriedError,
    Tables,
    Verdict,
    grade,
    grade_cases,
    show,
)

SMALL = 50.0  # per cent of the data set: smaller training sets count as small


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
    """Judge whether samples smaller than a neighbourhood cause most of the loss of accuracy.

    At each size below half of the data, averaged over data sets, so that one with many tasks counts
    no more than others; in part if this is so at the smallest size only.
    """
    rows = average_sets("uci", tables["uci"], "accuracy").filter(pl.col("percent") < SMALL)
    shares = {}
    for (percent,), of in rows.group_by("percent", maintain_order=True):
        lost = float(of["gain"].sum())
        if lost < 0:
            tiny = float(of.filter(pl.col("cases") <= NEIGHBORS // 2 + 1)["gain"].sum())
            shares[percent] = abs(tiny) / -lost if tiny < 0 else 0.0
    if not shares:
        return Verdict(NOT_REPRODUCED, "averaged over sets, shaping costs no accuracy")
    is_most = [share > MOST for share in shares.values()]
    return Verdict(
        grade(all(is_most), is_most[0]),
        "share of the loss, averaged over sets, in samples of up to 16 cases: "
        + ", ".join(f"{share:.0%} at {percent:g}%" for percent, share in shares.items()),
    )


def judge_larger_samples(tables: Tables) -> Verdict:
    """Judge whether no set loses a point of accuracy in samples larger than a neighbourhood."""
    rows = average_sets("uci", tables["uci"], "accuracy").filter(pl.col("cases") > NEIGHBORS + 1)
    if rows.is_empty():
        raise NotTriedError('"a larger training size" was not run')
    losses = {
        name: of.filter(pl.col("gain") <= -POINT)
        for (name,), of in rows.group_by("set", maintain_order=True)
    }
    losing = {name: of for name, of in losses.items() if of.height}
    listed = (
        f"{name} {', '.join(_tell_loss(row) for row in of.iter_rows(named=True))}"
        for name, of in sorted(losing.items())
    )
    return Verdict(
        grade(not losing, 2 * len(losing) < len(losses)),
        f"accuracy of shaping minus baseline by data set: {len(losing)} of {len(losses)} sets lose "
        f"a point at some size of {NEIGHBORS + 2} cases or more: {'; '.join(listed) or 'none'}",
    )


def _tell_loss(row: dict[str, Any]) -> str:
    return f"{show(row['gain'], signed=True)} with {row['cases']:,.0f}"


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
