"""The first pass over the documents: counts of all, and a subset to rank features on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from spokeshave.budget.classes import Classes
from spokeshave.budget.intake import chain, make_intake, map_ahead
from spokeshave.budget.lexicon import Lexicon
from spokeshave.budget.memory import measure_resident
from spokeshave.budget.request import Feed, Reporter, Request
from spokeshave.budget.room import Room, find_spare
from spokeshave.budget.sample import COLUMN, Sample
from spokeshave.budget.survey import Survey, survey_rows
from spokeshave.utils.formatting import write_size

BATCH = 250  # documents that are read at a time
OF_MATRIX = 0.4  # of the memory, where criteria take a matrix, and copies of it


@dataclass(frozen=True, eq=False)
class Surveyed:
    """What the first pass leaves; ``checksum`` tells the documents from any others."""

    survey: Survey
    classes: Classes
    checksum: int
    sample: Sample


def survey_feed(feed: Feed, request: Request, room: Room, reporter: Reporter) -> Surveyed:
    """Count all documents, and keep the largest random subset that there is room for."""
    survey, classes, checksum = Survey(), Classes(request.class_names), 0
    sample = make_sample(feed, request, room)
    intake = make_intake(feed, request)
    for incoming in map_ahead(intake.scan, feed.read_batches(BATCH), request.n_threads):
        survey = survey.merge(
            survey_rows(
                incoming.features,
                incoming.n_documents,
                incoming.labels,
                words=incoming.list_words(),
            )
        )
        checksum = chain(checksum, incoming.checksum)
        batch = incoming.encode(classes)
        sample.add(batch, len(classes), incoming.words)
        require_numbers(survey.n_features, room)
        if measure_resident() > room.memory - find_spare(room.memory) // 3:
            sample.stop_growing(len(classes))
        reporter.reach(feed.position / max(feed.n_bytes, 1))
    require_classes(classes, feed)
    return Surveyed(survey, classes, checksum, sample)


def make_sample(feed: Feed, request: Request, room: Room) -> Sample:
    """Return an empty subset."""
    return Sample(
        room.free if request.by == "normal" else int(OF_MATRIX * room.free),
        seed=request.seed,
        has_values=request.has_values(feed),
        lexicon=Lexicon() if feed.is_text else None,
        n_threads=request.n_threads,
    )


def require_numbers(n_features: int, room: Room) -> None:
    """Raise where the numbers of features are so large that counting them takes the memory."""
    most = room.free // (2 * COLUMN)
    if n_features > most:
        raise ValueError(
            f"memory must be enough for features with numbers up to {n_features:,}. Got "
            f"{write_size(room.memory)}, which is for {most:,}: give more, or number them anew."
        )


def require_classes(classes: Classes, feed: Feed) -> None:
    """Raise where there are too few classes to tell apart."""
    if len(classes) < (1 if feed.is_multilabel else 2):
        names = classes.names
        found = f"all are of class {names[0]!r}" if names else "none has a label"
        raise ValueError(f"The documents must be of two classes or more; {found}.")


def save_survey(folder: Path, surveyed: Surveyed) -> None:
    """Write what the first pass has found."""
    survey = surveyed.survey
    counts = asdict(replace(survey, smallest=np.empty(0, np.uint64)))
    del counts["smallest"], counts["class_counts"]
    names = surveyed.classes.names
    counts["classes"] = [[name, survey.class_counts[name]] for name in names]
    counts["checksum"] = surveyed.checksum
    np.save(folder / "smallest.npy", survey.smallest)
    surveyed.sample.save(folder)
    (folder / "counts.json").write_text(json.dumps(counts))


def load_survey(folder: Path, sample: Sample) -> Surveyed:
    """Read what the first pass of an earlier run has found."""
    counts = json.loads((folder / "counts.json").read_bytes())
    names = dict(map(tuple, counts.pop("classes")))
    checksum = counts.pop("checksum")
    survey = Survey(**counts, smallest=np.load(folder / "smallest.npy"))
    survey.class_counts.update(names)
    sample.load(folder)
    return Surveyed(survey, Classes(names), checksum, sample)
