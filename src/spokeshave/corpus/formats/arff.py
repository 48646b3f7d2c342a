"""Documents in ARFF: vectors of the attributes, or texts if there is a string."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus import limits
from spokeshave.corpus.documents import Vectors
from spokeshave.corpus.encoding import UTF_8, explain_guessed_encoding, read_decoded
from spokeshave.corpus.files import Progress, open_text
from spokeshave.corpus.formats.arff_parser import (
    MEMBER_SUFFIX,
    Feature,
    Lines,
    NominalAttribute,
    Relation,
    StringAttribute,
    Target,
    find_text,
    guess_target,
    open_relation,
)
from spokeshave.corpus.options import BadRows, MalformedRow, SourceOptions, mark_guess, quote
from spokeshave.corpus.reader import Reader, SparseRows
from spokeshave.errors import CorpusError

Encoded: TypeAlias = tuple[str, "list[int]", "list[float]"]

_SPACES = {"n": "\n", "r": "\r", "t": "\t"}


def read_arff(
    path: str | Path,
    *,
    target: str | None = None,
    encoding: str = UTF_8,
    bad_rows: str = "raise",
) -> Vectors:
    r"""Read documents in the ARFF format.

    A numeric attribute becomes one column. A nominal attribute becomes one indicator column per
    declared value, named ``attribute=value``; a missing value sets none. A cell that is omitted
    from a sparse row is 0, or the first declared value.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (.gz, .bz2, .xz), or a .zip that contains one .arff.
    target : str, optional
        The name of the class attribute; by default the last attribute.
    encoding : str
        The encoding of the file.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is skipped and counted.

    Returns
    -------
    vectors : Vectors
        A csr_matrix without stored zeros if a row is sparse, otherwise an array. Missing numbers
        are NaN.

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
    problems = BadRows(path, bad_rows)
    labels, rows = [], SparseRows()
    with open_relation(path, encoding) as (relation, lines):
        encoder = RowEncoder(relation, relation.locate(target))
        for label, columns, values in encoder.read(lines, problems):
            labels.append(label)
            rows.append(columns, values)
    problems.require_documents(len(labels))
    X, names = rows.to_csr(len(encoder.feature_names)), encoder.feature_names
    return Vectors(X if encoder.has_sparse else X.toarray(), labels, names, problems.skipped)


class ArffReader(Reader):
    """Read texts if the only string attribute is beside a nominal class, otherwise vectors.

    Without an encoding the constructor decodes all files: the encoding is UTF-8 if all of them
    are, otherwise Latin-1. It also looks for a sparse row.
    """

    def __init__(self, sources: Sequence[SourceOptions], *, in_memory: bool = False) -> None:
        super().__init__(sources, in_memory=in_memory)
        options = self.options
        self.encoding = options.encoding or read_decoded(lambda e: _decode(sources, e), None)[1]
        self._header, self.feature_names = _read_header(options, self.encoding)
        for other in sources[1:]:
            if _read_header(other, self.encoding) != (self._header, self.feature_names):
                problem = f"its attributes are not those of {options.path.name}"
                raise CorpusError(other.path, problem)
        self.is_text = self.feature_names is None
        self.n_features = None if self.feature_names is None else len(self.feature_names)
        _check_n_features(options, self.n_features)
        self.read_first(options)
        self.is_dense = not self.is_text and not any(
            self._has_sparse(source.path) for source in sources
        )
        self.text, self.label = self._header.text, self._header.target.name
        self.description, self.guesses = self._header.describe(options, self.encoding)

    def read(
        self, path: Path, part: str, bad_rows: BadRows, progress: Progress
    ) -> Generator[Any, None, None]:
        """Yield the text and label of each row, or its label, columns and values."""
        with open_relation(path, self.encoding, progress) as (relation, lines):
            target = relation.locate(self._header.target_name)
            if self.is_text:
                yield from _read_texts(relation, lines, target, bad_rows)
            else:
                yield from RowEncoder(relation, target).read(lines, bad_rows)

    def _has_sparse(self, path: Path) -> bool:
        with open_relation(path, self.encoding) as (relation, lines):
            encoder = RowEncoder(relation, relation.locate(self._header.target_name))
            sparse = ((number, line) for number, line in lines if line.startswith("{"))
            return next(encoder.read(sparse, BadRows(path, "skip")), None) is not None


