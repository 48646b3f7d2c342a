"""Real clusters of separate processes, and collections in parts."""

from __future__ import annotations

import pytest

from deaths import Deadly
from made_clusters import PATIENCE, start_workers
from made_parts import make_collection, write_parts
from spokeshave.budget.warmup import exercise as exercise_budget
from spokeshave.cli.progress import exercise as exercise_fit
from spokeshave.kernels.compile import is_compiled, warm_up


@pytest.fixture(scope="session")
def kernels():
    """Compile kernels here: workers that start together would do it all at once, each for itself.

    Most of the time nothing is left to do.
    """
    if not is_compiled(exercise_fit):
        warm_up(exercise_fit)
    for has_values in (False, True):
        if not is_compiled(exercise_budget, is_text=True, has_values=has_values):
            warm_up(exercise_budget, is_text=True, has_values=has_values)


@pytest.fixture(scope="session")
def client(kernels):
    """Two workers, which nobody kills."""
    with start_workers(2) as client:
        yield client


@pytest.fixture(scope="session")
def mortals(kernels):
    """Four workers, which may be killed."""
    with start_workers(4) as client:
        yield client


@pytest.fixture
def four(mortals):
    """Four workers, all alive, which may be killed."""
    mortals.wait_for_workers(4, PATIENCE)
    return mortals


@pytest.fixture
def make_deadly(monkeypatch, tmp_path):
    """Return a function that has a task kill the worker that it is on, once."""

    def make_deadly(module, name, at=1):
        deadly = Deadly(module.__name__, name, tmp_path, at)
        monkeypatch.setattr(module, name, deadly)
        return deadly

    return make_deadly


@pytest.fixture(scope="session")
def collection():
    """Texts of four classes, and their labels."""
    return make_collection()


@pytest.fixture(scope="session")
def parts(collection, tmp_path_factory):
    """A pattern of the files of the collection: of very different sizes, one of them empty."""
    return write_parts(collection, tmp_path_factory.mktemp("parts"))
