"""The study of Malik and Tarique: its tasks on made-up documents, its judges on made-up tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from papers import datasets
from papers.datasets import Split
from papers.malik import (
    claims,
    common,
    drawing,
    learners,
    memory,
    pruning,
    quality,
    sparsity,
)
from papers.malik.study import PAPER
from papers.study import Setting
from papers.verdicts import IN_PART, NOT_REPRODUCED, REPRODUCED
from spokeshave import DualLinearSVC, rank_features

WHERE = {"collection": "RCV1", "largest": None}
ABOUT = {
    "collection": "RCV1",
    "documents": 1000,
    "test_documents": 500,
    "features": 2000,
    "nonzeros": 50.0,
    "megabytes": 0.4,
    "sizes": [500, 400, 300, 5, 4],
}


def make_split(rng: np.random.Generator) -> Split:
    """Return documents of 60 words, five of which tell something of each class."""
    Y = (rng.random((160, 3)) < [0.5, 0.4, 0.3]).astype(np.int64)
    dense = (rng.random((160, 60)) < np.geomspace(0.5, 0.03, 60)).astype(float)
    for k in range(3):
        is_told = rng.random((160, 5)) < 0.7
        dense[:, 10 * k : 10 * k + 5] = np.where(is_told, Y[:, [k]], dense[:, 10 * k : 10 * k + 5])
    X = normalize(sparse.csr_matrix(dense))
    return Split(X[:100], Y[:100], X[100:], Y[100:], ("ash", "oak", "yew"))


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rng: np.random.Generator) -> Path:
    """Return a folder whose RCV1 is made up."""
    split = make_split(rng)
    monkeypatch.setitem(datasets.COLLECTIONS, "RCV1", lambda data, weighting: split)
    monkeypatch.setattr(common, "LARGE", 40)
    pruning.load_words.cache_clear()
    return tmp_path


def run_part(name: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, pl.DataFrame]:
    """Return the tables of a part, with all tasks of RCV1."""
    monkeypatch.setattr(sparsity, "SHARES", (1.0, 0.5))
    monkeypatch.setattr(sparsity, "PARTS", ("normal 1/2",))
    part = next(part for part in PAPER.parts if part.name == name)
    tasks = [
        task
        for task in part.list_tasks(Setting(data, is_quick=False))
        if task.arguments["collection"] == "RCV1" and task.arguments.get("share", 1) >= 1 / 16
    ]
    return dict(part.tabulate({task.name: task.run(data, **task.arguments) for task in tasks}))


def test_follow_cuts_as_the_ranking_does(rng: np.random.Generator) -> None:
    split = make_split(rng)
    model = DualLinearSVC(random_state=0).fit(split.X, split.Y)
    ranking = rank_features(split.X, split.Y, "odds_ratio")
    found = rank_features(split.X, split.Y, estimator=common.follow(model, ranking))
    for k in range(3):
        assert (found.list_ranked(k) == ranking.list_ranked(k)).all()
    assert (model.coef_ != common.follow(model, ranking).coef_).any()


def test_sparsity(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparsity, "FINDINGS", {"rarer": ("odds_ratio", "information_gain")})
    monkeypatch.setattr(sparsity, "GRID", (1, 10, 100, 1000, 10_000))
    monkeypatch.setattr(sparsity, "TOPS", (10,))
    tables = run_part("sparsity", data, monkeypatch)
    about = tables["collections"].row(0, named=True)
    assert (about["documents"], about["features"], about["classes_ranked_by_all"]) == (100, 60, 3)
    table = tables["sparsity"].filter(pl.col("classes") == "all", pl.col("cut") == 10_000)
    assert set(table["ranking"]) == {*sparsity.CRITERIA, "normal 1", "normal 1/2"}
    whole = table.filter(pl.col("ranking") == "random").row(0, named=True)
    assert whole["n_features"] == 60
    assert whole["nonzeros"] == pytest.approx(about["nonzeros"], rel=1e-5)
    assert not whole["are_whole"]
    fates = tables["fates"].filter(pl.col("fate") != "new")
    assert fates["share"].sum() == pytest.approx(1, abs=1e-5)
    assert "all" in set(tables["findings"]["classes"])


def test_quality(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "CRITERIA", ("normal", "chi2", "random"))
    monkeypatch.setattr(quality, "SHARES", (1.0, 0.5))
    tables = run_part("quality", data, monkeypatch)
    table = tables["quality"].filter(pl.col("measure") == "auc", pl.col("classes") == "all")
    rankings = {"normal", "normal 1/2", "chi2", "random", "naive_bayes unscaled", quality.ALL}
    assert set(table["ranking"]) == rankings
    assert table.filter(pl.col("ranking") == "normal")["p_value"].null_count() == 6
    everything = table.filter(pl.col("cut") == 80, pl.col("ranking") == "chi2")["macro"][0]
    of_all = table.filter(pl.col("ranking") == quality.ALL)["macro"][0]
    assert everything == pytest.approx(of_all, abs=0.02)
    changed = tables["dropped"].filter(pl.col("fraction") == 1)["changed"].drop_nulls()
    assert changed.to_list() == [0, 0]
    assert set(drawing.draw_quality(tables)) >= {"quality", "collapse"}


def test_memory(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SHARES", (1 / 4,))
    monkeypatch.setattr(memory, "SEEDS", (0, 1))
    tables = run_part("memory", data, monkeypatch)
    table = tables["memory"].filter(pl.col("classes") == "all")
    assert table["n_documents"].max() == 100
    assert table.group_by("vocabulary", "ranking").len().height == 4
    assert tables["memory_runs"]["matrix_bytes"].max() <= tables["memory_runs"]["memory"][0]  # type: ignore[operator]
    assert table.filter(pl.col("pair") == 0)["best_f1_p_value"].null_count() == 4


def test_pruning(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = run_part("pruning", data, monkeypatch)
    table = tables["pruning"].filter(pl.col("classes") == "all")
    words = dict(table.select("kept", "words").iter_rows())
    assert words[pruning.EVERYTHING] == 60
    assert words["in 50% at most"] < 60
    assert words["in 3 documents or more"] + words[pruning.ONLY_RARE] == 60
    assert "pruning" in drawing.draw_pruning(tables)


def test_pruning_by_words_needs_text(data: Path) -> None:
    words = pruning.load_words(data, "RCV1")
    with pytest.raises(ValueError, match="needs the text"):
        pruning.choose(words, pruning.STOP_WORDS)


def test_learners(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "N_NEIGHBORS", 5)
    table = run_part("learners", data, monkeypatch)["learners"]
    of = table.filter(pl.col("classes") == "all")
    assert of["classifier"].to_list() == list(learners.COSTS)
    assert (of["auc"] > 0.6).all()
    assert of["auc_p_value"].null_count() == 1


def count(frequency: float, n_features: int = 2000) -> dict[str, object]:
    """Return counts of five classes whose features are in so many documents of a thousand."""
    kept = np.minimum(sparsity.GRID, n_features)
    steps = 1 + np.arange(5)[:, None] / 100
    return {
        "cuts": list(sparsity.GRID),
        "n_features": np.tile(kept, (5, 1)).tolist(),
        "nonzeros": (steps * kept * frequency / 1000).tolist(),
        "features_within": [100] * 5,
    }


@pytest.mark.parametrize(("of_normal", "holds"), [(5, True), (20, False)])
def test_findings_have_a_direction(of_normal: float, holds: bool) -> None:
    counted = {"normal": of_normal, "information_gain": 10, "odds_ratio": 1, "random": 3}
    parts = {sparsity.WHOLE: 5.0} | {name: 6.0 + n for n, name in enumerate(sparsity.PARTS)}
    results = {
        "describe-RCV1": ABOUT,
        "count": {
            "collection": "RCV1",
            "counted": {name: count(value) for name, value in (counted | parts).items()},
        },
    }
    table = sparsity.tabulate_sparsity(results)["findings"]
    finding = "normals take rarer features than information gain"
    assert set(table.filter(pl.col("finding") == finding)["holds"]) == {holds}
    assert table.filter(pl.col("finding").str.starts_with("so does"))["holds"].all()
    judged = claims.judge_findings({"findings": table}, findings=(finding,))
    assert judged.word == (REPRODUCED if holds else NOT_REPRODUCED)


def test_findings_that_hold_in_places() -> None:
    rows = [
        {
            "finding": "one",
            "collection": "RCV1",
            "classes": group,
            "cut": cut,
            "rankings": "a < b",
            "nonzeros": "1 2",
            "holds": group == "large",
        }
        for group in ("all", "large")
        for cut in (10, 100)
    ]
    verdict = claims.judge_findings({"findings": pl.DataFrame(rows)}, findings=("one",))
    assert verdict.word == IN_PART
    assert "all classes: does not hold" in verdict.figures
    assert "large classes: holds" in verdict.figures


def test_enough_is_above_the_last_that_is_below() -> None:
    key = {"collection": "RCV1", "classes": "all", "measure": "auc", "difference": 0.0}
    rows = [
        {**key, "sparsity": s, "share_of_nonzeros": s / 80, "share_of_features": s / 100, **below}
        for s, below in zip(
            (5.0, 10.0, 20.0),
            ({"is_below": False}, {"is_below": True}, {"is_below": False}),
            strict=True,
        )
    ]
    (found,) = quality.find_enough(pl.DataFrame(rows))
    assert found["sparsity"] == 20
    (found,) = quality.find_enough(pl.DataFrame(rows[:2]))
    assert found["sparsity"] is None


def test_what_rises_is_explained(rng: np.random.Generator) -> None:
    places = np.arange(50.0)
    assert quality.explain(places, places**2) == pytest.approx(1)
    assert quality.explain(places, rng.permutation(50).astype(float)) < 0.7


def make_enough(sparsity: float | None) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "classes": "all", "measure": "auc", "sparsity": sparsity}
    return {"enough": pl.DataFrame([row])}


def make_dropped(p_value: float) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "classes": "all", "ranking": "normal", "method": "exact"}
    rows = [
        {
            **row,
            "fraction": fraction,
            "nonzeros": 50 * fraction,
            "changed": None,
            **dict.fromkeys(("best_f1_p_value", "auc_p_value"), p_value),
            **dict.fromkeys(("best_f1", "auc"), 0.4 + 0.1 * (fraction == 1)),
        }
        for fraction in (0.1, 0.5, 1.0)
    ]
    rows[-1] |= {"best_f1_p_value": 0.5, "auc_p_value": 0.5}
    return {"dropped": pl.DataFrame(rows)}


def make_memory(difference: float) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "share": "1/4", "vocabulary": "own", "ranking": "normal"}
    rows = [
        {
            **row,
            "classes": "all",
            "pair": pair,
            "n_documents": 100.0 * 2**pair,
            **dict.fromkeys(common.MEASURES, 0.5 + pair * difference),
            **{f"{name}_difference": pair * difference for name in common.MEASURES},
            **{f"{name}_p_value": 0.01 for name in common.MEASURES},
        }
        for pair in (0, 1)
    ]
    return {"memory": pl.DataFrame(rows)}


def make_collapse(along_nonzeros: float) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "classes": "all", "measure": "auc", "without": "random"}
    told = {"nonzeros": along_nonzeros, "features": 0.5}
    return {
        "collapse": pl.DataFrame(
            [{**row, "along": name, "explained": share} for name, share in told.items()]
        )
    }


def make_pruning(difference: float) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "classes": "all", "kept": claims.RARE_WORDS, "words": 100}
    for name in ("best_f1", "auc"):
        row |= {name: 0.5, f"{name}_difference": difference, f"{name}_p_value": 0.001}
    return {"pruning": pl.DataFrame([row])}


def make_quality(difference: float, random: float = 0.1) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "classes": "all", "measure": "best_f1", "cut": 10.0}
    values = {
        "normal": None,
        "winnow": difference,
        "random": random - 0.5,
        "normal 1/2": difference,
    }
    return {
        "quality": pl.DataFrame(
            [
                {**row, "ranking": name, "macro": 0.5 + (d or 0), "difference": d, "p_value": 0.01}
                for name, d in values.items()
            ]
        )
    }


def make_recall(precision: float, recall: float) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "classes": "all", "sparsity": 5.0, "n_classes": 9, "n_finding": 9}
    values = {"normal": (0.8, 0.6), "random": (precision, recall)}
    return {
        "recall": pl.DataFrame(
            [
                {**row, "ranking": name, "micro_precision": p, "macro_recall": r}
                for name, (p, r) in values.items()
            ]
        )
    }


def make_fates(absent: float, low: float) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "part": "normal 1/2", "share": 0.1, "share_of_others": 0.1}
    shares = {"absent": absent, "low": low, "weightless": 0.0}
    return {
        "fates": pl.DataFrame(
            [{**row, "fate": fate, "share_of_rare": share} for fate, share in shares.items()]
        )
    }


def make_learners(difference: float) -> dict[str, pl.DataFrame]:
    row: dict[str, object] = {"collection": "RCV1", "classes": "all", "classifier": "naive Bayes"}
    for name in common.MEASURES:
        row |= {f"{name}_difference": difference, f"{name}_p_value": 0.01}
    return {"learners": pl.DataFrame([row])}


def make_differing(most: float) -> dict[str, pl.DataFrame]:
    row = {"collection": "RCV1", "classes": "all", "cut": 100, "pairs": 10, "differ": 9}
    names = {
        "least": "chi2",
        "most": "bns",
        "least_nonzeros": 1.0,
        "most_nonzeros": most,
        "n_classes": 9,
    }
    return {"differing": pl.DataFrame([row | names])}


@pytest.mark.parametrize(
    ("judge", "make", "good", "bad"),
    [
        (claims.judge_preserving, make_enough, (20.0,), (None,)),
        (claims.judge_preserving, make_enough, (20.0,), (80.0,)),
        (claims.judge_most, make_dropped, (0.5,), (0.01,)),
        (partial(claims.judge_small_weights, method="exact"), make_dropped, (0.5,), (0.01,)),
        (
            partial(claims.judge_memory, vocabulary="own", rankings=("normal",)),
            make_memory,
            (0.1,),
            (-0.1,),
        ),
        (claims.judge_characteristic, make_collapse, (0.9,), (0.1,)),
        (
            partial(claims.judge_pruning, kept=(claims.RARE_WORDS,), alone=()),
            make_pruning,
            (0.01,),
            (-0.01,),
        ),
        (claims.judge_procedure, make_quality, (0.01,), (-0.01,)),
        (partial(claims.judge_learner, by="winnow"), make_quality, (0.01,), (-0.01, 0.6)),
        (claims.judge_baseline, make_quality, (0.01,), (-0.01, 0.6)),
        (claims.judge_random, make_recall, (0.9, 0.1), (0.7, 0.5)),
        (claims.judge_absent, make_fates, (0.2, 0.1), (0.0, 0.1)),
        (claims.judge_low, make_fates, (0.2, 0.4), (0.2, 0.1)),
        (claims.judge_classifiers, make_learners, (-0.1,), (0.1,)),
        (claims.judge_differing, make_differing, (5.0,), (1.1,)),
    ],
    ids=str.split(
        "preserving-nowhere preserving-late most weights memory characteristic pruning procedure "
        "learner baseline random absent low classifiers differing"
    ),
)
def test_judges_in_both_directions(judge, make, good, bad) -> None:
    assert judge(make(*good)).word == REPRODUCED
    assert judge(make(*bad)).word == NOT_REPRODUCED


def test_learner_can_be_used_if_it_is_above_random_and_below_the_normal() -> None:
    found = claims.judge_learner(make_quality(-0.1), by="winnow")
    assert found.word == REPRODUCED
    assert "above that of random features in 1 of 1" in found.figures
    assert "RCV1, all: -.100" in found.figures
    assert claims.judge_learner(make_quality(-0.1), by="perceptron").figures.startswith("this run")


@pytest.mark.parametrize(("difference", "word"), [(-0.004, REPRODUCED), (-0.006, NOT_REPRODUCED)])
def test_loss_of_less_than_half_a_point_does_not_show(difference: float, word: str) -> None:
    judge = partial(claims.judge_pruning, kept=(claims.RARE_WORDS,), alone=())
    assert judge(make_pruning(difference)).word == word


def test_increase() -> None:
    rows = [
        {"collection": "RCV1", "ranking": "normal", "cut": cut, "nonzeros": nonzeros}
        for cut, nonzeros in ((10, 1.0), (1000, 30.0), (2000, 50.0))
    ]
    tables = {
        "sparsity_grid": pl.DataFrame(rows),
        "collections": pl.DataFrame([{"collection": "RCV1", "features": 2000}]),
    }
    assert claims.judge_increase(tables).word == REPRODUCED
    assert "60% of the nonzeros" in claims.judge_increase(tables).figures


def test_every_task_has_a_name_of_its_own(tmp_path: Path) -> None:
    for is_quick in (False, True):
        by_name: dict[str, object] = {}
        for part in PAPER.parts:
            for task in part.list_tasks(Setting(tmp_path, is_quick=is_quick)):
                assert by_name.setdefault(task.name, (task.run, task.arguments)) == (
                    task.run,
                    task.arguments,
                )
