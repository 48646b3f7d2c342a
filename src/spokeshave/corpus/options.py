"""Options that say how a source is read, and the sizes of batches and samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

from spokeshave.corpus.limits import MAX_LISTED, MAX_QUOTED
from spokeshave.errors import CorpusError, NoDocumentsError

MAX_PROBLEMS = 100  # counted, of the kinds of malformed rows
SKIPPING = "bad_rows"  # the parameter by which malformed rows are skipped


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
    can_skip : bool
        Whether the reader has the policy 'skip' for these rows, which errors then propose.

    Attributes
    ----------
    skipped : int
        Number of rows skipped so far; a row counts as often as it has lines.
    problems : Counter of str
        The number of them with each problem.

    Examples
    --------
    >>> bad_rows = BadRows("tickets.csv", "skip")
    >>> bad_rows.report("the label is missing", 7)
    >>> bad_rows.skipped
    1
    """

    def __init__(
        self, path: str | Path, policy: str, unit: str = "line", *, can_skip: bool = True
    ) -> None:
        if policy not in ("raise", "skip"):
            raise ValueError(f"bad_rows must be 'raise' or 'skip'. Got {policy!r} instead.")
        self._path, self._policy, self._unit = path, policy, unit
        self._remedies = [SKIPPING] if can_skip else []
        self.skipped = 0
        self.problems: Counter[str] = Counter()

    def require_documents(self, count: int) -> None:
        """Raise if no document is left."""
        if not count:
            rest = f"; all its {self.skipped} rows are malformed" if self.skipped else ""
            raise NoDocumentsError(self._path, f"there are no documents in it{rest}")

    def report(self, problem: object, number: int, n_lines: int = 1) -> None:
        """Raise the problem of the row at this position, or count its lines."""
        if self._policy == "raise":
            self._raise(problem, number, self._remedies)
        # A quote that was not closed has made one row of several.
        self.skipped += n_lines
        if str(problem) in self.problems or len(self.problems) < MAX_PROBLEMS:
            self.problems[str(problem)] += n_lines

    def fail(self, problem: object, number: int) -> NoReturn:
        """Raise a problem that skipping the row at this position would not solve."""
        self._raise(problem, number, [])

    def _raise(self, problem: object, number: int, remedies: list[str]) -> NoReturn:
        if self._unit == "line":
            raise CorpusError(self._path, str(problem), line=number, parameters=remedies)
        raise CorpusError(self._path, f"row {number}: {problem}", parameters=remedies)


def describe_skipped(n_skipped: int, problems: Mapping[str, int], name: str) -> str:
    """Return a sentence on the malformed rows that were left out of a source.

    Examples
    --------
    >>> describe_skipped(17, {"the label is missing": 17}, "tickets.csv")
    '17 malformed rows were left out of tickets.csv: the label is missing (17)'
    """
    sentence = f"{n_skipped:,} malformed rows were left out of {name}"
    most = sorted(problems, key=lambda problem: -problems[problem])[:MAX_LISTED]
    listed = [f"{problem} ({problems[problem]:,})" for problem in most]
    if not listed:
        return sentence
    rest = n_skipped - sum(problems[problem] for problem in most)
    return f"{sentence}: {'; '.join(listed)}" + (f"; other problems ({rest:,})" if rest else "")


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


Column: TypeAlias = "str | int"

TABLES = ("csv", "tsv", "jsonl", "parquet")
FORMATS = (*TABLES, "svmlight", "arff", "folders", "reuters")
_FORMATS_OF_OPTION = {
    "text": TABLES,
    "label": (*TABLES, "arff"),
    "label_separator": TABLES,
    "encoding": ("csv", "tsv", "jsonl", "arff", "folders"),
    "under": ("folders",),
    "n_features": ("svmlight", "arff"),
}


@dataclass(frozen=True)
class SourceOptions:
    """A file or folder, and the options of `load_source`; None where a value is to be guessed."""

    path: Path
    format: str
    text: Column | None = None
    label: Column | None = None
    label_separator: str | None = None
    encoding: str | None = None
    under: str | None = None
    bad_rows: str = "raise"
    n_features: int | None = None

    def check(self) -> None:
        """Raise if an option is given that the format does not have."""
        for option, formats in _FORMATS_OF_OPTION.items():
            value = getattr(self, option)
            if value is not None and self.format not in formats:
                raise ValueError(
                    f"{option} must be left out for {self.format}. Got {value!r} instead."
                )

    def make_bad_rows(self) -> BadRows:
        """Return a new counter of malformed rows."""
        return BadRows(self.path, self.bad_rows, name_unit(self.format))


def check_choices(source: str | Path, format: str | None, bad_rows: str) -> None:
    """Raise for a source without a name, an unknown format or an unknown policy for bad rows."""
    BadRows(source, bad_rows)
    if not str(source):
        raise ValueError("source must name a file or folder, or be '-'. Got '' instead.")
    if format is not None and format not in FORMATS:
        choices = ", ".join(map(repr, FORMATS))
        raise ValueError(f"format must be one of {choices}. Got {format!r} instead.")


def check_batch_size(batch_size: object) -> None:
    """Raise for a batch size that is not a positive integer."""
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a positive integer. Got {batch_size!r} instead.")


def check_column(column: Column | None) -> Column | None:
    """Turn a position of a column that is given as a string into a number."""
    if isinstance(column, str) and column.isascii() and column.isdecimal():
        return int(column)
    return column


def show_column(column: Column | None) -> str:
    """Name a column in a sentence."""
    return f"column {quote(column) if isinstance(column, str) else column}"


def mark_guess(is_guess: bool) -> str:
    """Return the mark that follows a guessed value in a description."""
    return " (guessed)" if is_guess else ""


def describe_reading(parts: Iterable[str], is_multilabel: bool) -> str:
    """Describe in one line how documents were read; empty parts are left out."""
    several = "several labels per document" if is_multilabel else ""
    return ", ".join(filter(None, [*parts, several]))
