"""The columns of a table that hold its texts and labels, told or guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from spokeshave.corpus.column_names import (
    PREFERENCES,
    Column,
    check_column,
    find_preferred,
    show_column,
)
from spokeshave.corpus.samples import Sample, read_sample
from spokeshave.errors import CorpusError


@dataclass(frozen=True)
class Columns:
    """The columns of a table that hold the texts and the labels.

    Attributes
    ----------
    text : str or int
        The column of texts: its name, or its position from 0 where there is no header.
    label : str, int or None
        The column of labels, likewise; None where none are wanted.
    has_header : bool
        Whether the columns have names.
    reason : str
        What was guessed and by what, to be shown; empty where nothing was.
    """

    text: Column
    label: Column | None
    has_header: bool
    reason: str


def guess_columns(
    path: str | Path,
    format: str,
    encoding: str = "utf-8",
    *,
    text: Column | None = None,
    label: Column | None = None,
    labelled: bool = True,
) -> Columns:
    r"""Find the columns of texts and labels in a table, by their names or by what is in them.

    Of two columns without telling names, the one with the longer and more varied values holds the
    texts. A csv or tsv file has no header where its first row has no telling name, but a value
    that comes again below it or is too long for a name.

    Parameters
    ----------
    path : str or Path
        The table; no pipe, unless all columns are given by name.
    format : {'csv', 'tsv', 'jsonl', 'parquet'}
        Its format.
    encoding : str
        Its encoding.
    text, label : str or int, optional
        The columns that need no guess: names, or positions from 0, which may be spelt as strings
        and become names where there are names.
    labelled : bool
        Whether labels are wanted.

    Returns
    -------
    columns : Columns
        The columns, as `read_texts` takes them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("id,queue,body\n1,display,Black\n2,parcel,Late\n")
    ...     guess_columns(path, "csv", label="queue")
    Columns(text='body', label='queue', has_header=True,
            reason="the text is column 'body' by its name")
    """
    text, label = check_column(text), check_column(label)
    sides = {"text": text, "label": label} if labelled else {"text": text}
    if text is not None and text == sides.get("label"):
        raise ValueError(f"text and label must be different columns. Got {text!r} twice instead.")
    if isinstance(text, str) and (isinstance(label, str) or not labelled):
        return Columns(text, sides.get("label"), True, "")
    sample = read_sample(path, format, encoding, sides.values())
    found = _find_sides(sample, sides)
    if not found.keys() >= sides.keys():
        missing = [side for side in sides if side not in found]
        wish = " and ".join(f"which is the {side}" for side in missing)
        raise CorpusError(path, f"say {wish}; {sample.describe()}", parameters=missing)
    columns = {side: sample.spell(found[side].place) for side in sides}
    reason = _explain(sample, {side: found[side] for side in sides})
    return Columns(columns["text"], columns.get("label"), sample.names is not None, reason)


def list_columns(path: str | Path, format: str, encoding: str = "utf-8") -> list[str]:
    r"""Return the names of the columns of a table, none where it has no header.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("id,queue,body\n1,display,Black\n2,parcel,Late\n")
    ...     list_columns(path, "csv")
    ['id', 'queue', 'body']
    """
    return read_sample(path, format, encoding).names or []


class _Guess(NamedTuple):
    place: int
    reason: str


_Guesses: TypeAlias = dict[str, _Guess]


def _find_sides(sample: Sample, given: Mapping[str, Column | None]) -> _Guesses:
    found = {
        side: _Guess(sample.locate(column), "")
        for side, column in given.items()
        if column is not None
    }
    for guess in (_guess_by_names, _guess_the_only, _guess_the_other, _guess_by_values):
        found = guess(sample, found) | found
    return found


def _guess_by_names(sample: Sample, found: _Guesses) -> _Guesses:
    names = [str(sample.spell(place)) for place in _list_free(sample, found) if sample.names]
    best = {side: find_preferred(names, known) for side, known in PREFERENCES.items()}
    return {
        side: _Guess(sample.locate(chosen[0]), "by its name")
        for side, chosen in best.items()
        if len(chosen) == 1
    }


def _guess_the_only(sample: Sample, found: _Guesses) -> _Guesses:
    is_clear = sample.width == 1 and not found
    return {"text": _Guess(0, "as the only one")} if is_clear else {}


def _guess_the_other(sample: Sample, found: _Guesses) -> _Guesses:
    free = _list_free(sample, found)
    is_clear = len(free) == 1 and len(found) == 1
    return dict.fromkeys(PREFERENCES, _Guess(free[0], "as the only other one")) if is_clear else {}


def _guess_by_values(sample: Sample, found: _Guesses) -> _Guesses:
    if found or sample.width != 2:
        return {}
    columns = [[str(row[place]) for row in sample.rows] for place in (0, 1)]
    lengths = [sum(map(len, column)) for column in columns]
    varieties = [len(set(column)) for column in columns]
    text = int(lengths[0] < lengths[1])
    is_clear = lengths[text] > lengths[1 - text] and varieties[text] > varieties[1 - text]
    is_clear = is_clear and all(isinstance(row[text], str) for row in sample.rows)
    reason = "by its values"
    return {"text": _Guess(text, reason), "label": _Guess(1 - text, reason)} if is_clear else {}


def _list_free(sample: Sample, found: _Guesses) -> list[int]:
    """Return the positions of the columns that are not found to be anything."""
    taken = {guess.place for guess in found.values()}
    return [place for place in range(sample.width) if place not in taken]


def _explain(sample: Sample, found: _Guesses) -> str:
    reasons = [] if sample.names else ["there is no header"]
    for side, (place, reason) in found.items():
        if reason:
            reasons.append(f"the {side} is {show_column(sample.spell(place))} {reason}")
    return ", ".join(reasons)
