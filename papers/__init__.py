"""Studies of the three papers that the methods come from.

Each paper has a package of its own with the published figures, the experiments, the results and a
verdict on each claim. ``python -m papers NAME`` runs a study.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from papers.study import Paper

NAMES = ("kolcz2007", "malik", "forman2009")


def load_paper(name: str) -> Paper:
    """Return the study of a paper."""
    if name not in NAMES:
        raise ValueError(f"paper must be one of {', '.join(NAMES)}. Got {name!r} instead.")
    paper: Paper = import_module(f"papers.{name}.study").PAPER
    return paper
