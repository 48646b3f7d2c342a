"""Collections of many files, loaded once: several tests look at them."""

from __future__ import annotations

from functools import cache

import pytest

from spokeshave.corpus import load_source


@pytest.fixture(scope="session")
def load_once(data_folder):
    """Return a function that loads a collection of the data folder, unless that was done."""
    return cache(lambda name: load_source(data_folder / name))
