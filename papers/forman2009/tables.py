"""Tables made from the results of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from papers.forman2009 import published
from spokeshave import paired_test

MEASURES = ("auc", "f1", "accuracy", "precision_at_20")
BASELINE, SCALING, SHAPING = "baseline", "scaling", "shaping"
METHODS = (BASELINE, SCALING, SHAPING)  # of the paper's learning curves
L1_NORM, LOG_ODDS, NO_SCALING = "L1 norm", "log odds", "no scaling"
NO_PLATT_CV = "Platt without cross-validation"
LESIONS = (L1_NORM, SCALING, LOG_ODDS, NO_SCALING, NO_PLATT_CV)  # in the order of Figure 7
TF_IDF, IDF_AND_BNS = "tf-idf", "idf and BNS"
CROSS_FITTED, POLICY = "cross-fitted shaping", "policy"
BEYOND = (TF_IDF, IDF_AND_BNS, CROSS_FITTED, POLICY)  # curves beyond the paper
BASELINE_NO_PLATT, SHAPING_NO_PLATT = "baseline, no Platt", "shaping, no Platt"
BASELINE_BY_AUC, SHAPING_BY_AUC = "baseline, C by AUC", "shaping, C by AUC"
BASELINE_PRICED, SHAPING_PRICED = "baseline, priced intercept", "shaping, priced intercept"
AS_DRAWN, NO_PLATT = "as in the curves", "no Platt"
BY_AUC, PRICED, CROSS_FIT = "C by AUC", "priced intercept", "cross-fitted"
EXPERIMENTS = {  # pairs of methods that explain the gain of shaping
    AS_DRAWN: (SHAPING, BASELINE),
    NO_PLATT: (SHAPING_NO_PLATT, BASELINE_NO_PLATT),
    BY_AUC: (SHAPING_BY_AUC, BASELINE_BY_AUC),
    PRICED: (SHAPING_PRICED, BASELINE_PRICED),
    CROSS_FIT: (CROSS_FITTED, BASELINE),
}
EXPERIMENT_MEASURES = ("auc", "f1", "accuracy")
NO_NORM, COUNTS, L2_NORM = "baseline, no norm", "counts, L2", "baseline, L2"
RAW = "baseline, raw"
L2_PRICED, LOG_ODDS_PRICED = "baseline, L2, priced intercept", "log odds, priced intercept"
BARE_SHAPING, ZERO_AS_VALUE = "shaping, no BNS no L2", "shaping, zero as a value"
NARROW, NARROW_ZERO = "shaping, 2 neighbours", "shaping, zero as a value, 2 neighbours"
WITH_RAW = "shaping beside raw columns"
ISOTONIC = "isotonic regression"
OTHER_SCALINGS = ("Hellinger scaling", "information gain scaling")
BASELINE_IN_FOUR, SHAPING_IN_FOUR = "baseline, 4-fold", "shaping, 4-fold"
OTHER_PAIRS = (  # further comparisons
    (L2_PRICED, BASELINE_PRICED),
    (LOG_ODDS_PRICED, SHAPING_PRICED),
    (NARROW_ZERO, NARROW),
    (SHAPING_IN_FOUR, BASELINE_IN_FOUR),
)

LEAST_C = 0.01  # the smallest C tried
NEIGHBORS = 30  # of a value, half of them below and half above
TINY = f"up to {NEIGHBORS // 2 + 1}"  # cases: a sample in which all cases are neighbours
WHOLE = 1.0  # the whole training part of a fold
N_FOLDS, FEW_FOLDS = 10, 4
TRAINING_SHARE = 1 - 1 / N_FOLDS  # of the data set, in ten folds
LEFTMOST, RIGHTMOST = 0.0, 100.0  # the training size nearest to it, in per cent of the data set

TASK = ("set", "task")
FACTS = ("cases", "classes", "smallest", "largest", "features")
CELL = {
    **dict.fromkeys(("benchmark", *TASK, "method"), pl.String),
    **dict.fromkeys(("size", *MEASURES, "C", "seconds"), pl.Float64),
}
TEST = {
    **dict.fromkeys(("measure", "method", "against"), pl.String),
    **dict.fromkeys(("size", "percent"), pl.Float64),
    **dict.fromkeys(("tasks", "wins", "losses"), pl.Int64),
    **dict.fromkeys(("value", "against_value", "difference", "relative"), pl.Float64),
    **dict.fromkeys(("p_value", "p_greater"), pl.Float64),
}


class Anchor(NamedTuple):
    """A number in the paper's text, and the paired test that has ours."""

    what: str
    relation: str  # "=", "over" or "about"
    published: float
    measure: str
    at: float  # per cent of the data set
    column: str = "relative"
    method: str = SHAPING
    against: str = BASELINE


