"""Memory that the process holds."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spokeshave.budget import memory as memory_module
from spokeshave.budget.memory import (
    CELL,
    HELD_STEP,
    LIBRARIES,
    MINIMUM,
    RESERVE,
    VALUE,
    AvailableMemory,
    Costs,
    find_available,
    find_reserve,
    give_back,
    measure_installed,
    measure_resident,
)
from spokeshave.utils.formatting import parse_size, write_size

AMPLE = 10**10


def test_memory_that_is_filled_is_held_and_given_back():
    size = 64_000_000
    before = measure_resident()
    filled = np.ones(size, np.uint8)
    assert measure_resident() > before + 0.8 * size
    del filled
    give_back()
    assert measure_resident() < before + 0.2 * size


def test_no_more_is_held_than_there_is():
    assert 0 < measure_resident() < measure_installed()


@pytest.fixture(params=[1, LIBRARIES - 40_000_000, LIBRARIES])
def resident(request, monkeypatch):
    """Let the process hold a known amount of memory; return what it is taken for."""
    monkeypatch.setattr(memory_module, "measure_resident", lambda: request.param)
    return LIBRARIES


def test_what_is_held_and_what_is_spared_is_taken(resident):
    for memory in (5 * 10**8, 10**10):
        found = find_available(memory)
        assert found == AvailableMemory(memory, resident + find_reserve(memory))
        assert found.free == memory - resident - max(RESERVE, memory // 16)


def test_the_least_budget_is_enough_and_one_byte_less_is_not(resident):
    least = resident + RESERVE + MINIMUM
    assert find_available(least).free == MINIMUM
    with pytest.raises(ValueError, match=f"memory must be at least {write_size(least)}: "):
        find_available(least - 1)


def test_too_small_a_budget_is_told_one_that_is_enough(resident):
    sentence = (
        f"memory must be at least .*: {write_size(LIBRARIES)} are for what the process holds "
        "before it begins. Got 100.0 MB instead"
    )
    with pytest.raises(ValueError, match=sentence) as caught:
        find_available(10**8)
    told = str(caught.value).removeprefix("memory must be at least ").split(":")[0]
    assert find_available(parse_size(told)).free >= MINIMUM


@pytest.mark.parametrize("held", [100_000_000, 840_000_000, 905_000_000, 10**10 + 1])
def test_what_is_told_is_enough_however_much_is_held(monkeypatch, held):
    monkeypatch.setattr(memory_module, "measure_resident", lambda: held)
    with pytest.raises(ValueError, match="memory must be at least") as caught:
        find_available(10**6)
    told = re.search(r"at least ([\d.]+ \w+)", str(caught.value))[1]
    assert find_available(parse_size(told)).free >= MINIMUM


def test_documents_in_memory_are_counted_and_more_than_planned_in_coarse_steps(monkeypatch):
    def find(held, n_given=0):
        monkeypatch.setattr(memory_module, "measure_resident", lambda: held)
        return AMPLE - find_reserve(AMPLE) - find_available(AMPLE, n_given).free

    assert find(LIBRARIES + 10**6, 10**8) == LIBRARIES + 10**8
    assert find(LIBRARIES + 1) == find(LIBRARIES + HELD_STEP) == LIBRARIES + HELD_STEP
    assert find(LIBRARIES + HELD_STEP + 1) == LIBRARIES + 2 * HELD_STEP


@given(st.integers(1, 64), st.integers(0, 10**9))
def test_threads_beyond_the_plan_must_fit(n_threads, most):
    costs = Costs(5, 2, has_values=False)
    found = costs.count_threads(n_threads, most, lambda costs: 10**8 * costs.n_threads)
    assert found == min(n_threads, max(2, most // 10**8))


COSTS = st.builds(Costs, st.integers(1, 1000), st.integers(1, 64), st.booleans())


@given(COSTS)
def test_more_classes_and_more_threads_cost_no_less(costs):
    more = costs._replace(n_rows=costs.n_rows + 1), costs._replace(n_threads=costs.n_threads + 1)
    for name in ("cell", "row", "swept_row", "feature", "swept_feature"):
        assert all(getattr(costs, name) <= getattr(other, name) for other in more)


@given(COSTS)
def test_shared_passes_cost_more_than_those_of_one_class(costs):
    assert costs.swept_row > costs.row > 0
    assert costs.swept_feature > costs.feature > 0


@given(COSTS)
def test_no_more_classes_are_busy_than_there_are(costs):
    assert 1 <= costs.n_busy <= min(costs.n_rows, costs.n_threads)


def test_values_cost_as_much_as_numbers_of_features():
    assert Costs(3, 1, has_values=False).cell == CELL
    assert Costs(3, 1, has_values=True).cell == CELL + VALUE
