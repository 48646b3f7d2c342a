"""Judges of claims on the UCI benchmark: Figures 3 to 7 and 10."""

from __future__ import annotations

from papers.forman2009 import published
from papers.forman2009.judges.gains import (
    NAMES,
    find_gain,
    find_gains,
    list_gains,
    name_variant,
    read_tasks,
    show_gain,
    show_p,
    spread,
)
from papers.forman2009.tables import (
    BASELINE,
    LEFTMOST,
    LESIONS,
    LOG_ODDS,
    MEASURES,
    NO_PLATT_CV,
    NO_SCALING,
    RAW,
    RIGHTMOST,
    SCALING,
    SHAPING,
    WHOLE,
)
from papers.limits import POINT, VISIBLE, find_error, shows
from papers.verdicts import NOT_TRIED, NotTriedError, Tables, Verdict, grade, grade_cases, show

GREAT = 0.05  # a great improvement in AUC
SMALL = 50.0  # per cent of the data set: smaller training sets count as small


def judge_raw_time(tables: Tables) -> Verdict:
    """Judge whether training takes far longer on unscaled features."""
    means = tables["uci_curves"].filter(size=WHOLE)
    seconds = dict(means.select("method", "seconds").iter_rows())
    for name in (RAW, BASELINE):
        if name not in seconds:
            raise NotTriedError(f'"{name}" was not run')
    if not seconds[BASELINE]:
        return Verdict(NOT_TRIED, "the baseline takes too short to be timed")
    times = seconds[RAW] / seconds[BASELINE]
    figures = f"{seconds[RAW]:,.0f} s against {seconds[BASELINE]:,.0f} s, {times:.1f} times"
    return Verdict(grade(times > 10, times > 2), figures)


def judge_to_the_right(tables: Tables) -> Verdict:
    """Judge whether the gain in AUC on UCI persists with all training cases."""
    gain = find_gain(tables, RIGHTMOST, "uci", "auc")
    word = grade(gain.is_up and gain.difference > POINT, gain.is_up)
    return Verdict(word, f"AUC {show_gain(gain)}; better on {gain.wins} of {gain.tasks} tasks")


def judge_precision(tables: Tables) -> Verdict:
    """Judge whether the gain in precision at 20 on UCI persists with the fewest cases."""
    gains = find_gains(tables, "uci", "precision_at_20")
    is_up = all(gain.difference > 0 for gain in gains)
    word = grade(is_up and gains[0].is_up, gains[0].difference > 0)
    return Verdict(word, f"P@20 {list_gains(gains)}; leftmost {show_p(gains[0].p_value)}")


def judge_auc_leftmost(tables: Tables) -> Verdict:
    """Judge whether the gain in AUC on UCI vanishes with the fewest cases."""
    gains = find_gains(tables, "uci", "auc")
    left, others = gains[0], gains[1:]
    is_less = all(left.difference < gain.difference for gain in others)
    return Verdict(grade(not left.is_up, is_less and bool(others)), f"AUC {list_gains(gains)}")


def judge_uci_f(tables: Tables) -> Verdict:
    """Judge the gain in F on UCI."""
    gains = find_gains(tables, "uci", "f1")
    right, best = gains[-1], max(gains, key=lambda gain: gain.relative)
    is_as_large = right.relative >= 0.8 * published.UCI_F1_GAIN
    is_there = right.value > published.UCI_SHAPING_F1
    figures = f"F {right.relative:+.0%}, {show_gain(right)}; at best {best.relative:+.0%}"
    word = grade(is_as_large and is_there, best.relative >= 0.5 * published.UCI_F1_GAIN)
    return Verdict(word, f"{figures}, at {best.percent:g}%")


def judge_large_accuracy(tables: Tables) -> Verdict:
    """Judge whether accuracy on UCI gains nothing with half of the cases or more."""
    gains = [g for g in find_gains(tables, "uci", "accuracy") if g.percent >= SMALL]
    n_up = sum(gain.is_up for gain in gains)
    word = grade(n_up == 0, n_up < len(gains))
    return Verdict(word, f"accuracy {'; '.join(show_gain(gain) for gain in gains)}")


def judge_small_accuracy(tables: Tables) -> Verdict:
    """Judge whether shaping costs accuracy on UCI with few cases."""
    gains = [g for g in find_gains(tables, "uci", "accuracy") if g.percent < SMALL]
    if not gains:
        raise NotTriedError('"a smaller training size" was not run')
    left = gains[0]
    word = grade(left.is_down and left.difference < -POINT, left.is_down)
    return Verdict(word, f"accuracy {list_gains(gains)}; leftmost {show_p(left.p_value)}")


