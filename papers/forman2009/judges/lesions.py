"""Judges of what the paper says about variants of shaping on UCI: Figure 7."""

from __future__ import annotations

from spokeshave.papers.forman2009.judges.gains import NotRunError, find_gain
from spokeshave.papers.forman2009.judges.wording import (
    NAMES,
    POINT,
    VISIBLE,
    grade,
    name_variant,
    show,
    show_gain,
)
from spokeshave.papers.forman2009.tables import (
    LESIONS,
    LOG_ODDS,
    NO_PLATT_CV,
    NO_SCALING,
    RIGHTMOST,
    SCALING,
    SHAPING,
)
from spokeshave.reproduction import Tables, Verdict


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
    """Judge whether shaping loses by the lack of either of its stages."""
    gains = {
        name: find_gain(tables, RIGHTMOST, "uci", "auc", name, SHAPING)
        for name in (SCALING, NO_SCALING)
    }
    n_down = sum(gain.is_down for gain in gains.values())
    listed = (f"{name_variant(name)} {show_gain(gain)}" for name, gain in gains.items())
    return Verdict(grade(n_down == 2, n_down == 1), f"AUC of shaping → {', '.join(listed)}")


def judge_lesion(tables: Tables, variant: str) -> Verdict:
    """Judge the place of a variant in the order of their AUC."""
    order = _order_lesions(tables)
    if variant not in order:
        raise NotRunError(variant)
    published_place, place = LESIONS.index(variant), list(order).index(variant)
    gain = find_gain(tables, RIGHTMOST, "uci", "auc", variant, SHAPING)
    listed = ", ".join(f"{name_variant(name)} {show(value)}" for name, value in order.items())
    return Verdict(
        grade(place == published_place and gain.difference < 0, abs(place - published_place) <= 1),
        f"place {place + 1} of {len(order)} ({listed}); from shaping {show_gain(gain)}",
    )


def judge_least_lesion(tables: Tables) -> Verdict:
    """Judge whether leaving the cross-validation of Platt's scaling out costs the least AUC."""
    order = list(_order_lesions(tables))
    if NO_PLATT_CV not in order:
        raise NotRunError(NO_PLATT_CV)
    gain = find_gain(tables, RIGHTMOST, "uci", "auc", NO_PLATT_CV, SHAPING)
    word = grade(order[-1] == NO_PLATT_CV, abs(gain.difference) < VISIBLE)
    return Verdict(word, f"place {order.index(NO_PLATT_CV) + 1} of {len(order)}; {show_gain(gain)}")


def _order_lesions(tables: Tables) -> dict[str, float]:
    """Return the AUC of the variants that were run, the lowest first."""
    rows = tables["uci_variants"].select("method", "auc").iter_rows()
    return {name: value for name, value in rows if name in LESIONS}


def judge_platt_accuracy(tables: Tables) -> Verdict:
    """Judge whether accuracy is slightly better without the cross-validation."""
    gain = find_gain(tables, RIGHTMOST, "uci", "accuracy", NO_PLATT_CV, SHAPING)
    return Verdict(grade(0 < gain.difference < 2 * POINT, gain.difference > 0), show_gain(gain))


def judge_platt_ranking(tables: Tables) -> Verdict:
    """Judge whether AUC and precision at 20 are the same without the cross-validation."""
    gains = {
        of: find_gain(tables, RIGHTMOST, "uci", of, NO_PLATT_CV, SHAPING)
        for of in ("auc", "precision_at_20")
    }
    is_same = [abs(gain.difference) < VISIBLE for gain in gains.values()]
    listed = (f"{NAMES[of]} {show_gain(gain)}" for of, gain in gains.items())
    return Verdict(grade(all(is_same), any(is_same)), "; ".join(listed))


def judge_platt_f(tables: Tables) -> Verdict:
    """Judge whether F loses slightly without the cross-validation."""
    gain = find_gain(tables, RIGHTMOST, "uci", "f1", NO_PLATT_CV, SHAPING)
    return Verdict(
        grade(-2 * POINT < gain.difference < 0, gain.difference < 0), f"F {show_gain(gain)}"
    )


def judge_contribution(tables: Tables) -> Verdict:
    """Judge whether taking shaping away is among the two costliest lesions."""
    order = list(_order_lesions(tables))
    gain = find_gain(tables, RIGHTMOST, "uci", "auc", SCALING, SHAPING)
    word = grade(SCALING in order[:2] and gain.is_down, gain.is_down)
    return Verdict(word, f"place {order.index(SCALING) + 1} of {len(order)}; AUC {show_gain(gain)}")
