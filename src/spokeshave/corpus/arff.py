"""Documents in the ARFF format, whose attributes become columns of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, chain
from pathlib import Path
from typing import TypeAlias

from spokeshave.corpus.attributes import Feature, NominalAttribute
from spokeshave.corpus.bad_rows import BadRows, MalformedRow
from spokeshave.corpus.documents import Vectors
from spokeshave.corpus.relations import Lines, Relation, open_relation
from spokeshave.corpus.sparse_rows import SparseRows
from spokeshave.corpus.wording import quote
from spokeshave.errors import CorpusError

Encoded: TypeAlias = tuple[str, "list[int]", "list[float]"]


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
    labels, rows = [], SparseRows()
    with open_relation(path, encoding) as (relation, lines):
        encoder = RowEncoder(relation, relation.locate(target))
        for label, columns, values in encoder.read(lines, troubles):
            labels.append(label)
            rows.append(columns, values)
    troubles.require_documents(len(labels))
    X, names = rows.to_csr(len(encoder.feature_names)), encoder.feature_names
    return Vectors(X if encoder.has_sparse else X.toarray(), labels, names, troubles.skipped)


class RowEncoder:
    """Knows the columns that the cells of a row fill, and the cell that is the class.

    Parameters
    ----------
    relation : Relation
        What the header declares.
    target : int
        The position of the class attribute.

    Attributes
    ----------
    feature_names : tuple of str
        The names of the columns.
    has_sparse : bool
        Whether one of the rows that were read so far was sparse.

    Examples
    --------
    >>> from spokeshave.corpus.attributes import parse_attribute
    >>> attributes = map(parse_attribute, ["@attribute age numeric", "@attribute risk {low, high}"])
    >>> encoder = RowEncoder(Relation("credit.arff", tuple(attributes)), target=1)
    >>> list(encoder.read(iter([(7, "67,low"), (8, "{1 high}")]), BadRows("credit.arff", "raise")))
    [('low', [0], [67.0]), ('high', [], [])]
    """

    def __init__(self, relation: Relation, target: int) -> None:
        self.has_sparse = False
        self._relation = relation
        self._target, self._class = target, relation.attributes[target]
        self._features = _choose_features(relation, target)
        self._omitted = {
            position: feature.omitted
            for position, feature in self._features.items()
            if isinstance(feature, NominalAttribute)
        }
        columns = [feature.columns for feature in self._features.values()]
        starts = accumulate(map(len, columns), initial=0)
        self._starts = dict(zip(self._features, starts, strict=False))
        self.feature_names = tuple(chain.from_iterable(columns))

    def read(self, lines: Lines, bad_rows: BadRows) -> Iterator[Encoded]:
        """Yield the label of each row, the columns it fills, and what it fills them with."""
        for number, line in lines:
            try:
                encoded = self._encode(line)
            except MalformedRow as problem:
                bad_rows.report(problem, number)
            else:
                self.has_sparse = self.has_sparse or line.startswith("{")
                yield encoded

    def _encode(self, line: str) -> Encoded:
        cells = self._relation.split(line)
        if line.startswith("{"):
            cells = self._omitted | cells
        label = self._class.read_label(cells.pop(self._target, None))
        columns, values = [], []
        for position, cell in cells.items():
            offset, value = self._features[position].encode(cell)
            columns.append(self._starts[position] + offset)
            values.append(value)
        return label, columns, values


def _choose_features(relation: Relation, target: int) -> dict[int, Feature]:
    features = {}
    for position, attribute in enumerate(relation.attributes):
        if position == target:
            continue
        if not isinstance(attribute, Feature):
            name = quote(attribute.name)
            problem = f"the attribute {name} is neither numeric nor nominal; remove it"
            raise CorpusError(relation.path, problem)
        features[position] = attribute
    return features
