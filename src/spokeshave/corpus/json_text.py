"""Values spelt as text: as JSON, and as the cells of csv and tsv."""

from __future__ import annotations

import json
from datetime import date, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from spokeshave.corpus.bad_rows import MalformedRow


def to_json(value: Any) -> str:
    """Spell a value as JSON, which has no word for numbers that are not finite: they are null.

    A date or time is a string in ISO format, a duration its seconds, a decimal number a string.

    Examples
    --------
    >>> to_json({"tags": ["café", None], "due": date(2024, 2, 29), "score": float("nan")})
    '{"tags": ["café", null], "due": "2024-02-29", "score": null}'
    """
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(_drop_infinite(value))


def to_cell(value: Any) -> str:
    """Spell a value as a cell: nothing for None, a string as it is, lists and objects as JSON.

    Examples
    --------
    >>> [to_cell(value) for value in (None, "Late", 0.5, True, ["a", "b"])]
    ['', 'Late', '0.5', 'true', '["a", "b"]']
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, date | time | timedelta | Decimal):
        return str(_simplify(value))
    return to_json(value)


def _simplify(value: Any) -> Any:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return str(value)
    problem = f"a value of type {type(value).__name__} cannot be written as text"
    raise MalformedRow(f"{problem}; write parquet instead")


def _drop_infinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_infinite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_drop_infinite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_simplify)
