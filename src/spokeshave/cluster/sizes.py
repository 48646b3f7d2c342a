"""What results of tasks take, which Dask has to know to keep a worker within its memory.

It knows of arrays and matrices, and of lists and tuples of them. Anything else it takes for next to
nothing: it would neither count it nor put it on the disk.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import polars as pl
from dask.sizeof import sizeof

from spokeshave.cluster.shelf import Shelved
from spokeshave.curves.fitted import FittedClasses
from spokeshave.jobs.dataset import Dataset, Part
from spokeshave.selection.shaved_svc import CutModel
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.vectorizer import DocumentVectorizer

STRING = 16  # bytes of a string, which has a length and a place, or its letters if they are few
HOLDERS = (Dataset, Part, DocumentVectorizer, CutModel, DualLinearSVC, FittedClasses)


def tell_sizes() -> None:
    """Tell Dask what data frames take, and objects that hold arrays."""
    register: Any = sizeof.register
    register(pl.DataFrame, measure_frame)
    register(Shelved, attrgetter("n_bytes"))  # on a disk, but that is what it takes to send it
    for holder in HOLDERS:
        register(holder, measure_holder)


def measure_frame(frame: pl.DataFrame) -> int:
    """Return the bytes of a data frame: its own estimate is of the letters of strings alone."""
    n_strings = sum(kind == pl.String for kind in frame.dtypes)
    return int(frame.estimated_size()) + STRING * n_strings * frame.height


def measure_holder(holder: Any) -> int:
    """Return the bytes of all that an object holds.

    Examples
    --------
    >>> import numpy as np
    >>> tell_sizes()
    >>> sizeof(Part(None, np.zeros(1000), None)) > 8000
    True
    """
    return sum(map(sizeof, vars(holder).values()))
