"""Synthetic learning curves in which the claims of Forman, Scholz and Rajaram hold or fail."""

from __future__ import annotations

import json
from functools import cache
from itertools import product

import numpy as np
import polars as pl

from papers.forman2009 import published
from papers.forman2009.tables import (
    BARE_SHAPING,
    BASELINE_BY_AUC,
    BASELINE_IN_FOUR,
    BASELINE_NO_PLATT,
    BASELINE_PRICED,
    COUNTS,
    CROSS_FITTED,
    IDF_AND_BNS,
    ISOTONIC,
    L1_NORM,
    L2_NORM,
    L2_PRICED,
    LOG_ODDS,
    LOG_ODDS_PRICED,
    MEASURES,
    METHODS,
    NARROW,
    NARROW_ZERO,
    NO_NORM,
    NO_PLATT_CV,
    NO_SCALING,
    OTHER_SCALINGS,
    POLICY,
    RAW,
    SCALING,
    SHAPING,
    SHAPING_BY_AUC,
    SHAPING_IN_FOUR,
    SHAPING_NO_PLATT,
    SHAPING_PRICED,
    TF_IDF,
    ZERO_AS_VALUE,
    tabulate,
    tabulate_sets,
)

SIZES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
SETS = {"text": ("oh0", "tr11"), "uci": ("glass", "wine")}
CLASSES = tuple("abcdefghij")
VARIANTS = {
    "text": (
        *(BARE_SHAPING, NO_NORM, COUNTS, ZERO_AS_VALUE, NARROW, NARROW_ZERO, ISOTONIC),
        *OTHER_SCALINGS,
    ),
    "uci": (
        *(L1_NORM, LOG_ODDS, NO_SCALING, NO_PLATT_CV, L2_NORM, RAW, L2_PRICED, LOG_ODDS_PRICED),
        *(ISOTONIC, *OTHER_SCALINGS),
    ),
}
EXPERIMENTS = (
    *(BASELINE_NO_PLATT, SHAPING_NO_PLATT, BASELINE_BY_AUC, SHAPING_BY_AUC),
    *(BASELINE_PRICED, SHAPING_PRICED),
)
CURVES = {
    "text": (*METHODS, TF_IDF, IDF_AND_BNS, CROSS_FITTED, *EXPERIMENTS),
    "uci": (*METHODS, CROSS_FITTED, POLICY, *EXPERIMENTS),
}
IN_FOUR = (BASELINE_IN_FOUR, SHAPING_IN_FOUR)
SIZE_IN_FOUR = 0.833333  # 75% of the data set
FEW = (0.05, 0.1, 0.2, 1.0)  # sizes of the methods that are not in the paper

# Gain of each method over the baseline at 4.5 and 90%, if the paper is right
TRUE_GAINS = {
    "text": {
        **{(SCALING, of): (0.02, 0.001) for of in MEASURES},
        **{(SHAPING, of): (0.05, 0.002) for of in MEASURES},
        **{(SHAPING_IN_FOUR, of): (0.02, 0.02) for of in MEASURES},
        (SCALING, "precision_at_20"): (0.001, 0.001),
        (SHAPING, "precision_at_20"): (0.002, 0.001),
        **{(TF_IDF, of): (0.02, 0.02) for of in MEASURES},
        **{(name, of): (0.08, 0.02) for name in (IDF_AND_BNS, CROSS_FITTED) for of in MEASURES},
        **{(BARE_SHAPING, of): (-0.1, -0.1) for of in MEASURES},
        **{(name, of): (-0.03, -0.03) for name in (NO_NORM, COUNTS) for of in MEASURES},
        **{(name, of): (-0.03, -0.03) for name in (ZERO_AS_VALUE, ISOTONIC) for of in MEASURES},
    },
    "uci": {
        **{(SCALING, of): (0.06, 0.06) for of in MEASURES},
        **{(SHAPING, of): (0.15, 0.12) for of in MEASURES},
        **{(SHAPING_IN_FOUR, of): (0.15, 0.15) for of in MEASURES},
        (SHAPING, "accuracy"): (-0.06, 0.0),
        (SCALING, "accuracy"): (0.0, 0.0),
        **{(CROSS_FITTED, of): (0.17, 0.14) for of in MEASURES},
        (CROSS_FITTED, "accuracy"): (-0.01, 0.0),
        **{(POLICY, of): (0.2, 0.2) for of in MEASURES},
        **{(L1_NORM, of): (0.03, 0.03) for of in MEASURES},
        **{(name, of): (0.08, 0.08) for name in (LOG_ODDS, LOG_ODDS_PRICED) for of in MEASURES},
        **{(NO_SCALING, of): (0.1, 0.1) for of in MEASURES},
        **{(NO_PLATT_CV, of): (0.119, 0.119) for of in MEASURES},
        (NO_PLATT_CV, "accuracy"): (0.005, 0.005),
        (NO_PLATT_CV, "f1"): (0.11, 0.11),
        **{(L2_NORM, of): (-0.05, -0.05) for of in MEASURES},
        **{(ISOTONIC, of): (-0.03, -0.03) for of in MEASURES},
        **{(L2_PRICED, of): (-0.04, -0.04) for of in MEASURES},
    },
}
for gains in TRUE_GAINS.values():  # independent of calibration and of the choice of C
    for method, of in product((SHAPING_NO_PLATT, SHAPING_BY_AUC, SHAPING_PRICED), MEASURES):
        gains[method, of] = gains[SHAPING, of]


