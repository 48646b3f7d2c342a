"""The columns of texts and labels in a table, given or guessed from its first rows."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spokeshave.corpus import limits
from spokeshave.corpus.encoding import UTF_8
from spokeshave.corpus.files import explain_damage, open_text, require_file, require_seekable
from spokeshave.corpus.options import Column, check_column, quote_all, show_column
from spokeshave.errors import CorpusError, NoDocumentsError

# The most preferred name comes first.
TEXT_NAMES = (
    *("text", "body", "message", "content", "document", "review", "description", "abstract"),
    *("comment", "sentence", "tweet", "article", "post", "question", "email", "utterance"),
    *("story", "query", "summary", "headline", "subject", "title"),
)
LABEL_NAMES = (
    *("label", "labels", "class", "classlabel", "category", "categories", "target", "queue"),
    *("topic", "topics", "tag", "tags", "sentiment", "polarity", "intent", "genre"),
    *("department", "section", "group", "newsgroup", "type", "kind", "y", "rating", "stars"),
)
PREFERENCES = {"text": TEXT_NAMES, "label": LABEL_NAMES}

_DIALECTS: dict[str, dict[str, Any]] = {
    "csv": {"delimiter": ",", "strict": True},
    "tsv": {"delimiter": "\t", "quoting": csv.QUOTE_NONE},
}


@dataclass(frozen=True)
class Columns:
    """The columns of a table that hold the texts and the labels.

    Attributes
    ----------
    text : str or int
        The column of texts: its name, or its position from 0 if there is no header.
    label : str, int or None
        The column of labels, in the same way; None if no labels are read.
    has_header : bool
        Whether the columns have names.
    reason : str
        The guesses and their reasons, empty if nothing was guessed.
    """

    text: Column
    label: Column | None
    has_header: bool
    reason: str


def guess_columns(
    path: str | Path,
    format: str,
    encoding: str = UTF_8,
    *,
    text: Column | None = None,
    label: Column | None = None,
    labelled: bool = True,
) -> Columns:
    r"""Find the columns of texts and labels in a table, by their names or their values.

    Of two columns without known names, the one with the longer and more varied values holds the
    texts. A csv or tsv file has no header if its first row has no known name, but a value that
    occurs again below or that is too long for a name.

    Parameters
    ----------
    path : str or Path
        The table; no pipe, unless all columns are given by name.
    format : {'csv', 'tsv', 'jsonl', 'parquet'}
        Its format.
    encoding : str
        Its encoding.
    text, label : str or int, optional
        The columns that are not guessed: names, or positions from 0, which may be strings of
        digits. A position in a table with a header becomes a name.
    labelled : bool
        Whether the table has labels.

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
    given = {"text": text, "label": label} if labelled else {"text": text}
    if text is not None and text == given.get("label"):
        raise ValueError(f"text and label must be different columns. Got {text!r} twice instead.")
    if isinstance(text, str) and (isinstance(label, str) or not labelled):
        return Columns(text, given.get("label"), True, "")
    sample = read_sample(path, format, encoding, given.values())
    found = _find_roles(sample, given)
    if not found.keys() >= given.keys():
        missing = [role for role in given if role not in found]
        wish = " and ".join(f"which is the {role}" for role in missing)
        raise CorpusError(path, f"say {wish}; {sample.describe()}", parameters=missing)
    columns = {role: sample.get_column(found[role].position) for role in given}
    reason = _explain(sample, {role: found[role] for role in given})
    return Columns(columns["text"], columns.get("label"), sample.names is not None, reason)


def list_columns(path: str | Path, format: str, encoding: str = UTF_8) -> list[str]:
    """Return the names of the columns of a table, none if it has no header."""
    return read_sample(path, format, encoding).names or []


def find_preferred(names: Sequence[str], preferences: Sequence[str]) -> list[str]:
    """Return the names that equal the most preferred one, ignoring case, spaces and hyphens.

    Examples
    --------
    >>> find_preferred(["id", "Title", "Class Label", "Body"], TEXT_NAMES)
    ['Body']
    """
    simple = [re.sub(r"[\s_-]", "", name).casefold() for name in names]
    best = next((preferred for preferred in preferences if preferred in simple), None)
    return [name for name, plain in zip(names, simple, strict=True) if plain == best]


@dataclass(frozen=True)
class Sample:
    """The first rows of a table.

    Attributes
    ----------
    path : str or Path
        The table.
    names : list of str or None
        The names of its columns; None if there is no header.
    rows : list of list
        The cells of the first rows that have one for each column.
    """

    path: str | Path
    names: list[str] | None
    rows: list[list[Any]]

    @property
    def width(self) -> int:
        """Count the columns."""
        return len(self.rows[0] if self.names is None else self.names)

    def get_column(self, position: int) -> Column:
        """Return the name of a column, or its position if there is no header."""
        return position if self.names is None else self.names[position]

    def locate(self, column: Column) -> int:
        """Return the position of a column; a number may be a name."""
        if self.names and str(column) in self.names:
            return self.names.index(str(column))
        if isinstance(column, int) and 0 <= column < self.width:
            return column
        raise CorpusError(self.path, f"there is no {show_column(column)}; {self.describe()}")

    def describe(self) -> str:
        """List the columns in a sentence."""
        if self.names is None:
            return f"there is no header, and the columns are 0 to {self.width - 1}"
        return f"the columns are {quote_all(self.names)}"


