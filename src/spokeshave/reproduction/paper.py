"""What a study of a paper is made of: parts of tasks, tables and figures, and claims to judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

REPRODUCED, IN_PART = "reproduced", "in part"
NOT_REPRODUCED, NOT_TRIED = "not reproduced", "could not be tried"

Tables = Mapping[str, "pl.DataFrame"]  # by name, as they are kept: NAME.csv
Results = Mapping[str, Any]  # of tasks, by their names


class Setting(NamedTuple):
    """Where the data are, and whether a small part of the tasks will do."""

    data: Path
    is_quick: bool


class Task(NamedTuple):
    """A piece of work whose result is kept as soon as it is there.

    Attributes
    ----------
    name : str
        What its result is kept under; letters, digits and ``-_.``.
    run : callable
        A function of a module, called with the folder of data and ``arguments``. What it returns
        must be JSON: None, bool, int, float, str, list, dict. It must depend on nothing else.
    arguments : dict of JSON
        Its keyword arguments. A result that was found with others is not taken up again.
    cost : float
        About how long it takes next to other tasks: the costly ones start first.
    is_alone : bool
        Whether nothing may run beside it, because it measures time.
    """

    name: str
    run: Callable[..., Any]
    arguments: dict[str, Any]
    cost: float = 1.0
    is_alone: bool = False


@dataclass(frozen=True)
class Part:
    """A table or a figure of a paper, or something beyond it.

    Attributes
    ----------
    name : str
        As ``--only`` has it: ``table1``.
    title : str
        What it shows.
    list_tasks : callable
        The tasks that it needs, given a `Setting`. Parts may share tasks: the same name is the
        same task and runs once.
    tabulate : callable
        From the results of those tasks to tables of a few columns, by name. They are what is kept,
        so figures and verdicts are made from them alone.
    draw : callable, optional
        From all tables to figures, by name.
    """

    name: str
    title: str
    list_tasks: Callable[[Setting], Iterable[Task]]
    tabulate: Callable[[Results], Tables]
    draw: Callable[[Tables], Mapping[str, Figure]] | None = None


class Verdict(NamedTuple):
    """What became of a claim, and the figures that say so."""

    word: str
    figures: str


class Claim(NamedTuple):
    """Something that a paper says about its results.

    Attributes
    ----------
    where : str
        The place: ``Table 1``, ``5.1``.
    says : str
        The claim, in one sentence, with the published figures.
    judge : callable or str
        From all tables to a `Verdict`; or why it could not be tried. A claim whose tables are not
        there because their part was not run is not judged.
    """

    where: str
    says: str
    judge: Callable[[Tables], Verdict] | str


@dataclass(frozen=True)
class Paper:
    """A paper and how it is tried.

    Attributes
    ----------
    name, title : str
        As the command line has it, and in full.
    parts : tuple of Part
        In the order of the paper.
    claims : tuple of Claim
        Every one of the sections on results.
    needs : tuple of str
        Files and folders below the folder of data that a full run reads.
    blocks : dict of str to callable
        What of the tables stands in the paper's README.md, by the name in its markers: functions
        from all tables to Markdown. The verdicts are there in any case.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    claims: tuple[Claim, ...]
    needs: tuple[str, ...] = field(default=())
    blocks: Mapping[str, Callable[[Tables], str]] = field(default_factory=dict)

    def choose_parts(self, only: Iterable[str] | None) -> tuple[Part, ...]:
        """Return the parts of these names, all of them for None."""
        known = [part.name for part in self.parts]
        wanted = known if only is None else list(only)
        unknown = [name for name in wanted if name not in known]
        if unknown or not wanted:
            raise ValueError(
                f"{self.name} has the parts {', '.join(known)}. "
                f"Got {unknown[0] if unknown else 'none'!r} instead."
            )
        return tuple(part for part in self.parts if part.name in wanted)
