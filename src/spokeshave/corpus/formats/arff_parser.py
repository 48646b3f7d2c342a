"""The syntax of ARFF: the attributes of the header, and the cells of dense and sparse rows."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, nan
from operator import lt
from pathlib import Path
from typing import NamedTuple, TypeAlias

from spokeshave.corpus.encoding import UTF_8
from spokeshave.corpus.files import Progress, open_text
from spokeshave.corpus.formats.columns import LABEL_NAMES, find_preferred
from spokeshave.corpus.options import MalformedRow, quote, quote_all
from spokeshave.errors import CorpusError

Lines: TypeAlias = Iterator[tuple[int, str]]

MEMBER_SUFFIX = ".arff"
MISSING = "?"

# Possessive repeats: a line that does not match is read once, not once from each of its spaces.
_QUOTED = r"""'(?P<single>(?:[^'\\]|\\.)*+)'|"(?P<double>(?:[^"\\]|\\.)*+)\""""
_END = r"\s*+(?P<end>,|\Z)"
_CELL = re.compile(rf"""\s*+(?:{_QUOTED}|(?P<bare>[^,'"\s][^,]*|)){_END}""")
_ENTRY = re.compile(rf"""\s*+(?P<index>\d++)\s++(?:{_QUOTED}|(?P<bare>[^,'"\s]+)){_END}""")
_DECLARATION = re.compile(
    rf"""@attribute\s++(?:{_QUOTED}|(?P<bare>[^\s{{'"][^\s{{]*))\s*(?P<kind>.*)""", re.IGNORECASE
)


class Target(NamedTuple):
    """The name of the class attribute of an ARFF file, and whether it is the last attribute."""

    name: str
    is_last: bool


@dataclass(frozen=True)
class Relation:
    """The header of an ARFF file.

    Attributes
    ----------
    path : str or Path
        The file.
    attributes : tuple of Attribute
        The attributes, in order.
    """

    path: str | Path
    attributes: tuple[Attribute, ...]

    @property
    def names(self) -> list[str]:
        """Return the names of the attributes."""
        return [attribute.name for attribute in self.attributes]

    def locate(self, target: str | None) -> int:
        """Return the position of the class attribute, by default the last one."""
        names = self.names
        if target is None:
            return len(names) - 1
        if not isinstance(target, str):
            raise ValueError(f"target must be the name of an attribute. Got {target!r} instead.")
        if names.count(target) == 1:
            return names.index(target)
        number = "more than one" if target in names else "no"
        problem = f"there is {number} attribute {quote(target)}"
        raise CorpusError(self.path, f"{problem}; the attributes are {quote_all(names)}")

    def split(self, line: str) -> dict[int, str]:
        """Return the cells of a row by the positions of their attributes."""
        return self._split_sparse(line) if line.startswith("{") else self._split_dense(line)

    def _split_dense(self, line: str) -> dict[int, str]:
        cells, width = split_cells(line), len(self.attributes)
        if len(cells) != width:
            raise MalformedRow(f"the row has {len(cells)} values for {width} attributes")
        return dict(enumerate(cells))

    def _split_sparse(self, line: str) -> dict[int, str]:
        if not line.endswith("}"):
            raise MalformedRow("the sparse row does not end with '}'")
        cells, last = split_entries(line[1:-1]), len(self.attributes) - 1
        if cells and not 0 <= min(cells) <= max(cells) <= last:
            raise MalformedRow(f"the indices must lie between 0 and {last}")
        return cells


@contextmanager
def open_relation(
    path: str | Path, encoding: str = UTF_8, progress: Progress | None = None
) -> Iterator[tuple[Relation, Lines]]:
    """Open an ARFF file; return its header, and the lines of its rows with their numbers."""
    with open_text(path, encoding, member_suffix=MEMBER_SUFFIX, progress=progress) as stream:
        lines = _read_lines(stream)
        yield Relation(path, tuple(_read_header(path, lines))), lines


def guess_target(relation: Relation) -> Target:
    """Guess the class attribute.

    It is the last one, unless another one is nominal and the last is not. The other one must be
    the only nominal attribute, or have a name of a class.
    """
    names = relation.names
    nominal = [
        attribute.name
        for attribute in relation.attributes
        if isinstance(attribute, NominalAttribute)
    ]
    if names[-1] in nominal or find_preferred(names[-1:], LABEL_NAMES):
        return Target(names[-1], is_last=True)
    chosen = find_preferred(nominal, LABEL_NAMES) or nominal
    return Target(*(chosen[0], False) if len(chosen) == 1 else (names[-1], True))


