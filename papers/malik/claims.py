"""The claims of the paper about its results, and their judges.

A judge checks a claim in many cases (collections, groups of classes, measures, cuts). The claim is
reproduced if it holds in all of them, in part if in some, and not reproduced if in none. "All" is
all classes, "large" those of 200 or more training documents; "n.s." is not significant at the 5%
level by paired t-tests over classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import polars as pl

from papers.limits import LEVEL, MOST, POINT, VISIBLE, shows
from papers.malik import common
from papers.malik.learners import SVM
from papers.malik.pruning import (
    ONLY_FREQUENT,
    ONLY_RARE,
    ONLY_STOP_WORDS,
    SEEN_MORE,
    STOP_WORDS,
)
from papers.malik.sparsity import CRITERIA, RARE
from papers.verdicts import (
    NOT_TRIED,
    Claim,
    Tables,
    Verdict,
    grade,
    grade_cases,
    show,
)

HALF = 0.5
FEW_CHANGES = 0.05
SEVERAL_TIMES = 2
SHOWN, SHOWN_SHARE = 100, "1/16"  # number of features, and share of the memory, of quoted figures
NONZEROS = 20
BELOW_ALL = 40  # the largest sparsity below that of all features: about half the nonzeros
OF_THE_TOP = f"(top 1,000 by the normal of all; those in {RARE} documents or fewer, and others)"
GROUPS = ("all", "large")
LABELS = {"best_f1": "best F1", "f1": "F1", "auc": "AUC"}
RARE_WORDS, FREQUENT_WORDS = "in 3 documents or more", "in 20% at most"
LEARNERS = {
    "perceptron": "the perceptron",
    "winnow": "Winnow",
    "bayes_point": "the Bayes point machine",
    "least_squares": "LLSF",
    "widrow_hoff": "Widrow-Hoff",
    "exponentiated_gradient": "exponentiated gradient",
    "naive_bayes unscaled": "naive Bayes, of zeros and ones,",
    "naive_bayes": "naive Bayes, of rows of length one,",
}


def judge_preserving(tables: Tables) -> Verdict:
    """The normal is not below all features from half the nonzeros on, or from fewer."""
    outcomes, says = [], []
    for (collection, group), of in _split(tables["enough"], "collection", "classes"):
        parts = []
        for row in of.iter_rows(named=True):
            sparsity = row["sparsity"]
            outcomes.append(sparsity is not None and sparsity <= BELOW_ALL)
            where = "nowhere" if sparsity is None else f"from {sparsity:g}"
            parts.append(f"{LABELS[row['measure']]} {where}")
        says.append(f"{collection}, {group}: {', '.join(parts)}")
    return Verdict(
        grade_cases(outcomes),
        "sparsity from which quality is not below all features: " + "; ".join(says),
    )


def judge_procedure(tables: Tables) -> Verdict:
    """A normal of a subset, retrained on all documents, is not below the normal of all."""
    table = tables["quality"].filter(
        pl.col("ranking").str.starts_with("normal 1/"),
        pl.col("cut").is_between(10, BELOW_ALL),
        measure="best_f1",
    )
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        outcomes += [not _is_below(row) for row in of.iter_rows(named=True)]
        losses = [
            f"{row['ranking'].removeprefix('normal ')} {_show_difference(row)}"
            for row in of.filter(cut=NONZEROS).iter_rows(named=True)
        ]
        says.append(f"{collection}, {group}: {', '.join(losses)}")
    text = f"best F1 at {NONZEROS} nonzeros, minus that of the normal of all documents, by subset: "
    return Verdict(grade_cases(outcomes), text + "; ".join(says))


def judge_small_weights(tables: Tables, method: str) -> Verdict:
    """Without the lower half of the weights, nothing is lost, and few decisions change."""
    table = tables["dropped"].filter(method=method, ranking="normal")
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        half = of.filter(fraction=HALF).row(0, named=True)
        whole = of.filter(fraction=1).row(0, named=True)
        outcomes += [not _is_lost(half, whole, name) for name in ("best_f1", "auc")]
        text = (
            f"{collection}, {group}: {half['nonzeros'] / whole['nonzeros']:.0%} of the nonzeros, "
            f"best F1 {show(half['best_f1'])} of {show(whole['best_f1'])}, "
            f"AUC {show(half['auc'])} of {show(whole['auc'])}"
        )
        if half["changed"] is not None:
            outcomes.append(half["changed"] < FEW_CHANGES)
            text += f", {half['changed']:.1%} of decisions changed"
        says.append(text)
    return Verdict(grade_cases(outcomes), "with half the features: " + "; ".join(says))


def _is_lost(row: dict[str, Any], whole: dict[str, Any], measure: str) -> bool:
    """Return whether a cut is below all features, and the difference shows."""
    difference = row[measure] - whole[measure]
    return difference < 0 and shows(difference, p_value=row[f"{measure}_p_value"])


def judge_most(tables: Tables) -> Verdict:
    """Retrained on fewer than half of the features, nothing is lost."""
    table = tables["dropped"].filter(method="exact", ranking="normal")
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        whole = of.filter(fraction=1).row(0, named=True)
        parts = []
        for measure in ("best_f1", "auc"):
            lost = [
                row["fraction"] for row in of.iter_rows(named=True) if _is_lost(row, whole, measure)
            ]
            enough = min(f for f in of["fraction"].to_list() if f > max(lost, default=0))
            outcomes.append(enough < MOST)
            parts.append(f"{LABELS[measure]} from {enough:.0%}")
        says.append(f"{collection}, {group}: {', '.join(parts)}")
    return Verdict(
        grade_cases(outcomes),
        "share of the features from which quality is not below all features: " + "; ".join(says),
    )


def judge_increase(tables: Tables) -> Verdict:
    """The nonzeros fall with the features."""
    outcomes, says = [], []
    whole = dict(tables["collections"].select("collection", "features").iter_rows())
    for collection, of in _split(tables["sparsity_grid"], "collection"):
        for _, line in _split(of, "ranking"):
            outcomes.append(bool((line.sort("cut")["nonzeros"].diff().drop_nulls() >= 0).all()))
        normal = of.filter(ranking="normal").sort("cut")
        at = normal.filter(cut=1000).row(0, named=True)
        says.append(
            f"{collection}: by the normal {1000 / whole[collection]:.1%} of the features leave "
            f"{at['nonzeros'] / normal['nonzeros'][-1]:.0%} of the nonzeros"
        )
    return Verdict(grade_cases(outcomes), "; ".join(says) + "; far from proportional")


def judge_differing(tables: Tables) -> Verdict:
    """At equal numbers of features, most pairs of criteria differ, the extremes several times."""
    outcomes, says = [], []
    for (collection, group), of in _split(tables["differing"], "collection", "classes"):
        ranges = []
        for row in of.iter_rows(named=True):
            ratio = row["most_nonzeros"] / row["least_nonzeros"]
            outcomes.append(row["differ"] > MOST * row["pairs"] and ratio > SEVERAL_TIMES)
            ranges.append(
                f"{row['least_nonzeros']:.2g} to {row['most_nonzeros']:.2g} nonzeros "
                f"({row['differ']} of {row['pairs']} pairs differ)"
            )
        cuts = ", ".join(f"{cut:,}" for cut in of["cut"])
        says.append(
            f"{collection}, {group} ({of['n_classes'][0]} classes), {cuts} features: "
            + ", ".join(ranges)
        )
    return Verdict(grade_cases(outcomes), "; ".join(says))


def judge_findings(tables: Tables, findings: tuple[str, ...]) -> Verdict:
    """A finding holds at 10, 100 and 1,000 features, over all classes and over large ones."""
    table = tables["findings"].filter(
        pl.col("finding").is_in(findings), pl.col("classes").is_in(GROUPS)
    )
    outcomes, says = [], []
    for (rankings, collection), rows in _split(table, "rankings", "collection"):
        parts = []
        for group, of in _split(rows, "classes"):
            outcomes += of["holds"].to_list()
            means = of.filter(cut=SHOWN)["nonzeros"]
            shown = f" ({', '.join(means[0].split())} at {SHOWN})" if means.len() else ""
            parts.append(f"{group} classes: {_list_cuts(of)}{shown}")
        says.append(f"nonzeros {rankings}, {collection}, {', '.join(parts)}")
    return Verdict(grade_cases(outcomes), "; ".join(says))


def _list_cuts(rows: pl.DataFrame) -> str:
    """Return the cuts at which a finding holds."""
    parts = [f"{cut:,}" for cut in rows.filter(pl.col("holds"))["cut"]]
    if len(parts) == rows.height:
        return "holds"
    return f"holds at {' and '.join(parts)} only" if parts else "does not hold"


def judge_absent(tables: Tables) -> Verdict:
    """Some of the normal's top features are absent from the subset, mostly rare ones."""
    outcomes, says = [], []
    for collection, rows in _split(tables["fates"], "collection"):
        absent = rows.filter(fate="absent")
        rare, others = absent["share_of_rare"].to_list(), absent["share_of_others"].to_list()
        outcomes += [a > max(POINT, b) for a, b in zip(rare, others, strict=True)]
        says.append(
            f"{collection}: {_show_shares(rare)} and {_show_shares(others)} from "
            f"{_list_parts(absent)} ({_show_shares(absent['share'].to_list())} in all)"
        )
    return Verdict(grade_cases(outcomes), f"absent {OF_THE_TOP}, " + "; ".join(says))


