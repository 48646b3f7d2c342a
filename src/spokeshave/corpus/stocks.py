"""What is in stock in some sources: how they were understood, and how each of them is read."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus.bad_rows import BadRows
from spokeshave.corpus.column_names import Column
from spokeshave.corpus.files import explain_damage
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.orders import Order

Reader: TypeAlias = Callable[[Path, BadRows, Meter], Generator[Any, None, None]]


@dataclass(frozen=True)
class Stock:
    """Documents that can be read again and again, of one or more sources.

    Attributes
    ----------
    begin : callable
        Begins a pass through the part 'train' or 'test', which is all of a collection that does
        not come divided. What it returns yields the documents of one source after the other, as
        `portion_texts` or `portion_vectors` takes them.
    read, guesses : list of str
        How they are read and what was guessed, in parts, of which some may be empty.
    encoding : str
        The encoding.
    text, label : str, int or None
        The columns of texts and labels, or their attributes, where the format has them.
    is_text : bool
        Whether the documents are texts, otherwise sparse vectors.
    is_multilabel : bool
        Whether the label of each document is a tuple.
    has_test : bool
        Whether the collection comes divided.
    first_column : int
        The number of the first column of vectors.
    n_features : int or None
        The number of columns of vectors, where it is known.
    feature_names : tuple of str or None
        Their names, where they have any.
    """

    begin: Callable[[str], Reader]
    read: list[str]
    guesses: list[str]
    encoding: str
    text: Column | None = None
    label: Column | None = None
    is_text: bool = True
    is_multilabel: bool = False
    has_test: bool = False
    first_column: int = 0
    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None


def find_first(order: Order, read: Reader, *, is_needed: bool = True) -> Any:
    """Return the first document of a source; where there is none, raise, or else return None."""
    bad_rows = order.make_bad_rows()
    with explain_damage(order.path), closing(read(order.path, bad_rows, Meter())) as documents:
        first = next(documents, None)
    if is_needed:
        bad_rows.require_documents(int(first is not None))
    return first
