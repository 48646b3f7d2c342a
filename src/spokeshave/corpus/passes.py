"""One pass through the documents of some sources."""

from __future__ import annotations

from spokeshave.corpus.bad_rows import BadRows
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.orders import Order


class Pass:
    """How far a pass has come, and how many malformed rows it has left out.

    Attributes
    ----------
    meter : Meter
        How far it has come.

    Examples
    --------
    >>> from pathlib import Path
    >>> current = Pass()
    >>> bad_rows = current.add_bad_rows(Order(Path("tickets.csv"), "csv", bad_rows="skip"))
    >>> bad_rows.report("the label is missing", 7)
    >>> current.count_skipped()
    1
    """

    def __init__(self) -> None:
        self.meter = Meter()
        self._bad_rows: list[BadRows] = []

    def add_bad_rows(self, order: Order) -> BadRows:
        """Return what becomes of the malformed rows of one more source."""
        self._bad_rows.append(order.make_bad_rows())
        return self._bad_rows[-1]

    def count_skipped(self) -> int:
        """Count the rows that were left out so far."""
        return sum(bad_rows.skipped for bad_rows in self._bad_rows)
