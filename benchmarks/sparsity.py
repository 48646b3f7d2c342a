"""Sparsity, the nonzeros of a document, against features and quality: RCV1 and Reuters-21578.

Binary rows of length one, every class against the rest. Prints, for each collection,

(a) the nonzeros per document at equal numbers of features, and the features at 20 nonzeros, by
    every criterion and by normals from parts of the training documents; means over the classes
    that all of them rank. Brackets: some classes have fewer features to keep.
(b) F1 and AUC on the test documents at equal sparsity, retrained on what is kept; a criterion is
    marked - where it is below the normal and + where above, by a two-sided paired t-test over
    classes at the 5% level.
(c) what becomes of the findings of Malik and Tarique, by one-sided paired t-tests of the nonzeros
    that equal numbers of features leave: over all classes, those of 200 training documents and
    more, and the others.

--json FILE   everything, with the p-values
--only NAME   one collection
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from contest import N_THREADS, find_data, indicate, load_rcv1_split
from rank import CRITERIA
from spokeshave import (
    DocumentVectorizer,
    DualLinearSVC,
    FeatureCurve,
    SparsityCurve,
    feature_curve,
    paired_test,
    rank_features,
    rank_subsets,
    sparsity_curve,
)
from spokeshave.corpus import read_reuters

COUNTS = (10, 100, 1000, 10_000)
TOPS = COUNTS[:3]  # 10,000 features are nearly all
SPARSITIES = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
NONZEROS = 20
PARTS = tuple(f"normal {part}" for part in ("1/2", "1/4", "1/8", "1/16"))
COMPARED = (
    *("normal", "information_gain", "odds_ratio", "bns"),
    *("chi2", "naive_bayes", "perceptron", "random"),
)
MEASURES = ("best_f1", "f1", "auc")
LEVEL = 0.05
LARGE = 200  # documents of a class that is not small
Matrix = sparse.csr_matrix


class Job(NamedTuple):
    """Training and test documents with indicators of their classes."""

    X: Matrix
    Y: np.ndarray
    X_test: Matrix
    Y_test: np.ndarray


def load_rcv1() -> Job:
    X, Y, X_test, Y_test = load_rcv1_split("binary")
    known = Y_test.any(axis=0)
    return Job(X, Y[:, known], X_test, Y_test[:, known])


def load_reuters() -> Job:
    """Return the ModApte split, with the topics that have a document in both parts."""
    split = read_reuters(find_data() / "reuters21578.tar.gz")
    vectorizer = DocumentVectorizer(n_jobs=N_THREADS)
    X, X_test = vectorizer.fit_transform(split.train.texts), vectorizer.transform(split.test.texts)
    topics = set.intersection(
        *({name for row in part.labels for name in row} for part in (split.train, split.test))
    )
    Y, Y_test = (indicate(part.labels, topics) for part in (split.train, split.test))
    return Job(X, Y, X_test, Y_test)


LOADERS = {"RCV1": load_rcv1, "Reuters-21578": load_reuters}


def count(job: Job) -> SparsityCurve:
    """Return the sparsity curves of every criterion and every part of the documents."""
    options = {"random_state": 0, "n_jobs": N_THREADS}
    rankings = {by: rank_features(job.X, job.Y, by, **options) for by in CRITERIA}
    parts = rank_subsets(job.X, job.Y, (1 / 2, 1 / 4, 1 / 8, 1 / 16), **options)
    return sparsity_curve(job.X, rankings | parts, cuts=COUNTS)


def trace(job: Job) -> dict[str, FeatureCurve]:
    """Return quality against sparsity by each criterion, and of all features."""
    model = DualLinearSVC(n_jobs=N_THREADS, random_state=0).fit(job.X, job.Y)
    options: dict[str, Any] = {
        "X_test": job.X_test,
        "y_test": job.Y_test,
        "estimator": model,
        "n_jobs": N_THREADS,
        "random_state": 0,
    }
    curves = {
        by: feature_curve(
            job.X, job.Y, by=by, method="exact", cuts=SPARSITIES, against="sparsity", **options
        )
        for by in COMPARED
    }
    return curves | {"all": feature_curve(job.X, job.Y, cuts=[1.0], **options)}


class Means(NamedTuple):
    """A row of table (a): means over classes, and whether all of them have as many features."""

    nonzeros: list[float]
    is_whole: list[bool]
    n_features: float


def average(curve: SparsityCurve) -> tuple[dict[str, Means], int]:
    """Return the rows of table (a) over the classes that all rankings rank, and their number."""
    known = (curve.n_features[:, :, 0] > 0).all(axis=0)
    features = curve.count_features(NONZEROS)
    rows = {}
    for r, name in enumerate(curve.rankings):
        is_whole = (curve.n_features[r, known] == curve.cuts).all(axis=0)
        nonzeros = curve.nonzeros[r, known].mean(axis=0)
        rows[name] = Means(nonzeros.tolist(), is_whole.tolist(), float(features[r, known].mean()))
    return rows, int(known.sum())


def compare(curves: dict[str, FeatureCurve]) -> Iterator[dict[str, Any]]:
    """Yield what each criterion scores at each sparsity, and how it differs from the normal."""
    for measure in MEASURES:
        normal = curves["normal"].per_class(measure)
        for name, curve in curves.items():
            values = np.broadcast_to(curve.per_class(measure), normal.shape)
            for c, sparsity in enumerate(SPARSITIES):
                test = paired_test(values[:, c], normal[:, c]) if name != "normal" else None
                yield {
                    "measure": measure,
                    "by": name,
                    "sparsity": sparsity,
                    "macro": float(np.nanmean(values[:, c])),
                    "difference": test and test.mean_difference,
                    "p_value": test and test.p_value,
                    "n_classes": int(np.isfinite(values[:, c]).sum()),
                }


class Finding(NamedTuple):
    """Whether a finding holds at each number of features, and the means that it compares."""

    says: str
    of: str
    at: list[int]
    p_values: list[float]
    means: list[list[float]]

    @property
    def verdict(self) -> str:
        places = [f"{n:,}" for n, p in zip(self.at, self.p_values, strict=True) if p < LEVEL]
        if len(places) == len(self.at):
            return "holds"
        return f"holds at {', '.join(places)} features only" if places else "does not hold"


# What the paper says, as rankings from that of the rarest features to that of the commonest
FINDINGS = {
    "odds ratio prefers rare features": ("odds_ratio", "random"),
    "information gain prefers common features": ("random", "information_gain"),
    "normals take rarer features than information gain": ("normal", "information_gain"),
    "normals take more common features than odds ratio": ("odds_ratio", "normal"),
    "normals lie between the two": ("odds_ratio", "normal", "information_gain"),
    "normals from all take rarer features than from 1/16": ("normal", PARTS[-1]),
    "so does each doubling of the documents": ("normal", *PARTS),
}


def judge(curve: SparsityCurve, sizes: np.ndarray) -> Iterator[Finding]:
    """Yield what becomes of the paper's findings on the order of features."""
    ranked = (curve.n_features[:, :, 0] > 0).all(axis=0)
    groups = {
        "all classes": ranked,
        f"{LARGE} documents and more": ranked & (sizes >= LARGE),
        f"fewer than {LARGE}": ranked & (sizes < LARGE),
    }
    for says, names in FINDINGS.items():
        for of, known in groups.items():
            at = [list(curve.rankings).index(name) for name in names]
            tested = [compare_frequency(curve, known, at, c) for c in range(len(TOPS))]
            yield Finding(says, f"{of} ({known.sum()})", list(TOPS), *zip(*tested, strict=True))


