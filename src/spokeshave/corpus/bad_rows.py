"""Malformed rows: raised at the first, or skipped and counted."""

from __future__ import annotations

from pathlib import Path

from spokeshave.errors import CorpusError, NoDocumentsError


class MalformedRow(Exception):
    """One row that cannot be used; the message is the problem, without the place."""


class BadRows:
    """What becomes of the malformed rows of one file.

    Parameters
    ----------
    path : str or Path
        The file.
    policy : {'raise', 'skip'}
        Whether the first malformed row is raised or all are skipped and counted.
    unit : {'line', 'row'}
        What the file is counted in.

    Attributes
    ----------
    skipped : int
        How many rows were skipped so far.

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
        """Raise where no document is left."""
        if not count:
            rest = f"; all its {self.skipped} rows are malformed" if self.skipped else ""
            raise NoDocumentsError(self._path, f"there are no documents in it{rest}")

    def report(self, problem: object, number: int) -> None:
        """Raise the problem with the row of that number, or count the row."""
        if self._policy == "skip":
            self.skipped += 1
        elif self._unit == "line":
            raise CorpusError(self._path, str(problem), line=number)
        else:
            raise CorpusError(self._path, f"row {number}: {problem}")


def name_unit(format: str) -> str:
    """Return what a file of some format is counted in, as `BadRows` takes it.

    Examples
    --------
    >>> name_unit("csv"), name_unit("parquet")
    ('line', 'row')
    """
    return "row" if format == "parquet" else "line"
