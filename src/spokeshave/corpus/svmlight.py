"""The svmlight format: a line of labels and ``index:value`` pairs per document."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import pairwise
from math import isfinite, nan
from operator import lt
from pathlib import Path
from typing import IO, Any

from spokeshave.corpus.bad_rows import BadRows, MalformedRow
from spokeshave.corpus.documents import Label, Vectors
from spokeshave.corpus.files import open_binary
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.sparse_rows import SparseRows
from spokeshave.corpus.wording import quote

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

    A line is ``label index:value index:value ...``, with indices that count from 1 and increase;
    in place of the label there may be several with commas between. What follows ``#`` and pairs
    of ``qid`` are ignored, as are blank lines.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (.gz, .bz2, .xz, .zip).
    n_features : int, optional
        The number of features; the largest index in the file where it is not given.
    multilabel : bool
        Whether each document's label is a tuple, empty where a line starts with a pair or a blank.
    bad_rows : {'raise', 'skip'}
        Whether a malformed line is an error, or is left out and counted.

    Returns
    -------
    vectors : Vectors
        A csr_matrix with column 0 for index 1, without stored zeros, and the labels as they are
        spelt in the file.

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
    troubles = BadRows(path, bad_rows)
    labels: list[Any] = []
    rows = SparseRows(first_column=1)
    for label, indices, values in stream_svmlight(
        path, troubles, n_features=n_features, multilabel=multilabel
    ):
        labels.append(label)
        rows.append(indices, values)
    troubles.require_documents(len(labels))
    return Vectors(rows.to_csr(n_features), labels, None, troubles.skipped)


def stream_svmlight(
    path: str | Path,
    bad_rows: BadRows,
    *,
    n_features: int | None = None,
    multilabel: bool = False,
    meter: Meter | None = None,
) -> Generator[tuple[Label, list[int], list[float]], None, None]:
    r"""Read documents in the svmlight format one at a time, as `read_svmlight` does.

    Parameters
    ----------
    path, n_features, multilabel
        As `read_svmlight` takes them.
    bad_rows : BadRows
        What becomes of malformed lines.
    meter : Meter, optional
        What is told how far the file has been read.

    Yields
    ------
    label : str or tuple of str
        The label.
    indices, values : list
        The indices, which count from 1, and the values.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "topics.svm")
    ...     _ = path.write_text("wheat 1:0.5 3:2\ncorn 2:1\n")
    ...     list(stream_svmlight(path, BadRows(path, "raise")))
    [('wheat', [1, 3], [0.5, 2.0]), ('corn', [2], [1.0])]
    """
    largest = n_features or _LARGEST_INDEX
    with open_binary(path, meter=meter) as stream:
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
    r"""Tell how many labels there are on the well-formed lines of a file, 2 meaning several.

    It goes through the file until it meets a line with several, and parses hardly any pairs.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "topics.svm")
    ...     _ = path.write_text("wheat 1:0.5 3:2\n2:1\n")
    ...     sorted(find_label_counts(path))
    [0, 1]
    """
    counts: set[int] = set()
    with open_binary(path) as stream:
        for _, line in _read_lines(stream):
            with suppress(MalformedRow):
                label, pairs = _split_label(line, multilabel=True)
                count = min(len(label), 2)
                # One label is what is expected, whether or not its line is well-formed.
                if count != 1 and count not in counts:
                    _check_indices(_parse_pairs(pairs)[0], n_features or _LARGEST_INDEX)
                counts.add(count)
            if 2 in counts:
                break
    return counts


def check_n_features(n_features: int | None) -> None:
    """Raise for a number of features that no file can have.

    Examples
    --------
    >>> check_n_features(0)
    Traceback (most recent call last):
    ...
    ValueError: n_features must be a positive integer. Got 0 instead.
    """
    if n_features is not None and not 1 <= n_features <= _LARGEST_INDEX:
        raise ValueError(f"n_features must be a positive integer. Got {n_features!r} instead.")


def _read_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield what stands before a comment on each line that is not blank, with its number."""
    for number, line in enumerate(stream, 1):
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        content = line.partition(b"#")[0]
        if content.strip():
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
    # Nearly every line is as regular as this; what is not is looked at pair by pair.
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
