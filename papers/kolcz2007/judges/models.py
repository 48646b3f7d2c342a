"""Judges of what the paper says about normals and support vectors: Figures 3 and 4."""

from __future__ import annotations

from typing import Any

import polars as pl

from spokeshave.papers.kolcz2007.judges.wording import dot, enlist, grade, span
from spokeshave.papers.kolcz2007.published import FIGURE4_FRACTION, FIGURE4_OVERLAP
from spokeshave.reproduction import Tables, Verdict


def judge_normals(tables: Tables) -> Verdict:
    """Whether masked and retrained weights are alike at small fractions too."""
    at = {f: _at(tables, f) for f in (0.01, 0.05, 0.1)}
    return Verdict(
        grade(
            min(row["cosine"] for rows in at.values() for row in rows) >= 0.9,
            min(row["cosine"] for row in at[0.1]) >= 0.9,
        ),
        enlist(
            f"{f:.0%} of features: "
            + ", ".join(
                f"{span(rows, n)} {name}"
                for n, name in (("cosine", "cosine"), ("pearson", "Pearson"))
            )
            for f, rows in at.items()
        ),
    )


def judge_direction(tables: Tables) -> Verdict:
    """Whether the lower half of the features hardly turns the normal."""
    rows = _at(tables, 0.5)
    least = min(row["cosine"] for row in rows)
    return Verdict(
        grade(least >= 0.99, least >= 0.95),
        f"without the lower half of the features the cosine is {span(rows, 'cosine')}",
    )


def judge_overlap(tables: Tables) -> Verdict:
    """Whether the overlap exceeds 80% from half of the features on."""
    table = _of_exact(tables).filter(pl.col("fraction") >= FIGURE4_FRACTION)
    least = table.group_by("collection", maintain_order=True).agg(pl.col("overlap").min())
    values = dict(least.iter_rows())
    above = [value > FIGURE4_OVERLAP for value in values.values()]
    return Verdict(
        grade(all(above), any(above)),
        "least overlap from half of the features on: "
        + enlist(f"{name} {value:.1%}" for name, value in values.items()),
    )


def judge_fewer_support(tables: Tables) -> Verdict:
    """Whether fewer features leave fewer support vectors."""
    falling = {}
    for name, part in _of_exact(tables).group_by("collection", maintain_order=True):
        values = part.sort("fraction")["n_support"].to_list()
        falling[str(name[0])] = (values[2], max(values), values == sorted(values))
    return Verdict(
        grade(
            all(is_sorted for *_, is_sorted in falling.values()),
            all(tenth < 1 for tenth, *_ in falling.values()),
        ),
        "support vectors at a tenth of the features, and the most at any cut, of the original "
        "number: " + enlist(f"{name} {t:.0%} and {m:.0%}" for name, (t, m, _) in falling.items()),
    )


def judge_containment(tables: Tables) -> Verdict:
    """Whether containment stays high where the overlap goes down, so that fewer is the reason."""
    rows = _at(tables, 0.1)
    shares = [_explain_by_number(row) for row in rows]
    return Verdict(
        grade(
            min(row["containment"] for row in rows) >= 0.9,
            min(shares) > 0.5 or max(row["containment"] for row in rows) >= 0.9,
        ),
        "at a tenth of the features: "
        + enlist(
            f"{row['collection']} containment {row['containment']:.0%}, overlap "
            f"{row['overlap']:.0%}, {share:.0%} of what it lacks is by number"
            for row, share in zip(rows, shares, strict=True)
        )
        + f"; at 1% containment is {span(_at(tables, 0.01), 'containment')}",
    )


def judge_not_one(tables: Tables) -> Verdict:
    """Whether overlap and containment stay below one with all features of nonzero weight."""
    rows = _at(tables, 1.0)
    below = [max(row["overlap"], row["containment"]) < 0.99 for row in rows]
    return Verdict(
        grade(all(below), any(below)),
        "with all features of nonzero weight: "
        + enlist(
            f"{row['collection']} overlap {row['overlap']:.1%}, containment "
            f"{row['containment']:.1%}"
            for row in rows
        ),
    )


def judge_zero_weights(tables: Tables) -> Verdict:
    """Whether removing features of zero weight is what keeps them below one."""
    limit = tables["limit"].filter(pl.col("tolerance") == pl.col("tolerance").min())
    pairs = [
        (
            part.filter("renormalized").row(0, named=True),
            part.filter(~pl.col("renormalized")).row(0, named=True),
        )
        for _, part in limit.group_by("collection", maintain_order=True)
    ]
    is_lengths = all(again["overlap"] < 0.999 <= kept["overlap"] for again, kept in pairs)
    return Verdict(
        grade(is_lengths, any(again["overlap"] < kept["overlap"] for again, kept in pairs)),
        "with only those removed, and a tight tolerance, overlap is "
        + enlist(
            f"{again['overlap']:.1%} if rows are scaled again and {kept['overlap']:.2%} if not "
            f"({again['collection']}, {again['zero_weight']:.0%} of weights are zero)"
            for again, kept in pairs
        ),
    )


def judge_alpha(tables: Tables) -> Verdict:
    """Whether retraining alters alpha more than the direction of the normal."""
    rows = list(tables["alpha"].filter("renormalized", fraction=0.1).iter_rows(named=True))
    altered = [
        row["alpha_change"] >= 0.2 and row["alpha_cosine"] < row["weight_cosine"] for row in rows
    ]
    return Verdict(
        grade(all(altered), any(altered)),
        "at a tenth of the features: "
        + enlist(
            f"{row['collection']} alpha moves by {row['alpha_change']:.0%} of its sum, cosine "
            f"{dot(row['alpha_cosine'], 3)}, that of the weights {dot(row['weight_cosine'], 3)}"
            for row in rows
        ),
    )


def judge_compensation(tables: Tables) -> Verdict:
    """Whether alpha is altered to make up for rows that are scaled to length one again."""
    table = tables["alpha"]
    found = {
        (row["collection"], row["renormalized"], row["fraction"]): row["alpha_change"]
        for row in table.iter_rows(named=True)
    }
    names = table["collection"].unique(maintain_order=True)
    cases = [(name, f) for name in names for f in (0.1, 0.5)]
    more = [found[name, True, f] > 1.5 * found[name, False, f] for name, f in cases]
    return Verdict(
        grade(all(more), any(more)),
        "alpha moves, with rows scaled again and without: "
        + enlist(
            f"{name} at {f:.0%} {found[name, True, f]:.0%} and {found[name, False, f]:.0%}"
            for name, f in cases
        ),
    )


def judge_stable(tables: Tables) -> Verdict:
    """Whether the normal is more stable than the set of support vectors, and both stable."""
    rows = _at(tables, 0.5)
    is_more = all(row["cosine"] > row["overlap"] for row in _of_exact(tables).iter_rows(named=True))
    return Verdict(
        grade(is_more and min(row["overlap"] for row in rows) > FIGURE4_OVERLAP, is_more),
        f"at half of the features cosine {span(rows, 'cosine')}, overlap "
        f"{span(rows, 'overlap')}; the cosine is {'' if is_more else 'not '}the larger at every "
        "cut",
    )


def _of_exact(tables: Tables) -> pl.DataFrame:
    return tables["stability"].filter(method="exact")


def _at(tables: Tables, fraction: float) -> list[Any]:
    return list(_of_exact(tables).filter(fraction=fraction).iter_rows(named=True))


def _explain_by_number(row: Any) -> float:
    """Return the part of what the overlap lacks that would be lacking at full containment."""
    return float((1 - min(row["n_support"], 1)) / (1 - row["overlap"]))
