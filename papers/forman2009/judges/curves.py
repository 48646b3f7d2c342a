"""Judges of claims on the data sets (Table 1) and on learning curves of either benchmark."""

from __future__ import annotations

from itertools import pairwise
from math import nan

from papers.forman2009 import published
from papers.forman2009.judges.gains import (
    NAMES,
    find_gain,
    find_gains,
    label,
    list_gains,
    pair,
    show_gain,
    show_p,
    spread,
)
from papers.forman2009.tables import (
    BASELINE_IN_FOUR,
    FACTS,
    ISOTONIC,
    LEFTMOST,
    MEASURES,
    OTHER_SCALINGS,
    RIGHTMOST,
    SCALING,
    SHAPING,
    SHAPING_IN_FOUR,
    TASK,
    WHOLE,
)
from papers.limits import LEVEL, POINT, VISIBLE
from papers.verdicts import NotTriedError, Tables, Verdict, grade, grade_cases, show
from spokeshave import paired_test

BYTES = 8  # per number; a sparse one also has an index of half the size


def judge_sets(tables: Tables) -> Verdict:
    """Judge whether the data sets are those of Table 1."""
    differing = {
        row["set"]: [
            f"{fact} {row[fact]:g} for {row[f'published_{fact}']:g}"
            for fact in FACTS
            if abs(row[fact] - row[f"published_{fact}"]) > 0.051  # percentages have one decimal
        ]
        for row in tables["sets"].to_dicts()
    }
    same = [name for name, facts in differing.items() if not facts]
    others = "; ".join(f"{name}: {', '.join(facts)}" for name, facts in differing.items() if facts)
    figures = f"{len(same)} of {len(differing)} sets agree in every number"
    word = grade(len(same) == len(differing), 2 * len(same) > len(differing))
    return Verdict(word, f"{figures}; {others}" if others else figures)


def judge_tasks(tables: Tables) -> Verdict:
    """Judge the number of tasks."""
    found = {name: tables[name].select(TASK).unique().height for name in published.TASKS}
    word = grade(found == published.TASKS)
    return Verdict(word, f"{found['text']} text tasks, {found['uci']} UCI tasks")


def judge_memory(tables: Tables) -> Verdict:
    """Judge how much memory keeping zeros sparse saves."""
    found = tables["sets"].filter(set="ohscal").to_dicts()
    if not found:
        raise NotTriedError('"ohscal" was not run')
    nonzeros, n_values = found[0]["nonzeros"], found[0]["cases"] * found[0]["columns"]
    kept, dense = nonzeros * 1.5 * BYTES / 1e6, n_values * BYTES / 1e6
    times = published.OHSCAL_DENSE_MEGABYTES / published.OHSCAL_MEGABYTES
    word = grade(dense > 0.5 * times * kept, dense > 10 * kept)
    figures = f"{nonzeros:,} nonzeros take {kept:.1f} MB, all {n_values:,} values {dense:,.0f} MB"
    return Verdict(word, figures)


def judge_consistency(tables: Tables) -> Verdict:
    """Judge whether shaping is above the baseline nearly everywhere."""
    gains = {
        (name, measure): find_gains(tables, name, measure)
        for name in published.TASKS
        for measure in MEASURES
    }
    above = {key: sum(gain.difference > 0 for gain in found) for key, found in gains.items()}
    total = {key: len(found) for key, found in gains.items()}
    others = [key for key in gains if key != ("uci", "accuracy")]  # the paper's own exception
    is_whole = all(above[key] == total[key] for key in others)
    share = sum(above.values()) / sum(total.values())
    listed = (f"{label(*key)} {above[key]}/{total[key]}" for key in gains)
    return Verdict(grade(is_whole, share > 0.5), f"sizes above the baseline: {', '.join(listed)}")


def judge_margin(tables: Tables) -> Verdict:
    """Judge whether the gain is smaller in 10-fold cross-validation than in 4-fold."""
    found = {
        label(name, measure): _compare_folds(tables, name, measure)
        for name, measure in (("text", "f1"), ("uci", "auc"))
    }
    is_less = [four > ten for four, ten, _ in found.values()]
    is_clear = [p < LEVEL for *_, p in found.values()]
    listed = (
        f"{key} {show(four, signed=True)} in 4 folds, {show(ten, signed=True)} in 10 "
        f"(one-sided {show_p(p)})"
        for key, (four, ten, p) in found.items()
    )
    return Verdict(grade(all(is_clear), any(is_clear) or all(is_less)), "; ".join(listed))


