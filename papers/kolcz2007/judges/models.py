"""Judges of claims on normals, support vectors (Figures 3 and 4) and running time."""

from __future__ import annotations

from typing import Any

import polars as pl

from papers.kolcz2007.masking import QUARTERS
from papers.kolcz2007.published import FIGURE4_FRACTION, FIGURE4_OVERLAP
from papers.kolcz2007.tables import APPROXIMATE, NAMES
from papers.kolcz2007.tasks import TOL
from papers.limits import ERRORS
from papers.verdicts import Tables, Verdict, grade, grade_cases, show

FEW = 0.05  # a small fraction of the support vectors


def judge_normals(tables: Tables) -> Verdict:
    """Whether masked and retrained weights are similar even at small fractions."""
    at = {f: _at(tables, f) for f in (0.01, 0.05, 0.1)}
    return Verdict(
        grade(
            min(row["cosine"] for rows in at.values() for row in rows) >= 0.9,
            min(row["cosine"] for row in at[0.1]) >= 0.9,
        ),
        ", ".join(
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
        grade_cases(above),
        "least overlap from half of the features on: "
        + ", ".join(f"{name} {value:.1%}" for name, value in values.items()),
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
        "number: "
        + ", ".join(f"{name} {t:.0%} and {m:.0%}" for name, (t, m, _) in falling.items()),
    )


def judge_containment(tables: Tables) -> Verdict:
    """Whether containment stays high as overlap falls: then the falling number explains it."""
    rows = _at(tables, 0.1)
    shares = [_explain_by_number(row) for row in rows]
    return Verdict(
        grade(
            min(row["containment"] for row in rows) >= 0.9,
            min(shares) > 0.5 or max(row["containment"] for row in rows) >= 0.9,
        ),
        "at a tenth of the features: "
        + ", ".join(
            f"{row['collection']} containment {row['containment']:.0%}, overlap "
            f"{row['overlap']:.0%}, {share:.0%} of the missing overlap is due to their number"
            for row, share in zip(rows, shares, strict=True)
        )
        + f"; at 1% containment is {span(_at(tables, 0.01), 'containment')}",
    )


def judge_not_one(tables: Tables) -> Verdict:
    """Whether overlap and containment stay below one with all features of nonzero weight."""
    rows = _at(tables, 1.0)
    below = [max(row["overlap"], row["containment"]) < 0.99 for row in rows]
    return Verdict(
        grade_cases(below),
        "with all features of nonzero weight: "
        + ", ".join(
            f"{row['collection']} overlap {row['overlap']:.1%}, containment "
            f"{row['containment']:.1%}"
            for row in rows
        ),
    )


def judge_zero_weights(tables: Tables) -> Verdict:
    """Whether the removal of features of zero weight keeps them below one."""
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
        "with only those removed and a tight tolerance, overlap is "
        + ", ".join(
            f"{again['overlap']:.1%} with renormalised rows and {kept['overlap']:.2%} without "
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
        grade_cases(altered),
        "at a tenth of the features: "
        + ", ".join(
            f"{row['collection']} alpha changes by {row['alpha_change']:.0%} of its sum, cosine "
            f"{show(row['alpha_cosine'], 3)}, that of the weights {show(row['weight_cosine'], 3)}"
            for row in rows
        ),
    )


def judge_compensation(tables: Tables) -> Verdict:
    """Whether alpha changes to compensate for renormalised rows."""
    table = tables["alpha"]
    found = {
        (row["collection"], row["renormalized"], row["fraction"]): row["alpha_change"]
        for row in table.iter_rows(named=True)
    }
    names = table["collection"].unique(maintain_order=True)
    cases = [(name, f) for name in names for f in (0.1, 0.5)]
    more = [found[name, True, f] > 1.5 * found[name, False, f] for name, f in cases]
    return Verdict(
        grade_cases(more),
        "change of alpha with renormalised rows and without: "
        + ", ".join(
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
        f"{span(rows, 'overlap')}; the cosine is {'' if is_more else 'not '}larger at every "
        "cut",
    )


def judge_violations(tables: Tables) -> Verdict:
    """Whether less than a twentieth of the support vectors have a feature, on average."""
    rows = tables["masking"].filter(quarter="all").to_dicts()
    return Verdict(
        grade_cases(row["share_of_support"] < FEW for row in rows),
        "share of the support vectors that have a feature of nonzero weight, mean over features: "
        + ", ".join(f"{row['collection']} {row['share_of_support']:.2%}" for row in rows),
    )


def judge_low_weights(tables: Tables) -> Verdict:
    """Whether masking a feature of the lower half by weight adds no more than the solver's gap.

    And whether the gap grows with weight, and with frequency among features of like weight, by two
    standard errors.
    """
    table = tables["masking"]
    outcomes, says = [], []
    for (name,), part in table.group_by("collection", maintain_order=True):
        of = {row["quarter"]: row for row in part.iter_rows(named=True)}
        low = max(of[quarter]["gap"] for quarter in QUARTERS[:2])
        outcomes.append(low <= TOL)
        outcomes.append(_is_clear(of["all"], "by_weight"))
        outcomes += [_is_clear(of[quarter], "by_frequency") for quarter in QUARTERS]
        says.append(
            f"{name} {low:.1e} in the lower half and {of['highest']['gap']:.1e} in the highest "
            f"quarter, rank correlation {show(of['all']['by_weight'], 2)} with weight and "
            f"{show(min(of[q]['by_frequency'] for q in QUARTERS), 2)} to "
            f"{show(max(of[q]['by_frequency'] for q in QUARTERS), 2)} with frequency within a "
            "quarter"
        )
    return Verdict(
        grade_cases(outcomes),
        f"relative duality gap that masking one feature adds (the solver stops at {TOL:.0e}): "
        + "; ".join(says),
    )


def _is_clear(row: Any, name: str) -> bool:
    """Return whether a rank correlation is positive by two standard errors."""
    return bool(row[name] >= ERRORS * (row[f"{name}_error"] or 0) and row[name] > 0)


def _of_exact(tables: Tables) -> pl.DataFrame:
    return tables["stability"].filter(method="exact")


def _at(tables: Tables, fraction: float) -> list[Any]:
    return list(_of_exact(tables).filter(fraction=fraction).iter_rows(named=True))


def _explain_by_number(row: Any) -> float:
    """Return the share of the missing overlap that the smaller number of vectors explains."""
    return float((1 - min(row["n_support"], 1)) / (1 - row["overlap"]))


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
        + ", ".join(
            f"{ours:.0f}× {NAMES.get(what, what)} on {name} ({theirs:.0f}× with LinearSVC)"
            for (name, what), (ours, theirs) in ratios.items()
        )
        + "; with the first fit counted on both sides "
        + ", ".join(f"{ratio:.0f}× mask on {name}" for name, ratio in with_fit.items()),
    )


def judge_naive_bayes(tables: Tables) -> Verdict:
    """Whether fit and mask together cost as much as naive Bayes, and grow like it."""
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
        + ", ".join(
            f"{ratio:.2f}× naive Bayes with all features ({name})" for name, ratio in ratios.items()
        )
        + "; with four times the documents "
        + ", ".join(
            f"{ours:.1f}× and naive Bayes {theirs:.1f}× ({name})"
            for name, (ours, theirs) in grown.items()
        ),
    )


def judge_lookup(tables: Tables) -> Verdict:
    """Whether masking costs less than the first fit."""
    seconds = _list_seconds(tables["speed"])
    shares = {name: of["mask"] / of["first fit"] for name, of in seconds.items()}
    return Verdict(
        grade(max(shares.values()) <= 0.5, max(shares.values()) <= 1),
        "mask at every cut takes "
        + ", ".join(f"{share:.0%} of the first fit on {name}" for name, share in shares.items()),
    )


def _list_seconds(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in table.iter_rows(named=True):
        found.setdefault(row["collection"], {})[row["what"]] = row["seconds"]
    return found


def _ratio_with_fit(table: pl.DataFrame, collection: str) -> float:
    of = _list_seconds(table)[collection]
    return (of["first fit"] + of["exact"]) / (of["first fit"] + of["mask"])


def span(rows: list[Any], name: str) -> str:
    low, high = min(row[name] for row in rows), max(row[name] for row in rows)
    return show(low) if low == high else f"{show(low)} to {show(high)}"
