"""The room that a budget leaves."""

from __future__ import annotations

import re

import pytest

from spokeshave.budget import room
from spokeshave.budget.room import LEAST, SPARE, Room, find_room, find_spare
from spokeshave.utils.formatting import parse_size


@pytest.fixture(params=[148_000_001, 150_000_000, 152_000_000])
def resident(request, monkeypatch):
    """Let the process hold a known amount of memory; return what it is taken for."""
    monkeypatch.setattr(room, "measure_resident", lambda: request.param)
    return 152_000_000


def test_what_is_held_and_what_is_spared_is_taken(resident):
    for memory in (5 * 10**8, 10**10):
        found = find_room(memory)
        assert found == Room(memory, resident + find_spare(memory))
        assert found.free == memory - resident - max(SPARE, memory // 16)


def test_the_least_budget_is_enough_and_one_byte_less_is_not(resident):
    least = resident + SPARE + LEAST
    assert find_room(least).free == LEAST
    with pytest.raises(ValueError, match=r"memory must be at least 216.0 MB"):
        find_room(least - 1)


def test_too_small_a_budget_is_told_one_that_is_enough(resident):
    sentence = r"memory must be at least .*: the process holds 152.0 MB .* Got 100.0 MB instead"
    with pytest.raises(ValueError, match=sentence) as caught:
        find_room(10**8)
    told = str(caught.value).removeprefix("memory must be at least ").split(":")[0]
    assert find_room(parse_size(told)).free >= LEAST


@pytest.mark.parametrize("held", [100_000_000, 840_000_000, 905_000_000, 10**10 + 1])
def test_what_is_told_is_enough_however_much_is_held(monkeypatch, held):
    monkeypatch.setattr(room, "measure_resident", lambda: held)
    with pytest.raises(ValueError, match="memory must be at least") as caught:
        find_room(10**6)
    told = re.search(r"at least ([\d.]+ \w+)", str(caught.value))[1]
    assert find_room(parse_size(told)).free >= LEAST
