"""The same job on a Dask cluster: documents are in parts, and never come to the client."""

from __future__ import annotations

import os

# Polars keeps freed memory for ten seconds unless this is set before it is loaded. In a worker that
# would count as taken.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")

try:
    import distributed
except ImportError as error:
    raise ImportError("A cluster needs Dask: pip install 'spokeshave[cluster]'") from error

from spokeshave.cluster.blocks import Spread, spread_documents
from spokeshave.cluster.client import connect, make_security
from spokeshave.cluster.curves import curve_on_cluster
from spokeshave.cluster.fit import fit_on_cluster
from spokeshave.cluster.predict import predict_on_cluster
from spokeshave.cluster.spill import register_sizes
from spokeshave.cluster.statistics import rank_on_cluster, shape_on_cluster, sparsity_on_cluster

__all__ = [
    "Spread",
    "connect",
    "curve_on_cluster",
    "fit_on_cluster",
    "make_security",
    "predict_on_cluster",
    "rank_on_cluster",
    "shape_on_cluster",
    "sparsity_on_cluster",
    "spread_documents",
]
register_sizes()  # here and, as they import this, on every worker
del distributed, os, register_sizes
