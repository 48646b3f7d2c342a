"""Papers, each with what it published, how it is tried, what came out, and the verdict."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spokeshave.reproduction import Paper

NAMES = ("kolcz2007", "malik", "forman2009")


def load_paper(name: str) -> Paper:
    """Return the study of a paper."""
    if name not in NAMES:
        raise ValueError(f"paper must be one of {', '.join(NAMES)}. Got {name!r} instead.")
    paper: Paper = import_module(f"spokeshave.papers.{name}.study").PAPER
    return paper