@dataclass(frozen=True)
class _Header:
    """The class attribute, the attribute of texts if there is one, and whether there are others."""

    target: Target
    text: str | None
    has_others: bool

    @property
    def target_name(self) -> str | None:
        """Return the name of the class attribute, None for the last one."""
        return None if self.target.is_last else self.target.name

    def describe(self, options: SourceOptions, encoding: str) -> tuple[list[str], list[str]]:
        """Describe how the file is read and what was guessed."""
        is_guess = options.label is None
        label = f"label from attribute {quote(self.target.name)}{mark_guess(is_guess)}"
        description, guesses = [options.format, label], []
        if self.text is not None:
            description.insert(1, f"text from attribute {quote(self.text)}{mark_guess(True)}")
            rest = ", and the other attributes are left out" if self.has_others else ""
            guesses.append(f"the text is attribute {quote(self.text)}, the only string{rest}")
        if is_guess:
            rest = ", the last" if self.target.is_last else ""
            guesses.append(f"the label is attribute {quote(self.target.name)}{rest}")
        return description, [*guesses, explain_guessed_encoding(encoding, options.encoding)]


class RowEncoder:
    """Encode rows as a label, columns and values.

    Parameters
    ----------
    relation : Relation
        The header.
    target : int
        The position of the class attribute.

    Attributes
    ----------
    feature_names : tuple of str
        The names of the columns.
    has_sparse : bool
        Whether one of the rows read so far was sparse.
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
        """Yield the label, the columns and the values of each row."""
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


def _read_texts(
    relation: Relation, lines: Lines, target: int, bad_rows: BadRows
) -> Iterator[tuple[str, str]]:
    """Yield the text and the label of each row; other attributes are ignored."""
    text = find_text(relation, target)
    assert isinstance(text, StringAttribute)
    position = relation.attributes.index(text)
    for number, line in lines:
        try:
            cells = relation.split(_unescape_spaces(line))
            label = relation.attributes[target].read_label(cells.get(target))
            document = text.read_text(cells.get(position)), label
        except MalformedRow as problem:
            bad_rows.report(problem, number)
        else:
            yield document


def _unescape_spaces(line: str) -> str:
    r"""Replace ``\n``, ``\r`` and ``\t`` by line ends and tabs."""
    return re.sub(r"\\(.)", lambda match: _SPACES.get(match[1], match[0]), line)


def _read_header(options: SourceOptions, encoding: str) -> tuple[_Header, tuple[str, ...] | None]:
    """Return the header of a file, and the names of its features unless it has texts."""
    with open_relation(options.path, encoding) as (relation, _):
        given = options.label
        target = guess_target(relation) if given is None else Target(str(given), False)
        position = relation.locate(None if target.is_last else target.name)
        text = find_text(relation, position)
        name = None if text is None else text.name
        header = _Header(target, name, len(relation.attributes) > 2)
        return header, RowEncoder(relation, position).feature_names if text is None else None


def _check_n_features(options: SourceOptions, found: int | None) -> None:
    """Raise if a file does not have the given number of features; texts have none."""
    expected = options.n_features
    if expected is not None and found != expected:
        number = "no" if found is None else found
        raise CorpusError(options.path, f"it has {number} features where {expected} should be")


def _decode(sources: Sequence[SourceOptions], encoding: str) -> None:
    """Raise if a file is not in an encoding."""
    for source in sources:
        with open_text(source.path, encoding, member_suffix=MEMBER_SUFFIX) as stream:
            while stream.read(limits.CHUNK_CHARACTERS):
                pass


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
