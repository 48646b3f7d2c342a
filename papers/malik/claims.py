"""What the paper says about results, and what became of it.

A judge says whether a claim holds in each of many cases (collections, groups of classes, measures,
cuts): reproduced where it does in all, not reproduced where it does in none, else in part. "All"
is all classes, "large" those of 200 training documents and more; "n.s." is not significant at the
5% level, by paired t-tests over classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import polars as pl

from spokeshave.papers.malik.classes import LEVEL, MEASURES
from spokeshave.papers.malik.learners import SVM
from spokeshave.papers.malik.pruning import (
    ONLY_FREQUENT,
    ONLY_RARE,
    ONLY_STOP_WORDS,
    SEEN_MORE,
    STOP_WORDS,
)
from spokeshave.papers.malik.sparsity import CRITERIA, RARE
from spokeshave.reproduction import (
    IN_PART,
    NOT_REPRODUCED,
    NOT_TRIED,
    REPRODUCED,
    Claim,
    Tables,
    Verdict,
)

ABOUT_HALF = 0.55  # of the nonzeros: 40 of 78
HALF = 0.5
MOST = 0.5
FEW_CHANGES = 0.05
SOME = 0.01
SEVERAL_TIMES = 2
SHOWN = 100  # features whose nonzeros are shown
BELOW_ALL = 40  # the largest sparsity that leaves something out
OF_THE_TOP = f"of those in {RARE} documents or fewer among the top 1,000, and of the others"
GROUPS = ("all", "large")
LABELS = {"best_f1": "best F1", "f1": "F1", "auc": "AUC"}
RARE_WORDS, FREQUENT_WORDS = "in 3 documents or more", "in 50% at most"
LEARNERS = {
    "perceptron": "the perceptron",
    "winnow": "Winnow",
    "bayes_point": "the Bayes point machine",
    "least_squares": "LLSF",
    "widrow_hoff": "Widrow-Hoff",
    "exponentiated_gradient": "exponentiated gradient",
    "naive_bayes": "naive Bayes",
}


def weigh(outcomes: Iterable[bool]) -> str:
    """Return the word for a claim that holds in some cases.

    Examples
    --------
    >>> weigh([True, False])
    'in part'
    """
    found = list(outcomes)
    if not any(found):
        return NOT_REPRODUCED
    return REPRODUCED if all(found) else IN_PART


def show(value: float | None) -> str:
    """Return a number of three digits, without its leading zero.

    Examples
    --------
    >>> show(0.5), show(-0.0123), show(None)
    ('.500', '-.012', 'unknown')
    """
    return "unknown" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def judge_preserving(tables: Tables) -> Verdict:
    """At about half the nonzeros or fewer, and above, the normal is not below all features."""
    outcomes, says = [], []
    for collection, rows in _split(tables["enough"], "collection"):
        for group, of in _split(rows, "classes"):
            places = []
            for row in of.iter_rows(named=True):
                share = row["share_of_nonzeros"]
                outcomes.append(share is not None and share <= ABOUT_HALF)
                places.append(
                    f"{LABELS[row['measure']]} nowhere"
                    if share is None
                    else f"{LABELS[row['measure']]} from {row['sparsity']:g} nonzeros "
                    f"({row['share_of_features']:.0%} of the features)"
                )
            says.append(f"{collection}, {group}: {', '.join(places)}")
    return Verdict(weigh(outcomes), "not below all features: " + "; ".join(says))


def judge_procedure(tables: Tables) -> Verdict:
    """Ranked on a part and retrained on all, the normal is not below that of all documents."""
    table = tables["quality"].filter(
        pl.col("ranking").str.starts_with("normal 1/"),
        pl.col("measure") == "best_f1",
        pl.col("cut").is_between(10, BELOW_ALL),
    )
    outcomes, says = [], []
    for (collection, group, ranking), of in _split(table, "collection", "classes", "ranking"):
        rows = list(of.iter_rows(named=True))
        outcomes += [not _is_below(row) for row in rows]
        losses = ", ".join(_show_difference(row) for row in rows)
        says.append(f"{collection}, {group}, {ranking}: {losses}")
    text = "best F1 at 10, 20 and 40 nonzeros less that of the normal from all documents: "
    return Verdict(weigh(outcomes), text + "; ".join(says))


def judge_small_weights(tables: Tables, method: str) -> Verdict:
    """Without the lower half of the weights, quality is not below that of all, or not changed."""
    table = tables["dropped"].filter(pl.col("method") == method, pl.col("ranking") == "normal")
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        half = of.filter(pl.col("fraction") == HALF).row(0, named=True)
        whole = of.filter(pl.col("fraction") == 1).row(0, named=True)
        outcomes += [half[f"{name}_p_value"] >= LEVEL for name in ("best_f1", "auc")]
        text = (
            f"{collection}, {group}: with half the features and "
            f"{half['nonzeros'] / whole['nonzeros']:.0%} of the nonzeros best F1 "
            f"{show(half['best_f1'])} of {show(whole['best_f1'])}, "
            f"AUC {show(half['auc'])} of {show(whole['auc'])}"
        )
        if half["changed"] is not None:
            outcomes.append(half["changed"] < FEW_CHANGES)
            text += f", {half['changed']:.1%} of decisions changed"
        says.append(text)
    return Verdict(weigh(outcomes), "; ".join(says))


def judge_most(tables: Tables) -> Verdict:
    """Retrained on fewer than half of the features, quality is not below that of all."""
    table = tables["dropped"].filter(pl.col("method") == "exact", pl.col("ranking") == "normal")
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        places = []
        for measure in ("best_f1", "auc"):
            below = of.filter(pl.col(f"{measure}_p_value") < LEVEL)["fraction"].to_list()
            enough = min(f for f in of["fraction"].to_list() if f > max(below, default=0))
            outcomes.append(enough < MOST)
            places.append(f"{LABELS[measure]} from {enough:.0%} of them on")
        says.append(f"{collection}, {group}: {', '.join(places)}")
    return Verdict(weigh(outcomes), "not below all features, " + "; ".join(says))


def judge_increase(tables: Tables) -> Verdict:
    """The nonzeros fall with the features."""
    outcomes, says = [], []
    whole = dict(tables["collections"].select("collection", "features").iter_rows())
    for collection, of in _split(tables["sparsity_grid"], "collection"):
        for _, line in _split(of, "ranking"):
            outcomes.append(bool((line.sort("cut")["nonzeros"].diff().drop_nulls() >= 0).all()))
        normal = of.filter(pl.col("ranking") == "normal").sort("cut")
        at = normal.filter(pl.col("cut") == 1000).row(0, named=True)
        says.append(
            f"{collection}: by the normal {1000 / whole[collection]:.1%} of the features leave "
            f"{at['nonzeros'] / normal['nonzeros'][-1]:.0%} of the nonzeros"
        )
    return Verdict(weigh(outcomes), "; ".join(says) + "; far from in proportion")


def judge_differing(tables: Tables) -> Verdict:
    """At equal numbers of features most pairs of criteria differ, and some several times."""
    outcomes, says = [], []
    for row in tables["differing"].iter_rows(named=True):
        ratio = row["most_nonzeros"] / row["least_nonzeros"]
        outcomes.append(row["differ"] > MOST * row["pairs"] and ratio > SEVERAL_TIMES)
        if row["classes"] == "all" or not outcomes[-1]:
            says.append(
                f"{row['collection']}, {row['classes']}, {row['cut']:,} features: "
                f"{row['least_nonzeros']:.3g} ({row['least']}) to {row['most_nonzeros']:.3g} "
                f"({row['most']}) nonzeros, {row['differ']} of {row['pairs']} pairs differ"
            )
    return Verdict(weigh(outcomes), "; ".join(says))


def judge_findings(tables: Tables, findings: tuple[str, ...]) -> Verdict:
    """A finding holds at 10, 100 and 1,000 features, over all classes and over large ones."""
    table = tables["findings"].filter(
        pl.col("finding").is_in(findings), pl.col("classes").is_in(GROUPS)
    )
    outcomes, says = [], []
    for (rankings, collection), rows in _split(table, "rankings", "collection"):
        places = []
        for group, of in _split(rows, "classes"):
            outcomes += of["holds"].to_list()
            means = of.filter(pl.col("cut") == SHOWN)["nonzeros"]
            shown = f" ({', '.join(means[0].split())} at {SHOWN})" if means.len() else ""
            places.append(f"{group} classes: {_place(of)}{shown}")
        says.append(f"nonzeros {rankings}, {collection}, {', '.join(places)}")
    return Verdict(weigh(outcomes), "; ".join(says))


def _place(rows: pl.DataFrame) -> str:
    """Return where a finding holds."""
    places = [f"{cut:,}" for cut in rows.filter(pl.col("holds"))["cut"]]
    if len(places) == rows.height:
        return "holds"
    return f"holds at {' and '.join(places)} only" if places else "does not hold"


def judge_absent(tables: Tables) -> Verdict:
    """Of the normal's top features some are absent from the part, rare ones above all."""
    outcomes, says = [], []
    for (collection, part), of in _split(tables["fates"], "collection", "part"):
        row = of.filter(pl.col("fate") == "absent").row(0, named=True)
        outcomes.append(row["share_of_rare"] > max(SOME, row["share_of_others"]))
        says.append(
            f"{collection}, {part}: {row['share_of_rare']:.0%} and {row['share_of_others']:.0%}, "
            f"{row['share']:.0%} in all"
        )
    return Verdict(weigh(outcomes), f"absent, {OF_THE_TOP}: " + "; ".join(says))


