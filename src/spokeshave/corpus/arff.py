"""The ARFF format: a header that declares attributes, then dense or sparse rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, chain
from pathlib import Path

from spokeshave.corpus.attributes import Attribute, Feature, NominalAttribute, parse_attribute
from spokeshave.corpus.bad_rows import BadRows, MalformedRow
from spokeshave.corpus.cells import split_cells, split_entries
from spokeshave.corpus.documents import Vectors
from spokeshave.corpus.files import open_text
from spokeshave.corpus.sparse_rows import SparseRows
from spokeshave.corpus.wording import quote, quote_all
from spokeshave.errors import CorpusError


def read_arff(
    path: str | Path,
    *,
    target: str | None = None,
    encoding: str = "utf-8",
    bad_rows: str = "raise",
) -> Vectors:
    r"""Read documents in the ARFF format.

    A numeric attribute becomes one column. A nominal attribute becomes one indicator column per
    declared value, named ``attribute=value``; where it is missing none is set. In a sparse row,
    what is left out is 0, or the first declared value.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (.gz, .bz2, .xz), or a .zip that holds one .arff.
    target : str, optional
        The name of the class attribute; the last attribute where it is not given.
    encoding : str
        The encoding of the file.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is left out and counted.

    Returns
    -------
    vectors : Vectors
        A csr_matrix without stored zeros where rows are sparse, otherwise an array; missing
        numbers are NaN.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> header = "@attribute age numeric\n@attribute job {none, some}\n@attribute risk {low, high}"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "credit.arff")
    ...     _ = path.write_text(f"@relation credit\n{header}\n@data\n67,some,low\n?,none,high")
    ...     vectors = read_arff(path)
    >>> vectors.feature_names, vectors.labels
    (('age', 'job=none', 'job=some'), ['low', 'high'])
    >>> vectors.X
    array([[67., 0., 1.],
           [nan, 1., 0.]])
    """
    troubles = BadRows(path, bad_rows)
    labels, rows, is_sparse = [], SparseRows(), False
    with open_text(path, encoding, member_suffix=".arff") as stream:
        lines = _read_lines(stream)
        attributes = _read_header(path, lines)
        relation = _Relation(path, attributes, _find_target(path, attributes, target))
        for number, line in lines:
            try:
                label, columns, values = relation.encode(line)
            except MalformedRow as problem:
                troubles.report(problem, number)
            else:
                labels.append(label)
                rows.append(columns, values)
                is_sparse = is_sparse or line.startswith("{")
    troubles.require_documents(len(labels))
    X = rows.to_csr(len(relation.feature_names))
    return Vectors(
        X if is_sparse else X.toarray(), labels, relation.feature_names, troubles.skipped
    )


class _Relation:
    """Knows the columns that the cells of a row fill, and the cell that is the class."""

    def __init__(self, path: str | Path, attributes: list[Attribute], target: int) -> None:
        self._width = len(attributes)
        self._target, self._class = target, attributes[target]
        self._features = _choose_features(path, attributes, target)
        self._omitted = {
            position: feature.omitted
            for position, feature in self._features.items()
            if isinstance(feature, NominalAttribute)
        }
        columns = [feature.columns for feature in self._features.values()]
        starts = accumulate(map(len, columns), initial=0)
        self._starts = dict(zip(self._features, starts, strict=False))
        self.feature_names = tuple(chain.from_iterable(columns))

    def encode(self, line: str) -> tuple[str, list[int], list[float]]:
        """Return the label of a row, the columns it fills, and what it fills them with."""
        cells = self._split_sparse(line) if line.startswith("{") else self._split_dense(line)
        label = self._class.read_label(cells.pop(self._target, None))
        columns, values = [], []
        for position, cell in cells.items():
            offset, value = self._features[position].encode(cell)
            columns.append(self._starts[position] + offset)
            values.append(value)
        return label, columns, values

    def _split_dense(self, line: str) -> dict[int, str]:
        cells = split_cells(line)
        if len(cells) != self._width:
            raise MalformedRow(f"the row has {len(cells)} values for {self._width} attributes")
        return dict(enumerate(cells))

    def _split_sparse(self, line: str) -> dict[int, str]:
        if not line.endswith("}"):
            raise MalformedRow("the sparse row does not end with '}'")
        cells = split_entries(line[1:-1])
        if cells and not 0 <= min(cells) <= max(cells) < self._width:
            raise MalformedRow(f"the indices must lie between 0 and {self._width - 1}")
        return self._omitted | cells


def _choose_features(
    path: str | Path, attributes: list[Attribute], target: int
) -> dict[int, Feature]:
    features = {}
    for position, attribute in enumerate(attributes):
        if position == target:
            continue
        if not isinstance(attribute, Feature):
            name = quote(attribute.name)
            problem = f"the attribute {name} is neither numeric nor nominal; remove it"
            raise CorpusError(path, problem)
        features[position] = attribute
    return features


def _find_target(path: str | Path, attributes: list[Attribute], target: str | None) -> int:
    names = [attribute.name for attribute in attributes]
    if target is None:
        return len(names) - 1
    if names.count(target) == 1:
        return names.index(target)
    number = "more than one" if target in names else "no"
    problem = f"there is {number} attribute {quote(target)}; the attributes are {quote_all(names)}"
    raise CorpusError(path, problem)


def _read_header(path: str | Path, lines: Iterator[tuple[int, str]]) -> list[Attribute]:
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


def _read_lines(stream: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield each line that is neither blank nor a comment, with its number."""
    for number, line in enumerate(stream, 1):
        content = line.strip()
        if content and not content.startswith("%"):
            yield number, content
