"""Tests of the study of Kolcz and Chowdhury (2007)."""

from __future__ import annotations

from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.preprocessing import normalize

from papers.datasets import Split, load_reuters, read_modapte
from papers.kolcz2007 import balance, masking, problems, tables
from papers.kolcz2007.blocks import FREE_TABLES, write_moved, write_table1
from papers.kolcz2007.claims import CLAIMS
from papers.kolcz2007.judges.accuracy import (
    judge_best_auc,
    judge_closeness,
    judge_gains,
    judge_significance,
)
from papers.kolcz2007.judges.models import judge_zero_weights
from papers.kolcz2007.published import TABLE1
from papers.kolcz2007.study import PAPER
from papers.kolcz2007.tasks import METHODS, load_collection, make_svc
from papers.reproduce import read_tables
from papers.study import Setting
from papers.verdicts import IN_PART, NOT_REPRODUCED, NOT_TRIED, REPRODUCED, Claim, judge_claims
from spokeshave import DocumentVectorizer, DualLinearSVC

RESULTS = Path(__file__).parents[2] / "papers" / "kolcz2007" / "results"
PRINTED = {  # Table 1, line by line
    "TREC-AP": "0.989499 0.989537/0.21 0.989525/0.23 0.920365 0.92107/0.36 0.919142/0.22",
    "RCV1": "0.974551 0.97452/0.117 0.97451/0.126 0.595599 0.594883/0.003 0.595328/0.086",
}
FRACTIONS = [0.01, 0.5, 0.99, 1.0]


@pytest.fixture
def directory(rng: np.random.Generator) -> problems.Directory:
    """Return made-up documents of four classes in two sets, 40 of each."""
    X = sparse.csr_matrix((rng.random((160, 60)) < 0.2).astype(float))
    return problems.Directory(X, np.repeat(["a/x", "a/y", "b/z", "b/w"], 40))


def test_samples_are_the_same_every_time(directory: problems.Directory) -> None:
    first, again = (problems.draw_samples(directory.labels, ("a/x", "b/z"), 15) for _ in range(2))
    assert np.array_equal(first.screening, again.screening)
    assert np.array_equal(first.study, again.study)


def test_samples_share_no_document_and_are_balanced(directory: problems.Directory) -> None:
    samples = problems.draw_samples(directory.labels, ("a/x", "b/z"), 15)
    assert np.unique(np.concatenate(samples)).size == 60
    for rows in samples:
        assert np.unique(directory.labels[rows], return_counts=True)[1].tolist() == [15, 15]


def test_problem_has_rows_of_length_one_and_no_word_of_one_document(
    directory: problems.Directory,
) -> None:
    rows = problems.draw_samples(directory.labels, ("a/x", "a/y"), 15).study
    X, y = problems.make_problem(directory, ("a/x", "a/y"), rows)
    assert X.getnnz(axis=0).min() >= 2
    lengths = sparse.linalg.norm(X, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1)
    assert y.tolist() == (directory.labels[rows] == "a/x").astype(int).tolist()


def test_noise_adds_words_of_other_classes_only(directory: problems.Directory) -> None:
    others = np.isin(directory.labels, ["b/z", "b/w"])
    marked = sparse.hstack([directory.X, others[:, None].astype(float)], format="csr")
    directory = directory._replace(X=marked)
    rows = problems.draw_samples(directory.labels, ("a/x", "a/y"), 15).study
    plain, noisy = (problems.make_problem(directory, ("a/x", "a/y"), rows, n).X for n in (0, 3))
    assert noisy.nnz > plain.nnz
    assert noisy[:, -1].getnnz() == rows.size  # each has a word that only the others have
    again = problems.make_problem(directory, ("a/x", "a/y"), rows, 3).X
    assert (noisy != again).nnz == 0


def test_candidates_are_pairs_half_from_within_a_set(directory: problems.Directory) -> None:
    found = problems.draw_candidates(directory.labels, 4)
    assert found == problems.draw_candidates(directory.labels, 4)
    assert len({frozenset(pair) for pair in found}) == 4
    assert [first[0] == second[0] for first, second in found] == [True, True, False, False]