def judge_low(tables: Tables) -> Verdict:
    """Of the normal's top features in the subset, more of the rare ones are ranked low."""
    outcomes, says = [], []
    for collection, rows in _split(tables["fates"], "collection"):
        low: dict[str, list[float]] = {"share_of_rare": [], "share_of_others": []}
        for _, of in _split(rows, "part"):
            fates = {row["fate"]: row for row in of.iter_rows(named=True)}
            for share, found in low.items():
                lost = fates["low"][share] + fates["weightless"][share]
                found.append(lost / (1 - fates["absent"][share]))
        rare, others = low.values()
        outcomes += [a > max(POINT, b) for a, b in zip(rare, others, strict=True)]
        says.append(
            f"{collection}: {_show_shares(rare)} and {_show_shares(others)} of those present in "
            f"{_list_parts(rows)}"
        )
    text = f"below the top 1,000 of the part {OF_THE_TOP}, "
    return Verdict(grade_cases(outcomes), text + "; ".join(says))


def _show_shares(shares: Iterable[float]) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)


def _list_parts(rows: pl.DataFrame) -> str:
    names = rows["part"].unique(maintain_order=True)
    return ", ".join(name.removeprefix("normal ") for name in names)


def judge_memory(tables: Tables, vocabulary: str, rankings: tuple[str, ...]) -> Verdict:
    """In the same memory, more documents of fewer words are significantly better.

    At Bonferroni's level for the number of pairs tried.
    """
    table = tables["memory"].filter(pl.col("ranking").is_in(rankings), vocabulary=vocabulary)
    outcomes, says = [], []
    for (ranking, collection, group), rows in _split(table, "ranking", "collection", "classes"):
        gains, shown = [], ""
        for share, of in _split(rows, "share"):
            gains += [_find_gain(of, measure) is not None for measure in common.MEASURES]
            if share == SHOWN_SHARE:
                shown = f", at {share} best F1 {_describe_best(of)}"
        outcomes += gains
        says.append(f"{collection}, {group}, {ranking}: {sum(gains)} of {len(gains)}{shown}")
    text = "memories and measures that gain by more documents of fewer words: "
    return Verdict(grade_cases(outcomes), text + "; ".join(says))


