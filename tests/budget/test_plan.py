"""What is going to fit, and what the plan says of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from made_batches import make_batch
from spokeshave.budget.counts import count_rows
from spokeshave.budget.memory import AvailableMemory, Costs
from spokeshave.budget.plan import (
    PACKED,
    WORD,
    Cut,
    count_affordable,
    count_fitting,
    make_plan,
    measure_disk,
)
from spokeshave.budget.sample import Sample

COSTS = st.builds(Costs, st.integers(1, 50), st.integers(1, 8), st.booleans())
RATES = st.lists(st.floats(0, 1), max_size=40).map(lambda rates: np.cumsum(np.array(rates, float)))
FREE = st.integers(-1_000, 40_000)
N_DOCUMENTS = st.integers(0, 100)


@given(RATES, N_DOCUMENTS, FREE, COSTS)
def test_so_many_features_fit_and_one_more_does_not(per_document, n_documents, free, costs):
    """Neither in training, nor in the file of the model."""

    def measure(n_kept):
        cells = n_documents * per_document[n_kept - 1] * costs.cell
        training = n_documents * costs.row + cells + n_kept * (costs.feature + WORD)
        return max(training, n_kept * (PACKED * costs.n_rows + 2 * WORD))

    n_fitting = count_fitting(per_document, n_documents, AvailableMemory(free, 0), costs)
    assert 0 <= n_fitting <= len(per_document)
    if n_fitting:
        assert measure(n_fitting) <= free * (1 + 1e-9)
    if n_fitting < len(per_document):
        assert measure(n_fitting + 1) >= free * (1 - 1e-9)


@given(RATES, N_DOCUMENTS, FREE, st.integers(0, 10**6), COSTS)
def test_more_memory_holds_no_fewer_features(per_document, n_documents, free, more, costs):
    counts = [
        count_fitting(per_document, n_documents, AvailableMemory(memory, 0), costs)
        for memory in (free, free + more)
    ]
    assert counts[0] <= counts[1]
    assert counts[0] >= count_fitting(
        per_document, n_documents + 1, AvailableMemory(free, 0), costs
    )


@given(st.integers(1, 10**6), FREE, st.integers(0, 10**6), COSTS)
def test_features_that_can_be_borne_take_half_the_memory(n_ranked, free, more, costs):
    n_bearable = count_affordable(n_ranked, AvailableMemory(free, 0), costs)
    assert 1 <= n_bearable <= n_ranked
    assert n_bearable == 1 or 2 * n_bearable * (costs.feature + WORD) <= free
    assert n_bearable <= count_affordable(n_ranked, AvailableMemory(free + more, 0), costs)


def plan_for(limit, free, seed=0):
    """Plan for two hundred documents of half of twelve features, of which a subset is kept."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix(rng.integers(0, 2, size=(200, 12)).astype(float))
    labels = (np.arange(200) % 3).tolist()
    sample = Sample(limit, seed=0, has_values=True, terms=None, n_threads=1)
    sample.add(make_batch(X, labels), 3)
    counts = count_rows(X.indices, 200, labels)
    return (
        X,
        sample,
        make_plan(counts, sample, AvailableMemory(free + 1000, 1000), Costs(3, 1, True)),
    )


def test_a_collection_that_fits_is_planned_to_stay_whole():
    X, _, plan = plan_for(10**9, 10**9)
    assert (plan.n_documents, plan.n_words, plan.n_nonzeros) == (200, 12, X.nnz)
    assert plan.per_document == X.nnz / 200
    assert plan.matrix_bytes == 12 * X.nnz + 8 * 200
    assert (plan.memory, plan.free, plan.n_sampled) == (10**9 + 1000, 10**9, 200)
    assert plan.fits_whole
    assert plan.fits_at == pytest.approx(X.nnz / 200)
    assert "no feature has to go" in str(plan)


def test_a_collection_of_which_a_subset_is_known_is_not_planned_to_stay_whole():
    _, sample, plan = plan_for(30_000, 10**9)
    assert plan.n_sampled == len(sample) < 200
    assert not plan.fits_whole
    sentence = f"features are ranked on {len(sample)} documents drawn at random; everything fits"
    assert sentence in str(plan)


def test_a_collection_whose_rows_alone_do_not_fit_goes_over_the_disk():
    _, _, plan = plan_for(10**9, 5_000)
    assert plan.fits_at == 0
    assert not plan.fits_whole
    assert "training goes over the disk" in str(plan)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 60_000), st.integers(0, 10_000))
def test_more_memory_lets_documents_be_less_sparse(free, more):
    plans = [plan_for(10**9, memory)[-1] for memory in (free, free + more)]
    assert plans[0].fits_at <= plans[1].fits_at <= plans[1].per_document + 1e-9
    assert plans[0].fits_whole <= plans[1].fits_whole


@pytest.mark.parametrize(
    ("in_memory", "where"), [(True, "in memory"), (False, "over the disk, in rounds")]
)
def test_a_cut_says_what_follows_from_it(in_memory, where):
    cut = Cut(1200, 5000, 300, 4, 12.34, 0, 2_340_000, in_memory)
    assert str(cut) == (
        "1,200 of 5,000 words are kept (304 were pruned before), 12.3 in a document: 2.3 MB, "
        f"to be trained on {where}"
    )


@given(COSTS, N_DOCUMENTS)
def test_the_disk_holds_the_documents_and_in_rounds_a_dual_of_each_class_at_work(costs, n):
    cut = Cut(10, 20, 0, 0, 2.0, 0, 5_000, in_memory=True)
    assert measure_disk(cut, n, costs) == 5_000
    assert measure_disk(replace(cut, in_memory=False), n, costs) == 5_000 + 8 * n * costs.n_busy