def test_choice_is_spread_evenly() -> None:
    difficulty = np.random.default_rng(0).beta(8, 1, 500)
    chosen = problems.spread_evenly(difficulty.tolist(), 10, 0.6)
    assert len(set(chosen)) == 10
    np.testing.assert_allclose(
        difficulty[chosen], np.linspace(0.6, difficulty.max(), 10), atol=0.02
    )


def test_directory_holds_each_document_once(data_folder: Path) -> None:
    X, labels = problems.load_directory(data_folder)
    assert X.shape[0] == labels.size
    assert np.unique(labels).size == 108
    assert set(X.data.tolist()) == {1.0}
    assert X.getnnz(axis=1).min() > 0
    documents = {X.indices[a:b].tobytes() for a, b in zip(X.indptr, X.indptr[1:], strict=False)}
    assert len(documents) == X.shape[0]


def make_curve(rng: np.random.Generator, n_classes: int) -> dict[str, Any]:
    """Return what the task of a curve gives, with numbers that were drawn."""
    values = rng.uniform(0.5, 1, (2, n_classes, len(FRACTIONS)))
    return {
        "names": [f"c{k}" for k in range(n_classes)],
        "positives": rng.integers(1, 200, n_classes).tolist(),
        "pairs": rng.integers(100, 2000, n_classes).tolist(),
        "fractions": FRACTIONS,
        "auc": values[0].tolist(),
        "best_f1": values[1].tolist(),
        "micro_auc": values[0].mean(axis=0).tolist(),
        "micro_best_f1": values[1].mean(axis=0).tolist(),
    }


@pytest.fixture
def curves(rng: np.random.Generator) -> dict[str, Any]:
    """Return curves of every method for RCV1 and two of the 16 sets."""
    return {
        f"{name}-{method}": make_curve(rng, n)
        for name, n in (("RCV1", 12), ("forman-oh0", 3), ("forman-wap", 5))
        for method in METHODS
    }


def test_table1_has_the_best_of_each_class_and_tests(curves: dict[str, Any]) -> None:
    table = tables.tabulate_quality(curves)["table1"]
    row = table.filter(collection="RCV1", measure="auc", method="mask").row(0, named=True)
    mask, exact = (
        np.array(curves[f"RCV1-{m}"]["auc"])[:, :-1].max(axis=1) for m in ("mask", "exact")
    )
    assert row["average_best"] == pytest.approx(mask.mean(), abs=1e-6)
    assert row["micro_best"] == pytest.approx(
        np.average(mask, weights=curves["RCV1-exact"]["pairs"]), abs=1e-6
    )
    expected = stats.ttest_rel(mask, exact)
    assert row["p_two_sided"] == pytest.approx(expected.pvalue, rel=0.01)
    assert row["p_one_sided"] == pytest.approx(expected.pvalue / 2, rel=0.01)
    assert (row["published"], row["published_p"]) == (0.97452, 0.117)


def test_page_shows_the_published_figures_above_ours(curves: dict[str, Any]) -> None:
    lines = write_table1(tables.tabulate_quality(curves)).splitlines()
    place = [line.startswith("| RCV1, AUC, published |") for line in lines].index(True)
    assert ".97452 (.117)" in lines[place]
    assert lines[place + 1].startswith("| RCV1, AUC | 12 |")


def test_table1_keeps_all_features_apart(curves: dict[str, Any]) -> None:
    table = tables.tabulate_quality(curves)["table1"]
    row = table.filter(collection="RCV1", measure="best_f1", method="all").row(0, named=True)
    whole = np.array(curves["RCV1-mask"]["best_f1"])[:, -1]
    assert row["average_best"] == pytest.approx(whole.mean(), abs=1e-6)


def test_table1_pools_the_classes_of_the_sets(curves: dict[str, Any]) -> None:
    table = tables.tabulate_quality(curves)["table1"].filter(measure="auc", method="exact")
    found = dict(table.select("collection", "classes").iter_rows())
    assert found == {"RCV1": 12, tables.FORMAN_ALL: 8, "oh0": 3, "wap": 5}
    average = dict(table.select("collection", "average_best").iter_rows())
    assert average[tables.FORMAN_ALL] == pytest.approx(
        (3 * average["oh0"] + 5 * average["wap"]) / 8, abs=1e-6
    )


