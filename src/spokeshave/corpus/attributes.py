"""The attributes an ARFF file declares, and what their cells stand for."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from math import isfinite, nan

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.cells import QUOTED, split_cells, unquote
from spokeshave.corpus.wording import quote, quote_all

MISSING = "?"

_DECLARATION = re.compile(
    rf"""@attribute\s+(?:{QUOTED}|(?P<bare>[^\s{{'"][^\s{{]*))\s*(?P<kind>.*)""", re.IGNORECASE
)


def parse_attribute(declaration: str) -> Attribute:
    """Read the line of an ARFF header that declares an attribute.

    Examples
    --------
    >>> parse_attribute("@ATTRIBUTE 'job type' {skilled, 'not skilled'}").columns
    ('job type=skilled', 'job type=not skilled')
    """
    match = _DECLARATION.fullmatch(declaration)
    if match is None:
        raise MalformedRow("an attribute must be declared as '@attribute name type'")
    name, kind = unquote(match), match["kind"].strip()
    if kind.startswith("{"):
        return NominalAttribute(name, _parse_values(name, kind))
    keyword = kind.lower().partition(" ")[0]
    if keyword in ("numeric", "real", "integer"):
        return NumericAttribute(name)
    if keyword == "string":
        return StringAttribute(name)
    if keyword == "date":
        return Attribute(name)
    raise MalformedRow(f"the type {quote(kind)} of the attribute {quote(name)} is unknown")


class Attribute:
    """An attribute that can be the class but not a feature, as a string or date.

    Attributes
    ----------
    name : str
        The name.
    omitted : str or None
        The value that a cell left out of a sparse row stands for, where there is one.
    """

    omitted: str | None = None

    def __init__(self, name: str) -> None:
        self.name = name

    def read_label(self, cell: str | None) -> str:
        """Return the class that a cell names, None being a cell left out of a sparse row."""
        label = self.omitted if cell is None else cell
        if label is None or label == MISSING:
            raise MalformedRow(f"the class {quote(self.name)} is missing")
        return label


class StringAttribute(Attribute):
    """A string, which can be the text of a document too.

    Examples
    --------
    >>> StringAttribute("story").read_text("Oil rose.")
    'Oil rose.'
    """

    def read_text(self, cell: str | None) -> str:
        """Return the text of a cell, None being a cell left out of a sparse row."""
        if cell is None or cell == MISSING:
            raise MalformedRow(f"the text {quote(self.name)} is missing")
        return cell


class Feature(Attribute, ABC):
    """An attribute that becomes columns.

    Attributes
    ----------
    columns : tuple of str
        The names of its columns.
    """

    columns: tuple[str, ...]

    @abstractmethod
    def encode(self, cell: str) -> tuple[int, float]:
        """Return which of the columns a cell fills, and with what."""

    def read_label(self, cell: str | None) -> str:
        """Return the class that a cell names, where the attribute allows it."""
        label = super().read_label(cell)
        self.encode(label)
        return label


class NumericAttribute(Feature):
    """A number, which becomes one column, NaN where it is missing.

    Examples
    --------
    >>> NumericAttribute("age").encode("67")
    (0, 67.0)
    """

    omitted = "0"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.columns = (name,)

    def encode(self, cell: str) -> tuple[int, float]:
        """Return column 0 and the number."""
        if cell == MISSING:
            return 0, nan
        try:
            number = float(cell)
        except ValueError:
            number = nan
        if not isfinite(number) or "_" in cell:
            problem = f"{quote(cell)} is not a number, but the attribute {quote(self.name)} is"
            raise MalformedRow(problem)
        return 0, number


class NominalAttribute(Feature):
    """One of a few declared values, which become one indicator column each.

    A missing value sets no indicator.

    Examples
    --------
    >>> housing = NominalAttribute("housing", ["rent", "own"])
    >>> housing.columns
    ('housing=rent', 'housing=own')
    >>> housing.encode("own")
    (1, 1.0)
    """

    omitted: str

    def __init__(self, name: str, values: list[str]) -> None:
        super().__init__(name)
        self.omitted = values[0]
        self.columns = tuple(f"{name}={value}" for value in values)
        self._codes = {value: code for code, value in enumerate(values)}

    def encode(self, cell: str) -> tuple[int, float]:
        """Return the column of the value and 1, or any column and 0 where it is missing."""
        code = self._codes.get(cell)
        if code is not None:
            return code, 1.0
        if cell == MISSING:
            return 0, 0.0
        problem = f"{quote(cell)} is not a declared value of the attribute {quote(self.name)}"
        raise MalformedRow(f"{problem}; declared are {quote_all(list(self._codes))}")


def _parse_values(name: str, declared: str) -> list[str]:
    values = split_cells(declared[1:-1])
    if not declared.endswith("}") or not all(values):
        raise MalformedRow(f"the values of {quote(name)} must stand between braces, none empty")
    return list(dict.fromkeys(values))
