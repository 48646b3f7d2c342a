"""Judges of what the paper says about time."""

from __future__ import annotations

import polars as pl

from spokeshave.papers.kolcz2007.judges.wording import APPROXIMATE, NAMES, enlist, grade
from spokeshave.reproduction import Tables, Verdict


def judge_magnitude(tables: Tables) -> Verdict:
    """Whether mask and sv set are a hundred times faster than retraining."""
    table = tables["speed"]
    ratios = {
        (row["collection"], row["what"]): (row["exact_takes"], row["linear_svc_takes"])
        for row in table.iter_rows(named=True)
        if row["what"] in APPROXIMATE
    }
    with_fit = {
        name: _ratio_with_fit(table, name)
        for name in table["collection"].unique(maintain_order=True)
    }
    return Verdict(
        grade(
            min(ours for ours, _ in ratios.values()) >= 100,
            min(theirs for _, theirs in ratios.values()) >= 100
            or max(ours for ours, _ in ratios.values()) >= 10,
        ),
        "retraining takes "
        + enlist(
            f"{ours:.0f}× {NAMES.get(what, what)} on {name} ({theirs:.0f}× with LinearSVC)"
            for (name, what), (ours, theirs) in ratios.items()
        )
        + "; with the first fit counted on both sides "
        + enlist(f"{ratio:.0f}× mask on {name}" for name, ratio in with_fit.items()),
    )


def judge_naive_bayes(tables: Tables) -> Verdict:
    """Whether the fit and the mask together cost what naive Bayes does, and grow as it does."""
    seconds = _list_seconds(tables["speed"])
    growth = {
        (row["collection"], row["what"], row["share"]): row["seconds"]
        for row in tables["growth"].iter_rows(named=True)
    }
    ratios, grown = {}, {}
    for name, of in seconds.items():
        ratios[name] = (of["first fit"] + of["mask"]) / of["naive Bayes"]
        grown[name] = [
            sum(growth[name, what, 1.0] for what in group)
            / sum(growth[name, what, 0.25] for what in group)
            for group in (("first fit", "mask"), ("naive Bayes",))
        ]
    on_par = [ratio <= 2 for ratio in ratios.values()]
    alike = [ours <= 2 * theirs for ours, theirs in grown.values()]
    return Verdict(
        grade(all(on_par) and all(alike), any(on_par) or any(alike)),
        "first fit and mask at every cut take "
        + enlist(
            f"{ratio:.2f}× naive Bayes with all features ({name})" for name, ratio in ratios.items()
        )
        + "; with four times the documents "
        + enlist(
            f"{ours:.1f}× and naive Bayes {theirs:.1f}× ({name})"
            for name, (ours, theirs) in grown.items()
        ),
    )


def judge_lookup(tables: Tables) -> Verdict:
    """Whether masking costs less than the first fit, which is needed anyway."""
    seconds = _list_seconds(tables["speed"])
    shares = {name: of["mask"] / of["first fit"] for name, of in seconds.items()}
    return Verdict(
        grade(max(shares.values()) <= 0.5, max(shares.values()) <= 1),
        "mask at every cut takes "
        + enlist(f"{share:.0%} of the first fit on {name}" for name, share in shares.items()),
    )


def _list_seconds(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in table.iter_rows(named=True):
        found.setdefault(row["collection"], {})[row["what"]] = row["seconds"]
    return found


def _ratio_with_fit(table: pl.DataFrame, collection: str) -> float:
    of = _list_seconds(table)[collection]
    return (of["first fit"] + of["exact"]) / (of["first fit"] + of["mask"])