def find_text(relation: Relation, target: int) -> StringAttribute | None:
    """Return the attribute of texts: the only string, if the class attribute is nominal."""
    strings = [
        attribute for attribute in relation.attributes if isinstance(attribute, StringAttribute)
    ]
    is_clear = len(strings) == 1 and isinstance(relation.attributes[target], NominalAttribute)
    return strings[0] if is_clear else None


def parse_attribute(declaration: str) -> Attribute:
    """Parse the declaration of an attribute."""
    match = _DECLARATION.fullmatch(declaration)
    if match is None:
        raise MalformedRow("an attribute must be declared as '@attribute name type'")
    name, kind = _unquote(match), match["kind"].strip()
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
    """An attribute that can be the class but not a feature, such as a date.

    Attributes
    ----------
    name : str
        The name.
    omitted : str or None
        The value of a cell that is omitted from a sparse row, if there is one.
    """

    omitted: str | None = None

    def __init__(self, name: str) -> None:
        self.name = name

    def read_label(self, cell: str | None) -> str:
        """Return the class in a cell; None is a cell omitted from a sparse row."""
        label = self.omitted if cell is None else cell
        if label is None or label == MISSING:
            raise MalformedRow(f"the class {quote(self.name)} is missing")
        return label


class StringAttribute(Attribute):
    """A string, which can also be the text of a document."""

    def read_text(self, cell: str | None) -> str:
        """Return the text in a cell; None is a cell omitted from a sparse row."""
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
        """Return the column that a cell fills, and the value."""

    def read_label(self, cell: str | None) -> str:
        """Return the class in a cell, if it is a value of the attribute."""
        label = super().read_label(cell)
        self.encode(label)
        return label


class NumericAttribute(Feature):
    """A number, which becomes one column; a missing value is NaN."""

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
    """One of some declared values, each of which becomes an indicator column.

    A missing value sets no indicator.
    """

    omitted: str

    def __init__(self, name: str, values: list[str]) -> None:
        super().__init__(name)
        self.omitted = values[0]
        self.columns = tuple(f"{name}={value}" for value in values)
        self._codes = {value: code for code, value in enumerate(values)}

    def encode(self, cell: str) -> tuple[int, float]:
        """Return the column of the value and 1, or any column and 0 if it is missing."""
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


def split_cells(text: str) -> list[str]:
    """Split values at the commas that are not in quotes."""
    if not _has_quotes(text):
        return [cell.strip() for cell in text.split(",")]
    return [_unquote(match) for match in _scan(_CELL, text)]


def split_entries(text: str) -> dict[int, str]:
    """Split the pairs of index and value between the braces of a sparse row."""
    if not text.strip():
        return {}
    if _has_quotes(text):
        pairs = _parse_pairs((match["index"], _unquote(match)) for match in _scan(_ENTRY, text))
    else:
        pairs = _parse_pairs(entry.split() for entry in text.split(","))
    indices = [index for index, _ in pairs]
    if not all(map(lt, indices, indices[1:])):
        raise MalformedRow("the indices do not increase")
    return dict(pairs)


def _unquote(match: re.Match[str]) -> str:
    """Return the matched value without its quotes and escapes."""
    if match["bare"] is not None:
        return match["bare"].strip()
    return re.sub(r"\\(.)", r"\1", match["single"] or match["double"] or "")


def _has_quotes(text: str) -> bool:
    return "'" in text or '"' in text


def _parse_pairs(cells: Iterable[Sequence[str]]) -> list[tuple[int, str]]:
    try:
        return [(int(index), value) for index, value in cells]
    except ValueError:
        raise MalformedRow("a sparse row must hold pairs of index and value") from None


def _scan(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that lie end to end and cover the text."""
    position = 0
    while match := pattern.match(text, position):
        yield match
        if not match["end"]:
            return
        position = match.end()
    raise MalformedRow(f"{quote(text[position:])} is not quoted as ARFF asks")


def _read_header(path: str | Path, lines: Lines) -> list[Attribute]:
    """Read the declarations, up to and including the line ``@data``."""
    attributes: list[Attribute] = []
    for number, line in lines:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@data" and attributes:
            return attributes
        if keyword == "@attribute":
            attributes.append(_parse_attribute(path, number, line))
        elif keyword != "@relation":
            raise CorpusError(path, "the header must declare attributes, then @data", number)
    raise CorpusError(path, "there is no @data; this is not ARFF, or cut short")


def _parse_attribute(path: str | Path, number: int, line: str) -> Attribute:
    try:
        return parse_attribute(line)
    except MalformedRow as problem:
        raise CorpusError(path, str(problem), number) from None


def _read_lines(stream: Iterable[str]) -> Lines:
    """Yield each line that is neither blank nor a comment, with its number."""
    for number, line in enumerate(stream, 1):
        content = line.strip()
        if content and not content.startswith("%"):
            yield number, content
