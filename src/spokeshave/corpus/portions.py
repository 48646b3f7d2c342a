"""Documents in portions: a few at a time, and no more than memory is meant for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from spokeshave.corpus.documents import Label, Texts, Vectors
from spokeshave.corpus.sparse_rows import SparseRows

Text: TypeAlias = tuple[str, "Label | None"]
Vector: TypeAlias = tuple["Label", "list[int]", "list[float]"]

_MOST_CHARACTERS = 2_000_000
_MOST_NONZEROS = 1_000_000


def portion_texts(
    documents: Iterable[Text], size: int, count_skipped: Callable[[], int] = int
) -> Iterator[Texts]:
    """Yield texts with their labels, up to `size` and about 2 million characters at a time.

    Parameters
    ----------
    documents : iterable of tuple
        The text and the label of each document.
    size : int
        How many documents a portion holds at most; a text that is too long is alone in one.
    count_skipped : callable
        Counts the malformed rows that were left out so far; each portion says how many were since
        the one before.

    Examples
    --------
    >>> documents = [("Black", "display"), ("Late", "parcel"), ("Lost", "parcel")]
    >>> [portion.texts for portion in portion_texts(documents, 2)]
    [['Black', 'Late'], ['Lost']]
    """
    texts: list[str] = []
    labels: list[Any] = []
    filled = counted = 0
    for text, label in documents:
        if texts and (len(texts) == size or filled + len(text) > _MOST_CHARACTERS):
            skipped = count_skipped()
            yield Texts(texts, labels, skipped - counted)
            texts, labels, filled, counted = [], [], 0, skipped
        texts.append(text)
        labels.append(label)
        filled += len(text)
    if texts:
        yield Texts(texts, labels, count_skipped() - counted)


def portion_vectors(
    documents: Iterable[Vector],
    size: int,
    count_skipped: Callable[[], int] = int,
    *,
    first_column: int = 0,
    n_features: int | None = None,
    feature_names: tuple[str, ...] | None = None,
) -> Iterator[Vectors]:
    """Yield sparse vectors with their labels, up to `size` and about a million numbers at a time.

    Parameters
    ----------
    documents : iterable of tuple
        The label, the columns and the values of each document.
    size, count_skipped
        As `portion_texts` takes them.
    first_column : int
        The number of the first column in the documents.
    n_features : int, optional
        The number of columns; up to the last in a portion where it is not given.
    feature_names : tuple of str, optional
        The names of the columns.

    Examples
    --------
    >>> documents = [("wheat", [0, 2], [0.5, 2.0]), ("corn", [1], [1.0])]
    >>> [portion.X.shape for portion in portion_vectors(documents, 1)]
    [(1, 3), (1, 2)]
    """
    rows = SparseRows(first_column)
    labels: list[Any] = []
    filled = counted = 0

    def gather() -> Vectors:
        return Vectors(rows.to_csr(n_features), labels, feature_names, count_skipped() - counted)

    for label, columns, values in documents:
        if labels and (len(labels) == size or filled + len(columns) > _MOST_NONZEROS):
            portion = gather()
            yield portion
            rows, labels, filled = SparseRows(first_column), [], 0
            counted += portion.skipped
        labels.append(label)
        rows.append(columns, values)
        filled += len(columns)
    if labels:
        yield gather()