def judge_scaling_accuracy(tables: Tables) -> Verdict:
    """Judge whether scaling alone costs no accuracy on UCI with few cases."""
    shaping = find_gain(tables, LEFTMOST, "uci", "accuracy")
    scaling = find_gain(tables, LEFTMOST, "uci", "accuracy", SCALING)
    is_less = scaling.difference > shaping.difference / 2
    word = grade(scaling.difference > -POINT and is_less, scaling.difference > shaping.difference)
    listed = f"scaling {show_gain(scaling)}, shaping {show(shaping.difference, signed=True)}"
    return Verdict(word, f"accuracy: {listed}")


def judge_variation(tables: Tables) -> Verdict:
    """Judge whether many tasks gain a great deal of AUC, but not all."""
    wide = read_tasks(tables, "uci", BASELINE, SHAPING)
    gains = (wide[SHAPING] - wide[BASELINE]).to_numpy()
    n_great, n_worse = int((gains > GREAT).sum()), int((gains < 0).sum())
    word = grade(n_great >= 0.1 * len(gains) and n_worse > 0, n_great > 0)
    figures = f"{n_great} of {len(gains)} tasks gain more than {show(GREAT)}, {n_worse} lose"
    return Verdict(
        word,
        f"{figures}; from {show(gains.min(), signed=True)} to {show(gains.max(), signed=True)}",
    )


def judge_headroom(tables: Tables) -> Verdict:
    """Judge whether the baseline is all but perfect on the easiest tasks."""
    values = read_tasks(tables, "uci", BASELINE)[BASELINE]
    n_perfect = int((values > published.HIGH_AUC).sum())
    word = grade(n_perfect >= 0.1 * len(values), n_perfect > 0)
    figures = f"above {show(published.HIGH_AUC)} on {n_perfect} of {len(values)} tasks"
    return Verdict(word, f"{figures}, best {show(float(values.to_numpy().max()))}")


def judge_average(tables: Tables) -> Verdict:
    """Judge whether shaping is better on average and worse on some tasks."""
    gains = {of: find_gain(tables, RIGHTMOST, "uci", of) for of in MEASURES}
    auc = gains["auc"]
    n_better = sum(gain.difference > 0 for gain in gains.values())
    listed = (f"{NAMES[of]} {show(g.difference, signed=True)}" for of, g in gains.items())
    return Verdict(
        grade(auc.is_up and auc.losses > 0, n_better > 1),
        f"{', '.join(listed)}; AUC worse on {auc.losses} of {auc.tasks} tasks",
    )


def judge_log_odds(tables: Tables) -> Verdict:
    """Judge whether log odds are better on some tasks but not on the whole."""
    gain = find_gain(tables, RIGHTMOST, "uci", "auc", LOG_ODDS, SHAPING)
    word = grade(gain.wins > 0 and gain.difference < 0, gain.wins > 0 and not gain.is_up)
    figures = (
        f"UCI AUC: better than LP on {gain.wins} of {gain.tasks} tasks, worse on {gain.losses}"
    )
    return Verdict(word, f"{figures}; {show_gain(gain)}")


def judge_unscaled(tables: Tables) -> Verdict:
    """Judge whether shaping without scaling lies between the baseline and shaping."""
    part = find_gain(tables, RIGHTMOST, "uci", "auc", NO_SCALING)
    whole = find_gain(tables, RIGHTMOST, "uci", "auc")
    word = grade(
        0 < part.difference < whole.difference, 0 < part.difference < whole.difference + VISIBLE
    )
    figures = f"AUC at {whole.percent:g}%, the one size tried: baseline {show(whole.against)}"
    return Verdict(word, f"{figures}, no scaling {show(part.value)}, shaping {show(whole.value)}")


def judge_both(tables: Tables) -> Verdict:
    """Judge whether shaping needs both of its stages."""
    gains = {
        name: find_gain(tables, RIGHTMOST, "uci", "auc", name, SHAPING)
        for name in (SCALING, NO_SCALING)
    }
    n_down = sum(gain.is_down for gain in gains.values())
    listed = (f"{name_variant(name)} {show_gain(gain)}" for name, gain in gains.items())
    return Verdict(grade(n_down == 2, n_down == 1), f"AUC of shaping → {', '.join(listed)}")