def _compare_folds(tables: Tables, name: str, measure: str) -> tuple[float, float, float]:
    """Return the gain in 4 folds and in 10, and the one-sided p-value of their difference."""
    frame = tables[name]
    sizes = frame.filter(method=SHAPING_IN_FOUR)["size"]
    if sizes.is_empty():
        raise NotTriedError(f'"{SHAPING_IN_FOUR}" was not run')
    wide = spread(frame, measure, sizes[0], SHAPING_IN_FOUR, BASELINE_IN_FOUR).join(
        spread(frame, measure, WHOLE), on=TASK, suffix="_in_ten"
    )
    four, ten = wide["gain"].to_numpy(), wide["gain_in_ten"].to_numpy()
    p = paired_test(four, ten, alternative="greater").p_value if len(wide) > 1 else nan
    return float(four.mean()), float(ten.mean()), p


def judge_robustness(tables: Tables) -> Verdict:
    """Judge whether shaping is above the baseline at every size, the smallest included."""
    text, uci = find_gains(tables, "text", "f1"), find_gains(tables, "uci", "auc")
    above = [gain.difference > 0 for gain in (*text, *uci)]
    word = grade(all(above), text[0].difference > 0 or uci[0].difference > 0)
    return Verdict(word, f"text F {list_gains(text)}; UCI AUC {list_gains(uci)}")


def judge_against_variants(
    tables: Tables, benchmark: str, measure: str, variants: tuple[str, ...], best: str
) -> Verdict:
    """Judge whether every variant is below the original method."""
    gains = {
        name: find_gain(tables, RIGHTMOST, benchmark, measure, name, best) for name in variants
    }
    is_below = [gain.difference < 0 for gain in gains.values()]
    is_clear = all(gain.is_down for gain in gains.values())
    listed = "; ".join(f'"{name}" {show_gain(gain)}' for name, gain in gains.items())
    return Verdict(grade(is_clear, any(is_below)), f"{NAMES[measure]} of {best} → {listed}")


def judge_monotone(tables: Tables) -> Verdict:
    """Judge whether no gain of isotonic regression over the baseline is a point and shows.

    The paper does not name its monotone transformations; isotonic regression is the one that ROC
    analysis gives.
    """
    gains = {
        label(name, of): find_gain(tables, RIGHTMOST, name, of, ISOTONIC)
        for name, of in (("text", "f1"), ("uci", "auc"))
    }
    listed = "; ".join(f"{name} {show_gain(gain)}" for name, gain in gains.items())
    return Verdict(
        grade_cases(not (gain.shows and gain.difference >= POINT) for gain in gains.values()),
        f'"{ISOTONIC}" in place of local probabilities, and the baseline: {listed}',
    )


def judge_scalings(tables: Tables) -> Verdict:
    """Judge whether no other scaling shows to be better than BNS."""
    gains = {
        f"{label(benchmark, of)}, {name}": find_gain(
            tables, RIGHTMOST, benchmark, of, name, SHAPING
        )
        for benchmark, of in (("text", "f1"), ("uci", "auc"))
        for name in OTHER_SCALINGS
    }
    listed = "; ".join(f"{name} {show_gain(gain)}" for name, gain in gains.items())
    return Verdict(
        grade_cases(not (gain.shows and gain.difference > 0) for gain in gains.values()),
        f"shaping with BNS → with another scaling: {listed}",
    )