ANCHORS = {
    "text": (
        Anchor("baseline AUC at 90%", "=", published.TEXT_AUC, "auc", RIGHTMOST, "against_value"),
        Anchor("relative gain in F, leftmost", "over", published.TEXT_F1_GAIN, "f1", LEFTMOST),
        Anchor("p of F at 50%", "=", published.TEXT_F1_P, "f1", published.HALF, "p_value"),
        Anchor(
            "p of accuracy, rightmost",
            "=",
            published.TEXT_ACCURACY_P,
            "accuracy",
            RIGHTMOST,
            "p_value",
        ),
        Anchor(
            "F without BNS and L2 less that of shaping",
            "about",
            -published.TEXT_F1_DROP,
            "f1",
            RIGHTMOST,
            "difference",
            BARE_SHAPING,
            SHAPING,
        ),
    ),
    "uci": (
        Anchor("p of P@20, leftmost", "=", published.UCI_P, "precision_at_20", LEFTMOST, "p_value"),
        Anchor("baseline F", "about", published.UCI_F1, "f1", RIGHTMOST, "against_value"),
        Anchor("F of shaping", "over", published.UCI_SHAPING_F1, "f1", RIGHTMOST, "value"),
        Anchor("relative gain in F", "=", published.UCI_F1_GAIN, "f1", RIGHTMOST),
    ),
}