def judge_lesion(tables: Tables, variant: str) -> Verdict:
    """Judge whether a variant costs AUC, and no other is on the wrong side of it.

    The difference of two variants must show to contradict their published order; in part if one
    variant does.
    """
    order = _order_lesions(tables)
    if variant not in order:
        raise NotTriedError(f'"{variant}" was not run')
    gain = find_gain(tables, RIGHTMOST, "uci", "auc", variant, SHAPING)
    wrong = _list_contradictions(tables, variant)
    listed = ", ".join(f"{name_variant(name)} {show(value)}" for name, value in order.items())
    against = ", ".join(map(name_variant, wrong)) or "none"
    return Verdict(
        grade(not wrong and gain.difference < 0, len(wrong) < 2 and gain.difference < 0),
        f"AUC, rank {list(order).index(variant) + 1} of {len(order)} ({listed}); on the wrong side "
        f"of it: {against}; from shaping {show_gain(gain)}",
    )


def _list_contradictions(tables: Tables, variant: str) -> list[str]:
    """Return the variants whose order with this one shows to be other than published."""
    wrong = []
    for other in LESIONS:
        if other == variant:
            continue
        costlier, cheaper = sorted((variant, other), key=LESIONS.index)
        try:
            wide = spread(tables["uci"], "auc", WHOLE, costlier, cheaper)
        except NotTriedError:
            continue  # a run of a few methods judges the order of these
        gain = wide["gain"].to_numpy()
        if gain.mean() > 0 and shows(gain.mean(), error=find_error(gain)):
            wrong.append(other)
    return wrong


def judge_least_lesion(tables: Tables) -> Verdict:
    """Judge whether no variant shows to cost less AUC than Platt scaling without its own CV."""
    order = list(_order_lesions(tables))
    if NO_PLATT_CV not in order:
        raise NotTriedError(f'"{NO_PLATT_CV}" was not run')
    gain = find_gain(tables, RIGHTMOST, "uci", "auc", NO_PLATT_CV, SHAPING)
    word = grade(not _list_contradictions(tables, NO_PLATT_CV), abs(gain.difference) < VISIBLE)
    rank = f"AUC, rank {order.index(NO_PLATT_CV) + 1} of {len(order)}"
    return Verdict(word, f"{rank}; from shaping {show_gain(gain)}")


def _order_lesions(tables: Tables) -> dict[str, float]:
    """Return the AUC of the variants that were run, the lowest first."""
    rows = tables["uci_variants"].select("method", "auc").iter_rows()
    return {name: value for name, value in rows if name in LESIONS}


def judge_platt_accuracy(tables: Tables) -> Verdict:
    """Judge whether accuracy is slightly better; in part if no difference is visible."""
    gain = find_gain(tables, RIGHTMOST, "uci", "accuracy", NO_PLATT_CV, SHAPING)
    word = grade(0 < gain.difference < 2 * POINT, abs(gain.difference) < VISIBLE)
    return Verdict(word, f"accuracy {show_gain(gain)}")


def judge_platt_ranking(tables: Tables) -> Verdict:
    """Judge whether AUC and precision at 20 are the same without the cross-validation."""
    gains = {
        of: find_gain(tables, RIGHTMOST, "uci", of, NO_PLATT_CV, SHAPING)
        for of in ("auc", "precision_at_20")
    }
    is_same = [not gain.shows for gain in gains.values()]
    listed = (f"{NAMES[of]} {show_gain(gain)}" for of, gain in gains.items())
    return Verdict(grade_cases(is_same), "; ".join(listed))


def judge_platt_f(tables: Tables) -> Verdict:
    """Judge whether F loses slightly; in part if no difference is visible."""
    gain = find_gain(tables, RIGHTMOST, "uci", "f1", NO_PLATT_CV, SHAPING)
    return Verdict(
        grade(-2 * POINT < gain.difference < 0, abs(gain.difference) < VISIBLE),
        f"F {show_gain(gain)}",
    )


def judge_contribution(tables: Tables) -> Verdict:
    """Judge whether leaving out shaping is among the two costliest lesions."""
    order = list(_order_lesions(tables))
    gain = find_gain(tables, RIGHTMOST, "uci", "auc", SCALING, SHAPING)
    word = grade(SCALING in order[:2] and gain.is_down, gain.is_down)
    return Verdict(word, f"rank {order.index(SCALING) + 1} of {len(order)}; AUC {show_gain(gain)}")