def test_best_cuts_count_every_class(curves: dict[str, Any]) -> None:
    table = tables.tabulate_quality(curves)["best_cuts"].filter(collection="RCV1", method="rfe")
    assert table.filter(measure="auc")["classes"].sum() == 12
    assert table["fraction"].max() == 0.99


def test_problems_are_summed_up_by_noise_and_difficulty(rng: np.random.Generator) -> None:
    names = ("all", *METHODS, "nested_exact", "nested_mask", "random_exact", "random_mask")
    results = {
        f"pairs-{noise}-{turn}": {
            "screened": rng.uniform(0.5, 1, 20).tolist(),
            "problems": [
                {
                    "first": "a/x",
                    "second": "b/y",
                    "screening_auc": float(rng.uniform(0.5, 1)),
                    "words": 100,
                    "best_fraction": 0.5,
                    **{name: float(rng.uniform(0.5, 1)) for name in names},
                }
                for _ in range(6)
            ],
        }
        for noise in (0, 10)
        for turn in (0, 1)
    }
    found = tables.tabulate_problems(results)
    assert found["pairs"].height == 24
    assert found["difficulty"].filter(noise=10)["problems"].sum() == 12
    assert found["difficulty"].filter(noise=10)["candidates"].sum() == 40
    row = found["figure2"].filter(noise=0, method="nested_exact").row(0, named=True)
    part = found["pairs"].filter(noise=0)
    gain = (part["nested_exact"] - part["all"]).mean()
    assert row["gain_over_all"] == pytest.approx(gain, abs=1e-6)


def make_table1(
    difference: float, p_value: float, names: tuple[str, ...] = ("RCV1",)
) -> dict[str, pl.DataFrame]:
    """Return Table 1 with the same difference from exact for every approximation."""
    rows = [
        {
            "collection": name,
            "measure": measure,
            "method": method,
            "average_best": 0.9,
            "difference": None if method == "exact" else difference,
            "p_one_sided": None if method == "exact" else p_value,
            "p_two_sided": None if method == "exact" else 2 * p_value,
        }
        for name in names
        for measure in ("auc", "best_f1")
        for method in ("exact", "mask", "sv_set")
    ]
    return {"table1": pl.DataFrame(rows)}


@pytest.mark.parametrize(
    ("difference", "p_value", "word"),
    [(-0.004, 1e-9, REPRODUCED), (0.05, 0.3, REPRODUCED), (0.05, 0.01, NOT_REPRODUCED)],
)
def test_differences_are_close_unless_they_show(
    difference: float, p_value: float, word: str
) -> None:
    assert judge_closeness(make_table1(difference, p_value), "RCV1").word == word


def test_the_16_sets_count_once() -> None:
    found = judge_gains(make_table1(0.01, 0.01, ("RCV1", tables.FORMAN_ALL, "oh0", "wap")))
    assert found.word == REPRODUCED
    assert "of 8 comparisons 8 significantly better" in found.figures


def make_peaks(loss: float, error: float) -> dict[str, pl.DataFrame]:
    """Return averages of exact that are best with half of the features."""
    rows = [
        {
            "collection": "RCV1",
            "method": "exact",
            "fraction": fraction,
            "macro_auc": 0.9 - fallen,
            "micro_auc": 0.9 - fallen,
            "auc_error_of_all": error,
        }
        for fraction, fallen in ((0.1, 0.05), (0.5, 0.0), (1.0, loss))
    ]
    return {"figure1": pl.DataFrame(rows)}


@pytest.mark.parametrize(
    ("loss", "error", "word"),
    [(0.0001, 0.00001, REPRODUCED), (0.02, 0.015, IN_PART), (0.02, 0.001, NOT_REPRODUCED)],
)
def test_all_features_are_best_unless_a_loss_shows(loss: float, error: float, word: str) -> None:
    assert judge_best_auc(make_peaks(loss, error)).word == word  # a micro-average has no error


