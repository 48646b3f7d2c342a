"""An order for the documents of a source, and the delivery of what it asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from spokeshave.corpus.bad_rows import BadRows, name_unit
from spokeshave.corpus.column_names import Column
from spokeshave.corpus.documents import Split, Texts, Vectors

Documents: TypeAlias = "Texts | Vectors | Split"

TABLES = ("csv", "tsv", "jsonl", "parquet")
FORMATS = (*TABLES, "svmlight", "arff", "folders", "reuters")
_USES = {
    "text": TABLES,
    "label": (*TABLES, "arff"),
    "label_separator": TABLES,
    "encoding": ("csv", "tsv", "jsonl", "arff", "folders"),
    "under": ("folders",),
    "n_features": ("svmlight", "arff"),
}


@dataclass(frozen=True)
class Order:
    """What is asked for, as `load_source` takes it; None where it is to be guessed.

    Examples
    --------
    >>> Order(Path("tickets.csv"), "csv", under="train").check()
    Traceback (most recent call last):
    ...
    ValueError: under must be left out for csv. Got 'train' instead.
    """

    path: Path
    format: str
    text: Column | None = None
    label: Column | None = None
    label_separator: str | None = None
    encoding: str | None = None
    under: str | None = None
    bad_rows: str = "raise"
    n_features: int | None = None

    def check(self) -> None:
        """Raise where something is told that the format has no use for."""
        for option, formats in _USES.items():
            value = getattr(self, option)
            if value is not None and self.format not in formats:
                raise ValueError(
                    f"{option} must be left out for {self.format}. Got {value!r} instead."
                )

    def make_bad_rows(self) -> BadRows:
        """Return what becomes of the malformed rows, none of which was met so far."""
        return BadRows(self.path, self.bad_rows, name_unit(self.format))


@dataclass(frozen=True)
class Delivery:
    """Documents, and how their source was understood.

    Attributes
    ----------
    documents : Texts, Vectors or Split
        The documents.
    read, guesses : list of str
        How they were read and what was guessed, in parts, of which some may be empty.
    encoding : str
        The encoding.
    text, label : str, int or None
        The columns of texts and labels, or their attributes, where the format has them.
    """

    documents: Documents
    read: list[str]
    guesses: list[str]
    encoding: str
    text: Column | None = None
    label: Column | None = None

    @property
    def is_multilabel(self) -> bool:
        """Whether the label of each document is a tuple."""
        documents = self.documents
        labels = (documents.train if isinstance(documents, Split) else documents).labels
        return any(isinstance(label, tuple) for label in labels or ())


def mark(is_guess: bool) -> str:
    """Return what is put after something that was guessed.

    Examples
    --------
    >>> f"label from column 'queue'{mark(True)}"
    "label from column 'queue' (guessed)"
    """
    return " (guessed)" if is_guess else ""


def describe_reading(parts: Iterable[str], is_multilabel: bool) -> str:
    """Say how documents were read, in one line without the parts that are empty.

    Examples
    --------
    >>> describe_reading(["reuters", "the ModApte split"], is_multilabel=True)
    'reuters, the ModApte split, several labels per document'
    """
    several = "several labels per document" if is_multilabel else ""
    return ", ".join(filter(None, [*parts, several]))
