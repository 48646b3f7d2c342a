"""What the record of a run and its model file say of the run itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from spokeshave.collection import Collection
from spokeshave.record import Data, Making
from spokeshave.settings import Origin, Settings
from spokeshave.stopwatch import Stopwatch
from spokeshave.svm import DualLinearSVC
from spokeshave.versions import list_versions


def describe_making(origin: Origin, settings: Settings, watch: Stopwatch) -> Making:
    """Return how a run was made, as it ends."""
    return Making(
        command=origin.command,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=dict(watch.seconds),
        versions=list_versions(),
        seed=settings.seed,
    )


def describe_data(collection: Collection, origin: Origin) -> Data:
    """Return what a run was made of."""
    X, test = collection.train.X, collection.test
    return Data(
        source=origin.source,
        read=origin.read,
        fingerprint=collection.fingerprint,
        kind="multilabel" if collection.is_multilabel else "labels",
        unit=collection.unit,
        n_documents=len(collection.train),
        n_features=X.shape[1],
        per_document=float(getattr(X, "nnz", X.size) / X.shape[0]),
        n_skipped=origin.n_skipped,
        test_source=None if test is None else origin.test_source or "held out",
        n_test=None if test is None else len(test),
    )


def describe_settings(settings: Settings, svc: DualLinearSVC) -> dict[str, str]:
    """Return what was asked for, and what it came to, in words."""
    how = " (chosen by cross-validation)" if settings.C == "auto" else ""
    return {
        "method": ", ".join(settings.methods),
        "ranked by": settings.by,
        "C": f"{svc.C:g}{how}",
        "loss": settings.loss,
        "value of a word": settings.weighting,
        "fewest documents of a word": str(settings.min_df),
    }


def describe_provenance(
    collection: Collection, settings: Settings, origin: Origin
) -> dict[str, Any]:
    """Return where a model comes from, for its file."""
    return {
        "source": origin.source,
        "text_column": origin.text_column,
        "fingerprint": collection.fingerprint,
        "n_documents": len(collection.train),
        "command": origin.command,
        "seed": settings.seed,
        "versions": list_versions(),
    }
