"""Real clusters of separate processes, and collections in parts."""

from __future__ import annotations

import pytest
from distributed import Client, LocalCluster

from made_parts import make_collection, write_parts


@pytest.fixture(scope="session")
def client():
    """Two worker processes of one thread each, with a memory limit."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="2GB", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def collection():
    """Texts of four classes, and their labels."""
    return make_collection()


@pytest.fixture(scope="session")
def parts(collection, tmp_path_factory):
    """A pattern of the files of the collection: of very different sizes, one of them empty."""
    return write_parts(collection, tmp_path_factory.mktemp("parts"))
