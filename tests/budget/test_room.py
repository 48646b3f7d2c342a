"""The room that a budget leaves."""

from __future__ import annotations

import pytest

from spokeshave.budget import room
from spokeshave.budget.room import LEAST, SPARE, Room, find_room


@pytest.fixture(autouse=True)
def resident(monkeypatch):
    """Let the process hold a known amount of memory."""
    monkeypatch.setattr(room, "measure_resident", lambda: 150_000_000)
    return 150_000_000


def test_what_is_held_and_what_is_spared_is_taken(resident):
    found = find_room(10**9)
    assert found == Room(10**9, resident + SPARE)
    assert found.free == 10**9 - resident - SPARE


def test_too_small_a_budget_gets_one_sentence(resident):
    least = resident + SPARE + LEAST
    assert find_room(least).free == LEAST
    sentence = (
        r"memory must be at least 214.0 MB: the process holds 150.0 MB before it begins. "
        r"Got 100.0 MB instead."
    )
    assert least == 214_000_000
    for memory in (10**8, least - 1):
        with pytest.raises(ValueError, match="memory must be at least") as caught:
            find_room(memory)
        assert memory > 10**8 or str(caught.value) == sentence