def _find_gain(pairs: pl.DataFrame, measure: str) -> dict[str, Any] | None:
    """Return the best pair that is significantly above the first one, if any."""
    gains = pairs.filter(
        pl.col(f"{measure}_difference") > 0,
        pl.col(f"{measure}_p_value") < LEVEL / (pairs.height - 1),
    ).sort(measure)
    return gains.row(-1, named=True) if gains.height else None


def _describe_best(pairs: pl.DataFrame) -> str:
    first = pairs.filter(pair=0).row(0, named=True)
    best = pairs.sort("best_f1").row(-1, named=True)
    start = f"{show(first['best_f1'])} with {first['n_documents']:,.0f} documents"
    if best["pair"] == 0:
        return f"{start}, no more"
    mark = "" if _find_gain(pairs, "best_f1") else " n.s."
    return f"{start}, {show(best['best_f1'])}{mark} with {best['n_documents']:,.0f}"


def judge_characteristic(tables: Tables) -> Verdict:
    """Nonzeros predict quality better than features, across criteria."""
    outcomes, says = [], []
    for (without, collection, group), rows in _split(
        tables["collapse"], "without", "collection", "classes"
    ):
        shares = []
        for measure, of in _split(rows, "measure"):
            told = dict(of.select("along", "explained").iter_rows())
            if without == "random":
                outcomes.append(told["nonzeros"] > told["features"])
            shares.append(f"{LABELS[measure]} {told['nonzeros']:.0%} / {told['features']:.0%}")
        start = "" if without == "random" else "without naive_bayes "
        says.append(f"{start}{collection}, {group}: {', '.join(shares)}")
    text = (
        "variance over criteria and cuts that an isotonic curve explains, in nonzeros / features: "
    )
    return Verdict(grade_cases(outcomes), text + "; ".join(says))