def make_result(benchmark, name, method, sizes=SIZES, folds=range(3), gains=(0.0, 0.0), seed=0):
    """Return a result; ``gains`` are for the smallest and the largest size, by measure."""
    rng = np.random.default_rng(seed)
    task = np.random.default_rng(sum(map(ord, name))).uniform(0, 0.1, len(CLASSES))
    at = np.log(np.array(sizes) / 0.05) / np.log(20)  # from 0 to 1
    result = {
        "benchmark": benchmark,
        "set": name,
        "method": method,
        "classes": list(CLASSES),
        "sizes": list(sizes),
        "folds": list(folds),
        "C": np.ones((len(CLASSES), len(folds), len(sizes))).tolist(),
        "seconds": np.full((len(CLASSES), len(folds), len(sizes)), 0.5).tolist(),
    }
    for measure in MEASURES:
        left, right = gains[measure] if isinstance(gains, dict) else gains
        curve = 0.5 + 0.2 * at + left + (right - left) * at
        noise = rng.normal(0, 0.002, (len(CLASSES), len(folds), len(sizes)))
        result[measure] = (curve + task[:, None, None] + noise).tolist()
    return result


def make_results(world, sizes=SIZES, folds=range(3), benchmarks=("text", "uci")):
    """Return results in which methods have the gains of ``world`` over the baseline."""
    results = {}
    for benchmark in benchmarks:
        few = tuple(size for size in sizes if size in FEW)
        methods = [(name, sizes if name in METHODS else few) for name in CURVES[benchmark]]
        methods += [(name, (1.0,)) for name in VARIANTS[benchmark]]
        methods += [(name, (SIZE_IN_FOUR,)) for name in IN_FOUR]
        for (method, tried), name in product(methods, SETS[benchmark]):
            gains = {of: world[benchmark].get((method, of), (0.0, 0.0)) for of in MEASURES}
            seed = len(results)
            results[f"{name}-{method}"] = make_result(
                benchmark, name, method, tried, folds, gains, seed
            )
    return results


def make_lines():
    """Return Table 1 as computed from the published data sets."""
    return {
        name: {
            "benchmark": benchmark,
            "set": name,
            **known._asdict(),
            "columns": known.features,
            "nonzeros": known.cases * 60,
            "tasks": 1,
        }
        for benchmark, sets in published.SETS.items()
        for name, known in sets.items()
    }


def keep(tables):
    """Return tables as they are read back after a run."""
    return {
        name: pl.read_csv(table.write_csv().encode(), infer_schema_length=None)
        for name, table in tables.items()
    }


def flip(world):
    return {
        benchmark: {key: (-left, -right) for key, (left, right) in gains.items()}
        for benchmark, gains in world.items()
    }


@cache
def make_tables(is_right=True):
    """Return all tables, with every claim of the paper right or every claim wrong."""
    world = TRUE_GAINS if is_right else flip(TRUE_GAINS)
    return keep(tabulate(make_results(world)) | tabulate_sets(make_lines()))


@cache
def make_quick_tables():
    """Return the tables of a quick run: two sizes, two folds, one task per benchmark."""
    results = json.loads(json.dumps(make_results(TRUE_GAINS, (0.1, 1.0), range(2))))
    alone = {}
    for name, result in results.items():
        if result["set"] in ("oh0", "glass"):
            lists = {key: result[key][:1] for key in ("classes", *MEASURES, "C", "seconds")}
            alone[name] = result | lists
    return keep(tabulate(alone) | tabulate_sets({"oh0": make_lines()["oh0"]}))


def make_frame(values, size=1.0):
    """Return a frame of tasks from a list of values for each method."""
    rows = [
        {"set": "oh0", "task": str(k), "method": method, "size": size}
        | dict.fromkeys(MEASURES, value)
        | {"C": 1.0, "seconds": 1.0, "folds": 10, "unknown": 1, "below_half": 0}
        for method, column in values.items()
        for k, value in enumerate(column)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