def test_averages_have_standard_errors(curves: dict[str, Any]) -> None:
    of_rcv1 = {name: curve for name, curve in curves.items() if name.startswith("RCV1")}
    table = tables.tabulate_curves(of_rcv1)["figure1"]
    row = table.filter(collection="RCV1", method="mask", fraction=0.5).row(0, named=True)
    mask, exact = (np.array(curves[f"RCV1-{m}"]["auc"]) for m in ("mask", "exact"))
    expected = stats.sem(mask[:, 1] - exact[:, 1])
    assert row["auc_error"] == pytest.approx(expected, abs=1e-6)
    expected = stats.sem(mask[:, 1] - mask[:, -1])
    assert row["auc_error_of_all"] == pytest.approx(expected, abs=1e-6)


def test_significance_is_judged_by_what_the_paper_found() -> None:
    verdict = judge_significance(make_table1(-0.001, 0.2), "RCV1")
    assert verdict.word == IN_PART  # mask's F1 is significant in the paper
    assert verdict.figures.startswith("one-sided P: mask AUC 0.2")


def test_collection_that_was_not_run_is_not_judged() -> None:
    claim = Claim("Table 1", "close", partial(judge_closeness, collection="Reuters-21578"))
    ((_, verdict),) = judge_claims([claim], make_table1(0, 0.5))
    assert verdict.word == NOT_TRIED


def test_zero_weights_are_judged_at_the_tightest_tolerance() -> None:
    rows = [
        ("RCV1", is_again, tol, 0.9 if is_again else overlap, 0.9, 0.5)
        for tol, overlap in ((1e-2, 0.9), (1e-6, 0.9999))
        for is_again in (True, False)
    ]
    schema = ["collection", "renormalized", "tolerance", "overlap", "containment", "zero_weight"]
    limit = pl.DataFrame(rows, schema, orient="row")
    assert judge_zero_weights({"limit": limit}).word == REPRODUCED


@pytest.mark.parametrize("collection", sorted(PRINTED))
def test_published_figures_are_those_of_the_paper(collection: str) -> None:
    cells = iter(PRINTED[collection].split())
    for measure in ("auc", "best_f1"):
        for method in ("exact", "mask", "sv_set"):
            value, _, p_value = next(cells).partition("/")
            expected = (float(value), float(p_value) if p_value else None)
            assert TABLE1[collection, measure, method] == expected


def test_every_claim_is_judged_on_what_is_kept() -> None:
    judged = judge_claims(CLAIMS, read_tables(RESULTS))
    words = {verdict.word for _, verdict in judged}
    assert words <= {REPRODUCED, IN_PART, NOT_REPRODUCED, NOT_TRIED}
    tried = [claim.says for claim, verdict in judged if verdict.word == NOT_TRIED]
    assert tried == [claim.says for claim in CLAIMS if isinstance(claim.judge, str)]


@pytest.fixture
def small() -> tuple[sparse.csr_matrix, np.ndarray, DualLinearSVC]:
    """Return 60 documents of length one, their class, and a model of it."""
    rng = np.random.default_rng(3)
    X = normalize(sparse.random(60, 25, 0.3, format="csr", random_state=rng))
    y = (np.asarray(X[:, :3].sum(axis=1)).ravel() > 0.2).astype(int)
    return X, y, make_svc(1e-9).fit(X, y)


def test_gap_that_a_masked_feature_adds_is_that_of_primal_and_dual(small) -> None:
    X, y, model = small
    w, b, alpha = model.coef_[0], model.intercept_[0], np.abs(model.dual_coef_.toarray()[0])
    dense, sign = X.toarray(), 2 * y - 1

    def find_gap(weights):
        hinge = np.maximum(0, 1 - sign * (dense @ weights + b)).sum()
        half = 0.5 * (weights @ weights + b**2)
        return half + hinge - (alpha.sum() - half), half + hinge

    before, primal = find_gap(w)
    added = [
        (find_gap(np.where(np.arange(w.size) == j, 0, w))[0] - before) / primal
        for j in np.flatnonzero(w)
    ]
    found = masking._describe(sparse.csc_matrix(X), y, model, 0)
    assert found["gap"][0] == pytest.approx(np.mean(added))
    assert found["largest_gap"][0] == pytest.approx(max(added))
    share = (dense[alpha > 0][:, w != 0] != 0).mean()
    assert found["share_of_support"][0] == pytest.approx(share)