def judge_pruning(tables: Tables, kept: tuple[str, ...], alone: tuple[str, ...]) -> Verdict:
    """Without these words quality is not below that of all words."""
    outcomes, says = [], []
    for (collection, group), of in _split(tables["pruning"], "collection", "classes"):
        for row in of.filter(pl.col("kept").is_in(kept)).iter_rows(named=True):
            outcomes += [not _is_below(row, f"{name}_") for name in ("best_f1", "auc")]
            says.append(
                f"{collection}, {group}, {row['kept']}: best F1 "
                f"{_show_difference(row, 'best_f1_')}, AUC {_show_difference(row, 'auc_')}"
            )
        for row in of.filter(pl.col("kept").is_in(alone)).iter_rows(named=True):
            says.append(f"{row['kept']}: AUC {show(row['auc'])}")
    return Verdict(grade_cases(outcomes), "; ".join(says))


def judge_random(tables: Tables) -> Verdict:
    """Random features have the normal's precision to a point, and less than half its recall."""
    table = tables["recall"].filter(pl.col("sparsity") <= BELOW_ALL)
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        drawn, normal = (of.filter(ranking=name) for name in ("random", "normal"))
        for row, other in zip(
            drawn.iter_rows(named=True), normal.iter_rows(named=True), strict=True
        ):
            precision = row["micro_precision"]
            outcomes += [
                precision is not None and precision >= other["micro_precision"] - POINT,
                row["macro_recall"] < other["macro_recall"] / 2,
            ]
            if row["sparsity"] == NONZEROS:
                says.append(
                    f"{collection}, {group}: precision {show(precision)} "
                    f"({show(other['micro_precision'])}), recall {show(row['macro_recall'])} "
                    f"({show(other['macro_recall'])}), {row['n_finding']} of {row['n_classes']} "
                    f"classes find anything ({other['n_finding']})"
                )
    text = f"at {NONZEROS} nonzeros (normal in brackets), precision of all decisions together: "
    return Verdict(grade_cases(outcomes), text + "; ".join(says))


