"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does.
settings.register_profile("tests", deadline=None, max_examples=40)
settings.load_profile("tests")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of benchmark data, or skip the test where there is none."""
    folder = os.environ.get("SPOKESHAVE_DATA")
    if not folder:
        pytest.skip("SPOKESHAVE_DATA is not set: it names the folder of benchmark data")
    return Path(folder)


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator of random numbers, the same in every test."""
    return np.random.default_rng(0)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Call bytes by their argument: compressed ones hold the time, and names must not change."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in the sources only: here it takes long, and imports every helper."""
    return [file for file in (yield) if type(file) is pytest.Module]


def pytest_collection_finish() -> None:
    """Exempt modules and tests from garbage collection: they stay, and scanning them takes long."""
    gc.collect()
    gc.freeze()
