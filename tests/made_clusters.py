"""Real clusters of separate processes, for the tests of clusters."""

from __future__ import annotations

from contextlib import contextmanager

import dask
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

from spokeshave.cluster.client import LASTING

PATIENCE = 120  # seconds in which a worker that has died must be there again, on busy cores
SETTING = {
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.scheduler.allowed-failures": 30,  # deaths of workers that a task may meet
    **LASTING,
}
LOADED = ["spokeshave.cluster", "pytest", "loaded_kernels"]  # once for all workers: it takes long


@contextmanager
def start_workers(n_workers):
    """Start processes of one thread each, with a memory limit."""
    with dask.config.set(SETTING):
        get_mp_context().set_forkserver_preload(LOADED)
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                memory_limit="1GB",
                dashboard_address=":0",
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
