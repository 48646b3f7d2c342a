"""The svmlight format: a line of labels and ``index:value`` pairs per document."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from math import isfinite, nan
from operator import lt
from pathlib import Path
from typing import IO, Any

from spokeshave.corpus.documents import Label, Vectors
from spokeshave.corpus.encoding import UTF_8
from spokeshave.corpus.files import Progress, open_binary
from spokeshave.corpus.options import BadRows, MalformedRow, SourceOptions, quote
from spokeshave.corpus.reader import Reader, SparseRows, Vector

_LARGEST_INDEX = 2**31 - 1
_MOST_DIGITS = 18
_ALL_BUT_SEPARATORS = bytes(set(range(256)) - set(b": \t\n\v\f\r"))


def read_svmlight(
    path: str | Path,
    *,
    n_features: int | None = None,
    multilabel: bool = False,
    bad_rows: str = "raise",
) -> Vectors:
    r"""Read documents in the svmlight format.

    A line is ``label index:value index:value ...``, with increasing indices from 1. There may be
    several labels, separated by commas. Comments after ``#``, pairs of ``qid`` and blank lines are
    ignored.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (.gz, .bz2, .xz, .zip).
    n_features : int, optional
        The number of features; by default the largest index in the file.
    multilabel : bool
        Whether the label of each document is a tuple, empty if a line starts with a pair or blank.
    bad_rows : {'raise', 'skip'}
        Whether a malformed line is an error, or is skipped and counted.

    Returns
    -------
    vectors : Vectors
        A csr_matrix with column 0 for index 1, without stored zeros, and the labels as strings.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "topics.svm")
    ...     _ = path.write_text("wheat,corn 1:0.5 3:2  # a comment\ncorn 2:1\n")
    ...     vectors = read_svmlight(path, multilabel=True)
    >>> vectors.labels
    [('wheat', 'corn'), ('corn',)]
    >>> vectors.X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    """
    check_n_features(n_features)
    problems = BadRows(path, bad_rows)
    labels: list[Any] = []
    rows = SparseRows(first_column=1)
    for label, indices, values in stream_svmlight(
        path, problems, n_features=n_features, multilabel=multilabel
    ):
        labels.append(label)
        rows.append(indices, values)
    problems.require_documents(len(labels))
    return Vectors(rows.to_csr(n_features), labels, None, problems.skipped)


class SvmlightReader(Reader):
    """Read vectors in the svmlight format, which are multilabel if one line has several labels.

    The constructor looks at the labels of all files, up to the first line with several.
    """

    is_text = False
    first_column = 1
    encoding = UTF_8

    def __init__(self, sources: Sequence[SourceOptions], *, in_memory: bool = False) -> None:
        super().__init__(sources, in_memory=in_memory)
        self.n_features = self.options.n_features
        check_n_features(self.n_features)
        counts: set[int] = set()
        for source in sources:
            counts |= find_label_counts(source.path, n_features=self.n_features)
        self.is_multilabel, self._lacks_labels = 2 in counts, 0 in counts
        self.description = ["svmlight", "" if self.is_multilabel else "one label per document"]
        self.guesses = []
        self.read_first(self.options)

    def read(
        self, path: Path, part: str, bad_rows: BadRows, progress: Progress
    ) -> Generator[Vector, None, None]:
        """Yield the label, the indices and the values of each line."""
        # A line without a label is malformed in a file with one label per line.
        is_strict = self._lacks_labels and not self.is_multilabel
        rows = stream_svmlight(
            path,
            bad_rows,
            n_features=self.n_features,
            multilabel=not is_strict,
            progress=progress,
        )
        if self.is_multilabel or is_strict:
            return rows
        return ((labels[0], indices, values) for labels, indices, values in rows)


def stream_svmlight(
    path: str | Path,
    bad_rows: BadRows,
    *,
    n_features: int | None = None,
    multilabel: bool = False,
    progress: Progress | None = None,
) -> Generator[tuple[Label, list[int], list[float]], None, None]:
    """Yield the label, the indices from 1 and the values of each line, as `read_svmlight` does."""
    largest = n_features or _LARGEST_INDEX
    with open_binary(path, progress=progress) as stream:
        for number, line in _read_lines(stream):
            try:
                label, pairs = _split_label(line, multilabel)
                indices, values = _parse_pairs(pairs)
                _check_indices(indices, largest)
            except MalformedRow as problem:
                bad_rows.report(problem, number)
            else:
                yield label, indices, values


def find_label_counts(path: str | Path, *, n_features: int | None = None) -> set[int]:
    """Return the numbers of labels on the well-formed lines of a file; 2 stands for several.

    It stops at the first line with several labels, and parses few of the pairs.
    """
    counts: set[int] = set()
    with open_binary(path) as stream:
        for _, line in _read_lines(stream):
            head = line.split(None, 1)[0]
            # Most lines have one label; whether they are well-formed makes no difference here.
            if b"," not in head and b":" not in head and not line[:1].isspace():
                counts.add(1)
                continue
            with suppress(MalformedRow):
                label, pairs = _split_label(line, multilabel=True)
                count = min(len(label), 2)
                if count not in counts:
                    _check_indices(_parse_pairs(pairs)[0], n_features or _LARGEST_INDEX)
                    counts.add(count)
            if 2 in counts:
                break
    return counts


def check_n_features(n_features: int | None) -> None:
    """Raise for an impossible number of features."""
    if n_features is not None and not 1 <= n_features <= _LARGEST_INDEX:
        raise ValueError(f"n_features must be a positive integer. Got {n_features!r} instead.")


def _read_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank, without its comment, and its number."""
    for number, line in enumerate(stream, 1):
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        content = line.partition(b"#")[0] if b"#" in line else line
        if content and not content.isspace():
            yield number, content