def judge_low(tables: Tables) -> Verdict:
    """Of the normal's top features that are present, the part ranks more of the rare ones low."""
    outcomes, says = [], []
    for (collection, part), of in _split(tables["fates"], "collection", "part"):
        fates = {row["fate"]: row for row in of.iter_rows(named=True)}
        rare, others = (
            (fates["low"][share] + fates["weightless"][share]) / (1 - fates["absent"][share])
            for share in ("share_of_rare", "share_of_others")
        )
        outcomes.append(rare > max(SOME, others))
        says.append(f"{collection}, {part}: {rare:.0%} and {others:.0%}")
    text = f"present and below the top 1,000 of the part, {OF_THE_TOP}: "
    return Verdict(weigh(outcomes), text + "; ".join(says))


def judge_memory(tables: Tables, vocabulary: str, rankings: tuple[str, ...]) -> Verdict:
    """In the same memory, some number of documents above the least does significantly better.

    At Bonferroni's level, for the numbers that are tried.
    """
    table = tables["memory"].filter(
        pl.col("vocabulary") == vocabulary, pl.col("ranking").is_in(rankings)
    )
    outcomes, says = [], []
    for (collection, ranking), rows in _split(table, "collection", "ranking"):
        for group, by_group in _split(rows, "classes"):
            gains = []
            for share, of in _split(by_group, "share"):
                if of.height < 2:
                    continue
                for measure in MEASURES:
                    outcomes.append(_find_gain(of, measure) is not None)
                gains.append(f"{share}: {_describe_best(of)}")
            says.append(f"{collection}, {group}, {ranking}: {', '.join(gains)}")
    text = f"{sum(outcomes)} of {len(outcomes)} cases gain; best F1, by share of the memory: "
    return Verdict(weigh(outcomes), text + "; ".join(says))


