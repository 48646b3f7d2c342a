"""Documents to learn from, wherever they come from and whatever they are in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spokeshave.corpus.column_names import Column
from spokeshave.corpus.files import explain_damage
from spokeshave.corpus.loaders import LOADERS
from spokeshave.corpus.openings import (
    check_choices,
    explain_format,
    find_name,
    open_source,
    place_order,
)
from spokeshave.corpus.orders import Delivery, Documents, Order, describe_reading


@dataclass(frozen=True)
class Source:
    """Documents to learn from, and how the source they came from was understood.

    Attributes
    ----------
    documents : Texts, Vectors or Split
        The documents; a Split where the collection comes divided.
    name : str
        The name of the file or folder, or 'standard input'.
    read : str
        How it was understood, to be shown.
    guesses : tuple of str
        What was not told but guessed, to be shown.
    format : str
        The format, as `load_source` takes it.
    encoding : str
        The encoding.
    text, label : str, int or None
        The columns of texts and labels, or the class attribute, where the format has them.
    is_multilabel : bool
        Whether the label of each document is a tuple.
    """

    documents: Documents
    name: str
    read: str
    guesses: tuple[str, ...]
    text: Column | None
    label: Column | None
    format: str
    encoding: str
    is_multilabel: bool


def load_source(
    source: str | Path,
    *,
    text: Column | None = None,
    label: Column | None = None,
    label_separator: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    under: str | None = None,
    bad_rows: str = "raise",
    n_features: int | None = None,
) -> Source:
    r"""Read documents to learn from; what is not told of their source is guessed, and said.

    Parameters
    ----------
    source : str or Path
        A file, plain or compressed, a folder, a tar or zip archive, or ``-`` for standard input.
    text, label : str or int, optional
        The columns of texts and labels in a table: names, or positions from 0. In arff, `label`
        is the class attribute; where it is nominal and there is one string, that is the text.
    label_separator : str, optional
        What stands between the labels in a cell of a table; each label is then a tuple.
    format : {'csv', 'tsv', 'jsonl', 'parquet', 'svmlight', 'arff', 'folders', 'reuters'}, optional
        The format; told by the name, or else by the content, where it is not given.
    encoding : str, optional
        The encoding; UTF-8 where it is not given, or Latin-1 in folders and arff that are not.
    under : str, optional
        The folder inside a source of folders that holds the folders of classes. Where it is not
        given, two folders that end in 'train' and 'test' are the two parts of a Split.
    bad_rows : {'raise', 'skip'}
        Whether a malformed row is an error, or is left out and counted.
    n_features : int, optional
        The number of features: in svmlight the largest index where it is not given, in arff what
        the attributes must come to.

    Returns
    -------
    source : Source
        The documents, and how the source was understood.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tickets.csv")
    ...     _ = path.write_text("id,queue,body\n1,display,Black\n2,parcel,Late\n")
    ...     source = load_source(path, text="body")
    >>> source.documents.labels
    ['display', 'parcel']
    >>> source.read
    "csv, text from column 'body', label from column 'queue' (guessed)"
    """
    check_choices(source, format, bad_rows)
    with explain_damage(source), open_source(source, format) as path:
        order = place_order(
            path,
            format,
            text=text,
            label=label,
            label_separator=label_separator,
            encoding=encoding,
            under=under,
            bad_rows=bad_rows,
            n_features=n_features,
        )
        order.check()
        by_content = explain_format(source, format, order)
        return _describe(find_name(source), order, LOADERS[order.format](order), by_content)


def _describe(name: str, order: Order, delivery: Delivery, by_content: str) -> Source:
    return Source(
        documents=delivery.documents,
        name=name,
        read=describe_reading(delivery.read, delivery.is_multilabel),
        guesses=tuple(filter(None, [by_content, *delivery.guesses])),
        text=delivery.text,
        label=delivery.label,
        format=order.format,
        encoding=delivery.encoding,
        is_multilabel=delivery.is_multilabel,
    )
