"""The same job on a Dask cluster: documents lie in parts, and never come to the client."""

from __future__ import annotations

import os

# Polars keeps what it has freed for ten seconds, unless it is told so before it is loaded: in a
# worker that counts as taken.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")

try:
    import distributed
except ImportError as error:
    raise ImportError("A cluster needs Dask: pip install 'spokeshave[cluster]'") from error

from spokeshave.cluster.curves import curve_on_cluster
from spokeshave.cluster.fitting import fit_on_cluster
from spokeshave.cluster.predicting import predict_on_cluster
from spokeshave.cluster.rankings import rank_on_cluster, sparsity_on_cluster
from spokeshave.cluster.shapes import shape_on_cluster
from spokeshave.cluster.sizes import tell_sizes
from spokeshave.cluster.spreading import Spread, spread_documents
from spokeshave.cluster.workers import connect

__all__ = [
    "Spread",
    "connect",
    "curve_on_cluster",
    "fit_on_cluster",
    "predict_on_cluster",
    "rank_on_cluster",
    "shape_on_cluster",
    "sparsity_on_cluster",
    "spread_documents",
]
tell_sizes()  # here and, as they import this, to every worker
del distributed, os, tell_sizes
