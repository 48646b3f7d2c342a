"""The base of all readers, and the batches that their documents are gathered in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus.documents import Label, Texts, TypedLabel, Vectors, name_labels
from spokeshave.corpus.files import Progress, explain_damage
from spokeshave.corpus.options import BadRows, Column, SourceOptions

Text: TypeAlias = tuple[str, "TypedLabel | None"]
Vector: TypeAlias = tuple["Label", "list[int]", "list[float]"]


class Reader(ABC):
    """Read the documents of one or more sources of one format, as often as needed.

    The constructor looks at the sources, guesses what the options leave open from the first of
    them, and raises where the others do not match.

    Parameters
    ----------
    sources : sequence of SourceOptions
        The files or folders, with the same options.
    in_memory : bool
        Whether the documents will be held in memory. A reader that needs several looks at a source
        may then keep the content, and the files of a tar are sorted.

    Attributes
    ----------
    description, guesses : list of str
        How the sources are read and what was guessed, in parts; some may be empty.
    encoding : str
        The encoding.
    text, label : str, int or None
        The columns or attributes of texts and labels, if the format has them.
    is_text : bool
        Whether the documents are texts; otherwise they are vectors.
    is_dense : bool
        Whether vectors are rows of an array; otherwise they are rows of a sparse matrix.
    is_multilabel : bool
        Whether the label of each document is a tuple.
    has_test : bool
        Whether the collection is divided into training and test documents.
    first_column : int
        The number of the first column of vectors.
    n_features : int or None
        The number of columns of vectors, if it is known.
    feature_names : tuple of str or None
        The names of the columns, if there are any.
    """

    description: list[str]
    guesses: list[str]
    encoding: str
    text: Column | None = None
    label: Column | None = None
    is_text = True
    is_dense = False
    is_multilabel = False
    has_test = False
    first_column = 0
    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None

    def __init__(self, sources: Sequence[SourceOptions], *, in_memory: bool = False) -> None:
        self.options, self.in_memory = sources[0], in_memory

    @abstractmethod
    def read(
        self, path: Path, part: str, bad_rows: BadRows, progress: Progress
    ) -> Generator[Any, None, None]:
        """Yield the documents of one source, as `batch_texts` or `batch_vectors` takes them.

        The part is 'train' or 'test'; a collection that is not divided has the part 'train' only.
        """

    def read_first(self, source: SourceOptions, *, is_required: bool = True) -> Any:
        """Return the first document of a source, or None; raise if it is required and missing."""
        bad_rows = source.make_bad_rows()
        with (
            explain_damage(source.path),
            closing(self.read(source.path, "train", bad_rows, Progress())) as documents,
        ):
            first = next(documents, None)
        if is_required:
            bad_rows.require_documents(int(first is not None))
        return first


class SparseRows:
    """Collect sparse rows one by one.

    Parameters
    ----------
    first_column : int
        The number of the first column.
    """

    def __init__(self, first_column: int = 0) -> None:
        self._first_column = first_column
        self._columns, self._values, self._ends = array("i"), array("d"), array("q", [0])

    def append(self, columns: list[int], values: list[float]) -> None:
        """Add a row."""
        self._columns.fromlist(columns)
        self._values.fromlist(values)
        self._ends.append(len(self._columns))

    def to_csr(self, n_columns: int | None = None) -> Any:
        """Return the rows as a csr_matrix with sorted indices and no stored zeros.

        If `n_columns` is None, the last column that occurs is the last of the matrix.
        """
        import numpy as np
        from scipy.sparse import csr_matrix

        columns = np.asarray(self._columns) - np.int32(self._first_column)
        width = columns.max(initial=-1) + 1 if n_columns is None else n_columns
        shape = len(self._ends) - 1, int(width)
        matrix = csr_matrix((np.asarray(self._values), columns, np.asarray(self._ends)), shape)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix


def batch_texts(
    documents: Iterable[Text],
    size: int,
    max_characters: int,
    count_skipped: Callable[[], int] = int,
) -> Iterator[Texts]:
    """Gather pairs of text and label in batches.

    Parameters
    ----------
    documents : iterable of tuple
        The text and the label of each document; labels become strings.
    size, max_characters : int
        The largest number of documents and of characters in a batch. A text with more characters
        is a batch of its own.
    count_skipped : callable
        Returns the number of malformed rows skipped so far; each batch has the number since the
        previous batch.
    """
    texts: list[str] = []
    labels: list[Any] = []
    n_characters = n_counted = 0
    for text, label in documents:
        if texts and (len(texts) == size or n_characters + len(text) > max_characters):
            n_skipped = count_skipped()
            named, label_type = name_labels(labels)
            yield Texts(texts, named, n_skipped - n_counted, label_type)
            texts, labels, n_characters, n_counted = [], [], 0, n_skipped
        texts.append(text)
        labels.append(label)
        n_characters += len(text)
    if texts:
        named, label_type = name_labels(labels)
        yield Texts(texts, named, count_skipped() - n_counted, label_type)


def batch_vectors(
    documents: Iterable[Vector],
    size: int,
    max_nonzeros: int,
    count_skipped: Callable[[], int] = int,
    *,
    first_column: int = 0,
    n_features: int | None = None,
    feature_names: tuple[str, ...] | None = None,
    is_dense: bool = False,
) -> Iterator[Vectors]:
    """Gather labels, columns and values of documents in batches, as `batch_texts` does.

    Without `n_features` a batch is as wide as its last column.
    """
    rows = SparseRows(first_column)
    labels: list[Any] = []
    n_nonzeros = n_counted = 0

    def gather() -> Vectors:
        X = rows.to_csr(n_features)
        X = X.toarray() if is_dense else X
        return Vectors(X, labels, feature_names, count_skipped() - n_counted)

    for label, columns, values in documents:
        if labels and (len(labels) == size or n_nonzeros + len(columns) > max_nonzeros):
            batch = gather()
            yield batch
            rows, labels, n_nonzeros = SparseRows(first_column), [], 0
            n_counted += batch.skipped
        labels.append(label)
        rows.append(columns, values)
        n_nonzeros += len(columns)
    if labels:
        yield gather()
