"""Nonzeros per document against the number of features, by every ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from papers.limits import LEVEL
from papers.malik import common
from papers.results import to_json
from papers.study import Results, Setting, Task
from spokeshave import Ranking, rank_features, rank_subsets, sparsity_curve

CRITERIA = (
    *("normal", "information_gain", "chi2", "odds_ratio", "bns", "hellinger", "naive_bayes"),
    *("perceptron", "winnow", "widrow_hoff", "exponentiated_gradient", "bayes_point"),
    *("least_squares", "random"),
)
QUICK_CRITERIA = ("normal", "information_gain", "odds_ratio", "naive_bayes", "random")
SHARES = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
WHOLE = "normal 1"
PARTS = tuple(f"normal {part}" for part in ("1/2", "1/4", "1/8", "1/16"))
SLOW = {"bayes_point": 20, "least_squares": 15}
COUNTS = (10, 100, 1000, 10_000)
TOPS = COUNTS[:3]  # 10,000 features are nearly all
GRID = tuple(round(10 ** (k / 4)) for k in range(19))
NONZEROS = 20
TOP = 1000
RARE = 16  # documents: the smallest subset has at most one of them on average
FATES = ("kept", "low", "weightless", "absent", "new")
OF_NAIVE_BAYES, OF_ODDS_RATIO = 100, 10  # number of top features to examine

# The paper's findings, as rankings ordered from the rarest features to the commonest
FINDINGS = {
    "odds ratio prefers rare features": ("odds_ratio", "random"),
    "information gain prefers common features": ("random", "information_gain"),
    "normals take rarer features than information gain": ("normal", "information_gain"),
    "normals take more common features than odds ratio": ("odds_ratio", "normal"),
    "normals lie between the two": ("odds_ratio", "normal", "information_gain"),
    "normals from all take rarer features than from 1/16": (WHOLE, PARTS[-1]),
    "so does each doubling of the documents": (WHOLE, *PARTS),
}


def list_tasks(setting: Setting) -> Iterator[Task]:
    """Yield one task per ranking, and the tasks that examine top features."""
    yield from common.list_descriptions(setting)
    for where in common.list_collections(setting):
        size = 4 if where["collection"] == "RCV1" else 1
        for by in QUICK_CRITERIA if setting.is_quick else CRITERIA:
            name = f"count-{where['collection']}-{by}"
            yield Task(name, count, {**where, "by": by}, cost=size * SLOW.get(by, 1))
        yield Task(f"count-{where['collection']}-parts", count_parts, where, cost=3 * size)
        yield Task(f"look-{where['collection']}", look_closer, where, cost=size)


def count(data: Path, *, collection: str, largest: int | None, by: str) -> dict[str, Any]:
    """Return the nonzeros of the top features by a criterion."""
    split = common.load(data, collection, largest)
    ranking = rank_features(split.X, split.Y, by, random_state=common.SEED, n_jobs=1)
    return {
        "collection": collection,
        "documents": split.X.shape[0],
        "counted": {by: _count(split.X, ranking)},
    }


def count_parts(data: Path, *, collection: str, largest: int | None) -> dict[str, Any]:
    """Return the nonzeros of normals of subsets, and the fates of the normal's top features."""
    split = common.load(data, collection, largest)
    options: dict[str, Any] = {"random_state": common.SEED, "n_jobs": 1}
    rankings = rank_subsets(split.X, split.Y, SHARES, **options)
    # Random scores are nonzero for features that occur, so they show the features of a subset.
    present = rank_subsets(split.X, split.Y, SHARES, by="random", **options)
    frequency = np.bincount(split.X.indices, minlength=split.X.shape[1])
    return {
        "collection": collection,
        "documents": split.X.shape[0],
        "counted": {name: _count(split.X, ranking) for name, ranking in rankings.items()},
        "fates": {
            name: _follow_top(
                rankings[WHOLE],
                rankings[name],
                present[name.replace("normal", "random")].scores.max(axis=0) > 0,
                frequency,
            )
            for name in PARTS
        },
    }


def _count(X: sparse.csr_matrix, ranking: Ranking) -> dict[str, Any]:
    curve = sparsity_curve(X, ranking, cuts=GRID)
    return {
        "cuts": curve.cuts.tolist(),
        "n_features": curve.n_features[0].tolist(),
        "nonzeros": to_json(curve.nonzeros[0], common.DIGITS),
        "features_within": curve.count_features(NONZEROS)[0].tolist(),
    }


