"""The parts of a study: tasks, tables, figures and claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from papers.verdicts import Claim, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Results = Mapping[str, Any]  # results of tasks by task name


class Setting(NamedTuple):
    """The data folder, and whether a small sample of the tasks is enough."""

    data: Path
    is_quick: bool


class Task(NamedTuple):
    """A unit of work whose result is saved as soon as it is finished.

    Attributes
    ----------
    name : str
        File name of the saved result; letters, digits and ``-_.``.
    run : callable
        A function of a module, called with the data folder and ``arguments``. It returns JSON
        values (None, bool, int, float, str, list, dict) and depends on nothing else.
    arguments : dict of JSON
        Keyword arguments. A result saved with other arguments is not reused.
    cost : float
        Running time relative to other tasks: expensive tasks start first.
    is_alone : bool
        Whether nothing may run beside the task, because it measures time.
    """

    name: str
    run: Callable[..., Any]
    arguments: dict[str, Any]
    cost: float = 1.0
    is_alone: bool = False


@dataclass(frozen=True)
class Part:
    """A table or a figure of a paper, or an experiment beyond it.

    Attributes
    ----------
    name : str
        Name on the command line: ``table1``.
    title : str
        Caption.
    list_tasks : callable
        From a `Setting` to the tasks of the part. Parts may share tasks: tasks of the same name
        are the same task and run once.
    tabulate : callable
        From the results of those tasks to small tables by name. Figures and verdicts are made
        from these tables alone.
    draw : callable, optional
        From all tables to figures by name.
    """

    name: str
    title: str
    list_tasks: Callable[[Setting], Iterable[Task]]
    tabulate: Callable[[Results], Tables]
    draw: Callable[[Tables], Mapping[str, Figure]] | None = None


@dataclass(frozen=True)
class Paper:
    """A paper and its study.

    Attributes
    ----------
    name, title : str
        Name on the command line, and full title.
    parts : tuple of Part
        In the order of the paper.
    extras : tuple of Part
        Parts that only a run which names them runs. No claim needs their tables.
    claims : tuple of Claim
        Every claim of the sections on results.
    needs : tuple of str
        Files and folders below the data folder that a full run reads.
    blocks : dict of str to callable
        Functions from all tables to Markdown, by the name of the block of the paper's README.md
        that each of them fills. The verdicts are a block of every README.md.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    claims: tuple[Claim, ...]
    needs: tuple[str, ...] = field(default=())
    blocks: Mapping[str, Callable[[Tables], str]] = field(default_factory=dict)
    extras: tuple[Part, ...] = field(default=())

    def choose_parts(self, only: Iterable[str] | None) -> tuple[Part, ...]:
        """Return the parts with these names, or all but the extras if ``only`` is None."""
        if only is None:
            return self.parts
        every = (*self.parts, *self.extras)
        known, wanted = [part.name for part in every], list(only)
        unknown = [name for name in wanted if name not in known]
        if unknown or not wanted:
            raise ValueError(
                f"{self.name} has the parts {', '.join(known)}. "
                f"Got {unknown[0] if unknown else 'none'!r} instead."
            )
        return tuple(part for part in every if part.name in wanted)