def _find_gain(pairs: pl.DataFrame, measure: str) -> dict[str, Any] | None:
    """Return the best pair that is significantly above the first one."""
    gains = pairs.filter(
        pl.col(f"{measure}_difference") > 0,
        pl.col(f"{measure}_p_value") < LEVEL / (pairs.height - 1),
    ).sort(measure)
    return gains.row(-1, named=True) if gains.height else None


def _describe_best(pairs: pl.DataFrame) -> str:
    first = pairs.filter(pl.col("pair") == 0).row(0, named=True)
    best = pairs.sort("best_f1").row(-1, named=True)
    start = f"{show(first['best_f1'])} of {first['n_documents']:,.0f} documents"
    if best["pair"] == 0:
        return f"{start} is the best"
    mark = "" if _find_gain(pairs, "best_f1") else " n.s."
    return f"{start}, {show(best['best_f1'])} of {best['n_documents']:,.0f}{mark}"


def judge_characteristic(tables: Tables) -> Verdict:
    """Quality is told better from nonzeros than from features, whatever the criterion."""
    outcomes, says = [], []
    keys = ("collection", "classes", "measure")
    for (collection, group, measure), of in _split(tables["collapse"], *keys):
        told = dict(of.select("along", "explained").iter_rows())
        outcomes.append(told["nonzeros"] > told["features"])
        says.append(
            f"{collection}, {group}, {LABELS[measure]}: "
            f"{told['nonzeros']:.0%} and {told['features']:.0%}"
        )
    text = "variance that a rising curve explains along nonzeros and along features: "
    return Verdict(weigh(outcomes), text + "; ".join(says))


def judge_pruning(tables: Tables, kept: tuple[str, ...], also: tuple[str, ...]) -> Verdict:
    """Without those words quality is not below that of every word."""
    outcomes, says = [], []
    for (collection, group), of in _split(tables["pruning"], "collection", "classes"):
        for row in of.filter(pl.col("kept").is_in(kept + also)).iter_rows(named=True):
            if row["kept"] in kept:
                outcomes += [not _is_below(row, f"{name}_") for name in ("best_f1", "auc")]
            says.append(
                f"{collection}, {group}, {row['kept']} ({row['words']:,} words): best F1 "
                f"{show(row['best_f1'])} ({_show_difference(row, 'best_f1_')}), AUC "
                f"{show(row['auc'])} ({_show_difference(row, 'auc_')})"
            )
    return Verdict(weigh(outcomes), "; ".join(says))