def _follow_top(
    whole: Ranking, part: Ranking, is_present: NDArray[np.bool_], frequency: NDArray[np.intp]
) -> dict[str, Any]:
    """Return how many of each class's top features a subset keeps, and why it loses the others.

    For each fate: the number of features, the sum of their document frequencies, and the number of
    rare ones. Features that replace lost ones are "new".
    """
    is_rare = frequency <= RARE
    found: dict[str, list[list[int]]] = {fate: [] for fate in FATES}
    for k in range(len(whole.scores)):
        top, order = whole.list_ranked(k)[:TOP], part.list_ranked(k)
        of_part = order[:TOP]
        fates = (
            np.intersect1d(top, of_part),
            np.intersect1d(top, order[TOP:]),
            top[(part.scores[k, top] == 0) & is_present[top]],
            top[~is_present[top]],
            np.setdiff1d(of_part, top),
        )
        for fate, features in zip(FATES, fates, strict=True):
            sums = features.size, frequency[features].sum(), is_rare[features].sum()
            found[fate].append([int(value) for value in sums])
    return found


def look_closer(data: Path, *, collection: str, largest: int | None) -> dict[str, Any]:
    """Return the shares of top features against a class and of those in all its documents."""
    split = common.load(data, collection, largest)
    inside = sparse.csr_matrix(split.X != 0, dtype=float).T @ split.Y
    frequency = np.bincount(split.X.indices, minlength=split.X.shape[1])
    n_inside, n_documents = split.Y.sum(axis=0), split.X.shape[0]
    rates = inside / n_inside, (frequency[:, None] - inside) / (n_documents - n_inside)
    bayes, odds = (
        rank_features(split.X, split.Y, by, random_state=common.SEED, n_jobs=1)
        for by in ("naive_bayes", "odds_ratio")
    )
    against, shared = [], []
    for k, size in enumerate(n_inside):
        top = bayes.list_ranked(k)[:OF_NAIVE_BAYES]
        against.append(np.mean(rates[0][top, k] < rates[1][top, k]))
        if size in (2, 3):
            shared.append(np.mean(rates[0][odds.list_ranked(k)[:OF_ODDS_RATIO], k] == 1))
    return {
        "collection": collection,
        "shares": {
            f"more common outside the class, of the top {OF_NAIVE_BAYES} by naive_bayes": float(
                np.mean(against)
            ),
            f"in all of a class's 2 or 3 documents, of the top {OF_ODDS_RATIO} by odds_ratio": (
                float(np.mean(shared)) if shared else None
            ),
        },
    }


class Counted(NamedTuple):
    """Counts of all rankings of a collection, and the classes that all of them cover."""

    cuts: list[int]
    n_features: dict[str, NDArray[np.float64]]
    nonzeros: dict[str, NDArray[np.float64]]
    features_within: dict[str, NDArray[np.float64]]
    groups: dict[str, NDArray[np.bool_]]

    def at(self, cut: int) -> int:
        """Return the index of a cut."""
        return self.cuts.index(cut)

    def find_whole(self, names: Sequence[str], cut: int) -> NDArray[np.bool_]:
        """Return the classes for which each of these rankings has that many features."""
        c = self.at(cut)
        return np.asarray(
            np.logical_and.reduce([self.n_features[name][:, c] == cut for name in names])
        )


def gather(results: Results) -> dict[str, Counted]:
    """Return the counts of each collection."""
    found = {}
    for collection, about in common.read_descriptions(results).items():
        counted: dict[str, Any] = {}
        for result in results.values():
            if "counted" in result and result["collection"] == collection:
                counted |= result["counted"]
        arrays = {
            key: {name: common.to_array(each[key]) for name, each in counted.items()}
            for key in ("n_features", "nonzeros", "features_within")
        }
        ranked = np.all([each[:, 0] > 0 for each in arrays["n_features"].values()], axis=0)
        groups = {group: ranked & of for group, of in common.group_classes(about["sizes"]).items()}
        found[collection] = Counted(next(iter(counted.values()))["cuts"], **arrays, groups=groups)
    return found


def tabulate_sparsity(results: Results) -> dict[str, pl.DataFrame]:
    """Return the tables of this part."""
    counted = gather(results)
    return {
        "collections": common.tabulate(_list_collections(results, counted)),
        "sparsity": common.tabulate(_average(counted, COUNTS)),
        "sparsity_grid": common.tabulate(
            row for row in _average(counted, GRID) if row["classes"] == "all"
        ).drop("classes", "n_classes", "are_whole"),
        "features_at_20": common.tabulate(_list_features_within(counted)),
        "differing": common.tabulate(_count_differing(counted)),
        "findings": common.tabulate(_try_findings(counted)),
        "fates": common.tabulate(_list_fates(results, counted)),
        "closer": common.tabulate(
            {"collection": result["collection"], "features": says, "share": share}
            for result in results.values()
            for says, share in result.get("shares", {}).items()
        ),
    }


