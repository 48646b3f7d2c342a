"""What does not fit in one worker is cut, and trained on everything: in each, or in rounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from deaths import Killer
from made_parts import make_collection, sort_by_class, write_parts
from spokeshave import DualLinearSVC
from spokeshave.budget.memory import AvailableMemory
from spokeshave.cluster import fit as fitting
from spokeshave.cluster import fit_on_cluster, fit_reduced
from spokeshave.cluster import working_set as rounds
from spokeshave.corpus.documents import compute_fingerprint
from spokeshave.jobs.budget import Files, run_budgeted
from spokeshave.jobs.settings import Budget, Settings
from spokeshave.model import file_content
from spokeshave.text.vectorizer import DocumentVectorizer

COLLECTION = sort_by_class(make_collection(300, 3, 60))
SIZES = {1: (), 3: (150, 0), 7: (1, 0, 125, 7, 70, 90)}  # of all parts but the last
NONZEROS = 6
ROOM = 20_000  # bytes: for about two thirds of the documents with so many nonzeros
PLAIN = Settings(loss="hinge", prior=None, prior_strength=1.0, weighting="binary")
TOLERANCE = 1.1e-3  # relative duality gap that the solver stops at, and a bit for rounding


@pytest.fixture(autouse=True)
def no_rounding(monkeypatch):
    """Have model files that round weights by less than the solver's tolerance."""
    monkeypatch.setattr(file_content, "N_STEPS", 1 << 14)


@pytest.fixture
def no_room(monkeypatch):
    """Have workers whose memory is too small for all documents, even when they are cut."""

    def find_room(memory, resident):
        return AvailableMemory(memory, memory - ROOM)

    monkeypatch.setattr(fitting, "find_worker_memory", find_room)
    monkeypatch.setattr(fit_reduced, "SPREAD", 2)  # each block is a task, or four, in every round


def cut(client, parts, **options):
    """Run the job with a sparsity to cut to; return what is left, and whether it was in rounds."""
    said = []
    options = {"settings": PLAIN} | options
    far = fit_on_cluster(client, parts, nonzeros_per_document=NONZEROS, say=said.append, **options)
    assert any("features are dropped" in sentence for sentence in said)
    return far, any("training goes in rounds" in sentence for sentence in said)


def read_weights(model):
    """Return the weights of a model (classes x features) and the intercepts."""
    coef = model.scorer.weights.reshape(-1, len(model.classes_)).T
    return coef.astype(float), model.scorer.intercept


def show(model, weighting, **options):
    """Return the collection as the model sees it."""
    vectorizer = DocumentVectorizer(weighting=weighting, min_df=2, norm=None, **options)
    X = vectorizer.fit_transform(COLLECTION.texts)
    return normalize(X[:, [vectorizer.vocabulary_[word] for word in model.feature_names_]])


def measure_objective(model, X):
    """Return the objective of each class at the weights of a model."""
    coef, intercept = read_weights(model)
    y = np.where(np.array(COLLECTION.labels)[:, None] == model.classes_, 1, -1)
    errors = np.maximum(0, 1 - y * (X @ coef.T + intercept)).sum(axis=0)
    return 0.5 * ((coef**2).sum(axis=1) + intercept**2) + errors


def check_optimal(model, weighting="binary", **options):
    """Check that weights are those of one machine on the same features, to solver tolerance."""
    X = show(model, weighting, **options)
    svc = DualLinearSVC(tol=1e-6, random_state=0).fit(X, COLLECTION.labels)
    coef, intercept = read_weights(model)
    excess = measure_objective(model, X) / svc.objective_ - 1
    assert excess.max() <= TOLERANCE
    distance = ((coef - svc.coef_) ** 2).sum(axis=1) + (intercept - svc.intercept_) ** 2
    assert (distance <= 2 * TOLERANCE * svc.objective_).all()  # as the objective is that convex


@pytest.fixture(scope="module")
def dealt(tmp_path_factory):
    """The collection in one part, in three and in seven, of very different sizes."""
    folders = {number: tmp_path_factory.mktemp("dealt") for number in SIZES}
    return {n: write_parts(COLLECTION, folder, SIZES[n]) for n, folder in folders.items()}