def judge_random(tables: Tables) -> Verdict:
    """Random features have a precision above the normal's, and less than half its recall."""
    table = tables["recall"].filter(pl.col("sparsity") <= BELOW_ALL)
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        drawn, normal = (of.filter(pl.col("ranking") == name) for name in ("random", "normal"))
        for row, other in zip(
            drawn.iter_rows(named=True), normal.iter_rows(named=True), strict=True
        ):
            precision = row["micro_precision"]
            outcomes += [
                precision is not None and precision >= other["micro_precision"],
                row["macro_recall"] < other["macro_recall"] / 2,
            ]
            if row["sparsity"] in (5, 20):
                says.append(
                    f"{collection}, {group}, {row['sparsity']:g} nonzeros: precision "
                    f"{show(precision)} of all decisions together (normal "
                    f"{show(other['micro_precision'])}), mean recall {show(row['macro_recall'])} "
                    f"({show(other['macro_recall'])}), {row['n_finding']} of {row['n_classes']} "
                    f"classes find anything ({other['n_finding']})"
                )
    return Verdict(weigh(outcomes), "; ".join(says))


def judge_baseline(tables: Tables) -> Verdict:
    """Every criterion is above random features at every sparsity."""
    table = tables["quality"].filter(pl.col("measure") == "best_f1", pl.col("cut") <= BELOW_ALL)
    outcomes, says = [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        level = of.filter(pl.col("ranking") == "random").sort("cut")["macro"]
        names = [name for name in CRITERIA if name != "random" and name in set(of["ranking"])]
        lower = [
            name
            for name in names
            if not (of.filter(pl.col("ranking") == name).sort("cut")["macro"] > level).all()
        ]
        outcomes += [name not in lower for name in names]
        says.append(
            f"{collection}, {group}: {len(names) - len(lower)} of {len(names)} criteria are above "
            f"it at every sparsity" + (f", not {', '.join(lower)}" if lower else "")
        )
    return Verdict(weigh(outcomes), "best F1, " + "; ".join(says))


def judge_classifiers(tables: Tables) -> Verdict:
    """The SVM is significantly above most of the other classifiers."""
    outcomes, says = [], []
    for (collection, group), of in _split(tables["learners"], "collection", "classes"):
        others = of.filter(pl.col("classifier") != SVM)
        for measure in MEASURES:
            lower = [
                row["classifier"]
                for row in others.iter_rows(named=True)
                if _is_below(row, f"{measure}_")
            ]
            outcomes.append(len(lower) > MOST * others.height)
            says.append(
                f"{collection}, {group}, {LABELS[measure]}: above {len(lower)} of {others.height}"
                + (f" ({', '.join(lower)})" if lower else "")
            )
    return Verdict(weigh(outcomes), "; ".join(says))


def judge_learner(tables: Tables, by: str) -> Verdict:
    """The weights of another learner select features that are not below the normal's.

    Not reproduced where they are below random features at most sparsities.
    """
    table = tables["quality"].filter(
        pl.col("measure") == "best_f1", pl.col("cut").is_between(5, BELOW_ALL)
    )
    if by not in set(table["ranking"]):
        return Verdict(NOT_TRIED, "this run does not rank by it")
    outcomes, above, says = [], [], []
    for (collection, group), of in _split(table, "collection", "classes"):
        chosen, drawn = (
            of.filter(pl.col("ranking") == name).sort("cut") for name in (by, "random")
        )
        outcomes += [not _is_below(row) for row in chosen.iter_rows(named=True)]
        above += (chosen["macro"] > drawn["macro"]).to_list()
        cells = ", ".join(
            f"{show(row['macro'])} ({_show_difference(row)})"
            for row in chosen.iter_rows(named=True)
        )
        says.append(f"{collection}, {group}: {cells}")
    word = NOT_REPRODUCED if sum(above) < MOST * len(above) else _soften(weigh(outcomes))
    text = "best F1 at 5, 10, 20 and 40 nonzeros, and less the normal's: "
    return Verdict(word, text + "; ".join(says))


def _soften(word: str) -> str:
    """Return the word for features that are below the normal's and still better than any."""
    return IN_PART if word == NOT_REPRODUCED else word


def _show_difference(row: dict[str, Any], prefix: str = "") -> str:
    """Return a difference with its sign, marked where it may be chance."""
    difference, p_value = row[f"{prefix}difference"], row[f"{prefix}p_value"]
    sign = "+" if difference is not None and difference > 0 else ""
    is_known = p_value is not None and p_value < LEVEL
    return f"{sign}{show(difference)}{'' if is_known else ' n.s.'}"


def _is_below(row: dict[str, Any], prefix: str = "") -> bool:
    """Return whether a difference is significant and negative."""
    difference, p_value = row[f"{prefix}difference"], row[f"{prefix}p_value"]
    return p_value is not None and p_value < LEVEL and difference < 0


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
        partial(judge_pruning, kept=(RARE_WORDS, SEEN_MORE), also=(ONLY_RARE,)),
    ),
    Claim(
        "3.1.1",
        "the most frequent words are unlikely to be relevant",
        partial(
            judge_pruning,
            kept=(FREQUENT_WORDS, STOP_WORDS),
            also=("in 10% at most", ONLY_FREQUENT, ONLY_STOP_WORDS),
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
