"""Judges of what the paper says about two-class problems: Figure 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spokeshave.papers.kolcz2007.judges.wording import APPROXIMATE, NAMES, dot, enlist, grade
from spokeshave.papers.kolcz2007.published import SIGNIFICANT
from spokeshave.reproduction import Tables, Verdict

SUBSTANTIAL = 0.01  # a gain in AUC


def judge_problems_gain(tables: Tables) -> Verdict:
    """Whether selection is substantially better than all features, on the stand-in as it is."""
    rows = {m: _find_problem(tables, 0, m) for m in ("exact", *APPROXIMATE)}
    nested = _find_problem(tables, 0, "nested_exact")
    chance = _find_problem(tables, 0, "random_exact")
    is_clear = all(
        row["p_over_all"] < SIGNIFICANT and row["gain_over_all"] > 0 for row in rows.values()
    )
    is_big = all(row["gain_over_all"] >= SUBSTANTIAL for row in rows.values())
    return Verdict(
        grade(is_clear and is_big, is_clear),
        f"all features {dot(_find_problem(tables, 0, 'all')['average_auc'])}; "
        + enlist(_tell_gain(NAMES.get(m, m), row) for m, row in rows.items())
        + f"; but {_tell_gain('exact at a cut chosen within the training folds', nested)}, and "
        + _tell_gain("a random order with the best of as many cuts", chance),
    )


def judge_problems_noise(tables: Tables) -> Verdict:
    """Whether gains are big where problems are made so that selection matters."""
    table = tables["figure2"]
    levels = sorted(table["noise"].unique())
    gains = [_find_problem(tables, n, "exact")["gain_over_all"] for n in levels]
    honest = [_find_problem(tables, n, "nested_exact")["gain_over_all"] for n in levels]
    is_growing = gains == sorted(gains) and gains[-1] >= SUBSTANTIAL
    return Verdict(
        grade(is_growing and honest[-1] >= SUBSTANTIAL, is_growing),
        "exact over all features with "
        + enlist(
            f"{n} irrelevant descriptions to a document {gain:+.4f} ({real:+.4f} at a cut chosen "
            "within the training folds)"
            for n, gain, real in zip(levels, gains, honest, strict=True)
        ),
    )


def judge_problems_sv_set(tables: Tables) -> Verdict:
    """Whether sv set and exact do not differ significantly."""
    return _judge_problems(tables, "sv_set", lambda row: row["p_one_sided"] >= SIGNIFICANT)


def judge_problems_mask(tables: Tables) -> Verdict:
    """Whether mask is significantly below exact."""
    return _judge_problems(
        tables,
        "mask",
        lambda row: row["p_one_sided"] < SIGNIFICANT and row["difference_from_exact"] < 0,
    )


def _judge_problems(tables: Tables, method: str, holds: Callable[[Any], bool]) -> Verdict:
    """Judge a method against exact where words are relevant, and where most are not."""
    levels = sorted(tables["figure2"]["noise"].unique())
    rows = [_find_problem(tables, level, method) for level in levels]
    return Verdict(
        grade(all(map(holds, rows)), any(map(holds, rows))),
        f"{NAMES.get(method, method)} less exact with "
        + enlist(
            f"{level} irrelevant descriptions {row['difference_from_exact']:+.4f}, "
            f"P = {row['p_one_sided']:.2g}"
            for level, row in zip(levels, rows, strict=True)
        ),
    )


def _find_problem(tables: Tables, noise: int, method: str) -> Any:
    return tables["figure2"].filter(noise=noise, method=method).row(0, named=True)


def _tell_gain(name: str, row: Any) -> str:
    return f"{name} {row['gain_over_all']:+.4f} (P = {row['p_over_all']:.2g})"
