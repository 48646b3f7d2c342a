"""The relation in an ARFF file: the attributes that its header declares, and its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from spokeshave.corpus.attributes import (
    Attribute,
    NominalAttribute,
    StringAttribute,
    parse_attribute,
)
from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.cells import split_cells, split_entries
from spokeshave.corpus.column_names import LABEL_NAMES, find_preferred
from spokeshave.corpus.files import open_text
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.wording import quote, quote_all
from spokeshave.errors import CorpusError

Lines: TypeAlias = Iterator[tuple[int, str]]

MEMBER_SUFFIX = ".arff"


class Target(NamedTuple):
    """The name of the class attribute of an ARFF file, and whether it is the last attribute."""

    name: str
    is_last: bool


@dataclass(frozen=True)
class Relation:
    """What the header of an ARFF file declares.

    Attributes
    ----------
    path : str or Path
        The file.
    attributes : tuple of Attribute
        The attributes, in order.

    Examples
    --------
    >>> age = parse_attribute("@attribute age numeric")
    >>> relation = Relation("credit.arff", (age, parse_attribute("@attribute risk {low, high}")))
    >>> relation.locate("risk"), relation.split("67, low"), relation.split("{1 high}")
    (1, {0: '67', 1: 'low'}, {1: 'high'})
    """

    path: str | Path
    attributes: tuple[Attribute, ...]

    @property
    def names(self) -> list[str]:
        """Return the names of the attributes."""
        return [attribute.name for attribute in self.attributes]

    def locate(self, target: str | None) -> int:
        """Return the position of the class attribute, the last one where no name is given."""
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
        """Split a row into the cells that it has, by the positions of their attributes."""
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
    path: str | Path, encoding: str = "utf-8", meter: Meter | None = None
) -> Iterator[tuple[Relation, Lines]]:
    r"""Open an ARFF file for its header, and for the lines of its rows with their numbers.

    A meter is told how far the file has been read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "wine.arff")
    ...     _ = path.write_text("@attribute class {1, 2}\n@attribute proline numeric\n@data\n1,7")
    ...     with open_relation(path) as (relation, lines):
    ...         relation.names, list(lines)
    (['class', 'proline'], [(4, '1,7')])
    """
    with open_text(path, encoding, member_suffix=MEMBER_SUFFIX, meter=meter) as stream:
        lines = _read_lines(stream)
        yield Relation(path, tuple(_read_header(path, lines))), lines


def guess_target(relation: Relation) -> Target:
    """Find the class attribute.

    It is the last one, unless that is no nominal attribute and another one is that is named like
    a class, or is the only one.

    Examples
    --------
    >>> kind = parse_attribute("@attribute class {1, 2}")
    >>> guess_target(Relation("wine.arff", (kind, parse_attribute("@attribute proline numeric"))))
    Target(name='class', is_last=False)
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
    """Return the attribute of texts: the only string, where the class attribute is nominal.

    Examples
    --------
    >>> story = parse_attribute("@attribute story string")
    >>> relation = Relation("corn.arff", (story, parse_attribute("@attribute class {0, 1}")))
    >>> find_text(relation, target=1).name
    'story'
    """
    strings = [
        attribute for attribute in relation.attributes if isinstance(attribute, StringAttribute)
    ]
    is_clear = len(strings) == 1 and isinstance(relation.attributes[target], NominalAttribute)
    return strings[0] if is_clear else None


def _read_header(path: str | Path, lines: Lines) -> list[Attribute]:
    """Read what is declared, up to and with the line ``@data``."""
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