def tabulate(results: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return all tables of the benchmarks in the results.

    For each benchmark: NAME, every task; NAME_curves, means over tasks; NAME_samples, the same by
    size of the training sample; NAME_tests, paired tests; NAME_variants, all methods with all
    training cases; NAME_tasks, the AUC of each task with all training cases; NAME_experiments, the
    gain of shaping in each experiment; NAME_anchors, the numbers in the paper's text.
    """
    tables: dict[str, pl.DataFrame] = {}
    for name, frame in gather(results).items():
        tests, means, tasks = compare(frame), average(frame), list_tasks(frame)
        tables |= {
            name: frame,
            f"{name}_curves": means,
            f"{name}_samples": average_samples(name, frame),
            f"{name}_tests": tests,
            f"{name}_variants": list_variants(means, tests),
            f"{name}_tasks": tasks,
            f"{name}_experiments": list_experiments(frame, tests),
            f"{name}_anchors": list_anchors(name, tests, tasks),
        }
    return tables


def tabulate_sets(results: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return Table 1 of our files next to the published one.

    Each result is a line: ``benchmark``, ``set``, ``cases``, ``classes``, ``smallest`` and
    ``largest`` class in per cent, ``features`` of the file, ``columns`` of the matrix,
    ``nonzeros`` and ``tasks``.
    """
    lines = [
        line
        | {f"published_{fact}": value for fact, value in zip(FACTS, _find_set(line), strict=True)}
        for line in results.values()
    ]
    return {"sets": pl.DataFrame(lines).with_columns(pl.col("smallest", "largest").round(1))}


def gather(results: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return the means over folds of every task, method and size, by benchmark.

    Folds of several results of a set and method are joined. A fold whose training set has no
    positive case has no value: it is left out and counted as unknown. ``below_half`` counts folds
    with an AUC below .5, as happens when a sigmoid of negative slope reverses the scores.
    """
    cells = pl.DataFrame(
        [cell for result in results.values() for cell in _list_cells(result)],
        schema=CELL,
        orient="row",
    )
    keys = ("benchmark", *TASK, "method", "size")
    means = cells.group_by(*keys).agg(
        pl.col(MEASURES).mean().round(5),
        pl.col("C").drop_nulls().mode().min(),  # the smallest of the most frequent
        pl.col("seconds").sum().round(2),
        folds=pl.len(),
        unknown=pl.col("auc").null_count(),
        below_half=(pl.col("auc") < 0.5).sum(),
    )
    by_benchmark = means.sort(*keys).partition_by("benchmark", as_dict=True, include_key=False)
    return {str(name): frame for (name,), frame in by_benchmark.items()}


def average(frame: pl.DataFrame) -> pl.DataFrame:
    """Return means over tasks for every method and size.

    A task counts at a size if all methods of the paper's curves have a value there. ``tasks`` is
    the number of these that the method was tried on; folds are counted as in `gather`.
    """
    is_known = pl.all_horizontal(pl.col(MEASURES).is_not_null())
    main = frame.filter(pl.col("method").is_in(METHODS))
    counted = main.group_by(*TASK, "size").agg(
        is_known.all().alias("is_known"), pl.col("method").n_unique().alias("tried")
    )
    tried = pl.col("tried").max().over("size")
    counted = counted.filter(pl.col("is_known") & (pl.col("tried") == tried))
    return (
        frame.filter(is_known)
        .join(counted, on=[*TASK, "size"], how="semi")
        .group_by("method", "size")
        .agg(
            pl.col(MEASURES).mean().round(5),
            pl.col("seconds").sum().round(1),
            pl.col("folds", "unknown", "below_half").sum(),
            tasks=pl.len(),
        )
        .with_columns(percent=_to_percent())
        .sort("method", "size")
    )


def average_samples(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return means over tasks by size of the training sample.

    In a sample of up to 16 cases all cases are neighbours, so shaped features are constant; in a
    sample of up to 31 cases they are constant in the middle.
    """
    cases = {key: known.cases for key, known in published.SETS[name].items()}
    sample = pl.col("set").replace_strict(cases) * TRAINING_SHARE * pl.col("size")
    reach = NEIGHBORS // 2
    groups = {
        TINY: sample < reach + 1.5,
        f"{reach + 2} to {NEIGHBORS + 1}": sample.is_between(
            reach + 1.5, NEIGHBORS + 1.5, closed="left"
        ),
        f"{NEIGHBORS + 2} and more": sample >= NEIGHBORS + 1.5,
    }
    return pl.concat(
        average(frame.filter(is_in)).select(pl.lit(label).alias("cases"), pl.all())
        for label, is_in in groups.items()
    )


def average_sets(name: str, frame: pl.DataFrame, measure: str) -> pl.DataFrame:
    """Return the baseline, shaping and its gain by data set and size, means over tasks.

    ``cases`` are the training cases. Here every set counts alike, however many tasks it has.
    """
    cases = {key: known.cases for key, known in published.SETS[name].items()}
    wide = frame.filter(pl.col("method").is_in((BASELINE, SHAPING))).pivot(
        on="method", index=(*TASK, "size"), values=measure
    )
    return (
        wide.drop_nulls()
        .group_by("set", "size")
        .agg(pl.col(BASELINE, SHAPING).mean(), tasks=pl.len())
        .with_columns(
            gain=pl.col(SHAPING) - pl.col(BASELINE),
            cases=(pl.col("set").replace_strict(cases) * TRAINING_SHARE * pl.col("size")).round(),
            percent=_to_percent(),
        )
        .sort("size", "cases", "set")
    )


def compare(frame: pl.DataFrame) -> pl.DataFrame:
    """Return paired tests over tasks of every method against the baseline and against shaping.

    Methods of `EXPERIMENTS` are also compared with their own baseline.
    ``value`` and ``against_value`` are means over the tasks on which both have a value,
    ``relative`` is their difference divided by the second, ``p_value`` is two-sided, and
    ``p_greater`` is one-sided: the method is above the other.
    """
    rows = []
    for at, measure in product(frame.sort("size").partition_by("size"), MEASURES):
        wide = at.pivot(on="method", index=TASK, values=measure, sort_columns=True)
        for method, against in _list_pairs(wide.drop(TASK).columns):
            pairs = wide.select(a=method, b=against).drop_nulls().to_numpy()
            if len(pairs):
                names = {"measure": measure, "method": method, "against": against}
                rows.append(names | {"size": at["size"][0]} | _test(*pairs.T))
    return pl.DataFrame(rows, schema=TEST).with_columns(
        pl.col("value", "against_value", "difference", "relative").round(5),
        pl.col("p_value", "p_greater").round_sig_figs(4),
        percent=_to_percent(),
    )


def _list_pairs(methods: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of methods to compare, of those that were run."""
    pairs = [(method, against) for against, method in product((BASELINE, SHAPING), methods)]
    pairs += [pair for pair in EXPERIMENTS.values() if pair not in pairs]
    pairs += OTHER_PAIRS
    return [pair for pair in pairs if pair[0] != pair[1] and set(pair) <= set(methods)]


def find_tests(
    tests: pl.DataFrame, measure: str, method: str = SHAPING, against: str = BASELINE
) -> list[dict[str, Any]]:
    """Return the paired tests of two methods, from the smallest training size to the largest."""
    names = {"measure": measure, "method": method, "against": against}
    return tests.filter(**names).sort("size").to_dicts()


def find_nearest(rows: list[dict[str, Any]], percent: float) -> dict[str, Any]:
    """Return the row whose training size is nearest to a percentage of the data set."""
    return min(rows, key=lambda row: abs(row["percent"] - percent))


def list_variants(means: pl.DataFrame, tests: pl.DataFrame) -> pl.DataFrame:
    """Return all methods with all training cases, by AUC, and their tests against shaping."""
    whole = means.filter(size=WHOLE).drop("size", "percent", "folds", "unknown", "below_half")
    for measure in MEASURES:
        found = tests.filter(size=WHOLE, against=SHAPING, measure=measure).select(
            "method",
            pl.col("difference").alias(f"{measure}_difference"),
            pl.col("p_value").alias(f"{measure}_p"),
        )
        whole = whole.join(found, on="method", how="left")
    return whole.sort("auc", "method")


def list_tasks(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the AUC of each task with all training cases, one column per method, hardest first."""
    whole = frame.filter(size=WHOLE)
    wide = whole.pivot(on="method", index=TASK, values="auc", sort_columns=True)
    return wide.sort(BASELINE, *TASK) if BASELINE in wide.columns else wide


def list_experiments(frame: pl.DataFrame, tests: pl.DataFrame) -> pl.DataFrame:
    """Return the gain of shaping over the baseline in each experiment, by size and measure.

    Only sizes of more than one experiment are listed.
    ``below_half`` and ``against_below_half`` are the shares of folds whose AUC is below .5, of
    shaping and of the baseline; ``least_C`` and ``against_least_C`` are the shares of tasks for
    which the smallest C is chosen most often.
    """
    known = pl.col("folds").sum() - pl.col("unknown").sum()
    shares = frame.group_by("method", "size").agg(
        below_half=(pl.col("below_half").sum() / known).round(5),
        least_C=(pl.col("C") == LEAST_C).mean().round(5),
    )
    pairs = pl.DataFrame(
        [(name, *pair) for name, pair in EXPERIMENTS.items()],
        schema=["experiment", "method", "against"],
        orient="row",
    ).with_row_index("order")
    return (
        pairs.join(tests, on=("method", "against"))
        .join(shares, on=("method", "size"))
        .join(
            shares.select(pl.all().name.prefix("against_")),
            left_on=("against", "size"),
            right_on=("against_method", "against_size"),
        )
        .filter(pl.col("experiment").n_unique().over("size") > 1)
        .sort("order", "measure", "size")
        .drop("order", "p_greater", "relative")
    )


def list_anchors(name: str, tests: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers in the paper's text on a benchmark next to ours."""
    head = ("what", "relation", "published", "ours")
    rows = [*_count_tasks(name, tasks), *_look_up(ANCHORS[name], tests)]
    return pl.DataFrame([dict(zip(head, row, strict=True)) for row in rows])


def _count_tasks(name: str, tasks: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    yield "tasks", "=", float(published.TASKS[name]), float(tasks.height)
    if name == "text" and BASELINE in tasks.columns:
        what = f"tasks of a baseline AUC over {published.HIGH_AUC}"
        ours = tasks.filter(pl.col(BASELINE) > published.HIGH_AUC).height
        yield what, "=", float(published.TEXT_HIGH_TASKS), float(ours)


def _look_up(anchors: tuple[Anchor, ...], tests: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the anchors whose methods were run."""
    for anchor in anchors:
        rows = find_tests(tests, anchor.measure, anchor.method, anchor.against)
        if rows:
            ours = find_nearest(rows, anchor.at)[anchor.column]
            yield anchor.what, anchor.relation, anchor.published, ours


def _find_set(line: Mapping[str, Any]) -> published.Set:
    return published.SETS[line["benchmark"]][line["set"]]


def _list_cells(result: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each class, fold and size."""
    numbers = [result[name] for name in (*MEASURES, "C", "seconds")]
    cells = list(product(range(len(result["folds"])), enumerate(result["sizes"])))
    for (k, task), (f, (s, size)) in product(enumerate(result["classes"]), cells):
        values = (number[k][f][s] for number in numbers)
        yield result["benchmark"], result["set"], task, result["method"], size, *values


def _test(a: NDArray[np.float64], b: NDArray[np.float64]) -> dict[str, Any]:
    """Return the means of two columns and the test of their difference; none for a single pair."""
    difference, other = float((a - b).mean()), float(b.mean())
    found = {
        "tasks": a.size,
        "wins": int((a > b).sum()),
        "losses": int((a < b).sum()),
        "value": float(a.mean()),
        "against_value": other,
        "difference": difference,
        "relative": difference / other if other else None,
    }
    if a.size > 1:
        found["p_value"] = paired_test(a, b).p_value
        found["p_greater"] = paired_test(a, b, alternative="greater").p_value
    return found


def _to_percent() -> pl.Expr:
    """Return a share of the training part as a percentage of the data set."""
    return (100 * TRAINING_SHARE * pl.col("size")).round(2)