def judge_baseline(tables: Tables) -> Verdict:
    """Every criterion is above random features at every sparsity."""
    table = tables["quality"].filter(pl.col("cut") <= BELOW_ALL, measure="best_f1")
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        level = of.filter(ranking="random").sort("cut")["macro"]
        names = [name for name in CRITERIA if name != "random" and name in set(of["ranking"])]
        lower = [
            name
            for name in names
            if not (of.filter(ranking=name).sort("cut")["macro"] > level).all()
        ]
        outcomes += [name not in lower for name in names]
        says.append(
            f"{collection}, {group}: {len(names) - len(lower)} of {len(names)} criteria are above "
            f"it at every sparsity" + (f", not {', '.join(lower)}" if lower else "")
        )
    return Verdict(grade_cases(outcomes), "best F1, " + "; ".join(says))


def judge_classifiers(tables: Tables) -> Verdict:
    """The SVM is significantly above most of the other classifiers."""
    outcomes, says = [], []
    for (collection, group), of in _split(tables["learners"], "collection", "classes"):
        others = list(of.filter(pl.col("classifier") != SVM).iter_rows(named=True))
        counts = []
        for measure in common.MEASURES:
            better = [row for row in others if not _is_below(row, f"{measure}_")]
            outcomes.append(len(others) - len(better) > MOST * len(others))
            names = ", ".join(row["classifier"] for row in better)
            counts.append(
                f"{LABELS[measure]} {len(others) - len(better)} of {len(others)}"
                + (f" (not {names})" if better else "")
            )
        says.append(f"{collection}, {group}: {', '.join(counts)}")
    return Verdict(grade_cases(outcomes), "significantly above, " + "; ".join(says))


def judge_learner(tables: Tables, by: str) -> Verdict:
    """The weights of another learner select features that are visibly above random ones.

    That it can be used is all the claim says; how it compares with the normal is among the figures.
    """
    table = tables["quality"].filter(pl.col("cut").is_between(5, BELOW_ALL), measure="best_f1")
    if by not in set(table["ranking"]):
        return Verdict(NOT_TRIED, "this run has no such ranking")
    outcomes: list[bool] = []
    says = []
    for (collection, group), of in _split(table, "collection", "classes"):
        chosen, drawn = (of.filter(ranking=name).sort("cut") for name in (by, "random"))
        outcomes += (chosen["macro"] - drawn["macro"] >= VISIBLE).to_list()
        cells = ", ".join(_show_difference(row) for row in chosen.iter_rows(named=True))
        says.append(f"{collection}, {group}: {cells}")
    text = (
        f"best F1 at 5, 10, 20 and 40 nonzeros, above that of random features in {sum(outcomes)} "
        f"of {len(outcomes)}; minus the normal's: "
    )
    word = grade(all(outcomes), sum(outcomes) >= MOST * len(outcomes))
    return Verdict(word, text + "; ".join(says))


def _show_difference(row: dict[str, Any], prefix: str = "") -> str:
    """Return a difference with its sign, marked if it is not significant."""
    difference, p_value = row[f"{prefix}difference"], row[f"{prefix}p_value"]
    sign = "+" if difference is not None and difference > 0 else ""
    is_known = p_value is not None and p_value < LEVEL
    return f"{sign}{show(difference)}{'' if is_known else ' n.s.'}"


def _is_below(row: dict[str, Any], prefix: str = "") -> bool:
    """Return whether a difference is negative and shows."""
    difference, p_value = row[f"{prefix}difference"], row[f"{prefix}p_value"]
    return p_value is not None and difference < 0 and shows(difference, p_value=p_value)


def _split(table: pl.DataFrame, *keys: str) -> Iterator[tuple[Any, pl.DataFrame]]:
    """Yield the rows of each key, or of each combination of keys, in their order."""
    for key, rows in table.group_by(keys, maintain_order=True):
        yield (key[0] if len(keys) == 1 else key), rows


