"""Memory that the process holds."""

from __future__ import annotations

import numpy as np

from spokeshave.budget.memory import give_back, measure_installed, measure_resident


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