@pytest.mark.parametrize("weighting", ["binary", "tfidf"])
def test_what_does_not_fit_is_cut_to_a_sparsity(client, dealt, weighting):
    settings = Settings(weighting=weighting, hold_out=0.2)
    far, _ = cut(client, dealt[3], settings=settings)
    assert far.record.model.per_document == pytest.approx(NONZEROS, rel=0.1)
    assert far.record.model.judgement.n_documents == 60
    assert far.record.model.judgement.macro_f1 > 0.85


@pytest.mark.parametrize("weighting", ["binary", "tfidf"])
def test_weights_are_those_of_one_machine_whatever_the_parts(client, dealt, weighting):
    settings = replace(PLAIN, weighting=weighting)
    files = Files(dealt[1].replace("*", "0"))
    near = run_budgeted(files, Budget("4GB", NONZEROS), settings=settings).model
    found = {}
    for number, parts in dealt.items():
        far, in_rounds = cut(client, parts, settings=settings)
        assert not in_rounds
        found[number] = far.model
    assert set(found[1].feature_names_) == set(near.feature_names_)
    whole = compute_fingerprint(COLLECTION, COLLECTION.labels)
    for model in (near, *found.values()):
        assert model.provenance["fingerprint"] == str(whole)
    check_optimal(near, weighting)
    check_optimal(found[1], weighting)
    for number in (3, 7):
        assert found[number].feature_names_ == found[1].feature_names_
        for one, other in zip(*map(read_weights, (found[number], found[1])), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2), "weighting": "tfidf", "sublinear_tf": True},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "weighting": "counts", "max_features": 300},
    ],
    ids=["pairs", "characters"],
)
def test_ngrams_are_cut_as_on_one_machine(client, dealt, options):
    vectorizer = DocumentVectorizer(**options)
    files = Files(dealt[1].replace("*", "0"))
    settings = replace(PLAIN, weighting=vectorizer.weighting)
    budget = Budget("4GB", NONZEROS)
    near = run_budgeted(files, budget, settings=settings, vectorizer=vectorizer).model
    for parts in (dealt[1], dealt[7]):
        far, _ = cut(client, parts, settings=settings, vectorizer=vectorizer)
        assert set(far.model.feature_names_) == set(near.feature_names_)
        check_optimal(far.model, **options)
    check_optimal(near, **options)


def test_a_prior_is_that_of_one_machine(client, dealt):
    far, _ = cut(client, dealt[3], settings=replace(PLAIN, prior="bns"))
    coef, _ = read_weights(far.model)
    X = show(far.model, "binary")
    svc = DualLinearSVC(prior="bns", tol=1e-6, random_state=0).fit(X, COLLECTION.labels)
    plain = DualLinearSVC(tol=1e-6, random_state=0).fit(X, COLLECTION.labels)
    distance, other = (np.linalg.norm(coef - each.coef_) for each in (svc, plain))
    assert distance < 0.1 * other
    assert "bns, strength 1" in far.record.settings["prior of the weights"]


def test_rounds_come_to_the_weights_of_one_machine_whatever_the_parts(client, dealt, no_room):
    names = set()
    for parts in (dealt[1], dealt[7]):
        far, in_rounds = cut(client, parts)
        assert in_rounds
        assert "rounds at most" in far.record.settings["trained"]
        check_optimal(far.model)
        names.add(far.model.feature_names_)
    assert len(names) == 1


def test_workers_that_die_change_nothing_but_time(four, dealt):
    settings = Settings(hold_out=0.2)
    expected, _ = cut(four, dealt[7], settings=settings)
    killer = Killer(four)
    far, _ = cut(four, dealt[7], settings=settings, stopwatch=killer)
    assert far.content == expected.content
    assert far.record.model == expected.record.model
    assert set(killer.killed) == set(far.record.making.seconds)


def test_workers_that_die_change_nothing_of_rounds(four, make_deadly, dealt, no_room):
    expected, _ = cut(four, dealt[7])
    n_looks = 2 * fit_reduced.SPREAD * 4  # of two rounds at most: there may be more blocks
    tasks = [
        make_deadly(fit_reduced, "rank_sample"),
        make_deadly(fit_reduced, "reduce_ranges", at=5),
        make_deadly(rounds, "descend", at=2),
        make_deadly(rounds, "take_duals", at=3),
        make_deadly(rounds, "inspect_block", at=n_looks + 1),
    ]
    far, in_rounds = cut(four, dealt[7])
    assert in_rounds
    assert all(task.has_killed for task in tasks)
    assert far.content == expected.content