def compare_frequency(
    curve: SparsityCurve, known: np.ndarray, rankings: list[int], cut: int
) -> tuple[float, list[float]]:
    """Test whether top features are rarer by each of some rankings than by the next one.

    Rarer: the same number of them leaves fewer nonzeros. Returns the largest p-value of paired
    one-sided tests over classes, and the mean nonzeros by each ranking. Classes that do not have so
    many features in all of the rankings are left out.
    """
    whole = known & (curve.n_features[rankings, :, cut] == curve.cuts[cut]).all(axis=0)
    nonzeros = curve.nonzeros[rankings][:, whole, cut]
    tests = [paired_test(*pair, alternative="less") for pair in pairwise(nonzeros)]
    return max(test.p_value for test in tests), nonzeros.mean(axis=1).tolist()


def find_enough(curves: dict[str, FeatureCurve]) -> dict[str, Any]:
    """Return the smallest sparsity at which the normal is not below all features, by measure."""
    enough = {}
    for measure in MEASURES:
        normal = curves["normal"].per_class(measure)
        whole = curves["all"].per_class(measure)[:, 0]
        tests = [paired_test(column, whole, alternative="less") for column in normal.T]
        is_below = [test.p_value < LEVEL for test in tests]
        last = max((c for c, below in enumerate(is_below) if below), default=-1)
        enough[measure] = {
            "sparsity": SPARSITIES[last + 1] if last + 1 < len(SPARSITIES) else None,
            "p_values": [test.p_value for test in tests],
        }
    return enough


def count_unseen(curve: SparsityCurve, top: int = 1000) -> dict[str, float]:
    """Return the share of the normal's top features that normals from parts do not rank at all."""
    kept = [curve.rankings["normal"].list_ranked(k)[:top] for k in range(curve.classes.size)]
    known = (curve.n_features[:, :, 0] > 0).all(axis=0)
    return {
        name: float(
            np.mean(
                [
                    np.mean(curve.rankings[name].scores[k, kept[k]] == 0)
                    for k in np.flatnonzero(known)
                ]
            )
        )
        for name in PARTS
    }


