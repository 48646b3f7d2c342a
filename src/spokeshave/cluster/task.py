"""What is asked of a run whose documents do not fit in one worker."""

from __future__ import annotations

from typing import Any, NamedTuple

from spokeshave.budget.costs import Costs
from spokeshave.budget.intake import TextIntake, VectorIntake, make_intake
from spokeshave.budget.request import Request
from spokeshave.budget.room import Room
from spokeshave.budget.store import Batch
from spokeshave.cluster.blocks import encode
from spokeshave.cluster.reading import Kind


class Task(NamedTuple):
    """What is asked of a run, and what workers have for it.

    Attributes
    ----------
    request : Request
        What is asked for.
    kind : Kind
        How parts are understood.
    names : list of str
        The classes.
    room : Room
        The memory of a worker.
    """

    request: Request
    kind: Kind
    names: list[str]
    room: Room

    @property
    def has_values(self) -> bool:
        """Whether features have values, or are only there or not."""
        return self.request.has_values(self.kind)  # type: ignore[arg-type]

    @property
    def intake(self) -> TextIntake | VectorIntake:
        """What turns documents into rows."""
        return make_intake(self.kind, self.request)  # type: ignore[arg-type]

    @property
    def costs(self) -> Costs:
        """What a cell, a row and a feature cost in a worker."""
        return Costs(len(self.names), 1, self.has_values)

    def encode(self, found: Any, labels: list[Any]) -> Batch:
        """Return rows with the numbers of their classes."""
        return Batch(found.indptr, found.features, found.values, *encode(labels, self.names))