def _split_label(line: bytes, multilabel: bool) -> tuple[Label, bytes]:
    """Return the label of a line, and its pairs."""
    head, *rest = line.split(None, 1)
    if multilabel and (b":" in head or line[:1].isspace()):
        return (), line
    if b":" in head:
        raise MalformedRow(f"the line starts with {_show(head)} where its label should be")
    try:
        labels = tuple(head.decode().split(","))
    except UnicodeDecodeError:
        raise MalformedRow(f"the label {_show(head)} is not UTF-8") from None
    if not all(labels):
        raise MalformedRow(f"a label is missing in {_show(head)}")
    if len(labels) > 1 and not multilabel:
        raise MalformedRow(f"there are {len(labels)} labels; pass multilabel=True")
    return labels if multilabel else labels[0], b"".join(rest)


def _parse_pairs(text: bytes) -> tuple[list[int], list[float]]:
    """Return the indices and the values of a line."""
    tokens = text.replace(b":", b" ").split()
    indices, values = tokens[::2], tokens[1::2]
    separators = text.strip().translate(None, _ALL_BUT_SEPARATORS) + b" "
    # Nearly every line is as regular as this; others are parsed pair by pair.
    if separators == b": " * len(values) and b"".join(indices).isdigit():
        with suppress(ValueError):
            numbers = list(map(float, values))
            if isfinite(sum(numbers)) and b"_" not in text:
                return list(map(int, indices)), numbers
    return _parse_each_pair(text)


def _parse_each_pair(text: bytes) -> tuple[list[int], list[float]]:
    indices, values = [], []
    for token in text.split():
        index, colon, value = token.partition(b":")
        if not colon:
            raise MalformedRow(f"{_show(token)} is not a pair of index:value")
        if index != b"qid":
            indices.append(_parse_index(index))
            values.append(_parse_value(value))
    return indices, values


def _parse_index(token: bytes) -> int:
    if not token.isdigit() or len(token) > _MOST_DIGITS:
        raise MalformedRow(f"the index {_show(token)} is not a positive whole number")
    return int(token)


def _parse_value(token: bytes) -> float:
    try:
        value = float(token)
    except ValueError:
        value = nan
    if not isfinite(value) or b"_" in token:
        raise MalformedRow(f"the value {_show(token)} is not a finite number")
    return value


def _check_indices(indices: list[int], largest: int) -> None:
    if not indices:
        return
    if indices[0] < 1:
        raise MalformedRow("the index 0 is too small; indices count from 1")
    if not all(map(lt, indices, indices[1:])):
        before, after = next(pair for pair in pairwise(indices) if pair[0] >= pair[1])
        raise MalformedRow(f"the index {after} comes after {before}; indices must increase")
    if indices[-1] > largest:
        raise MalformedRow(f"the index {indices[-1]} is above the largest allowed, {largest}")


def _show(token: bytes) -> str:
    return quote(token.decode(errors="backslashreplace"))