def look_closer(job: Job, curve: SparsityCurve) -> dict[str, float]:
    """Return two shares that explain: of features against a class, and in all its documents."""
    inside = sparse.csr_matrix(job.X != 0, dtype=float).T @ job.Y
    n_inside, n_documents = job.Y.sum(axis=0), job.X.shape[0]
    rates = inside / n_inside, (curve.frequency[:, None] - inside) / (n_documents - n_inside)
    tops = {
        by: [curve.rankings[by].list_ranked(k)[:n] for k in range(curve.classes.size)]
        for by, n in (("naive_bayes", 100), ("odds_ratio", 10))
    }
    against = [
        np.mean(rates[0][top, k] < rates[1][top, k]) for k, top in enumerate(tops["naive_bayes"])
    ]
    few = np.flatnonzero((n_inside == 2) | (n_inside == 3))
    shared = [np.mean(rates[0][tops["odds_ratio"][k], k] == 1) for k in few]
    return {
        "against the class among the top 100 by naive_bayes": float(np.mean(against)),
        "in all of 2 or 3 documents of a class among its top 10 by odds_ratio": float(
            np.mean(shared)
        ),
    }


def show_counts(rows: dict[str, Means]) -> None:
    head = "".join(f"{n:>10,}" for n in COUNTS)
    print(f"{'(a) nonzeros at':24}{head}   features at {NONZEROS}")
    for name, row in rows.items():
        cells = (
            f"{value:.2f}" if is_whole else f"({value:.2f})"
            for value, is_whole in zip(row.nonzeros, row.is_whole, strict=True)
        )
        print(f"{name:24}" + "".join(f"{cell:>10}" for cell in cells) + f"{row.n_features:17,.0f}")


def show_quality(compared: list[dict[str, Any]]) -> None:
    cells: dict[tuple[str, str], list[str]] = {}
    for found in compared:
        mark = " "
        if found["p_value"] is not None and found["p_value"] < LEVEL:
            mark = "+" if found["difference"] > 0 else "-"
        cells.setdefault((found["measure"], found["by"]), []).append(f"{found['macro']:9.4f}{mark}")
    for measure in MEASURES:
        print(f"(b) {f'macro {measure} at':20}" + "".join(f"{s:>9g} " for s in SPARSITIES))
        for (of, name), row in cells.items():
            if of == measure:
                print(f"{name:24}" + "".join(row))


def show_findings(findings: list[Finding], enough: Any, unseen: Any, closer: Any) -> None:
    print("(c) findings")
    for finding in findings:
        print(f"{finding.says}, {finding.of}: {finding.verdict}")
        for n, p, means in zip(finding.at, finding.p_values, finding.means, strict=True):
            print(f"{n:10,}: {', '.join(f'{mean:.2f}' for mean in means)} (P={p:.1g})")
    for measure, found in enough.items():
        least = f"from {found['sparsity']:g} nonzeros on" if found["sparsity"] else "nowhere"
        print(f"normals are not significantly below all features in {measure}: {least}")
    shares = ", ".join(f"{name} {share:.0%}" for name, share in unseen.items())
    print(f"of the top 1,000 by the normal from all, not ranked at all by: {shares}")
    for says, share in closer.items():
        print(f"{says}: {share:.0%}")


def study(name: str) -> dict[str, Any]:
    """Run everything on one collection, print it and return it."""
    job = LOADERS[name]()
    per_document = job.X.nnz / job.X.shape[0]
    print(
        f"\n{name}: {job.X.shape[0]:,} training and {job.X_test.shape[0]:,} test documents, "
        f"{job.X.shape[1]:,} features, {per_document:.1f} nonzeros, {job.Y.shape[1]} classes"
    )
    start = perf_counter()
    curve = count(job)
    counted = perf_counter()
    rows, n_known = average(curve)
    print(f"{n_known} classes are ranked by all, {counted - start:.0f} s")
    show_counts(rows)
    curves = trace(job)
    traced = perf_counter()
    compared = list(compare(curves))
    show_quality(compared)
    print(f"{traced - counted:.0f} s")
    findings, enough = list(judge(curve, job.Y.sum(axis=0))), find_enough(curves)
    unseen, closer = count_unseen(curve), look_closer(job, curve)
    show_findings(findings, enough, unseen, closer)
    return {
        "nonzeros": per_document,
        "n_classes": n_known,
        "counts": {key: row._asdict() for key, row in rows.items()},
        "quality": compared,
        "findings": [finding._asdict() | {"verdict": finding.verdict} for finding in findings],
        "enough": enough,
        "unseen": unseen,
        "closer": closer,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write everything there")
    parser.add_argument("--only", choices=LOADERS, help="one collection")
    given = parser.parse_args()
    found = {name: study(name) for name in LOADERS if given.only in (None, name)}
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