def test_factor_of_each_side_restores_the_multipliers_over_the_lengths(small) -> None:
    X, _, model = small
    kept = np.arange(0, 25, 6)
    dual, part = model.dual_coef_[0], X[:, kept]
    weights = dict(balance._list_weights(part, dual))
    np.testing.assert_allclose(weights["mask"], model.coef_[0, kept], atol=1e-7)
    beta, rows = dual.toarray().ravel(), part.toarray()
    lengths = np.linalg.norm(rows, axis=1)
    again = np.divide(rows, lengths[:, None], where=lengths[:, None] > 0, out=np.zeros_like(rows))
    np.testing.assert_allclose(weights["sv_set"], beta @ again)
    with_words = np.where(lengths > 0, beta, 0)
    for method, counted in ((balance.EVERY, beta), (balance.KEPT, with_words)):
        expected = np.zeros(kept.size)
        for side in (beta > 0, beta < 0):
            after = np.divide(with_words, lengths, where=lengths > 0, out=np.zeros(60))[side].sum()
            expected += counted[side].sum() / after * (beta[side] @ again[side])
        np.testing.assert_allclose(weights[method], expected)


def test_words_of_one_training_document_or_of_none_are_dropped() -> None:
    X = sparse.csr_matrix([[1.0, 1, 1, 0], [1, 0, 1, 0], [1, 0, 0, 0]])
    X_test = sparse.csr_matrix([[0.0, 1, 1, 1]])
    Y = np.ones((3, 1), int)
    found = Split(normalize(X), Y, normalize(X_test), Y[:1], ("a",)).drop_rare()
    np.testing.assert_allclose(found.X.toarray()[0], [0.5**0.5, 0.5**0.5])
    assert found.X_test.toarray().tolist() == [[0, 1]]


def test_collections_have_no_word_of_one_document(data_folder: Path) -> None:
    split = load_collection(data_folder, "RCV1")
    assert split.X.shape[1] == 20_390
    assert split.X.getnnz(axis=0).min() >= 2


def test_tickers_of_reuters_are_words(data_folder: Path) -> None:
    vectorizer = DocumentVectorizer(strip_markup=False)
    texts = [text for text in read_modapte(data_folder).train.texts if "<GM>" in text][:5]
    words = vectorizer.fit(texts).get_feature_names_out()
    assert "gm" in words
    assert load_reuters(data_folder).X.shape[1] == 16_891


def test_free_intercept_is_asked_for_in_every_task() -> None:
    (free,) = PAPER.extras
    tasks = list(free.list_tasks(Setting(Path("data"), is_quick=True)))
    assert tasks
    for task in tasks:
        assert task.name.startswith("free-")
        assert task.arguments["fit_intercept"] == "free"
        assert "fit_intercept" in signature(task.run).parameters


def test_verdicts_that_a_free_intercept_moves_are_listed() -> None:
    kept = read_tables(RESULTS)
    free = {name: kept[name.removesuffix("_free")] for name in FREE_TABLES}
    assert write_moved({**kept, **free}) == "No verdict moves."
    worse = kept["table1"].with_columns(
        difference=pl.lit(-0.1), p_one_sided=pl.lit(1e-6), p_two_sided=pl.lit(2e-6)
    )
    lines = write_moved({**kept, **free, "table1_free": worse}).splitlines()
    assert any(
        "Table 1, 20 Newsgroups" in line and "| reproduced | not reproduced |" in line
        for line in lines
    )


@pytest.mark.parametrize("is_quick", [False, True], ids=["full", "quick"])
def test_tasks_of_one_name_are_the_same(is_quick: bool) -> None:
    setting = Setting(Path("data"), is_quick)
    seen: dict[str, Any] = {}
    for part in (*PAPER.parts, *PAPER.extras):
        for task in part.list_tasks(setting):
            assert seen.setdefault(task.name, task) == task
    assert all(task.cost > 0 for task in seen.values())


def test_chosen_problems_are_kept_and_distinct() -> None:
    kept = pl.read_csv(RESULTS / "pairs.csv")
    assert kept.filter(noise=0).height == 100
    for _, part in kept.group_by("noise"):
        assert part.select("first", "second").n_unique() == part.height
