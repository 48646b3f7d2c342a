"""Types of the columns of a parquet file, told by the values that are written to it.

This loads polars: import it where a parquet file is met, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import polars
from polars.datatypes import DataType, DataTypeClass

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.batches import list_values
from spokeshave.corpus.json_text import to_json
from spokeshave.corpus.wording import quote

Type: TypeAlias = DataType | DataTypeClass

_PLAIN: dict[type, Type] = {
    type(None): polars.Null,
    bool: polars.Boolean,
    int: polars.Int64,
    float: polars.Float64,
    str: polars.String,
}
_KINDS_OF_ARRAY: dict[str, Type] = {
    "b": polars.Boolean,
    "i": polars.Int64,
    "u": polars.Int64,
    "f": polars.Float64,
}
_NUMBERS = {polars.Int64, polars.Float64}
_STRINGS = {str, type(None)}


class ColumnTypes:
    """The types of columns, each settled by the first values that are written to it.

    Whole numbers are Int64; where some are not whole, all are Float64. Lists remain lists, and an
    object becomes a string of JSON. Where every value is missing, the type is String.

    Parameters
    ----------
    refuse : callable
        Raises the problem it is given, with the row of the number it is given.

    Examples
    --------
    >>> types = ColumnTypes(print)
    >>> types.make_series("score", [1, 0.5, None], [2, 3, 4]).to_list()
    [1.0, 0.5, None]
    >>> types.make_series("score", [2], [5]).dtype
    Float64
    """

    def __init__(self, refuse: Callable[[str, int], None]) -> None:
        self._refuse = refuse
        self._types: dict[str, Type] = {}

    def make_series(self, name: str, values: Any, numbers: Sequence[int]) -> polars.Series:
        """Turn the values of some rows, a list or a numpy array, into a column of its type."""
        cells = [_flatten(value) for value in list_values(values)]
        if name not in self._types:
            found = self._follow(name, cells, numbers, _name_kind(values), _unite)
            self._types[name] = _settle(found)
        elif self._types[name] != polars.String or not _STRINGS.issuperset(map(type, cells)):
            self._follow(name, cells, numbers, self._types[name], _require)
        return polars.Series(name, cells, dtype=self._types[name])

    def _follow(
        self,
        name: str,
        cells: Iterable[Any],
        numbers: Sequence[int],
        known: Type,
        join: Callable[[Type, Type], Type],
    ) -> Type:
        for number, cell in zip(numbers, cells, strict=True):
            try:
                known = join(known, _find_type(cell))
            except MalformedRow as problem:
                self._refuse(f"column {quote(name)}: {problem}; write jsonl instead", number)
        return known


def _flatten(value: Any) -> Any:
    """Turn the objects in a value into strings of JSON."""
    if isinstance(value, dict):
        return to_json(value)
    return [_flatten(item) for item in value] if isinstance(value, list | tuple) else value


def _name_kind(values: Any) -> Type:
    """Return the type that an array has even where it is empty."""
    return _KINDS_OF_ARRAY.get(values.dtype.kind if hasattr(values, "dtype") else "", polars.Null)


def _find_type(value: Any) -> Type:
    if isinstance(value, list):
        unknown: Type = polars.Null
        return polars.List(reduce(_unite, map(_find_type, value), unknown))
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise MalformedRow("the number has more than 64 bits")
    found = next((type for kind, type in _PLAIN.items() if isinstance(value, kind)), None)
    if found is None:
        raise MalformedRow(f"the value is of type {type(value).__name__}")
    return found


def _unite(known: Type, found: Type) -> Type:
    """Return the type that holds the values of both."""
    if known == found or found == polars.Null:
        return known
    if known == polars.Null:
        return found
    if known in _NUMBERS and found in _NUMBERS:
        return polars.Float64
    if isinstance(known, polars.List) and isinstance(found, polars.List):
        return polars.List(_unite(known.inner, found.inner))
    raise MalformedRow(f"the type is {found} here and {known} above")


def _require(known: Type, found: Type) -> Type:
    """Return the type that is known, and raise where it does not hold what is found."""
    if _unite(known, found) != known:
        raise MalformedRow(f"the type is {found} here and {known} above")
    return known


def _settle(type: Type) -> Type:
    """Turn the unknown in a type into strings."""
    if isinstance(type, polars.List):
        return polars.List(_settle(type.inner))
    return polars.String if type == polars.Null else type
