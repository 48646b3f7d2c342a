"""Malformed rows, raised or skipped and counted, and the quoting of values in errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spokeshave.corpus.limits import MAX_LISTED, MAX_QUOTED
from spokeshave.errors import CorpusError, NoDocumentsError


class MalformedRow(Exception):
    """One row that cannot be used; the message is the problem, without the file and the line."""


class BadRows:
    """Raise the malformed rows of one file, or count them.

    Parameters
    ----------
    path : str or Path
        The file.
    policy : {'raise', 'skip'}
        Whether the first malformed row is raised, or all are skipped and counted.
    unit : {'line', 'row'}
        The unit in which positions in the file are counted.

    Attributes
    ----------
    skipped : int
        Number of rows skipped so far.

    Examples
    --------
    >>> bad_rows = BadRows("tickets.csv", "skip")
    >>> bad_rows.report("the label is missing", 7)
    >>> bad_rows.skipped
    1
    """

    def __init__(self, path: str | Path, policy: str, unit: str = "line") -> None:
        if policy not in ("raise", "skip"):
            raise ValueError(f"bad_rows must be 'raise' or 'skip'. Got {policy!r} instead.")
        self._path, self._policy, self._unit = path, policy, unit
        self.skipped = 0

    def require_documents(self, count: int) -> None:
        """Raise if no document is left."""
        if not count:
            rest = f"; all its {self.skipped} rows are malformed" if self.skipped else ""
            raise NoDocumentsError(self._path, f"there are no documents in it{rest}")

    def report(self, problem: object, number: int) -> None:
        """Raise the problem of the row at this position, or count the row."""
        if self._policy == "skip":
            self.skipped += 1
        elif self._unit == "line":
            raise CorpusError(self._path, str(problem), line=number)
        else:
            raise CorpusError(self._path, f"row {number}: {problem}")


def name_unit(format: str) -> str:
    """Return the unit of positions in files of a format, as `BadRows` takes it."""
    return "row" if format == "parquet" else "line"


def quote(value: str) -> str:
    """Quote a value for an error, shortened if it is long."""
    if len(value) > MAX_QUOTED:
        value = f"{value[:MAX_QUOTED]}..."
    return f"'{value}'"


def quote_all(values: Sequence[str]) -> str:
    """Quote the first few values for an error, and count the others."""
    quoted = ", ".join(map(quote, values[:MAX_LISTED]))
    more = len(values) - MAX_LISTED
    return f"{quoted} and {more} more" if more > 0 else quoted
