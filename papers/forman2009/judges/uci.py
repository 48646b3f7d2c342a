"""Judges of what the paper says about the UCI benchmark: Figures 3 to 6 and 10."""

from __future__ import annotations

from spokeshave.papers.forman2009 import published
from spokeshave.papers.forman2009.judges.gains import (
    NotRunError,
    find_gain,
    find_gains,
    read_tasks,
)
from spokeshave.papers.forman2009.judges.wording import (
    NAMES,
    POINT,
    grade,
    list_gains,
    show,
    show_gain,
    show_p,
)
from spokeshave.papers.forman2009.tables import (
    BASELINE,
    LEFTMOST,
    MEASURES,
    RAW,
    RIGHTMOST,
    SCALING,
    SHAPING,
    WHOLE,
)
from spokeshave.reproduction import NOT_TRIED, Tables, Verdict

GREAT = 0.05  # of AUC, a great improvement of a task
SMALL = 50.0  # per cent of the data set, below which training sets are small


def judge_raw_time(tables: Tables) -> Verdict:
    """Judge whether training takes far longer on features that nothing brought to one range."""
    means = tables["uci_curves"].filter(size=WHOLE)
    seconds = dict(means.select("method", "seconds").iter_rows())
    for name in (RAW, BASELINE):
        if name not in seconds:
            raise NotRunError(name)
    if not seconds[BASELINE]:
        return Verdict(NOT_TRIED, "the baseline takes too short to be timed")
    times = seconds[RAW] / seconds[BASELINE]
    figures = f"{seconds[RAW]:,.0f} s against {seconds[BASELINE]:,.0f} s, {times:.1f} times"
    return Verdict(grade(times > 10, times > 2), figures)


def judge_to_the_right(tables: Tables) -> Verdict:
    """Judge whether the gain in AUC on UCI is there with all training cases."""
    gain = find_gain(tables, RIGHTMOST, "uci", "auc")
    word = grade(gain.is_up and gain.difference > POINT, gain.is_up)
    return Verdict(word, f"AUC {show_gain(gain)}; better on {gain.wins} of {gain.tasks} tasks")


def judge_precision(tables: Tables) -> Verdict:
    """Judge whether the gain in precision at 20 on UCI is there with the fewest cases too."""
    gains = find_gains(tables, "uci", "precision_at_20")
    is_up = all(gain.difference > 0 for gain in gains)
    word = grade(is_up and gains[0].is_up, gains[0].difference > 0)
    return Verdict(word, f"{list_gains(gains)}; leftmost {show_p(gains[0].p_value)}")


def judge_auc_leftmost(tables: Tables) -> Verdict:
    """Judge whether the gain in AUC on UCI is gone with the fewest cases."""
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
    figures = f"{right.relative:+.0%}, {show_gain(right)}; at best {best.relative:+.0%}"
    word = grade(is_as_large and is_there, best.relative >= 0.5 * published.UCI_F1_GAIN)
    return Verdict(word, f"{figures}, at {best.percent:g}%")


def judge_large_accuracy(tables: Tables) -> Verdict:
    """Judge whether accuracy on UCI gains nothing from half of the cases on."""
    gains = [g for g in find_gains(tables, "uci", "accuracy") if g.percent >= SMALL]
    n_up = sum(gain.is_up for gain in gains)
    word = grade(n_up == 0, n_up < len(gains))
    return Verdict(word, "; ".join(show_gain(gain) for gain in gains))


def judge_small_accuracy(tables: Tables) -> Verdict:
    """Judge whether shaping costs accuracy on UCI where cases are few."""
    gains = [g for g in find_gains(tables, "uci", "accuracy") if g.percent < SMALL]
    if not gains:
        raise NotRunError("a smaller training size")
    left = gains[0]
    word = grade(left.is_down and left.difference < -POINT, left.is_down)
    return Verdict(word, f"accuracy {list_gains(gains)}; leftmost {show_p(left.p_value)}")


def judge_scaling_accuracy(tables: Tables) -> Verdict:
    """Judge whether scaling alone costs no accuracy on UCI where cases are few."""
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
    return Verdict(word, f"{figures}; from {show(gains.min(), True)} to {show(gains.max(), True)}")


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