CLAIMS = (
    Claim(
        "1",
        "results on a large collection of Reuters documents show that SVM-based feature selection "
        "preserves the classification performance while significantly reducing the feature space "
        "and increasing the sparsity",
        judge_preserving,
    ),
    Claim(
        "1, 4",
        "the results themselves: curves of sparsity and of performance",
        "the text gives no number, table or figure; those of Brank et al. are not in it",
    ),
    Claim(
        "1",
        "this and other feature selection methods can be used to trade the amount of training "
        "data for sparsity in a limited memory",
        partial(
            judge_memory,
            vocabulary="own",
            rankings=("information_gain", "odds_ratio"),
        ),
    ),
    Claim(
        "2",
        "a simple procedure has proven quite effective: rank by the normal of a subset, drop "
        "weights near zero, retrain on all documents",
        judge_procedure,
    ),
    Claim(
        "2",
        "the method takes advantage of the memory that sparsity frees: in the same memory larger "
        "training sets (each class keeps its own words)",
        partial(judge_memory, vocabulary="own", rankings=("normal",)),
    ),
    Claim(
        "2",
        "the same with one vocabulary for all classes, as a collection is stored once",
        partial(judge_memory, vocabulary="shared", rankings=("normal",)),
    ),
    Claim(
        "3.1.1",
        "it is likely that most of the features are irrelevant",
        judge_most,
    ),
    Claim(
        "3.1.1",
        "a word appearing two or fewer times is most likely irrelevant",
        partial(judge_pruning, kept=(RARE_WORDS, SEEN_MORE), alone=(ONLY_RARE,)),
    ),
    Claim(
        "3.1.1",
        "the most frequent words are unlikely to be relevant",
        partial(
            judge_pruning,
            kept=(FREQUENT_WORDS, STOP_WORDS),
            alone=(ONLY_FREQUENT, ONLY_STOP_WORDS),
        ),
    ),
    Claim(
        "3.1.2",
        "random selection scored very high for precision and had a very low recall",
        judge_random,
    ),
    Claim("3.1.2", "random selection appears to be a good baseline", judge_baseline),
    Claim(
        "3.1.3",
        "features of small weight do not have a large influence on the predictions",
        partial(judge_small_weights, method="mask"),
    ),
    Claim(
        "3.1.3",
        "so they can be dispensed with in the training phase as well",
        partial(judge_small_weights, method="exact"),
    ),
    Claim(
        "3.1.3",
        "retaining the highest weights has a theoretical justification",
        "a derivation of others, not a result",
    ),
    Claim(
        "3.1.3",
        "the linear SVM outperforms most other classification methods on text",
        judge_classifiers,
    ),
    Claim("4", "fewer features make vectors sparser", judge_increase),
    Claim(
        "4",
        "for a fixed percentage of features, scoring methods yield significantly different levels "
        "of sparsity",
        judge_differing,
    ),
    Claim(
        "4",
        "normals are less reluctant than information gain to score less common features high",
        partial(judge_findings, findings=("normals take rarer features than information gain",)),
    ),
    Claim(
        "4",
        "normals are not nearly as favourable to rare features as the odds ratio",
        partial(judge_findings, findings=("normals take more common features than odds ratio",)),
    ),
    Claim(
        "4",
        "normals trained on larger subsets are more favourable to rare features",
        partial(
            judge_findings,
            findings=(
                "normals from all take rarer features than from 1/16",
                "so does each doubling of the documents",
            ),
        ),
    ),
    Claim(
        "4",
        "partly because some rare features are absent from the smaller subsets",
        judge_absent,
    ),
    Claim(
        "4",
        "partly because some are present there but too rare to be ranked highly",
        judge_low,
    ),
    Claim(
        "5",
        "sparsity is a more appropriate characteristic than the number of features when selection "
        "procedures vary",
        judge_characteristic,
    ),
    *(
        Claim(
            "5",
            f"{name} could be similarly used to weight and select features (left as future work)",
            partial(judge_learner, by=by),
        )
        for by, name in LEARNERS.items()
    ),
)
