"""The second pass over the documents: all of them, with the features that are kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spokeshave.budget.classes import Classes
from spokeshave.budget.intake import chain, make_intake, map_ahead
from spokeshave.budget.lexicon import make_words
from spokeshave.budget.request import Feed, Reporter, Request
from spokeshave.budget.selecting import Selection
from spokeshave.budget.shards import ShardWriter
from spokeshave.budget.store import number_features
from spokeshave.budget.surveying import BATCH
from spokeshave.errors import CorpusError

COUNTS = "counts.json"


@dataclass(frozen=True)
class Reduced:
    """What the reduction came to."""

    n_documents: int
    n_nonzeros: int
    n_bytes: int

    @property
    def per_document(self) -> float:
        """Mean nonzeros per document."""
        return self.n_nonzeros / max(self.n_documents, 1)


def reduce_feed(
    feed: Feed,
    request: Request,
    selection: Selection,
    classes: Classes,
    n_documents: int,
    folder: Path,
    reporter: Reporter,
) -> int:
    """Write all documents to a folder; return their checksum, which must be that of the survey."""
    known, checksum = make_table(selection.features), 0
    intake: Any = make_intake(feed, request)

    def find(batch: Any) -> Any:
        return intake.find(batch, known)

    with ShardWriter(folder, has_values=request.has_values(feed)) as writer:
        for incoming in map_ahead(find, feed.read_batches(BATCH), request.n_threads):
            checksum = chain(checksum, incoming.checksum)
            batch = incoming.encode(classes)
            if selection.idf is not None:
                batch = batch._replace(values=batch.values * selection.idf[batch.features])
            writer.add(batch)
            reporter.reach(writer.n_documents / n_documents)
        writer.finish()
    n_bytes = sum(path.stat().st_size for path in folder.iterdir())
    reduced = Reduced(writer.n_documents, writer.n_nonzeros, n_bytes)
    (folder / COUNTS).write_text(json.dumps(asdict(reduced)))
    return checksum


def load_reduced(folder: Path) -> Reduced:
    """Read what the reduction came to."""
    return Reduced(**json.loads((folder / COUNTS).read_bytes()))


def complain_of_change(feed: Feed) -> CorpusError:
    """Return an error that says that documents are not what they were in the first pass."""
    problem = "it has changed since it was first read; run again when it is whole"
    return CorpusError(feed.name, problem)


def make_table(features: Any) -> Any:
    """Return what finds the features that are kept: a vocabulary, or a new number for each."""
    if isinstance(features, list):
        return make_words(features)
    return number_features(features, int(features.max(initial=-1)) + 1)