def read_sample(
    path: str | Path,
    format: str,
    encoding: str = UTF_8,
    known: Collection[Column | None] = (),
) -> Sample:
    """Read the first rows of a table, which must not be a pipe.

    The columns in `known` tell whether there is a header: names require one, positions make one
    less likely.
    """
    require_file(path)
    require_seekable(path)
    if format == "parquet":
        return _sample_parquet(path)
    if format == "jsonl":
        return _sample_jsonl(path, encoding)
    first, *records = _read_records(path, format, encoding)
    rows = [record for record in records if len(record) == len(first)]
    if not _is_header(first, rows, known):
        return Sample(path, None, [first, *rows])
    _require_rows(path, records)
    return Sample(path, first, rows)


def split_fields(lines: Iterable[str], format: str) -> Any:
    """Return a reader of the rows of csv or tsv."""
    csv.field_size_limit(max(limits.MAX_DOCUMENT_LENGTH, csv.field_size_limit()))
    return csv.reader(lines, **_DIALECTS[format])


def explain_fields(error: csv.Error) -> str:
    """Explain why a row of csv cannot be split into fields."""
    if is_unclosed(error):
        return "a quote that opens in this row is never closed; close it, or write it twice"
    return f"the row cannot be split into fields ({error}); check its quotes"


def is_unclosed(error: csv.Error) -> bool:
    """Return whether a quoted field goes on to the end of the file, or for too long."""
    return str(error).startswith(("unexpected end of data", "field larger than field limit"))


def _read_records(path: str | Path, format: str, encoding: str) -> list[list[str]]:
    """Read the first rows, up to one that cannot be split into fields."""
    records: list[list[str]] = []
    with open_text(path, encoding) as stream:
        rows = filter(None, islice(split_fields(stream, format), limits.SAMPLE_LINES))
        try:
            for record in islice(rows, 1 + limits.SAMPLE_ROWS):
                records.append(record)
        except csv.Error as error:
            if not records:
                raise CorpusError(path, explain_fields(error), line=1) from None
    _require_rows(path, records)
    return records


def _is_header(first: list[str], rows: list[list[str]], known: Collection[Column | None]) -> bool:
    is_named = all(find_preferred(first, names) for names in PREFERENCES.values())
    if is_named or any(isinstance(column, str) for column in known):
        return True
    repeated = {cell for i, cell in enumerate(first) if any(row[i] == cell for row in rows)}
    unique = [cell for cell in first if cell not in repeated]
    if any(find_preferred(unique, names) for names in PREFERENCES.values()):
        return True
    if any(map(str.strip, repeated)) or max(map(len, first)) > limits.MAX_NAME_LENGTH:
        return False
    # Positions are meant for files without a header, so they count against one.
    return not any(isinstance(column, int) for column in known)


def _sample_jsonl(path: str | Path, encoding: str) -> Sample:
    with open_text(path, encoding) as stream:
        lines = filter(str.strip, islice(stream, limits.SAMPLE_LINES))
        records = list(islice(filter(None, map(_parse_object, lines)), limits.SAMPLE_ROWS))
    if not records:
        problem = "there is no JSON object on any of its first lines; write one on each"
        raise CorpusError(path, problem)
    names = list(dict.fromkeys(chain.from_iterable(records)))
    return Sample(path, names, [[record.get(name) for name in names] for record in records])


def _parse_object(line: str) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        record = json.loads(line)
        return record if isinstance(record, dict) else None
    return None


def _sample_parquet(path: str | Path) -> Sample:
    from spokeshave.corpus.formats.parquet import scan

    with explain_damage(path), scan(path) as table:
        rows = table.head(limits.SAMPLE_ROWS).collect()
    return Sample(path, rows.columns, list(map(list, rows.rows())))


def _require_rows(path: str | Path, rows: Sequence[object]) -> None:
    if not rows:
        raise NoDocumentsError(path, "there are no documents in it")


class _Guess(NamedTuple):
    position: int
    reason: str


_Guesses: TypeAlias = dict[str, _Guess]


def _find_roles(sample: Sample, given: Mapping[str, Column | None]) -> _Guesses:
    """Return the columns with the roles 'text' and 'label', given or guessed."""
    found = {
        role: _Guess(sample.locate(column), "")
        for role, column in given.items()
        if column is not None
    }
    for guess in (_guess_by_names, _guess_the_only, _guess_the_other, _guess_by_values):
        found = guess(sample, found) | found
    return found


def _guess_by_names(sample: Sample, found: _Guesses) -> _Guesses:
    names = [str(sample.get_column(i)) for i in _list_free(sample, found) if sample.names]
    best = {role: find_preferred(names, known) for role, known in PREFERENCES.items()}
    return {
        role: _Guess(sample.locate(chosen[0]), "by its name")
        for role, chosen in best.items()
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
    columns = [[str(row[i]) for row in sample.rows] for i in (0, 1)]
    lengths = [sum(map(len, column)) for column in columns]
    varieties = [len(set(column)) for column in columns]
    text = int(lengths[0] < lengths[1])
    is_clear = lengths[text] > lengths[1 - text] and varieties[text] > varieties[1 - text]
    is_clear = is_clear and all(isinstance(row[text], str) for row in sample.rows)
    reason = "by its values"
    return {"text": _Guess(text, reason), "label": _Guess(1 - text, reason)} if is_clear else {}


def _list_free(sample: Sample, found: _Guesses) -> list[int]:
    """Return the positions of the columns without a role."""
    used = {guess.position for guess in found.values()}
    return [position for position in range(sample.width) if position not in used]


def _explain(sample: Sample, found: _Guesses) -> str:
    reasons = [] if sample.names else ["there is no header"]
    for role, (position, reason) in found.items():
        if reason:
            reasons.append(f"the {role} is {show_column(sample.get_column(position))} {reason}")
    return ", ".join(reasons)