def judge_decline(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether all methods decline as training sets shrink."""
    gains = find_gains(tables, benchmark, measure)
    values = [[gain.against for gain in gains], [gain.value for gain in gains]]
    is_falling = all(a < b for column in values for a, b in pairwise(column))
    word = grade(is_falling, all(column[0] < column[-1] for column in values))
    left, right = gains[0], gains[-1]
    return Verdict(
        word,
        f"from {right.percent:g} to {left.percent:g}%: baseline {show(right.against)} → "
        f"{show(left.against)}, shaping {show(right.value)} → {show(left.value)}",
    )


def judge_benefit(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether shaping is above the baseline at every training size."""
    gains = find_gains(tables, benchmark, measure)
    n_above = sum(gain.difference > 0 for gain in gains)
    word = grade(n_above == len(gains), 2 * n_above > len(gains))
    n_clear = sum(gain.is_up for gain in gains)
    return Verdict(
        word, f"{NAMES[measure]} {list_gains(gains)}; p < {LEVEL} at {n_clear} of {len(gains)}"
    )


def judge_widening(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether the gain grows towards small sizes, and no step back is visible."""
    gains = find_gains(tables, benchmark, measure)
    is_growing = gains[0].difference > gains[-1].difference and all(
        b.difference - a.difference < VISIBLE for a, b in pairwise(gains)
    )
    word = grade(is_growing and len(gains) > 1, gains[0].difference > gains[-1].difference)
    return Verdict(word, f"{NAMES[measure]} {list_gains(gains)}")


def judge_middling(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether scaling is neither below the baseline nor above shaping, if that shows."""
    whole = find_gains(tables, benchmark, measure)
    part = find_gains(tables, benchmark, measure, SCALING)
    above = pair(part, find_gains(tables, benchmark, measure, SCALING, SHAPING))
    is_between = [
        not (p.shows and p.difference < 0) and not (more.shows and more.difference > 0)
        for p, more in above
    ]
    n_between, n_sizes = sum(is_between), len(is_between)
    word = grade(n_between == n_sizes, 2 * n_between > n_sizes)
    figures = f"{NAMES[measure]} between the two at {n_between} of {n_sizes} sizes"
    return Verdict(word, f"{figures}; scaling {list_gains(part)}; shaping {list_gains(whole)}")


def judge_no_gain(tables: Tables, benchmark: str, measure: str) -> Verdict:
    """Judge whether the gain is below a point at every size."""
    gains = find_gains(tables, benchmark, measure)
    n_less = sum(gain.difference < POINT for gain in gains)
    word = grade(n_less == len(gains), 2 * n_less > len(gains))
    return Verdict(word, f"{NAMES[measure]} {list_gains(gains)}")


def judge_stronger(tables: Tables) -> Verdict:
    """Judge whether the gain in AUC is larger on UCI than on text."""
    text, uci = find_gains(tables, "text", "auc"), find_gains(tables, "uci", "auc")
    is_more = [u.difference > t.difference for t, u in pair(text, uci)]
    word = grade(all(is_more), 2 * sum(is_more) > len(is_more))
    return Verdict(word, f"UCI {list_gains(uci)}; text {list_gains(text)}")


def judge_no_other_loss(tables: Tables) -> Verdict:
    """Judge whether all other curves stay above the baseline at the smallest size."""
    others = [(name, of) for name in published.TASKS for of in MEASURES]
    others.remove(("uci", "accuracy"))
    gains = {key: find_gain(tables, LEFTMOST, *key) for key in others}
    below = sum(gain.difference < 0 for gain in gains.values())
    is_down = any(gain.is_down for gain in gains.values())
    listed = (f"{label(*key)} {show(gain.difference, signed=True)}" for key, gain in gains.items())
    return Verdict(grade(below == 0, not is_down), f"leftmost: {', '.join(listed)}")


def judge_early(tables: Tables) -> Verdict:
    """Judge whether shaping is above the baseline in most measures with few cases."""
    gains = {
        label(name, of): find_gains(tables, name, of)[:2]
        for name in published.TASKS
        for of in MEASURES
    }
    above = {name: all(gain.difference > 0 for gain in found) for name, found in gains.items()}
    n_above = sum(above.values())
    below = ", ".join(name for name, is_above in above.items() if not is_above) or "none"
    return Verdict(
        grade(n_above >= len(above) - 1, 2 * n_above >= len(above)),
        f"above at the two smallest sizes in {n_above} of {len(above)} curves; not in: {below}",
    )


def judge_diminishing(tables: Tables) -> Verdict:
    """Judge in how many curves the gain is smaller with all cases than with the fewest."""
    less, found = [], 0
    for name in published.TASKS:
        for of in MEASURES:
            gains = find_gains(tables, name, of)
            found += 1
            if gains[-1].difference < gains[0].difference:
                less.append(label(name, of))
    word = grade(0 < len(less) < found, len(less) == found)
    return Verdict(word, f"{len(less)} of {found} curves: {', '.join(less)}")
