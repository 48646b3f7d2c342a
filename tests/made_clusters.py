"""Real clusters of separate processes, for the tests of clusters."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

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
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with dask.config.set(SETTING), patch.dict(os.environ, PYTHONPATH=path):
        get_mp_context().set_forkserver_preload(LOADED)
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                memory_limit="2GB",
                dashboard_address=":0",
            ) as cluster,
            Client(cluster) as client,
        ):
            # The process that workers are forked from passes over modules that it cannot import.
            assert all(client.run(lambda: "loaded_kernels" in sys.modules).values())
            yield client
