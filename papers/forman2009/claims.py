"""What the paper says about its results, and how each claim is judged from the tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import isnan, nan
from typing import Any, NamedTuple

import polars as pl
from scipy import stats

from spokeshave import paired_test
from spokeshave.papers.forman2009 import published
from spokeshave.papers.forman2009.tables import (
    BARE_SHAPING,
    BASELINE,
    COUNTS,
    CROSS_FITTED,
    FACTS,
    L1_NORM,
    L2_NORM,
    LEFTMOST,
    LESIONS,
    LOG_ODDS,
    MEASURES,
    NO_NORM,
    NO_PLATT_CV,
    NO_SCALING,
    POLICY,
    RAW,
    RIGHTMOST,
    SCALING,
    SHAPING,
    TASK,
    WHOLE,
    ZERO_AS_VALUE,
    find_tests,
)
from spokeshave.reproduction import (
    IN_PART,
    NOT_REPRODUCED,
    NOT_TRIED,
    REPRODUCED,
    Claim,
    Tables,
    Verdict,
)

LEVEL = 0.05  # of significance
POINT = 0.01  # of a measure: less is no appreciable gain, nor a substantial loss
VISIBLE = 0.005  # half a point, what can be seen in the paper's figures
GREAT = 0.05  # of AUC, a great improvement of a task
SMALL = 50.0  # per cent of the data set, below which training sets are small
BYTES = 8  # of a number; a sparse one has an index of half of that beside it
BENCHMARK_NAMES = {"text": "text", "uci": "UCI"}
NAMES = {"auc": "AUC", "f1": "F", "accuracy": "accuracy", "precision_at_20": "P@20"}
VARIANT_NAMES = {SCALING: "no shaping", NO_PLATT_CV: "Platt - CV"}


class Gain(NamedTuple):
    """How far a method is above another at a training size; without a p-value for a single task."""

    percent: float
    tasks: int
    value: float
    against: float
    difference: float
    p_value: float
    wins: int
    losses: int

    @property
    def relative(self) -> float:
        return self.difference / self.against if self.against else nan

    @property
    def is_up(self) -> bool:
        return self.difference > 0 and self.p_value < LEVEL

    @property
    def is_down(self) -> bool:
        return self.difference < 0 and self.p_value < LEVEL


class _NotRunError(LookupError):
    """A claim is about a method that has no results."""


def _claim(where: str, says: str, judge: Callable[..., Verdict], *arguments: Any) -> Claim:
    return Claim(where, says, partial(_try, judge, arguments))


def _try(judge: Callable[..., Verdict], arguments: tuple[Any, ...], tables: Tables) -> Verdict:
    try:
        return judge(tables, *arguments)
    except _NotRunError as error:
        return Verdict(NOT_TRIED, f'"{error}" was not run')


def _find_gains(
    tables: Tables, benchmark: str, measure: str, method: str = SHAPING, against: str = BASELINE
) -> list[Gain]:
    """Return how far a method is above another, from the smallest training size to the largest."""
    rows = find_tests(tables[f"{benchmark}_tests"], measure, method, against)
    if not rows:
        raise _NotRunError(method)
    return [_read_gain(row) for row in rows]


def _read_gain(row: dict[str, Any]) -> Gain:
    return Gain(
        percent=row["percent"],
        tasks=row["tasks"],
        value=row["value"],
        against=row["against_value"],
        difference=row["difference"],
        p_value=nan if row["p_value"] is None else float(row["p_value"]),
        wins=row["wins"],
        losses=row["losses"],
    )


def _find_gain(tables: Tables, at: float, *compared: str) -> Gain:
    """Return how far a method is above another at the training size nearest to a share."""
    return min(_find_gains(tables, *compared), key=lambda gain: abs(gain.percent - at))


def _grade(is_whole: bool, is_half: bool = False) -> str:
    return REPRODUCED if is_whole else IN_PART if is_half else NOT_REPRODUCED


def _show(value: float, signed: bool = False) -> str:
    """Return a number without the zero before its point.

    Examples
    --------
    >>> _show(0.984), _show(-0.0123, signed=True), _show(1.0)
    ('.984', '-.012', '1.000')
    """
    return re.sub(r"^([+-]?)0\.", r"\1.", f"{value:+.3f}" if signed else f"{value:.3f}")


def _show_p(value: float) -> str:
    return "no test of one task" if isnan(value) else f"p = {value:.2g}".replace(" 0.", " .")


def _show_gain(gain: Gain) -> str:
    return (
        f"{_show(gain.against)} → {_show(gain.value)} at {gain.percent:g}% "
        f"({_show(gain.difference, signed=True)}, {_show_p(gain.p_value)})"
    )


def _list_gains(gains: Sequence[Gain]) -> str:
    listed = ", ".join(_show(gain.difference, signed=True) for gain in gains)
    first, last = gains[0].percent, gains[-1].percent
    return f"{listed} at {first:g}%" if first == last else f"{listed} ({first:g} to {last:g}%)"


def _label(benchmark: str, measure: str) -> str:
    return f"{BENCHMARK_NAMES[benchmark]} {NAMES[measure]}"


def _name(method: str) -> str:
    return VARIANT_NAMES.get(method, method)


def _pair(a: Sequence[Gain], b: Sequence[Gain]) -> list[tuple[Gain, Gain]]:
    """Return the gains of two pairs of methods at the training sizes that both have."""
    by_percent = {gain.percent: gain for gain in b}
    return [(gain, by_percent[gain.percent]) for gain in a if gain.percent in by_percent]


def _read_tasks(tables: Tables, benchmark: str, *methods: str) -> pl.DataFrame:
    """Return the AUC of the tasks on which all of some methods have one."""
    wide = tables[f"{benchmark}_tasks"]
    for method in methods:
        if method not in wide.columns:
            raise _NotRunError(method)
    return wide.select(methods).drop_nulls()


def judge_sets(tables: Tables) -> Verdict:
    """Judge whether the data sets are those of Table 1."""
    differing = {
        row["set"]: [
            f"{fact} {row[fact]:g} for {row[f'published_{fact}']:g}"
            for fact in FACTS
            if abs(row[fact] - row[f"published_{fact}"]) > 0.051  # per cents have one digit
        ]
        for row in tables["sets"].to_dicts()
    }
    same = [name for name, facts in differing.items() if not facts]
    others = "; ".join(f"{name}: {', '.join(facts)}" for name, facts in differing.items() if facts)
    figures = f"{len(same)} of {len(differing)} sets agree in every number"
    word = _grade(len(same) == len(differing), 2 * len(same) > len(differing))
    return Verdict(word, f"{figures}; {others}" if others else figures)


def judge_tasks(tables: Tables) -> Verdict:
    """Judge the number of tasks."""
    found = {name: tables[name].select(TASK).unique().height for name in published.TASKS}
    word = _grade(found == published.TASKS)
    return Verdict(word, f"{found['text']} text tasks, {found['uci']} UCI tasks")


def judge_memory(tables: Tables) -> Verdict:
    """Judge what keeping zero at zero saves."""
    found = tables["sets"].filter(set="ohscal").to_dicts()
    if not found:
        raise _NotRunError("ohscal")
    nonzeros, places = found[0]["nonzeros"], found[0]["cases"] * found[0]["columns"]
    kept, dense = nonzeros * 1.5 * BYTES / 1e6, places * BYTES / 1e6
    times = published.OHSCAL_DENSE_MEGABYTES / published.OHSCAL_MEGABYTES
    word = _grade(dense > 0.5 * times * kept, dense > 10 * kept)
    figures = f"{nonzeros:,} nonzeros take {kept:.1f} MB, all {places:,} values {dense:,.0f} MB"
    return Verdict(word, figures)


def judge_consistency(tables: Tables) -> Verdict:
    """Judge whether shaping is above the baseline nearly everywhere."""
    gains = {
        (name, measure): _find_gains(tables, name, measure)
        for name in published.TASKS
        for measure in MEASURES
    }
    above = {key: sum(gain.difference > 0 for gain in found) for key, found in gains.items()}
    total = {key: len(found) for key, found in gains.items()}
    others = [key for key in gains if key != ("uci", "accuracy")]  # the paper's own exception
    is_whole = all(above[key] == total[key] for key in others)
    share = sum(above.values()) / sum(total.values())
    listed = (f"{_label(*key)} {above[key]}/{total[key]}" for key in gains)
    return Verdict(_grade(is_whole, share > 0.5), f"sizes above the baseline: {', '.join(listed)}")


def judge_log_odds(tables: Tables) -> Verdict:
    """Judge whether log odds are better on some tasks but not on the whole."""
    gain = _find_gain(tables, RIGHTMOST, "uci", "auc", LOG_ODDS, SHAPING)
    word = _grade(gain.wins > 0 and gain.difference < 0, gain.wins > 0 and not gain.is_up)
    figures = (
        f"UCI AUC: better than LP on {gain.wins} of {gain.tasks} tasks, worse on {gain.losses}"
    )
    return Verdict(word, f"{figures}; {_show_gain(gain)}")


def judge_margin(tables: Tables) -> Verdict:
    """Judge whether the gain is smaller with 90% of the cases than with about 75%."""
    found = {
        _label(name, measure): _compare_sizes(tables, name, measure)
        for name, measure in (("text", "f1"), ("uci", "auc"))
    }
    is_less = [less > more for _, less, more, _ in found.values()]
    is_clear = [p < LEVEL for *_, p in found.values()]
    listed = (
        f"{key} {_show(less, signed=True)} at {percent:g}%, {_show(more, signed=True)} at 90% "
        f"(one-sided {_show_p(p)})"
        for key, (percent, less, more, p) in found.items()
    )
    return Verdict(_grade(all(is_clear), any(is_clear) or all(is_less)), "; ".join(listed))


def _compare_sizes(tables: Tables, name: str, measure: str) -> tuple[float, float, float, float]:
    """Return the size nearest to 75%, the gain there and with all cases, and p that it is more."""
    gains = _find_gains(tables, name, measure)[:-1]
    if not gains:
        raise _NotRunError("a smaller training size")
    percent = min(gains, key=lambda gain: abs(gain.percent - 75)).percent
    size = tables[f"{name}_tests"].filter(percent=percent)["size"][0]
    wide = _spread(tables[name], measure, size).join(
        _spread(tables[name], measure, WHOLE), on=TASK, suffix="_whole"
    )
    less, more = wide["gain"].to_numpy(), wide["gain_whole"].to_numpy()
    p = paired_test(less, more, alternative="greater").p_value if len(wide) > 1 else nan
    return percent, float(less.mean()), float(more.mean()), p


def _spread(frame: pl.DataFrame, measure: str, size: float) -> pl.DataFrame:
    """Return the baseline and the gain of shaping over it for each task that has both."""
    main = frame.filter(pl.col("method").is_in((BASELINE, SHAPING)), size=size)
    wide = main.pivot(on="method", index=TASK, values=measure).drop_nulls()
    if wide.width < 4:
        raise _NotRunError(SHAPING)
    return wide.with_columns(gain=pl.col(SHAPING) - pl.col(BASELINE))


def judge_robustness(tables: Tables) -> Verdict:
    """Judge whether shaping is above the baseline at every size, the smallest included."""
    text, uci = _find_gains(tables, "text", "f1"), _find_gains(tables, "uci", "auc")
    above = [gain.difference > 0 for gain in (*text, *uci)]
    word = _grade(all(above), text[0].difference > 0 or uci[0].difference > 0)
    return Verdict(word, f"text F {_list_gains(text)}; UCI AUC {_list_gains(uci)}")


def judge_against_variants(
    tables: Tables, benchmark: str, measure: str, variants: tuple[str, ...], best: str
) -> Verdict:
    """Judge whether each of some variants is below the method that they vary."""
    gains = {
        name: _find_gain(tables, RIGHTMOST, benchmark, measure, name, best) for name in variants
    }
    is_below = [gain.difference < 0 for gain in gains.values()]
    is_clear = all(gain.is_down for gain in gains.values())
    listed = "; ".join(f'"{name}" {_show_gain(gain)}' for name, gain in gains.items())
    return Verdict(_grade(is_clear, any(is_below)), f"{NAMES[measure]} of {best} → {listed}")


def judge_drop(tables: Tables) -> Verdict:
    """Judge what shaping loses without scaling and normalising."""
    gain = _find_gain(tables, RIGHTMOST, "text", "f1", BARE_SHAPING, SHAPING)
    is_as_large = gain.difference <= -0.8 * published.TEXT_F1_DROP
    word = _grade(is_as_large, gain.is_down and gain.difference < -POINT)
    return Verdict(word, f"F {_show_gain(gain)}")


def judge_decline(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether every method falls as training sets shrink."""
    gains = _find_gains(tables, benchmark, measure)
    values = [[gain.against for gain in gains], [gain.value for gain in gains]]
    is_falling = all(a < b for column in values for a, b in pairwise(column))
    word = _grade(is_falling, all(column[0] < column[-1] for column in values))
    left, right = gains[0], gains[-1]
    return Verdict(
        word,
        f"from {right.percent:g} to {left.percent:g}%: baseline {_show(right.against)} → "
        f"{_show(left.against)}, shaping {_show(right.value)} → {_show(left.value)}",
    )


