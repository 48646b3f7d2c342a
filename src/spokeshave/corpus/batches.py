"""Some rows of a table, with all their cells, ready to be written again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spokeshave.corpus.wording import quote, quote_all


@dataclass(frozen=True)
class Batch(ABC):
    """Some rows of a table.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns, in order.
    numbers : sequence of int
        Where each row is in its source: the number of its line, or of the row in parquet.
    texts : list of str
        The text of each row.
    """

    columns: tuple[str, ...]
    numbers: Sequence[int]
    texts: list[str]

    def __len__(self) -> int:
        return len(self.numbers)

    @abstractmethod
    def list_rows(self) -> Sequence[Sequence[Any]]:
        """List the cells of each row in the order of the columns, None where a row has none."""

    def list_objects(self) -> list[dict[str, Any]]:
        """List each row as its cells by the names of their columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.list_rows()]

    def take(self, column: str) -> list[Any]:
        """List the cells of one column."""
        if column not in self.columns:
            raise ValueError(
                f"column must be one of {quote_all(self.columns)}. Got {quote(column)} instead."
            )
        place = self.columns.index(column)
        return [row[place] for row in self.list_rows()]

    def locate(self, column: str) -> int | None:
        """Return the line of the first row with a column, None where a header names it."""
        return None


@dataclass(frozen=True)
class CellBatch(Batch):
    """Rows of strings, one for each column.

    Examples
    --------
    >>> batch = CellBatch(("id", "body"), [2, 3], ["Late", "Lost"], [["7", "Late"], ["8", "Lost"]])
    >>> batch.take("id")
    ['7', '8']
    """

    rows: list[list[str]]

    def list_rows(self) -> list[list[str]]:
        """Return the rows."""
        return self.rows


@dataclass(frozen=True)
class ObjectBatch(Batch):
    """Rows that are objects with keys of their own; the columns are the keys of all.

    Examples
    --------
    >>> objects = [{"body": "Late"}, {"body": "Lost", "urgent": True}]
    >>> batch = ObjectBatch(("body", "urgent"), [1, 2], ["Late", "Lost"], objects)
    >>> batch.list_rows(), batch.locate("urgent")
    ([['Late', None], ['Lost', True]], 2)
    """

    objects: list[dict[str, Any]]

    def list_rows(self) -> list[list[Any]]:
        """List what each object has under each key."""
        return [[row.get(column) for column in self.columns] for row in self.objects]

    def list_objects(self) -> list[dict[str, Any]]:
        """Return the objects."""
        return self.objects

    def locate(self, column: str) -> int | None:
        """Return the line of the first object with a key."""
        rows = zip(self.numbers, self.objects, strict=True)
        return next((number for number, row in rows if column in row), None)


@dataclass(frozen=True, eq=False)
class FrameBatch(Batch):
    """Rows of a polars frame, each column with a type of its own.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"id": [7, 8], "body": ["Late", "Lost"]})
    >>> FrameBatch(("id", "body"), [1, 2], ["Late", "Lost"], frame).list_objects()[0]
    {'id': 7, 'body': 'Late'}
    """

    frame: Any

    def list_rows(self) -> list[tuple[Any, ...]]:
        """List the rows as Python's values."""
        rows: list[tuple[Any, ...]] = self.frame.rows()
        return rows


def list_values(values: Any) -> list[Any]:
    """Return the values of a list or a numpy array as a list of Python's own.

    Examples
    --------
    >>> import numpy as np
    >>> list_values(np.array([0.5, 1.0]))
    [0.5, 1.0]
    """
    listed: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return listed