def _list_collections(results: Results, counted: Mapping[str, Counted]) -> Iterator[dict[str, Any]]:
    for name, about in common.read_descriptions(results).items():
        sizes = np.array(about["sizes"])
        yield {
            **{key: value for key, value in about.items() if key != "sizes"},
            f"megabytes_at_{NONZEROS}": common.count_bytes(
                NONZEROS * about["documents"], about["documents"]
            )
            / 1e6,
            "classes": sizes.size,
            "large_classes": int(common.group_classes(sizes)["large"].sum()),
            "classes_ranked_by_all": int(counted[name].groups["all"].sum()),
            "large_ranked_by_all": int(counted[name].groups["large"].sum()),
        }


def _average(counted: Mapping[str, Counted], cuts: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield means over classes, and whether all of them have that many features."""
    for collection, of in counted.items():
        for group, classes in of.groups.items():
            if not classes.any():
                continue
            for ranking, nonzeros in of.nonzeros.items():
                for cut in cuts:
                    c = of.at(cut)
                    yield {
                        "collection": collection,
                        "classes": group,
                        "n_classes": int(classes.sum()),
                        "ranking": ranking,
                        "cut": cut,
                        "n_features": float(of.n_features[ranking][classes, c].mean()),
                        "nonzeros": float(nonzeros[classes, c].mean()),
                        "are_whole": bool(of.find_whole([ranking], cut)[classes].all()),
                    }


def _list_features_within(counted: Mapping[str, Counted]) -> Iterator[dict[str, Any]]:
    for collection, of in counted.items():
        for ranking, n_features in of.features_within.items():
            yield {
                "collection": collection,
                "ranking": ranking,
                "nonzeros": NONZEROS,
                "n_features": float(n_features[of.groups["all"]].mean()),
            }


def _count_differing(counted: Mapping[str, Counted]) -> Iterator[dict[str, Any]]:
    """Yield how many pairs of criteria differ in nonzeros at equal numbers of features."""
    for collection, of in counted.items():
        names = [name for name in CRITERIA if name in of.nonzeros]
        pairs = list(combinations(names, 2))
        for group in ("all", "large"):
            for cut in TOPS:
                classes = of.groups[group] & of.find_whole(names, cut)
                at = {name: of.nonzeros[name][classes, of.at(cut)] for name in names}
                p_values = [common.compare(at[a], at[b])[1] for a, b in pairs]
                if None in p_values:
                    continue
                means = {name: float(values.mean()) for name, values in at.items()}
                least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
                yield {
                    "collection": collection,
                    "classes": group,
                    "n_classes": int(classes.sum()),
                    "cut": cut,
                    "pairs": len(pairs),
                    # at Bonferroni's level
                    "differ": sum(p < LEVEL / len(pairs) for p in p_values if p is not None),
                    "least": least,
                    "most": most,
                    "least_nonzeros": means[least],
                    "most_nonzeros": means[most],
                }


def _try_findings(counted: Mapping[str, Counted]) -> Iterator[dict[str, Any]]:
    """Yield whether the top features of each ranking in a finding are rarer than those of the next.

    Rarer features leave fewer nonzeros at the same number. The tests are one-sided and paired over
    the classes with that many features in all rankings; the p-value is the largest.
    """
    for says, names in FINDINGS.items():
        for collection, of in counted.items():
            for group, ranked in of.groups.items():
                for cut in TOPS:
                    classes = ranked & of.find_whole(names, cut)
                    at = [of.nonzeros[name][classes, of.at(cut)] for name in names]
                    p_values = [common.compare(a, b, "less")[1] for a, b in pairwise(at)]
                    if None in p_values:
                        continue
                    p_value = max(p for p in p_values if p is not None)
                    yield {
                        "finding": says,
                        "collection": collection,
                        "classes": group,
                        "n_classes": int(classes.sum()),
                        "cut": cut,
                        "rankings": " < ".join(names),
                        "nonzeros": " ".join(f"{values.mean():.4g}" for values in at),
                        "p_value": p_value,
                        "holds": p_value < LEVEL,
                    }


def _list_fates(results: Results, counted: Mapping[str, Counted]) -> Iterator[dict[str, Any]]:
    """Yield the fates of the normal's top features, rare ones and others, as means over classes.

    "low" is below the top of the subset, "weightless" is present with weight zero.
    """
    for result in results.values():
        for part, fates in result.get("fates", {}).items():
            classes = counted[result["collection"]].groups["all"]
            sums = {fate: common.to_array(found)[classes] for fate, found in fates.items()}
            top = np.sum([sums[fate] for fate in FATES if fate != "new"], axis=0)
            for fate, found in sums.items():
                yield {
                    "collection": result["collection"],
                    "part": part,
                    "fate": fate,
                    "share": float((found[:, 0] / top[:, 0]).mean()),
                    "share_of_rare": float(found[:, 2].sum() / top[:, 2].sum()),
                    "share_of_others": float(
                        (found[:, 0] - found[:, 2]).sum() / (top[:, 0] - top[:, 2]).sum()
                    ),
                    "document_frequency": float(found[:, 1].sum() / max(found[:, 0].sum(), 1)),
                }