def judge_benefit(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether shaping is above the baseline at every training size."""
    gains = _find_gains(tables, benchmark, measure)
    n_above = sum(gain.difference > 0 for gain in gains)
    word = _grade(n_above == len(gains), 2 * n_above > len(gains))
    n_clear = sum(gain.is_up for gain in gains)
    return Verdict(
        word, f"{NAMES[measure]} {_list_gains(gains)}; p < {LEVEL} at {n_clear} of {len(gains)}"
    )


def judge_widening(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether the gain grows from each training size to the next smaller one."""
    gains = _find_gains(tables, benchmark, measure)
    is_growing = all(a.difference > b.difference for a, b in pairwise(gains))
    word = _grade(is_growing and len(gains) > 1, gains[0].difference > gains[-1].difference)
    return Verdict(word, f"{NAMES[measure]} {_list_gains(gains)}")


def judge_leftmost_gain(tables: Tables) -> Verdict:
    """Judge the relative gain in F at the smallest training size."""
    gain = _find_gain(tables, LEFTMOST, "text", "f1")
    word = _grade(gain.relative > published.TEXT_F1_GAIN, gain.is_up)
    return Verdict(word, f"{gain.relative:+.1%}: {_show_gain(gain)}")


def judge_rightmost_gain(tables: Tables) -> Verdict:
    """Judge whether the relative gain in F is below a hundredth at the largest training size."""
    gain = _find_gain(tables, RIGHTMOST, "text", "f1")
    word = _grade(gain.relative < POINT, not gain.p_value < LEVEL)
    return Verdict(word, f"{gain.relative:+.1%}: {_show_gain(gain)}")


def judge_half(tables: Tables) -> Verdict:
    """Judge whether the gain in F is significant with about half of the cases."""
    gain = _find_gain(tables, published.HALF, "text", "f1")
    return Verdict(_grade(gain.is_up, gain.difference > 0), f"F {_show_gain(gain)}")


def judge_significance(tables: Tables) -> Verdict:
    """Judge whether p-values rise with the training size."""
    gains = _find_gains(tables, "text", "f1")
    p_half = _find_gain(tables, published.HALF, "text", "f1").p_value
    left = [gain.p_value <= p_half for gain in gains if gain.percent < published.HALF]
    right = [gain.p_value >= p_half for gain in gains if gain.percent > published.HALF]
    word = _grade(all(left) and all(right), gains[0].p_value < gains[-1].p_value)
    return Verdict(word, ", ".join(f"{_show_p(g.p_value)} at {g.percent:g}%" for g in gains))


def judge_middling(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether scaling lies between the baseline and shaping."""
    whole = _find_gains(tables, benchmark, measure)
    part = _find_gains(tables, benchmark, measure, SCALING)
    is_between = [0 < p.difference < w.difference for p, w in _pair(part, whole)]
    n_between, n_sizes = sum(is_between), len(is_between)
    word = _grade(n_between == n_sizes, 2 * n_between > n_sizes)
    figures = f"between the two at {n_between} of {n_sizes} sizes"
    return Verdict(word, f"{figures}; scaling {_list_gains(part)}; shaping {_list_gains(whole)}")


def judge_reshaping(tables: Tables) -> Verdict:
    """Judge whether text gains more from shaping than from scaling, mostly where data are few."""
    gains = [_reverse(gain) for gain in _find_gains(tables, "text", "f1", SCALING, SHAPING)]
    left, right = gains[0], gains[-1]
    is_more = left.difference > right.difference
    return Verdict(
        _grade(left.is_up and is_more, left.is_up or all(gain.difference > 0 for gain in gains)),
        f"F of shaping less that of scaling {_list_gains(gains)}; {_show_p(left.p_value)} at "
        f"{left.percent:g}%, {_show_p(right.p_value)} at {right.percent:g}%",
    )


def _reverse(gain: Gain) -> Gain:
    return gain._replace(
        value=gain.against,
        against=gain.value,
        difference=-gain.difference,
        wins=gain.losses,
        losses=gain.wins,
    )


def judge_hard_tasks(tables: Tables) -> Verdict:
    """Judge whether tasks of a low F gain no more from shaping than others."""
    wide = _spread(tables["text"], "f1", WHOLE)
    hard = wide.filter(pl.col(BASELINE) < published.HARD_F1)["gain"].to_numpy()
    rest = wide.filter(pl.col(BASELINE) >= published.HARD_F1)["gain"].to_numpy()
    if min(hard.size, rest.size) < 2:
        return Verdict(NOT_TRIED, f"{hard.size} tasks below an F of {published.HARD_F1}")
    p = float(stats.ttest_ind(hard, rest, equal_var=False, alternative="greater").pvalue)
    return Verdict(
        _grade(not p < LEVEL),
        f"{hard.size} tasks below gain {_show(hard.mean(), signed=True)}, {rest.size} others "
        f"{_show(rest.mean(), signed=True)} (Welch's test, one-sided, {_show_p(p)})",
    )


def judge_similarity(tables: Tables) -> Verdict:
    """Judge whether the AUC of text shows what its F does."""
    gains = _find_gains(tables, "text", "auc")
    part = _find_gains(tables, "text", "auc", SCALING)
    findings = {
        "above the baseline": all(gain.difference > 0 for gain in gains),
        "more so to the left": gains[0].difference > gains[-1].difference,
        "no worthwhile gain at the right": gains[-1].relative < POINT,
        "scaling gets part of it": 0 < part[0].difference < gains[0].difference,
    }
    held = [name for name, holds in findings.items() if holds]
    lost = [f"not: {name}" for name, holds in findings.items() if not holds]
    word = _grade(not lost, 2 * len(held) >= len(findings))
    return Verdict(word, f"{', '.join(held + lost)}; AUC {_list_gains(gains)}")


def judge_no_gain(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether the gain is below a point at every size."""
    gains = _find_gains(tables, benchmark, measure)
    n_less = sum(gain.difference < POINT for gain in gains)
    word = _grade(n_less == len(gains), 2 * n_less > len(gains))
    return Verdict(word, f"{NAMES[measure]} {_list_gains(gains)}")


def judge_accuracy_test(tables: Tables) -> Verdict:
    """Judge whether the gain in accuracy on text is not significant with all training cases."""
    gain = _find_gain(tables, RIGHTMOST, "text", "accuracy")
    return Verdict(_grade(not gain.p_value < LEVEL), f"accuracy {_show_gain(gain)}")


def judge_mean_auc(tables: Tables) -> Verdict:
    """Judge the mean AUC of the baseline on text."""
    ours = _find_gain(tables, RIGHTMOST, "text", "auc").against
    off = abs(ours - published.TEXT_AUC)
    return Verdict(_grade(off <= VISIBLE, off <= 2 * VISIBLE), f"mean AUC {_show(ours)}")


def judge_high_tasks(tables: Tables) -> Verdict:
    """Judge on how many text tasks the baseline has a high AUC."""
    values = _read_tasks(tables, "text", BASELINE)[BASELINE]
    ours = int((values > published.HIGH_AUC).sum())
    off = abs(ours / len(values) - published.TEXT_HIGH_TASKS / published.TASKS["text"])
    return Verdict(_grade(off <= 0.05, off <= 0.1), f"{ours} of {len(values)} tasks")


def judge_raw_time(tables: Tables) -> Verdict:
    """Judge whether training takes far longer on features that nothing brought to one range."""
    means = tables["uci_curves"].filter(size=WHOLE)
    seconds = dict(means.select("method", "seconds").iter_rows())
    for name in (RAW, BASELINE):
        if name not in seconds:
            raise _NotRunError(name)
    times = seconds[RAW] / seconds[BASELINE]
    figures = f"{seconds[RAW]:,.0f} s against {seconds[BASELINE]:,.0f} s, {times:.1f} times"
    return Verdict(_grade(times > 10, times > 2), figures)


def judge_stronger(tables: Tables) -> Verdict:
    """Judge whether the gain in AUC is larger on UCI than on text."""
    text, uci = _find_gains(tables, "text", "auc"), _find_gains(tables, "uci", "auc")
    is_more = [u.difference > t.difference for t, u in _pair(text, uci)]
    word = _grade(all(is_more), 2 * sum(is_more) > len(is_more))
    return Verdict(word, f"UCI {_list_gains(uci)}; text {_list_gains(text)}")


def judge_to_the_right(tables: Tables) -> Verdict:
    """Judge whether the gain in AUC on UCI is there with all training cases."""
    gain = _find_gain(tables, RIGHTMOST, "uci", "auc")
    word = _grade(gain.is_up and gain.difference > POINT, gain.is_up)
    return Verdict(word, f"AUC {_show_gain(gain)}; better on {gain.wins} of {gain.tasks} tasks")


def judge_unscaled(tables: Tables) -> Verdict:
    """Judge whether shaping without scaling lies between the baseline and shaping."""
    part = _find_gain(tables, RIGHTMOST, "uci", "auc", NO_SCALING)
    whole = _find_gain(tables, RIGHTMOST, "uci", "auc")
    word = _grade(
        0 < part.difference < whole.difference, 0 < part.difference < whole.difference + VISIBLE
    )
    figures = f"AUC at {whole.percent:g}%, the one size tried: baseline {_show(whole.against)}"
    return Verdict(word, f"{figures}, no scaling {_show(part.value)}, shaping {_show(whole.value)}")


def judge_both(tables: Tables) -> Verdict:
    """Judge whether shaping loses by the lack of either of its stages."""
    gains = {
        name: _find_gain(tables, RIGHTMOST, "uci", "auc", name, SHAPING)
        for name in (SCALING, NO_SCALING)
    }
    n_down = sum(gain.is_down for gain in gains.values())
    listed = (f"{_name(name)} {_show_gain(gain)}" for name, gain in gains.items())
    return Verdict(_grade(n_down == 2, n_down == 1), f"AUC of shaping → {', '.join(listed)}")


def judge_precision(tables: Tables) -> Verdict:
    """Judge whether the gain in precision at 20 on UCI is there with the fewest cases too."""
    gains = _find_gains(tables, "uci", "precision_at_20")
    is_up = all(gain.difference > 0 for gain in gains)
    word = _grade(is_up and gains[0].is_up, gains[0].difference > 0)
    return Verdict(word, f"{_list_gains(gains)}; leftmost {_show_p(gains[0].p_value)}")


def judge_auc_leftmost(tables: Tables) -> Verdict:
    """Judge whether the gain in AUC on UCI is gone with the fewest cases."""
    gains = _find_gains(tables, "uci", "auc")
    left, others = gains[0], gains[1:]
    is_less = all(left.difference < gain.difference for gain in others)
    return Verdict(_grade(not left.is_up, is_less and bool(others)), f"AUC {_list_gains(gains)}")


def judge_uci_f(tables: Tables) -> Verdict:
    """Judge the gain in F on UCI."""
    gains = _find_gains(tables, "uci", "f1")
    right, best = gains[-1], max(gains, key=lambda gain: gain.relative)
    is_as_large = right.relative >= 0.8 * published.UCI_F1_GAIN
    is_there = right.value > published.UCI_SHAPING_F1
    figures = f"{right.relative:+.0%}, {_show_gain(right)}; at best {best.relative:+.0%}"
    word = _grade(is_as_large and is_there, best.relative >= 0.5 * published.UCI_F1_GAIN)
    return Verdict(word, f"{figures}, at {best.percent:g}%")


def judge_large_accuracy(tables: Tables) -> Verdict:
    """Judge whether accuracy on UCI gains nothing from half of the cases on."""
    gains = [g for g in _find_gains(tables, "uci", "accuracy") if g.percent >= SMALL]
    n_up = sum(gain.is_up for gain in gains)
    word = _grade(n_up == 0, n_up < len(gains))
    return Verdict(word, "; ".join(_show_gain(gain) for gain in gains))


def judge_small_accuracy(tables: Tables) -> Verdict:
    """Judge whether shaping costs accuracy on UCI where cases are few."""
    gains = [g for g in _find_gains(tables, "uci", "accuracy") if g.percent < SMALL]
    if not gains:
        raise _NotRunError("a smaller training size")
    left = gains[0]
    word = _grade(left.is_down and left.difference < -POINT, left.is_down)
    return Verdict(word, f"accuracy {_list_gains(gains)}; leftmost {_show_p(left.p_value)}")


def judge_no_other_loss(tables: Tables) -> Verdict:
    """Judge whether no other curve falls below the baseline where cases are few."""
    others = [(name, of) for name in published.TASKS for of in MEASURES]
    others.remove(("uci", "accuracy"))
    gains = {key: _find_gain(tables, LEFTMOST, *key) for key in others}
    below = sum(gain.difference < 0 for gain in gains.values())
    is_down = any(gain.is_down for gain in gains.values())
    listed = (
        f"{_label(*key)} {_show(gain.difference, signed=True)}" for key, gain in gains.items()
    )
    return Verdict(_grade(below == 0, not is_down), f"leftmost: {', '.join(listed)}")


def judge_scaling_accuracy(tables: Tables) -> Verdict:
    """Judge whether scaling alone costs no accuracy on UCI where cases are few."""
    shaping = _find_gain(tables, LEFTMOST, "uci", "accuracy")
    scaling = _find_gain(tables, LEFTMOST, "uci", "accuracy", SCALING)
    is_less = scaling.difference > shaping.difference / 2
    word = _grade(scaling.difference > -POINT and is_less, scaling.difference > shaping.difference)
    listed = f"scaling {_show_gain(scaling)}, shaping {_show(shaping.difference, signed=True)}"
    return Verdict(word, f"accuracy: {listed}")


def judge_overfitting(tables: Tables) -> Verdict:
    """Judge whether estimates from other cases take away what accuracy shaping costs.

    Cross-fitted shaping trains the SVM on estimates that have not seen the labels of its cases, so
    it loses nothing by their fitting the noise.
    """
    lost = [g for g in _find_gains(tables, "uci", "accuracy") if g.difference < 0]
    if not lost:
        return Verdict(NOT_REPRODUCED, "shaping costs no accuracy at any size")
    percents = [gain.percent for gain in lost]
    crossed = _find_gains(tables, "uci", "accuracy", CROSS_FITTED)
    apart = _find_gains(tables, "uci", "accuracy", CROSS_FITTED, SHAPING)
    found = [gain for gain in crossed if gain.percent in percents]
    if not found:
        raise _NotRunError(f"{CROSS_FITTED} on small training sets")
    before = sum(g.difference for g in lost if g.percent in [f.percent for f in found])
    share = 1 - sum(gain.difference for gain in found) / before
    is_clear = next(gain.is_up for gain in apart if gain.percent == found[0].percent)
    return Verdict(
        _grade(share >= 0.5 and is_clear, share > 0 and is_clear),
        f"shaping {_list_gains(lost)}; cross-fitted {_list_gains(found)}: it takes away "
        f"{share:.0%} of the loss; {_place_loss(tables, lost[0].percent)}",
    )


def _place_loss(tables: Tables, percent: float) -> str:
    """Return how much accuracy shaping costs on small samples and on others."""
    rows = tables["uci_samples"].filter(
        pl.col("method").is_in((BASELINE, SHAPING)), percent=percent
    )
    wide = rows.pivot(on="method", index=("cases", "tasks"), values="accuracy")
    listed = (
        f"{_show(row[SHAPING] - row[BASELINE], signed=True)} on {row['tasks']} tasks with "
        f"{row['cases']} training cases"
        for row in wide.to_dicts()
    )
    return f"at {percent:g}%: {', '.join(listed)}"


def judge_variation(tables: Tables) -> Verdict:
    """Judge whether many tasks gain a great deal of AUC, but not all."""
    wide = _read_tasks(tables, "uci", BASELINE, SHAPING)
    gains = (wide[SHAPING] - wide[BASELINE]).to_numpy()
    n_great, n_worse = int((gains > GREAT).sum()), int((gains < 0).sum())
    word = _grade(n_great >= 0.1 * len(gains) and n_worse > 0, n_great > 0)
    figures = f"{n_great} of {len(gains)} tasks gain more than {_show(GREAT)}, {n_worse} lose"
    return Verdict(
        word, f"{figures}; from {_show(gains.min(), True)} to {_show(gains.max(), True)}"
    )


def judge_headroom(tables: Tables) -> Verdict:
    """Judge whether the baseline is all but perfect on the easiest tasks."""
    values = _read_tasks(tables, "uci", BASELINE)[BASELINE]
    n_perfect = int((values > published.HIGH_AUC).sum())
    word = _grade(n_perfect >= 0.1 * len(values), n_perfect > 0)
    figures = f"above {_show(published.HIGH_AUC)} on {n_perfect} of {len(values)} tasks"
    return Verdict(word, f"{figures}, best {_show(float(values.to_numpy().max()))}")


def judge_average(tables: Tables) -> Verdict:
    """Judge whether shaping is better on average and worse on some tasks."""
    gains = {of: _find_gain(tables, RIGHTMOST, "uci", of) for of in MEASURES}
    auc = gains["auc"]
    n_better = sum(gain.difference > 0 for gain in gains.values())
    listed = (f"{NAMES[of]} {_show(g.difference, signed=True)}" for of, g in gains.items())
    return Verdict(
        _grade(auc.is_up and auc.losses > 0, n_better > 1),
        f"{', '.join(listed)}; AUC worse on {auc.losses} of {auc.tasks} tasks",
    )


def judge_policy(tables: Tables) -> Verdict:
    """Judge whether choosing what is done with each feature is better than shaping them all."""
    to_shaping = {of: _find_gain(tables, RIGHTMOST, "uci", of, POLICY, SHAPING) for of in MEASURES}
    to_baseline = {of: _find_gain(tables, RIGHTMOST, "uci", of, POLICY) for of in MEASURES}
    every = (*to_shaping.values(), *to_baseline.values())
    word = _grade(all(gain.is_up for gain in every), to_shaping["auc"].is_up)
    listed = (
        f"{NAMES[of]} {_show(gain.value)} for {_show(gain.against)} ({_show_p(gain.p_value)}; "
        f"baseline {_show(to_baseline[of].against)})"
        for of, gain in to_shaping.items()
    )
    return Verdict(word, f"policy for shaping at 90%: {', '.join(listed)}")


def judge_lesion(tables: Tables, variant: str) -> Verdict:
    """Judge the place of a variant in the order of their AUC."""
    order = _order_lesions(tables)
    if variant not in order:
        raise _NotRunError(variant)
    published_place, place = LESIONS.index(variant), list(order).index(variant)
    gain = _find_gain(tables, RIGHTMOST, "uci", "auc", variant, SHAPING)
    listed = ", ".join(f"{_name(name)} {_show(value)}" for name, value in order.items())
    return Verdict(
        _grade(place == published_place and gain.difference < 0, abs(place - published_place) <= 1),
        f"place {place + 1} of {len(order)} ({listed}); from shaping {_show_gain(gain)}",
    )


def judge_least_lesion(tables: Tables) -> Verdict:
    """Judge whether leaving the cross-validation of Platt's scaling out costs the least AUC."""
    order = list(_order_lesions(tables))
    if NO_PLATT_CV not in order:
        raise _NotRunError(NO_PLATT_CV)
    gain = _find_gain(tables, RIGHTMOST, "uci", "auc", NO_PLATT_CV, SHAPING)
    word = _grade(order[-1] == NO_PLATT_CV, abs(gain.difference) < VISIBLE)
    return Verdict(
        word, f"place {order.index(NO_PLATT_CV) + 1} of {len(order)}; {_show_gain(gain)}"
    )


def _order_lesions(tables: Tables) -> dict[str, float]:
    """Return the AUC of the variants that were run, the lowest first."""
    rows = tables["uci_variants"].select("method", "auc").iter_rows()
    return {name: value for name, value in rows if name in LESIONS}


def judge_platt_accuracy(tables: Tables) -> Verdict:
    """Judge whether accuracy is slightly better without the cross-validation."""
    gain = _find_gain(tables, RIGHTMOST, "uci", "accuracy", NO_PLATT_CV, SHAPING)
    return Verdict(_grade(0 < gain.difference < 2 * POINT, gain.difference > 0), _show_gain(gain))


def judge_platt_ranking(tables: Tables) -> Verdict:
    """Judge whether AUC and precision at 20 are the same without the cross-validation."""
    gains = {
        of: _find_gain(tables, RIGHTMOST, "uci", of, NO_PLATT_CV, SHAPING)
        for of in ("auc", "precision_at_20")
    }
    is_same = [abs(gain.difference) < VISIBLE for gain in gains.values()]
    listed = (f"{NAMES[of]} {_show_gain(gain)}" for of, gain in gains.items())
    return Verdict(_grade(all(is_same), any(is_same)), "; ".join(listed))


def judge_platt_f(tables: Tables) -> Verdict:
    """Judge whether F loses slightly without the cross-validation."""
    gain = _find_gain(tables, RIGHTMOST, "uci", "f1", NO_PLATT_CV, SHAPING)
    return Verdict(
        _grade(-2 * POINT < gain.difference < 0, gain.difference < 0), f"F {_show_gain(gain)}"
    )


def judge_contribution(tables: Tables) -> Verdict:
    """Judge whether taking shaping away is among the two costliest lesions."""
    order = list(_order_lesions(tables))
    gain = _find_gain(tables, RIGHTMOST, "uci", "auc", SCALING, SHAPING)
    word = _grade(SCALING in order[:2] and gain.is_down, gain.is_down)
    return Verdict(
        word, f"place {order.index(SCALING) + 1} of {len(order)}; AUC {_show_gain(gain)}"
    )


def judge_early(tables: Tables) -> Verdict:
    """Judge whether shaping is above the baseline in most measures with few cases."""
    gains = {
        _label(name, of): _find_gains(tables, name, of)[:2]
        for name in published.TASKS
        for of in MEASURES
    }
    above = {name: all(gain.difference > 0 for gain in found) for name, found in gains.items()}
    n_above = sum(above.values())
    below = ", ".join(name for name, is_above in above.items() if not is_above) or "none"
    return Verdict(
        _grade(n_above >= len(above) - 1, 2 * n_above >= len(above)),
        f"above at the two smallest sizes in {n_above} of {len(above)} curves; not in: {below}",
    )


def judge_diminishing(tables: Tables) -> Verdict:
    """Judge in how many curves the gain is smaller with all cases than with the fewest."""
    less, found = [], 0
    for name in published.TASKS:
        for of in MEASURES:
            gains = _find_gains(tables, name, of)
            found += 1
            if gains[-1].difference < gains[0].difference:
                less.append(_label(name, of))
    word = _grade(0 < len(less) < found, len(less) == found)
    return Verdict(word, f"{len(less)} of {found} curves: {', '.join(less)}")


def judge_surprise(tables: Tables) -> Verdict:
    """Judge whether shaping text differs from scaling it, few as its nonzero values are."""
    gains = [_reverse(gain) for gain in _find_gains(tables, "text", "f1", SCALING, SHAPING)]
    best = max(gains, key=lambda gain: gain.difference)
    text = tables["sets"].filter(benchmark="text")
    places = (text["cases"] * text["columns"]).to_numpy()
    share = text["nonzeros"].to_numpy().sum() / places.sum()
    word = _grade(best.is_up and best.difference > POINT, best.is_up)
    figures = f"{share:.1%} of the values are not zero; F of shaping over scaling at best"
    return Verdict(word, f"{figures} {_show_gain(best)}")


CLAIMS = (
    _claim(
        "3.3",
        "Replacing values by local probabilities (LP) gave consistently good results.",
        judge_consistency,
    ),
    _claim(
        "3.3",
        "Log odds work a bit better in some cases, but not consistently well.",
        judge_log_odds,
    ),
    Claim(
        "3.3",
        "Monotone transformations from ROC analysis gave no substantial improvement.",
        "the paper does not say which transformations they were",
    ),
    Claim(
        "3.4",
        "BNS scaling is very similar to or better than other scalings on all data sets.",
        "the other scalings of shaped features are not described, and none is built here",
    ),
    _claim(
        "3.5",
        "Word counts of zero behave quite differently from others and deserve a bin of their own.",
        judge_against_variants,
        "text",
        "f1",
        (ZERO_AS_VALUE,),
        SHAPING,
    ),
    _claim("Table 1", "The sizes of 16 text sets and 11 UCI sets.", judge_sets),
    _claim("4", "104 text tasks and 64 UCI tasks have 50 positives or more.", judge_tasks),
    _claim(
        "4",
        "From 4-fold (75% training) to 10-fold cross-validation (90%) the margin of improvement "
        "diminishes significantly.",
        judge_margin,
    ),
    _claim(
        "4",
        "The superior performance holds across training sizes and does not collapse where data "
        "are scarce.",
        judge_robustness,
    ),
    _claim(
        "4.1",
        "Without keeping zero at zero, ohscal expands from 5 MB to nearly a gigabyte.",
        judge_memory,
    ),
    _claim(
        "4.1",
        "Binary words with L2 norm are a stronger baseline than without the norm or with counts.",
        judge_against_variants,
        "text",
        "f1",
        (NO_NORM, COUNTS),
        BASELINE,
    ),
    Claim(
        "4.1",
        "They are stronger than discretized word counts as well.",
        "the paper does not say how counts were discretized",
    ),
    _claim(
        "4.1",
        "LP benefits substantially from BNS scaling and L2 norm: ten points of F.",
        judge_drop,
    ),
    _claim(
        "4.1, Figure 1",
        "F drops significantly as the training set is reduced.",
        judge_decline,
        "text",
        "f1",
    ),
    _claim("4.1, Figure 1", "Reshaping improves F on text.", judge_benefit, "text", "f1"),
    _claim(
        "4.1, Figure 1",
        "The gap in F widens towards small training sets.",
        judge_widening,
        "text",
        "f1",
    ),
    _claim(
        "4.1, Figure 1",
        "The relative gain in F exceeds 5% at the leftmost point.",
        judge_leftmost_gain,
    ),
    _claim(
        "4.1, Figure 1",
        "There is no worthwhile gain in F at the rightmost point.",
        judge_rightmost_gain,
    ),
    _claim("4.1, Figure 1", "The gain in F is significant at 50%: p = .01.", judge_half),
    _claim(
        "4.1, Figure 1",
        "The significance increases to the left and decreases to the right.",
        judge_significance,
    ),
    _claim(
        "4.1, Figure 1",
        "BNS scaling of binary words gets part of the gain in F, but not all of it.",
        judge_middling,
        "text",
        "f1",
    ),
    _claim(
        "4.1",
        "Reshaping itself is beneficial for text, especially where training data are few.",
        judge_reshaping,
    ),
    _claim(
        "4.1",
        "Tasks of less than 80% F do not benefit more from shaping.",
        judge_hard_tasks,
    ),
    _claim("4.1, Figure 8", "AUC shows very similar findings on text.", judge_similarity),
    _claim(
        "4.1, Figure 9",
        "Precision at 20 shows no appreciable gain on text.",
        judge_no_gain,
        "text",
        "precision_at_20",
    ),
    _claim(
        "4.1, Figure 2",
        "The gain in accuracy on text is retained across all training sizes.",
        judge_benefit,
        "text",
        "accuracy",
    ),
    _claim(
        "4.1, Figure 2",
        "It is not significant at the rightmost point: p = .20.",
        judge_accuracy_test,
    ),
    _claim("4.1", "The AUC of the text baseline averages .984.", judge_mean_auc),
    _claim("4.1", "It exceeds .990 in 45 of the 104 tasks.", judge_high_tasks),
    _claim(
        "4.2",
        "On UCI, L2 norm significantly hurts the baseline.",
        judge_against_variants,
        "uci",
        "auc",
        (L2_NORM,),
        BASELINE,
    ),
    _claim(
        "4.2",
        "Without any normalization of the features the SVM solver runs inordinately slowly.",
        judge_raw_time,
    ),
    _claim(
        "4.2, Figure 3",
        "The gain in AUC is stronger on UCI than on text.",
        judge_stronger,
    ),
    _claim(
        "4.2, Figure 3",
        "The substantial gain in AUC extends all the way to the right.",
        judge_to_the_right,
    ),
    _claim(
        "4.2, Figure 3",
        "Scaling alone is middling: it explains a portion of the gain in AUC.",
        judge_middling,
        "uci",
        "auc",
    ),
    _claim("4.2", "Shaping without BNS scaling is middling as well.", judge_unscaled),
    _claim("4.2", "The gain derives both from reshaping and from scaling.", judge_both),
    _claim(
        "4.2, Figure 4",
        "The gain in precision at 20 on UCI continues all the way to the left, p = .002.",
        judge_precision,
    ),
    _claim(
        "4.2, Figures 3, 4",
        "That of AUC does not.",
        judge_auc_leftmost,
    ),
    _claim(
        "4.2, Figure 10",
        "F on UCI improves by 18%, from .6 to over .7.",
        judge_uci_f,
    ),
    _claim(
        "4.2, Figure 5",
        "Accuracy on UCI has no significant benefit at larger training sizes.",
        judge_large_accuracy,
    ),
    _claim(
        "4.2, Figure 5",
        "Shaping hurts accuracy on UCI substantially at smaller training sizes.",
        judge_small_accuracy,
    ),
    _claim(
        "4.2, Figure 5",
        "All other learning curves show no such loss.",
        judge_no_other_loss,
    ),
    _claim(
        "4.2, Figure 5",
        "Scaling shows no such drop in accuracy, so reshaping itself is at fault.",
        judge_scaling_accuracy,
    ),
    _claim(
        "4.2",
        "The drop comes of reshaping that overfits local regions.",
        judge_overfitting,
    ),
    _claim(
        "4.2, Figure 6",
        "AUC improves greatly on many tasks, but not on all.",
        judge_variation,
    ),
    _claim(
        "4.2, Figure 6",
        "The easiest tasks leave no headroom: the baseline is nearly perfect.",
        judge_headroom,
    ),
    _claim(
        "4.2",
        "Shaping is better on average over a wide variety of tasks, but no panacea.",
        judge_average,
    ),
    _claim(
        "4.2, 5",
        "Policies that decide what is best for each feature should do better (future work).",
        judge_policy,
    ),
    *(
        _claim("4.3, Figure 7", says, judge_lesion, variant)
        for says, variant in (
            ("L1 norm in place of L2 causes the largest loss of AUC.", L1_NORM),
            ("Leaving out shaping is the second most damaging.", SCALING),
            ("Log odds in place of probabilities come third.", LOG_ODDS),
            ("Leaving out BNS scaling comes fourth.", NO_SCALING),
        )
    ),
    _claim(
        "4.3, Figure 7",
        "Platt scaling without cross-validation costs the least.",
        judge_least_lesion,
    ),
    _claim(
        "4.3, Figure 7",
        "Without that cross-validation accuracy is slightly better.",
        judge_platt_accuracy,
    ),
    _claim(
        "4.3, Figure 7",
        "It has no visible effect on AUC and precision at 20.",
        judge_platt_ranking,
    ),
    _claim("4.3, Figure 7", "F loses slightly without it.", judge_platt_f),
    _claim(
        "4.3",
        "Shaping is one of the most substantial contributors on UCI.",
        judge_contribution,
    ),
    _claim("5", "Shaping works well even in the early parts of the curves.", judge_early),
    _claim(
        "5",
        "Depending on the measure, the gain sometimes diminishes with enough training cases.",
        judge_diminishing,
    ),
    _claim(
        "5",
        "Though shaping changes only the few nonzero values of text, the difference can be "
        "substantial.",
        judge_surprise,
    ),
)
