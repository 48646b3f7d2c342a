"""What a plan says is going to happen, against what happens then."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from spokeshave import BudgetedSVC, DocumentVectorizer, DualLinearSVC
from troubled import fit, leave_room, seams
from zipf import make_zipf, write_csv

NEAR = 0.2
# Bytes that are free, what is asked for, and the largest share of the documents in the subset.
CASES = {
    "a fiftieth": (1_000_000, {}, 0.05),
    "a twentieth": (2_000_000, {}, 0.1),
    "a twentieth, few": (2_000_000, {"nonzeros_per_document": 5}, 0.1),
    "a tenth, by another criterion": (4_000_000, {"nonzeros_per_document": 10, "by": "chi2"}, 0.3),
    "a tenth, with values": (
        4_000_000,
        {"vectorizer": DocumentVectorizer(weighting="tfidf"), "nonzeros_per_document": 20},
        0.2,
    ),
    "all": (100_000_000, {}, 1.0),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Return a file of texts, and what is in it, counted one by one."""
    texts, labels = make_zipf(12_000, n_words=30_000, length=40)
    path = write_csv(tmp_path_factory.mktemp("zipf") / "zipf.csv", texts, labels)
    vectorizer = DocumentVectorizer(min_df=1)
    return path, vectorizer.fit_transform(texts), vectorizer.vocabulary_, np.array(labels)


@pytest.fixture(scope="module")
def runs(corpus):
    """Return the model of each case."""
    models = {}
    for name, (free, options, _) in CASES.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("spokeshave.budget.run.find_available", leave_room(free))
            models[name] = BudgetedSVC(**options, random_state=0).fit_files(corpus[0])
    return models


@pytest.mark.parametrize("name", CASES)
def test_the_first_pass_counts_everything(runs, corpus, name):
    _, X, vocabulary, labels = corpus
    plan = runs[name].plan_
    assert plan.n_documents == X.shape[0]
    assert plan.n_nonzeros == X.nnz
    assert plan.per_document == pytest.approx(X.nnz / X.shape[0])
    assert plan.n_words == pytest.approx(len(vocabulary), rel=0.05)
    assert plan.matrix_bytes == pytest.approx(12 * X.nnz + 8 * X.shape[0], rel=0.01)
    names, counts = np.unique(labels, return_counts=True)
    assert runs[name].counts_.class_counts == dict(zip(names.tolist(), counts, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_what_the_cut_leaves_is_what_was_expected(runs, name):
    model, most = runs[name], CASES[name][2]
    cut, reduced = model.cut_, model.reduced_
    assert 0 < model.plan_.n_sampled <= most * model.plan_.n_documents
    assert cut.n_features == len(model.features_) <= cut.n_ranked
    assert reduced.n_documents == model.plan_.n_documents
    assert cut.per_document == pytest.approx(reduced.per_document, rel=NEAR)
    assert cut.n_bytes == pytest.approx(reduced.n_bytes, rel=NEAR)
    wanted = model.nonzeros_per_document
    if wanted is not None:
        assert reduced.per_document == pytest.approx(wanted, rel=NEAR)


@pytest.mark.parametrize("name", CASES)
def test_what_is_on_the_disk_is_what_a_plain_count_says(runs, corpus, name):
    _, X, vocabulary, _ = corpus
    kept = X[:, [vocabulary[word] for word in runs[name].features_]]
    assert runs[name].reduced_.n_nonzeros == kept.nnz


def test_the_more_memory_the_larger_the_subset(runs):
    sampled = [runs[name].plan_.n_sampled for name in ("a fiftieth", "a twentieth", "all")]
    assert sampled == sorted(sampled)
    assert sampled[-1] == runs["all"].plan_.n_documents
    assert runs["all"].plan_.fits_whole
    assert not runs["a twentieth"].plan_.fits_whole


def test_features_that_fit_are_said_to_be_in_memory(runs):
    for model in runs.values():
        plan, cut = model.plan_, model.cut_
        assert cut.in_memory == (cut.needed <= cut.n_features and "in memory" in str(cut))
        if plan.fits_at and model.nonzeros_per_document is None and not cut.needed:
            assert cut.per_document <= plan.fits_at * (1 + NEAR)


def test_the_plan_is_in_words(runs):
    small, all_of_it = str(runs["a twentieth"].plan_), str(runs["all"].plan_)
    n_sampled = runs["a twentieth"].plan_.n_sampled
    assert all_of_it.startswith("12,000 documents, about ")
    assert f"{n_sampled:,} documents" in small
    assert "\n" not in small + all_of_it


def test_the_subset_is_as_large_as_it_is_said_to_be(corpus, monkeypatch):
    from spokeshave.budget import select

    sizes, rank = [], select.rank_features
    monkeypatch.setattr(
        select, "rank_features", lambda X, *a, **k: (sizes.append(X.shape[0]), rank(X, *a, **k))[1]
    )
    monkeypatch.setattr("spokeshave.budget.run.find_available", leave_room(4_000_000))
    model = BudgetedSVC(by="chi2", nonzeros_per_document=10, random_state=0).fit_files(corpus[0])
    assert sizes[0] > 0.8 * model.plan_.n_sampled  # a tenth is to judge by


def test_a_subset_of_vectors_gives_estimates_as_well(corpus, monkeypatch):
    _, X, _, labels = corpus
    monkeypatch.setattr("spokeshave.budget.run.find_available", leave_room(3_000_000))
    model = BudgetedSVC(nonzeros_per_document=8, random_state=0).fit(normalize(X), labels)
    assert model.plan_.n_sampled < 0.3 * X.shape[0]
    assert model.plan_.n_nonzeros == X.nnz
    assert model.plan_.n_words == pytest.approx(X.shape[1], rel=0.05)
    assert model.cut_.per_document == pytest.approx(model.reduced_.per_document, rel=NEAR)
    assert model.cut_.n_bytes == pytest.approx(model.reduced_.n_bytes, rel=NEAR)
    assert model.reduced_.n_nonzeros == X[:, model.features_].nnz


PROGRAM = """
import sys
from spokeshave import BudgetedSVC, DualLinearSVC, save_model
from spokeshave.budget.memory import LIBRARIES, MINIMUM, RESERVE
path, target, n_jobs, n_held = sys.argv[1:]
held = bytearray(b"x") * int(n_held)
budget = LIBRARIES + RESERVE + MINIMUM + 2_000_000
svm = DualLinearSVC(tol=0.1, random_state=0)
svc = BudgetedSVC(budget, estimator=svm, n_jobs=int(n_jobs))
save_model(svc.fit_files(path), target)
print(svc.plan_.n_sampled, svc.coef_.tobytes().hex())
"""


def test_a_process_that_holds_more_and_has_more_threads_makes_the_same_model(tmp_path):
    texts, labels = make_zipf(12_000, n_words=60_000, length=40, n_classes=12)
    path = write_csv(tmp_path / "zipf.csv", texts, labels)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, path, tmp_path / f"{n_jobs}.model", n_jobs, n_held],
            stdout=subprocess.PIPE,
        )
        for n_jobs, n_held in (("1", "0"), ("3", "30000000"))
    ]
    one, other = (process.communicate()[0] for process in processes)
    assert 5_000 < int(one.split()[0]) < 11_000  # memory is short
    assert one == other
    assert (tmp_path / "1.model").read_bytes() == (tmp_path / "3.model").read_bytes()


def test_threads_change_nothing_in_rounds_over_the_disk(tmp_path, monkeypatch):
    path = write_csv(tmp_path / "zipf.csv", *make_zipf(1_500, n_words=9_000))
    monkeypatch.setattr("spokeshave.budget.run.find_available", leave_room(600_000))
    estimator = DualLinearSVC(tol=0.05, random_state=0)
    with seams(monkeypatch.setattr, in_rounds=True):
        one, other = (fit(path, n_jobs=n_jobs, estimator=estimator) for n_jobs in (1, 3))
    assert one.n_rounds_ > 1
    np.testing.assert_array_equal(one.features_, other.features_)
    np.testing.assert_array_equal(one.coef_, other.coef_)
